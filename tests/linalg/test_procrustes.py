import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st

from skrep.linalg import compact_svd, partial_isometry, procrustes


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


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 6), st.integers(0, 10**6))
def test_partial_isometry_has_unit_singular_values_on_the_rank_only(m, n, r, seed):
    M = draw(seed, m, r) @ draw(seed + 1, r, n)
    R, rank = partial_isometry(M)
    values = np.linalg.svd(R, compute_uv=False)
    assert rank == np.linalg.matrix_rank(M)
    np.testing.assert_allclose(values, np.arange(min(m, n)) < rank, atol=1e-8)


def test_full_rank_isometry_is_scipys_polar_factor():
    M = draw(0, 5, 5)
    np.testing.assert_allclose(partial_isometry(M)[0], scipy.linalg.polar(M)[0])


def test_softness_is_the_regularised_polar_factor():
    M, t = draw(0, 6, 4), 0.3
    top = np.linalg.norm(M, 2)
    inner = M.T @ M + (t * top) ** 2 * np.eye(4)
    expected = M @ scipy.linalg.inv(scipy.linalg.sqrtm(inner))
    np.testing.assert_allclose(partial_isometry(M, t)[0], expected)


def test_procrustes_agrees_with_scipy_and_recovers_the_scale():
    X, Q = draw(0, 20, 4), np.linalg.qr(draw(1, 4, 4))[0]
    Y = 2.5 * X @ Q
    R, scale, rank = procrustes(X, Y)
    np.testing.assert_allclose(R, scipy.linalg.orthogonal_procrustes(X, Y)[0])
    assert (scale, rank) == (pytest.approx(2.5), 4)


def test_procrustes_scale_is_least_squares_when_the_rotation_narrows():
    X, Y = draw(0, 30, 6), draw(1, 30, 3)
    R, scale, _ = procrustes(X, Y)
    mapped = (X @ R).ravel()
    best = np.linalg.lstsq(mapped[:, None], Y.ravel())[0][0]
    assert scale == pytest.approx(best)


def test_procrustes_of_unrelated_zero_rows_is_zero():
    R, scale, rank = procrustes(np.zeros((3, 2)), np.ones((3, 2)))
    assert (R.any(), scale, rank) == (False, 0.0, 0)


def test_float32_is_kept():
    M = draw(0, 4, 3).astype(np.float32)
    assert {part.dtype for part in compact_svd(M)} == {np.dtype(np.float32)}
    assert partial_isometry(M, 0.1)[0].dtype == np.float32
