"""The loss of the embedding against a loop, and its gradient against differences."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from skrep.geometry import poincare
from skrep.hyperbolic._pair_loss import softmax_loss


def make_batch(seed=0, n_nodes=9, n_pairs=6, n_negatives=4):
    rng = np.random.default_rng(seed)
    points = rng.uniform(-0.5, 0.5, size=(n_nodes, 3))
    nodes = rng.integers(n_nodes, size=n_pairs)
    candidates = (nodes + rng.integers(1, n_nodes, size=(1 + n_negatives, n_pairs))) % (
        n_nodes
    )
    barred = rng.uniform(size=(n_negatives, n_pairs)) < 0.3
    return points, nodes, candidates, barred, rng.uniform(0.5, 2, n_pairs)


def naive_loss(points, nodes, candidates, barred, weights, distance):
    total = 0.0
    for pair, (u, weight) in enumerate(zip(nodes, weights, strict=True)):
        allowed = [candidates[0, pair], *candidates[1:, pair][~barred[:, pair]]]
        terms = [np.exp(-distance(points[u], points[v])) for v in allowed]
        total -= weight * np.log(terms[0] / sum(terms))
    return total


DISTANCES = {
    "poincare": poincare.distance,
    "euclidean": lambda x, y: np.linalg.norm(x - y),
}


@pytest.mark.parametrize("model", DISTANCES)
@pytest.mark.parametrize("seed", range(3))
def test_loss_and_gradient(model, seed):
    points, *rest = make_batch(seed)

    def naive(flat):
        return naive_loss(flat.reshape(points.shape), *rest, DISTANCES[model])

    before = points.copy()
    loss, gradient = softmax_loss(points, *rest, model=model)
    assert loss == pytest.approx(naive(points.ravel()), rel=1e-12)
    expected = approx_fprime(points.ravel(), naive, 1e-7)
    np.testing.assert_allclose(gradient.ravel(), expected, atol=1e-5)
    np.testing.assert_array_equal(points, before)


@pytest.mark.parametrize("model", DISTANCES)
def test_equal_points_give_finite_gradients(model):
    points, nodes, candidates, barred, weights = make_batch()
    points[:] = points[0]
    loss, gradient = softmax_loss(
        points, nodes, candidates, barred, weights, model=model
    )
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()


def test_float32_stays():
    points, nodes, candidates, barred, weights = make_batch()
    exact = softmax_loss(points, nodes, candidates, barred, weights, model="poincare")
    _, gradient = softmax_loss(
        points.astype(np.float32),
        nodes,
        candidates,
        barred,
        weights.astype(np.float32),
        model="poincare",
    )
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, exact[1], atol=1e-4)


def test_far_euclidean_points_give_finite_losses():
    points, nodes, candidates, barred, weights = make_batch()
    loss, gradient = softmax_loss(
        points * 1e4, nodes, candidates, barred, weights, model="euclidean"
    )
    assert np.isfinite(loss)
    assert np.isfinite(gradient).all()
