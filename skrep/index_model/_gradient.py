"""Directions along which a kernel regression changes: gradient outer products."""

import warnings
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from skrep._claims import Claim
from skrep.exceptions import ThinDataWarning
from skrep.index_model._agop import (
    Regression,
    first_metric,
    gradient_outer_product,
    main_axes,
    metric_root,
    standardized_targets,
    unwhitened,
)
from skrep.index_model._draws import (
    distance_of_sample,
    draw_centers,
    merged_rows,
    squared_lengths,
)
from skrep.index_model._frame import whitened
from skrep.index_model._kernels import KernelName
from skrep.index_model._linear import IndexTransformer
from skrep.index_model._polish import polished
from skrep.index_model._response import make_rule, read_response
from skrep.index_model._stein import SteinIndex
from skrep.linalg import Moments, Whitening
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils.callbacks import CallbackSupport, FitSteps
from skrep.utils.validation import (
    check_n_components,
    check_overflow,
    check_sample_weight,
    validate_rows,
)

__all__ = ["GradientOuterProduct"]

# Rows for which a kernel matrix of all of them takes 800 MB.
_MAX_ROWS = 10_000


class GradientOuterProduct(CallbackSupport, IndexTransformer):
    r"""Find directions as the main axes of the gradients of a kernel regression.

    If y depends on x through few directions, all gradients of the regression function
    lie in their span. A kernel ridge regression gives the gradients, their average
    outer product tells how much each direction matters, and used as the metric of
    the kernel it makes the next regression better [1]_:

    .. math:: G = \frac1n \sum_i \sum_c \nabla f_c(x_i) \nabla f_c(x_i)^\top, \qquad
        \|x\|_M^2 = x^\top M x, \quad M \leftarrow G / \|G\|.

    It is slower than :class:`SteinIndex`, and sharper: no shape of the link or of
    the distribution of the rows is taken for granted.

    Read more in the :ref:`User Guide <gradient_outer_product>`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions; None takes all dimensions of the rows.
    kernel : {"laplace", "gaussian"}, default="laplace"
        With the distance r in the metric M and the bandwidth l, :math:`e^{-r / l}` or
        :math:`e^{-r^2 / 2 l^2}`. Their gradients at x are those times :math:`-M (x -
        x_i) / (l r)` and :math:`-M (x - x_i) / l^2`; a Laplace kernel has none at its
        center, where 0 is taken.
    bandwidth : float or "median", default="median"
        The bandwidth l, in units of the rows once they have been whitened or
        standardized; it stays as it is while the metric changes. "median" is the median
        distance of pairs of rows, in a sample of 1,000 rows.
    alpha : float, default=1e-3
        Ridge of the regression, for responses of unit variance.
    centers : int or None, default=400
        Number of rows that the regression is made of (Nyström); where there are fewer
        distinct rows, all are taken. None takes all rows, of which there may be
        10,000, with a kernel matrix of all pairs.
    n_iter : int, default=2
        Number of regressions.
    init : {"stein", "identity"}, default="stein"
        The first metric. "identity" knows nothing; with ``centers=None, n_iter=5``
        this is the recursive feature machine [1]_. "stein" prefers the directions that
        :class:`SteinIndex` finds on the same rows, as many as `n_components`, or as
        have eigenvalues above the noise edge. After the last pass it turns so many
        leading directions by Gauss-Newton steps on the regression of y on these alone,
        for as long as the generalized cross-validation score falls.
    whiten : bool, default=True
        Whether the kernel starts from whitened rows, as opposed to standardized
        columns.
    random_state : int, RandomState instance or None, default=None
        Randomness of the draw of centers.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The directions, one per row; the largest coefficient of each on standardized
        columns is positive.
    gradient_outer_product_ : ndarray of shape (n_features_in_, n_features_in_)
        The matrix G for raw columns and responses of unit variance, symmetric and
        positive semi-definite: the metric of a Mahalanobis distance in which rows are
        near if their responses are.
    eigenvalues_ : ndarray of shape (rank,)
        Eigenvalues of G for whitened rows (standardized ones if not `whiten`),
        decreasing.
    bandwidth_ : float
        The bandwidth l.
    n_components_ : int
        Number of directions.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    n_iter_ : int
        Number of regressions; fewer than `n_iter` if a callback ended the fit.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    SteinIndex : From moments alone, in a hundredth of the time.
    sklearn.kernel_ridge.KernelRidge : What to put behind it in a pipeline.

    Notes
    -----
    Outputs have unit variance, as everywhere in this family, whatever the directions
    are worth: let `n_components` say how many reach the next step of a pipeline, or
    use `gradient_outer_product_` as a metric of distances.

    With m centers, k dimensions and C responses a pass costs :math:`n m (m + C k)`;
    rows are taken in blocks. The Gauss-Newton steps are left out where directions times
    dimensions exceed 1,000.

    With fewer than twice as many rows as dimensions a ridge is added to the covariance
    in whitening. Weights count rows; where they sum to less than the number of rows
    they are scaled up to it. Callbacks of scikit-learn 1.9 hear of every pass.

    References
    ----------
    .. [1] Radhakrishnan, A., Beaglehole, D., Pandit, P. and Belkin, M. (2024).
       Mechanism for feature learning in neural networks and backpropagation-free
       machine learning models. Science, 383(6690), 1461-1467.
    .. [2] Ichimura, H. (1993). Semiparametric least squares (SLS) and weighted SLS
       estimation of single-index models. Journal of Econometrics, 58(1-2), 71-120.
    .. [3] Zhu, L., Davis, D., Drusvyatskiy, D. and Fazel, M. (2026). arXiv:2605.15082.

    Examples
    --------
    >>> from skrep.datasets import make_index_model
    >>> from skrep.index_model import GradientOuterProduct, SteinIndex
    >>> from skrep.metrics import subspace_distance
    >>> X, y, components = make_index_model(1000, 8, links="product", random_state=0)
    >>> for index in SteinIndex(2), GradientOuterProduct(2, random_state=0):
    ...     found = index.fit(X, y).components_
    ...     print(round(float(subspace_distance(found, components)), 2))
    0.1
    0.03
    """

    _parameter_constraints = {
        "n_components": "no_validation",
        "kernel": [StrOptions({"laplace", "gaussian"})],
        "bandwidth": [
            StrOptions({"median"}),
            Interval(Real, 0, np.inf, closed="neither"),
        ],
        "alpha": [Interval(Real, 0, np.inf, closed="neither")],
        "centers": [Interval(Integral, 1, None, closed="left"), None],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"stein", "identity"})],
        "whiten": ["boolean"],
        "random_state": ["random_state"],
    }

    gradient_outer_product_: FloatArray
    eigenvalues_: FloatArray
    bandwidth_: float
    n_iter_: int

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: KernelName = "laplace",
        bandwidth: float | str = "median",
        alpha: float = 1e-3,
        centers: int | None = 400,
        n_iter: int = 2,
        init: str = "stein",
        whiten: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.alpha = alpha
        self.centers = centers
        self.n_iter = n_iter
        self.init = init
        self.whiten = whiten
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers or classes; several columns hold numbers. Strings, booleans,
            categories and up to 20 distinct integers are classes, with one response
            each.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        GradientOuterProduct
            The fitted estimator.

        Raises
        ------
        ValueError
            If y has one value, `n_components` exceeds the dimensions of the rows, or
            ``centers=None`` meets more than 10,000 rows.

        Warns
        -----
        ThinDataWarning
            If a column of X, or one of several responses, is constant.
        """
        who, given = type(self).__name__, X
        X = validate_rows(self, X, reset=True, ensure_min_samples=2)
        weights = check_sample_weight(who, sample_weight, len(X))
        kept = weights > 0
        if not kept.all():
            X, weights = X[kept], weights[kept]
        kind, values = read_response(who, y, kept, "auto")
        make_rule(who, kind, values, weights, n_slices=2, slice_edges=None, clip=None)
        check_rows(who, self.centers, len(X))
        counts = weights * max(1.0, len(X) / weights.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            moments = Moments.of(X, counts)
        white = whitened(self, moments, counts.sum(), X.dtype)
        frame = white if self.whiten else unwhitened(white)
        X, values, counts = without_repeats(X, values, counts, frame)
        k = check_n_components(who, self.n_components, len(white.inverse))
        regression = self._regression(X, counts, values, frame)
        stein = None
        if self.init == "stein":
            stein = stein_directions(X, values, counts, kind, self.n_components)
        metric = first_metric(frame, stein)
        n_done, G = 0, metric

        def state() -> dict[str, Any]:
            settled = G
            if stein is not None:
                n_turned = stein.shape[1]
                settled = polished(regression, white, frame, G, n_turned)
            values, vectors = main_axes(settled, white.spread)
            raw = frame.map @ settled @ frame.map.T
            with np.errstate(over="ignore"):
                product = ((raw + raw.T) / 2).astype(X.dtype)
            check_overflow(who, product)
            found = object.__new__(type(self))
            found._store(frame.map @ vectors[:, :k], moments, white.scale, X.dtype)
            return {
                **vars(found),
                "gradient_outer_product_": product,
                "eigenvalues_": values.astype(X.dtype),
                "bandwidth_": regression.bandwidth,
                "n_iter_": n_done,
            }

        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        data = {"X": given, "y": y, "metadata": metadata}
        for _ in FitSteps(self, self.n_iter, state=state, **data):
            G = gradient_outer_product(regression, metric_root(metric))
            check_slopes(who, G, regression.bandwidth)
            metric = G / np.linalg.norm(G, 2)
            n_done += 1
        for name, value in state().items():
            setattr(self, name, value)
        return self

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X, or on the names of classes, leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support, where rows are twice as many as
            columns, or more.
        """
        claims = [
            Claim("translation"),
            Claim("column_scaling"),
            Claim("column_permutation"),
            Claim("row_permutation", "same_action"),
            Claim("label_permutation"),
        ]
        if self.whiten:
            # The coefficient that decides the sign moves with the columns.
            claims.append(Claim("invertible_affine", "up_to_sign"))
        return tuple(claims)

    def _regression(
        self, X: FloatArray, counts: FloatArray, values: AnyArray, frame: Whitening
    ) -> Regression:
        keys = squared_lengths(X, frame.mean, frame.map)
        if self.centers is None:
            centers: IntArray = np.arange(len(X))
        else:
            offset = check_random_state(self.random_state).uniform()
            centers = draw_centers(X, keys, counts, self.centers, offset)
        if isinstance(self.bandwidth, str):
            bandwidth = distance_of_sample(X, frame.mean, frame.map, keys, counts)
        else:
            bandwidth = float(self.bandwidth)
        return Regression(
            X,
            counts,
            frame.mean,
            frame.map,
            standardized_targets(values, counts),
            centers,
            self.kernel,
            bandwidth,
            self.alpha,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


def check_slopes(who: str, G: FloatArray, bandwidth: float) -> None:
    """Refuse a regression function without slopes.

    Parameters
    ----------
    who : str
        The estimator that is named in the error.
    G : ndarray of shape (n_dimensions, n_dimensions)
        The average outer product of the gradients.
    bandwidth : float
        The bandwidth of the kernel.

    Raises
    ------
    ValueError
        If it is zero or not finite.
    """
    if not np.isfinite(G).all() or not G.any():
        raise ValueError(
            f"{who}: 'bandwidth' is {bandwidth:g}, at which the regression is flat at "
            "every row. It should be near the distances between rows: pass "
            'bandwidth="median".'
        )


def check_rows(who: str, centers: int | None, n_rows: int) -> None:
    """Refuse a kernel matrix of too many rows.

    Parameters
    ----------
    who : str
        The estimator that is named in the error.
    centers : int or None
        The number of centers; None takes all rows.
    n_rows : int
        Number of rows.

    Raises
    ------
    ValueError
        If all of more than 10,000 rows shall be centers.
    """
    if centers is None and n_rows > _MAX_ROWS:
        raise ValueError(
            f"{who}: 'centers' is None for {n_rows} rows, whose kernel matrix takes "
            f"{8 * n_rows**2 / 1e9:.1f} GB. It is for up to {_MAX_ROWS} rows. Pass "
            "centers=400, say."
        )


def without_repeats(
    X: FloatArray, values: AnyArray, weights: FloatArray, frame: Whitening
) -> tuple[FloatArray, AnyArray, FloatArray]:
    """Merge rows that are given repeatedly, if there are any.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels of classes, or numbers.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    frame : Whitening
        The map to coordinates in which the rows have their lengths.

    Returns
    -------
    tuple of ndarray
        Rows, values and weights.
    """
    keys = squared_lengths(X, frame.mean, frame.map)
    positions, summed = merged_rows(X, values, weights, keys)
    if len(positions) == len(X):
        return X, values, weights
    return X[positions], values[positions], summed


def stein_directions(
    X: FloatArray,
    values: AnyArray,
    weights: FloatArray,
    response: str,
    n_directions: int | None,
) -> FloatArray:
    """Find directions from moments, to begin with.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels of classes, or numbers.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    response : {"classes", "slices"}
        What the values are.
    n_directions : int or None
        The number asked for; None takes those above the edge of noise.

    Returns
    -------
    ndarray of shape (n_features, n_found)
        Coefficients on the raw columns, one direction or more.
    """
    with warnings.catch_warnings():
        # What is thin about the data is told once, in the name of the caller.
        warnings.simplefilter("ignore", ThinDataWarning)
        found = SteinIndex(response=response).fit(X, values, weights)
    if n_directions is None:
        n_directions = int(np.count_nonzero(found.eigenvalues_ > found.noise_edge_))
    components: FloatArray = found.components_[: max(1, n_directions)]
    return components.T.astype(np.float64)
