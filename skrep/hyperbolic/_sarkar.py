"""Trees in the ball, node by node: every edge as long as it should be."""

from typing import NamedTuple

import numpy as np

from skrep.geometry import unit_rows
from skrep.graph import RootedForest
from skrep.hyperbolic._codes import first_direction, largest_gap, spherical_code
from skrep.hyperbolic._triangle import solve_triangle
from skrep.typing import FloatArray, IntArray

__all__ = ["Placement", "ball_points", "place_leaf", "place_tree"]


class Placement(NamedTuple):
    """Where the nodes of a tree lie, and where there is room around them.

    Parameters
    ----------
    radius : ndarray of shape (n_nodes,), float64
        Hyperbolic distance from the origin.
    direction : ndarray of shape (n_nodes, n_components), float64
        Unit vectors; the point is ``tanh(radius / 2) * direction``.
    toward : ndarray of shape (n_nodes, n_components), float64
        Unit vectors: at each node, moved to the origin, the direction of the first of
        its neighbors, which is its parent where it has one.
    degree : ndarray of int of shape (n_nodes,)
        Number of directions at the node that are taken.
    tau : float
        Hyperbolic length of an edge of length 1.
    limit : float
        Largest radius that the stored coordinates hold.
    """

    radius: FloatArray
    direction: FloatArray
    toward: FloatArray
    degree: IntArray
    tau: float
    limit: float


def ball_points(radius: FloatArray, direction: FloatArray, limit: float) -> FloatArray:
    """Turn polar coordinates into points of the ball.

    Parameters
    ----------
    radius : ndarray of shape (n_points,)
        Distances from the origin.
    direction : ndarray of shape (n_points, n_components)
        Unit vectors.
    limit : float
        Points farther out are drawn in to this radius.

    Returns
    -------
    ndarray of shape (n_points, n_components)
        The points.
    """
    return np.tanh(np.minimum(radius, limit) / 2)[:, None] * direction


def turned(code: FloatArray, first: FloatArray, toward: FloatArray) -> FloatArray:
    """Reflect vectors of codes so that the first of each code points as asked.

    Parameters
    ----------
    code, first, toward : ndarray of shape (n_rows, n_components)
        Unit rows: a vector of a code, the first vector of that code, and where the
        first shall point.

    Returns
    -------
    ndarray of shape (n_rows, n_components)
        The reflected vectors.
    """
    mirror = first - toward
    square = np.einsum("ij,ij->i", mirror, mirror)
    share = np.einsum("ij,ij->i", mirror, code)
    share /= np.where(square < 1e-30, np.inf, square)
    return code - 2 * share[:, None] * mirror


def step(
    radius: FloatArray, direction: FloatArray, heading: FloatArray, length: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Go from points in given directions by given lengths.

    Parameters
    ----------
    radius : ndarray of shape (n_points,)
        Distances of the points from the origin.
    direction : ndarray of shape (n_points, n_components)
        Unit vectors that lead to the points.
    heading : ndarray of shape (n_points, n_components)
        Unit vectors at the points, moved to the origin along the ray.
    length : ndarray of shape (n_points,)
        How far to go.

    Returns
    -------
    radius, direction, toward : tuple of ndarray
        The points reached, and the directions that lead back from there.
    """
    inward = heading + direction
    share = np.minimum(np.einsum("ij,ij->i", inward, inward) / 4, 1)
    along = np.einsum("ij,ij->i", heading, direction)
    side, sine = unit_rows(heading - along[:, None] * direction)
    triangle = solve_triangle(radius, length, np.minimum(sine, 1), share)
    turn = (triangle.turn * np.exp(-radius))[:, None]
    back = triangle.back[:, None]
    reached = unit_rows(np.cos(turn) * direction + np.sin(turn) * side)[0]
    across = np.sin(turn) * direction - np.cos(turn) * side
    toward = np.sin(back) * across - np.cos(back) * reached
    return triangle.side, reached, toward


def sibling_ranks(parents: IntArray) -> IntArray:
    """Number siblings that stand side by side from 0.

    Parameters
    ----------
    parents : ndarray of int of shape (n_nodes,)
        Parents; those of siblings are side by side.

    Returns
    -------
    ndarray of int of shape (n_nodes,)
        Place among the siblings.
    """
    places = np.arange(len(parents))
    first = np.ones(len(parents), dtype=bool)
    first[1:] = parents[1:] != parents[:-1]
    return places - np.maximum.accumulate(np.where(first, places, 0))


def place_tree(
    tree: RootedForest, n_components: int, tau: float, spoke: float, limit: float
) -> Placement:
    r"""Place a tree around its root, or several around the origin.

    The children of a node leave it, beside its parent, in the directions of a
    spherical code that is turned so that its first vector points to the parent. Nodes
    are kept in polar coordinates: each follows from the triangle of the origin, its
    parent and itself, all of a level at once, and no error grows towards the rim.

    Parameters
    ----------
    tree : RootedForest
        The nodes in breadth-first order.
    n_components : int
        Dimension.
    tau : float
        Hyperbolic length of an edge of length 1.
    spoke : float
        Distance of the roots from the origin, in units of the edges, where there are
        several.
    limit : float
        Largest radius that the coordinates will hold.

    Returns
    -------
    Placement
        The nodes.
    """
    n_nodes, roots = len(tree.parents), tree.order[: tree.levels[1]]
    below = tree.parents >= 0
    degree = np.bincount(tree.parents[below], minlength=n_nodes)
    several = len(roots) > 1
    has_up = below | several
    degree = degree + has_up
    radius = np.zeros(n_nodes)
    direction = np.zeros((n_nodes, n_components))
    toward = np.zeros((n_nodes, n_components))
    if several:
        radius[roots] = tau * spoke
        direction[roots] = spherical_code(n_components, len(roots))
        toward[roots] = -direction[roots]
    else:
        direction[roots, 0] = 1
        toward[roots] = first_direction(n_components, max(1, int(degree[roots[0]])))
    for start, stop in zip(tree.levels[1:-1], tree.levels[2:], strict=True):
        level = tree.order[start:stop]
        above = tree.parents[level]
        places = sibling_ranks(above) + has_up[above]
        heading = np.empty((len(level), n_components))
        first = np.empty_like(heading)
        for size in np.unique(degree[above]):
            rows = degree[above] == size
            code = spherical_code(n_components, int(size))
            heading[rows], first[rows] = code[places[rows]], code[0]
        radius[level], direction[level], toward[level] = step(
            radius[above],
            direction[above],
            turned(heading, first, toward[above]),
            tau * tree.lengths[level],
        )
    return Placement(radius, direction, toward, degree, tau, limit)


def place_leaf(
    placement: Placement, nodes: IntArray, lengths: FloatArray
) -> FloatArray:
    """Place a further leaf under each of some fitted nodes, where most room is.

    The leaf leaves its node in the direction that is farthest from those of the
    node's neighbors, by its length times tau. Every leaf is placed as if it were the
    only one: two under one node get one place.

    Parameters
    ----------
    placement : Placement
        The fitted nodes: `_placement` of a fitted `TreeEmbedding`.
    nodes : ndarray of int of shape (n_leaves,)
        The nodes that get a leaf.
    lengths : ndarray of shape (n_leaves,)
        Lengths of the new edges, in units of those of the tree.

    Returns
    -------
    ndarray of shape (n_leaves, n_components), float64
        Points of the ball, at most `placement.limit` from the origin: a leaf of a
        node at the limit is drawn in to it.

    See Also
    --------
    TreeEmbedding : Fit the tree.
    """
    n_components = placement.direction.shape[1]
    heading = np.empty((len(nodes), n_components))
    first = np.empty_like(heading)
    degree = placement.degree[nodes]
    for size in np.unique(degree):
        rows = degree == size
        heading[rows] = largest_gap(n_components, int(size))
        first[rows] = first_direction(n_components, max(1, int(size)))
    radius, direction, _ = step(
        placement.radius[nodes],
        placement.direction[nodes],
        turned(heading, first, placement.toward[nodes]),
        placement.tau * lengths,
    )
    return ball_points(radius, direction, placement.limit)
