"""Closures of relations, and the tree of primary parents in them."""

from typing import Final

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from skrep.graph._square import square_csr
from skrep.typing import AnyArray, IntArray, SparseMatrix

__all__ = ["find_cycle", "primary_parents", "transitive_closure"]

_NONE: Final[IntArray] = np.empty(0, dtype=np.intp)


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
    The ancestors of a node are those of its parents, taken from the roots down, so
    that memory grows with the number of pairs in the closure, and time with that
    number, and with the parents of a node that are not ancestors of each other.

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
    ancestors = _ancestors(direct)
    rows = np.repeat(np.arange(len(ancestors)), [len(found) for found in ancestors])
    return _ones(rows, np.concatenate([_NONE, *ancestors]), len(ancestors))


def _ancestors(direct: sp.csr_array) -> list[IntArray]:
    """List what each node leads to, from the roots down."""
    n_nodes, bounds = direct.shape[0], direct.indptr.tolist()
    children, waiting = direct.T.tocsr(), np.diff(direct.indptr)
    ancestors = [_NONE] * n_nodes
    held = np.zeros(n_nodes, dtype=bool)
    # The more a node leads to, the more of the other parents may be among that.
    sizes = np.zeros(n_nodes, dtype=np.intp)
    level = np.flatnonzero(waiting == 0)
    while len(level):
        for node in level.tolist():
            parents = direct.indices[bounds[node] : bounds[node + 1]]
            ancestors[node] = _united(parents, ancestors, sizes, held)
            sizes[node] = len(ancestors[node])
        below = children[level].indices
        np.subtract.at(waiting, below, 1)
        level = np.unique(below[waiting[below] == 0])
    return ancestors


def _united(
    parents: IntArray, ancestors: list[IntArray], sizes: IntArray, held: AnyArray
) -> IntArray:
    """Give parents and their ancestors, each once; `held` is False before and after."""
    if not len(parents):
        return _NONE
    if len(parents) == 1:
        return np.concatenate([parents, ancestors[parents[0]]])
    found: list[IntArray] = []
    left = parents[np.argsort(-sizes[parents])]
    while len(left):
        first = left[:1]
        above = ancestors[first[0]]
        fresh = np.concatenate([first, above[~held[above]] if found else above])
        found.append(fresh)
        left = left[1:]
        if len(left):
            held[fresh] = True
            left = left[~held[left]]
    united = np.concatenate(found)
    held[united] = False
    return united


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
