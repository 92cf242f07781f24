import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from skrep.linalg import compact_svd, gcv_scores


def draw(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def scores_of(X, Y, penalties, n_rows=None, n_free=1):
    U, s, _ = compact_svd(X)
    projected = ((U.T @ Y) ** 2).sum(axis=1)
    residual = (Y**2).sum() - projected.sum()
    return gcv_scores(s, projected, residual, penalties, n_rows or len(X), n_free)


@pytest.mark.parametrize("n_free", [0, 1])
def test_agrees_with_the_hat_matrix(n_free):
    X, Y = draw(0, 12, 4), draw(1, 12, 3)
    penalties = np.array([0.01, 1.0, 10.0])
    expected = []
    for penalty in penalties:
        hat = X @ np.linalg.solve(X.T @ X + penalty * np.eye(4), X.T)
        free = 12 - n_free - np.trace(hat)
        expected.append(12 * np.sum((Y - hat @ Y) ** 2) / free**2)
    np.testing.assert_allclose(scores_of(X, Y, penalties, n_free=n_free), expected)


def test_weight_two_is_the_row_twice():
    X, Y = draw(0, 8, 3), draw(1, 8, 2)
    weights = np.array([2, 1, 1, 2, 1, 1, 1, 1])
    roots = np.sqrt(weights)[:, None]
    penalties = np.array([0.1, 1.0])
    twice = [np.repeat(M, weights, axis=0) for M in (X, Y)]
    np.testing.assert_allclose(
        scores_of(X * roots, Y * roots, penalties, n_rows=10),
        scores_of(*twice, penalties),
    )


def test_prefers_what_leave_one_out_prefers():
    X = draw(0, 60, 10)
    Y = X @ draw(1, 10, 4) + 2 * draw(2, 60, 4)
    penalties = np.logspace(-3, 3, 7)
    reference = RidgeCV(penalties, fit_intercept=False).fit(X, Y)
    best = penalties[np.argmin(scores_of(X, Y, penalties, n_free=0))]
    assert best == pytest.approx(reference.alpha_)


def test_is_infinite_without_a_degree_of_freedom():
    scores = gcv_scores(np.ones(3), np.ones(3), 0.0, np.array([1e-14, 1.0]), 4.0)
    assert np.isinf(scores[0])
    assert np.isfinite(scores[1])
