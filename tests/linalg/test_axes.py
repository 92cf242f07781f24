"""Signs, null spaces, leading axes and products."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given

from skrep.linalg import (
    Moments,
    fix_signs,
    leading_axes,
    project_rows,
    settle_null,
    weighted_mean,
)
from tests.strategies import matrices


@given(matrices())
def test_signs_are_those_of_the_largest_entry(components):
    fixed = fix_signs(components)
    np.testing.assert_array_equal(np.abs(fixed), np.abs(components))
    largest = np.take_along_axis(
        fixed, np.argmax(np.abs(fixed), axis=1)[:, None], axis=1
    )
    assert (largest >= 0).all()
    np.testing.assert_array_equal(fix_signs(-components), fixed)


def test_rounding_does_not_decide_between_tied_entries():
    tied = np.array([[0.5, -0.5 - 1e-9], [-0.5 - 1e-9, 0.5]])
    np.testing.assert_array_equal(np.sign(fix_signs(tied)), [[1, -1], [1, -1]])


def test_null_space_basis_is_decided_by_its_span():
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    values = np.array([3.0, 2.0, 1.0, 1e-17, 0.0, -1e-17])
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    other = basis.copy()
    other[:, 3:] = basis[:, 3:] @ turn
    one, positive = settle_null(basis, values)
    two, _ = settle_null(other, values)
    np.testing.assert_allclose(fix_signs(one.T), fix_signs(two.T), atol=1e-12)
    np.testing.assert_allclose(one.T @ one, np.eye(6), atol=1e-12)
    np.testing.assert_array_equal(one[:, :3], basis[:, :3])
    assert (positive >= 0).all()


def test_tied_rows_of_a_null_space_are_taken_in_their_order():
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    vectors = np.eye(5)[:, [4, 1, 0, 3, 2]]
    vectors[:, 2:] = vectors[:, 2:] @ turn
    settled, _ = settle_null(vectors, np.array([2.0, 1.0, 0.0, 0.0, 0.0]))
    np.testing.assert_allclose(
        np.abs(settled), np.eye(5)[:, [4, 1, 0, 2, 3]], atol=1e-12
    )


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_leading_axes_are_those_of_the_covariance(convert):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 40)) * 0.8 ** np.arange(40) + 1
    X[rng.random(X.shape) < 0.3] = 0
    weights = rng.integers(0, 3, 200).astype(float)
    mean = weighted_mean(X, weights)
    values, axes = leading_axes(convert(X), weights, mean, 5, random_state=0)
    expected, vectors = np.linalg.eigh(Moments.of(X, weights).covariance)
    np.testing.assert_allclose(values, expected[:-6:-1], rtol=1e-6)
    np.testing.assert_allclose(
        fix_signs(axes), fix_signs(vectors[:, :-6:-1].T), atol=1e-3
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("convert", [np.asarray, sp.csr_array])
def test_products_are_those_of_centered_rows(dtype, convert):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((3000, 70)).astype(dtype)
    components = rng.standard_normal((9, 70)).astype(dtype)
    mean = X.mean(axis=0)
    out = project_rows(convert(X), components, mean)
    assert out.dtype == dtype
    expected = (X.astype(float) - mean) @ components.T.astype(float)
    np.testing.assert_allclose(out, expected, atol=1e3 * np.finfo(dtype).eps)
    bare = project_rows(convert(X), components)
    np.testing.assert_allclose(bare, X @ components.T, atol=1e3 * np.finfo(dtype).eps)


def test_products_of_far_float32_rows_keep_their_digits():
    rng = np.random.default_rng(3)
    X = (rng.standard_normal((100, 8)) + 1000).astype(np.float32)
    mean = X.mean(axis=0, dtype=np.float64)
    axes = np.linalg.qr(rng.standard_normal((8, 8)))[0]
    expected = (X.astype(float) - mean) @ axes
    np.testing.assert_allclose(project_rows(X, axes.T, mean), expected, atol=5e-4)
