"""Moments: against NumPy, and merged in any order."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from skrep.linalg import (
    GroupMoments,
    Moments,
    SliceMoments,
    moment_blocks,
    weighted_mean,
)
from tests.strategies import matrices, seeds


def naive(X, weights):
    mean = np.average(X, axis=0, weights=weights)
    gaps = X - mean
    return mean, (gaps * weights[:, None]).T @ gaps


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array, sp.csr_matrix])
def test_moments_equal_the_definition(convert):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((700, 5)) * (rng.random((700, 5)) < 0.5) + 0.0
    weights = rng.integers(0, 3, 700).astype(float)
    moments = Moments.of(convert(X), weights)
    mean, scatter = naive(X, weights)
    assert moments.weight == weights.sum()
    np.testing.assert_allclose(moments.mean, mean, atol=1e-13)
    np.testing.assert_allclose(moments.scatter, scatter, atol=1e-11)
    np.testing.assert_allclose(
        moments.covariance, np.cov(X.T, bias=True, fweights=weights.astype(int))
    )


def test_blocks_cover_long_arrays():
    X = np.random.default_rng(1).standard_normal((70_000, 4)).astype(np.float32)
    assert len(list(moment_blocks(X))) > 1
    moments = Moments.of(X)
    np.testing.assert_allclose(
        moments.covariance, np.cov(X.T.astype(float), bias=True), rtol=1e-10
    )
    labels = np.arange(len(X)) % 3
    total = GroupMoments.of(X, labels).total()
    np.testing.assert_allclose(total.scatter, moments.scatter, rtol=1e-9, atol=1e-6)


def test_a_far_origin_costs_no_digits():
    X = np.random.default_rng(2).standard_normal((50, 3))
    near, far = Moments.of(X), Moments.of(X + 1e6)
    np.testing.assert_allclose(far.scatter, near.scatter, rtol=1e-8, atol=1e-8)


@given(matrices(min_rows=4, max_rows=20), seeds, st.integers(1, 3))
def test_merging_is_measuring_all(X, seed, n_cuts):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 3, len(X)).astype(float)
    weights[0] = 1
    labels = rng.integers(0, 3, len(X))
    cuts = np.sort(rng.integers(0, len(X) + 1, n_cuts))
    parts = [p for p in np.split(rng.permutation(len(X)), cuts) if len(p)]
    whole, groups = Moments.of(X, weights), GroupMoments.of(X, labels, weights)
    merged = grouped = None
    for part in parts:
        if not weights[part].any():
            continue
        moments = Moments.of(X[part], weights[part])
        merged = moments if merged is None else merged.merge(moments)
        classes = GroupMoments.of(X[part], labels[part], weights[part])
        grouped = classes if grouped is None else grouped.merge(classes)
    size = np.abs(X).max() ** 2 * len(X)
    np.testing.assert_allclose(merged.mean, whole.mean, atol=1e-12 * np.abs(X).max())
    np.testing.assert_allclose(merged.scatter, whole.scatter, atol=1e-11 * size)
    np.testing.assert_array_equal(grouped.labels, groups.labels)
    np.testing.assert_allclose(grouped.weights, groups.weights)
    np.testing.assert_allclose(grouped.means, groups.means, atol=1e-11 * np.sqrt(size))
    np.testing.assert_allclose(grouped.scatter, groups.scatter, atol=1e-11 * size)


def test_groups_against_a_loop():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 3))
    labels = np.array(["b", "a", "c", "b"])[rng.integers(0, 4, 40)]
    weights = rng.random(40)
    weights[labels == "c"] = 0
    groups = GroupMoments.of(X, labels, weights)
    assert list(groups.labels) == ["a", "b"]
    scatter = np.zeros((3, 3))
    for k, name in enumerate(groups.labels):
        mean, own = naive(X[labels == name], weights[labels == name])
        np.testing.assert_allclose(groups.means[k], mean)
        scatter += own
    np.testing.assert_allclose(groups.scatter, scatter)
    np.testing.assert_allclose(groups.total().scatter, naive(X, weights)[1])


def test_merging_leaves_both_as_they_were():
    one, other = (Moments.of(np.array([[x], [x + 1]])) for x in (0.0, 5.0))
    before = one.scatter.copy(), other.scatter.copy()
    one.merge(other)
    np.testing.assert_array_equal(one.scatter, before[0])
    np.testing.assert_array_equal(other.scatter, before[1])


@given(X=matrices(), seed=seeds)
def test_mean_agrees_with_numpy(X, seed):
    weights = np.random.default_rng(seed).integers(1, 5, size=len(X)).astype(float)
    np.testing.assert_allclose(
        weighted_mean(X, weights),
        np.average(X, axis=0, weights=weights),
        rtol=1e-12,
        atol=1e-14 * np.abs(X).max(),
    )


def test_mean_of_many_blocks_and_of_sparse_rows():
    X = np.random.default_rng(0).standard_normal((3000, 400)).astype(np.float32) + 100
    weights = np.ones(3000)
    expected = X.mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(weighted_mean(X, weights), expected, rtol=1e-12)
    np.testing.assert_allclose(
        weighted_mean(sp.csr_array(X), weights), expected, rtol=1e-6
    )
    np.testing.assert_allclose(
        Moments.of(X).covariance, np.cov(X.T.astype(np.float64), bias=True), atol=1e-10
    )


def test_a_light_row_far_away_costs_the_others_no_digits():
    X = np.random.default_rng(4).standard_normal((100, 3))
    X[0] = 1e10
    weights = np.ones(100)
    weights[0] = 1e-25
    expected = np.cov(X[1:].T, bias=True)
    found = Moments.of(X, weights).covariance
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("kind", [GroupMoments, SliceMoments])
def test_absent_rows_leave_no_trace(kind):
    rng = np.random.default_rng(0)
    X, labels, weights = rng.standard_normal((50, 3)), np.arange(50) % 2, np.ones(50)
    X[[0, 1]], weights[[0, 1]] = 1e12, 0
    found, expected = kind.of(X, labels, weights), kind.of(X[2:], labels[2:])
    for one, other in zip(vars(found).values(), vars(expected).values(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kind", [GroupMoments, SliceMoments])
def test_labels_of_any_type_are_groups(kind):
    X, numbers = np.arange(8.0).reshape(4, 2), np.array([7, 2, 7, 2])
    names = np.array(["b", "a", "b", "a"])
    one, other = kind.of(X, numbers), kind.of(X, names)
    assert one.labels.tolist() == [2, 7]
    assert other.labels.tolist() == ["a", "b"]
    np.testing.assert_array_equal(one.means, other.means)
