"""Rows times axes."""

import numpy as np
import scipy.sparse as sp

from skrep.typing import FloatArray, Matrix
from skrep.utils import row_blocks

__all__ = ["project_rows"]


def project_rows(
    X: Matrix, components: FloatArray, mean: FloatArray | None = None
) -> FloatArray:
    r"""Compute coordinates of rows along axes, :math:`(x - m)^\top b_j`.

    Dense rows are centered before the product, block by block: no digits are lost where
    the mean is large, and a block stays in cache.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    components : ndarray of shape (n_components, n_features)
        The axes, as rows.
    mean : ndarray of shape (n_features,) or None
        The origin m; None is zero.

    Returns
    -------
    ndarray of shape (n_rows, n_components)
        The coordinates, in the float type of X.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import project_rows
    >>> project_rows(np.array([[2.0, 3.0]]), np.eye(2), np.ones(2))
    array([[1., 2.]])
    """
    if sp.issparse(X):
        products = X @ components.astype(np.float64, copy=False).T
        if mean is not None:
            products -= components.astype(np.float64, copy=False) @ mean
        return products.astype(X.dtype, copy=False)
    axes = components.astype(X.dtype, copy=False).T
    if mean is None:
        return X @ axes
    mean = mean.astype(X.dtype, copy=False)
    result = np.empty((X.shape[0], axes.shape[1]), dtype=X.dtype)
    for rows in row_blocks(X.shape[0], X.dtype.itemsize * X.shape[1]):
        np.matmul(X[rows] - mean, axes, out=result[rows])
    return result
