"""What the linear members of the family share: rows times ordered axes."""

from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._linear import overflow_error
from skrep.geometry import unit_rows
from skrep.linalg import project_rows
from skrep.nested._prefix import PrefixMixin
from skrep.typing import FloatArray, Matrix
from skrep.utils.prefixes import normalizes
from skrep.utils.validation import validate_encoded, validate_rows

__all__ = ["NestedTransformer"]


def _keeps_norms(estimator: "NestedTransformer") -> bool:
    if normalizes(estimator):
        name = type(estimator).__name__
        raise AttributeError(
            f"{name}: 'normalize'=True drops the norms that inverse_transform needs. "
            f"Use {name}(normalize=False)."
        )
    return True


class NestedTransformer(PrefixMixin, ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    """Rows minus a mean, times ordered axes.

    A subclass sets `components_`, `mean_` and, where it has a parameter `normalize`,
    `_normalize` in fit.
    """

    components_: FloatArray
    mean_: FloatArray | None
    n_features_in_: int

    def transform(self, X: Any) -> FloatArray:
        """Project rows onto the axes.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The coordinates, the most telling first, in the float type of X.
        """
        check_is_fitted(self)
        with np.errstate(invalid="ignore", over="ignore"):
            rows = self._validated(X, ensure_all_finite=False)
            Z = project_rows(rows, self.components_, self.mean_)
        if not np.isfinite(Z).all():
            self._validated(X)
            raise overflow_error(type(self).__name__, Z.dtype)
        return unit_rows(Z)[0] if normalizes(self) else Z

    @available_if(_keeps_norms)
    def inverse_transform(self, X: Any) -> FloatArray:
        """Give the rows of least distance that have these coordinates.

        After `transform` this is the orthogonal projection of the rows onto the span
        of the axes; at full width, the rows themselves.

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
        rows = Z @ _pseudo_inverse(self.components_).astype(Z.dtype, copy=False)
        if self.mean_ is not None:
            rows += self.mean_.astype(Z.dtype, copy=False)
        return rows

    @property
    def full_length_drift_(self) -> float:
        r"""Largest relative change of a squared distance, at the fitted length.

        The distance of two rows is compared with the distance of their outputs before
        any normalization: the spectral norm of :math:`B^\top B - I`, with the axes as
        the rows of B. An orthogonal basis of full length has 0 but for rounding; a
        shorter one, which loses some direction altogether, has 1.
        """
        check_is_fitted(self)
        B = self.components_.astype(np.float64)
        lengths = np.linalg.eigvalsh(B @ B.T)
        lost = len(B) < self.n_features_in_
        return float(max(np.abs(lengths - 1).max(), float(lost)))

    def _validated(self, X: Any, **checks: Any) -> Matrix:
        return validate_rows(self, X, reset=False, accept_sparse="csr", **checks)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _pseudo_inverse(components: FloatArray) -> FloatArray:
    """Map of shape (n_components, n_features) from coordinates along axes to rows."""
    B = components.astype(np.float64)
    lengths = np.linalg.norm(B, axis=1)[:, None]
    try:
        # Axes differ in length by orders of magnitude; their directions do not.
        units = B / lengths
        factor = scipy.linalg.cho_factor(units @ units.T)
        inverse: FloatArray = scipy.linalg.cho_solve(factor, units) / lengths
    except (np.linalg.LinAlgError, ValueError):
        inverse = scipy.linalg.pinv(B.T)
    return inverse
