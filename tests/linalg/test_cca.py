import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cross_decomposition import CCA

from skrep.linalg import ridge_cca


def pairs(seed=0, n=80, d=5, e=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    Y = X[:, :2] @ rng.normal(size=(2, e)) + rng.normal(size=(n, e))
    return X - X.mean(axis=0), Y - Y.mean(axis=0)


def inverse_root(M):
    values, vectors = scipy.linalg.eigh(M)
    return (vectors / np.sqrt(values)) @ vectors.T


def test_without_ridge_it_is_sklearns_cca():
    X, Y = pairs()
    W_x, _, correlations = ridge_cca(X, Y, 2)
    reference = CCA(n_components=2, scale=False, max_iter=5000, tol=1e-12).fit(X, Y)
    scores, y_scores = reference.transform(X, Y)
    expected = [np.corrcoef(scores[:, i], y_scores[:, i])[0, 1] for i in range(2)]
    np.testing.assert_allclose(correlations, expected, rtol=1e-6)
    for i in range(2):
        assert abs(np.corrcoef(X @ W_x[:, i], scores[:, i])[0, 1]) == pytest.approx(1)


@pytest.mark.parametrize("shape", [(80, 5, 4), (4, 6, 7)])
def test_with_a_ridge_it_is_the_whitened_svd(shape):
    X, Y = pairs(1, *shape)
    a = inverse_root(X.T @ X + 3 * np.eye(shape[1]))
    b = inverse_root(Y.T @ Y + 2 * np.eye(shape[2]))
    U, s, Vt = np.linalg.svd(a @ X.T @ Y @ b)
    W_x, W_y, values = ridge_cca(X, Y, 2, x_penalty=3.0, y_penalty=2.0)
    np.testing.assert_allclose(values, s[:2])
    np.testing.assert_allclose(np.abs(W_x), np.abs(a @ U[:, :2]), atol=1e-10)
    np.testing.assert_allclose(np.abs(W_y), np.abs(b @ Vt[:2].T), atol=1e-10)
    np.testing.assert_allclose(np.diag(W_x.T @ X.T @ Y @ W_y), values)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_correlations_survive_any_invertible_map(seed):
    X, Y = pairs(2)
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(5, 5)))[0] * rng.uniform(0.1, 10, size=5)
    np.testing.assert_allclose(ridge_cca(X @ A, Y)[2], ridge_cca(X, Y)[2], rtol=1e-7)


def test_largest_entry_is_positive_and_float32_kept():
    X, Y = (M.astype(np.float32) for M in pairs())
    W_x, W_y, values = ridge_cca(X, Y, x_penalty=1.0, y_penalty=1.0)
    assert (W_x[np.argmax(np.abs(W_x), axis=0), np.arange(W_x.shape[1])] > 0).all()
    assert {part.dtype for part in (W_x, W_y, values)} == {np.dtype(np.float32)}
