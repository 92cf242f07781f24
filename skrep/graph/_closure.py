"""Closures of relations, and the tree of primary parents in them."""

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from skrep.graph._square import square_csr
from skrep.typing import IntArray, SparseMatrix

__all__ = ["find_cycle", "primary_parents", "transitive_closure"]


def transitive_closure(relations: SparseMatrix) -> sp.csr_array:
    """Relate every node to all nodes that it leads to.

    Parameters
    ----------
    relations : sparse array of shape (n_nodes, n_nodes)
        Row i is related to the columns of its stored values, as a child to its
        parents. There must be no cycles; relations of a node to itself are left out.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes), float64
        A 1 for every pair of which the second can be reached from the first, as an
        ancestor from a descendant; sorted within rows.

    Raises
    ------
    ValueError
        If there is a cycle; the message names two of its nodes.

    See Also
    --------
    relations_from_edges : Read relations from pairs of labels, and close them.
    primary_parents : A tree from a closure.

    Notes
    -----
    Chains of one edge, two edges and so on are products of sparse matrices, so time
    and memory grow with the number of pairs in the closure.

    Examples
    --------
    A chain 0, 1, 2:

    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from skrep.graph import transitive_closure
    >>> chain = csr_array(np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]]))
    >>> transitive_closure(chain).toarray()
    array([[0., 1., 1.],
           [0., 0., 1.],
           [0., 0., 0.]])
    """
    direct = _without_loops(relations)
    cycle = find_cycle(direct)
    if cycle is not None:
        raise ValueError(
            f"transitive_closure: 'relations' has a cycle through nodes {cycle[0]} and "
            f"{cycle[1]}, each of which leads to the other. A closure needs relations "
            f"without cycles: set relations[{cycle[0]}, {cycle[1]}] = 0, say."
        )
    rows, columns = [], []
    reached = direct
    while True:
        pairs = reached.tocoo()
        rows.append(pairs.row)
        columns.append(pairs.col)
        if not reached.nnz:
            return _ones(np.hstack(rows), np.hstack(columns), direct.shape[0])
        reached = reached @ direct


def primary_parents(relations: SparseMatrix) -> IntArray:
    """Choose one parent for every node: the most specific one.

    Of the nodes that a node is related to, it is the one with the most relations of
    its own. In the closure of a tree, where a node is related to all its ancestors,
    that is its direct parent.

    Parameters
    ----------
    relations : sparse array of shape (n_nodes, n_nodes)
        Row i is related to the columns of its stored values. Relations of a node to
        itself do not count.

    Returns
    -------
    ndarray of shape (n_nodes,), int64
        The parent of each node, the lowest index among equals; -1 for roots, which
        are related to nothing. Relations without cycles give a forest.

    See Also
    --------
    transitive_closure : The relations to all ancestors.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.sparse import csr_array
    >>> from skrep.graph import primary_parents
    >>> closed = csr_array(np.array([[0, 1, 1], [0, 0, 1], [0, 0, 0]]))
    >>> primary_parents(closed)
    array([ 1,  2, -1])
    """
    direct = _without_loops(relations)
    n_nodes = direct.shape[0]
    counts = np.diff(direct.indptr).astype(np.int64)
    parents = np.full(n_nodes, -1, dtype=np.int64)
    related = np.flatnonzero(counts)
    if len(related):
        # One number orders by relations first and, among equals, by lower index.
        columns = direct.indices.astype(np.int64)
        ranks = counts[columns] * n_nodes + (n_nodes - 1 - columns)
        best = np.maximum.reduceat(ranks, direct.indptr[related])
        parents[related] = n_nodes - 1 - best % n_nodes
    return parents


def find_cycle(relations: sp.csr_array) -> tuple[int, int] | None:
    """Find two related nodes on a cycle.

    Parameters
    ----------
    relations : csr_array of shape (n_nodes, n_nodes)
        Relations without those of a node to itself.

    Returns
    -------
    tuple of int or None
        A node and one that it is related to and that leads back to it.
    """
    if not relations.nnz:
        return None
    n_parts, parts = connected_components(relations, connection="strong")
    if n_parts == relations.shape[0]:
        return None
    pairs = relations.tocoo()
    first = int(np.argmax(parts[pairs.row] == parts[pairs.col]))
    return int(pairs.row[first]), int(pairs.col[first])


def _without_loops(relations: SparseMatrix) -> sp.csr_array:
    pairs = sp.coo_array(relations)
    kept = (pairs.row != pairs.col) & (pairs.data != 0)
    return _ones(pairs.row[kept], pairs.col[kept], pairs.shape[0])


def _ones(rows: IntArray, columns: IntArray, n_nodes: int) -> sp.csr_array:
    matrix = square_csr(rows, columns, np.ones(len(rows)), n_nodes)
    matrix.data[:] = 1.0
    return matrix
