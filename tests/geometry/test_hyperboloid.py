"""The hyperboloid: values of more digits, laws, and agreement with the ball."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.geometry import hyperboloid, poincare
from tests.geometry.test_poincare import dot, exact, exact_pair, points
from tests.strategies import seeds


def lifted(seed, n=6, d=3, radius=3.0, curvature=-1.0):
    X = points(seed, n, d, radius, curvature)
    return poincare.to_hyperboloid(X, curvature=curvature)


def exact_distance(x, y):
    """The inverse hyperbolic cosine in fifty digits, from coordinates in space."""
    times = [mpmath.sqrt(1 + dot(v, v)) for v in (x, y)]
    return mpmath.acosh(times[0] * times[1] - dot(x, y))


@pytest.mark.parametrize(
    ("radius", "apart", "bar"),
    [(1.0, 1e-6, 3e-10), (10.0, 0.01, 3e-10), (20.0, 1.0, 1e-8), (30.0, 1.0, 1e-3)],
)
def test_distances_have_the_digits_that_coordinates_have(radius, apart, bar):
    rng = np.random.default_rng(0)
    errors = []
    with mpmath.workdps(60):
        for _ in range(40):
            pair = exact_pair(rng, radius, apart)
            x, y = (np.array([float(a) for a in point]) for point in pair)
            found = hyperboloid.distance(x, y)
            stored = exact_distance(exact(x[1:]), exact(y[1:]))
            gap = abs(float(found / stored) - 1)
            assert gap <= 1e-15 + 1e-16 * math.exp(radius)
            errors.append(abs(float(found / mpmath.mpf(apart) - 1)))
    assert np.median(errors) <= bar


def test_equal_points_are_at_zero_however_far():
    rng = np.random.default_rng(0)
    for radius in (0.0, 1.0, 20.0, 36.0, 300.0):
        y = hyperboloid.exp_map_origin(radius * rng.normal(size=(50, 3)) / 2)
        assert_array_equal(hyperboloid.distance(y, y), 0)
        assert_array_equal(np.diag(hyperboloid.pairwise_distances(y)), 0)


@pytest.mark.parametrize("radius", [1e-8, 1.0, 20.0, 100.0])
def test_radial_distances_keep_their_digits(radius):
    u = np.array([0.0, 0.0, 1.0])
    x, y = (hyperboloid.exp_map_origin(r * u) for r in (radius, 1.5 * radius))
    assert_allclose(hyperboloid.distance(x, y), radius / 2, rtol=1e-13)
    opposite = hyperboloid.exp_map_origin(-radius * u)
    assert_allclose(hyperboloid.distance(x, opposite), 2 * radius, rtol=1e-13)
    assert_allclose(hyperboloid.distance(x, [1.0, 0, 0, 0]), radius, rtol=1e-13)


@given(seed=seeds, radius=st.sampled_from([1e-3, 3.0, 12.0]))
def test_both_models_agree(seed, radius):
    X, Y = (points(seed + i, 6, 3, radius) for i in range(2))
    there = [poincare.to_hyperboloid(Z) for Z in (X, Y)]
    expected = poincare.pairwise_distances(X, Y)
    close = {"rtol": 1e-14 * math.exp(radius) + 1e-12}
    assert_allclose(hyperboloid.pairwise_distances(*there), expected, **close)
    each = hyperboloid.distance(there[0][:, None], there[1])
    assert_allclose(each, expected, **close)
    assert_array_equal(each, hyperboloid.distance(there[1], there[0][:, None]))
    square = hyperboloid.pairwise_distances(there[0])
    assert_array_equal(square, square.T)


@given(seed=seeds, radius=st.sampled_from([0.1, 3.0]))
def test_triangle_inequality_and_rotations(seed, radius):
    x, y, z = (lifted(seed + i, radius=radius) for i in range(3))
    whole = hyperboloid.distance(x, z)
    detour = hyperboloid.distance(x, y) + hyperboloid.distance(y, z)
    assert np.all(whole <= detour * (1 + 1e-9))
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))[0]
    turned = [np.c_[v[:, :1], v[:, 1:] @ turn] for v in (x, z)]
    assert_allclose(hyperboloid.distance(*turned), whole, rtol=1e-10)


@pytest.mark.parametrize("length", [1e-9, 1e-3, 0.1, 1.0, 5.0, 10.0, 17.0])
@pytest.mark.parametrize("base", [0.0, 0.2])
def test_the_logarithm_inverts_the_exponential(length, base):
    rng = np.random.default_rng(0)
    u = rng.normal(size=(50, 3))
    u *= length / np.linalg.norm(u, axis=1, keepdims=True)
    y = hyperboloid.exp_map_origin(u)
    assert_allclose(hyperboloid.log_map_origin(y), u, rtol=1e-13)
    x = hyperboloid.exp_map_origin([base, 0.0, 0.0])
    v = hyperboloid.log_map(x, y)
    d = hyperboloid.distance(x, y)
    assert_allclose(hyperboloid.inner(x, v) / d, 0, atol=1e-7)
    if length <= 10:
        assert_allclose(np.sqrt(hyperboloid.inner(v, v)), d, rtol=1e-9)
    back = hyperboloid.exp_map(x, v)
    assert np.max(hyperboloid.distance(back, y)) <= 1e-8
    assert_allclose(hyperboloid.inner(x, x), -1, rtol=1e-14)


def test_maps_agree_with_those_of_the_ball():
    x, y = points(0), points(1)
    there = [poincare.to_hyperboloid(z) for z in (x, y)]
    v = hyperboloid.log_map(*there)
    # The differential of the projection from the hyperboloid to the ball.
    shift = 1 + there[0][:, :1]
    carried = v[:, 1:] / shift - there[0][:, 1:] * v[:, :1] / shift**2
    assert_allclose(carried, poincare.log_map(x, y), atol=1e-12)
    half = hyperboloid.exp_map(there[0], v / 2)
    assert_allclose(hyperboloid.to_ball(half), poincare.geodesic(x, y, 0.5), atol=1e-12)


def test_nothing_leads_nowhere_and_long_vectors_stay_finite():
    x = lifted(0)
    assert_allclose(hyperboloid.exp_map(x, np.zeros(4)), x, rtol=1e-14)
    assert_array_equal(hyperboloid.log_map(x, x), 0)
    for dtype in (np.float32, np.float64):
        far = hyperboloid.exp_map_origin(np.array([0.0, 1e6], dtype))
        assert far.dtype == dtype
        assert np.isfinite(far).all()
        assert np.isfinite(far * far).all()
        assert np.isfinite(hyperboloid.exp_map(x, [0.0, 1e6, 0, 0])).all()


def test_the_time_like_coordinate_is_set_anew():
    x = lifted(0)
    broken = x + np.eye(4)[0]
    assert_allclose(hyperboloid.project(broken), x, rtol=1e-14)
    assert_array_equal(hyperboloid.distance(broken, x), 0)


@given(seed=seeds, curvature=st.sampled_from([-1.0, -0.3, -5.0]))
@settings(max_examples=20)
def test_the_gradient_is_that_of_steps_along_the_surface(seed, curvature):
    rng = np.random.default_rng(seed)
    x = lifted(seed, 1, 3, 1.0, curvature)[0]
    a = rng.normal(size=4)
    gradient = hyperboloid.riemannian_gradient(
        x, np.cos(a @ x) * a, curvature=curvature
    )
    assert_allclose(hyperboloid.inner(x, gradient), 0, atol=1e-12)
    w = hyperboloid.riemannian_gradient(x, rng.normal(size=4), curvature=curvature)
    step = 1e-6
    ahead, behind = (
        np.sin(a @ hyperboloid.exp_map(x, s * w, curvature=curvature))
        for s in (step, -step)
    )
    slope = (ahead - behind) / (2 * step)
    assert_allclose(hyperboloid.inner(gradient, w), slope, rtol=1e-6, atol=1e-6)


@given(seed=seeds, curvature=st.sampled_from([-0.25, -7.0]))
@settings(max_examples=40)
def test_curvature_is_a_unit_of_length(seed, curvature):
    root = math.sqrt(-curvature)
    given = {"curvature": curvature}
    x, y = lifted(seed), lifted(seed + 1)
    v = hyperboloid.log_map(x, y)
    close = {"rtol": 1e-9, "atol": 1e-11}
    for function in (hyperboloid.distance, hyperboloid.pairwise_distances):
        assert_allclose(
            function(x / root, y / root, **given), function(x, y) / root, **close
        )
    for function, parts in (
        (hyperboloid.exp_map, (x, v)),
        (hyperboloid.log_map, (x, y)),
        (hyperboloid.exp_map_origin, (v[:, 1:],)),
        (hyperboloid.log_map_origin, (x,)),
        (hyperboloid.project, (x,)),
        (hyperboloid.to_ball, (x,)),
        (hyperboloid.midpoint, (x,)),
    ):
        there = function(*(part / root for part in parts), **given)
        assert_allclose(there, function(*parts) / root, **close)


def test_types_and_inputs_stay():
    x, y = lifted(0).astype(np.float32), lifted(1).astype(np.float32)
    x.flags.writeable = False
    results = [
        hyperboloid.inner(x, y),
        hyperboloid.distance(x, y),
        hyperboloid.pairwise_distances(x, y),
        hyperboloid.exp_map(x, hyperboloid.log_map(x, y)),
        hyperboloid.log_map(x, y),
        hyperboloid.exp_map_origin(x),
        hyperboloid.log_map_origin(x),
        hyperboloid.project(x),
        hyperboloid.to_ball(x),
        hyperboloid.riemannian_gradient(x, y),
        hyperboloid.midpoint(x),
    ]
    assert {a.dtype for a in results} == {np.dtype(np.float32)}
