import numpy as np
import pytest
from sklearn.linear_model import Ridge, RidgeCV

from skrep.linalg import gcv_scores, ridge_coefficients, ridge_gcv


def draw(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.mark.parametrize("shape", [(30, 5), (5, 30)])
@pytest.mark.parametrize("penalty", [1e-3, 1.0, 50.0])
def test_coefficients_agree_with_sklearn(shape, penalty):
    X, Y = draw(0, *shape), draw(1, shape[0], 3)
    reference = Ridge(alpha=penalty, fit_intercept=False, solver="svd").fit(X, Y)
    np.testing.assert_allclose(ridge_coefficients(X, Y, penalty), reference.coef_.T)


def test_without_penalty_it_is_the_least_norm_solution():
    X, Y = draw(0, 4, 9), draw(1, 4, 2)
    np.testing.assert_allclose(
        ridge_coefficients(X, Y, 0.0), np.linalg.lstsq(X, Y)[0], atol=1e-12
    )


@pytest.mark.parametrize("n_free", [0, 1])
def test_gcv_agrees_with_the_hat_matrix(n_free):
    X, Y = draw(0, 12, 4), draw(1, 12, 3)
    if n_free:
        X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    penalties = np.array([0.01, 1.0, 10.0])
    expected = []
    for penalty in penalties:
        hat = X @ np.linalg.solve(X.T @ X + penalty * np.eye(4), X.T)
        free = 12 - n_free - np.trace(hat)
        expected.append(12 * np.sum((Y - hat @ Y) ** 2) / free**2)
    W, penalty, scores = ridge_gcv(X, Y, penalties, n_free=n_free)
    np.testing.assert_allclose(scores, expected)
    assert penalty == penalties[np.argmin(expected)]
    np.testing.assert_allclose(W, ridge_coefficients(X, Y, penalty))


def test_gcv_weight_two_is_the_row_twice():
    X, Y = draw(0, 8, 3), draw(1, 8, 2)
    weights = np.array([2, 1, 1, 2, 1, 1, 1, 1])
    roots = np.sqrt(weights)[:, None]
    penalties = np.array([0.1, 1.0])
    twice = ridge_gcv(
        np.repeat(X, weights, axis=0), np.repeat(Y, weights, axis=0), penalties
    )
    weighted = ridge_gcv(X * roots, Y * roots, penalties, n_rows=10)
    np.testing.assert_allclose(weighted[2], twice[2])
    np.testing.assert_allclose(weighted[0], twice[0])


def test_gcv_prefers_what_leave_one_out_prefers():
    X = draw(0, 60, 10)
    Y = X @ draw(1, 10, 4) + 2 * draw(2, 60, 4)
    penalties = np.logspace(-3, 3, 7)
    reference = RidgeCV(penalties, fit_intercept=False).fit(X, Y)
    assert ridge_gcv(X, Y, penalties, n_free=0)[1] == pytest.approx(reference.alpha_)


def test_gcv_is_infinite_without_a_degree_of_freedom():
    scores = gcv_scores(np.ones(3), np.ones(3), 0.0, np.array([1e-14, 1.0]), 4.0)
    assert np.isinf(scores[0])
    assert np.isfinite(scores[1])


def test_float32_is_kept():
    X = draw(0, 6, 3).astype(np.float32)
    assert ridge_coefficients(X, X, 0.5).dtype == np.float32
    assert ridge_gcv(X, X, np.array([0.5, 1.0]))[0].dtype == np.float32
