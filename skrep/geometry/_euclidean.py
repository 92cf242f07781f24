"""Euclidean distances that keep their digits."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from skrep.typing import FloatArray, Matrix

__all__ = ["euclidean_distances"]

# Below this share of the squared norms a distance has lost ten of sixteen digits to
# cancellation, and the direct difference is taken.
_NEAR = 1e-6


def euclidean_distances(X: Matrix, Y: Matrix) -> FloatArray:
    r"""Compute distances that are accurate for near and equal rows too.

    The expansion :math:`\|x\|^2 - 2 x^\top y + \|y\|^2` runs at the speed of a matrix
    product but cancels where x is close to y: those pairs are computed again from
    :math:`x - y`. A row is at distance exactly 0 from itself.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows, best centered where they are dense.
    Y : {ndarray, CSR matrix or array} of shape (n_others, n_features)
        Other rows, sparse exactly when X is.

    Returns
    -------
    ndarray of shape (n_rows, n_others), float64
        The distances.

    See Also
    --------
    sklearn.metrics.pairwise.euclidean_distances : Expansion only, in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import euclidean_distances
    >>> euclidean_distances(np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([[3.0, 4.0]]))
    array([[5.],
           [0.]])
    """
    X = X.astype(np.float64, copy=False)
    Y = Y.astype(np.float64, copy=False)
    norms = _squared_norms(X)[:, None] + _squared_norms(Y)
    products: Any = X @ Y.T
    distances = norms - 2 * (products.toarray() if sp.issparse(products) else products)
    rows, others = np.nonzero(distances <= _NEAR * norms)
    np.maximum(distances, 0, out=distances)
    np.sqrt(distances, out=distances)
    for part in np.array_split(np.arange(rows.size), rows.size // 4096 + 1):
        gaps = X[rows[part]] - Y[others[part]]
        distances[rows[part], others[part]] = np.sqrt(_squared_norms(gaps))
    return distances


def _squared_norms(X: Matrix) -> FloatArray:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1), dtype=np.float64).ravel()
    return np.einsum("ij,ij->i", X, X)
