import numpy as np
import pytest
import scipy.linalg
from hypothesis import given

from skrep.linalg import symmetric_power
from tests.strategies import matrices


@given(X=matrices(min_rows=8, max_rows=12, max_columns=5))
def test_inverse_root_undoes_the_root(X):
    K = X.T @ X / np.abs(X).max() ** 2
    product = symmetric_power(K, 0.5, ridge=1.0) @ symmetric_power(K, -0.5, ridge=1.0)
    np.testing.assert_allclose(product, np.eye(len(K)), atol=1e-10)


def test_square_root_agrees_with_scipy():
    A = np.random.default_rng(0).standard_normal((6, 4))
    K = A.T @ A
    np.testing.assert_allclose(symmetric_power(K, 0.5), scipy.linalg.sqrtm(K))


def test_negative_eigenvalues_count_by_their_size():
    K = np.diag([4.0, -9.0])
    np.testing.assert_allclose(symmetric_power(K, -0.5), np.diag([1 / 2, 1 / 3]))


@pytest.mark.parametrize("power", [-1.0, -0.5])
def test_dropped_directions(power):
    K = np.diag([4.0, 0.0])
    np.testing.assert_allclose(
        symmetric_power(K, power, rtol=1e-10), np.diag([4.0**power, 0])
    )
