"""Index directions by Stein's lemma: one engine of features, orders and scores."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from skrep._claims import Claim
from skrep.index_model._axes import Axes, index_axes, matrix_axes
from skrep.index_model._checks import (
    check_alone,
    check_order,
    check_score_rows,
)
from skrep.index_model._claimed import alone_claims, index_claims
from skrep.index_model._count import count_directions
from skrep.index_model._features import Features
from skrep.index_model._frame import ridge_of, whitened
from skrep.index_model._row_features import (
    denoising_form,
    row_features,
    row_scores,
)
from skrep.index_model._state import State
from skrep.index_model._streaming import MomentIndex, Rows, Use
from skrep.linalg import Moments, Whitening, filled_slices
from skrep.typing import FloatArray

__all__ = ["SteinIndex"]


class SteinIndex(MomentIndex):
    r"""Find the few directions that drive the response, whatever the shape of the link.

    For a response that depends on x through :math:`B^\top x` alone, any feature g of
    it, and the score :math:`s = -\nabla \log p` of the rows, Stein's lemma says

    .. math:: E[g(y)\, s(x)] = E[\nabla m_g(x)], \qquad
        E[g(y)\, T(x)] = E[\nabla^2 m_g(x)], \qquad m_g(x) = E[g(y) \mid x],

    with :math:`T = \nabla^2 p / p`. Both right sides lie in the span of B. The first
    sees links with a slope, the second curved and even ones and products; together they
    miss little. Features are by default the slices that y falls in, which no outlier of
    y moves, and what order two finds is set to zero where it may be noise.

    Read more in the :ref:`User Guide <index_model>`.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of directions; None takes as many as there can be. "auto" counts those
        that are more than noise, by sequential tests that take weights for counts of
        rows; there may be none.
    order : {"both", 1, 2}, default="both"
        Which moments take part. With classes and "both", order two is taken in the
        complement of what order one has beyond its noise edge.
    response : {"auto", "raw", "slices", "classes"}, default="auto"
        Features of y. "slices" are indicators of quantile slices, of each response on
        its own; "raw" are the numbers, whitened; "classes" are indicators of classes.
        "auto" is "classes" for strings, booleans, categories and up to 20 distinct
        integers, and "slices" for other numbers.
    score_model : str or callable, default="gaussian"
        The score of the rows, after they have been whitened.

        - "gaussian": :math:`s = z`, from moments alone. Good wherever the rows are
          elliptical; also without y, where it is principal component analysis.
        - "student": of a Student distribution fitted to the rows, for order two; for
          heavy tails.
        - "mixture": of a Gaussian mixture, for rows in clusters.
        - "denoising": of that mixture after noise has been added, evaluated at rows
          with such noise: the gradients of a smoothed link.
        - "auto": the one of the first three of best likelihood, less a charge for
          its free numbers (the Bayesian information criterion).
        - a callable ``score(X)`` that takes the rows of fit and gives their scores, of
          the shape of X, or a pair of these and a function: of one number per row,
          `weighted`, it gives the mean over rows of number times :math:`T(x)`, of shape
          (n_features, n_features).
    n_slices : int, default=10
        Number of slices of a numeric response, of about equal weight; equal numbers
        stay together. Unless `order` is 1 each is cut in two, and the halves tell what
        is noise. There is at most one for every four rows.
    slice_edges : array-like of shape (n_edges,), list of these, or None, default=None
        Edges of the slices, or of their halves, one array for each response; None takes
        quantiles of the first rows. Classes and raw numbers have no slices.
    shrinkage : float or "auto", default="auto"
        Ridge of the whitening, in units of the mean eigenvalue of the correlations.
        "auto" is none for more than twice as many rows as columns, and
        :math:`\sqrt{p/n}` below, where outputs depend on correlations among columns.
    clip : float or None, default=None
        For "raw" alone, the number of median absolute deviations about the median of
        the first rows beyond which a response is clipped; 3 tames outliers.
    random_state : int, RandomState instance or None, default=None
        Randomness of mixtures and of added noise.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The directions, one per row; the largest coefficient of each on standardized
        columns is positive.
    eigenvalues_ : ndarray of shape (n_available,)
        What each direction is worth: a distance of the moments from those of no
        response, with those of order two that may be noise left out. Beyond the noise
        edge non-increasing; of classes, within the directions of each order.
    noise_edge_ : float
        Largest eigenvalue that is to be expected without any signal; NaN without y.
    n_components_ : int
        Number of directions.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    slice_edges_ : ndarray of shape (n_edges,), list of these, or None
        Edges of the slices and their halves; None for classes and raw numbers.
    score_model_ : str or callable
        The score model that was used.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    GradientOuterProduct : Slower and sharper, from gradients of a kernel regression.
    SlicedInverseRegression : Order one on slices.
    sklearn.cross_decomposition.PLSRegression : Directions of covariance; order one,
        without the covariance of the columns.

    Notes
    -----
    After one fit with y and the score model "gaussian", further rows can be taken by
    :meth:`partial_fit`, and the rows of another estimator by :meth:`merge`. What y
    holds and where it is cut is settled by the first rows, or by `slice_edges`.

    Without y directions are those in which the rows are least like noise: see the
    :ref:`User Guide <index_model_unsupervised>`.

    References
    ----------
    .. [1] Stein, C. M. (1981). Estimation of the mean of a multivariate normal
       distribution. The Annals of Statistics, 9(6), 1135-1151.
    .. [2] Janzamin, M., Sedghi, H. and Anandkumar, A. (2014). Score function features
       for discriminative learning: matrix and tensor framework. arXiv:1412.2863.
    .. [3] Babichev, D. and Bach, F. (2018). Slice inverse regression with score
       functions. Electronic Journal of Statistics, 12(1), 1507-1543.
    .. [4] Tian, Y., Wu, Y. and Feng, Y. (2025). Nonlinear multiple response regression
       and learning of latent spaces. arXiv:2503.21608.

    Examples
    --------
    >>> from skrep.datasets import make_index_model
    >>> from skrep.index_model import SteinIndex
    >>> from skrep.metrics import subspace_distance
    >>> X, y, components = make_index_model(2000, 8, links="even", random_state=0)
    >>> index = SteinIndex(n_components="auto").fit(X, y)
    >>> index.n_components_
    1
    >>> bool(subspace_distance(index.components_, components) < 0.1)
    True
    """

    _parameter_constraints = {
        "n_components": "no_validation",
        "order": "no_validation",
        "response": [StrOptions({"auto", "raw", "slices", "classes"})],
        "score_model": [
            StrOptions({"gaussian", "student", "mixture", "denoising", "auto"}),
            callable,
        ],
        "n_slices": [Interval(Integral, 2, None, closed="left")],
        "slice_edges": ["array-like", None],
        "shrinkage": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "clip": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
    }

    score_model_: str | Callable[..., Any]

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        order: int | str = "both",
        response: str = "auto",
        score_model: str | Callable[..., Any] = "gaussian",
        n_slices: int = 10,
        slice_edges: Any = None,
        shrinkage: float | str = "auto",
        clip: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.order = order
        self.response = response
        self.score_model = score_model
        self.n_slices = n_slices
        self.slice_edges = slice_edges
        self.shrinkage = shrinkage
        self.clip = clip
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
            Numbers or classes; several columns hold numbers. Without it, the
            directions are those of the denoising form.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        SteinIndex
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter does not suit the data, or y has one value.
        """
        check_order(type(self).__name__, self.order)
        rows = self._rows(X, sample_weight, reset=True)
        if y is None:
            return self._fit_alone(rows)
        if self.score_model == "gaussian":
            return self._settle(self._measure(rows, y), rows.X.dtype)
        return self._fit_rows(rows, y)

    def _fit_rows(self, rows: Rows, y: Any) -> Self:
        """Scores that need the rows; they leave no state to add to."""
        X, weights = rows.X, rows.weights
        rule, values = self._read(rows, y, None)
        moments, n_rows = Moments.of(X, weights), rows.n_rows
        white = self._whitened(moments, n_rows, X.dtype)
        check_score_rows(self, ridge_of(white, n_rows, self.shrinkage))
        name, scores = row_scores(
            self.score_model, X, white, weights, self.random_state
        )
        if name == "gaussian":
            return self._settle(self._measure(rows, y), X.dtype)
        features = row_features(scores, rule, values, weights, second=self.order != 1)
        axes, count = self._from_features(features, n_rows, white.spread)
        turned = axes._replace(directions=scores.metric @ axes.directions)
        self._keep_axes(turned, count, white, moments, X.dtype)
        self._keep_rule(rule)
        self.score_model_, self._alone = name, False
        return self

    def _fit_alone(self, rows: Rows) -> Self:
        """Directions of the denoising form, in raw columns."""
        X, weights = rows.X, rows.weights
        moments = Moments.of(X, weights)
        model = check_alone(self)
        white = whitened(self, moments, rows.n_rows, X.dtype, 0.0)
        order = 1 if self.order == 1 else 2
        M = denoising_form(model, order, X, weights, moments, white, self.random_state)
        axes = matrix_axes(M, np.nan, len(white.spread), moments.covariance)
        raw = white._replace(map=np.eye(len(M)))
        self._keep_axes(axes, None, raw, moments, X.dtype)
        self.score_model_, self.slice_edges_, self._alone = model, None, True
        return self

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X, or on the names of classes, leaves alone.

        Before it is fitted an estimator answers for a fit with y.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        if getattr(self, "_alone", False):
            return alone_claims()
        labels = self.response in ("auto", "classes")
        if callable(self.score_model):
            return (Claim("label_permutation"),) if labels else ()
        exact = self.score_model != "denoising"
        return index_claims(self.shrinkage, labels=labels, exact=exact)

    def _settle(self, state: State, dtype: Any) -> Self:
        super()._settle(state, dtype)
        self.score_model_, self._alone = "gaussian", False
        return self

    def _use(self) -> Use:
        check_order(type(self).__name__, self.order)
        return Use(self.response, self.order, self.clip, "response")

    def _n_slices(self, rows: Rows) -> int:
        asked = self.n_slices if self.order == 1 else 2 * self.n_slices
        return filled_slices(asked, rows.n_rows)

    def _axes(self, state: State, white: Whitening) -> tuple[Axes, int | None]:
        return self._from_features(state.features(white), state.n_rows, white.spread)

    def _from_features(
        self, features: list[Features], n_rows: float, spread: FloatArray
    ) -> tuple[Axes, int | None]:
        axes = index_axes(features, n_rows, self.order, spread)
        if self.n_components != "auto":
            return axes, None
        return axes, count_directions(features, n_rows, self.order, axes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
