"""Trees and forests of undirected edges: spanning, centers, order and distances."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import (
    breadth_first_order,
    connected_components,
    dijkstra,
    minimum_spanning_tree,
)

from skrep.graph._square import square_csr
from skrep.typing import FloatArray, IntArray, Matrix, SparseMatrix

__all__ = [
    "RootedForest",
    "rooted_order",
    "spanning_forest",
    "tree_centers",
    "tree_distances",
    "undirected_edges",
]


class RootedForest(NamedTuple):
    """A forest in breadth-first order from its roots.

    Parameters
    ----------
    order : ndarray of shape (n_nodes,)
        Nodes, level by level: the roots first, and the children of a node side by
        side, in the order of their numbers.
    parents : ndarray of shape (n_nodes,)
        Parent of each node; -1 for a root.
    lengths : ndarray of shape (n_nodes,), float64
        Length of the edge to the parent; 0 for a root.
    levels : ndarray of shape (n_levels + 1,)
        Level k is ``order[levels[k]:levels[k + 1]]``.

    See Also
    --------
    rooted_order : Make one.
    """

    order: IntArray
    parents: IntArray
    lengths: FloatArray
    levels: IntArray


def undirected_edges(adjacency: Matrix) -> SparseMatrix:
    """Store every edge in both directions, and no node's edge to itself.

    Parameters
    ----------
    adjacency : {ndarray, sparse matrix or array} of shape (n_nodes, n_nodes)
        Positive lengths, each in one direction or in both; zeros of a dense matrix are
        no edges. Where both directions are stored, the shorter edge counts.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes), float64
        Symmetric, with sorted columns.

    See Also
    --------
    spanning_forest : What is left without circles.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.graph import undirected_edges
    >>> undirected_edges(np.array([[7, 2], [3, 0]])).toarray()
    array([[0., 2.],
           [2., 0.]])
    """
    edges = sp.coo_array(adjacency, dtype=np.float64)
    first = np.minimum(edges.row, edges.col).astype(np.int64)
    second = np.maximum(edges.row, edges.col).astype(np.int64)
    kept = first != second
    first, second, lengths = first[kept], second[kept], edges.data[kept]
    n_nodes = edges.shape[0]
    order = np.lexsort((lengths, first * n_nodes + second))
    first, second, lengths = first[order], second[order], lengths[order]
    fresh = np.ones(len(first), dtype=bool)
    fresh[1:] = (np.diff(first) != 0) | (np.diff(second) != 0)
    return _symmetric(first[fresh], second[fresh], lengths[fresh], n_nodes)


def _symmetric(
    first: IntArray, second: IntArray, lengths: FloatArray, n_nodes: int
) -> SparseMatrix:
    """Both directions of edges given once."""
    rows, columns = np.concatenate([[first, second], [second, first]], axis=1)
    return square_csr(rows, columns, np.concatenate([lengths, lengths]), n_nodes)


def spanning_forest(adjacency: Matrix) -> SparseMatrix:
    """Keep the edges of least total length that leave all joined that are joined.

    Where all lengths are equal every spanning tree is shortest, and the breadth-first
    one from the node of most edges is taken: it keeps all distances to that node.

    Parameters
    ----------
    adjacency : {ndarray, sparse matrix or array} of shape (n_nodes, n_nodes)
        Positive lengths, each in one direction or in both; zeros of a dense matrix are
        no edges. Where both directions are stored, the shorter edge counts. Edges of
        a node to itself are left out.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes), float64
        The edges kept, each in both directions: one spanning tree of every connected
        component. A forest comes back whole.

    See Also
    --------
    rooted_order : Turn it into parents and children.
    scipy.sparse.csgraph.minimum_spanning_tree : Gives each edge in one direction.

    Notes
    -----
    Takes time in the number of edges times its logarithm, and no recursion.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.graph import spanning_forest
    >>> triangle = np.array([[0, 1, 4], [0, 0, 2], [0, 0, 0]])
    >>> spanning_forest(triangle).toarray()
    array([[0., 1., 0.],
           [1., 0., 2.],
           [0., 2., 0.]])
    """
    edges = undirected_edges(adjacency)
    n_nodes = edges.shape[0]
    n_trees, component = connected_components(edges)
    if edges.nnz == 2 * (n_nodes - n_trees):
        return edges
    if edges.data.min() < edges.data.max():
        tree = sp.coo_array(minimum_spanning_tree(edges))
        return _symmetric(tree.row, tree.col, tree.data, n_nodes)
    degree = np.diff(edges.indptr)
    hubs = _first_of_each(component, -degree)
    parents = rooted_order(edges, hubs).parents
    below = np.flatnonzero(parents >= 0)
    lengths = np.full(len(below), edges.data[0])
    return _symmetric(below, parents[below], lengths, n_nodes)


def _first_of_each(component: IntArray, key: FloatArray | IntArray) -> IntArray:
    """Node of least key in every component, the first of equal ones."""
    order = np.lexsort((np.arange(len(key)), key, component))
    return order[np.searchsorted(component[order], np.arange(component.max() + 1))]


def tree_centers(forest: SparseMatrix) -> IntArray:
    """Find the node of every tree whose farthest node is nearest.

    The ends of a longest path are found by two sweeps from anywhere; the farthest node
    from any node is one of them [1]_.

    Parameters
    ----------
    forest : csr_array of shape (n_nodes, n_nodes)
        Lengths of the edges of a forest, in both directions.

    Returns
    -------
    ndarray of shape (n_trees,)
        One node a tree, in increasing order. Of two equally central nodes the one of
        the smaller number.

    See Also
    --------
    rooted_order : Root the trees there.

    References
    ----------
    .. [1] Handler, G. Y. (1973). "Minimax location of a facility in an undirected tree
       graph". Transportation Science 7(3), 287-293.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.graph import tree_centers, undirected_edges
    >>> path = np.diag([1.0, 1.0, 1.0, 1.0], k=1)
    >>> tree_centers(undirected_edges(path))
    array([2])
    """
    _, component = connected_components(forest)
    starts = _first_of_each(component, np.zeros(len(component)))
    ends = _first_of_each(component, -_gaps(forest, starts))
    eccentricity = _gaps(forest, ends)
    ends = _first_of_each(component, -eccentricity)
    eccentricity = np.maximum(eccentricity, _gaps(forest, ends))
    # Sums of the same lengths in another order differ by rounding.
    least = eccentricity[_first_of_each(component, eccentricity)][component]
    central = eccentricity <= least * (1 + 1e-12)
    return np.sort(_first_of_each(component, ~central))


def _gaps(forest: SparseMatrix, starts: IntArray) -> FloatArray:
    """Length of the path to the only start that there is in the same tree."""
    return dijkstra(forest, indices=starts, min_only=True)


def rooted_order(forest: SparseMatrix, roots: IntArray) -> RootedForest:
    """Order the nodes breadth-first from the roots, with parents and edge lengths.

    Parameters
    ----------
    forest : csr_array of shape (n_nodes, n_nodes)
        Lengths of the edges, in both directions. Of a graph with circles the
        breadth-first tree is taken.
    roots : ndarray of int
        One node of every connected component.

    Returns
    -------
    RootedForest
        Order, parents, lengths and the bounds of the levels.

    Raises
    ------
    ValueError
        If a component has no root, or several.

    See Also
    --------
    tree_centers : Roots to take.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.graph import rooted_order, undirected_edges
    >>> edges = undirected_edges(np.diag([1.0, 2.0], k=1))
    >>> rooted_order(edges, np.array([1])).parents
    array([ 1, -1,  1])
    """
    n_nodes = forest.shape[0]
    _check_roots(forest, roots)
    # A virtual node above all roots makes one tree of the forest.
    coo = sp.coo_array(forest)
    above = np.full(len(roots), n_nodes)
    joined = square_csr(
        np.concatenate([coo.row, above]),
        np.concatenate([coo.col, roots]),
        np.ones(coo.nnz + len(roots)),
        n_nodes + 1,
    )
    order, parents = breadth_first_order(joined, n_nodes, directed=True)
    order, parents = order[1:].astype(np.intp), parents[:n_nodes].astype(np.intp)
    parents[roots] = -1
    place = np.empty(n_nodes + 1, dtype=np.intp)
    place[order] = np.arange(n_nodes)
    place[-1] = -1
    above = place[parents[order]]
    levels = [0, len(roots)]
    while levels[-1] < n_nodes:
        levels.append(int(np.searchsorted(above, levels[-1])))
    lengths = np.zeros(n_nodes)
    below = np.flatnonzero(parents >= 0)
    lengths[below] = _entries(forest, below, parents[below])
    return RootedForest(order, parents, lengths, np.array(levels, dtype=np.intp))


def _check_roots(forest: SparseMatrix, roots: IntArray) -> None:
    n_trees, component = connected_components(forest, directed=False)
    held = np.bincount(component[roots], minlength=n_trees)
    wrong = np.flatnonzero(held != 1)
    if len(wrong):
        node = int(np.argmax(component == wrong[0]))
        raise ValueError(
            f"rooted_order: 'roots' holds {held[wrong[0]]} nodes of the component of "
            f"node {node}, and each component needs one. Pass "
            "skrep.graph.tree_centers(forest), say."
        )


def _entries(matrix: SparseMatrix, rows: IntArray, columns: IntArray) -> FloatArray:
    """Look stored entries of a CSR matrix up."""
    n_nodes = matrix.shape[0]
    matrix = sp.csr_array(matrix, copy=not matrix.has_canonical_format)
    matrix.sum_duplicates()
    keys = np.repeat(np.arange(n_nodes), np.diff(matrix.indptr)) * n_nodes
    found = np.searchsorted(keys + matrix.indices, rows * n_nodes + columns)
    return np.asarray(matrix.data[found], dtype=np.float64)


def tree_distances(tree: RootedForest, nodes: IntArray) -> FloatArray:
    """Measure the paths from some nodes to all.

    Parameters
    ----------
    tree : RootedForest
        Trees from `rooted_order`.
    nodes : ndarray of int of shape (n_rows,)
        The nodes to start from.

    Returns
    -------
    ndarray of shape (n_rows, n_nodes), float64
        Lengths of the paths; infinite between trees.

    See Also
    --------
    scipy.sparse.csgraph.dijkstra : The same for any graph, slower.

    Notes
    -----
    Takes time in n_rows times n_nodes, and a step for each level.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.graph import rooted_order, tree_distances, undirected_edges
    >>> edges = undirected_edges(np.diag([1.0, 2.0], k=1))
    >>> tree_distances(rooted_order(edges, np.array([1])), np.array([0]))
    array([[0., 1., 3.]])
    """
    gaps = np.full((len(tree.parents), len(nodes)), np.inf)
    columns = np.arange(len(nodes))
    at: IntArray = np.asarray(nodes, dtype=np.intp)
    walked = np.zeros(len(nodes))
    while len(at):
        gaps[at, columns] = walked
        up = tree.parents[at] >= 0
        at, columns, walked = at[up], columns[up], (walked + tree.lengths[at])[up]
        at = tree.parents[at]
    for start, stop in zip(tree.levels[1:-1], tree.levels[2:], strict=True):
        level = tree.order[start:stop]
        around = gaps[tree.parents[level]] + tree.lengths[level, None]
        gaps[level] = np.where(np.isinf(gaps[level]), around, gaps[level])
    return np.ascontiguousarray(gaps.T)
