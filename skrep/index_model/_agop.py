"""Average gradient outer products of a kernel ridge regression."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.index_model._kernels import KernelName, kernel_block
from skrep.linalg import Whitening
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import row_blocks

__all__ = [
    "Regression",
    "decreasing",
    "first_metric",
    "gradient_outer_product",
    "main_axes",
    "metric_root",
    "ridge_coefficients",
    "standardized_targets",
    "turned_into",
    "unwhitened",
]

_BLOCK_BYTES = 2**23
# Shares of the largest eigenvalue that rounding makes.
_NOTHING = 1e-9


class Regression(NamedTuple):
    """A kernel ridge regression whose metric is yet to be given.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Positive weights, in numbers of rows.
    mean : ndarray of shape (n_features,)
        Their mean, float64.
    map : ndarray of shape (n_features, rank)
        Takes centered rows to the coordinates z in which the metric is given.
    targets : ndarray of shape (n_rows, n_targets)
        Standardized responses, float64.
    centers : ndarray of int of shape (n_centers,)
        Rows that the regression function is made of; as many as there are rows is the
        full solution.
    kernel : {"laplace", "gaussian"}
        The kernel.
    bandwidth : float
        Its bandwidth.
    alpha : float
        The ridge.
    """

    X: FloatArray
    weights: FloatArray
    mean: FloatArray
    map: FloatArray
    targets: FloatArray
    centers: IntArray
    kernel: KernelName
    bandwidth: float
    alpha: float

    def blocks(
        self, root: FloatArray, row_bytes: int
    ) -> Iterator[tuple[slice, FloatArray]]:
        """Go through all rows in coordinates in which the metric is the identity.

        Parameters
        ----------
        root : ndarray of shape (rank, n_dimensions)
            A root L of the metric, :math:`L L^\\top`.
        row_bytes : int
            Bytes of temporary memory that one row needs.

        Yields
        ------
        rows : slice
            Positions of the rows.
        points : ndarray of shape (n_block, n_dimensions)
            Their coordinates.
        """
        axes = self.map @ root
        width = row_bytes + 8 * sum(axes.shape)
        for rows in row_blocks(len(self.X), width, budget=_BLOCK_BYTES):
            yield rows, (self.X[rows] - self.mean) @ axes

    def center_points(self, root: FloatArray) -> FloatArray:
        """Give the centers in coordinates in which the metric is the identity.

        Parameters
        ----------
        root : ndarray of shape (rank, n_dimensions)
            A root of the metric.

        Returns
        -------
        ndarray of shape (n_centers, n_dimensions)
            Their coordinates.
        """
        points: FloatArray = (self.X[self.centers] - self.mean) @ (self.map @ root)
        return points


def unwhitened(white: Whitening) -> Whitening:
    """Give standardized columns in place of whitened rows, along the same axes.

    Parameters
    ----------
    white : Whitening
        A whitening without a ridge.

    Returns
    -------
    Whitening
        A map under which distances are those of standardized columns.
    """
    roots = np.sqrt(white.spread)
    return white._replace(map=white.map * roots, inverse=white.inverse / roots[:, None])


def first_metric(frame: Whitening, directions: FloatArray | None) -> FloatArray:
    r"""Give the metric of the first regression, :math:`V V^\top + 0.05 I`.

    Parameters
    ----------
    frame : Whitening
        The map to the coordinates of the metric.
    directions : ndarray of shape (n_features, n_directions) or None
        Coefficients on the raw columns of the directions to prefer; None prefers none.

    Returns
    -------
    ndarray of shape (rank, rank)
        The metric.
    """
    eye = np.eye(len(frame.inverse))
    if directions is None:
        return eye
    V = turned_into(frame, directions)
    return V @ V.T + 0.05 * eye


def turned_into(frame: Whitening, directions: FloatArray) -> FloatArray:
    """Express the span of directions in the coordinates of a frame.

    Parameters
    ----------
    frame : Whitening
        The map to the coordinates.
    directions : ndarray of shape (n_features, n_directions)
        Coefficients on the raw columns.

    Returns
    -------
    ndarray of shape (rank, n_directions)
        Orthonormal columns.
    """
    basis: FloatArray = np.linalg.qr(frame.inverse @ directions)[0]
    return basis


def metric_root(M: FloatArray) -> FloatArray:
    r"""Give a root L of a metric, :math:`M = L L^\top`, with its null space left out.

    Parameters
    ----------
    M : ndarray of shape (rank, rank)
        Positive semi-definite matrix.

    Returns
    -------
    ndarray of shape (rank, n_dimensions)
        The root.
    """
    values, vectors = decreasing(M)
    kept = values > 1e-14 * values[0]
    return vectors[:, kept] * np.sqrt(values[kept])


def decreasing(M: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of a positive semi-definite matrix, the largest first.

    Parameters
    ----------
    M : ndarray of shape (rank, rank)
        Positive semi-definite matrix.

    Returns
    -------
    values : ndarray of shape (rank,)
        Eigenvalues; those negative by rounding are zero.
    vectors : ndarray of shape (rank, rank)
        Eigenvectors as columns.
    """
    values, vectors = scipy.linalg.eigh(M)
    return np.maximum(values[::-1], 0.0), vectors[:, ::-1]


def main_axes(M: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues and eigenvectors, those of no weight ordered by another measure.

    Parameters
    ----------
    M : ndarray of shape (rank, rank)
        Positive semi-definite matrix.
    spread : ndarray of shape (rank,)
        What each coordinate is worth where M says nothing.

    Returns
    -------
    values : ndarray of shape (rank,)
        Eigenvalues, decreasing.
    vectors : ndarray of shape (rank, rank)
        Eigenvectors as columns. Rounding decides none of them.
    """
    values, vectors = decreasing(M)
    null = values <= _NOTHING * values[0]
    if null.any():
        part = vectors[:, null]
        _, turn = scipy.linalg.eigh(part.T @ (spread[:, None] * part))
        vectors[:, null] = part @ turn[:, ::-1]
    return values, vectors


def ridge_coefficients(regression: Regression, root: FloatArray) -> FloatArray:
    r"""Solve a kernel ridge regression on centers.

    .. math:: a = (K_{nm}^\top W K_{nm} + \alpha K_{mm})^{-1} K_{nm}^\top W Y

    minimizes the squares of the residuals plus :math:`\alpha` times the squared norm of
    the function. With all rows as centers it is :math:`(K + \alpha W^{-1})^{-1} Y`.

    Parameters
    ----------
    regression : Regression
        Rows, responses and kernel.
    root : ndarray of shape (rank, n_dimensions)
        A root of the metric.

    Returns
    -------
    ndarray of shape (n_centers, n_targets)
        Coefficients of the centers.
    """
    points, alpha = regression.center_points(root), regression.alpha
    weights, targets = regression.weights, regression.targets
    how = regression.kernel, regression.bandwidth
    m = len(points)
    if m == len(weights):
        K: FloatArray = np.empty((m, m))
        for rows in row_blocks(m, 24 * m, budget=_BLOCK_BYTES):
            K[rows] = kernel_block(points[rows], points, *how).values
        K[np.diag_indices(m)] = 1 + alpha / weights[regression.centers]
        return _solve(K, targets[regression.centers])
    gram, sides = np.zeros((m, m)), np.zeros((m, targets.shape[1]))
    for rows, block in regression.blocks(root, 24 * m):
        K = kernel_block(block, points, *how).values
        K *= np.sqrt(weights[rows])[:, None]
        gram += K.T @ K
        sides += K.T @ (targets[rows] * np.sqrt(weights[rows])[:, None])
    gram += alpha * kernel_block(points, points, *how).values
    gram[np.diag_indices(m)] += 1e-13 * np.trace(gram)
    return _solve(gram, sides)


def gradient_outer_product(regression: Regression, root: FloatArray) -> FloatArray:
    r"""Fit the regression in a metric, and average the outer products of its gradients.

    In coordinates u in which the metric is the identity, :math:`f_c(u) = \sum_i a_{ic}
    k(u, u_i)` has the gradient :math:`\sum_i a_{ic} s(u, u_i) (u - u_i)` with the
    slopes s of the kernel, and :math:`\nabla_z f = L \nabla_u f`.

    Parameters
    ----------
    regression : Regression
        Rows, responses and kernel.
    root : ndarray of shape (rank, n_dimensions)
        A root L of the metric.

    Returns
    -------
    ndarray of shape (rank, rank)
        Mean over rows of :math:`\sum_c \nabla f_c \nabla f_c^\top` in coordinates z.
    """
    coefficients = ridge_coefficients(regression, root)
    points, weights = regression.center_points(root), regression.weights
    m, dims = points.shape
    n_targets = coefficients.shape[1]
    # One product for all responses: their coefficients times the centers, stacked.
    moved = (coefficients[:, :, None] * points[:, None, :]).reshape(m, -1)
    total = np.zeros((dims, dims))
    for rows, block in regression.blocks(root, 32 * m + 16 * n_targets * dims):
        slopes = kernel_block(
            block, points, regression.kernel, regression.bandwidth
        ).slopes
        gradients = (slopes @ coefficients)[:, :, None] * block[:, None, :]
        gradients -= (slopes @ moved).reshape(gradients.shape)
        gradients *= np.sqrt(weights[rows])[:, None, None]
        flat = gradients.reshape(-1, dims)
        total += flat.T @ flat
    product: FloatArray = root @ (total / weights.sum()) @ root.T
    return (product + product.T) / 2


def _solve(matrix: AnyArray, sides: FloatArray) -> FloatArray:
    factor = scipy.linalg.cho_factor(matrix, overwrite_a=True, check_finite=False)
    solution: FloatArray = scipy.linalg.cho_solve(factor, sides, check_finite=False)
    return solution


def standardized_targets(values: AnyArray, weights: FloatArray) -> FloatArray:
    """Center responses and give them unit variance, classes as one column each.

    Parameters
    ----------
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels of classes in one dimension, numbers in two.
    weights : ndarray of shape (n_rows,)
        Positive weights.

    Returns
    -------
    ndarray of shape (n_rows, n_targets), float64
        The responses; those that are constant are left out.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._agop import standardized_targets
    >>> standardized_targets(np.array(["a", "b"]), np.ones(2))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    if values.ndim == 1:
        values = values[:, None] == np.unique(values)
    kept = (values != values[0]).any(axis=0)
    numbers = values[:, kept].astype(np.float64)
    shares = weights / weights.sum()
    numbers /= np.abs(numbers).max(axis=0)
    numbers -= shares @ numbers
    numbers /= np.sqrt(shares @ numbers**2)
    return numbers
