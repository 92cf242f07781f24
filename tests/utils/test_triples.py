"""Triples are read as they are, or refused in one line."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from skrep.utils.triples import Labels, encode, read_triples

ROWS = [("Oslo", "in", "Norway"), ("Rome", "in", "Italy")]
LABELS = Labels(["Oslo", "Rome"], ["in", "in"], ["Norway", "Italy"])


@pytest.mark.parametrize(
    "X",
    [
        ROWS,
        tuple(list(row) for row in ROWS),
        np.array(ROWS),
        np.array(ROWS, dtype=object),
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS, columns=["a", "b", "c"], index=[5, 5]).astype("category"),
        pl.DataFrame(ROWS, schema=["a", "b", "c"], orient="row"),
    ],
    ids=["tuples", "lists", "text", "objects", "frame", "categories", "polars"],
)
def test_containers(X):
    assert read_triples("who", X) == LABELS


def test_lists_keep_the_types_of_labels():
    assert read_triples("who", [(1, "in", 2)]) == Labels([1], ["in"], [2])
    frame = pd.DataFrame({"h": [1], "r": ["in"], "t": [2.0]})
    assert read_triples("who", frame) == Labels([1], ["in"], [2.0])


def test_tuples_are_labels():
    rows = [((1, 2), "next", (1, 3))]
    assert read_triples("who", rows).heads == [(1, 2)]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_missing_labels(missing):
    rows = [("a", "r", "b"), ("a", "r", missing)]
    with pytest.raises(ValueError, match=r"NaN or None, in row 1, column tail.*dropna"):
        read_triples("who", rows)


def test_labels_that_are_none():
    with pytest.raises(ValueError, match="infinity, in row 0, column head"):
        read_triples("who", [(np.inf, "r", 1.0)])
    with pytest.raises(ValueError, match=r"\['a'\].*column tail.*pass tuple\(label\)"):
        read_triples("who", [("a", "r", ["a"])])


@pytest.mark.parametrize(
    ("rows", "what"),
    [
        ([(1, "r", "1")], "entities that are numbers, as 1, and strings, as '1'"),
        ([("a", "r", "b"), ("a", 2, "b")], "relations that are strings, .* numbers"),
        ([(True, "r", 1)], "entities that are booleans, as True, and numbers"),
        ([("a", "r", (1,))], "entities that are strings, .* objects"),
    ],
)
def test_kinds_are_not_mixed(rows, what):
    with pytest.raises(ValueError, match=what + r".*tuple\(map\(str, row\)\)"):
        read_triples("who", rows)


def test_entities_and_relations_may_be_of_two_kinds():
    assert read_triples("who", [(0, "r", 1)]).relations == ["r"]


@pytest.mark.parametrize(
    "X", [np.zeros(3), np.zeros((2, 2, 2)), "abc", ["abc"], 5, [(1, 2, 3), (1, 2)], [1]]
)
def test_no_table(X):
    with pytest.raises(ValueError, match=r"who: 'X' has no table.*X\[:, :3\]"):
        read_triples("who", X)


@pytest.mark.parametrize("X", [np.zeros((4, 2)), np.zeros((4, 5)).tolist()])
def test_columns_are_three(X):
    with pytest.raises(ValueError, match=r"columns.*head, relation and tail"):
        read_triples("who", X)


@pytest.mark.parametrize("X", [[], np.zeros((0, 3)), pd.DataFrame(columns=list("abc"))])
def test_no_rows(X):
    with pytest.raises(ValueError, match=r"0 triples.*\[\('Oslo', 'in', 'Norway'\)\]"):
        read_triples("who", X)


def test_sparse():
    with pytest.raises(TypeError, match=r"Pass X.toarray\(\)"):
        read_triples("who", sp.csr_array(np.eye(3)))


def test_unknown_labels():
    known = {"a": 0, "b": 1}, {"r": 0}
    for row, what in (
        (("c", "r", "a"), r"head 'c' in row 1.* 2 entities of fit.*X\[:, 0\]"),
        (("a", "s", "b"), r"relation 's' in row 1.* 1 relations.*model.relations_"),
        (("a", "r", "c"), r"tail 'c' in row 1.*X\[:, 2\], model.entities_"),
    ):
        with pytest.raises(ValueError, match=what):
            encode("who", read_triples("who", [("a", "r", "b"), row]), *known)
