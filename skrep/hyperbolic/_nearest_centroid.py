"""Nearest centroid: one point of the ball for every class."""

from typing import Any, Self

import numpy as np
from sklearn.base import ClassifierMixin, _fit_context
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import column_or_1d

from skrep._claims import Claim
from skrep.geometry import poincare
from skrep.hyperbolic._centroids import CentroidTransformer
from skrep.hyperbolic._points import in_ball
from skrep.typing import AnyArray, FloatArray
from skrep.utils.targets import check_classes
from skrep.utils.validation import check_sample_weight

__all__ = ["PoincareNearestCentroid"]


class PoincareNearestCentroid(ClassifierMixin, CentroidTransformer):
    r"""Classify rows by the class whose Frechet mean is nearest in hyperbolic space.

    Columns that stand for a tree or taxonomy are points of hyperbolic space, and the
    arithmetic mean of such points says little. Here every class has the point of least
    squared distances to its rows,

    .. math:: c_k = \operatorname{argmin}_c \sum_{i : y_i = k} w_i\, d(x_i, c)^2,

    and a row belongs to the class of the nearest one. `transform` gives the distances
    themselves.

    Read more in the :ref:`User Guide <hyperbolic_points>`.

    Parameters
    ----------
    input : {"tangent", "ball"}, default="tangent"
        What rows of X are.

        - "tangent": tangent vectors at the origin, whose length is the distance from
          it, as skrep's encoders give; any row is one.
        - "ball": points of the Poincare ball of radius 1.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    centroids_ : ndarray of shape (n_classes, n_features_in_)
        The point of every class, as a row of X: a tangent vector or a point of the
        ball.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    PoincareKMeans : Points without classes.
    skrep.geometry.poincare.frechet_mean : The mean.
    sklearn.neighbors.NearestCentroid : The same in Euclidean space.

    Notes
    -----
    A tangent vector that is longer than 36, the radius that float64 can hold, is pulled
    in to it, with a warning.

    References
    ----------
    .. [1] Karcher, H. (1977). Riemannian center of mass and mollifier smoothing.
       Communications on Pure and Applied Mathematics, 30(5), 509-541.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.hyperbolic import PoincareNearestCentroid
    >>> X = np.array([[3.0, 0.0], [4.0, 0.5], [0.0, 3.0], [0.5, 4.0]])
    >>> model = PoincareNearestCentroid().fit(X, ["fish", "fish", "bird", "bird"])
    >>> print(model.predict([[2.0, 1.0], [0.0, 1.0]]))
    ['fish' 'bird']
    >>> model.transform([[0.0, 0.0]]).round(1)
    array([[3.2, 3.2]])
    """

    classes_: AnyArray
    centroids_: FloatArray
    n_features_in_: int

    _parameter_constraints = {"input": [StrOptions({"tangent", "ball"})]}

    def __init__(self, *, input: str = "tangent") -> None:
        self.input = input

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Find the mean of every class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Their classes, two or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        PoincareNearestCentroid
            The fitted estimator.

        Raises
        ------
        ValueError
            If there is one class alone, or a row is not inside the ball.
        """
        who = type(self).__name__
        rows = self._validated(X, reset=True)
        weights = check_sample_weight(who, sample_weight, len(rows))
        target = check_classes(who, y, len(rows))
        column_or_1d(y, warn=True)
        assert target.classes is not None
        present = np.unique(target.values[weights > 0])
        self.classes_ = target.classes[present]
        if len(present) < 2:
            raise ValueError(
                f"{who}: 'y' holds one class, {self.classes_.tolist()[0]!r}, and two "
                "classes or more are needed. Pass rows of at least two."
            )
        points = in_ball(rows, self.input)
        members = [target.values == code for code in present]
        means = [poincare.frechet_mean(points[m], weights[m]) for m in members]
        self.centroids_ = self._as_rows(np.stack(means), rows.dtype)
        return self

    def predict(self, X: Any) -> AnyArray:
        """Predict the class of the nearest centroid.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        nearest = self._nearest(X)
        labels: AnyArray = self.classes_[nearest]
        return labels

    def decision_function(self, X: Any) -> FloatArray:
        """Score rows by how near the centroids are.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes) or (n_samples,)
            Minus the distances, in the order of `classes_`; of two classes how much
            nearer the second is.
        """
        distances = self.transform(X)
        if len(self.classes_) == 2:
            return distances[:, 0] - distances[:, 1]
        return -distances

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support. Names of classes order the columns
            of the output.
        """
        return (
            Claim("orthogonal"),
            Claim("row_permutation", "same_action"),
            Claim("label_permutation", "up_to_orthogonal"),
        )

    @property
    def _points(self) -> FloatArray:
        return self.centroids_
