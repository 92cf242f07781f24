import re
from types import MappingProxyType

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skrep.datasets import load_mammals
from skrep.graph import Relations, primary_parents, relations_from_edges

PAIRS = [("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("ant", "animal")]
DIRECT = {**dict.fromkeys(PAIRS, 1.0)}
CLOSED = {**DIRECT, ("cat", "animal"): 1.0, ("dog", "animal"): 1.0}


def read(relations):
    """Weights by pair of labels."""
    pairs = relations.matrix.tocoo()
    labels = relations.labels.tolist()
    found = zip(pairs.row, pairs.col, pairs.data, strict=True)
    return {(labels[i], labels[j]): weight for i, j, weight in found}


FRAME = pd.DataFrame(PAIRS, columns=["child", "parent"])
FORMS = {
    "pairs": PAIRS,
    "lists": [list(pair) for pair in PAIRS],
    "generator": PAIRS,
    "triples": [(*pair, 1) for pair in PAIRS],
    "array": np.array(PAIRS),
    "objects": np.array(PAIRS, dtype=object),
    "pandas": FRAME,
    "columns exchanged": FRAME[["parent", "child"]],
    "other columns": FRAME.assign(kind="x", weight=1.0),
    "categories": FRAME.astype("category"),
    "polars": pl.DataFrame(PAIRS, schema=["child", "parent"], orient="row"),
    "mapping": {"cat": "pet", "dog": ["pet"], "pet": ("animal",), "ant": {"animal"}},
    "mapping with a root": MappingProxyType({**dict(PAIRS), "animal": None}),
    "graph": nx.DiGraph(PAIRS),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_edges_is_read_alike(form):
    edges = FORMS[form]
    relations = relations_from_edges(iter(edges) if form == "generator" else edges)
    assert isinstance(relations, Relations)
    assert read(relations) == CLOSED
    assert_array_equal(relations.labels, ["animal", "ant", "cat", "dog", "pet"])
    assert relations.matrix.dtype == np.float64
    assert relations.matrix.has_sorted_indices
    assert read(relations_from_edges(FORMS[form], closure=False)) == DIRECT


def test_the_mammals():
    mammals = load_mammals()
    matrix, labels = relations_from_edges(mammals.names[mammals.edges])
    assert_array_equal(labels, mammals.names)
    assert matrix.nnz == 6448
    direct, _ = relations_from_edges(mammals.names[mammals.edges], closure=False)
    expected = np.zeros((1170, 1170))
    expected[tuple(mammals.edges.T)] = 1
    assert_array_equal(direct.toarray(), expected)
    depths = np.zeros(1170, dtype=int)
    parents = primary_parents(matrix)
    for node in np.argsort(mammals.depth, kind="stable")[1:]:
        assert expected[node, parents[node]]
        depths[node] = depths[parents[node]] + 1
    assert np.mean(depths == mammals.depth) > 0.95


@given(st.data())
def test_the_order_of_edges_changes_nothing(data):
    n = data.draw(st.integers(2, 12))
    named = [f"n{i}" if i % 3 else i for i in range(n)]
    pairs = [
        (named[i], named[data.draw(st.integers(0, i - 1))])
        for i in range(1, n)
        for _ in range(data.draw(st.integers(0, 2)))
    ]
    pairs = [*pairs, (named[-1], named[0])]
    shuffled = data.draw(st.permutations(pairs))
    for closure in (True, False):
        one = relations_from_edges(pairs, closure=closure)
        other = relations_from_edges(shuffled, closure=closure)
        assert one.labels.tolist() == other.labels.tolist()
        assert_array_equal(one.matrix.toarray(), other.matrix.toarray())


@pytest.mark.parametrize(
    ("edges", "labels", "dtype"),
    [
        ([("b", "a")], ["a", "b"], "<U1"),
        ([(10, 9), (9, 1)], [1, 9, 10], "int64"),
        ([(0.5, 2)], [0.5, 2], "object"),
        ([(0.5, 2.0)], [0.5, 2.0], "float64"),
        ([("b", 10), ("a", 9), (10, 9)], [9, 10, "a", "b"], "object"),
        ([((1, 2), (0, 5))], [(0, 5), (1, 2)], "object"),
        ([(True, False)], [False, True], "object"),
    ],
)
def test_labels_of_any_kind(edges, labels, dtype):
    found = relations_from_edges(edges).labels
    assert found.tolist() == labels
    assert [type(v) for v in found.tolist()] == [type(v) for v in labels]
    assert found.dtype == dtype


def test_a_mapping_reads_a_known_tuple_as_one_label():
    edges = {(1, 2): (0, 0), (0, 0): None}
    assert read(relations_from_edges(edges)) == {((1, 2), (0, 0)): 1.0}


def test_weights_of_repeated_pairs_are_summed():
    edges = [("a", "b", 2), ("a", "b", 0.5), ("b", "c"), ("d", "c", 0)]
    matrix, labels = relations_from_edges(edges, closure=False)
    assert read(r := Relations(matrix, labels)) == {("a", "b"): 2.5, ("b", "c"): 1}
    assert r.labels.tolist() == ["a", "b", "c", "d"]
    triples = [(*edge, 1)[:3] for edge in edges]
    frame = pd.DataFrame(triples, columns=["child", "parent", "weight"])
    assert read(relations_from_edges(frame, closure=False)) == read(r)
    twice = relations_from_edges([*PAIRS, *PAIRS])
    assert read(twice) == CLOSED
    assert set(read(relations_from_edges(PAIRS * 2, closure=False)).values()) == {2.0}


def test_graphs():
    graph = nx.DiGraph([("a", "b")])
    graph.add_node("alone")
    graph.add_edge("b", "c", weight=3)
    relations = relations_from_edges(graph, closure=False)
    assert read(relations) == {("a", "b"): 1, ("b", "c"): 3}
    assert relations.labels.tolist() == ["a", "alone", "b", "c"]
    undirected = relations_from_edges(graph.to_undirected(), closure=False)
    assert read(undirected) == {
        ("a", "b"): 1,
        ("b", "a"): 1,
        ("b", "c"): 3,
        ("c", "b"): 3,
    }
    looped = nx.Graph([("a", "b"), ("a", "a")])
    with pytest.warns(UserWarning, match="relates 1 nodes to themselves"):
        assert relations_from_edges(looped, closure=False).matrix.nnz == 2
    several = nx.MultiDiGraph([("a", "b"), ("a", "b")])
    assert read(relations_from_edges(several, closure=False)) == {("a", "b"): 2}


def test_a_mapping_of_roots_has_no_pairs():
    matrix, labels = relations_from_edges({"a": None, "b": float("nan")})
    assert labels.tolist() == ["a", "b"]
    assert matrix.nnz == 0


def test_cycles_are_kept_without_closure():
    cycle = [(0, 1), (1, 2), (2, 0)]
    assert relations_from_edges(cycle, closure=False).matrix.nnz == 3
    with pytest.raises(ValueError, match=r"For a general graph .* closure=False"):
        relations_from_edges(cycle)
    with pytest.raises(ValueError, match=r"drop the edge \('a', 'b'\)") as caught:
        relations_from_edges([("x", "b"), ("b", "a"), ("a", "b"), ("y", "x")])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("closure", [True, False])
def test_self_loops_are_left_out_with_a_warning(closure):
    with pytest.warns(UserWarning, match=r"relates 2 nodes .*'a'\. These .* left out"):
        relations = relations_from_edges(
            [("a", "a"), ("b", "a"), ("b", "b")], closure=closure
        )
    assert read(relations) == {("b", "a"): 1}


@pytest.mark.parametrize(
    "edges",
    [
        FRAME.rename(columns={"child": "parent", "parent": "child"}),
        [pair[::-1] for pair in PAIRS],
        nx.balanced_tree(3, 3, create_using=nx.DiGraph),
    ],
)
def test_a_tree_read_backwards_is_warned_of(edges):
    with pytest.warns(UserWarning, match=r"pass \[\(parent, child\) for"):
        relations_from_edges(edges)
    turned = edges.reverse() if isinstance(edges, nx.DiGraph) else None
    if turned is not None:
        relations_from_edges(turned)


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", None)], r"None as the parent of edge 0.*drop such edges"),
        ([("a", "b"), (float("nan"), "b")], "nan as the child of edge 1"),
        (pd.DataFrame({"child": ["a"], "parent": [pd.NA]}), r"edges\.dropna\(\)"),
        (pd.DataFrame({"child": [pd.NaT], "parent": [1]}), "NaT as the child"),
        (pl.DataFrame({"child": ["a", None], "parent": ["b", "b"]}), "None as the chi"),
        ({None: "a"}, "None as the child"),
        ({float("nan"): None}, "nan as a node"),
        ([("a", ["b"])], r"cannot be hashed.*pass tuple\(label\)"),
        ([("a", "b", -1)], r"the weight -1 at edge 0.*finite numbers from 0: drop"),
        ([("a", "b", np.nan)], "the weight nan"),
        ([("a", "b", np.inf)], "the weight inf"),
        ([("a", "b", "c")], "the weight 'c'.*pass them without"),
        ([("a", "b", 2)], "weight 2 at edge 0.*Pass closure=False to keep weights"),
        (FRAME.rename(columns={"child": "x"}), r"none is named 'child'.*edges\.rename"),
        (["ab"], r"'ab' at edge 0.*pass \[\(\"child\", \"parent\"\)\]"),
        ([("a", "b", 1, 2)], "at edge 0"),
        (np.zeros(3), "0.0 at edge 0"),
        ("ab", "'edges' is 'ab'"),
        (5, "'edges' is 5"),
        ([], r"'edges' is empty.*pass \[\(\"child\", \"parent\"\)\]"),
        (nx.path_graph(3), "undirected graph.*Pass closure=False"),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(edges, message):
    with pytest.raises(ValueError, match=message) as caught:
        relations_from_edges(edges)
    assert re.match("relations_from_edges: 'edges'", str(caught.value))
    assert "\n" not in str(caught.value)


def test_inputs_are_left_alone():
    frame = FRAME.copy()
    relations_from_edges(frame)
    pd.testing.assert_frame_equal(frame, FRAME)
