"""Whitening from moments: identity covariance, rank, units, ridge."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.linalg import GroupMoments, Moments, SliceMoments, whitening
from tests.strategies import matrices, seeds


def rows(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=d)


@given(matrices(min_rows=8, max_rows=30, max_columns=6))
@settings(max_examples=50, deadline=None)
def test_whitened_rows_have_identity_covariance(X):
    white = whitening(Moments.of(X))
    z = (X - white.mean) @ white.map
    rank = np.linalg.matrix_rank(X - X.mean(axis=0))
    assert z.shape[1] == rank == len(white.inverse) == len(white.spread)
    assert_allclose(z.mean(axis=0), 0, atol=1e-9)
    assert_allclose(z.T @ z / len(z), np.eye(rank), atol=1e-8)
    assert_allclose(white.inverse @ white.map, np.eye(rank), atol=1e-8)
    assert_allclose(z @ white.inverse + white.mean, X, atol=1e-9 * np.abs(X).max())


def test_the_map_is_that_of_the_correlations():
    X = rows()
    white = whitening(Moments.of(X))
    values, vectors = np.linalg.eigh(np.corrcoef(X.T))
    expected = vectors[:, ::-1] / np.sqrt(values[::-1]) / X.std(axis=0)[:, None]
    signs = np.sign(np.sum(white.map * expected, axis=0))
    assert_allclose(white.map * signs, expected, rtol=1e-8)
    assert_allclose(white.spread, values[::-1])
    assert_allclose(white.scale, X.std(axis=0))
    z = (X - white.mean) / white.scale
    assert_allclose(np.var(z @ scipy.linalg.orth(white.map * white.scale[:, None])), 1)


@given(seeds, st.integers(1, 3), st.integers(1, 3))
@settings(max_examples=50, deadline=None)
def test_rank_is_told_in_any_units(seed, n_dependent, n_constant):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 4))
    X = np.hstack([X, X @ rng.normal(size=(4, n_dependent)), np.ones((60, n_constant))])
    factors = 10.0 ** rng.uniform(-3, 3, X.shape[1])
    one, other = (whitening(Moments.of(Y)) for Y in (X, X * factors))
    assert one.map.shape == other.map.shape == (X.shape[1], 4)
    z, w = ((Y - m.mean) @ m.map for Y, m in ((X, one), (X * factors, other)))
    signs = np.sign(np.sum(z * w, axis=0))
    assert_allclose(w * signs, z, atol=1e-6)


def test_of_dependent_columns_the_solution_of_least_norm_is_taken():
    X = rows()
    X /= X.std(axis=0)
    twice = np.hstack([X, X[:, :1]])
    single, double = whitening(Moments.of(X)), whitening(Moments.of(twice))
    # Two copies of a column share its coefficient evenly.
    assert_allclose(double.map[0], double.map[4], atol=1e-12)
    combined = np.vstack([double.map[0] + double.map[4], double.map[1:4]])
    # Rows are told apart alike: the maps differ by a rotation of z.
    assert_allclose(combined @ combined.T, single.map @ single.map.T, atol=1e-9)


@pytest.mark.parametrize("value", [0.0, 7.0, 0.1, 1 / 3, -1e6])
@pytest.mark.parametrize("kind", [Moments, SliceMoments, GroupMoments])
def test_a_constant_column_has_coefficients_of_exact_zero(kind, value):
    X = rows(400)
    X[:, 2] = value
    if kind is Moments:
        moments = Moments.of(X)
    else:
        moments = kind.of(X, np.argsort(X[:, 0]) // 40).total()
    white = whitening(moments)
    assert white.scale[2] == 0
    assert white.map.shape == (4, 3)
    assert_array_equal(white.map[2], 0)
    assert_array_equal(white.inverse[:, 2], 0)
    rest = whitening(Moments.of(np.delete(X, 2, axis=1)))
    gram = np.delete(white.map, 2, axis=0) @ np.delete(white.map, 2, axis=0).T
    assert_allclose(gram, rest.map @ rest.map.T, rtol=1e-8, atol=1e-10)


def test_of_constant_columns_alone_nothing_is_left():
    white = whitening(Moments.of(np.full((5, 3), 2.0)))
    assert white.map.shape == (3, 0)
    assert white.inverse.shape == (0, 3)
    assert_array_equal(white.scale, 0)


def test_a_column_of_tiny_spread_is_a_column():
    X = rows()
    small = X.copy()
    small[:, 1] = X[:, 1] * 1e-9
    z, w = ((Y - Y.mean(axis=0)) @ whitening(Moments.of(Y)).map for Y in (X, small))
    signs = np.sign(np.sum(z * w, axis=0))
    assert_allclose(w * signs, z, atol=1e-8)


def test_what_float32_rounds_is_no_column():
    X = rows(d=3)
    X[:, 2] = 1e6 + 1e-3 * X[:, 2]
    moments = Moments.of(X)
    assert whitening(moments).map.shape == (3, 3)
    coarse = whitening(moments, precision=float(np.finfo(np.float32).eps))
    assert coarse.map.shape == (3, 2)
    assert coarse.scale[2] == 0


@given(seeds, st.floats(1e-3, 10.0))
@settings(max_examples=50, deadline=None)
def test_a_ridge_is_added_to_the_correlations(seed, ridge):
    X = rows(seed=seed)
    white = whitening(Moments.of(X), ridge)
    inner = np.corrcoef(X.T) + ridge * np.eye(4)
    expected = np.linalg.inv(inner) / np.outer(X.std(axis=0), X.std(axis=0))
    assert_allclose(white.map @ white.map.T, expected, rtol=1e-6)
    assert_allclose(white.inverse @ white.map, np.eye(4), atol=1e-8)


def test_the_ridge_is_in_units_of_the_mean_eigenvalue():
    # Constant columns do not dilute it, and dependent ones count.
    X = rows(d=3)
    X = np.hstack([X, X[:, :1] + X[:, 1:2], np.ones((200, 2))])
    white = whitening(Moments.of(X), 0.5)
    values = np.linalg.eigvalsh(np.corrcoef(X[:, :4].T))[::-1][:3]
    assert_allclose(white.spread, values)
    z = (X - white.mean) @ white.map
    # The mean eigenvalue of four correlations is one.
    assert_allclose(z.T @ z / len(z), np.diag(values / (values + 0.5)), atol=1e-9)


def test_moments_are_left_alone():
    moments = Moments.of(rows())
    before = moments.scatter.copy()
    moments.scatter.setflags(write=False)
    whitening(moments, 0.1)
    assert_array_equal(moments.scatter, before)
