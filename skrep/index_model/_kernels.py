"""Radial kernels, and the slopes that their gradients are made of."""

from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from skrep.typing import FloatArray

__all__ = ["KernelBlock", "KernelName", "kernel_block", "median_distance"]

KernelName: TypeAlias = Literal["laplace", "gaussian"]

# Distances below this, in bandwidths, count as none, and so do squares below this
# share of that of the length, which are rounding.
_NEAR = 1e-6
_ROUNDING = 1e-14


class KernelBlock(NamedTuple):
    r"""A kernel between points and centers, and its slopes.

    Parameters
    ----------
    values : ndarray of shape (n_points, n_centers)
        The kernel.
    slopes : ndarray of shape (n_points, n_centers)
        What :math:`x - c` is multiplied by in the gradient of the kernel at x.
    """

    values: FloatArray
    slopes: FloatArray


def kernel_block(
    points: FloatArray, centers: FloatArray, kernel: KernelName, bandwidth: float
) -> KernelBlock:
    r"""Compute a radial kernel and its slopes.

    With :math:`r = \|x - c\|` and the bandwidth l, "laplace" is :math:`e^{-r / l}`, of
    slope :math:`-e^{-r / l} / (l r)`, and "gaussian" is :math:`e^{-r^2 / 2 l^2}`, of
    slope :math:`-e^{-r^2 / 2 l^2} / l^2`. The gradient is the slope times
    :math:`x - c`; at a center it is taken to be zero.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_dimensions)
        Points x, in float64.
    centers : ndarray of shape (n_centers, n_dimensions)
        Centers c, in float64.
    kernel : {"laplace", "gaussian"}
        The kernel.
    bandwidth : float
        The bandwidth l.

    Returns
    -------
    KernelBlock
        Values and slopes.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._kernels import kernel_block
    >>> block = kernel_block(np.array([[1.0], [2.0]]), np.zeros((1, 1)), "laplace", 2.0)
    >>> block.values.round(3).ravel(), block.slopes.round(3).ravel()
    (array([0.607, 0.368]), array([-0.303, -0.092]))
    """
    lengths = np.einsum("ij,ij->i", points, points)[:, None]
    squares = points @ (-2 * centers.T)
    squares += lengths
    squares += np.einsum("ij,ij->i", centers, centers)
    np.maximum(squares, 0.0, out=squares)
    if kernel == "gaussian":
        values = np.exp(squares * (-0.5 / bandwidth**2))
        return KernelBlock(values, values * (-1 / bandwidth**2))
    near = squares < (_NEAR * bandwidth) ** 2 + _ROUNDING * lengths
    distances = np.sqrt(squares, out=squares)
    distances[near] = np.inf
    slopes = -1 / (bandwidth * distances)
    distances[near] = 0.0
    values = np.exp(distances * (-1 / bandwidth))
    slopes *= values
    return KernelBlock(values, slopes)


def median_distance(points: FloatArray) -> float:
    """Median distance of pairs of points, those that coincide left out.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_dimensions)
        Points, not all equal.

    Returns
    -------
    float
        The median.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._kernels import median_distance
    >>> median_distance(np.array([[0.0], [0.0], [3.0]]))
    3.0
    """
    from scipy.spatial.distance import pdist

    distances = pdist(points)
    return float(np.median(distances[distances > 0]))
