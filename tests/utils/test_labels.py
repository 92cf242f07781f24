"""Labels keep their types, and their order does not depend on how they came."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrep.utils.labels import is_missing, label_array, sorted_labels


@pytest.mark.parametrize(
    "value",
    [None, float("nan"), np.float32("nan"), pd.NA, pd.NaT, np.datetime64("NaT")],
)
def test_missing(value):
    assert is_missing(value)


@pytest.mark.parametrize("value", ["", "nan", 0, False, np.inf, (None,), "None"])
def test_not_missing(value):
    assert not is_missing(value)


@given(
    st.lists(
        st.one_of(
            st.text(max_size=3),
            st.integers(),
            st.floats(allow_nan=False),
            st.booleans(),
        ),
        max_size=8,
    )
)
def test_arrays_change_no_label(labels):
    found = label_array(labels).tolist()
    assert found == labels
    assert [type(label) for label in found] == [type(label) for label in labels]


@pytest.mark.parametrize(
    ("labels", "kind"),
    [
        (["a", "bb"], "U"),
        ([1, 2], "i"),
        ([1.5, 2.0], "f"),
        ([1, 2.0], "O"),
        ([True, False], "O"),
        (["a\0"], "O"),
        ([2**70], "O"),
        ([(1, 2), (3, 4)], "O"),
        ([], "O"),
    ],
)
def test_types_of_arrays(labels, kind):
    assert label_array(labels).dtype.kind == kind


@given(st.data())
def test_the_order_is_that_of_the_labels_alone(data):
    label = st.one_of(
        st.integers(0, 9), st.sampled_from("abc"), st.tuples(st.integers(0, 2))
    )
    labels = data.draw(st.lists(label, max_size=8))
    shuffled = data.draw(st.permutations(labels))
    found = sorted_labels(shuffled)
    assert found == sorted_labels(labels)
    assert sorted(map(repr, found)) == sorted(map(repr, set(labels)))


def test_types_stand_together():
    given_labels = ["b", 10, (2,), "a", 9, (1, "x"), (1, 5)]
    assert sorted_labels(given_labels) == [9, 10, "a", "b", (1, "x"), (1, 5), (2,)]


def test_sets_have_one_order():
    sets = [frozenset(part) for part in ("ab", "b", "a", "cd", "abc", "")]
    orders = {tuple(sorted_labels(order)) for order in permutations(sets)}
    assert orders == {
        tuple(map(frozenset, ["abc", "ab", "a", "b", "cd", ""])),
    }
