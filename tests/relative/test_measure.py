"""Moments over blocks."""

import numpy as np
from hypothesis import given

from skrep.relative._measure import coordinate_moments, keep_largest
from tests.strategies import matrices, seeds


@given(X=matrices(min_rows=3), seed=seeds)
def test_blocks_give_the_moments_of_the_whole(X, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(X)).astype(float)
    weights[0] = 1
    cuts = np.sort(rng.integers(0, len(X) + 1, 3))
    parts = zip(np.split(X, cuts), np.split(weights, cuts), strict=True)
    mean, deviation = coordinate_moments(parts)
    expected = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - expected) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(mean, expected, rtol=1e-9, atol=1e-12)
    varied = spread > 1e-9 * np.abs(X).max()
    np.testing.assert_allclose(deviation[varied], spread[varied], rtol=1e-9)
    assert (deviation[~varied] == 1).all() or spread.max() == 0


def test_a_constant_column_is_divided_by_one():
    block = np.column_stack([np.full(9, 0.1), np.arange(9.0)])
    assert coordinate_moments([(block, np.ones(9))])[1][0] == 1


def test_keep_largest_keeps_negative_entries_too():
    R = np.array([[-3.0, -1.0, -2.0]])
    np.testing.assert_array_equal(keep_largest(R, 2).toarray(), [[0, -1, -2]])
