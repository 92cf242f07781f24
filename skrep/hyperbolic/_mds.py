"""Hyperbolic multidimensional scaling: points of the ball from distances."""

from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.exceptions import FewerColumnsWarning
from skrep.geometry import poincare
from skrep.hyperbolic import _mds_distances, _mds_solution
from skrep.hyperbolic._coordinates import check_dimension
from skrep.hyperbolic._matrices import refuse_graph, validate_matrix
from skrep.typing import AnyArray, FloatArray, Matrix
from skrep.utils import row_blocks, warn
from skrep.utils.validation import validate_rows

__all__ = ["HyperbolicMDS"]


class HyperbolicMDS(ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    r"""Turn distances into points of the Poincare ball, and place new rows there.

    Distances of a tree grow faster than those of a plane can: hyperbolic space has
    the room. Points on the hyperboloid have the inner products
    :math:`-\cosh d_{ij}`, so distances D are matched by one eigenproblem [1]_,

    .. math:: -\cosh(s D) \approx X X^\top - x_0 x_0^\top, \qquad
              X = (\sqrt{\lambda_k}\, u_k)_{k \le r},

    with the leading positive eigenpairs. Distances that are hyperbolic, of curvature
    :math:`-s^2` and in at most r dimensions, are recovered exactly, and others
    approximately; `stress_` tells how well. A new row with distances d to the fitted
    ones is placed in closed form,

    .. math:: x = -\Lambda^{-1} X^\top \cosh(s d).

    The output is the point of the ball, :math:`x / (1 + \sqrt{1 + |x|^2})`.

    Read more in the :ref:`User Guide <hyperbolic_mds>`.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the ball, at least 1.
    metric : str or callable, default="euclidean"
        How rows are compared: the name of a metric that
        :func:`sklearn.metrics.pairwise_distances` knows, or a function of two rows
        that gives a number. "precomputed" takes distances for X: square and complete
        in fit, and those to the fitted rows in transform.
    scale : float or "auto", default="auto"
        The factor s of the distances; 1 for distances of curvature -1. "auto" takes
        the one of least mean relative error :math:`|\hat d / s - d| / d`, among those
        that bring the largest distance to between 0.3 and 30, and of several that are
        as good the smallest. That solves the eigenproblem some 17 times.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_samples, n_components)
        The fitted rows as points of the ball. Columns are in the order of their
        eigenvalues; the largest entry of each is positive.
    scale_ : float
        The factor: distances between points over the given ones.
    stress_ : float
        Kruskal's stress [2]_, the root of the summed squares of the errors over that
        of the squared distances: 0 for a perfect fit.
    eigenvalues_ : ndarray of shape (n_components,)
        Leading eigenvalues of :math:`-\cosh(s D)`, decreasing; 0 for columns of zeros.
    effective_rank_ : float
        Number of columns that are spread alike, as in
        :func:`skrep.metrics.effective_rank`: with shares p of the roots of the
        eigenvalues it is :math:`\exp(-\sum p \log p)`; 0 if all rows are equal.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    skrep.geometry.poincare.pairwise_distances : Distances between the points.
    sklearn.manifold.ClassicalMDS : The same in Euclidean space.

    Notes
    -----
    A fit holds some five matrices of n x n float64: 1 GB for 5,000 rows. Placing a row
    needs its distances to all fitted rows, so the fitted object keeps these rows (but
    for "precomputed"), and n_components numbers for each.

    "precomputed" distances must be finite, not negative, symmetric and complete; a
    graph of edges is completed by :func:`scipy.sparse.csgraph.shortest_path`. The
    triangle inequality is not checked: distances that break it are approximated like
    any that are not hyperbolic.

    Squared errors of hyperbolic cosines are dominated by far pairs. Near ones may
    collapse: use another estimator to tell the neighbors in a tree. Symmetries make
    eigenvalues tie; where `n_components` cuts through such a tie, which of its axes are
    kept is arbitrary, if the same every time. A new row that is much farther out than
    the fitted ones ends at the rim of the ball.

    References
    ----------
    .. [1] Sala, F., De Sa, C., Gu, A. and Ré, C. (2018). Representation tradeoffs for
       hyperbolic embeddings. ICML.
    .. [2] Kruskal, J. B. (1964). Multidimensional scaling by optimizing goodness of fit
       to a nonmetric hypothesis. Psychometrika, 29(1), 1-27.

    Examples
    --------
    Steps between the nodes of a star with three arms of two nodes each, and a third
    node at the end of the first arm:

    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> from skrep.hyperbolic import HyperbolicMDS
    >>> arm, step = np.repeat([0, 1, 2], 2), np.tile([1, 2], 3)
    >>> same = arm[:, None] == arm
    >>> D = np.where(same, abs(step[:, None] - step), step[:, None] + step)
    >>> mds = HyperbolicMDS(metric="precomputed").fit(D)
    >>> new = mds.transform([[2, 1, 4, 5, 4, 5]])
    >>> (poincare.pairwise_distances(new, mds.embedding_) / mds.scale_).round(2)
    array([[2., 1., 4., 5., 4., 5.]])
    """

    _parameter_constraints = {
        "n_components": "no_validation",
        "metric": [StrOptions(set(_mds_distances.METRICS)), callable],
        "scale": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        metric: str | Callable[[AnyArray, AnyArray], float] = "euclidean",
        scale: float | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.scale = scale

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the points.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features) or (n_samples, n_samples)
            Rows, or the distances between them if `metric` is "precomputed". CSR rows
            suit Euclidean, Manhattan and cosine distances.
        y : None
            Not used.

        Returns
        -------
        HyperbolicMDS
            The fitted estimator.

        Raises
        ------
        ValueError
            If distances are negative, incomplete, not symmetric or not 0 between a
            row and itself, or so large for `scale` that float64 cannot hold them.
        TypeError
            If X is sparse and the metric does not allow it, or a graph of networkx, or
            a matrix with its labels.

        Warns
        -----
        ThinDataWarning
            If most given distances are 0, as in a matrix of edges.
        FewerColumnsWarning
            If there are fewer positive eigenvalues than columns; the others are zero.
        """
        who = type(self).__name__
        n_components = check_dimension(who, self.n_components)
        given = self.metric == "precomputed"
        X = self._validate(X, reset=True)
        D = self._distances(X, X)
        D = _mds_distances.check_square(who, D, X.dtype, given=given)
        if given:
            _mds_distances.warn_of_zeros(who, D)
        self.scale_ = _mds_solution.choose_scale(who, self.scale, D, n_components)
        D *= self.scale_
        found = _mds_solution.solve(D, n_components)
        self.stress_ = _mds_solution.stress(found.points, D)
        self.embedding_ = poincare.project(found.points.astype(X.dtype))
        self.eigenvalues_ = found.values.astype(X.dtype)
        self.effective_rank_ = _mds_solution.effective_rank(found.values)
        self._known = None if given else X.copy(), found.weights
        self._n_features_out = n_components
        rank = int(np.count_nonzero(found.values))
        if rank < n_components:
            warn(
                f"{who}: 'n_components' is {n_components}, but the distances have only "
                f"{rank} positive eigenvalues. The other columns are zero. Pass "
                f"n_components={max(rank, 1)}.",
                FewerColumnsWarning,
            )
        return self

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Find the points and return them.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features) or (n_samples, n_samples)
            As in `fit`.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            `embedding_`, which `transform` of X gives too, but for rounding.
        """
        return self.fit(X).embedding_.copy()

    def transform(self, X: Any) -> FloatArray:
        """Place rows beside the fitted ones.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features) or (n_samples, n_fitted)
            Rows, or their distances to the fitted rows if `metric` is "precomputed".

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Points strictly inside the ball.
        """
        check_is_fitted(self)
        X = self._validate(X, reset=False)
        rows, weights = self._known
        points = np.empty((X.shape[0], weights.shape[1]), X.dtype)
        for block in row_blocks(X.shape[0], row_bytes=4 * 8 * len(weights)):
            D = self._distances(X[block], rows) * self.scale_
            points[block] = _mds_solution.place(D, weights)
        return poincare.project(points)

    def invariances(self) -> tuple[Claim, ...]:
        """List the invariances that the current parameters support.

        Returns
        -------
        tuple of Claim
            What the output does when a group acts on X, where no eigenvalues tie.
        """
        return _mds_distances.claims(self.metric, free=self.scale == "auto")

    def _distances(self, X: Matrix, rows: Matrix) -> FloatArray:
        who = type(self).__name__
        if self.metric == "precomputed":
            return X.astype(np.float64)
        D = _mds_distances.measure(who, self.metric, X, rows)
        _mds_distances.check_known(who, D, given=False)
        return D

    def _validate(self, X: Any, *, reset: bool) -> Matrix:
        given = self.metric == "precomputed"
        who, metric = type(self).__name__, self.metric
        paths = _mds_distances.COMPLETED
        if not given:
            refuse_graph(who, X, f"{paths}, with metric='precomputed'")
            return validate_rows(
                self,
                X,
                reset=reset,
                accept_sparse="csr" if metric in _mds_distances.SPARSE else False,
                accept_large_sparse=metric not in _mds_distances.SMALL_SPARSE,
            )
        if sp.issparse(X):
            raise TypeError(
                f"{who}: 'X' is sparse, as the edges of a graph are, but "
                "metric='precomputed' takes the distances between all rows. Pass "
                f"{paths.format('X')}, or skrep.graph.tree_distances of a tree."
            )
        unknown = _mds_distances.INCOMPLETE
        X = validate_matrix(self, X, reset=reset, use=paths, unknown=unknown)
        _mds_distances.check_known(who, X, given=True)
        if reset and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"{who}: 'X' has shape {X.shape}, but "
                "metric='precomputed' takes a square matrix of distances. Pass "
                "sklearn.metrics.pairwise_distances(X), or metric='euclidean'."
            )
        return X

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = self.metric == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        tags.input_tags.sparse = self.metric in _mds_distances.SPARSE
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
