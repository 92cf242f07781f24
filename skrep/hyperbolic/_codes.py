"""Directions that are well apart: spherical codes, and the largest gap in one."""

from functools import lru_cache
from typing import Final

import numpy as np

from skrep.geometry import simplex_vertices, unit_rows
from skrep.hyperbolic._zones import zonal_code
from skrep.typing import FloatArray
from skrep.utils import row_blocks

__all__ = ["first_direction", "largest_gap", "spherical_code"]

_WORK: Final = 1e7
"""Pairs of points that the repulsion looks at, within 30 to 100 steps."""
_MOST_REPELLED: Final = 1000
"""More vectors than these have a code without repulsion, which is not kept."""
_MOST_ZONED: Final = 15
"""Dimensions in which zones are farther apart than random vectors."""


def spherical_code(n_components: int, size: int) -> FloatArray:
    """Spread unit vectors well apart.

    A regular simplex where it fits, the axes and their opposites where these are
    enough, a regular polygon in the plane, and else points that repel each other [1]_
    from a fixed start. Above 1,000 vectors repulsion would take time in their square:
    they stand in zones, in 16 dimensions and more in fixed random directions. In one
    dimension there are two directions, taken in turns.

    Parameters
    ----------
    n_components : int
        Dimension.
    size : int
        Number of vectors, 1 or more.

    Returns
    -------
    ndarray of shape (size, n_components), float64
        Unit rows, the same at every call; read-only, as up to 1,000 are kept.

    References
    ----------
    .. [1] Saff, E. B. and Kuijlaars, A. B. J. (1997). "Distributing many points on a
       sphere". The Mathematical Intelligencer 19(1), 5-11.
    """
    if size > _MOST_REPELLED:
        return _fresh_code(n_components, size)
    return _kept_code(n_components, size)


@lru_cache(maxsize=4096)
def _kept_code(n_components: int, size: int) -> FloatArray:
    return _fresh_code(n_components, size)


def _fresh_code(n_components: int, size: int) -> FloatArray:
    code: FloatArray = np.zeros((size, n_components))
    if size == 1:
        code[0, 0] = 1
    elif n_components == 1:
        code[:, 0] = (-1.0) ** np.arange(size)
    elif n_components == 2:
        angles = 2 * np.pi * np.arange(size) / size
        code = np.column_stack([np.cos(angles), np.sin(angles)])
    elif size <= n_components + 1:
        code[:, : size - 1] = simplex_vertices(size)
    elif size <= 2 * n_components:
        axes = np.eye(n_components)
        code = np.concatenate([axes, -axes])[:size]
    elif size <= _MOST_REPELLED:
        code = _repelled(n_components, size)
    elif n_components <= _MOST_ZONED:
        code = zonal_code(n_components, size)
    else:
        code = _drawn(n_components, size)
    code.flags.writeable = False
    return code


def _drawn(n_components: int, size: int) -> FloatArray:
    rng = np.random.default_rng([n_components, size])
    return unit_rows(rng.standard_normal((size, n_components)))[0]


def _repelled(n_components: int, size: int) -> FloatArray:
    """Let points push each other away, ever harder the nearer they are."""
    points = _drawn(n_components, size).astype(np.float32)
    n_steps = int(np.clip(_WORK / size**2, 30, 100))
    # The angle that a point of an even code has to itself, more or less.
    reach = size ** (-2 / (n_components - 1))
    for step in range(n_steps):
        sharpness = np.float32(2 / reach * (0.25 + step / n_steps))
        force = _push(points, sharpness)
        force -= np.einsum("ij,ij->i", force, points)[:, None] * points
        strength = np.sqrt(np.einsum("ij,ij->i", force, force).max())
        stride = 0.5 * np.sqrt(reach) * (1 - step / n_steps)
        points -= force * np.float32(stride / (strength + 1e-30))
        points /= np.sqrt(np.einsum("ij,ij->i", points, points))[:, None]
    return unit_rows(points.astype(np.float64))[0]


def _push(points: FloatArray, sharpness: np.float32) -> FloatArray:
    """Sum the points, each weighted by how near it is, for each of them."""
    force = np.empty_like(points)
    for block in row_blocks(len(points), row_bytes=points.itemsize * len(points)):
        push = points[block] @ points.T
        push -= 1
        push *= sharpness
        np.exp(push, out=push)
        np.fill_diagonal(push[:, block], 0)
        np.matmul(push, points, out=force[block])
    return force


@lru_cache(maxsize=4096)
def first_direction(n_components: int, size: int) -> FloatArray:
    """Give the first vector of a spherical code.

    Parameters
    ----------
    n_components : int
        Dimension.
    size : int
        Number of vectors of the code, 1 or more.

    Returns
    -------
    ndarray of shape (n_components,), float64
        A unit vector, read-only.
    """
    first = spherical_code(n_components, size)[0].copy()
    first.flags.writeable = False
    return first


@lru_cache(maxsize=4096)
def largest_gap(n_components: int, size: int) -> FloatArray:
    """Find the direction that is farthest from those of a spherical code.

    Parameters
    ----------
    n_components : int
        Dimension.
    size : int
        Number of vectors of the code; 0 for none.

    Returns
    -------
    ndarray of shape (n_components,), float64
        A unit vector, read-only. In one dimension, the opposite of the first.
    """
    gap: FloatArray = np.zeros(n_components)
    if size == 0:
        gap[0] = 1
    elif n_components == 1:
        gap[0] = -1
    elif n_components == 2:
        gap[:] = np.cos(np.pi / size), np.sin(np.pi / size)
    else:
        gap = _roomiest(spherical_code(n_components, size))
    gap.flags.writeable = False
    return gap


def _roomiest(code: FloatArray) -> FloatArray:
    """Push the best of many directions away from a code, and take the best then."""
    n_components = code.shape[1]
    rng = np.random.default_rng(0)
    axes = np.eye(n_components)
    sums = np.ones((1, n_components)) / np.sqrt(n_components)
    drawn = unit_rows(rng.standard_normal((2048, n_components)))[0]
    tried = np.concatenate([axes, -axes, sums, -code, drawn])
    nearest = np.empty(len(tried))
    for block in row_blocks(len(tried), row_bytes=code.itemsize * len(code)):
        nearest[block] = (tried[block] @ code.T).max(axis=1)
    found = tried[np.argsort(nearest, kind="stable")[:32]]
    pushed = found
    for step in range(60):
        cosines = pushed @ code.T
        cosines -= cosines.max(axis=1, keepdims=True)
        pull = unit_rows(np.exp(40 * cosines) @ code)[0]
        pushed = unit_rows(pushed - 0.2 * (1 - step / 60) * pull)[0]
        found = np.concatenate([found, pushed])
    return np.copy(found[np.argmin([(code @ vector).max() for vector in found])])
