"""Relations between labelled nodes, read from edges in any of their usual forms."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.graph._closure import find_cycle, transitive_closure
from skrep.graph._edge_forms import Argument, Edges, mended, read_edges
from skrep.graph._square import square_csr
from skrep.typing import AnyArray, IntArray
from skrep.utils import warn
from skrep.utils.labels import is_missing, label_array, sorted_labels

__all__ = ["Relations", "read_relations", "relations_from_edges"]

REVERSED_SHARE: Final = 0.1
"""A taxonomy has no larger share of nodes with several parents."""


class Relations(NamedTuple):
    """Relations between labelled nodes.

    Parameters
    ----------
    matrix : csr_array of shape (n_nodes, n_nodes), float64
        Row i is related to the columns of its stored values, which are weights.
    labels : ndarray of shape (n_nodes,)
        The label of each row and column.
    """

    matrix: sp.csr_array
    labels: AnyArray


def relations_from_edges(edges: Any, *, closure: bool = True) -> Relations:
    """Read relations of children to parents from edges.

    A child is related to its parents, and with the closure to all its ancestors. The
    matrix is what estimators take with ``affinity="precomputed"``.

    Parameters
    ----------
    edges : sequence, ndarray, frame, series, mapping or networkx graph
        One of:

        - pairs (child, parent), or triples (child, parent, weight): a sequence, or an
          array of shape (n_edges, 2) or (n_edges, 3);
        - a frame of pandas or polars with columns "child" and "parent", in any
          order, and "weight" if it is there; other columns are not read;
        - a mapping of each child to its parent, or to a list, tuple or set of
          parents;
        - a series of pandas: the children are its index, which may repeat, and the
          parents its values;
        - a directed graph of networkx, whose edge from u to v is the pair (u, v): u
          is the child. A tree that points from the root to the leaves, as those that
          networkx makes, is to be reversed first, ``graph.reverse()``. An undirected
          graph relates both ends to each other, and needs ``closure=False``. Weights
          are the attributes "weight", 1 where there is none.

        Labels are strings, numbers, or anything hashable. A missing parent, None or
        NaN, makes the child a root. Weights of repeated pairs are summed, pairs of
        weight 0 left out.
    closure : bool, default=True
        Whether a node is related to all its ancestors, with weights 1, or to its
        parents alone, with the weights of the edges.

    Returns
    -------
    Relations
        The named tuple (matrix, labels): a CSR array of shape (n_nodes, n_nodes), with
        indices of 32 bits where they fit, and the labels of its rows and columns.
        Labels are sorted, whatever the order of the edges; where they cannot be
        compared, as numbers and strings, by the name of their type first.

    Raises
    ------
    ValueError
        If the edges have another form, a child is missing, a parent is the empty
        string, which is no child, a weight is negative or not finite, or, with
        ``closure=True``, there is a cycle, a weight other than 1, or an undirected
        graph.
    TypeError
        If they are a sparse matrix, which has no labels.

    Warns
    -----
    UserWarning
        If an edge leads from a node to itself; such edges are left out. And with
        ``closure=True`` if the edges look like a taxonomy with children and parents
        exchanged: most children have several parents, and hardly a parent has several
        children. A tree in which no node has several children looks alike both ways.

    See Also
    --------
    transitive_closure : The closure alone.
    primary_parents : One parent for each node.
    skrep.hyperbolic.TaxonomyEncoder : Takes edges and makes columns of categories.

    Examples
    --------
    >>> from skrep.graph import relations_from_edges
    >>> matrix, labels = relations_from_edges([("cat", "pet"), ("pet", "animal")])
    >>> labels
    array(['animal', 'cat', 'pet'], dtype='<U6')
    >>> matrix.toarray()
    array([[0., 0., 0.],
           [1., 0., 1.],
           [1., 0., 0.]])

    The direct edges alone, from a mapping:

    >>> matrix, labels = relations_from_edges(
    ...     {"cat": "pet", "pet": "animal"}, closure=False
    ... )
    >>> matrix.toarray()
    array([[0., 0., 0.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    argument = Argument("relations_from_edges", "edges", has_closure=True)
    return read_relations(edges, argument, closure=closure)


def read_relations(edges: Any, argument: Argument, *, closure: bool) -> Relations:
    """Read relations, with messages that speak of somebody's argument.

    Parameters
    ----------
    edges : sequence, ndarray, frame, series, mapping or networkx graph
        As in `relations_from_edges`.
    argument : Argument
        What errors and warnings speak of.
    closure : bool
        Whether a node is related to all its ancestors.

    Returns
    -------
    Relations
        As `relations_from_edges` does.

    Raises
    ------
    ValueError, TypeError
        As `relations_from_edges` does.
    """
    name = argument.name
    read = read_edges(edges, argument)
    if closure and not read.directed:
        instead = ", or closure=False" if argument.has_closure else ""
        raise ValueError(
            f"{argument} is an undirected graph, which does not tell parents from "
            f"children. Pass networkx.bfs_tree({name}, root).reverse(){instead}."
        )
    _check_labels(read, argument)
    _check_weights(read, argument, closure)
    read = _with_roots(read)
    order = sorted_labels([*read.nodes, *read.children, *read.parents])
    if not order:
        raise ValueError(
            f"{argument} is empty. There must be at least one node: pass "
            '[("child", "parent")], say.'
        )
    codes = {label: code for code, label in enumerate(order)}
    rows = np.array([codes[label] for label in read.children], dtype=np.int64)
    columns = np.array([codes[label] for label in read.parents], dtype=np.int64)
    weights = np.array(read.weights, dtype=np.float64)
    _warn_of_loops(rows, columns, order, argument)
    kept = (rows != columns) & (weights > 0)
    matrix = square_csr(rows[kept], columns[kept], weights[kept], len(order))
    if not closure:
        return Relations(matrix, label_array(order))
    cycle = find_cycle(matrix)
    if cycle is not None:
        one, other = (order[node] for node in cycle)
        raise ValueError(
            f"{argument} has a cycle through {one!r} and {other!r}, each of which is "
            "an ancestor of the other. A taxonomy has no cycles: drop the edge "
            f"({one!r}, {other!r}), say. For a general graph there is "
            "skrep.graph.relations_from_edges(edges, closure=False)."
        )
    _warn_if_reversed(matrix, argument, read.form)
    return Relations(transitive_closure(matrix), label_array(order))


def _with_roots(read: Edges) -> Edges:
    """Make nodes of the children whose parent is missing."""
    edges = zip(read.children, read.parents, read.weights, strict=True)
    kept = [edge for edge in edges if not is_missing(edge[1])]
    children, parents, weights = ([edge[i] for edge in kept] for i in range(3))
    return Edges(
        read.form, children, parents, weights, [*read.nodes, *read.children], True
    )


def _warn_of_loops(
    rows: IntArray, columns: IntArray, labels: Sequence[Any], argument: Argument
) -> None:
    loops = rows == columns
    if loops.any():
        first = labels[rows[np.argmax(loops)]]
        warn(
            f"{argument} relates {loops.sum()} nodes to themselves, the first of them "
            f"{first!r}. These edges are left out."
        )


def _warn_if_reversed(matrix: sp.csr_array, argument: Argument, form: str) -> None:
    """Warn of a tree read backwards: a child there has many parents of one child."""
    parents, children = (np.bincount(ends) for ends in matrix.nonzero())
    parents, children = parents[parents > 0], children[children > 0]
    if not len(parents):
        return
    several = np.mean(parents > 1) > 0.5 and parents.mean() >= 1.5
    if several and np.mean(children > 1) <= REVERSED_SHARE:
        warn(
            f"{argument} looks like a taxonomy with children and parents exchanged: "
            f"{np.mean(parents > 1):.0%} of the children have several parents, and "
            f"{np.mean(children > 1):.0%} of the parents several children. If so, pass "
            f"{mended(argument, form, 'exchanged')}."
        )


def _check_labels(read: Edges, argument: Argument) -> None:
    for position, child in enumerate(read.children):
        if is_missing(child):
            raise ValueError(
                f"{argument} has {child!r} as the child of edge {position}. Only a "
                "parent may be missing, that of a root: pass "
                f"{mended(argument, read.form, 'named')}."
            )
        _check_hashable(child, f"the child of edge {position}", argument)
    for position, parent in enumerate(read.parents):
        _check_hashable(parent, f"the parent of edge {position}", argument)
    for node in read.nodes:
        if is_missing(node):
            raise ValueError(
                f"{argument} has {node!r} as a node. Every node needs a label: pass "
                f"{mended(argument, read.form, 'named')}."
            )
    parents = [parent if isinstance(parent, str) else None for parent in read.parents]
    if "" in parents and "" not in set(read.children):
        child = read.children[parents.index("")]
        raise ValueError(
            f"{argument} has the empty string as the parent of {child!r}, and nowhere "
            "as a child. The parent of a root is None: pass "
            f"{mended(argument, read.form, 'with roots')}."
        )


def _check_hashable(label: Any, what: str, argument: Argument) -> None:
    try:
        hash(label)
    except TypeError as error:
        raise ValueError(
            f"{argument} has {label!r} as {what}, which cannot be hashed. Labels are "
            "strings, numbers or tuples: pass tuple(label), say."
        ) from error


def _check_weights(read: Edges, argument: Argument, closure: bool) -> None:
    for position, weight in enumerate(read.weights):
        if is_missing(read.parents[position]):
            continue
        if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
            raise ValueError(
                f"{argument} has the weight {weight!r} at edge {position}. Weights "
                "must be finite numbers from 0: drop such edges, or pass "
                f"{mended(argument, read.form, 'unweighted')}."
            )
        if closure and weight != 1:
            instead = ", or closure=False to keep them" if argument.has_closure else ""
            raise ValueError(
                f"{argument} has the weight {weight!r} at edge {position}, and the "
                "pairs of a closure all weigh 1. Pass the edges without weights, "
                f"{mended(argument, read.form, 'unweighted')}{instead}."
            )
