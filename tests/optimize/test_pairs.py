import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from skrep.optimize import PairSet

PAIR = st.tuples(st.integers(0, 40), st.integers(0, 60))


@given(held=st.lists(PAIR, min_size=1), asked=st.lists(PAIR, min_size=1))
def test_contains_what_a_set_contains(held, asked):
    rows, columns = np.array(held).T
    pairs = PairSet(rows, columns, n_columns=61)
    found = pairs.contains(*np.array(asked).T)
    assert found.tolist() == [pair in set(held) for pair in asked]


def test_keys_of_large_matrices_do_not_overflow():
    n = 3_000_000
    rows = np.array([n - 1, 5], dtype=np.int32)
    pairs = PairSet(rows, np.array([n - 2, 7], dtype=np.int32), n_columns=n)
    assert pairs.contains(rows, np.array([n - 2, 7], dtype=np.int32)).all()
    assert not pairs.contains(rows, np.array([n - 1, 8], dtype=np.int32)).any()


def test_pairs_that_pass_the_filter_are_looked_up():
    """Of the absent pairs some share a slot of the filter with a held one."""
    n = 300
    rng = np.random.default_rng(0)
    held = rng.uniform(size=(n, n)) < 0.1
    pairs = PairSet(*np.nonzero(held), n_columns=n)
    every = np.indices((n, n))
    np.testing.assert_array_equal(pairs.contains(*every), held)
    assert pairs._filter[pairs._slots(np.arange(n * n))].sum() > held.sum()


def test_shapes_broadcast():
    pairs = PairSet(np.array([1]), np.array([2]), n_columns=5)
    found = pairs.contains(np.array([0, 1]), np.array([[2, 2], [2, 3], [1, 1]]))
    assert found.tolist() == [[False, True], [False, False], [False, False]]
