"""A layout of a forest in the plane: sectors in proportion to leaves."""

from typing import NamedTuple

import numpy as np

from skrep.typing import FloatArray, IntArray

__all__ = [
    "Sectors",
    "layout_sectors",
    "node_depths",
    "place_in_layout",
    "tree_layout",
]


class Sectors(NamedTuple):
    """The parts of the circle that nodes have, and how long their only lines are.

    Parameters
    ----------
    leaves : ndarray of shape (n_nodes,), float64
        Number of leaves below a node, or 1.
    shares : ndarray of shape (n_nodes,), float64
        Width of its sector, 1 for the circle.
    middles : ndarray of shape (n_nodes,), float64
        Middle of its sector, from 0 to 1.
    lonely : ndarray of shape (n_nodes,), float64
        Only children on the way from the root to it, itself included.
    """

    leaves: FloatArray
    shares: FloatArray
    middles: FloatArray
    lonely: FloatArray


def tree_layout(parents: IntArray) -> tuple[FloatArray, FloatArray]:
    r"""Lay a forest out in the hyperbolic plane.

    The circle is shared among the leaves. The sector of a node is that of the leaves
    below it; the node lies in the middle of it, and as far out as its sector is
    narrow. An only child has the sector of its parent, and lies beyond it: with u only
    children on the way from the root to the node, itself included,

    .. math:: \rho = \ln \frac{2 \pi (1 + u)}{\text{width}}

    So a single root lies at the origin, several roots share the circle by their
    leaves, and all leaves lie equally far out but those behind only children. A chain
    of n nodes is as long as a star of n leaves is wide: its last node lies at ln n.

    Parameters
    ----------
    parents : ndarray of shape (n_nodes,), int
        The parent of each node, -1 for roots. Children take the sector of their parent
        in the order of their indices.

    Returns
    -------
    rho : ndarray of shape (n_nodes,), float64
        Distances from the origin; each node lies beyond its parent.
    theta : ndarray of shape (n_nodes,), float64
        Angles, from 0 to 2 pi.

    Raises
    ------
    ValueError
        If there is a cycle; the message names a node that leads to it.

    See Also
    --------
    place_in_layout : Where further leaves go.
    skrep.graph.primary_parents : The parents, from relations.

    Notes
    -----
    Time grows with the number of nodes, times the logarithm of the depth.

    Examples
    --------
    A root with two children:

    >>> import numpy as np
    >>> from skrep.hyperbolic._layout import tree_layout
    >>> rho, theta = tree_layout(np.array([-1, 0, 0]))
    >>> rho.round(2), (theta / np.pi).round(2)
    (array([0.  , 0.69, 0.69]), array([1. , 0.5, 1.5]))
    """
    sectors = layout_sectors(parents)
    rho = np.log((1 + sectors.lonely) / sectors.shares)
    return rho, 2 * np.pi * sectors.middles


def layout_sectors(parents: IntArray) -> Sectors:
    """Share the circle among the leaves of a forest.

    Parameters
    ----------
    parents : ndarray of shape (n_nodes,), int
        As in `tree_layout`.

    Returns
    -------
    Sectors
        The parts of the nodes.

    Raises
    ------
    ValueError
        If there is a cycle; the message names a node that leads to it.
    """
    depths = node_depths(parents)
    n_nodes = len(parents)
    downward = np.lexsort((np.arange(n_nodes), depths)).tolist()
    above = parents.tolist()
    leaves, children = [0] * n_nodes, [0] * n_nodes
    for node in reversed(downward):
        leaves[node] = max(leaves[node], 1)
        if above[node] >= 0:
            leaves[above[node]] += leaves[node]
            children[above[node]] += 1
    # The first leaf of each node, and the first one of its next child.
    starts, following, total = [0] * n_nodes, [0] * n_nodes, 0
    lonely = [0] * n_nodes
    for node in downward:
        parent = above[node]
        if parent >= 0:
            starts[node] = following[parent]
            following[parent] += leaves[node]
            lonely[node] = lonely[parent] + (children[parent] == 1)
        else:
            starts[node] = total
            total += leaves[node]
        following[node] = starts[node]
    counts = np.array(leaves, dtype=np.float64)
    middles = (np.array(starts, dtype=np.float64) + counts / 2) / max(total, 1)
    shares = counts / max(total, 1)
    return Sectors(counts, shares, middles, np.array(lonely, dtype=np.float64))


def place_in_layout(
    sectors: Sectors, parents: IntArray, nodes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Place further leaves in a layout, each as if it were the only one.

    A leaf goes where the sectors of two children of its parent meet, and there nearest
    to the middle; under a node without children it is an only child, and beside an only
    child it goes half way to the end of the sector. It is as far out as if the sector
    were shared by one leaf more.

    Parameters
    ----------
    sectors : Sectors
        From `layout_sectors`, of the same parents.
    parents : ndarray of shape (n_nodes,), int
        What `tree_layout` was given.
    nodes : ndarray of shape (n_leaves,), int
        The nodes to place a leaf under; -1 for a further root.

    Returns
    -------
    rho, theta : ndarray of shape (n_leaves,), float64
        Distances from the origin, and angles.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.hyperbolic._layout import layout_sectors, place_in_layout
    >>> parents = np.array([-1, 0, 0])
    >>> sectors = layout_sectors(parents)
    >>> rho, theta = place_in_layout(sectors, parents, np.array([0]))
    >>> rho.round(2), (theta / np.pi).round(2)
    (array([1.1]), array([1.]))
    """
    places = [_place(sectors, parents, int(node)) for node in nodes]
    rho, theta = np.array(places, dtype=np.float64).reshape(-1, 2).T
    return rho, theta


def _place(sectors: Sectors, parents: IntArray, parent: int) -> tuple[float, float]:
    siblings = np.flatnonzero(parents == parent)
    if parent < 0:
        share, middle, leaves, lonely = 1.0, 0.5, sectors.leaves[siblings].sum(), 0.0
    else:
        leaves, share, middle, lonely = (part[parent] for part in sectors)
    distance = np.log((leaves + 1) * (1 + lonely) / share)
    if len(siblings) == 0:
        return float(np.log((2 + lonely) / share)), float(2 * np.pi * middle)
    if len(siblings) == 1:
        return float(distance), float(2 * np.pi * (middle - share / 4))
    ends = sectors.middles[siblings] + sectors.shares[siblings] / 2
    inner = np.sort(ends)[:-1]
    # Two that are equally near differ by rounding: the first is taken.
    nearest = np.argmin(np.round(np.abs(inner - middle) / share, 9))
    return float(distance), float(2 * np.pi * inner[nearest])


def node_depths(parents: IntArray) -> IntArray:
    """Count the edges between each node of a forest and its root.

    Parameters
    ----------
    parents : ndarray of shape (n_nodes,), int
        The parent of each node, -1 for roots.

    Returns
    -------
    ndarray of shape (n_nodes,), int64
        Depths, 0 for roots.

    Raises
    ------
    ValueError
        If there is a cycle; the message names a node that leads to it.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.hyperbolic._layout import node_depths
    >>> node_depths(np.array([-1, 0, 1, 0]))
    array([0, 1, 2, 1])
    """
    n_nodes = len(parents)
    # A root leads to the node n_nodes, which leads to itself.
    above = np.append(np.where(parents < 0, n_nodes, parents), n_nodes)
    depths = np.append((parents >= 0).astype(np.int64), 0)
    for _ in range(n_nodes.bit_length()):
        if (above == n_nodes).all():
            break
        depths += depths[above]
        above = above[above]
    lost = np.flatnonzero(above != n_nodes)
    if len(lost):
        raise ValueError(
            f"tree_layout: 'parents' leads from node {lost[0]} into a cycle. A forest "
            f"has none: set parents[{lost[0]}] = -1 to make a root of it."
        )
    return depths[:-1]
