"""The one rule for lengths."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skrep.utils.prefixes import check_prefixes, normalizes


@pytest.mark.parametrize(
    ("width", "expected"),
    [
        (1, [1]),
        (2, [1, 2]),
        (3, [1, 2, 3]),
        (8, [1, 2, 4, 8]),
        (9, [8, 9]),
        (16, [8, 16]),
        (384, [8, 16, 32, 64, 128, 256, 384]),
    ],
)
def test_powers(width, expected):
    assert_array_equal(check_prefixes("this test", "powers", width), expected)


@given(st.lists(st.integers(1, 30), min_size=1))
def test_any_order_and_duplicates_give_the_sorted_lengths(lengths):
    found = check_prefixes("this test", lengths, 30)
    assert found.tolist() == sorted(set(lengths))
    assert found.dtype == np.int64
    for same in (lengths[::-1], np.array(lengths, np.int32), iter(lengths)):
        assert_array_equal(check_prefixes("this test", same, 30), found)


def test_one_integer_is_one_length():
    assert check_prefixes("this test", 4, 8).tolist() == [4]


@pytest.mark.parametrize("bad", [0, -1, 20, 2.5, True, np.True_, "long", None])
@pytest.mark.parametrize("alone", [True, False])
def test_what_is_no_length_names_the_rule_and_the_remedy(bad, alone):
    rule = "must be an integer from 1 to 8.*Pass prefixes=.powers.*up to 8"
    with pytest.raises(ValueError, match=rule) as error:
        check_prefixes("this test", bad if alone else [4, bad], 8)
    assert str(error.value).startswith(f"this test: 'prefixes' holds {bad!r}.")
    assert "\n" not in str(error.value)


def test_none_at_all():
    with pytest.raises(ValueError, match=r"'prefixes' is empty.*Pass prefixes"):
        check_prefixes("this test", [], 8)


def test_a_pipeline_that_ends_in_a_normalizer_normalizes():
    for norm, expected in (("l2", True), ("l1", False)):
        pipeline = make_pipeline(PCA(), Normalizer(norm))
        assert normalizes(pipeline) is expected
    assert not normalizes(make_pipeline(Normalizer(), PCA()))
