"""Dimensions that rows fill."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import ortho_group

from skrep.metrics import (
    effective_rank,
    local_intrinsic_dimension,
    two_nn_dimension,
)
from tests.strategies import matrices, seeds

LOCAL = [
    pytest.param(lambda X: local_intrinsic_dimension(X, n_neighbors=4), id="mle"),
    pytest.param(
        lambda X: local_intrinsic_dimension(X, n_neighbors=4, method="moments"),
        id="moments",
    ),
    pytest.param(two_nn_dimension, id="two_nn"),
]


def gaussian(seed, n=30, d=3):
    return np.random.default_rng(seed).standard_normal((n, d))


def distances(X):
    """Ascending distances of each row to the others."""
    table = np.linalg.norm(X[:, None] - X[None], axis=2)
    return np.sort(table, axis=1)[:, 1:]


def local_by_rows(X, k, method):
    estimates = []
    for r in distances(X):
        if method == "mle":
            estimates.append(
                -1 / np.mean([np.log(r[j] / r[k - 1]) for j in range(k - 1)])
            )
        else:
            mu = np.mean(r[: k - 1])
            estimates.append(mu / (r[k - 1] - mu))
    return len(estimates) / sum(1 / m for m in estimates)


@given(seed=seeds, k=st.integers(2, 29), method=st.sampled_from(["mle", "moments"]))
def test_local_dimension_row_by_row(seed, k, method):
    X = gaussian(seed)
    found = local_intrinsic_dimension(X, n_neighbors=k, method=method)
    assert isinstance(found, float)
    assert_allclose(found, local_by_rows(X, k, method), rtol=1e-9)


@given(seed=seeds, n=st.integers(3, 40))
def test_two_nn_is_the_slope_of_a_line_through_zero(seed, n):
    X = gaussian(seed, n)
    r = distances(X)
    x = np.sort(np.log(r[:, 1] / r[:, 0]))
    kept = int(0.9 * n)
    y = -np.log(1 - np.arange(1, kept + 1) / n)
    slope = np.linalg.lstsq(x[:kept, None], y, rcond=None)[0][0]
    assert_allclose(two_nn_dimension(X), slope, rtol=1e-8)


@pytest.mark.parametrize(
    ("m", "mle", "two_nn"),
    [(2, 2.0, 1.95), (5, 5.02, 4.9), (10, 9.3, 9.7), (20, 15.7, 17.6)],
)
def test_gaussian_rows(m, mle, two_nn):
    X = gaussian(0, 3000, m)
    assert_allclose(local_intrinsic_dimension(X), mle, rtol=0.02)
    assert_allclose(local_intrinsic_dimension(X, method="moments"), mle, rtol=0.03)
    assert_allclose(two_nn_dimension(X), two_nn, rtol=0.04)


def test_even_rows_without_an_edge_give_their_dimension():
    """On a circle, and on the product of two."""
    turns = np.random.default_rng(0).uniform(0, 2 * np.pi, (1500, 2))
    circles = np.hstack([np.cos(turns), np.sin(turns)])
    for columns, m in (([0, 2], 1), ([0, 1, 2, 3], 2)):
        X = circles[:, columns]
        assert_allclose(local_intrinsic_dimension(X), m, rtol=0.03)
        assert_allclose(two_nn_dimension(X), m, rtol=0.06)


@pytest.mark.parametrize("dimension", LOCAL)
@given(seed=seeds)
def test_moves_scale_order_and_copies_do_not_count(dimension, seed):
    X = gaussian(seed)
    expected = dimension(X)
    Q = ortho_group.rvs(3, random_state=0)
    assert_allclose(dimension(X @ Q + 5), expected, rtol=1e-6)
    for scale in (1e-200, 1e200):
        assert_allclose(dimension(X * scale), expected, rtol=1e-6)
    copies = np.vstack([X[::-1], X[:7], X[:7]])
    assert_allclose(dimension(copies), expected, rtol=1e-9)
    stretched = dimension(X * [1, 10, 100])
    assert abs(stretched - expected) > 1e-6


def test_rows_with_equally_far_neighbors_are_left_out():
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]) + 100
    X = gaussian(0, 20, 2)
    both = np.vstack([square, X])
    r = distances(X)
    assert_allclose(
        local_intrinsic_dimension(both, n_neighbors=2),
        -1 / np.log(r[:, 0] / r[:, 1]).mean(),
    )
    assert_allclose(two_nn_dimension(both), two_nn_dimension(X))
    assert two_nn_dimension([[0.0], [1.0], [3.0]]) > 0


def test_rows_closer_than_squares_can_tell_are_left_out():
    X = gaussian(0)
    close = np.vstack([X, [[0, 0, 50.0], [1e-200, 0, 50.0]]])
    for dimension in (local_intrinsic_dimension, two_nn_dimension):
        assert_allclose(dimension(close), dimension(X), rtol=0.2)


@pytest.mark.parametrize("dimension", LOCAL)
def test_too_few_or_equidistant_rows(dimension):
    with pytest.raises(ValueError, match="pass X with 3 or more distinct rows"):
        dimension([[0.0], [1.0], [1.0], [0.0], [1.0], [1.0]])
    with pytest.raises(ValueError, match="Pass more rows, such as all"):
        dimension(np.eye(6))
    with pytest.raises(ValueError, match="Drop such rows, or fill them in first"):
        dimension([[0.0], [np.inf], [1.0], [0.0], [1.0], [1.0]])


@pytest.mark.parametrize(("k", "remedy"), [(1, 2), (5, 4), (50, 4)])
def test_number_of_neighbors(k, remedy):
    X = gaussian(0, 5)
    with pytest.raises(ValueError, match=rf"5 distinct .* Pass n_neighbors={remedy}"):
        local_intrinsic_dimension(np.vstack([X, X]), n_neighbors=k)


def test_bad_parameters():
    with pytest.raises(ValueError, match="Pass n_neighbors=10, say"):
        local_intrinsic_dimension(gaussian(0), n_neighbors=2.5)
    with pytest.raises(ValueError, match=r"'method' parameter .* must be a str among"):
        local_intrinsic_dimension(gaussian(0), method="median")


@given(X=matrices(min_rows=3), seed=seeds)
def test_effective_rank_is_the_entropy_of_singular_values(X, seed):
    s = np.sqrt(np.linalg.eigvalsh(np.cov(X.T)).clip(0)) if X.shape[1] > 1 else [1.0]
    p = np.sort(np.asarray(s) / np.sum(s))[::-1][: len(X) - 1]
    p = p[p > 1e-12]
    found = effective_rank(X)
    assert isinstance(found, float)
    assert_allclose(found, np.exp(-np.sum(p * np.log(p))), rtol=1e-5)
    assert 1 - 1e-9 <= found <= min(len(X) - 1, X.shape[1]) + 1e-9


@given(X=matrices(min_rows=3), seed=seeds)
def test_effective_rank_moves_scale_and_weights(X, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(X))
    weights[:2] = 1
    weighted = effective_rank(X, sample_weight=weights)
    repeated = np.repeat(X, weights, axis=0)
    assert_allclose(weighted, effective_rank(repeated), rtol=1e-7)
    assert_allclose(effective_rank(X, sample_weight=weights * 0.1), weighted, rtol=1e-7)
    Q = np.atleast_2d(ortho_group.rvs(X.shape[1], random_state=0))
    X = X / np.abs(X).max()
    expected = effective_rank(X)
    assert_allclose(effective_rank(X @ Q + 2), expected, rtol=1e-6)
    for scale in (1e-200, 1e200):
        assert_allclose(effective_rank(X * scale), expected, rtol=1e-6)
    assert_allclose(effective_rank(np.vstack([X, X])), expected, rtol=1e-7)


def test_effective_rank_counts_even_directions_and_no_rounding():
    assert_allclose(effective_rank(np.vstack([np.eye(4), -np.eye(4)])), 4)
    assert_allclose(effective_rank(np.eye(5)), 4)
    line = np.outer(np.arange(6) / 7, [0.1, 0.7, 0.3]) + 1e6 / 3
    assert_allclose(effective_rank(line), 1, rtol=1e-6)
    for X in (np.full((7, 3), 0.1), [[1.0, 2.0]], np.zeros((3, 2))):
        assert effective_rank(X) == 0
    X = gaussian(0, 4)
    assert effective_rank(X, sample_weight=[0, 1, 0, 0]) == 0


def test_effective_rank_does_not_see_rows_of_weight_0():
    X = 1e-20 * gaussian(0, 6)
    far = np.vstack([X, np.full((1, 3), 1e300)])
    found = effective_rank(far, sample_weight=[1] * 6 + [0])
    assert_allclose(found, effective_rank(X), rtol=1e-9)


def test_effective_rank_errors():
    X = gaussian(0, 4)
    with pytest.raises(ValueError, match="Pass sample_weight=None to weigh all"):
        effective_rank(X, sample_weight=[0, 0, 0, 0])
    with pytest.raises(ValueError, match=r"pass an array of shape \(4,\)"):
        effective_rank(X, sample_weight=[1, 1])
    with pytest.raises(ValueError, match="Drop such rows, or fill them in first"):
        effective_rank([[np.nan], [1.0]])
