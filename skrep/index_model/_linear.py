"""What the linear members of the family share: directions of unit variance."""

from typing import Any

import numpy as np
import scipy.linalg

from skrep._linear import LinearTransformer
from skrep.linalg import Moments, fix_signs
from skrep.typing import FloatArray

__all__ = ["IndexTransformer", "finish"]


class IndexTransformer(LinearTransformer):
    """Indices: over the rows of fit centered, uncorrelated and of unit variance.

    A subclass calls `_store` in fit.
    """

    def _store(
        self, directions: FloatArray, moments: Moments, scale: FloatArray, dtype: Any
    ) -> None:
        components, loadings = finish(directions, moments, scale)
        self._store_map(components, moments.mean, loadings, moments.mean, dtype)


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
