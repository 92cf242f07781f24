"""Leading principal axes from products alone."""

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sp
from sklearn.utils import check_random_state

from skrep.linalg._axes import settle_null
from skrep.typing import FloatArray, Matrix

__all__ = ["leading_axes"]

_OVERSAMPLES = 16
_ITERATIONS = 8


def leading_axes(
    X: Matrix,
    weights: FloatArray,
    mean: FloatArray,
    n_components: int,
    random_state: Any = None,
) -> tuple[FloatArray, FloatArray]:
    """Leading eigenvectors of a covariance that is never formed.

    Randomized subspace iteration [1]_ on products with the rows. Sparse rows stay
    sparse: centering is done after the product.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights, not all zero.
    mean : ndarray of shape (n_features,)
        Their weighted mean.
    n_components : int
        Number of axes, at most ``n_features``.
    random_state : int, RandomState instance or None, default=None
        Randomness of the first subspace.

    Returns
    -------
    values : ndarray of shape (n_components,), float64
        Variances along the axes, decreasing.
    axes : ndarray of shape (n_components, n_features), float64
        Orthonormal axes, as rows.

    References
    ----------
    .. [1] Halko, N., Martinsson, P. G. and Tropp, J. A. (2011). Finding structure with
       randomness: probabilistic algorithms for constructing approximate matrix
       decompositions. SIAM Review, 53(2), 217-288.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import leading_axes
    >>> X = np.array([[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> values, axes = leading_axes(X, np.ones(4), np.zeros(2), 1, random_state=0)
    >>> values.round(4)
    array([4.5])
    """
    shares = (weights / weights.sum())[:, None]
    rows = X if sp.issparse(X) else X - mean.astype(X.dtype)
    shift = mean if sp.issparse(X) else np.zeros(len(mean))

    def coordinates(V: FloatArray) -> FloatArray:
        return np.asarray(rows @ V.astype(X.dtype), dtype=np.float64) - shift @ V

    def covariance_times(V: FloatArray) -> FloatArray:
        scaled = coordinates(V) * shares
        products = np.asarray(rows.T @ scaled.astype(X.dtype), dtype=np.float64)
        return products - np.outer(shift, scaled.sum(axis=0))

    n_features = X.shape[1]
    size = min(n_features, n_components + _OVERSAMPLES)
    start = check_random_state(random_state).standard_normal((n_features, size))
    basis = _orthonormal(start)
    for _ in range(_ITERATIONS):
        basis = _orthonormal(covariance_times(basis))
    Z = coordinates(basis)
    values, turned = np.linalg.eigh((Z * shares).T @ Z)
    order = slice(None, -n_components - 1, -1)
    vectors, values = settle_null(basis @ turned[:, order], values[order])
    return values, vectors.T


def _orthonormal(V: FloatArray) -> FloatArray:
    Q: FloatArray = scipy.linalg.qr(V, mode="economic")[0]
    return Q
