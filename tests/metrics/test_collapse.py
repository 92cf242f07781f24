"""What is proven of rows: that they fill dimensions, or fall short of them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import orth
from scipy.special import softmax
from scipy.stats import entropy, ortho_group
from sklearn.datasets import load_digits

from skrep.geometry import simplex_vertices
from skrep.metrics import collapse_certificate, teacher_margin
from tests.strategies import matrices, seeds


def deviations(X):
    """Along the principal axes, in falling order."""
    return np.linalg.svd(X - X.mean(0), compute_uv=False) / np.sqrt(len(X))


def by_hand(X, rows):
    """The bound that differences of chosen rows prove."""
    gaps = X[rows[1:]] - X[rows[0]]
    smallest = np.linalg.svd(gaps, compute_uv=False)[-1]
    return smallest / np.sqrt(len(X) * len(rows))


@given(X=matrices(max_rows=30, max_columns=8), data=st.data())
@settings(deadline=None, max_examples=150)
def test_bounds_hold(X, data):
    largest = min(len(X) - 1, X.shape[1])
    spoiled = data.draw(st.sampled_from(["no", "rank", "copies", "zeros", "decay"]))
    if spoiled == "rank":
        X = X[:, :1] * np.arange(1.0, X.shape[1] + 1)
    elif spoiled == "copies":
        X = np.r_[X, X[:1], X]
    elif spoiled == "zeros":
        X[::2] = 0
    elif spoiled == "decay":
        X = X * 10.0 ** -np.arange(0, 3 * X.shape[1], 3)
    truth = deviations(X)
    for r in range(1, largest + 1):
        lower, upper, rows = collapse_certificate(X, r)
        assert lower <= truth[r - 1] <= upper
        assert len(rows) == r + 1 == len(set(rows.tolist()))
        assert lower >= by_hand(X, rows) * (1 - 1e-9) - 1e-12 * truth[0]


@given(seed=seeds, r=st.integers(1, 5))
@settings(deadline=None, max_examples=30)
def test_the_rows_say_which_directions_prove_the_bounds(seed, r):
    X = np.random.default_rng(seed).standard_normal((30, 5)) + 3
    lower, upper, rows = collapse_certificate(X, r)
    centered = X - X.mean(0)
    Q = orth((X[rows[1:]] - X[rows[0]]).T)
    assert_allclose(lower, deviations(centered @ Q)[-1], rtol=1e-9)
    P = orth((X[rows[1:-1]] - X[rows[0]]).T) if r > 1 else np.zeros((5, 0))
    assert_allclose(upper, deviations(centered - centered @ P @ P.T)[0], rtol=1e-9)


@given(seed=seeds, r=st.integers(1, 6))
@settings(deadline=None, max_examples=30)
def test_collapse_and_its_absence_are_both_proven(seed, r):
    rng = np.random.default_rng(seed)
    noise = 1e-6 * rng.standard_normal((80, 7))
    X = rng.standard_normal((80, r)) @ ortho_group.rvs(7, random_state=seed)[:r]
    X += noise + 100
    assert collapse_certificate(X, r).lower > 0.2
    assert collapse_certificate(X, r + 1).upper < 1e-4
    assert collapse_certificate(X, r + 1).lower > 0
    exact = X - noise
    assert collapse_certificate(exact, r + 1).upper < 1e-10


def test_the_ends_are_exact():
    X = load_digits().data[:300, 2:6]
    truth = deviations(X)
    assert_allclose(collapse_certificate(X, 1).upper, truth[0], rtol=1e-9)
    assert_allclose(collapse_certificate(X).lower, truth[3], rtol=1e-9)
    assert_allclose(collapse_certificate(X[:4], 3).lower, deviations(X[:4])[2])


def test_bounds_are_near_each_other_on_real_rows():
    X = load_digits().data
    truth = deviations(X)
    for r in (1, 2, 5, 10, 20):
        lower, upper, _ = collapse_certificate(X, r)
        assert truth[r - 1] / 3 < lower
        assert upper < 2.5 * truth[r - 1]


@given(seed=seeds, offset=st.sampled_from([0.0, 1e4, 1e8]))
@settings(deadline=None, max_examples=20)
def test_rotations_and_shifts_change_nothing_and_scales_scale(seed, offset):
    X = np.random.default_rng(seed).standard_normal((20, 4))
    Q = ortho_group.rvs(4, random_state=seed)
    lower, upper, rows = collapse_certificate(X, 3)
    moved = collapse_certificate(4 * X @ Q + offset, 3)
    assert moved.rows.tolist() == rows.tolist()
    assert collapse_certificate(X[::-1], 3).rows.tolist() == (19 - rows).tolist()
    assert rows[0] == np.argmax(np.linalg.norm(X - X.mean(0), axis=1))
    assert_allclose(moved[:2], [4 * lower, 4 * upper], rtol=1e-5)


def test_rows_that_are_alike_fill_nothing():
    for X in (np.zeros((5, 3)), np.full((5, 3), 0.1), np.repeat([[1.0, 2.0]], 4, 0)):
        assert collapse_certificate(X, 1)[:2] == (0, 0)
    two = np.repeat([[0.1, 0.7, 0.3], [0.2, 0.4, 0.9]], 6, axis=0)
    assert collapse_certificate(two, 1).lower > 0.3
    assert collapse_certificate(two, 2).lower == 0
    assert collapse_certificate(two, 2).upper < 1e-14


def test_rounding_proves_no_dimension():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 3)) @ rng.standard_normal((3, 6))
    assert collapse_certificate(X, 3).lower > 0.1
    for r in (4, 5, 6):
        assert collapse_certificate(X, r).lower == 0
        assert 0 < collapse_certificate(X, r).upper < 1e-12


def test_certificates_take_floats_of_either_size_and_leave_them():
    X = np.random.default_rng(0).standard_normal((30, 4)).astype(np.float32)
    X.flags.writeable = False
    assert collapse_certificate(X)[:2] == collapse_certificate(X.astype(float))[:2]


@pytest.mark.parametrize(
    ("X", "n_components", "message"),
    [
        (np.eye(4), 4, "'n_components' is 4.*Pass n_components=3"),
        (np.ones((9, 2)), 3, "'n_components' is 3.*Pass n_components=2"),
        (np.ones((9, 2)), 0, "Pass n_components=2"),
        (np.ones((1, 2)), None, "minimum of 2 is required"),
        ([[0.0], [np.nan]], None, "collapse_certificate: Input X.*Drop such rows"),
        ([[1e200], [0.0]], None, "Divide all rows"),
        ([[1e308], [-1e308]], None, "Divide all rows"),
    ],
)
def test_certificates_say_what_is_wrong(X, n_components, message):
    with pytest.raises(ValueError, match=message):
        collapse_certificate(X, n_components)


def taught(seed, n=40, K=4):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.full(K, 0.5), n) * 0.999 + 0.001 / K


def exact_code(q, beta):
    """The rows from which the witness reads the posterior."""
    K = q.shape[1]
    return (K - 1) / (K * beta) * np.log(q) @ simplex_vertices(K)


@given(seed=seeds, K=st.integers(2, 6), beta=st.sampled_from([0.1, 1.0, 5.0]))
@settings(deadline=None, max_examples=40)
def test_margin_is_entropy_of_the_mean_less_cross_entropy(seed, K, beta):
    q = taught(seed, K=K)
    Z = np.random.default_rng(seed).standard_normal((40, K - 1))
    p = softmax(beta * Z @ simplex_vertices(K).T, axis=1)
    expected = entropy(q.mean(0)) + np.mean(np.sum(q * np.log(p), axis=1))
    found = teacher_margin(Z, q, beta=beta)
    information = entropy(q.mean(0)) - entropy(q, axis=1).mean()
    assert_allclose(found.margin, expected, atol=1e-12)
    assert_allclose(found.information, information, rtol=1e-9)
    assert found.ratio == found.margin / found.information
    assert found.margin <= found.information


@given(seed=seeds, K=st.integers(2, 6), beta=st.sampled_from([0.1, 1.0, 5.0]))
@settings(deadline=None, max_examples=40)
def test_constant_rows_never_have_a_margin_and_exact_ones_have_it_all(seed, K, beta):
    q = taught(seed, K=K)
    constant = np.random.default_rng(seed).standard_normal(K - 1)
    assert teacher_margin(np.tile(constant, (40, 1)), q, beta=beta).margin < 1e-14
    best = exact_code(q.mean(0)[None], beta)
    best_margin = teacher_margin(np.repeat(best, 40, 0), q, beta=beta).margin
    assert_allclose(best_margin, 0, atol=1e-14)
    assert_allclose(teacher_margin(exact_code(q, beta), q, beta=beta).ratio, 1)
    assert teacher_margin(0.9 * exact_code(q, beta), q, beta=beta).ratio < 1


def test_a_margin_below_zero_proves_no_collapse():
    q = taught(0)
    assert teacher_margin(-exact_code(q, 1.0), q).margin < 0


def test_teachers_without_doubt_are_read():
    q = np.eye(3)[[0, 1, 2, 0]]
    margin, information, ratio = teacher_margin(
        50 * simplex_vertices(3)[q.argmax(1)], q
    )
    assert_allclose([margin, ratio], [information, 1])
    far = teacher_margin(-1e6 * simplex_vertices(3)[q.argmax(1)], q)
    assert np.isfinite(far.margin)


def test_weights_count_rows():
    q = taught(1)
    Z = exact_code(q, 1.0) + 1
    counts = np.random.default_rng(1).integers(0, 3, 40)
    twice = teacher_margin(np.repeat(Z, counts, 0), np.repeat(q, counts, 0))
    assert_allclose(teacher_margin(Z, q, sample_weight=counts), twice, rtol=1e-12)
    assert teacher_margin(Z, q, sample_weight=np.ones(40)) == teacher_margin(Z, q)


def test_posteriors_of_float32_sum_to_one_closely_enough():
    q = taught(2).astype(np.float32)
    wide = q / q.astype(float).sum(axis=1, keepdims=True)
    Z = exact_code(q.astype(float), 1.0)
    assert_allclose(teacher_margin(Z, q), teacher_margin(Z, wide), rtol=1e-12)


Q = np.full((4, 3), 1 / 3)
ONE, DOUBT = np.eye(3)[[0, 1, 2, 0]], np.r_[np.eye(3)[:1], Q]


@pytest.mark.parametrize(
    ("shape", "posterior", "options", "message"),
    [
        ((4, 3), ONE, {}, r"K - 1 columns: pass X of shape \(4, 2\)"),
        ((3, 2), ONE, {}, r"same rows.*pass X of shape \(4, 2\)"),
        ((4, 2), 2 * ONE, {}, r"sum to 2 in row 0.*posterior / posterior.sum"),
        ((4, 2), ONE - [[0.5, -0.5, 0]], {}, "from -0.5 .* row 1.*predict_proba"),
        ((4, 2), Q, {}, "same in all rows.*teacher that tells"),
        ((5, 2), DOUBT, {"sample_weight": [0, 1, 1, 1, 1]}, "same in all rows"),
        ((1, 2), ONE[:1], {}, "same in all rows"),
        ((4, 0), ONE[:, :1], {}, "teacher_margin: Found array with 0 feature"),
        ((4, 1), np.ones((4, 1)), {}, "teacher_margin: Found array with 1 feature"),
        ((4, 2), np.where(ONE, np.nan, 1), {}, "Input posterior.*Drop such rows"),
        ((4, 2), ONE, {"beta": 0}, "'beta'"),
        ((4, 2), ONE, {"sample_weight": [0, 0, 0, 0]}, "Pass sample_weight=None"),
        ((4, 2), ONE, {"beta": 1.7e308}, "Divide all rows"),
    ],
)
def test_margins_say_what_is_wrong(shape, posterior, options, message):
    with pytest.raises(ValueError, match=message):
        teacher_margin(np.full(shape, 2.0), posterior, **options)
