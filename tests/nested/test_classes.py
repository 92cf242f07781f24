"""Class axes against definitions and scikit-learn."""

import numpy as np
import pytest
from scipy.special import erf
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skrep.linalg import GroupMoments
from skrep.nested._classes import (
    class_axes,
    pair_weights,
    residual_axes,
)


def grouped(n=300, d=6, n_classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return X + 3 * rng.standard_normal((n_classes, d))[y], y


def test_pair_weights_against_a_loop():
    rng = np.random.default_rng(1)
    means, shares = rng.standard_normal((4, 3)), np.array([0.1, 0.2, 0.3, 0.4])
    weights = pair_weights(means, shares)
    for a in range(4):
        for b in range(4):
            gap = np.linalg.norm(means[a] - means[b])
            expected = 0.0
            if a != b:
                expected = shares[a] * shares[b] * erf(gap / np.sqrt(8)) / (2 * gap**2)
            assert weights[a, b] == pytest.approx(expected)


def test_axes_solve_the_pairwise_criterion():
    X, y = grouped()
    groups = GroupMoments.of(X, y)
    axes = class_axes(groups, 0.0)
    within = groups.scatter / len(X)
    lengths = np.einsum("ij,ik,kj->j", axes.directions, within, axes.directions)
    gaps = groups.means - X.mean(axis=0)
    shares = groups.weights / len(X)
    unit = axes.directions / np.sqrt(lengths)
    variances = shares @ (gaps @ unit) ** 2
    np.testing.assert_allclose(lengths, variances / (1 + variances))
    whitening = np.linalg.cholesky(np.linalg.inv(within))
    pairs = pair_weights(gaps @ whitening, shares)
    scatter = np.zeros((6, 6))
    for a in range(4):
        for b in range(4):
            gap = groups.means[a] - groups.means[b]
            scatter += pairs[a, b] * np.outer(gap, gap) / 2
    expected = np.linalg.eigvals(np.linalg.solve(within, scatter)).real
    np.testing.assert_allclose(axes.values, np.sort(expected)[::-1][:3])
    np.testing.assert_allclose(
        scatter @ unit, within @ unit * axes.values, atol=1e-10 * scatter.max()
    )


def test_the_span_is_that_of_linear_discriminant_analysis():
    X, y = grouped(seed=2)
    ours = class_axes(GroupMoments.of(X, y), 0.0).directions
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, :3]
    stacked = np.hstack([ours / np.linalg.norm(ours, axis=0), theirs])
    values = np.linalg.svd(stacked, compute_uv=False)
    assert values[3] < 1e-8 * values[0]


def test_full_shrinkage_keeps_coordinates():
    X, y = grouped(seed=3)
    groups = GroupMoments.of(X, y)
    axes = class_axes(groups, 1.0).directions
    gaps = groups.means - groups.means[0]
    span = np.linalg.svd(gaps.T, full_matrices=False)[0][:, :3]
    np.testing.assert_allclose(span @ (span.T @ axes), axes, atol=1e-10)


@pytest.mark.parametrize(
    "labels", [np.zeros(12, int), np.repeat([0, 1], 6)], ids=["one class", "same means"]
)
def test_no_axes_where_means_do_not_differ(labels):
    X = np.tile(np.random.default_rng(4).standard_normal((6, 3)), (2, 1))
    axes = class_axes(GroupMoments.of(X, labels))
    assert axes.directions.shape == (3, 0)
    assert axes.values.shape == (0,)


def test_rows_that_equal_their_class_mean():
    X = np.repeat(np.eye(3), 4, axis=0)
    axes = class_axes(GroupMoments.of(X, np.repeat([0, 1, 2], 4)))
    assert axes.directions.shape == (3, 2)
    assert np.isfinite(axes.directions).all()


def test_residual_axes_are_principal_axes_of_the_complement():
    X, y = grouped(seed=5)
    covariance = np.cov(X.T, bias=True)
    telling = class_axes(GroupMoments.of(X, y)).directions
    rest = residual_axes(covariance, telling)
    Q = np.linalg.qr(telling)[0]
    left = (X - X.mean(axis=0)) @ (np.eye(6) - Q @ Q.T)
    expected = np.linalg.eigvalsh(np.cov(left.T, bias=True))[::-1][:3]
    np.testing.assert_allclose(rest.values, expected)
    np.testing.assert_allclose(rest.directions.T @ telling, 0, atol=1e-10)
    np.testing.assert_allclose(
        rest.directions.T @ rest.directions, np.eye(3), atol=1e-10
    )


def test_many_classes_are_weighed_in_blocks():
    rng = np.random.default_rng(6)
    y = np.arange(1200) % 400
    X = rng.standard_normal((1200, 5)) + rng.standard_normal((400, 5))[y]
    groups = GroupMoments.of(X, y)
    axes = class_axes(groups, 1.0)
    level = np.trace(groups.scatter) / len(X) / 5
    means = (groups.means - X.mean(axis=0)) / np.sqrt(level)
    pairs = pair_weights(means, groups.weights / len(X))
    scatter = means.T @ (np.diag(pairs.sum(axis=1)) - pairs) @ means
    np.testing.assert_allclose(axes.values, np.linalg.eigvalsh(scatter)[::-1])
    np.testing.assert_array_equal(
        pairs[100:200],
        pair_weights(means, groups.weights / len(X), slice(100, 200)),
    )
