"""Gauss-Newton steps on directions, against hat matrices and joint least squares."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.datasets import make_index_model
from skrep.index_model import _polish
from skrep.index_model._agop import Regression, standardized_targets
from skrep.index_model._polish import (
    direct_rotation,
    far_points,
    fit_link,
    polish,
    polished,
    tilt,
)
from skrep.linalg import Moments, whitening
from skrep.metrics import subspace_distance
from tests.strategies import seeds


def problem(links="cubic", n=300, d=5, seed=0, n_columns=None):
    """Rows, responses, the true directions among whitened rows, and the whitening."""
    X, y, components = make_index_model(n, d, links=links, random_state=seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2, n)
    white = whitening(Moments.of(X, weights))
    y = standardized_targets(y.reshape(n, -1), weights)
    parts = X, weights, white.mean, white.map, y, np.arange(2), "laplace", 1.0, 1.0
    truth = np.linalg.qr(white.inverse @ components.T)[0]
    return Regression(*parts), truth, white


def leaning(truth, angle=0.3, seed=0):
    noise = np.random.default_rng(seed).normal(size=truth.shape)
    noise -= truth @ (truth.T @ noise)
    return np.linalg.qr(truth + angle * noise / np.linalg.norm(noise))[0]


def features(link, indices):
    squares = ((indices[:, None] - link.centers) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * link.bandwidth**2)) @ link.basis


def test_the_score_of_a_link_is_generalized_cross_validation():
    regression, truth, white = problem("product")
    Z = (regression.X - white.mean) @ white.map
    y, w = regression.targets, regression.weights
    link = fit_link(Z @ truth, y, w)
    F = features(link, Z @ truth)
    assert_allclose(F.T @ (w[:, None] * F), np.diag(link.powers), atol=1e-7 * w.sum())
    hat = F @ np.linalg.inv(F.T @ (w[:, None] * F) + link.ridge * np.eye(F.shape[1]))
    hat = hat @ F.T * w
    residual = float(w @ ((y - hat @ y) ** 2).sum(axis=1))
    assert_allclose(
        link.score, residual * w.sum() / (w.sum() - np.trace(hat)) ** 2, rtol=1e-6
    )


@pytest.mark.parametrize("links", ["cubic", "product", ["sine", "even"]])
def test_a_step_is_joint_least_squares_in_link_and_tilt(links):
    regression, truth, white = problem(links)
    start = leaning(truth)
    Z = (regression.X - white.mean) @ white.map
    y, w = regression.targets, regression.weights
    n_targets, r = y.shape[1], start.shape[1]
    link = fit_link(Z @ start, y, w)
    F = features(link, Z @ start)
    roots, size = np.sqrt(w)[:, None], F.shape[1]
    fit = np.linalg.solve(
        F.T @ (w[:, None] * F) + link.ridge * np.eye(size), F.T @ (w[:, None] * y)
    )
    step = 1e-5
    beside = scipy.linalg.null_space(start.T)
    rows, sides = [], []
    for c in range(n_targets):
        change = []
        for k in range(r):
            shift = step * np.eye(r)[k]
            upper = features(link, Z @ start + shift) @ fit[:, c]
            lower = features(link, Z @ start - shift) @ fit[:, c]
            change.append(((upper - lower) / (2 * step))[:, None] * (Z @ beside))
        blocks = [np.zeros((len(y), size))] * n_targets
        blocks[c] = F
        rows.append(np.hstack([*blocks, *change]) * roots)
        sides.append(y[:, c] * roots[:, 0])
    A, b = np.vstack(rows), np.concatenate(sides)
    n_unknowns = r * beside.shape[1]
    ridge = np.full(A.shape[1], link.ridge)
    ridge[-n_unknowns:] = 10 * len(start) * link.score / n_targets
    solution = np.linalg.solve(A.T @ A + np.diag(ridge), A.T @ b)[-n_unknowns:]
    expected = start + beside @ solution.reshape(r, -1).T
    found = tilt(regression, start, link)
    assert_allclose(found.T @ found, np.eye(r), atol=1e-12)
    assert subspace_distance(found.T, expected.T) < 1e-5
    assert subspace_distance(start.T, expected.T) > 0.05


@pytest.mark.parametrize("links", ["linear", "cubic", "even", "product", "ratio"])
def test_steps_come_nearer_to_the_truth(links):
    regression, truth, white = problem(links, n=1000)
    start = leaning(truth)
    found = polish(regression, start)
    before = subspace_distance(start.T, truth.T)
    assert subspace_distance(found.T, truth.T) < before / 3
    Z = (regression.X - white.mean) @ white.map
    scores = [
        fit_link(Z @ V, regression.targets, regression.weights).score
        for V in (start, found)
    ]
    assert scores[1] < scores[0]


def test_a_step_that_does_not_help_is_not_kept(monkeypatch):
    regression, truth, _ = problem()
    monkeypatch.setattr(_polish, "tilt", lambda *_: leaning(truth, 1.0))
    assert_array_equal(polish(regression, truth), truth)


def test_too_many_unknowns_and_full_width_are_left_alone(monkeypatch):
    regression, truth, _ = problem()
    whole = np.eye(len(truth))
    assert polish(regression, whole) is whole
    monkeypatch.setattr(_polish, "_MAX_UNKNOWNS", 3)
    assert polish(regression, truth) is truth


def test_blocks_change_nothing(monkeypatch):
    regression, truth, _ = problem("product")
    whole = polish(regression, leaning(truth))
    monkeypatch.setattr(_polish, "_BLOCK_BYTES", 10_000)
    monkeypatch.setattr("skrep.index_model._agop._BLOCK_BYTES", 10_000)
    assert_allclose(polish(regression, leaning(truth)), whole, atol=1e-8)


def test_polishing_keeps_eigenvalues_and_leaves_weak_directions():
    regression, truth, white = problem("cubic", n=1000)
    V = scipy.linalg.qr(leaning(truth))[0]
    values = np.array([1.0, 0.5, 0.009, 0.004, 0.001])
    G = (V * values) @ V.T
    found = polished(regression, white, white, G, 1)
    assert_allclose(np.linalg.eigvalsh(found), np.sort(values), atol=1e-12)
    leading = np.linalg.eigh(found)[1][:, -1:]
    assert subspace_distance(leading.T, truth.T) < 0.1
    flat = (V * [1.0, 0.009, 0.009, 0.009, 0.009]) @ V.T
    one = polished(regression, white, white, flat, 1)
    assert_allclose(polished(regression, white, white, flat, 3), one, atol=1e-9)


@given(seed=seeds, r=st.integers(1, 3))
def test_the_direct_rotation_takes_one_span_to_the_other(seed, r):
    rng = np.random.default_rng(seed)
    before, after = (np.linalg.qr(rng.normal(size=(7, r)))[0] for _ in range(2))
    R = direct_rotation(before, after)
    assert_allclose(R @ R.T, np.eye(7), atol=1e-9)
    assert subspace_distance((R @ before).T, after.T) < 1e-6
    outside = scipy.linalg.null_space(np.hstack([before, after]).T)
    assert_allclose(R @ outside, outside, atol=1e-9)


def test_far_points_include_the_farthest_and_never_repeat():
    rng = np.random.default_rng(0)
    points = rng.standard_t(2, size=(100, 2))
    chosen = far_points(points, 10)
    assert chosen[0] == np.argmax(np.linalg.norm(points, axis=1))
    gaps = np.linalg.norm(points[:, None] - points[chosen[:-1]], axis=2).min(axis=1)
    assert chosen[-1] == np.argmax(np.minimum(gaps, np.linalg.norm(points, axis=1)))
    assert len(far_points(np.ones((5, 2)), 4)) == 1
