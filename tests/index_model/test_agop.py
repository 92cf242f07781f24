"""Kernels, their gradients, and average outer products, against naive forms."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist, pdist
from sklearn.kernel_ridge import KernelRidge
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from skrep.index_model import _agop
from skrep.index_model._agop import (
    Regression,
    decreasing,
    first_metric,
    gradient_outer_product,
    main_axes,
    metric_root,
    ridge_coefficients,
    standardized_targets,
    unwhitened,
)
from skrep.index_model._kernels import kernel_block
from skrep.linalg import Moments, whitening
from tests.strategies import seeds

KERNELS = ("laplace", "gaussian")


def value(x, center, kernel, bandwidth):
    r = np.linalg.norm(x - center)
    if kernel == "laplace":
        return np.exp(-r / bandwidth)
    return np.exp(-(r**2) / (2 * bandwidth**2))


def gram(A, B, kernel, bandwidth):
    return np.array([[value(a, b, kernel, bandwidth) for b in B] for a in A])


def difference(function, x, step=1e-6):
    """Gradient by central differences."""
    eye = step * np.eye(len(x))
    return np.array([(function(x + e) - function(x - e)) / (2 * step) for e in eye])


def problem(kernel="laplace", n=30, d=4, centers=(1, 5, 8, 20), seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 2, 3, 0.1][:d] + 5
    weights = rng.uniform(0.5, 3, n)
    moments = Moments.of(X, weights)
    targets = rng.normal(size=(n, 2))
    white = whitening(moments)
    where = np.arange(n) if centers is None else np.array(centers)
    parts = X, weights, white.mean, white.map, targets, where
    return Regression(*parts, kernel, 1.7, 0.3)


def metric(d=4, seed=1):
    A = np.random.default_rng(seed).normal(size=(d, d))
    return A @ A.T


def naive_coefficients(regression, M):
    root = np.linalg.cholesky(M)
    U = (regression.X - regression.mean) @ regression.map @ root
    C = U[regression.centers]
    how = regression.kernel, regression.bandwidth
    K, Kmm, W = gram(U, C, *how), gram(C, C, *how), np.diag(regression.weights)
    normal = K.T @ W @ K + regression.alpha * Kmm
    return np.linalg.solve(normal, K.T @ W @ regression.targets)


# --- kernels ---------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_are_their_formulas_and_slopes_their_gradients(kernel):
    rng = np.random.default_rng(0)
    points, centers = rng.normal(size=(6, 3)), rng.normal(size=(4, 3))
    block = kernel_block(points, centers, kernel, 1.3)
    assert_allclose(block.values, gram(points, centers, kernel, 1.3), rtol=1e-12)
    for i, x in enumerate(points):
        for j, center in enumerate(centers):
            naive = difference(lambda u, c=center: value(u, c, kernel, 1.3), x)
            slope = block.slopes[i, j] * (x - center)
            assert_allclose(slope, naive, atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_at_a_center_a_kernel_is_one_and_its_gradient_finite(kernel):
    rng = np.random.default_rng(0)
    centers = rng.normal(size=(5, 20)) * 30
    block = kernel_block(centers, centers, kernel, 1.0)
    assert_allclose(np.diag(block.values), 1, rtol=1e-9)
    if kernel == "laplace":
        assert_array_equal(np.diag(block.slopes), 0)


# --- the regression --------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS)
def test_coefficients_solve_the_normal_equations(kernel):
    regression, M = problem(kernel), metric()
    found = ridge_coefficients(regression, metric_root(M))
    assert_allclose(found, naive_coefficients(regression, M), rtol=1e-6)


@pytest.mark.parametrize("kernel", KERNELS)
def test_all_rows_as_centers_are_the_full_solution(kernel):
    regression, M = problem(kernel, centers=None), metric()
    U = (regression.X - regression.mean) @ regression.map @ np.linalg.cholesky(M)
    K = gram(U, U, kernel, regression.bandwidth)
    peer = KernelRidge(alpha=regression.alpha, kernel="precomputed")
    peer.fit(K, regression.targets, sample_weight=regression.weights)
    found = ridge_coefficients(regression, metric_root(M))
    assert_allclose(found, peer.dual_coef_, rtol=1e-7)
    assert_allclose(found, naive_coefficients(regression, M), rtol=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("centers", [(1, 5, 8, 20), None])
def test_outer_products_average_those_of_finite_differences(kernel, centers):
    regression, M = problem(kernel, centers=centers), metric()
    L = np.linalg.cholesky(M)
    Z = (regression.X - regression.mean) @ regression.map
    C = Z[regression.centers] @ L
    coefficients = naive_coefficients(regression, M)
    how = kernel, regression.bandwidth
    expected = np.zeros((4, 4))
    for i, z in enumerate(Z):
        for c in range(2):
            a = coefficients[:, c]
            # A Laplace kernel has a kink at its own center, where its part is zero.
            a = np.where(regression.centers == i, 0, a) if kernel == "laplace" else a
            g = difference(lambda x, a=a: (gram([x @ L], C, *how) @ a)[0], z)
            expected += regression.weights[i] * np.outer(g, g)
    expected /= regression.weights.sum()
    found = gradient_outer_product(regression, metric_root(M))
    assert_allclose(found, expected, atol=1e-5 * np.abs(expected).max())
    assert_array_equal(found, found.T)


def test_blocks_change_nothing(monkeypatch):
    whole = gradient_outer_product(problem(), metric_root(metric()))
    monkeypatch.setattr(_agop, "_BLOCK_BYTES", 1000)
    blocks = gradient_outer_product(problem(), metric_root(metric()))
    assert_allclose(blocks, whole, rtol=1e-9)


# --- coordinates and responses ---------------------------------------------------


def test_targets_are_standardized_and_classes_one_hot():
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 3, 40)
    numbers = rng.normal(size=(40, 2)) * [1e-9, 1e200] + [1, 1e200]
    peer = StandardScaler().fit(numbers / [1, 1e200], sample_weight=weights)
    found = standardized_targets(np.c_[numbers, np.full(40, 3.0)], weights)
    assert_allclose(found, peer.transform(numbers / [1, 1e200]), atol=1e-6)
    labels = rng.choice(["a", "b", "c"], 40)
    one_hot = OneHotEncoder(sparse_output=False).fit_transform(labels[:, None])
    peer = StandardScaler().fit(one_hot, sample_weight=weights)
    assert_allclose(standardized_targets(labels, weights), peer.transform(one_hot))


def test_distances_without_whitening_are_those_of_standardized_columns():
    X = np.random.default_rng(0).normal(size=(20, 4)) @ metric()
    white = whitening(Moments.of(X))
    frame = unwhitened(white)
    expected = pdist(X / X.std(axis=0))
    assert_allclose(pdist(X @ frame.map), expected)
    assert_allclose(frame.inverse @ frame.map, np.eye(4), atol=1e-9)


def test_the_first_metric_prefers_directions():
    X = np.random.default_rng(0).normal(size=(50, 3)) @ metric(3)
    white = whitening(Moments.of(X))
    assert_array_equal(first_metric(white, None), np.eye(3))
    V = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 2)))[0]
    mixed = white.map @ V @ [[2.0, 1.0], [0.5, 3.0]]
    assert_allclose(first_metric(white, mixed), V @ V.T + 0.05 * np.eye(3))


@given(seed=seeds, rank=st.integers(1, 5))
def test_a_root_times_itself_is_the_metric(seed, rank):
    A = np.random.default_rng(seed).normal(size=(5, rank))
    root = metric_root(A @ A.T)
    assert root.shape == (5, rank)
    assert_allclose(root @ root.T, A @ A.T, atol=1e-10 * np.trace(A @ A.T))


def test_axes_without_weight_are_ordered_by_spread():
    V = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    values = np.array([2.0, 1e-12, 1.0, 0.0])
    spread = np.array([4.0, 3.0, 2.0, 1.0])
    found, vectors = main_axes((V * values) @ V.T, spread)
    assert_allclose(found, [2, 1, 0, 0], atol=1e-9)
    assert_allclose(np.abs(vectors[:, :2].T @ V[:, [0, 2]]), np.eye(2), atol=1e-9)
    rest = vectors[:, 2:]
    inner = rest.T @ np.diag(spread) @ rest
    assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-9)
    assert inner[0, 0] > inner[1, 1]
    again, axes = decreasing(np.diag(spread))
    assert_array_equal(again, spread)
    assert_allclose(np.abs(axes), np.eye(4))


def test_the_metric_is_that_of_mahalanobis():
    regression, M = problem(), metric()
    root = metric_root(M)
    points = (regression.X - regression.mean) @ (regression.map @ root)
    VI = regression.map @ M @ regression.map.T
    expected = cdist(regression.X, regression.X, "mahalanobis", VI=VI)
    assert_allclose(cdist(points, points), expected, atol=1e-6)
