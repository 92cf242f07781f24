import numpy as np
import pytest
from hypothesis import given

from skrep.geometry import angles, row_norms, unit_rows
from tests.strategies import matrices


@given(X=matrices())
def test_unit_rows_times_norms_are_the_rows(X):
    units, norms = unit_rows(X)
    np.testing.assert_allclose(units * norms[:, None], X, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(units, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(norms, np.linalg.norm(X, axis=1), rtol=1e-12)


@pytest.mark.parametrize("unit", [1e-300, 1e-170, 1.0, 1e170, 1e300])
def test_unit_rows_at_the_ends_of_the_range(unit):
    units, norms = unit_rows(unit * np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(units, [[0.6, 0.8], [0, 0]], rtol=1e-12)
    np.testing.assert_allclose(norms, [5 * unit, 0], rtol=1e-12)
    np.testing.assert_allclose(row_norms(unit * np.array([[3.0, 4.0]])), 5 * unit)


def test_unit_rows_keep_float32():
    units, norms = unit_rows(np.array([[3e30, 4e30]], dtype=np.float32))
    assert units.dtype == norms.dtype == np.float32
    np.testing.assert_allclose(units, [[0.6, 0.8]], rtol=1e-6)


def test_small_and_straight_angles_keep_their_digits():
    true = np.array([0.0, 1e-9, 1e-4, 0.5, np.pi / 2, np.pi - 1e-9])
    U = np.column_stack([np.cos(true), np.sin(true)])
    east = np.array([[1.0, 0.0]])
    np.testing.assert_allclose(angles(U @ east.T, U, east)[:, 0], true, atol=1e-15)
