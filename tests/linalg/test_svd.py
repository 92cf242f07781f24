import numpy as np
import pytest
import scipy.linalg

from skrep.linalg import compact_svd, softened


def draw(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


def test_compact_svd_rebuilds_and_drops_the_null_space():
    M = draw(0, 7, 3) @ draw(1, 3, 5)
    U, s, Vt = compact_svd(M)
    assert s.shape == (3,)
    np.testing.assert_allclose((U * s) @ Vt, M, atol=1e-12)
    assert compact_svd(np.diag([1.0, 1e-3]), rtol=0.01)[1].size == 1


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (3, 4)])
def test_compact_svd_of_nothing_has_rank_zero(shape):
    U, s, Vt = compact_svd(np.zeros(shape))
    assert (U.shape, s.shape, Vt.shape) == ((shape[0], 0), (0,), (0, shape[1]))


def test_without_softness_it_is_scipys_polar_factor():
    M = draw(0, 5, 5)
    U, s, Vt = compact_svd(M)
    np.testing.assert_allclose((U * softened(s, 0.0)) @ Vt, scipy.linalg.polar(M)[0])


def test_softness_is_the_regularized_polar_factor():
    M, t = draw(0, 6, 4), 0.3
    inner = M.T @ M + (t * np.linalg.norm(M, 2)) ** 2 * np.eye(4)
    expected = M @ scipy.linalg.inv(scipy.linalg.sqrtm(inner))
    U, s, Vt = compact_svd(M)
    np.testing.assert_allclose((U * softened(s, t)) @ Vt, expected)


def test_float32_is_kept():
    parts = compact_svd(draw(0, 4, 3).astype(np.float32))
    dtypes = {part.dtype for part in (*parts, softened(parts[1], 0.1))}
    assert dtypes == {np.dtype(np.float32)}
