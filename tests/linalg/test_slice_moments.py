"""Moments of slices: against a loop, merged in any order, from far away."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.linalg import GroupMoments, Moments, SliceMoments, moment_blocks
from tests.strategies import matrices, seeds


def naive(X, labels, weights):
    """Weight, mean and scatter of every group of positive weight, row by row."""
    found = {}
    for name in sorted(set(labels[weights > 0])):
        own = (labels == name) & (weights > 0)
        mean = sum(w * x for w, x in zip(weights[own], X[own], strict=True))
        mean = mean / weights[own].sum()
        scatter = sum(
            w * np.outer(x - mean, x - mean)
            for w, x in zip(weights[own], X[own], strict=True)
        )
        found[name] = weights[own].sum(), mean, scatter
    return found


@given(matrices(min_rows=1, max_rows=20), seeds)
@settings(max_examples=50, deadline=None)
def test_groups_are_those_of_a_loop(X, seed):
    rng = np.random.default_rng(seed)
    labels = np.array(["b", "a", "d", "c"])[rng.integers(0, 4, len(X))]
    weights = rng.integers(0, 3, len(X)) * 0.75
    weights[0] += 1
    slices = SliceMoments.of(X, labels, weights)
    expected = naive(X, labels, weights)
    size = np.abs(X).max()
    assert list(slices.labels) == list(expected)
    assert slices.n_rows == np.count_nonzero(weights)
    for k, (weight, mean, scatter) in enumerate(expected.values()):
        assert_allclose(slices.weights[k], weight)
        assert_allclose(slices.means[k], mean, atol=1e-13 * size)
        assert_allclose(slices.scatters[k], scatter, atol=1e-11 * size**2)
        assert_array_equal(slices.scatters[k], slices.scatters[k].T)


def test_without_weights_every_row_counts_once():
    X = np.random.default_rng(0).normal(size=(30, 3))
    labels = np.arange(30) % 4
    one, other = SliceMoments.of(X, labels), SliceMoments.of(X, labels, np.ones(30))
    for a, b in zip(vars(one).values(), vars(other).values(), strict=True):
        assert_array_equal(a, b)


@given(matrices(min_rows=4, max_rows=20), seeds, st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_merging_is_measuring_all(X, seed, n_cuts):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(X)).astype(float)
    weights[0] = 1
    labels = rng.integers(0, 4, len(X))
    cuts = np.sort(rng.integers(0, len(X) + 1, n_cuts))
    parts = [
        part for part in np.split(rng.permutation(len(X)), cuts) if weights[part].any()
    ]
    whole = SliceMoments.of(X, labels, weights)
    merged = None
    for part in parts:
        slices = SliceMoments.of(X[part], labels[part], weights[part])
        merged = slices if merged is None else merged.merge(slices)
    size = np.abs(X).max()
    assert_array_equal(merged.labels, whole.labels)
    assert_allclose(merged.weights, whole.weights)
    assert_allclose(merged.means, whole.means, atol=1e-12 * size)
    assert_allclose(merged.scatters, whole.scatters, atol=1e-10 * size**2)
    assert merged.n_rows == whole.n_rows


def test_new_groups_may_come_on_either_side():
    X = np.random.default_rng(1).normal(size=(9, 2))
    labels = np.array(list("bbbdddaac"))
    one = SliceMoments.of(X[:6], labels[:6])
    other = SliceMoments.of(X[6:], labels[6:])
    whole = SliceMoments.of(X, labels)
    for merged in (one.merge(other), other.merge(one)):
        assert list(merged.labels) == list("abcd")
        assert_array_equal(merged.weights, whole.weights)
        # A group of one side alone is taken over as it is.
        assert_array_equal(merged.means, whole.means)
        assert_array_equal(merged.scatters, whole.scatters)


def test_merging_leaves_both_as_they_were():
    X = np.random.default_rng(2).normal(size=(8, 2))
    sides = [
        SliceMoments.of(X[rows], np.arange(4) % 2) for rows in (slice(4), slice(4, 8))
    ]
    before = [(side.means.copy(), side.scatters.copy()) for side in sides]
    sides[0].merge(sides[1])
    for side, (means, scatters) in zip(sides, before, strict=True):
        assert_array_equal(side.means, means)
        assert_array_equal(side.scatters, scatters)


@given(matrices(min_rows=2, max_rows=20), seeds)
@settings(max_examples=50, deadline=None)
def test_the_total_is_that_of_all_rows(X, seed):
    rng = np.random.default_rng(seed)
    weights = rng.random(len(X)) + 0.1
    labels = rng.integers(0, 3, len(X))
    total = SliceMoments.of(X, labels, weights).total()
    whole = Moments.of(X, weights)
    size = np.abs(X).max()
    assert_allclose(total.weight, whole.weight)
    assert_allclose(total.mean, whole.mean, atol=1e-12 * size)
    assert_allclose(total.scatter, whole.scatter, atol=1e-10 * size**2)


def test_scatters_sum_to_the_pooled_one():
    X = np.random.default_rng(3).normal(size=(50, 4))
    labels = np.arange(50) % 7
    slices, groups = SliceMoments.of(X, labels), GroupMoments.of(X, labels)
    assert_array_equal(slices.labels, groups.labels)
    assert_allclose(slices.means, groups.means, atol=1e-14)
    assert_allclose(slices.scatters.sum(axis=0), groups.scatter, atol=1e-12)


def test_blocks_cover_long_arrays():
    X = np.random.default_rng(4).normal(size=(70_000, 4)).astype(np.float32)
    assert len(list(moment_blocks(X))) > 1
    labels = np.repeat([0, 1, 2], [10, 30_000, 39_990])
    slices = SliceMoments.of(X, labels)
    for k in range(3):
        rows = X[labels == k].astype(float)
        assert_allclose(slices.means[k], rows.mean(axis=0), atol=1e-10)
        assert_allclose(
            slices.scatters[k] / len(rows), np.cov(rows.T, bias=True), atol=1e-10
        )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_far_origin_costs_no_digits(dtype):
    rng = np.random.default_rng(5)
    far = (rng.normal(size=(60, 3)) + 1e6).astype(dtype)
    near = far.astype(float) - 1e6
    labels = np.arange(60) % 3
    one, other = SliceMoments.of(far, labels), SliceMoments.of(near, labels)
    assert_allclose(one.scatters, other.scatters, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("value", [7.0, 0.1, 1 / 3, -1e6])
def test_a_constant_column_does_not_vary(value):
    X = np.random.default_rng(6).normal(size=(400, 3))
    X[:, 1] = value
    total = SliceMoments.of(X, np.arange(400) % 9).total()
    spread = np.sqrt(total.covariance[1, 1])
    assert spread <= 2 * np.finfo(float).eps * abs(value)


def test_inputs_are_left_alone():
    X = np.random.default_rng(7).normal(size=(20, 3))
    labels, weights = np.arange(20) % 3, np.arange(20) / 10.0
    kept = X.copy(), labels.copy(), weights.copy()
    for array in (X, labels, weights):
        array.setflags(write=False)
    SliceMoments.of(X, labels, weights)
    for array, before in zip((X, labels, weights), kept, strict=True):
        assert_array_equal(array, before)
