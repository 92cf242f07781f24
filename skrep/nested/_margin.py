"""Margin projection: axes that keep near rows apart."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from skrep._claims import Claim
from skrep.linalg import fix_signs
from skrep.nested._distinct import centered_distinct_rows
from skrep.nested._linear import NestedTransformer
from skrep.nested._margin_axes import Axis, greedy_axes
from skrep.nested._margin_pairs import draw_pairs
from skrep.typing import FloatArray
from skrep.utils import warn
from skrep.utils.callbacks import CallbackSupport, FitSteps
from skrep.utils.validation import (
    check_n_components,
    check_sample_weight,
    validate_rows,
)

__all__ = ["MarginProjection"]


class MarginProjection(CallbackSupport, NestedTransformer):
    r"""Order directions by how far apart they keep the rows that lie nearest.

    PCA looks at the mean of all squared gaps between rows, which the largest gaps
    rule. Here one unit direction after another maximizes

    .. math::

        \operatorname{mean}_{b\%} |w^\top (x_i - x_l)|
        - \alpha\, s \sum_{j < k} (w_j^\top w)^2,

    the mean of the smallest b% of the gaps between pairs of rows, minus a penalty on
    overlap with the earlier directions [1]_. A few far-off rows, which would turn
    principal axes their way, are not among the smallest gaps and turn nothing.

    On rows without such outliers, as sentence embeddings are, the axes do what
    principal axes do, and :class:`sklearn.decomposition.PCA` is simpler and as good.

    Read more in the :ref:`User Guide <margin_noise>`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions, from 1 to the number of columns; None takes as many as
        there are columns.
    quantile : float, default=0.8
        Share of the gaps that counts, in (0, 1]: the smallest ones.
    alpha : float, default=10.0
        Price of overlap with earlier directions, positive, in units of s, the
        standard deviation along the first principal axis. Large values make the
        directions orthogonal; values well under 1 let them repeat each other.
    n_pairs : int, default=32768
        Largest number of pairs. All pairs are taken where there are no more;
        otherwise they are drawn among at most ``n_pairs / 8`` rows.
    max_iter : int, default=200
        Largest number of ascent steps for one direction.
    tol : float, default=1e-3
        An ascent ends when a step raises the objective by less than this share of it.
    random_state : int, RandomState instance or None, default=None
        Randomness of the pairs, where they are drawn.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The directions, as rows of norm one, in the order in which they were found;
        the largest entry of each is positive. They are nearly orthogonal.
    objective_values_ : ndarray of shape (n_components,)
        The objective that each direction reached, in the units of X.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the fitted rows.
    n_iter_ : int
        Largest number of steps that a direction took.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    NoisePruner : How many principal axes stand out of the noise.
    sklearn.decomposition.PCA : All gaps, squared.

    Notes
    -----
    The objective is neither smooth nor concave. Each direction starts at the best of
    four leading principal axes of what the earlier directions leave, and rises by
    conjugate subgradients along great circles; its value is never under that of its
    start. Directions do not depend on how many are asked for: a prefix is the fit of
    that length. When rows span fewer dimensions than there are columns, the last
    directions complete the basis, at objective 0.

    Pairs of equal rows have no gap and are left out. Draws see the distances of the
    rows from their mean, so that they follow when all rows are turned; this takes
    that no two distinct rows lie equally far from the mean.

    Callbacks of scikit-learn 1.9 hear of every direction, and may end the fit early
    with the directions found so far.

    References
    ----------
    .. [1] Fu, J. and Zhao, D. (2025). MPAD: a new dimension-reduction method for
       preserving nearest neighbors in high-dimensional vector search.
       arXiv:2504.16335.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.nested import MarginProjection
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3)) * [3, 1, 0.1]
    >>> X[:4, 2] = [200, -200, 200, -200]
    >>> np.abs(MarginProjection(1).fit(X).components_).round()
    array([[1., 0., 0.]])
    >>> from sklearn.decomposition import PCA
    >>> np.abs(PCA(1).fit(X).components_).round()
    array([[0., 0., 1.]])
    """

    objective_values_: FloatArray

    _parameter_constraints: dict[str, Any] = {
        "n_components": "no_validation",
        "quantile": [Interval(Real, 0, 1, closed="right")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "n_pairs": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    _per_component = ("components_", "objective_values_")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        quantile: float = 0.8,
        alpha: float = 10.0,
        n_pairs: int = 32768,
        max_iter: int = 200,
        tol: float = 1e-3,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.quantile = quantile
        self.alpha = alpha
        self.n_pairs = n_pairs
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two distinct rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        MarginProjection
            The fitted estimator.

        Raises
        ------
        ValueError
            If all rows are equal, or `n_components` does not suit the columns.

        Warns
        -----
        ConvergenceWarning
            If an ascent was still rising when it reached `max_iter`.
        """
        who = type(self).__name__
        given = X
        X = validate_rows(self, X, reset=True, ensure_min_samples=2)
        k = check_n_components(who, self.n_components, X.shape[1])
        weights = check_sample_weight(who, sample_weight, X.shape[0])
        centered = centered_distinct_rows(who, X, weights)
        pairs = draw_pairs(
            centered.weights, self.n_pairs, check_random_state(self.random_state)
        )
        rising = greedy_axes(
            centered.rows,
            centered.weights,
            pairs,
            share=self.quantile,
            alpha=self.alpha,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        axes: list[Axis] = []

        def state() -> dict[str, Any]:
            values = np.array([axis.value for axis in axes]) * centered.scale
            directions: FloatArray = np.array([axis.direction for axis in axes])
            return {
                "components_": fix_signs(directions).astype(X.dtype),
                "objective_values_": values.astype(X.dtype),
                "mean_": centered.mean.astype(X.dtype),
                "n_iter_": max(axis.n_iter for axis in axes),
            }

        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        for _ in FitSteps(self, k, state=state, X=given, y=y, metadata=metadata):
            axes.append(next(rising))
        for name, value in state().items():
            setattr(self, name, value)
        self._warn_of(sum(not axis.converged for axis in axes), len(axes))
        return self

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on the rows and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return (
            Claim("orthogonal", "up_to_sign"),
            Claim("column_permutation"),
            Claim("translation"),
            Claim("positive_scaling", "same_action"),
            Claim("row_permutation", "same_action"),
        )

    def _warn_of(self, n_rising: int, n_axes: int) -> None:
        if n_rising:
            warn(
                f"{type(self).__name__}: {n_rising} of {n_axes} directions were still "
                f"rising at 'max_iter'={self.max_iter}. Raise it, or raise tol="
                f"{self.tol:g}.",
                ConvergenceWarning,
            )
