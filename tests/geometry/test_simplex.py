import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import helmert, svdvals

from skrep.geometry import simplex_vertices


def built_in_steps(n):
    """The axes and the point at their distance from all of them, then moved."""
    d = n - 1
    corners = np.vstack([np.eye(d), np.full((1, d), (1 - np.sqrt(n)) / d)])
    corners -= corners.mean(axis=0)
    return corners / np.linalg.norm(corners, axis=1, keepdims=True)


@given(n=st.integers(2, 60))
def test_unit_rows_around_zero_at_one_angle(n):
    V = simplex_vertices(n)
    assert V.shape == (n, n - 1)
    assert V.dtype == np.float64
    expected = np.full((n, n), -1 / (n - 1))
    np.fill_diagonal(expected, 1)
    assert_allclose(V @ V.T, expected, atol=1e-14)
    assert_allclose(V.mean(axis=0), 0, atol=1e-15)
    assert_allclose(svdvals(V), np.sqrt(n / (n - 1)), rtol=1e-13)


@given(n=st.integers(2, 60))
def test_agrees_with_its_steps_and_with_helmert_up_to_an_isometry(n):
    V = simplex_vertices(n)
    assert_allclose(V, built_in_steps(n), atol=1e-14)
    H = helmert(n).T * np.sqrt(n / (n - 1))
    assert_allclose(V @ V.T, H @ H.T, atol=1e-14)


def test_two_vertices_are_the_two_signs_and_numbers_of_numpy_are_taken():
    assert_allclose(simplex_vertices(np.int64(2)), [[1], [-1]], atol=1e-15)


def test_the_same_each_time_and_not_shared():
    first = simplex_vertices(4)
    expected = first.copy()
    first[:] = 0
    assert (simplex_vertices(4) == expected).all()


@pytest.mark.parametrize("n", [1, 0, -3, 2.0, True, "3", None])
def test_refuses_what_is_no_number_of_vertices(n):
    with pytest.raises(ValueError, match=r"simplex_vertices: 'n_vertices' is .* Pass "):
        simplex_vertices(n)
