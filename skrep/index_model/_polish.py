"""Gauss-Newton steps on the directions of an index model, the link being profiled."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.index_model._agop import (
    Regression,
    decreasing,
    turned_into,
)
from skrep.index_model._draws import MIDDLE, spread_out
from skrep.index_model._kernels import kernel_block
from skrep.linalg import Whitening
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks

__all__ = [
    "Link",
    "direct_rotation",
    "far_points",
    "fit_link",
    "polish",
    "polished",
    "tilt",
]

_BANDWIDTHS = (0.5, 1.0, 2.0)
_RIDGES = np.logspace(-3, 2, 11)
_N_STEPS = 3
_BLOCK_BYTES = 2**23
# Directions worth less than this share of the first may be noise.
_WORTHY = 0.01
# Largest number of unknowns of a step.
_MAX_UNKNOWNS = 1000


class Link(NamedTuple):
    """A smooth function of few indices.

    Parameters
    ----------
    centers : ndarray of shape (n_centers, n_indices)
        Its centers.
    bandwidth : float
        Bandwidth of its Gaussian kernel.
    basis : ndarray of shape (n_centers, n_basis)
        Takes kernel values to uncorrelated features.
    powers : ndarray of shape (n_basis,)
        Sum of squares of each feature over the rows.
    ridge : float
        The ridge.
    sides : ndarray of shape (n_basis, n_targets)
        Products of features and responses.
    score : float
        Generalized cross-validation: mean squared residual of rows left out.
    """

    centers: FloatArray
    bandwidth: float
    basis: FloatArray
    powers: FloatArray
    ridge: float
    sides: FloatArray
    score: float


def polished(
    regression: Regression,
    white: Whitening,
    frame: Whitening,
    G: FloatArray,
    n_indices: int,
) -> FloatArray:
    """Turn the leading directions of a gradient outer product; keep its eigenvalues.

    Parameters
    ----------
    regression : Regression
        Rows and responses.
    white : Whitening
        The map to whitened rows, among which directions are turned.
    frame : Whitening
        The map to the coordinates of the outer product.
    G : ndarray of shape (rank, rank)
        The outer product.
    n_indices : int
        Largest number of directions to turn; those worth under a hundredth of the first
        are left.

    Returns
    -------
    ndarray of shape (rank, rank)
        The outer product, rotated so that its leading directions fit better.
    """
    values, vectors = decreasing(G)
    worthy = int(np.count_nonzero(values >= _WORTHY * values[0]))
    leading = vectors[:, : min(n_indices, worthy)]
    whole = regression._replace(map=white.map)
    found = polish(whole, turned_into(white, frame.map @ leading))
    rotation = direct_rotation(leading, turned_into(frame, white.map @ found))
    return rotation @ G @ rotation.T


def polish(regression: Regression, directions: FloatArray) -> FloatArray:
    r"""Turn directions so that a smooth function of the indices fits better.

    The link f is a kernel ridge regression on the indices :math:`V^\top z` alone, which
    are few, so that it is nearly free of noise. A Gauss-Newton step then solves least
    squares in the tilt D of the directions, :math:`y \approx f(V^\top z) + \nabla
    f(V^\top z)^\top D^\top z`, together with the link. A step is kept if it lowers the
    generalized cross-validation score.

    Parameters
    ----------
    regression : Regression
        Rows, responses, and the map to coordinates z.
    directions : ndarray of shape (rank, n_indices)
        Orthonormal columns V to begin with.

    Returns
    -------
    ndarray of shape (rank, n_indices)
        Orthonormal columns.
    """
    rank, n_indices = directions.shape
    if not 0 < n_indices * (rank - n_indices) <= _MAX_UNKNOWNS:
        return directions
    link = _link_on(regression, directions)
    for _ in range(_N_STEPS):
        turned = tilt(regression, directions, link)
        found = _link_on(regression, turned)
        if not found.score < link.score:
            break
        directions, link = turned, found
    return directions


def fit_link(indices: FloatArray, targets: FloatArray, weights: FloatArray) -> Link:
    """Regress responses on few indices; cross-validation chooses how smoothly.

    Parameters
    ----------
    indices : ndarray of shape (n_rows, n_indices)
        The indices, of about unit variance.
    targets : ndarray of shape (n_rows, n_targets)
        Centered responses.
    weights : ndarray of shape (n_rows,)
        Positive weights, in numbers of rows.

    Returns
    -------
    Link
        The best over bandwidths and ridges.
    """
    n_centers = 50 * (indices.shape[1] + 1)
    keys = np.einsum("ij,ij->i", indices, indices)
    drawn = spread_out(keys, weights, n_centers // 2, MIDDLE)
    chosen = np.union1d(drawn, far_points(indices, n_centers // 2))
    centers = np.unique(indices[chosen], axis=0)
    total = float(np.einsum("i,ij,ij->", weights, targets, targets))
    n_rows = weights.sum()
    best: Link | None = None
    for width in _BANDWIDTHS:
        bandwidth = width * np.sqrt(indices.shape[1])
        basis, powers, sides = _features(indices, targets, weights, centers, bandwidth)
        explained = np.einsum("ij,ij->i", sides, sides)
        for ridge in _RIDGES:
            kept = 1 / (powers + ridge)
            # Residual: y'y less the sum of b^2 (s + 2 r) / (s + r)^2 with powers s.
            rest = total - float(explained @ (kept * (1 + ridge * kept)))
            free = n_rows - float(powers @ kept)
            # Where features are as many as rows the score means nothing.
            usable = 2 * free >= n_rows
            score = n_rows * max(rest, 0.0) / free**2 if usable else np.inf
            if best is None or score < best.score:
                best = Link(centers, bandwidth, basis, powers, ridge, sides, score)
    assert best is not None
    return best


def tilt(regression: Regression, directions: FloatArray, link: Link) -> FloatArray:
    """Take one Gauss-Newton step.

    Parameters
    ----------
    regression : Regression
        Rows, responses, and the map to coordinates z.
    directions : ndarray of shape (rank, n_indices)
        Orthonormal columns.
    link : Link
        The link on these directions.

    Returns
    -------
    ndarray of shape (rank, n_indices)
        Orthonormal columns.
    """
    targets, weights = regression.targets, regression.weights
    rank, r = directions.shape
    beside = scipy.linalg.qr(directions)[0][:, r:]
    size, n_targets = r * (rank - r), targets.shape[1]
    shrunk = 1 / (link.powers + link.ridge)
    coefficients = link.basis @ (shrunk[:, None] * link.sides)
    moved = coefficients[:, :, None] * link.centers[:, None, :]
    moved = moved.reshape(len(coefficients), -1)
    normal, side = np.zeros((size, size)), np.zeros(size)
    cross = np.zeros((n_targets, len(link.powers), size))
    width = 8 * (3 * len(link.centers) + len(link.powers) + 3 * n_targets * size)
    for rows, Z in regression.blocks(np.eye(rank), width):
        indices = Z @ directions
        block = kernel_block(indices, link.centers, "gaussian", link.bandwidth)
        slopes = (block.slopes @ coefficients)[:, :, None] * indices[:, None, :]
        slopes -= (block.slopes @ moved).reshape(slopes.shape)
        change = slopes[:, :, :, None] * (Z @ beside)[:, None, None, :]
        change = change.reshape(len(indices), n_targets, size)
        heavy = change * weights[rows, None, None]
        flat, heavy_flat = change.reshape(-1, size), heavy.reshape(-1, size)
        normal += flat.T @ heavy_flat
        side += heavy_flat.T @ targets[rows].ravel()
        features = (block.values @ link.basis).T
        for c in range(n_targets):
            cross[c] += features @ heavy[:, c]
    for c in range(n_targets):
        damped = shrunk[:, None] * cross[c]
        normal -= cross[c].T @ damped
        side -= damped.T @ link.sides[:, c]
    # Tilts of a tenth in all are expected beforehand: it matters where rows are few.
    normal[np.diag_indices(size)] += 10 * rank * link.score / n_targets
    step = scipy.linalg.solve(normal, side, assume_a="pos").reshape(r, rank - r)
    return np.linalg.qr(directions + beside @ step.T)[0]


def far_points(points: FloatArray, count: int) -> IntArray:
    """Choose points that are far from the mean and from each other.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_dimensions)
        Points.
    count : int
        Largest number to choose.

    Returns
    -------
    ndarray of int of shape (n_chosen,)
        Positions: each time that of the point farthest from those chosen so far.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._polish import far_points
    >>> far_points(np.array([[0.0], [1.0], [4.0], [-2.0]]), 3)
    array([2, 3, 1])
    """
    gaps = np.einsum("ij,ij->i", points, points)
    chosen: list[int] = []
    while len(chosen) < count and gaps.max() > 0:
        chosen.append(int(np.argmax(gaps)))
        differences = points - points[chosen[-1]]
        np.minimum(gaps, np.einsum("ij,ij->i", differences, differences), out=gaps)
    return np.array(chosen, dtype=np.intp)


def direct_rotation(before: FloatArray, after: FloatArray) -> FloatArray:
    r"""Rotate one subspace onto another and move no direction more than needed.

    The orthogonal factor of :math:`Q P + (I - Q)(I - P)` with the projections P and Q.

    Parameters
    ----------
    before, after : ndarray of shape (rank, n_dimensions)
        Orthonormal columns.

    Returns
    -------
    ndarray of shape (rank, rank)
        The rotation, as a matrix that acts from the left.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._polish import direct_rotation
    >>> direct_rotation(np.array([[1.0], [0.0]]), np.array([[0.6], [0.8]])).round(4)
    array([[ 0.6, -0.8],
           [ 0.8,  0.6]])
    """
    P, Q = before @ before.T, after @ after.T
    eye = np.eye(len(P))
    left, _, right = scipy.linalg.svd(Q @ P + (eye - Q) @ (eye - P))
    rotation: FloatArray = left @ right
    return rotation


def _link_on(regression: Regression, directions: FloatArray) -> Link:
    indices = np.empty((len(regression.X), directions.shape[1]))
    for rows, points in regression.blocks(directions, 0):
        indices[rows] = points
    return fit_link(indices, regression.targets, regression.weights)


def _features(
    indices: FloatArray,
    targets: FloatArray,
    weights: FloatArray,
    centers: FloatArray,
    bandwidth: float,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Uncorrelated features of unit penalty, their powers, products with responses."""
    values, vectors = scipy.linalg.eigh(
        kernel_block(centers, centers, "gaussian", bandwidth).values
    )
    kept = values > 1e-6 * values[-1]
    basis = vectors[:, kept] / np.sqrt(values[kept])
    gram = np.zeros((basis.shape[1], basis.shape[1]))
    sides = np.zeros((basis.shape[1], targets.shape[1]))
    for rows in row_blocks(len(indices), 48 * len(centers), budget=_BLOCK_BYTES):
        block = kernel_block(indices[rows], centers, "gaussian", bandwidth)
        features = block.values @ basis
        heavy = features * weights[rows, None]
        gram += features.T @ heavy
        sides += heavy.T @ targets[rows]
    powers, turn = scipy.linalg.eigh(gram)
    return basis @ turn, np.maximum(powers, 0.0), turn.T @ sides
