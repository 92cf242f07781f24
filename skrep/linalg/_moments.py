"""Weighted means and covariances over row blocks, in float64."""

import numpy as np
import scipy.sparse as sp

from skrep.typing import FloatArray, Matrix
from skrep.utils import row_blocks

__all__ = ["weighted_covariance", "weighted_mean"]


def weighted_mean(X: Matrix, weights: FloatArray) -> FloatArray:
    r"""Mean of the rows, :math:`\sum_i w_i x_i / \sum_i w_i`.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights, not all zero.

    Returns
    -------
    ndarray of shape (n_features,), float64
        The mean.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import weighted_mean
    >>> weighted_mean(np.array([[0.0], [3.0]]), np.array([1.0, 2.0]))
    array([2.])
    """
    weights = weights / weights.sum()
    if sp.issparse(X):
        return X.T @ weights
    mean = np.zeros(X.shape[1])
    for rows in row_blocks(X.shape[0], 8 * X.shape[1]):
        mean += weights[rows] @ X[rows].astype(np.float64, copy=False)
    return mean


def weighted_covariance(
    X: FloatArray, weights: FloatArray, mean: FloatArray
) -> FloatArray:
    r"""Covariance about a mean.

    .. math:: \sum_i w_i (x_i - m)(x_i - m)^\top / \sum_i w_i

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights, not all zero.
    mean : ndarray of shape (n_features,)
        The mean m.

    Returns
    -------
    ndarray of shape (n_features, n_features), float64
        The covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import weighted_covariance
    >>> X = np.array([[0.0], [3.0]])
    >>> weighted_covariance(X, np.array([1.0, 2.0]), np.array([2.0]))
    array([[2.]])
    """
    weights = weights / weights.sum()
    covariance = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_blocks(X.shape[0], 16 * X.shape[1]):
        centered = X[rows].astype(np.float64, copy=False) - mean
        covariance += (centered * weights[rows, None]).T @ centered
    return covariance
