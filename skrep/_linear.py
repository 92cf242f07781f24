"""Transformers that are linear maps: centered rows times directions."""

from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep.linalg import project_rows
from skrep.typing import FloatArray
from skrep.utils.validation import check_overflow, validate_encoded, validate_rows

__all__ = ["LinearTransformer", "overflow_error"]


def overflow_error(who: str, dtype: Any) -> ValueError:
    """Make the error that says that finite rows have no finite coordinates.

    Parameters
    ----------
    who : str
        The estimator that is named in it.
    dtype : dtype
        Type of the coordinates.

    Returns
    -------
    ValueError
        The error, to raise.
    """
    return ValueError(
        f"{who}: 'X' holds numbers so large that its coordinates overflow {dtype}. "
        "Pass X.astype(np.float64), or X / np.abs(X).max() in fit and here."
    )


class LinearTransformer(ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    """Rows minus their mean, times directions; and the least squares map back.

    A subclass calls `_store_map` in fit.
    """

    components_: FloatArray
    mean_: FloatArray
    n_components_: int
    n_features_in_: int
    _shift: FloatArray
    _loadings: FloatArray
    _origin: FloatArray

    def transform(self, X: Any) -> FloatArray:
        """Project rows onto the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates, the most telling first, in the float type of X.
        """
        check_is_fitted(self)
        with np.errstate(invalid="ignore", over="ignore"):
            rows = validate_rows(self, X, reset=False, ensure_all_finite=False)
            Z = project_rows(rows, self.components_, self.mean_)
            Z += self._shift.astype(Z.dtype, copy=False)
        if not Z.size:
            validate_rows(self, X, reset=False)
        elif not np.isfinite(Z).all():
            validate_rows(self, X, reset=False)
            raise overflow_error(type(self).__name__, Z.dtype)
        return Z

    def inverse_transform(self, X: Any) -> FloatArray:
        """Estimate rows from their coordinates, by least squares.

        Of all affine maps this one comes nearest to the rows of fit. The coordinates of
        what it gives are those it was given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Coordinates.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        Z = validate_encoded(self, X, len(self.components_))
        rows: FloatArray = Z @ self._loadings.astype(Z.dtype, copy=False)
        rows += self._origin.astype(Z.dtype, copy=False)
        return rows

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _store_map(
        self,
        components: FloatArray,
        mean: FloatArray,
        loadings: FloatArray,
        origin: FloatArray,
        dtype: Any,
    ) -> None:
        """Keep the map in the float type of the rows, if it fits in there."""
        with np.errstate(over="ignore"):
            fitted = [part.astype(dtype) for part in (components, loadings, origin)]
        check_overflow(type(self).__name__, *fitted)
        self.components_, self._loadings, self._origin = fitted
        self.mean_ = mean.astype(dtype)
        # Far from the origin the mean has no digits to spare in single precision.
        self._shift = (components @ (self.mean_ - mean)).astype(dtype)
        self.n_components_ = len(components)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
