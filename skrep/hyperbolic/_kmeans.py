"""K-means with hyperbolic distances."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClusterMixin, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from skrep._claims import Claim
from skrep.exceptions import FewerColumnsWarning
from skrep.hyperbolic._centroids import CentroidTransformer
from skrep.hyperbolic._lloyd import Clusters, search
from skrep.hyperbolic._points import distances_to, distinct_points, in_ball
from skrep.typing import FloatArray, IntArray
from skrep.utils import warn
from skrep.utils.callbacks import CallbackSupport, FitSteps
from skrep.utils.validation import check_sample_weight

__all__ = ["PoincareKMeans"]


class PoincareKMeans(CallbackSupport, ClusterMixin, CentroidTransformer):
    r"""Find clusters of points by their hyperbolic distances to Frechet means.

    Columns that stand for a tree or taxonomy are points of hyperbolic space, in which
    branches are far apart near the rim. As k-means does, it looks for centers of least
    inertia,

    .. math:: \sum_i w_i \min_k d(x_i, c_k)^2,

    from first centers that are far apart [1]_, moving each to the mean of the points
    nearest to it.

    Read more in the :ref:`User Guide <hyperbolic_points>`.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters; that of distinct rows where there are fewer.
    input : {"tangent", "ball"}, default="tangent"
        What rows of X are: tangent vectors at the origin, whose length is the distance
        from it, or points of the Poincare ball of radius 1.
    n_init : int, default=1
        Number of starts, of which the best result stays.
    max_iter : int, default=300
        Steps from each start, at most.
    tol : float, default=1e-4
        Centers stand still when their squared moves sum to this share of the mean
        squared distance of the points from their common mean.
    random_state : int, RandomState instance or None, default=None
        Randomness of the first centers.

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features_in_)
        The centers, as rows of X: tangent vectors or points of the ball.
    labels_ : ndarray of shape (n_samples,)
        Cluster of every row that was fitted, that of the nearest center.
    inertia_ : float
        Weighted sum of the squared distances of the rows to their centers.
    n_iter_ : int
        Steps from the start that was best.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    PoincareNearestCentroid : Points of classes that are known.
    sklearn.cluster.KMeans : The same in Euclidean space.

    Notes
    -----
    Equal rows are merged and the points sorted by their distance from the origin before
    any is drawn. So one seed gives one result whatever the order of the rows, and a
    weight of 2 is a row twice. A tangent vector that is longer than 36, the radius that
    float64 can hold, is pulled in to it, with a warning.

    References
    ----------
    .. [1] Arthur, D. and Vassilvitskii, S. (2007). k-means++: the advantages of
       careful seeding. Proceedings of SODA, 1027-1035.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.hyperbolic import PoincareKMeans
    >>> X = np.array([[3.0, 0.0], [4.0, 0.5], [0.0, 3.0], [0.5, 4.0]])
    >>> model = PoincareKMeans(2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2])
    True
    >>> model.transform(X).shape
    (4, 2)
    """

    cluster_centers_: FloatArray
    labels_: IntArray
    inertia_: float
    n_iter_: int
    n_features_in_: int

    _parameter_constraints = {
        "n_clusters": [Interval(Integral, 1, None, closed="left")],
        "input": [StrOptions({"tangent", "ball"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        input: str = "tangent",
        n_init: int = 1,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.input = input
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the centers.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        PoincareKMeans
            The fitted estimator.

        Raises
        ------
        ValueError
            If a row is not inside the ball, with ``input="ball"``.

        Warns
        -----
        FewerColumnsWarning
            If there are fewer distinct rows than clusters; each is one, then.
        ConvergenceWarning
            If `max_iter` steps were not enough.
        """
        who = type(self).__name__
        rows = self._validated(X, reset=True)
        weights = check_sample_weight(who, sample_weight, len(rows))
        points, sums = distinct_points(in_ball(rows, self.input), weights)
        n_clusters = min(self.n_clusters, len(points))
        if n_clusters < self.n_clusters:
            warn(
                f"{who}: 'n_clusters' is {self.n_clusters}, and X has {n_clusters} "
                "distinct points. Every cluster needs one: there are so many clusters. "
                f"Pass n_clusters={n_clusters} or fewer, or more points.",
                FewerColumnsWarning,
            )
        runs = search(
            points,
            sums,
            n_clusters,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            random_state=check_random_state(self.random_state),
        )
        best, last = next(runs)

        def state() -> dict[str, Any]:
            return self._state(best, rows, weights)

        steps = FitSteps(
            self,
            self.n_init * self.max_iter,
            state=state,
            X=X,
            y=y,
            metadata={"sample_weight": sample_weight},
        )
        for step in steps:
            if step:
                best, last = next(runs)
            if last:
                steps.stop()
        for name, value in state().items():
            setattr(self, name, value)
        if last and not best.converged:
            warn(
                f"{who}: the centers still move after {self.max_iter} steps. Pass "
                f"max_iter={2 * self.max_iter}, or a larger tol.",
                ConvergenceWarning,
            )
        return self

    def predict(self, X: Any) -> IntArray:
        """Find the cluster of the nearest center.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Clusters, from 0.
        """
        return self._nearest(X)

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return (Claim("orthogonal"), Claim("row_permutation", "same_action"))

    @property
    def _points(self) -> FloatArray:
        return self.cluster_centers_

    def _state(
        self, best: Clusters, rows: FloatArray, weights: FloatArray
    ) -> dict[str, Any]:
        """Fitted attributes that follow from centers."""
        centers = self._as_rows(best.centers, rows.dtype)
        distances = distances_to(rows, in_ball(centers, self.input), self.input)
        labels = np.argmin(distances, axis=1)
        nearest = distances[np.arange(len(rows)), labels].astype(np.float64)
        return {
            "cluster_centers_": centers,
            "labels_": labels,
            "inertia_": float(weights @ nearest**2),
            "n_iter_": best.n_iter,
        }
