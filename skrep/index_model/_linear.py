"""What the linear members of the family share: centered rows times directions."""

from typing import Any

import numpy as np
import scipy.linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep.linalg import Moments, fix_signs, project_rows
from skrep.typing import FloatArray
from skrep.utils.validation import check_overflow, validate_encoded, validate_rows

__all__ = ["IndexTransformer", "finish"]


class IndexTransformer(ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    """Rows minus their mean, times directions of unit variance.

    A subclass calls `_store` in fit.
    """

    components_: FloatArray
    mean_: FloatArray
    n_components_: int
    n_features_in_: int
    _loadings: FloatArray
    _shift: FloatArray

    def transform(self, X: Any) -> FloatArray:
        """Project rows onto the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            The indices, the most telling first, in the float type of X. Over the rows
            of fit they are centered, uncorrelated and of unit variance.
        """
        check_is_fitted(self)
        with np.errstate(invalid="ignore", over="ignore"):
            rows = validate_rows(self, X, reset=False, ensure_all_finite=False)
            Z = project_rows(rows, self.components_, self.mean_)
            Z += self._shift.astype(Z.dtype, copy=False)
        # What is not finite in a row is in all its coordinates: one column tells.
        if not Z.size:
            validate_rows(self, X, reset=False)
        elif not np.isfinite(Z[:, 0]).all():
            validate_rows(self, X, reset=False)
            raise ValueError(
                f"{type(self).__name__}: 'X' holds numbers so large that its "
                f"coordinates overflow {Z.dtype}. Pass X.astype(np.float64), or X / "
                "np.abs(X).max() in fit and here."
            )
        return Z

    def inverse_transform(self, X: Any) -> FloatArray:
        """Estimate rows from their indices, by least squares.

        Of all linear maps this one comes nearest to the rows of fit. The indices of
        what it gives are those it was given.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)
            Indices.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows.
        """
        check_is_fitted(self)
        Z = validate_encoded(self, X, len(self.components_))
        rows: FloatArray = Z @ self._loadings.astype(Z.dtype, copy=False)
        rows += self.mean_.astype(Z.dtype, copy=False)
        return rows

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _store(
        self, directions: FloatArray, moments: Moments, scale: FloatArray, dtype: Any
    ) -> None:
        components, loadings = finish(directions, moments, scale)
        with np.errstate(over="ignore"):
            fitted = [part.astype(dtype) for part in (components, loadings)]
        check_overflow(type(self).__name__, *fitted)
        self.components_, self._loadings = fitted
        self.mean_ = moments.mean.astype(dtype)
        # Far from the origin the mean has no digits to spare in single precision.
        self._shift = (components @ (self.mean_ - moments.mean)).astype(dtype)
        self.n_components_ = len(components)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def finish(
    directions: FloatArray, moments: Moments, scale: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Give directions unit variance and no correlation, :math:`B^\top S B = I`.

    Each direction is freed from those before it, so that every prefix spans what it
    did. The largest coefficient on standardized columns is made positive.

    Parameters
    ----------
    directions : ndarray of shape (n_features, n_components)
        Coefficients on the raw columns, as linearly independent columns.
    moments : Moments
        Moments of the rows.
    scale : ndarray of shape (n_features,)
        Standard deviations of the columns, 0 where constant.

    Returns
    -------
    components : ndarray of shape (n_components, n_features)
        The directions as rows.
    loadings : ndarray of shape (n_components, n_features)
        Their covariances with the columns: the least squares map back.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._linear import finish
    >>> from skrep.linalg import Moments
    >>> moments = Moments.of(np.array([[0.0, 0.0], [4.0, 6.0]]))
    >>> finish(np.array([[-1.0], [0.0]]), moments, np.array([2.0, 3.0]))
    (array([[0.5, 0. ]]), array([[2., 3.]]))
    """
    safe = np.where(scale > 0, scale, 1.0)
    correlation = moments.covariance / safe / safe[:, None]
    units = directions * safe[:, None]
    if units.shape[1]:
        units = units / np.sqrt(np.einsum("ij,ij->j", units, correlation @ units))
        factor = scipy.linalg.cholesky(units.T @ correlation @ units, lower=True)
        units = scipy.linalg.solve_triangular(factor, units.T, lower=True).T
    fixed = fix_signs(units.T)
    # Adding zero takes the sign from zeros.
    return fixed / safe + 0.0, fixed @ correlation * safe
