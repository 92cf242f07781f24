"""Gradient steps in closed form, against a network that takes them."""

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import erf

from skrep.index_model._spikes import (
    MAX_ORDER,
    Sample,
    first_step,
    new_orders,
    second_step,
    spike_directions,
)
from skrep.index_model._step_activations import (
    ACTIVATIONS,
    activate,
    gaussian_slope,
    hermite,
)
from skrep.linalg import Moments, whitening
from skrep.metrics import subspace_distance
from tests.strategies import seeds

FUNCTIONS = {
    "relu": lambda t: t * (t > 0),
    "softplus": lambda t: np.log1p(np.exp(t)),
    "erf": erf,
    "tanh": np.tanh,
}
SLOPES = {
    "relu": lambda t: np.where(t > 0, 1.0, 0.0),
    "softplus": lambda t: 1 / (1 + np.exp(-t)),
    "erf": lambda t: 2 / np.sqrt(np.pi) * np.exp(-(t**2)),
    "tanh": lambda t: 1 - np.tanh(t) ** 2,
}
# Largest share of a gradient that the closed form may miss: terms of degree two.
MISSED = {"relu": 0.1, "softplus": 0.05, "erf": 0.22, "tanh": 0.2}

every_activation = pytest.mark.parametrize("activation", sorted(ACTIVATIONS))


def gradient(Z, Y, W, A, slope):
    """Descent direction of squared error of a network whose output counts as 0."""
    return Z.T @ ((Y @ A) * slope(Z @ W)) / len(Z)


def staircase_rows(n=20_000, d=20, q=1, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    u = X[:, :3].T
    Y = np.stack([u[0] + u[0] * u[1], u[1] + u[2] ** 2, u[2] + u[0] ** 3 / 3])[:q].T
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    white = whitening(Moments.of(X))
    sample = Sample(X, np.full(n, 1 / n), Y, white)
    return sample, (X - white.mean) @ white.map, rng


def network(rng, k, n_neurons, q):
    W = rng.standard_normal((k, n_neurons)) / np.sqrt(k)
    return W, rng.standard_normal((q, n_neurons)) / np.sqrt(n_neurons)


def missed(found, expected, start):
    return np.linalg.norm(found - expected) / np.linalg.norm(expected - start)


# --- the literal network ---------------------------------------------------------


@every_activation
def test_the_gradient_that_is_compared_with_is_one(activation):
    rng = np.random.default_rng(0)
    Z, Y = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    W, A = network(rng, 3, 4, 2)

    def gain(W):
        outputs = FUNCTIONS[activation](Z @ W) @ A.T
        return np.sum(Y * outputs) / len(Z)

    numeric = np.zeros_like(W)
    for index in np.ndindex(W.shape):
        bump = np.zeros_like(W)
        bump[index] = 1e-6
        numeric[index] = (gain(W + bump) - gain(W - bump)) / 2e-6
    assert_allclose(gradient(Z, Y, W, A, SLOPES[activation]), numeric, atol=1e-7)


@every_activation
@pytest.mark.parametrize("q", [1, 3])
@pytest.mark.parametrize("size", [0.3, 1, 4])
def test_steps_are_those_of_a_network(activation, q, size):
    sample, Z, rng = staircase_rows(q=q)
    W, A = network(rng, Z.shape[1], 200, q)
    rate, slope = size * np.sqrt(200), SLOPES[activation]
    first = first_step(sample, W, A, activation, rate)
    one = W + rate * gradient(Z, sample.Y, W, A, slope)
    assert missed(first.weights, one, W) < MISSED[activation]
    orders = new_orders(activation, rate, 200)
    second = second_step(sample, first, A, activation, rate, orders)
    two = one + rate * gradient(Z, sample.Y, one, A, slope)
    assert missed(second.weights, two, W) < 1.3 * MISSED[activation]
    values = [np.linalg.svd(V, compute_uv=False)[:q] for V in (second.weights, two)]
    assert_allclose(*values, rtol=MISSED[activation])


@pytest.mark.parametrize("activation", ["relu", "softplus"])
def test_what_is_even_in_the_rows_is_in_the_term_of_second_moments(activation):
    sample, Z, rng = staircase_rows()
    W, A = network(rng, Z.shape[1], 200, 1)
    slope = gaussian_slope(activation, 0, np.ones(1))
    step = first_step(sample, W, A, activation, 1.0)
    literal = W + gradient(Z, sample.Y, W, A, SLOPES[activation])
    spike_alone = W + slope * step.spikes[0] @ A
    assert missed(spike_alone, literal, W) > 3 * missed(step.weights, literal, W)
    A_naive = Z.T @ (Z * sample.Y) / len(Z)
    assert_allclose(step.bulk, A_naive @ W * A, atol=1e-12)
    assert_allclose(step.spikes[0], Z.T @ sample.Y / len(Z), atol=1e-12)


def test_second_moments_turn_less_where_a_neuron_has_moved():
    sample, _, rng = staircase_rows(n=400, d=6)
    W, A = network(rng, 6, 9, 1)
    first = first_step(sample, W, A, "relu", 20.0)
    second = second_step(sample, first, A, "relu", 20.0, ())
    B = first.spikes[0]
    moved = 20 * 0.5 * np.linalg.norm(B) * A[0]
    bend = 1 / np.sqrt(2 * np.pi * (1 + moved**2))
    expected = 20 * (0.5 * B @ A + bend * first.bulk)
    assert_allclose(second.weights - first.weights, expected)


@given(seed=seeds, rate=st.floats(0.1, 100))
@settings(max_examples=10)
def test_one_response_is_the_case_of_several_with_one_that_is_not_read(seed, rate):
    sample, _, rng = staircase_rows(n=300, d=4, seed=seed)
    W, A = network(rng, 4, 10, 1)
    wider = sample._replace(Y=np.hstack([sample.Y, rng.standard_normal((300, 1))]))
    weights = []
    for one, readout in ((sample, A), (wider, np.vstack([A, np.zeros(10)]))):
        first = first_step(one, W, readout, "relu", rate)
        second = second_step(one, first, readout, "relu", rate, (1, 3))
        weights.append(second.weights)
    assert_allclose(*weights, rtol=1e-9, atol=1e-9)


def test_shares_weigh_the_rows():
    sample, _, rng = staircase_rows(n=40, d=3, q=2)
    counts = rng.integers(1, 4, 40)
    W, A = network(rng, 3, 8, 2)
    repeated = Sample(
        np.repeat(sample.X, counts, axis=0),
        np.full(counts.sum(), 1 / counts.sum()),
        np.repeat(sample.Y, counts, axis=0),
        sample.white,
    )
    weights = []
    for one in (sample._replace(shares=counts / counts.sum()), repeated):
        first = first_step(one, W, A, "softplus", 9.0)
        weights.append(second_step(one, first, A, "softplus", 9.0, (1, 3)).weights)
    assert_allclose(*weights, rtol=1e-9, atol=1e-12)


def test_covariance_is_that_of_many_networks():
    sample, _, rng = staircase_rows(n=500, d=4, q=2)
    n_neurons = 200_000
    W, A = network(rng, 4, n_neurons, 2)
    step = first_step(sample, W, A, "relu", 4 * np.sqrt(n_neurons))
    measured = 4 * step.weights @ step.weights.T / n_neurons
    assert_allclose(step.covariance, measured, atol=0.05 * np.abs(measured).max())
    odd = first_step(sample, W, A, "erf", 4 * np.sqrt(n_neurons))
    B, c = odd.spikes[0], gaussian_slope("erf", 0, np.ones(1))
    assert_allclose(odd.covariance, np.eye(4) + 16 * 4 * c**2 * B @ B.T)
    assert not odd.bulk.any()


# --- slopes and activations ------------------------------------------------------


@every_activation
@pytest.mark.parametrize("k", range(5))
def test_slopes_are_integrals(activation, k):
    spreads = np.array([1.0, 1.7, 6.0, 40.0])
    found = gaussian_slope(activation, k, spreads)
    for r, value in zip(spreads, found, strict=True):
        expected = sum(
            quad(
                lambda z, r=r: (
                    SLOPES[activation](np.clip(r * z, -300, 300))
                    * hermite(k, z)
                    * np.exp(-(z**2) / 2)
                ),
                *ends,
                points=(0.1 * ends[0] + 1e-9, 0.1 * ends[1] + 1e-9),
                limit=200,
            )[0]
            for ends in ((-10, 0), (0, 10))
        ) / np.sqrt(2 * np.pi)
        assert_allclose(value, expected, atol=1e-8)


@every_activation
def test_activations_work_in_place(activation):
    H = np.linspace(-4, 4, 9, dtype=np.float32)[None]
    expected = FUNCTIONS[activation](H.astype(float))
    out = activate(activation, H)
    assert out is H
    assert out.dtype == np.float32
    assert_allclose(out, expected, rtol=1e-5, atol=1e-6)


# --- how many directions ---------------------------------------------------------


@pytest.mark.parametrize(
    ("exponent", "last"),
    [(-1, 0), (0, 0), (0.2, 0), (0.25, 1), (0.3, 1), (1 / 3, 2), (0.375, 3), (0.6, 3)],
)
def test_orders_follow_the_exponent(exponent, last):
    n = 10_000
    absent = {"relu": {2}, "softplus": {2}, "erf": {1, 3}, "tanh": {1, 3}}
    for activation, none in absent.items():
        expected = tuple(m for m in range(1, last + 1) if m not in none)
        assert new_orders(activation, n**exponent, n) == expected


def test_orders_at_the_ends():
    assert new_orders("relu", 0.0, 100) == ()
    assert new_orders("relu", 1.0, 1) == (1, 3)
    assert new_orders("relu", 10.0, 100) == (1, 3)
    assert MAX_ORDER == 3


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_directions_are_those_of_powers_of_the_first_index(activation):
    sample, Z, rng = staircase_rows(n=2000, d=10)
    W, A = network(rng, 10, 50, 1)
    first = first_step(sample, W, A, activation, 30.0)
    orders = new_orders(activation, 30.0, 50)
    second = second_step(sample, first, A, activation, 30.0, orders)
    found = spike_directions(second.spikes, 10)
    y = sample.Y[:, 0]
    index = Z @ (Z.T @ y)
    powers = np.stack([Z.T @ (y * index**m) for m in (0, *orders)])
    assert found.shape == (10, 1 + len(orders))
    assert_allclose(found.T @ found, np.eye(1 + len(orders)), atol=1e-12)
    for k in range(1, 2 + len(orders)):
        assert subspace_distance(found.T[:k], powers[:k]) < 1e-8


@pytest.mark.parametrize("q", [1, 2, 3])
def test_several_responses_have_a_direction_for_each_product(q):
    sample, _, rng = staircase_rows(n=500, d=40, q=q)
    W, A = network(rng, 40, 80, q)
    first = first_step(sample, W, A, "relu", 30.0)
    second = second_step(sample, first, A, "relu", 30.0, (1, 3))
    expected = q + comb(q + 1, 2) + comb(q + 3, 4)
    assert spike_directions(second.spikes, 40).shape == (40, expected)


def test_terms_that_are_zero_have_no_direction():
    assert spike_directions((np.zeros((4, 2)),), 4).shape == (4, 0)
    assert spike_directions((), 4).shape == (4, 0)
    again = np.eye(4)[:, :1]
    assert_array_equal(np.abs(spike_directions((again, -2 * again), 4)), again)


def test_a_staircase_is_climbed():
    sample, _, rng = staircase_rows(n=20_000, d=20)
    W, A = network(rng, 20, 1000, 1)
    edge = np.sqrt(1000 / 20) + 1
    first = first_step(sample, W, A, "erf", 4 * np.sqrt(1000))
    assert np.sum(np.linalg.svd(first.weights)[1] > 1.1 * edge) == 1
    rate = 2 * np.sqrt(1000)
    second = second_step(
        sample, first_step(sample, W, A, "relu", rate), A, "relu", rate, (1, 3)
    )
    left, values, _ = np.linalg.svd(second.weights)
    assert np.sum(values > 1.1 * edge) == 2
    assert subspace_distance(left[:, :2].T, sample.white.inverse[:, :2].T) < 0.1
