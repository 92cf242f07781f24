"""A layout of a forest in the plane: sectors in proportion to leaves."""

import numpy as np

from skrep.typing import FloatArray, IntArray

__all__ = ["node_depths", "place_in_layout", "tree_layout"]


def tree_layout(parents: IntArray) -> tuple[FloatArray, FloatArray]:
    r"""Lay a forest out in the hyperbolic plane.

    The circle is shared among the leaves. The sector of a node is that of the leaves
    below it; the node lies in the middle of it, and as far out as its sector is
    narrow:

    .. math:: \rho = \ln (2 \pi / \text{width})

    So a single root lies at the origin, several roots share the circle by their
    leaves, and all leaves lie equally far out. An only child lies where its parent
    does.

    Parameters
    ----------
    parents : ndarray of shape (n_nodes,), int
        The parent of each node, -1 for roots. Children take the sector of their parent
        in the order of their indices.

    Returns
    -------
    rho : ndarray of shape (n_nodes,), float64
        Distances from the origin.
    theta : ndarray of shape (n_nodes,), float64
        Angles, from 0 to 2 pi.

    Raises
    ------
    ValueError
        If there is a cycle; the message names a node that leads to it.

    See Also
    --------
    place_in_layout : Where a further leaf goes.
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
    depths = node_depths(parents)
    n_nodes = len(parents)
    downward = np.lexsort((np.arange(n_nodes), depths)).tolist()
    above = parents.tolist()
    leaves = [0] * n_nodes
    for node in reversed(downward):
        leaves[node] = max(leaves[node], 1)
        if above[node] >= 0:
            leaves[above[node]] += leaves[node]
    # The first leaf of each node, and the first one of its next child.
    starts, following, total = [0] * n_nodes, [0] * n_nodes, 0
    for node in downward:
        if above[node] >= 0:
            starts[node] = following[above[node]]
            following[above[node]] += leaves[node]
        else:
            starts[node] = total
            total += leaves[node]
        following[node] = starts[node]
    counts = np.array(leaves, dtype=np.float64)
    middle = np.array(starts, dtype=np.float64) + counts / 2
    return np.log(max(total, 1) / counts), 2 * np.pi * middle / max(total, 1)


def place_in_layout(
    rho: FloatArray, theta: FloatArray, parents: IntArray, parent: int
) -> tuple[float, float]:
    """Place one more leaf in a layout, with everything else as it is.

    It goes where the sectors of two children of its parent meet, and there nearest to
    the middle; under a node without children in the middle itself, and beside an only
    child half way to the end of the sector. It is as far out as if the sector were
    shared by one leaf more.

    Parameters
    ----------
    rho, theta : ndarray of shape (n_nodes,)
        What `tree_layout` gives.
    parents : ndarray of shape (n_nodes,), int
        What it was given.
    parent : int
        The node to place a leaf under; -1 for a further root.

    Returns
    -------
    rho, theta : float
        Distance from the origin, and angle.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.hyperbolic._layout import place_in_layout, tree_layout
    >>> parents = np.array([-1, 0, 0])
    >>> rho, theta = place_in_layout(*tree_layout(parents), parents, 0)
    >>> round(rho, 2), round(theta / np.pi, 2)
    (1.1, 1.0)
    """
    n_leaves = np.exp(rho.max())
    share = 1.0 if parent < 0 else np.exp(-rho[parent])
    middle = np.pi if parent < 0 else theta[parent]
    siblings = np.flatnonzero(parents == parent)
    distance = np.log((share * n_leaves + 1) / share)
    if len(siblings) == 0:
        return float(distance), float(middle)
    if len(siblings) == 1:
        return float(distance), float(middle - np.pi * share / 2)
    ends = theta[siblings] + np.pi * np.exp(-rho[siblings])
    inner = np.sort(ends)[:-1]
    # Two that are equally near differ by rounding: the first is taken.
    nearest = np.argmin(np.round(np.abs(inner - middle) / share, 9))
    return float(distance), float(inner[nearest])


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
