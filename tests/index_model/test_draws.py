"""Draws of rows: what they see, and what they do not."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist

from skrep.index_model._draws import (
    distance_of_sample,
    draw_centers,
    merged_rows,
    spread_out,
    squared_lengths,
)
from skrep.index_model._kernels import median_distance
from tests.strategies import seeds


@given(seed=seeds, count=st.integers(1, 30), offset=st.floats(0, 0.99))
def test_draws_see_content_and_weight_alone(seed, count, offset):
    rng = np.random.default_rng(seed)
    keys, weights = rng.uniform(0, 9, 20), rng.integers(1, 5, 20)
    drawn = keys[spread_out(keys, weights.astype(float), count, offset)]
    repeated = rng.permutation(np.repeat(keys, weights))
    again = repeated[spread_out(repeated, np.ones(len(repeated)), count, offset)]
    assert_array_equal(np.sort(again), np.sort(drawn))


@given(seed=seeds, offset=st.floats(0.01, 0.99), extra=st.integers(0, 9))
def test_a_draw_of_as_many_rows_as_there_are_has_all(seed, offset, extra):
    X = np.random.default_rng(seed).normal(size=(12, 2))
    keys = np.linalg.norm(X, axis=1)
    drawn = draw_centers(X, keys, np.ones(12), 12 + extra, offset)
    assert_array_equal(np.sort(drawn), np.arange(12))


def test_centers_differ():
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 2)), 3, axis=0)
    keys = np.linalg.norm(X, axis=1)
    assert len(draw_centers(X, keys, np.ones(15), 10, 0.5)) == 5


@given(seed=seeds)
@settings(max_examples=30)
def test_repeated_rows_merge(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, size=(30, 2)) + 0.5, rng.integers(0, 2, 30)
    weights = rng.uniform(1, 2, 30)
    keys = X[:, 0] + np.pi * X[:, 1] + np.e * y
    kept, summed = merged_rows(X, y, weights, keys)
    table = np.c_[X, y]
    assert len(np.unique(table[kept], axis=0)) == len(kept)
    for position, total in zip(kept, summed, strict=True):
        same = (table == table[position]).all(axis=1)
        assert_allclose(total, weights[same].sum())
    assert_allclose(summed.sum(), weights.sum())
    assert_array_equal(kept, np.sort(kept))


def test_rows_of_other_responses_do_not_merge():
    X = np.ones((3, 2))
    several = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 3.0]])
    kept, summed = merged_rows(X, several, np.ones(3), np.ones(3))
    assert_array_equal(kept, [0, 1])
    assert_array_equal(summed, [1, 2])


def test_median_distance_is_of_pairs_that_differ():
    points = np.random.default_rng(0).normal(size=(20, 3))
    assert_allclose(median_distance(points), np.median(pdist(points)))
    twice = np.vstack([points, points[:1]])
    kept = pdist(twice)
    assert_allclose(median_distance(twice), np.median(kept[kept > 0]))


def test_the_distance_of_a_sample_is_near_that_of_all_rows():
    rng = np.random.default_rng(0)
    X, axes = rng.normal(size=(1000, 3)), rng.normal(size=(3, 2))
    points = (X - 1) @ axes
    keys = squared_lengths(X, np.ones(3), axes)
    assert_allclose(keys, np.sum(points**2, axis=1))
    found = distance_of_sample(X, np.ones(3), axes, keys, np.ones(1000))
    assert_allclose(found, np.median(pdist(points)))
    many = np.repeat(X, 3, axis=0)
    again = distance_of_sample(
        many, np.ones(3), axes, np.repeat(keys, 3), np.ones(3000)
    )
    assert_allclose(again, found)
