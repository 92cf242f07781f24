"""Relations between labelled nodes, read from edges in any of their usual forms."""

from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.graph._closure import find_cycle, transitive_closure
from skrep.typing import AnyArray, IntArray
from skrep.utils import warn
from skrep.utils.labels import is_missing, label_array, sorted_labels

__all__ = ["Relations", "relations_from_edges"]

WHO: Final = "relations_from_edges"

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


class _Edges(NamedTuple):
    """What is read from edges: pairs, their weights, and nodes that may have none."""

    children: list[Any]
    parents: list[Any]
    weights: list[Any]
    nodes: list[Any]
    directed: bool


def relations_from_edges(edges: Any, *, closure: bool = True) -> Relations:
    """Read relations of children to parents from edges.

    A child is related to its parents, and with the closure to all its ancestors. The
    matrix is what estimators take with ``affinity="precomputed"``.

    Parameters
    ----------
    edges : sequence, ndarray, frame, mapping or networkx graph
        One of:

        - pairs (child, parent), or triples (child, parent, weight): a sequence, or an
          array of shape (n_edges, 2) or (n_edges, 3);
        - a frame of pandas or polars with columns "child" and "parent", in any
          order, and "weight" if it is there; other columns are not read;
        - a mapping of each child to its parent, or to a list, tuple or set of
          parents; None as parent makes a root;
        - a directed graph of networkx, whose edge from u to v is the pair (u, v): u
          is the child. A tree that points from the root to the leaves, as those that
          networkx makes, is to be reversed first, ``graph.reverse()``. An undirected
          graph relates both ends to each other, and needs ``closure=False``. Weights
          are the attributes "weight", 1 where there is none.

        Labels are strings, numbers, or anything hashable. Weights of repeated pairs
        are summed, pairs of weight 0 left out.
    closure : bool, default=True
        Whether a node is related to all its ancestors, with weights 1, or to its
        parents alone, with the weights of the edges.

    Returns
    -------
    Relations
        The named tuple (matrix, labels): a CSR array of shape (n_nodes, n_nodes) and
        the labels of its rows and columns. Labels are sorted, whatever the order of
        the edges; where they cannot be compared, as numbers and strings, by the name
        of their type first.

    Raises
    ------
    ValueError
        If the edges have another form, a label is missing, a weight is negative or
        not finite, or, with ``closure=True``, there is a cycle, a weight other than
        1, or an undirected graph.

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
    read = _read(edges)
    if closure and not read.directed:
        raise ValueError(
            f"{WHO}: 'edges' is an undirected graph, of which no closure can be taken. "
            "Pass closure=False to relate both ends of every edge, or a directed graph."
        )
    for side, labels in (("child", read.children), ("parent", read.parents)):
        for position, label in enumerate(labels):
            _check_label(label, f"the {side} of edge {position}")
    for label in read.nodes:
        _check_label(label, "a node")
    weights = _check_weights(read, closure)
    order = sorted_labels([*read.nodes, *read.children, *read.parents])
    if not order:
        raise ValueError(
            f"{WHO}: 'edges' is empty. There must be at least one node: pass "
            '[("child", "parent")], say.'
        )
    codes = {label: code for code, label in enumerate(order)}
    rows = np.array([codes[label] for label in read.children], dtype=np.int64)
    columns = np.array([codes[label] for label in read.parents], dtype=np.int64)
    matrix = _direct_matrix(rows, columns, weights, order)
    if not closure:
        return Relations(matrix, label_array(order))
    cycle = find_cycle(matrix)
    if cycle is not None:
        one, other = (order[node] for node in cycle)
        raise ValueError(
            f"{WHO}: 'edges' has a cycle through {one!r} and {other!r}, each of which "
            f"is an ancestor of the other. A taxonomy has no cycles: drop the edge "
            f"({one!r}, {other!r}), say. For a general graph there is "
            "skrep.graph.relations_from_edges(edges, closure=False)."
        )
    _warn_if_reversed(matrix)
    return Relations(transitive_closure(matrix), label_array(order))


def _direct_matrix(
    rows: IntArray, columns: IntArray, weights: AnyArray, labels: Sequence[Any]
) -> sp.csr_array:
    loops = rows == columns
    if loops.any():
        first = labels[rows[np.argmax(loops)]]
        warn(
            f"{WHO}: 'edges' relates {loops.sum()} nodes to themselves, the first of "
            f"them {first!r}. These edges are left out."
        )
    kept = ~loops & (weights > 0)
    shape = len(labels), len(labels)
    matrix = sp.csr_array((weights[kept], (rows[kept], columns[kept])), shape=shape)
    matrix.sum_duplicates()
    return matrix


def _warn_if_reversed(matrix: sp.csr_array) -> None:
    """Warn of a tree read backwards: a child there has many parents of one child."""
    parents, children = (np.bincount(ends) for ends in matrix.nonzero())
    parents, children = parents[parents > 0], children[children > 0]
    if not len(parents):
        return
    several = np.mean(parents > 1) > 0.5 and parents.mean() >= 1.5
    if several and np.mean(children > 1) <= REVERSED_SHARE:
        warn(
            f"{WHO}: 'edges' looks like a taxonomy with children and parents "
            f"exchanged: {np.mean(parents > 1):.0%} of the children have several "
            f"parents, and {np.mean(children > 1):.0%} of the parents several "
            "children. If so, pass [(parent, child) for child, parent in edges]."
        )


def _check_label(label: Any, what: str) -> None:
    if is_missing(label):
        raise ValueError(
            f"{WHO}: 'edges' has {label!r} as {what}. Every label must be there: drop "
            "such edges, as with edges.dropna(); a root needs no edge of its own."
        )
    try:
        hash(label)
    except TypeError as error:
        raise ValueError(
            f"{WHO}: 'edges' has {label!r} as {what}, which cannot be hashed. Labels "
            "are strings, numbers or tuples: pass tuple(label), say."
        ) from error


def _check_weights(read: _Edges, closure: bool) -> AnyArray:
    for position, weight in enumerate(read.weights):
        if not (isinstance(weight, Real) and 0 <= float(weight) < np.inf):
            raise ValueError(
                f"{WHO}: 'edges' has the weight {weight!r} at edge {position}. Weights "
                "must be finite numbers from 0: drop such edges, or pass them without "
                "weights."
            )
        if closure and weight != 1:
            raise ValueError(
                f"{WHO}: 'edges' has the weight {weight!r} at edge {position}, and the "
                "pairs of a closure all weigh 1. Pass closure=False to keep weights, "
                "or edges without them."
            )
    return np.array(read.weights, dtype=np.float64)


def _read(edges: Any) -> _Edges:
    if hasattr(edges, "is_directed") and hasattr(edges, "nodes"):
        triples = list(edges.edges(data="weight", default=1))
        if not edges.is_directed():
            triples += [(v, u, weight) for u, v, weight in triples if u != v]
        return _Edges(*_columns(triples, 3), list(edges.nodes), edges.is_directed())
    if isinstance(edges, Mapping):
        return _read_mapping(edges)
    if hasattr(edges, "columns") and hasattr(edges, "__getitem__"):
        return _read_frame(edges)
    return _read_pairs(edges)


def _read_mapping(edges: Mapping[Any, Any]) -> _Edges:
    pairs = []
    for child, parents in edges.items():
        several = isinstance(parents, list | tuple | set | frozenset)
        # A tuple may itself be the label of a node.
        if isinstance(parents, tuple) and parents in edges:
            several = False
        named = parents if several else () if is_missing(parents) else (parents,)
        pairs += [(child, parent) for parent in named]
    children, parents, _ = _columns(pairs, 2)
    return _Edges(children, parents, [1] * len(pairs), list(edges), True)


def _read_frame(edges: Any) -> _Edges:
    names = list(edges.columns)
    absent = [name for name in ("child", "parent") if name not in names]
    if absent:
        raise ValueError(
            f"{WHO}: 'edges' has columns {names}, and none is named {absent[0]!r}. The "
            'columns "child" and "parent" are read: rename them, as with '
            'edges.rename(columns={"old": "child"}).'
        )
    children, parents = list(edges["child"]), list(edges["parent"])
    weights = list(edges["weight"]) if "weight" in names else [1] * len(children)
    return _Edges(children, parents, weights, [], True)


def _read_pairs(edges: Any) -> _Edges:
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise ValueError(
            f"{WHO}: 'edges' is {edges!r}. It must hold pairs of a child and its "
            'parent: pass [("child", "parent")], say.'
        )
    pairs = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
    sizes = set()
    for position, pair in enumerate(pairs):
        size = len(pair) if hasattr(pair, "__len__") else 0
        if isinstance(pair, str) or size not in (2, 3):
            raise ValueError(
                f"{WHO}: 'edges' has {pair!r} at edge {position}. Every edge must be a "
                "pair (child, parent) or a triple (child, parent, weight): pass "
                '[("child", "parent")], say.'
            )
        sizes.add(size)
    triples = [pair if len(pair) == 3 else (*pair, 1) for pair in pairs]
    return _Edges(*_columns(triples, 3), [], True)


def _columns(rows: Sequence[Sequence[Any]], n: int) -> tuple[Any, Any, Any]:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]] * n
    return columns[0], columns[1], columns[2] if n == 3 else []
