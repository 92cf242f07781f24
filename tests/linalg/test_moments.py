import numpy as np
import scipy.sparse as sp
from hypothesis import given

from skrep.linalg import weighted_covariance, weighted_mean
from tests.strategies import matrices, seeds


@given(X=matrices(), seed=seeds)
def test_agree_with_numpy(X, seed):
    weights = np.random.default_rng(seed).integers(1, 5, size=len(X)).astype(float)
    mean = weighted_mean(X, weights)
    scale = np.abs(X).max()
    np.testing.assert_allclose(
        mean, np.average(X, axis=0, weights=weights), rtol=1e-12, atol=1e-14 * scale
    )
    np.testing.assert_allclose(
        weighted_covariance(X, weights, mean),
        np.atleast_2d(np.cov(X.T, fweights=weights.astype(int), bias=True)),
        rtol=1e-9,
        atol=1e-12 * scale**2,
    )


def test_many_blocks_and_sparse_rows():
    X = np.random.default_rng(0).standard_normal((3000, 400)).astype(np.float32) + 100
    weights = np.ones(3000)
    expected = X.mean(axis=0, dtype=np.float64)
    np.testing.assert_allclose(weighted_mean(X, weights), expected, rtol=1e-12)
    np.testing.assert_allclose(
        weighted_mean(sp.csr_array(X), weights), expected, rtol=1e-6
    )
    np.testing.assert_allclose(
        weighted_covariance(X, weights, expected),
        np.cov(X.T.astype(np.float64), bias=True),
        atol=1e-10,
    )
