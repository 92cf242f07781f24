import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from scipy.spatial.distance import cdist

from skrep.geometry import euclidean_distances
from tests.strategies import matrices


@given(X=matrices())
def test_agrees_with_scipy(X):
    np.testing.assert_allclose(
        euclidean_distances(X, X[::2]), cdist(X, X[::2]), rtol=1e-9, atol=0
    )


@given(X=matrices())
def test_a_row_is_at_distance_zero_from_itself(X):
    assert (np.diag(euclidean_distances(X, X)) == 0).all()


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows(container):
    X = sp.random(20, 30, 0.2, format="csr", random_state=0)
    np.testing.assert_allclose(
        euclidean_distances(container(X), container(X[:5])),
        cdist(X.toarray(), X[:5].toarray()),
        atol=1e-12,
    )


def test_near_rows_keep_their_digits():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5, 40))
    Y = X + 1e-9 * rng.standard_normal(X.shape)
    near = np.diag(euclidean_distances(X, Y))
    np.testing.assert_allclose(near, np.linalg.norm(X - Y, axis=1), rtol=1e-12)
