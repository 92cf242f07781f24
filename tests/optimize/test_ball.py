import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skrep.geometry import poincare
from skrep.optimize import ball_step, learning_rates


def draw_points(seed, dtype=np.float64, n_points=20, n_components=3):
    rng = np.random.default_rng(seed)
    tangent = rng.normal(size=(n_points, n_components))
    tangent *= rng.uniform(0, 8, n_points)[:, None] / np.linalg.norm(
        tangent, axis=1, keepdims=True
    )
    return poincare.exp_map_origin(tangent).astype(dtype), rng


@pytest.mark.parametrize("method", ["retraction", "exp"])
def test_step_against_a_loop(method):
    points, rng = draw_points(0)
    gradient = rng.normal(size=points.shape) * 10
    moved = ball_step(points, gradient, 0.3, clip=0.25, method=method)
    for x, g, result in zip(points, gradient, moved, strict=True):
        factor = 2 / (1 - x @ x)
        step = -0.3 * g / factor**2
        step *= min(1, 0.25 / (factor * np.linalg.norm(step)))
        expected = x + step if method == "retraction" else poincare.exp_map(x, step)
        np.testing.assert_allclose(result, expected, rtol=1e-9)


@given(
    seed=st.integers(0, 1000),
    method=st.sampled_from(["retraction", "exp"]),
    rate=st.floats(1e-3, 1e6),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_clipped_steps_stay_inside(seed, method, rate, dtype):
    points, rng = draw_points(seed, dtype)
    gradient = rng.normal(size=points.shape).astype(dtype)
    moved = ball_step(points, gradient, rate, clip=1.0, method=method)
    assert moved.dtype == dtype
    assert np.all(np.linalg.norm(moved, axis=1) < 1)


@given(seed=st.integers(0, 1000))
def test_exp_steps_are_no_longer_than_the_clip(seed):
    points, rng = draw_points(seed)
    gradient = rng.normal(size=points.shape) * 1e3
    moved = ball_step(points, gradient, 1.0, clip=0.25, method="exp")
    assert poincare.distance(points, moved).max() < 0.25 + 1e-6


def test_points_are_brought_back_to_the_largest_radius():
    points, _ = draw_points(1)
    moved = ball_step(points, -1e9 * points, 1.0, clip=1.0, max_radius=4.0)
    radii = poincare.distance(moved, np.zeros(3))
    assert radii.max() == pytest.approx(4, rel=1e-12)
    before = poincare.distance(points, np.zeros(3))
    assert (radii[before < 3] > before[before < 3]).all()


def test_no_gradient_moves_nothing():
    points, _ = draw_points(2)
    still = ball_step(points, np.zeros_like(points), 1.0)
    np.testing.assert_array_equal(still, points)
    assert still is not points


def test_rates():
    rates = learning_rates(2.0, 12, burn_in=2)
    np.testing.assert_allclose(rates[:3], [0.2, 0.2, 2.0])
    np.testing.assert_allclose(np.diff(rates[2:]), np.diff(rates[2:])[0])
    assert rates[-1] == pytest.approx(0.1)
    np.testing.assert_allclose(learning_rates(1.0, 3, burn_in=10), 0.1)
