"""The denoising form: without a response, and as a score model."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from numpy.testing import assert_allclose
from sklearn.decomposition import PCA

from skrep.index_model import _denoising
from skrep.index_model._denoising import (
    denoising_matrix,
    denoising_scores,
    gaussian_denoising_matrix,
    noise_variance,
)
from skrep.index_model._mixture_fit import Mixture, fit_mixture, responsibilities
from skrep.linalg import Moments, whitening
from tests.strategies import seeds


def clusters(n=400, d=4, seed=0, gap=4.0):
    rng = np.random.default_rng(seed)
    centers = gap * rng.normal(size=(3, d)) / np.sqrt(d)
    noise = rng.normal(size=(n, d)) * np.linspace(0.5, 1.5, d)
    return 7 + centers[rng.integers(3, size=n)] + noise


def matrix(X, weights=None, order=2, seed=0, variance=None):
    weights = np.ones(len(X)) if weights is None else weights
    moments = Moments.of(X, weights)
    if variance is None:
        variance = noise_variance(moments.covariance)
    white = whitening(moments)
    return denoising_matrix(X, weights, white, seed, variance=variance, order=order)


# --- without a response ----------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2])
@pytest.mark.parametrize("scale", [0.1, 2.0])
def test_gaussian_rows_give_principal_axes(order, scale):
    X = np.random.default_rng(0).normal(size=(300, 5)) @ np.diag([3, 2, 1, 0.5, 0.1])
    S = np.cov(X.T, bias=True)
    variance = noise_variance(S, scale)
    assert_allclose(variance, scale**2 * np.trace(S) / 5)
    filtered = S @ np.linalg.inv(S + variance * np.eye(5))
    expected = np.linalg.matrix_power(filtered, order)
    assert_allclose(gaussian_denoising_matrix(S, variance, order), expected, atol=1e-12)
    assert_allclose(matrix(X, order=order, variance=variance), expected, atol=1e-10)
    axes = np.linalg.eigh(expected)[1][:, ::-1]
    cosines = np.abs(np.sum(axes.T * PCA().fit(X).components_, axis=1))
    assert_allclose(cosines, 1)


@pytest.mark.parametrize("order", [1, 2])
def test_the_matrix_is_that_of_gradients_of_the_denoiser(order):
    X = clusters(n=300, d=3, gap=5)
    variance, rows = 1.5, X - X.mean(axis=0)
    white = whitening(Moments.of(X))
    draws = np.random.RandomState(0)
    means, shares, Q = _denoising._raw_mixture(rows, np.ones(300), white, draws)
    assert len(shares) > 1
    noised = Mixture(shares, means, np.stack([Q + variance * np.eye(3)] * len(shares)))
    gain = Q @ np.linalg.inv(noised.covariances[0])

    def denoised(x):
        posterior, _ = responsibilities(noised, x)
        guesses = [m + (x - m) @ gain.T for m in means]
        return np.einsum("nk,knd->nd", posterior, np.array(guesses))

    rng = np.random.default_rng(0)
    noisy = np.tile(rows, (40, 1)) + np.sqrt(variance) * rng.normal(size=(12_000, 3))
    steps = 1e-5 * np.eye(3)
    slopes = [(denoised(noisy + e) - denoised(noisy - e)) / 2e-5 for e in steps]
    D = np.stack(slopes, axis=2)
    assert_allclose(D, D.transpose(0, 2, 1), atol=1e-6)
    expected = D.mean(axis=0) if order == 1 else np.einsum("nij,nkj->ik", D, D) / len(D)
    assert_allclose(matrix(X, order=order, variance=variance), expected, atol=0.01)
    if order == 1:
        score = (noisy - denoised(noisy)) / variance
        information = np.eye(3) - variance * score.T @ score / len(score)
        assert_allclose(matrix(X, order=1, variance=variance), information, atol=0.03)


def test_a_single_draw_is_exact_given_the_noise(monkeypatch):
    """Without noise in the posterior, sums over components are sums over rows."""
    X = clusters(n=60, d=3)
    monkeypatch.setattr(
        _denoising,
        "_by_length",
        lambda rows, _, width, __: np.zeros((len(rows), width)),
    )
    variance, rows = 1.0, X - X.mean(axis=0)
    white = whitening(Moments.of(X))
    draws = np.random.RandomState(0)
    means, shares, Q = _denoising._raw_mixture(rows, np.ones(60), white, draws)
    K = len(shares)
    P = np.linalg.inv(Q + variance * np.eye(3))
    posterior, _ = responsibilities(
        Mixture(shares, means, np.stack([Q + variance * np.eye(3)] * K)), rows
    )
    expected = np.zeros((3, 3))
    for p in posterior:
        U = (0 - means) @ P
        spread = (U.T * p) @ U - np.outer(p @ U, p @ U)
        D = np.eye(3) - variance * P + variance * spread
        expected += D @ D / 60
    assert_allclose(matrix(X, variance=variance), expected, atol=1e-10)


@pytest.mark.parametrize("order", [1, 2])
@given(seed=seeds)
@settings(max_examples=6)
def test_laws_of_the_matrix(order, seed):
    rng = np.random.default_rng(seed)
    X = clusters(n=80, d=3, seed=seed)
    weights = rng.integers(0, 4, size=80).astype(float)
    M = matrix(X, weights, order)
    values = np.linalg.eigvalsh(M)
    assert values[0] > 0
    repeats = rng.permutation(np.repeat(np.arange(80), weights.astype(int)))
    assert_allclose(matrix(X[repeats], None, order), M, atol=1e-6)
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    assert_allclose(matrix(X @ Q + 3, weights, order), Q.T @ M @ Q, atol=1e-6)


def test_units_of_all_columns_change_nothing_and_units_of_one_do():
    X = clusters()
    M = matrix(X)
    assert_allclose(matrix(1e3 * X), M, atol=1e-6)
    axes = [np.linalg.eigh(one)[1][:, -1] for one in (M, matrix(X * [1, 1, 1, 5]))]
    axes[1] /= [1, 1, 1, 5]
    assert abs(axes[0] @ axes[1]) / np.linalg.norm(axes[1]) < 0.99


def test_constant_and_dependent_columns():
    X = clusters(d=3)
    wide = np.column_stack([X, np.full(len(X), 4.0)])
    assert_allclose(matrix(wide)[:3, :3], matrix(X), atol=1e-9)
    assert np.all(matrix(wide)[3] == 0)
    turned = X @ scipy.linalg.qr(np.random.default_rng(0).normal(size=(5, 3)))[0][:3]
    values = np.linalg.eigvalsh(matrix(turned, variance=2.0))
    assert_allclose(values[:2], 0, atol=1e-9)
    assert_allclose(values[2:], np.linalg.eigvalsh(matrix(X, variance=2.0)), atol=1e-3)


# --- as a score model ------------------------------------------------------------


def white_rows(seed=0, n=400, gap=4.0):
    X = clusters(n=n, d=3, seed=seed, gap=gap)
    white = whitening(Moments.of(X))
    return (X - white.mean) @ white.map


def test_scores_are_those_of_the_noised_density():
    Z = white_rows(n=3000)
    scale = 0.7
    model = denoising_scores(Z, np.ones(3000), 0, scale)
    fitted = fit_mixture(Z, np.ones(3000), 0).mixture
    inner = model.inner.mixture
    assert_allclose(inner.covariances, fitted.covariances + scale**2 * np.eye(3))
    assert_allclose(model.inner.Z[:3000] + model.inner.Z[3000:], 2 * Z)
    noise = model.inner.Z[:3000] - Z
    assert_allclose(noise.T @ noise / 3000, scale**2 * np.eye(3), atol=0.05)
    G = Z - Z.mean(axis=0)
    gradient = np.eye(3) - scale**2 * model.metric @ model.metric
    assert_allclose(model.first(G), gradient, atol=0.04)


def test_scores_average_the_copies():
    Z = white_rows()
    model = denoising_scores(Z, np.ones(400), 0)
    G = Z**2 - np.mean(Z**2, axis=0)
    assert_allclose(model.first(G), model.inner.first(np.concatenate([G, G])))
    assert_allclose(model.second(G), model.inner.second(np.concatenate([G, G])))
    assert_allclose(np.linalg.eigvalsh(model.metric)[0] ** 2, 0.8, atol=0.3)


@given(seed=seeds)
@settings(max_examples=8)
def test_repeated_rows_share_their_noise(seed):
    rng = np.random.default_rng(seed)
    Z = white_rows(seed, n=80)
    weights = rng.integers(0, 4, size=80).astype(float)
    Z = Z - weights @ Z / weights.sum()
    order = rng.permutation(np.repeat(np.arange(80), weights.astype(int)))
    G = Z**2 - weights @ Z**2 / weights.sum()
    one = denoising_scores(Z, weights, 0)
    other = denoising_scores(Z[order], np.ones(len(order)), 0)
    assert_allclose(other.first(G[order]), one.first(G), atol=1e-6)
    assert_allclose(other.second(G[order]), one.second(G), atol=1e-6)
