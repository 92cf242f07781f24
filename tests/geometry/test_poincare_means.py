"""Means of points of the ball."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from skrep.geometry import hyperboloid, poincare
from tests.geometry.test_poincare import points
from tests.strategies import seeds

RADII = st.sampled_from([1e-6, 0.3, 3.0, 12.0])


def gradient_length(mean, X, weights):
    gradient = weights @ poincare.log_map(mean, X) / weights.sum()
    return np.linalg.norm(gradient) * poincare.conformal_factor(mean)


@given(seed=seeds, n=st.integers(1, 20), d=st.integers(1, 5), radius=RADII)
@settings(max_examples=40)
def test_the_mean_is_stationary(seed, n, d, radius):
    X = points(seed, n, d, radius)
    weights = np.random.default_rng(seed).exponential(size=n) ** 3
    mean = poincare.frechet_mean(X, weights)
    spread = poincare.distance(mean, X).mean()
    assert gradient_length(mean, X, weights) <= 1e-9 * spread + 1e-12


def test_the_mean_is_the_minimum():
    X = points(0, 9, 3, 3.0)
    weights = np.arange(1.0, 10)

    def loss(v):
        return weights @ poincare.distance(X, poincare.exp_map_origin(v)) ** 2

    found = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"xatol": 1e-9})
    mean = poincare.frechet_mean(X, weights)
    assert_allclose(poincare.log_map_origin(mean), found.x, atol=1e-6)


@given(seed=seeds, radius=st.sampled_from([3.0, 15.0, 25.0, 34.0]))
@settings(max_examples=50)
def test_far_points_have_a_mean(seed, radius):
    rng = np.random.default_rng(seed)
    d, n = rng.integers(1, 5), rng.integers(2, 9)
    X = points(seed, n, d, radius)
    mean = poincare.frechet_mean(X)
    distances = poincare.distance(mean, X)
    ends = [np.mean(poincare.distance(x, X) ** 2) for x in X]
    assert np.mean(distances**2) <= min(ends) * (1 + 1e-9)
    rounding = 2e-14 * np.exp(poincare.distance(mean, np.zeros(d)))
    assert gradient_length(mean, X, np.ones(n)) <= 1e-7 * distances.mean() + rounding


def test_an_outlier_at_the_rim_pulls_by_its_distance_alone():
    X = np.vstack([np.zeros((99, 2)), poincare.exp_map_origin([[30.0, 0.0]])])
    mean = poincare.log_map_origin(poincare.frechet_mean(X))
    assert_allclose(mean, [0.3, 0], atol=1e-5)


def test_near_the_origin_it_is_the_mean():
    X = 1e-7 * np.random.default_rng(0).normal(size=(20, 4))
    for mean in (poincare.frechet_mean(X), poincare.midpoint(X)):
        assert_allclose(mean, X.mean(axis=0), rtol=1e-9, atol=1e-20)


@given(seed=seeds, curvature=st.sampled_from([-1.0, -0.3, -5.0]))
@settings(max_examples=40)
def test_two_points_have_their_middle(seed, curvature):
    X = points(seed, 2, 3, 3.0, curvature)
    middle = poincare.geodesic(*X, 0.5, curvature=curvature)
    for mean in (poincare.frechet_mean, poincare.midpoint):
        assert_allclose(mean(X, curvature=curvature), middle, atol=1e-10)


@given(seed=seeds)
def test_the_midpoint_is_that_of_klein(seed):
    X = points(seed, 6, 3, 3.0)
    weights = np.random.default_rng(seed).exponential(size=6)
    K = 2 * X / (1 + np.sum(X**2, axis=1, keepdims=True))
    gamma = weights / np.sqrt(1 - np.sum(K**2, axis=1))
    k = gamma @ K / gamma.sum()
    expected = k / (1 + np.sqrt(1 - k @ k))
    assert_allclose(poincare.midpoint(X, weights), expected, atol=1e-10)
    there = hyperboloid.midpoint(poincare.to_hyperboloid(X), weights)
    assert_allclose(hyperboloid.to_ball(there), expected, atol=1e-10)


@given(seed=seeds, radius=st.sampled_from([1.0, 10.0, 15.0]))
@settings(max_examples=30)
def test_means_move_with_the_points(seed, radius):
    X = points(seed, 6, 3, 2.0)
    a = poincare.exp_map_origin([0.0, radius, 0.0])
    moved = poincare.mobius_add(a, X)
    for mean in (poincare.frechet_mean, poincare.midpoint):
        gap = poincare.distance(mean(moved), poincare.mobius_add(a, mean(X)))
        assert gap <= 1e-13 * np.exp(radius + 2)


@pytest.mark.parametrize("radius", [0.0, 1.0, 20.0, 30.0])
def test_copies_have_themselves_as_mean(radius):
    x = poincare.exp_map_origin([0.6 * radius, 0.8 * radius])
    X = np.tile(x, (3, 1))
    for mean in (poincare.frechet_mean, poincare.midpoint):
        assert poincare.distance(mean(X), x) <= 1e-15 * np.exp(radius)


@given(seed=seeds)
@settings(max_examples=40)
def test_weights_are_repetitions(seed):
    X = points(seed, 6, 3, 3.0)
    weights = np.random.default_rng(seed).integers(0, 4, size=6)
    weights[0] = 2
    for mean in (poincare.frechet_mean, poincare.midpoint):
        repeated = mean(np.repeat(X, weights, axis=0))
        assert_allclose(mean(X, weights), repeated, atol=1e-10)


def test_absent_rows_may_be_anywhere():
    X = np.array([[0.5, 0.0], [3.0, 0.0]])
    assert_array_equal(poincare.frechet_mean(X, [1.0, 0.0]).round(12), [0.5, 0])


@pytest.mark.parametrize("mean", [poincare.frechet_mean, poincare.midpoint])
def test_rows_outside_and_wrong_weights_are_refused(mean):
    X = np.array([[0.5, 0.0], [0.0, 1.5]])
    with pytest.raises(
        ValueError, match=r"row 1, of norm 1\.5\. Pass poincare\.project"
    ):
        mean(X)
    with pytest.raises(ValueError, match=r"radius 0\.5: row 0, of norm 0\.5"):
        mean(X, curvature=-4.0)
    with pytest.raises(ValueError, match="Pass sample_weight=None"):
        mean(X[:1], [-1.0])
