"""What estimators share that keep some points and measure distances to them."""

from abc import ABC, abstractmethod
from typing import Any, Final

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep.hyperbolic._matrices import refuse_graph
from skrep.hyperbolic._points import (
    as_rows,
    check_in_ball,
    distances_to,
    in_ball,
    warn_of_far,
)
from skrep.typing import FloatArray, IntArray
from skrep.utils.validation import validate_rows

__all__ = ["CentroidTransformer"]


POINTS: Final = "skrep.hyperbolic.TreeEmbedding().fit_transform({}), with input='ball'"
"""Points of the nodes of a graph, as code."""


class CentroidTransformer(ClassNamePrefixFeaturesOutMixin, SkrepTransformer, ABC):
    """A transformer of rows to their hyperbolic distances from fitted points.

    A subclass has the parameter `input` and says where the points are.
    """

    input: str

    def transform(self, X: Any) -> FloatArray:
        """Compute hyperbolic distances from rows to the fitted points.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_points)
            Distances, in the float type of X.

        Raises
        ------
        ValueError
            If a row is not inside the ball, with ``input="ball"``.
        """
        check_is_fitted(self)
        return self._distances(self._validated(X, reset=False))

    @property
    @abstractmethod
    def _points(self) -> FloatArray:
        """The fitted points, in the form of rows of X."""

    @property
    def _n_features_out(self) -> int:
        return len(self._points)

    def _validated(self, X: Any, *, reset: bool) -> FloatArray:
        who = type(self).__name__
        refuse_graph(who, X, POINTS)
        rows: FloatArray = validate_rows(self, X, reset=reset)
        if self.input == "ball":
            check_in_ball(who, rows)
        warn_of_far(who, rows, self.input)
        return rows

    def _distances(self, rows: FloatArray) -> FloatArray:
        return distances_to(rows, in_ball(self._points, self.input), self.input)

    def _nearest(self, X: Any) -> IntArray:
        check_is_fitted(self)
        distances = self._distances(self._validated(X, reset=False))
        return np.argmin(distances, axis=1)

    def _as_rows(self, points: FloatArray, dtype: Any) -> FloatArray:
        return as_rows(points, self.input, dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
