"""Divide rows by their largest entry: a whole estimator, as small as one can be."""

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.typing import FloatArray

__all__ = ["PeakScaler"]

FLOATS = (np.float64, np.float32)


def unit_peak_rows(X: FloatArray) -> FloatArray:
    """Divide every row by its largest absolute entry; zero rows stay."""
    peaks = np.abs(X).max(axis=1, keepdims=True)
    return X / np.where(peaks == 0, 1, peaks)


class PeakScaler(OneToOneFeatureMixin, SkrepTransformer):
    """Divide rows by their largest absolute entry.

    Attributes
    ----------
    n_features_in_ : int
        Number of columns seen in fit.

    See Also
    --------
    sklearn.preprocessing.Normalizer : The same, as ``Normalizer(norm="max")``.

    Examples
    --------
    >>> PeakScaler().fit_transform([[1.0, -2.0], [0.0, 0.0]])
    array([[ 0.5, -1. ],
           [ 0. ,  0. ]])
    """

    _parameter_constraints: dict[str, list[Any]] = {}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the rows and remember their columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        PeakScaler
            The fitted estimator.
        """
        validate_data(self, X, dtype=FLOATS)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Divide rows by their largest absolute entry.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            The divided rows, in the float type of X.
        """
        check_is_fitted(self)
        return unit_peak_rows(validate_data(self, X, reset=False, dtype=FLOATS))

    def invariances(self) -> tuple[Claim, ...]:
        """List what the output is invariant to.

        Returns
        -------
        tuple of Claim
            Scales that rows have of their own: fitting learns nothing from them.
        """
        return (Claim("row_scaling"), Claim("row_scaling", refit=False))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "n_features_in_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
