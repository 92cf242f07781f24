"""One rule says whether a target holds classes or numbers."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skrep.utils.targets import (
    MAX_INTEGER_CLASSES,
    check_slice_edges,
    check_target,
    target_kind,
)

MANY = MAX_INTEGER_CLASSES + 1

CLASSES = {
    "strings": ["b", "a", "b"],
    "string array": np.array(["b", "a", "b"]),
    "objects": np.array(["b", "a", "b"], dtype=object),
    "bytes": [b"b", b"a", b"b"],
    "pandas strings": pd.Series(["b", "a", "b"], dtype="string"),
    "pandas default": pd.Series(["b", "a", "b"]),
    "polars strings": pl.Series(["b", "a", "b"]),
    "polars categories": pl.Series(["b", "a", "b"], dtype=pl.Categorical),
    "polars enum": pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "a"])),
    "categories": pd.Series(["b", "a", "b"], dtype="category"),
    "booleans": [True, False, True],
    "boolean objects": np.array([True, False, True], dtype=object),
    "nullable booleans": pd.Series([True, False, True], dtype="boolean"),
    "polars booleans": pl.Series([True, False, True]),
    "integers": [7, 3, 7],
    "unsigned": np.array([7, 3, 7], dtype=np.uint8),
    "integer objects": np.array([7, 3, 7], dtype=object),
    "nullable integers": pd.Series([7, 3, 7], dtype="Int64"),
    "float categories": pd.Series([1.5, 0.5, 1.5], dtype="category"),
    "a column": np.array([[7], [3], [7]]),
    "a frame of strings": pd.DataFrame({"order": ["b", "a", "b"]}),
    "a polars frame": pl.DataFrame({"order": ["b", "a", "b"]}),
}

NUMBERS = {
    "floats": [0.0, 1.0, 1.0],
    "half floats": np.array([0.0, 1.0, 1.0], dtype=np.float16),
    "nullable floats": pd.Series([0.0, 1.0, 1.0], dtype="Float64"),
    "polars floats": pl.Series([0.0, 1.0, 1.0]),
    "float objects": np.array([0.0, 1, 1.0], dtype=object),
    "fractions": [Fraction(0), Fraction(1, 2), Fraction(1)],
    "a column": np.array([[0.0], [1.0], [1.0]]),
}


@pytest.mark.parametrize("y", CLASSES.values(), ids=CLASSES)
def test_classes(y):
    assert target_kind(y) == "classes"
    kind, codes, classes = check_target("test", y, 3)
    assert kind == "classes"
    assert codes.dtype == np.intp
    assert_array_equal(codes, [1, 0, 1])
    assert_array_equal(classes[codes], np.ravel(np.asarray(y)))


@pytest.mark.parametrize("y", NUMBERS.values(), ids=NUMBERS)
def test_numbers(y):
    assert target_kind(y) == "numbers"
    kind, values, classes = check_target("test", y, 3)
    assert kind == "numbers"
    assert values.dtype == np.float64
    assert_array_equal(values, np.ravel(np.asarray(y)).astype(float))
    assert classes is None


def test_many_integers_are_numbers_and_this_is_said():
    few, many = list(range(MAX_INTEGER_CLASSES)), list(range(MANY))
    assert (target_kind(few), target_kind(many)) == ("classes", "numbers")
    assert check_target("test", few, len(few)).kind == "classes"
    with pytest.warns(UserWarning, match='target_type="classes" or target_type="num'):
        assert check_target("test", many, MANY).kind == "numbers"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert check_target("test", many, MANY, "classes").kind == "classes"
        assert check_target("test", many, MANY, "numbers").kind == "numbers"


@pytest.mark.parametrize(
    "many",
    [
        [f"label {i}" for i in range(MANY)],
        pd.Series(range(MANY), dtype="category"),
        pd.DataFrame({"y": pd.Categorical(range(MANY))}),
        pd.Categorical(range(MANY)),
    ],
    ids=["strings", "categories", "frame", "categorical"],
)
def test_labels_stay_classes_however_many(many):
    assert target_kind(many) == "classes"
    assert len(check_target("test", many, MANY).classes) == MANY


def test_the_kind_can_be_overridden():
    forced = check_target("test", [0.5, 0.5, 2.0], 3, "classes")
    assert_array_equal(forced.values, [0, 0, 1])
    assert_array_equal(forced.classes, [0.5, 2.0])
    for y in ([0, 1, 1], [False, True, True], pd.Series([0, 1, 1], dtype="category")):
        assert_array_equal(check_target("test", y, 3, "numbers").values, [0.0, 1, 1])


def test_unused_categories_are_no_classes():
    y = pd.Series(["a", "b", "c"], dtype="category")[:2]
    assert list(check_target("test", y, 2).classes) == ["a", "b"]


@given(st.lists(st.integers(-5, 5), min_size=1), st.randoms())
def test_the_kind_does_not_see_the_order(y, random):
    shuffled = list(y)
    random.shuffle(shuffled)
    assert target_kind(shuffled) == target_kind(y)
    one, other = check_target("test", y, len(y)), check_target("test", shuffled, len(y))
    assert_array_equal(one.classes, other.classes)
    assert sorted(one.values) == sorted(other.values)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (None, "requires y to be passed, but the target y is None. Pass y"),
        ([1.0, np.nan], "'y' contains NaN, first in row 1.*drop such rows"),
        ([np.inf, 0.0], "'y' contains infinity, first in row 0"),
        ([None, "a"], "'y' contains None, first in row 0"),
        (["a", np.nan], "'y' contains nan, first in row 1"),
        (pd.Series(["a", None]), "'y' contains nan, first in row 1"),
        (pd.Series([True, None], dtype="boolean"), "'y' contains <NA>.* row 1"),
        (pd.Series([1, None], dtype="Int64"), "'y' contains NaN, first in row 1"),
        (pd.Series([1, None], dtype="category"), "'y' contains NaN, first in row 1"),
        (pl.Series(["a", None], dtype=pl.Categorical), "'y' contains None.* row 1"),
        ([["a", "b"], ["c", "d"]], r"shape \(2, 2\).*such as y\[:, 0\]"),
        (np.float64(1), r"shape \(\).*one dimension"),
        ([[1], [2, 3]], "different lengths.*pass one class or number per row"),
        ([1, "a"], r"mixes integers and strings.*pass \[str\(label\)"),
        (np.array([True, 2], dtype=object), "mixes booleans and integers"),
        ([b"a", "b"], "mixes bytes and strings"),
        (np.array([1 + 1j, 2]), r"holds complex128.*Pass y.astype\(float\)"),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), "holds datetime64"),
        ([Decimal(1), Decimal(2)], "holds Decimal, which is neither"),
        ([{"a"}, {"b"}], "holds set, which is neither"),
        (["a", "b", "c"], "'y' has 3 entries, but X has 2 rows.*in the order of X"),
    ],
)
def test_errors_name_the_remedy(y, message):
    with pytest.raises(ValueError, match=f"^some test: .*{message}"):
        check_target("some test", y, 2)


def test_labels_are_no_numbers():
    with pytest.raises(ValueError, match=r"such as 'a'.*y.astype\(float\)"):
        check_target("test", ["a", "b"], 2, "numbers")
    with pytest.raises(ValueError, match='Pass target_type="auto"'):
        check_target("test", ["a", "b"], 2, "labels")


def test_edges_of_slices():
    (edges,) = check_slice_edges("example", [1, 2])
    assert edges.dtype == np.float64
    assert_array_equal(check_slice_edges("example", [[1, 2]], 1)[0], edges)
    several = check_slice_edges("example", [[1, 2], []], 2)
    assert [len(part) for part in several] == [2, 0]
    for wrong in ([2, 1], [1, 1], [], [1, np.inf], [[1, 2]]):
        with pytest.raises(ValueError, match=r"example: 'slice_edges'.*numbers\. Pass"):
            check_slice_edges("example", wrong)
    with pytest.raises(ValueError, match="one array for each of the 2 responses"):
        check_slice_edges("example", [[1, 2]], 2)
