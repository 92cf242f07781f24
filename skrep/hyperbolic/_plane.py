"""Trees in the plane, in polar coordinates whose angles may be longer than floats."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from skrep.graph import RootedForest
from skrep.hyperbolic._sarkar import Placement, sibling_ranks
from skrep.hyperbolic._triangle import far_side, solve_triangle
from skrep.typing import AnyArray, FloatArray, IntArray

__all__ = [
    "Rays",
    "draw_rays",
    "float_angles",
    "long_angles",
    "place_in_plane",
    "ray_distances",
]

LN2 = math.log(2)


class Rays(NamedTuple):
    """A tree in the plane, each node as seen from its parent.

    Parameters
    ----------
    radius : ndarray of shape (n_nodes,)
        Hyperbolic distance from the origin.
    turn : ndarray of shape (n_nodes,)
        Angle of the node less that of its parent, times ``exp(radius[parent])``; the
        angle itself for a root.
    bend : ndarray of shape (n_nodes,)
        At each node, the angle from the direction of the origin to its first neighbor.
    degree : ndarray of int of shape (n_nodes,)
        Number of directions that are taken.
    """

    radius: FloatArray
    turn: FloatArray
    bend: FloatArray
    degree: IntArray


def draw_rays(tree: RootedForest, tau: float, spoke: float) -> Rays:
    """Place a tree in the plane, without adding the angles up.

    Parameters
    ----------
    tree : RootedForest
        The nodes in breadth-first order.
    tau : float
        Hyperbolic length of an edge of length 1; no radius is too large.
    spoke : float
        Distance of the roots from the origin, in units of the edges, where there are
        several.

    Returns
    -------
    Rays
        The nodes.
    """
    n_nodes, roots = len(tree.parents), tree.order[: tree.levels[1]]
    below = tree.parents >= 0
    has_up = below | (len(roots) > 1)
    degree = np.bincount(tree.parents[below], minlength=n_nodes) + has_up
    radius, turn, bend = np.zeros(n_nodes), np.zeros(n_nodes), np.zeros(n_nodes)
    if len(roots) > 1:
        radius[roots] = tau * spoke
        turn[roots] = 2 * np.pi * np.arange(len(roots)) / len(roots)
    else:
        bend[roots] = -np.pi
    for start, stop in zip(tree.levels[1:-1], tree.levels[2:], strict=True):
        level = tree.order[start:stop]
        above = tree.parents[level]
        places = sibling_ranks(above) + has_up[above]
        angle = bend[above] + 2 * np.pi * places / degree[above]
        angle = np.where(angle > np.pi, angle - 2 * np.pi, angle)
        side = np.where(angle < 0, -1.0, 1.0)
        triangle = solve_triangle(
            radius[above],
            tau * tree.lengths[level],
            np.sin(np.abs(angle)),
            np.sin(angle / 2) ** 2,
        )
        radius[level] = triangle.side
        turn[level] = -side * triangle.turn
        bend[level] = -side * triangle.back
    return Rays(radius, turn, bend, degree)


def float_angles(tree: RootedForest, rays: Rays) -> FloatArray:
    """Add the angles up.

    Parameters
    ----------
    tree : RootedForest
        The nodes in breadth-first order.
    rays : Rays
        The nodes in the plane.

    Returns
    -------
    ndarray of shape (n_nodes,)
        Angles in radians.
    """
    angles = rays.turn.copy()
    for start, stop in zip(tree.levels[1:-1], tree.levels[2:], strict=True):
        level = tree.order[start:stop]
        above = tree.parents[level]
        angles[level] *= np.exp(-rays.radius[above])
        angles[level] += angles[above]
    return angles


def place_in_plane(
    tree: RootedForest, n_components: int, tau: float, spoke: float, limit: float
) -> Placement:
    """Place a tree as `place_tree` does, faster, where there are two dimensions.

    Parameters
    ----------
    tree : RootedForest
        The nodes in breadth-first order.
    n_components : int
        2.
    tau, spoke, limit : float
        As for `place_tree`.

    Returns
    -------
    Placement
        The nodes.
    """
    rays = draw_rays(tree, tau, spoke)
    angles = float_angles(tree, rays)
    toward = angles + np.pi + rays.bend
    return Placement(
        rays.radius,
        np.stack([np.cos(angles), np.sin(angles)], axis=1),
        np.stack([np.cos(toward), np.sin(toward)], axis=1),
        rays.degree,
        tau,
        limit,
    )


def long_angles(tree: RootedForest, rays: Rays, n_bits: int) -> AnyArray:
    """Add the angles up as integers, so that none is too small to count.

    Parameters
    ----------
    tree : RootedForest
        The nodes in breadth-first order.
    rays : Rays
        The nodes in the plane.
    n_bits : int
        A full turn is ``2**n_bits``.

    Returns
    -------
    ndarray of shape (n_nodes,), object
        Angles as integers from 0 to ``2**n_bits - 1``.
    """
    below = tree.parents >= 0
    start = np.where(below, rays.radius[tree.parents], 0)
    share = np.abs(rays.turn) / (2 * np.pi)
    with np.errstate(divide="ignore"):
        log2 = np.where(share > 0, np.log2(share), -np.inf) - start / LN2 + n_bits
    exponent = np.floor(np.where(np.isfinite(log2), log2, 0)).astype(int) - 52
    mantissa = np.exp2(log2 - exponent).astype(np.int64).tolist()
    shifts, signs = exponent.tolist(), np.sign(rays.turn).astype(int).tolist()
    parents, full = tree.parents.tolist(), (1 << n_bits) - 1
    angles: list[int] = [0] * len(parents)
    for node in tree.order.tolist():
        shift, part = shifts[node], mantissa[node]
        part = part << shift if shift >= 0 else part >> -shift
        up = angles[parents[node]] if parents[node] >= 0 else 0
        angles[node] = (up + signs[node] * part) & full
    found = np.empty(len(angles), dtype=object)
    found[:] = angles
    return found


def ray_distances(
    radius: FloatArray, angles: AnyArray, n_bits: int, nodes: IntArray
) -> FloatArray:
    """Measure hyperbolic distances between points whose angles are integers.

    Parameters
    ----------
    radius : ndarray of shape (n_nodes,)
        Distances from the origin.
    angles : ndarray of shape (n_nodes,), object
        Integers from 0 to ``2**n_bits - 1``.
    n_bits : int
        A full turn is ``2**n_bits``.
    nodes : ndarray of int of shape (n_rows,)
        The nodes to measure from.

    Returns
    -------
    ndarray of shape (n_rows, n_nodes)
        Distances, rounded but not clipped.
    """
    every: list[int] = angles.tolist()
    distances = np.empty((len(nodes), len(every)))
    for row, node in enumerate(nodes.tolist()):
        log_share = 2 * _log_sines(every, every[node], n_bits)
        distances[row] = far_side(np.full(len(every), radius[node]), radius, log_share)
        distances[row, node] = 0
    return distances


def _log_sines(angles: Sequence[int], other: int, n_bits: int) -> FloatArray:
    """Logarithms of the sines of half the angles between one ray and all."""
    full, half = 1 << n_bits, 1 << (n_bits - 1)
    gaps = [abs(angle - other) for angle in angles]
    gaps = [gap if gap <= half else full - gap for gap in gaps]
    logs = np.array([math.log(gap) if gap else -math.inf for gap in gaps])
    logs -= n_bits * LN2 - math.log(math.pi)
    # Of a small angle the sine is the angle, to rounding.
    wide = logs > -18
    logs[wide] = np.log(np.sin(np.exp(logs[wide])))
    return logs
