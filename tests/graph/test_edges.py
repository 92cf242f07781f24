import re
from types import MappingProxyType

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.manifold import SpectralEmbedding

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
    "mapping of lists": {**{child: [p, None] for child, p in PAIRS}, "animal": []},
    "series": pd.Series(dict(PAIRS)),
    "graph": nx.DiGraph(PAIRS),
    "pairs with a root": [*PAIRS, ("animal", None)],
    "weights with a root": [*((*pair, 1) for pair in PAIRS), ("animal", np.nan, None)],
    "pandas with a root": pd.DataFrame(
        [*PAIRS, ("animal", np.nan)], columns=["child", "parent"]
    ),
    "strings with a root": pd.DataFrame(
        [*PAIRS, ("animal", pd.NA)], columns=["child", "parent"], dtype="string"
    ),
    "polars with a root": pl.DataFrame(
        [*PAIRS, ("animal", None)], schema=["child", "parent"], orient="row"
    ),
    "series with a root": pd.Series({**dict(PAIRS), "animal": None}),
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


@pytest.mark.parametrize(
    "edges",
    [
        {"a": None, "b": float("nan")},
        [("a", None), ("b", np.nan)],
        pd.DataFrame({"child": ["a", "b"], "parent": [None, None]}),
        pd.Series([None, None], index=["a", "b"]),
    ],
)
@pytest.mark.parametrize("closure", [True, False])
def test_roots_alone_have_no_pairs(edges, closure):
    matrix, labels = relations_from_edges(edges, closure=closure)
    assert labels.tolist() == ["a", "b"]
    assert matrix.nnz == 0


def test_a_series_is_read_as_child_and_parent():
    several = pd.Series({"a": ["b", "c"], "b": "d"}).explode()
    assert read(relations_from_edges(several, closure=False)) == {
        ("a", "b"): 1,
        ("a", "c"): 1,
        ("b", "d"): 1,
    }
    tuples = pd.Series([(0, 0), None], index=[(1, 2), (0, 0)])
    assert read(relations_from_edges(tuples)) == {((1, 2), (0, 0)): 1}
    pairs = pd.Series(PAIRS)
    with pytest.raises(
        ValueError, match=r"pass edges\.explode\(\) .*edges\.tolist\(\)"
    ):
        relations_from_edges(pairs)
    assert read(relations_from_edges(pairs.tolist())) == CLOSED


def test_indices_have_32_bits():
    matrix, _ = relations_from_edges(PAIRS)
    for made in (matrix, relations_from_edges(PAIRS, closure=False).matrix):
        assert made.indices.dtype == made.indptr.dtype == np.int32
        SpectralEmbedding(1, affinity="precomputed").fit(made + made.T)


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
        {"pet": ["cat", "dog"], "animal": ["pet", "ant"]},
        pd.Series([pair[0] for pair in PAIRS], index=[pair[1] for pair in PAIRS]),
        nx.DiGraph([pair[::-1] for pair in PAIRS]),
    ],
)
def test_a_tree_read_backwards_is_warned_of(edges):
    with pytest.warns(
        UserWarning, match=r"^relations_from_edges: 'edges' lo"
    ) as caught:
        relations_from_edges(edges)
    code = str(caught[0].message).partition("If so, pass ")[2].removesuffix(".")
    turned = eval(code, {"edges": edges, "pandas": pd})
    assert read(relations_from_edges(turned)) == CLOSED


@pytest.mark.parametrize(
    "edges",
    [
        FRAME.replace({"parent": {"animal": ""}}),
        [(child, parent.replace("animal", "")) for child, parent in PAIRS],
        {child: parent.replace("animal", "") for child, parent in PAIRS},
        pd.Series(dict(PAIRS)).replace({"animal": ""}),
        nx.DiGraph([(child, parent.replace("animal", "")) for child, parent in PAIRS]),
    ],
)
def test_an_empty_string_is_no_root(edges):
    with pytest.raises(
        ValueError, match="The parent of a root is None: pass"
    ) as caught:
        relations_from_edges(edges)
    code = str(caught.value).partition("is None: pass ")[2].removesuffix(".")
    mended = relations_from_edges(eval(code, {"edges": edges}))
    assert read(mended) == {("cat", "pet"): 1, ("dog", "pet"): 1}
    assert mended.labels.tolist() == ["ant", "cat", "dog", "pet"]


def test_an_empty_string_may_be_a_child():
    edges = {"": "a", "b": "", "a": None}
    assert read(relations_from_edges(edges))["b", "a"] == 1


@pytest.mark.parametrize(
    "edges",
    [
        pd.DataFrame({"child": ["a", None], "parent": ["b", "b"]}),
        [("a", "b"), (None, "b")],
        {"a": "b", None: "b"},
        pd.Series(["b", "b"], index=["a", None]),
        nx.DiGraph([("a", "b"), (float("nan"), "b")]),
    ],
)
def test_a_missing_child_is_refused_with_a_way_out(edges):
    with pytest.raises(ValueError, match="Only a parent may be missing") as caught:
        relations_from_edges(edges)
    code = str(caught.value).partition("a root: pass ")[2].removesuffix(".")
    assert read(relations_from_edges(eval(code, {"edges": edges}))) == {("a", "b"): 1}


@pytest.mark.parametrize(
    "edges",
    [
        pd.DataFrame({"child": ["a"], "parent": ["b"], "weight": [2]}),
        [("a", "b", 2)],
        nx.DiGraph([("a", "b", {"weight": 2})]),
        nx.MultiDiGraph([("a", "b", {"weight": 2})]),
    ],
)
def test_weights_of_a_closure_are_refused_with_a_way_out(edges):
    with pytest.raises(ValueError, match="weight 2 at edge 0") as caught:
        relations_from_edges(edges)
    code = str(caught.value).partition("without weights, ")[2]
    code = code.removesuffix(", or closure=False to keep them.")
    found = relations_from_edges(eval(code, {"edges": edges, "networkx": nx}))
    assert read(found) == {("a", "b"): 1}


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.coo_array])
def test_a_sparse_matrix_has_no_labels(kind):
    edges = kind(np.array([[0, 0], [1, 0]]))
    with pytest.raises(TypeError, match=r"^relations_from_edges: 'edges' is") as caught:
        relations_from_edges(edges)
    code = str(caught.value).partition("its parent: ")[2].removesuffix(".")
    pairs = eval(code, {"edges": edges, "labels": ["a", "b"]})
    assert read(relations_from_edges(pairs)) == {("b", "a"): 1}


def test_an_undirected_graph_is_refused_with_a_way_out():
    edges = nx.Graph(PAIRS)
    with pytest.raises(ValueError, match=r"reverse\(\), or closure=False\.$") as caught:
        relations_from_edges(edges)
    code = str(caught.value).partition("Pass ")[2].partition(", or")[0]
    turned = eval(code, {"networkx": nx, "edges": edges, "root": "animal"})
    assert read(relations_from_edges(turned)) == CLOSED


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), (float("nan"), "b")], "nan as the child of edge 1"),
        (pd.DataFrame({"child": [pd.NaT], "parent": [1]}), "NaT as the child"),
        (pl.DataFrame({"child": ["a", None], "parent": ["b", "b"]}), "None as the chi"),
        ({None: "a"}, "None as the child"),
        ({float("nan"): []}, "nan as a node.*pass {child: parent for"),
        ({float("nan"): None}, "nan as the child of edge 0"),
        ([("a", ["b"])], r"cannot be hashed.*pass tuple\(label\)"),
        ([("a", "b", -1)], r"the weight -1 at edge 0.*finite numbers from 0: drop"),
        ([("a", "b", np.nan)], "the weight nan"),
        ([("a", "b", np.inf)], "the weight inf"),
        ([("a", "b", "c")], r"the weight 'c'.*or pass \[edge\[:2\] for edge in edges"),
        ([("a", None, 1), ("a", "b", 2)], "weight 2 at edge 1.*closure=False to keep"),
        (FRAME.rename(columns={"child": "x"}), r"none is named 'child'.*edges\.rename"),
        (["ab"], r"'ab' at edge 0.*pass \[\(\"child\", \"parent\"\)\]"),
        ([("a", "b", 1, 2)], "at edge 0"),
        (np.zeros(3), "0.0 at edge 0"),
        ("ab", "'edges' is 'ab'"),
        (5, "'edges' is 5"),
        ([], r"'edges' is empty.*pass \[\(\"child\", \"parent\"\)\]"),
        (np.array("ab"), "'edges' is array"),
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
