"""Collapse of classes to the vertices of a simplex."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import ortho_group

from skrep.geometry import simplex_vertices
from skrep.metrics import neural_collapse
from tests.strategies import seeds


def draw(seed, n=60, k=5, n_classes=4):
    rng = np.random.default_rng(seed)
    y = np.r_[np.arange(n_classes), rng.integers(n_classes, size=n - n_classes)]
    return rng.standard_normal((n_classes, k))[y] + rng.standard_normal((n, k)), y


def naive(X, y):
    """Both numbers, from their definitions."""
    labels = np.unique(y)
    means = np.array([X[y == c].mean(0) for c in labels])
    gaps = means - means.mean(0)
    between = sum(np.outer(g, g) for g in gaps) / len(labels)
    inner = X - means[np.searchsorted(labels, y)]
    within = sum(np.outer(row, row) for row in inner) / len(X)
    nc1 = np.trace(within @ np.linalg.pinv(between, rtol=1e-10)) / len(labels)
    off = [
        a @ b / np.linalg.norm(a) / np.linalg.norm(b) + 1 / (len(labels) - 1)
        for a, b in combinations(gaps, 2)
    ]
    return nc1, np.sqrt(np.mean(np.square(off)))


@given(seed=seeds, k=st.integers(1, 7), n_classes=st.integers(2, 6))
@settings(deadline=None, max_examples=60)
def test_values_are_those_of_the_definition(seed, k, n_classes):
    X, y = draw(seed, k=k, n_classes=n_classes)
    assert_allclose(neural_collapse(X, y), naive(X, y), rtol=1e-6, atol=1e-12)


@given(seed=seeds, n_classes=st.integers(2, 8), more=st.integers(0, 3))
@settings(deadline=None, max_examples=30)
def test_both_vanish_on_a_simplex_of_points_wherever_it_lies(seed, n_classes, more):
    k = n_classes - 1 + more
    Q = np.atleast_2d(ortho_group.rvs(k, random_state=seed)) if k > 1 else np.eye(1)
    vertices = simplex_vertices(n_classes) @ Q[: n_classes - 1] * 1e3 + 7
    y = np.arange(5 * n_classes) % n_classes
    assert_allclose(neural_collapse(vertices[y], y), 0, atol=1e-12)


@given(seed=seeds)
@settings(deadline=None, max_examples=20)
def test_similarities_and_names_of_classes_change_nothing(seed):
    X, y = draw(seed)
    Q = ortho_group.rvs(5, random_state=seed)
    names = np.array(["d", "a", "c", "b"])[y]
    order = np.random.default_rng(seed).permutation(60)
    moved = neural_collapse((1e-3 * X @ Q + 9)[order], names[order])
    assert_allclose(moved, neural_collapse(X, y), rtol=1e-8)


def test_affine_maps_leave_only_the_first_and_only_if_means_span_all():
    A = np.array([[1.0, 2.0, 0.0], [0.0, 3.0, 0.0], [1.0, 0.0, 20.0]])
    X, y = draw(0, k=3)
    before, after = neural_collapse(X, y), neural_collapse(X @ A, y)
    assert_allclose(after.nc1, before.nc1, rtol=1e-9)
    assert abs(after.nc2 - before.nc2) > 0.05
    y = np.minimum(y, 2)
    before, after = neural_collapse(X, y), neural_collapse(X @ A, y)
    assert abs(after.nc1 - before.nc1) > 0.05 * before.nc1


def test_weights_count_rows():
    X, y = draw(1)
    counts = np.random.default_rng(1).integers(0, 3, 60)
    twice = neural_collapse(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_allclose(neural_collapse(X, y, sample_weight=counts), twice, rtol=1e-12)
    one_each = X[:4], y[:4]
    assert neural_collapse(*one_each, sample_weight=[2, 2, 2, 2]).nc1 == 0
    doubled = np.repeat(one_each[0], 2, axis=0), np.repeat(one_each[1], 2)
    assert neural_collapse(*doubled).nc1 == 0


def test_scatter_across_the_means_does_not_count():
    y = np.repeat([0, 1], 10)
    X = np.c_[y, np.random.default_rng(0).standard_normal(20)]
    X[:, 1] -= np.array([X[y == c, 1].mean() for c in (0, 1)])[y]
    assert_allclose(neural_collapse(X, y), 0, atol=1e-15)


def test_a_mean_at_the_center_is_orthogonal_to_all():
    X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]).repeat(2, axis=0)
    expected = np.sqrt((2 * 0.5**2 + (-1 + 0.5) ** 2) / 3)
    assert_allclose(neural_collapse(X, [0, 0, 1, 1, 2, 2]), [0, expected], atol=1e-15)
    moved = neural_collapse(X / 3 + 0.1, [0, 0, 1, 1, 2, 2])
    assert_allclose(moved, [0, expected], atol=1e-12)


@pytest.mark.parametrize("k", [1, 3, 6, 7, 8, 30])
def test_few_columns_and_many_are_told_alike(k):
    rng = np.random.default_rng(k)
    y = np.repeat(np.arange(8), 2)
    X = rng.standard_normal((16, k))
    assert_allclose(neural_collapse(X, y), naive(X, y), rtol=1e-9)


def test_equal_angles_of_two_signs_in_one_column():
    means = np.array([-1.0] * 5 + [1.0] * 5)
    off = np.array([1, -1]) + 1 / 9
    expected = np.sqrt((20 * off[0] ** 2 + 25 * off[1] ** 2) / 45)
    y = np.repeat(np.arange(10), 2)
    assert_allclose(neural_collapse(means[y, None], y), [0, expected], atol=1e-15)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.eye(4), [0, 0, 0, 0], "1 class.*pass rows of several classes"),
        (np.eye(4), [0, 1, 2, 3], "one row each.*several rows of each class"),
        (np.eye(4), [0.1, 0.2, 0.3, 0.4], "label type: continuous"),
        (np.full((4, 2), 0.1), [0, 0, 1, 1], r"collapse_certificate\(X\)"),
        ([[0.1], [0.3], [0.3], [0.1]], [0, 0, 1, 1], "same mean in all 2 classes"),
        ([[0.0], [np.inf], [1], [2]], [0, 0, 1, 1], "neural_collapse: .*Drop such"),
        ([[1e200], [0], [1], [2]], [0, 0, 1, 1], "Divide all rows"),
        (np.eye(4), [0, 0, 1], "'y' has 3 entries"),
    ],
)
def test_errors_say_what_to_do(X, y, message):
    with pytest.raises(ValueError, match=message):
        neural_collapse(X, y)
