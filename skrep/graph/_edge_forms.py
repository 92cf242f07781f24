"""The forms that edges come in: how each is read, and how its faults are mended."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp

__all__ = ["Argument", "Edges", "mended", "read_edges"]

_MENDED: Final = {
    "exchanged": {
        "graph": "{0}.reverse()",
        "frame": '{0}.rename(columns={{"child": "parent", "parent": "child"}})',
        "series": "pandas.Series({0}.index, index={0})",
        "mapping": "[(child, parent) for parent, children in {0}.items() "
        "for child in children]",
        "pairs": "[(parent, child) for child, parent in {0}]",
    },
    "unweighted": {
        "graph": "networkx.DiGraph({0}.edges())",
        "frame": '{0}[["child", "parent"]]',
        "pairs": "[edge[:2] for edge in {0}]",
    },
    "with roots": {
        "graph": "{0}.subgraph(set({0}) - {{''}})",
        "frame": '{0}.replace({{"parent": {{"": None}}}})',
        "series": '{0}.replace({{"": None}})',
        "mapping": "{{child: parent or None for child, parent in {0}.items()}}",
        "pairs": "[(child, parent or None) for child, parent in {0}]",
    },
    "named": {
        "graph": "{0}.subgraph(node for node in {0} if node == node)",
        "frame": '{0}.dropna(subset=["child"])',
        "series": "{0}[{0}.index.notna()]",
        "mapping": "{{child: parent for child, parent in {0}.items() "
        "if child is not None}}",
        "pairs": "[edge for edge in {0} if edge[0] is not None]",
    },
}


class Argument(NamedTuple):
    """Whose argument messages speak of.

    Parameters
    ----------
    who : str
        The function or estimator.
    name : str
        Its parameter.
    has_closure : bool
        Whether there is a parameter `closure` beside it.
    """

    who: str
    name: str
    has_closure: bool = False

    def __str__(self) -> str:
        return f"{self.who}: '{self.name}'"


class Edges(NamedTuple):
    """What is read from edges.

    Parameters
    ----------
    form : {"graph", "frame", "series", "mapping", "pairs"}
        What they were.
    children, parents, weights : list of object
        One for each edge; a missing parent makes a root.
    nodes : list of object
        Nodes that may have no edge.
    directed : bool
        Whether an edge has a direction.
    """

    form: str
    children: list[Any]
    parents: list[Any]
    weights: list[Any]
    nodes: list[Any]
    directed: bool


def mended(argument: Argument, form: str, how: str) -> str:
    """Write the code that mends a fault of edges.

    Parameters
    ----------
    argument : Argument
        The edges.
    form : str
        Their form, as in `Edges`.
    how : {"exchanged", "unweighted", "with roots", "named"}
        What they should become: children and parents exchanged, without weights, with
        None for empty strings as parents, or without children that have no name.

    Returns
    -------
    str
        An expression of Python.
    """
    return _MENDED[how][form].format(argument.name)


def read_edges(edges: Any, argument: Argument) -> Edges:
    """Read edges in any of their forms.

    Parameters
    ----------
    edges : sequence, ndarray, frame, series, mapping or networkx graph
        As in `relations_from_edges`.
    argument : Argument
        What errors speak of.

    Returns
    -------
    Edges
        As they are: neither labels nor weights are checked.

    Raises
    ------
    ValueError
        If they have another form.
    TypeError
        If they are a sparse matrix.
    """
    if sp.issparse(edges):
        name = argument.name
        raise TypeError(
            f"{argument} is a sparse matrix of shape {edges.shape}, which has no "
            "labels. Pass pairs of a child and its parent: [(labels[i], labels[j]) "
            f"for i, j in zip(*{name}.nonzero())]."
        )
    if hasattr(edges, "is_directed") and hasattr(edges, "nodes"):
        triples = list(edges.edges(data="weight", default=1))
        directed = bool(edges.is_directed())
        if not directed:
            triples += [(v, u, weight) for u, v, weight in triples if u != v]
        return Edges("graph", *_columns(triples), list(edges.nodes), directed)
    if isinstance(edges, Mapping):
        return _read_mapping(edges)
    if hasattr(edges, "columns") and hasattr(edges, "__getitem__"):
        return _read_frame(edges, argument)
    if hasattr(edges, "index") and hasattr(edges, "items"):
        return _read_series(edges, argument)
    return _read_pairs(edges, argument)


def _read_mapping(edges: Mapping[Any, Any]) -> Edges:
    triples = []
    for child, parents in edges.items():
        several = isinstance(parents, list | tuple | set | frozenset)
        # A tuple may itself be the label of a node.
        if isinstance(parents, tuple) and parents in edges:
            several = False
        triples += [
            (child, parent, 1) for parent in (parents if several else [parents])
        ]
    return Edges("mapping", *_columns(triples), list(edges), True)


def _read_series(edges: Any, argument: Argument) -> Edges:
    children, parents = list(edges.index), list(edges)
    known = set(children)
    for child, parent in zip(children, parents, strict=True):
        several = isinstance(parent, list | set)
        if several or (isinstance(parent, tuple) and parent not in known):
            name = argument.name
            raise ValueError(
                f"{argument} has {parent!r} as the parent of {child!r}. A series has "
                f"one parent for each child, its index: pass {name}.explode() where "
                f"these are several parents, {name}.tolist() where they are edges."
            )
    return Edges("series", children, parents, [1] * len(children), [], True)


def _read_frame(edges: Any, argument: Argument) -> Edges:
    names = list(edges.columns)
    absent = [name for name in ("child", "parent") if name not in names]
    if absent:
        raise ValueError(
            f"{argument} has columns {names}, and none is named {absent[0]!r}. The "
            'columns "child" and "parent" are read: rename them, as with '
            f'{argument.name}.rename(columns={{"old": "child"}}).'
        )
    children, parents = list(edges["child"]), list(edges["parent"])
    weights = list(edges["weight"]) if "weight" in names else [1] * len(children)
    return Edges("frame", children, parents, weights, [], True)


def _read_pairs(edges: Any, argument: Argument) -> Edges:
    if isinstance(edges, str) or not (
        isinstance(edges, Iterable) and np.iterable(edges)
    ):
        raise ValueError(
            f"{argument} is {edges!r}. It must hold pairs of a child and its parent: "
            'pass [("child", "parent")], say.'
        )
    pairs = edges.tolist() if isinstance(edges, np.ndarray) else list(edges)
    for position, pair in enumerate(pairs):
        size = len(pair) if hasattr(pair, "__len__") else 0
        if isinstance(pair, str) or size not in (2, 3):
            raise ValueError(
                f"{argument} has {pair!r} at edge {position}. Every edge must be a "
                "pair (child, parent) or a triple (child, parent, weight): pass "
                '[("child", "parent")], say.'
            )
    triples = [pair if len(pair) == 3 else (*pair, 1) for pair in pairs]
    return Edges("pairs", *_columns(triples), [], True)


def _columns(
    triples: Sequence[Sequence[Any]],
) -> tuple[list[Any], list[Any], list[Any]]:
    children, parents, weights = zip(*triples, strict=True) if triples else ([], [], [])
    return list(children), list(parents), list(weights)
