"""The Poincare ball: values of more digits, laws, and the edge of a type."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.geometry import hyperboloid, poincare
from tests.strategies import seeds

CURVATURES = st.sampled_from([-1.0, -0.25, -7.0])


def points(seed, n=6, d=3, radius=3.0, curvature=-1.0):
    """Points of directions at random, up to a distance from the origin."""
    rng = np.random.default_rng(seed)
    v = rng.normal(size=(n, d))
    v *= radius * rng.uniform(size=(n, 1)) / np.linalg.norm(v, axis=1, keepdims=True)
    return poincare.exp_map_origin(v, curvature=curvature)


def exact(values):
    return [mpmath.mpf(float(value)) for value in values]


def dot(x, y):
    return mpmath.fsum(a * b for a, b in zip(x, y, strict=True))


def exact_distance(x, y):
    """The formula of the distance in fifty digits."""
    change = [a - b for a, b in zip(x, y, strict=True)]
    z = dot(change, change) / ((1 - dot(x, x)) * (1 - dot(y, y)))
    return 2 * mpmath.asinh(mpmath.sqrt(z))


def exact_pair(rng, radius, apart, d=4):
    """Two points at a distance, one of them at a radius, on the hyperboloid."""
    u, w = (exact(rng.normal(size=d)) for _ in range(2))
    u, w = ([a / mpmath.sqrt(dot(v, v)) for a in v] for v in (u, w))
    along = dot(u, w)
    sinh, cosh = mpmath.sinh(radius), mpmath.cosh(radius)
    carried = [b + (cosh - 1) * along * a for a, b in zip(u, w, strict=True)]
    x = [cosh, *(sinh * a for a in u)]
    v = [sinh * along, *carried]
    step = mpmath.cosh(apart), mpmath.sinh(apart)
    return x, [step[0] * a + step[1] * b for a, b in zip(x, v, strict=True)]


def in_ball(x):
    return [a / (1 + x[0]) for a in x[1:]]


# --- values ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("radius", "apart", "bar"),
    [
        (1.0, 1e-6, 3e-10),
        (10.0, 0.01, 3e-10),
        (20.0, 1.0, 1e-8),
        (30.0, 1.0, 1e-3),
    ],
)
def test_distances_have_the_digits_that_coordinates_have(radius, apart, bar):
    rng = np.random.default_rng(0)
    errors = []
    with mpmath.workdps(50):
        for _ in range(40):
            pair = [in_ball(x) for x in exact_pair(rng, radius, apart)]
            x, y = (np.array([float(a) for a in point]) for point in pair)
            found = poincare.distance(x, y)
            stored = exact_distance(exact(x), exact(y))
            assert_allclose(float(found / stored), 1, rtol=0, atol=1e-15)
            errors.append(abs(float(found / mpmath.mpf(apart) - 1)))
    assert np.median(errors) <= bar
    assert max(errors) <= 10 * bar


def test_near_points_keep_their_digits_and_equal_ones_are_at_zero():
    x = np.array([0.5, 0.1])
    y = x + np.array([1e-9, 0])
    with mpmath.workdps(50):
        reference = float(exact_distance(exact(x), exact(y)))
    assert_allclose(poincare.distance(x, y), reference, rtol=1e-14)
    assert_allclose(reference, 2.7e-9, rtol=2e-3)
    far = poincare.exp_map_origin([[0.0, 20.0], [35.0, 3.0]])
    assert_array_equal(poincare.distance(far, far), 0)
    assert_array_equal(np.diag(poincare.pairwise_distances(far)), 0)


@given(seed=seeds, radius=st.sampled_from([0.01, 3.0, 15.0]))
@settings(max_examples=20)
def test_pairwise_distances_are_distances(seed, radius):
    X, Y = points(seed, 5, 4, radius), points(seed + 1, 7, 4, radius)
    found = poincare.pairwise_distances(X, Y)
    assert_allclose(found, poincare.distance(X[:, None], Y), rtol=1e-13)
    square = poincare.pairwise_distances(X)
    assert_array_equal(square, square.T)
    assert_array_equal(np.diag(square), 0)
    assert_allclose(square, poincare.pairwise_distances(X, X.copy()), rtol=1e-15)


def test_blocks_of_rows_change_nothing():
    X = points(0, n=700, d=2)
    found = poincare.pairwise_distances(X)
    picked = np.random.default_rng(0).choice(700, size=(50, 2))
    pairs = poincare.distance(X[picked[:, 0]], X[picked[:, 1]])
    assert_allclose(found[picked[:, 0], picked[:, 1]], pairs, rtol=1e-13)


@given(seed=seeds)
@settings(max_examples=20)
def test_addition_is_the_usual_quotient(seed):
    x, y = points(seed), points(seed + 1)
    xy, xx, yy = (
        np.sum(a * b, axis=1, keepdims=True) for a, b in [(x, y), (x, x), (y, y)]
    )
    expected = (1 + 2 * xy + yy) * x + (1 - xx) * y
    assert_allclose(
        poincare.mobius_add(x, y), expected / (1 + 2 * xy + xx * yy), atol=1e-12
    )


def test_in_the_plane_addition_is_that_of_complex_numbers():
    z, w = 0.3 + 0.4j, -0.6 + 0.1j
    total = (w + z) / (1 + z.conjugate() * w)
    found = poincare.mobius_add([z.real, z.imag], [w.real, w.imag])
    assert_allclose(found, [total.real, total.imag], rtol=1e-14)


def test_factors_and_radii():
    assert_allclose(poincare.conformal_factor([[0.0, 0.0], [0.6, 0.0]]), [2, 3.125])
    assert_allclose(poincare.max_radius(np.float64), 36.04, atol=0.01)
    assert_allclose(poincare.max_radius("float32"), 15.94, atol=0.01)
    assert_allclose(poincare.max_radius(np.float64, curvature=-4.0), 18.02, atol=0.01)


# --- laws ------------------------------------------------------------------------


@given(seed=seeds, radius=st.sampled_from([0.1, 3.0, 8.0]), d=st.integers(1, 5))
def test_a_metric(seed, radius, d):
    x, y, z = (points(seed + i, 8, d, radius) for i in range(3))
    assert_array_equal(poincare.distance(x, y), poincare.distance(y, x))
    whole = poincare.distance(x, z)
    detour = poincare.distance(x, y) + poincare.distance(y, z)
    assert np.all(whole <= detour * (1 + 1e-9))
    assert np.all(poincare.distance(x, y) > 0)


@given(seed=seeds, radius=st.sampled_from([0.1, 3.0]), d=st.integers(1, 5))
def test_translations_and_rotations_leave_distances(seed, radius, d):
    x, y, a = (points(seed + i, 8, d, radius) for i in range(3))
    expected = poincare.distance(x, y)
    moved = poincare.distance(
        poincare.mobius_add(a[:1], x), poincare.mobius_add(a[:1], y)
    )
    assert_allclose(moved, expected, rtol=1e-9, atol=1e-12)
    turn = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    assert_allclose(poincare.distance(x @ turn, y @ turn), expected, rtol=1e-10)


@given(seed=seeds)
@settings(max_examples=40)
def test_gyro_identities(seed):
    a, b, c = (points(seed + i, 5, 3, 2.0) for i in range(3))
    add = poincare.mobius_add

    def gyration(u):
        return add(-add(a, b), add(a, add(b, u)))

    close = {"atol": 1e-10}
    assert_allclose(add(-a, add(a, b)), b, **close)
    assert_allclose(add(a, add(b, c)), add(add(a, b), gyration(c)), **close)
    assert_allclose(add(a, b), gyration(add(b, a)), **close)
    assert_allclose(
        np.linalg.norm(gyration(c), axis=1), np.linalg.norm(c, axis=1), **close
    )
    assert_allclose(add(np.zeros(3), b), b, rtol=1e-15)
    assert_allclose(add(a, np.zeros(3)), a, rtol=1e-15)
    assert_allclose(add(-a, a), 0, **close)


@pytest.mark.parametrize("length", [1e-9, 1e-6, 1e-3, 0.1, 1.0, 5.0, 10.0, 17.0])
@pytest.mark.parametrize("base", [0.0, 0.2, 1.0])
def test_the_logarithm_inverts_the_exponential(length, base):
    rng = np.random.default_rng(0)
    u = rng.normal(size=(50, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    x = poincare.exp_map_origin([0.6 * base, 0.0, 0.8 * base])
    v = u * length / poincare.conformal_factor(x)
    y = poincare.exp_map(x, v)
    back = poincare.log_map(x, y)
    gap = np.linalg.norm(back - v, axis=1) * poincare.conformal_factor(x)
    assert gap.max() <= (1e-8 * length if base == 0 else 1e-8)
    assert_allclose(poincare.distance(x, y), length, atol=1e-8)
    assert_allclose(poincare.exp_map(x, back), y, atol=1e-14)
    origin = poincare.exp_map_origin(length * u)
    assert_allclose(poincare.log_map_origin(origin), length * u, rtol=1e-8, atol=1e-24)
    assert_allclose(poincare.distance(origin, np.zeros(3)), length, rtol=1e-9)


@given(seed=seeds)
@settings(max_examples=20)
def test_the_exponential_is_addition(seed):
    x, v = points(seed), points(seed + 1)
    length = np.linalg.norm(v, axis=1, keepdims=True)
    half = poincare.conformal_factor(x)[:, None] * length / 2
    expected = poincare.mobius_add(x, np.tanh(half) * v / length)
    assert_allclose(poincare.exp_map(x, v), expected, atol=1e-12)
    w = poincare.mobius_add(-x, expected)
    norm = np.linalg.norm(w, axis=1, keepdims=True)
    back = 2 / poincare.conformal_factor(x)[:, None] * np.arctanh(norm) * w / norm
    assert_allclose(poincare.log_map(x, expected), back, atol=1e-10)


def test_at_the_origin_normal_coordinates_are_twice_those_of_the_ball():
    v = np.random.default_rng(0).normal(size=(5, 3))
    x = poincare.exp_map_origin(v)
    assert_allclose(poincare.exp_map(np.zeros(3), v / 2), x, rtol=1e-14)
    assert_allclose(poincare.log_map(np.zeros(3), x), v / 2, rtol=1e-13)


def test_nothing_leads_nowhere():
    x = points(0)
    assert_allclose(poincare.exp_map(x, np.zeros(3)), x, rtol=1e-15)
    assert_array_equal(poincare.log_map(x, x), 0)
    assert_array_equal(poincare.log_map_origin(np.zeros(2)), 0)
    assert_array_equal(poincare.exp_map_origin(np.zeros(2)), 0)


@given(seed=seeds, radius=st.sampled_from([0.5, 3.0, 8.0]))
def test_transport_keeps_inner_products(seed, radius):
    x = points(seed, radius=radius)
    v, w = np.random.default_rng(seed).normal(size=(2, *x.shape))
    here_v, here_w = (poincare.transport_from_origin(x, u) for u in (v, w))
    product = np.sum(here_v * here_w, axis=1) * poincare.conformal_factor(x) ** 2
    assert_allclose(product, np.sum(v * w, axis=1), rtol=1e-12, atol=1e-12)
    # Along the geodesic itself a tangent vector stays tangent.
    rho, u = poincare.to_polar(x)
    ahead = poincare.exp_map(x, poincare.transport_from_origin(x, u))
    assert_allclose(ahead, poincare.from_polar(rho + 1, u), atol=1e-12)


@given(seed=seeds, curvature=CURVATURES)
@settings(max_examples=40)
def test_geodesics_are_run_evenly(seed, curvature):
    x, y = (points(seed + i, 4, 3, 4.0, curvature) for i in range(2))
    t = np.array([0.0, 0.1, 0.5, 0.8, 1.0])[:, None]
    way = poincare.geodesic(x, y, t, curvature=curvature)
    assert way.shape == (5, 4, 3)
    whole = poincare.distance(x, y, curvature=curvature)
    for point, share in zip(way, t, strict=True):
        gone = poincare.distance(x, point, curvature=curvature)
        assert_allclose(gone, share * whole, atol=1e-8)
        left = poincare.distance(point, y, curvature=curvature)
        assert_allclose(left, (1 - share) * whole, atol=1e-8)
    assert_allclose(way[0], x, rtol=1e-15)
    assert_allclose(way[-1], y, rtol=1e-15)


@given(
    seed=seeds, radius=st.sampled_from([1e-3, 1.0, 10.0, 20.0]), curvature=CURVATURES
)
@settings(max_examples=40)
def test_the_hyperboloid_and_back(seed, radius, curvature):
    scale = 1 / math.sqrt(-curvature)
    x, y = (
        points(seed + i, radius=radius * scale, curvature=curvature) for i in (0, 1)
    )
    there = [poincare.to_hyperboloid(z, curvature=curvature) for z in (x, y)]
    back = hyperboloid.to_ball(there[0], curvature=curvature)
    assert_allclose(back, x, rtol=1e-14)
    assert_allclose(
        hyperboloid.distance(*there, curvature=curvature),
        poincare.distance(x, y, curvature=curvature),
        rtol=1e-7,
    )
    if radius <= 1:
        assert_allclose(
            hyperboloid.inner(there[0], there[0]) * curvature, 1, rtol=1e-12
        )


@given(seed=seeds, curvature=st.sampled_from([-0.25, -7.0]))
@settings(max_examples=40)
def test_curvature_is_a_unit_of_length(seed, curvature):
    root = math.sqrt(-curvature)
    given = {"curvature": curvature}
    x, y = points(seed), points(seed + 1)
    v = np.random.default_rng(seed).normal(size=x.shape)
    close = {"rtol": 1e-9, "atol": 1e-11}
    for function in (poincare.distance, poincare.pairwise_distances):
        there = function(x / root, y / root, **given)
        assert_allclose(there, function(x, y) / root, **close)
    for function, one, two in (
        (poincare.mobius_add, x, y),
        (poincare.exp_map, x, v),
        (poincare.log_map, x, y),
    ):
        there = function(one / root, two / root, **given)
        assert_allclose(there, function(one, two) / root, **close)
    for function, one in (
        (poincare.exp_map_origin, v),
        (poincare.log_map_origin, x),
        (poincare.project, 2 * x),
        (poincare.to_hyperboloid, x),
    ):
        there = function(one / root, **given)
        assert_allclose(there, function(one) / root, **close)
    assert_allclose(
        poincare.transport_from_origin(x / root, v / root, **given),
        poincare.transport_from_origin(x, v) / root,
        **close,
    )
    assert_allclose(
        poincare.geodesic(x / root, y / root, 0.3, **given),
        poincare.geodesic(x, y, 0.3) / root,
        **close,
    )
    assert_allclose(
        poincare.conformal_factor(x / root, **given), poincare.conformal_factor(x)
    )
    rho, u = poincare.to_polar(x / root, **given)
    assert_allclose(rho, poincare.to_polar(x)[0] / root, **close)
    assert_allclose(poincare.from_polar(rho, u, **given), x / root, **close)
    found = poincare.polar_distance(rho, u, rho[::-1], u[::-1], **given)
    assert_allclose(found, poincare.distance(x, x[::-1]) / root, **close)


# --- the edge --------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 2, 7, 300])
def test_long_vectors_stay_strictly_inside(dtype, d):
    rng = np.random.default_rng(0)
    u = rng.normal(size=(40, d)).astype(dtype)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    x = poincare.exp_map_origin(2 * u[::-1])
    far = [
        poincare.exp_map_origin(1000 * u),
        poincare.exp_map(x, 1000 * u),
        poincare.from_polar(np.full(40, 1000, dtype), u),
        poincare.project(u),
        poincare.project(1e6 * u),
        poincare.mobius_add(poincare.exp_map_origin(1000 * u), x),
        hyperboloid.to_ball(hyperboloid.exp_map_origin(40 * u)),
    ]
    limit = poincare.max_radius(dtype)
    for y in far:
        assert y.dtype == dtype
        wide = y.astype(np.longdouble)
        assert np.all(np.sum(wide * wide, axis=1) < 1)
        radius = poincare.distance(y, np.zeros(d, dtype))
        assert np.all(radius <= limit + 0.5)
        assert np.all(radius >= limit - 5)
        assert_array_equal(poincare.project(y), y)
        assert np.isfinite(poincare.pairwise_distances(y)).all()


def test_through_the_middle_to_the_other_side():
    x = poincare.exp_map_origin([36.0, 0.0])
    y = poincare.exp_map(x, [-1.0, 0.0])
    assert y[0] < -0.999
    assert_allclose(poincare.distance(y, np.zeros(2)), 36.04, atol=0.5)


@given(seed=seeds, radius=st.floats(0.1, 10), curvature=CURVATURES)
@settings(max_examples=40)
def test_projection_clips_the_distance_from_the_origin(seed, radius, curvature):
    x = points(seed, 20, 3, 8.0, curvature)
    x[0] = 0
    given = {"curvature": curvature}
    before = poincare.to_polar(x, **given)
    found = poincare.project(x, max_radius=radius, **given)
    after = poincare.to_polar(found, **given)
    assert_allclose(after[0], np.minimum(before[0], radius), rtol=1e-9)
    assert_allclose(after[1], before[1], atol=1e-14)
    kept = before[0] < radius * (1 - 1e-9)
    assert_allclose(found[kept], x[kept], rtol=1e-15)


def test_points_that_are_inside_keep_their_bits():
    x = points(0, 50, 3, 30.0)
    assert_array_equal(poincare.project(x), x)


# --- the polar form --------------------------------------------------------------


@given(seed=seeds, radius=st.sampled_from([0.0, 1e-3, 3.0, 17.0]))
def test_polar_form_and_back(seed, radius):
    x, y = (points(seed + i, radius=radius) for i in range(2))
    polar = [*poincare.to_polar(x), *poincare.to_polar(y)]
    assert_allclose(poincare.from_polar(*polar[:2]), x, atol=1e-15)
    expected = poincare.distance(x, y)
    assert_allclose(poincare.polar_distance(*polar), expected, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize(
    "radii", [(2.0, 1.0), (30.0, 31.0), (349.0, 352.0), (800.0, 1.0)]
)
@pytest.mark.parametrize("angle", [0.0, 1e-7, 0.3, math.pi])
def test_polar_distances_far_out(radii, angle):
    x = np.array([math.cos(0.2), math.sin(0.2)])
    y = np.array([math.cos(0.2 + angle), math.sin(0.2 + angle)])
    found = poincare.polar_distance(radii[0], x, radii[1], y)
    with mpmath.workdps(800):
        change = [a - b for a, b in zip(exact(x), exact(y), strict=True)]
        radial = mpmath.sinh(mpmath.mpf(radii[0] - radii[1]) / 2) ** 2
        sines = mpmath.sinh(radii[0]) * mpmath.sinh(radii[1])
        square = radial + sines * dot(change, change) / 4
        reference = float(2 * mpmath.asinh(mpmath.sqrt(square)))
    assert_allclose(found, reference, rtol=1e-12)


def test_polar_distances_of_equal_points_are_zero():
    u = np.array([[0.6, 0.8]] * 4)
    rho = np.array([0.0, 3.0, 40.0, 900.0])
    assert_array_equal(poincare.polar_distance(rho, u, rho, u), 0)


# --- types and refusals ----------------------------------------------------------


def test_types_and_inputs_stay():
    x = points(0).astype(np.float32)
    y = points(1).astype(np.float32)
    x.flags.writeable = False
    single = [
        poincare.distance(x, y),
        poincare.pairwise_distances(x, y),
        poincare.conformal_factor(x),
        poincare.mobius_add(x, y),
        poincare.exp_map(x, y),
        poincare.log_map(x, y),
        poincare.exp_map_origin(x),
        poincare.log_map_origin(x),
        poincare.project(x, max_radius=1.0),
        poincare.transport_from_origin(x, y),
        poincare.to_hyperboloid(x),
        poincare.geodesic(x, y, 0.5),
        *poincare.to_polar(x),
        poincare.from_polar(2.0, x),
        poincare.polar_distance(1.0, x, 2.0, y),
        poincare.midpoint(x),
        poincare.frechet_mean(x),
    ]
    assert {a.dtype for a in single} == {np.dtype(np.float32)}
    double = poincare.distance(x.astype(np.float64), y.astype(np.float64))
    assert_allclose(single[0], double, rtol=1e-7)
    assert poincare.distance(x, y.astype(np.float64)).dtype == np.float64
    assert poincare.distance([0, 0], [0, 0]) == 0
    assert (
        poincare.distance(x.astype(np.float16), y.astype(np.float16)).dtype
        == np.float32
    )


@pytest.mark.parametrize("curvature", [1.0, 0.0, math.nan, -math.inf, None, "flat"])
def test_curvature_must_be_negative(curvature):
    with pytest.raises(
        ValueError, match=r"poincare\.distance: 'curvature' .* Pass curv"
    ):
        poincare.distance([0.0], [0.1], curvature=curvature)
    with pytest.raises(
        ValueError, match=r"hyperboloid\.project: 'curvature' .* Pass cu"
    ):
        hyperboloid.project([1.0, 0.0], curvature=curvature)


@pytest.mark.parametrize("radius", [-1.0, float("nan")])
def test_a_radius_below_zero_is_refused(radius):
    with pytest.raises(ValueError, match=r"0 or more\. Pass None for the largest"):
        poincare.project(np.array([0.5, 0.0]), max_radius=radius)
