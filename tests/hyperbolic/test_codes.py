"""Spherical codes, and the room that they leave."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from skrep.hyperbolic._codes import (
    _fresh_code,
    first_direction,
    largest_gap,
    spherical_code,
)


def nearest(code):
    """The angle of each vector to its nearest, in degrees."""
    cosines = code @ code.T
    np.fill_diagonal(cosines, -1)
    return np.degrees(np.arccos(cosines.max(axis=1)))


@pytest.mark.parametrize("n_components", [2, 3, 5, 10, 20])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 7, 18, 60])
def test_codes_are_unit_distinct_and_kept(n_components, size):
    code = spherical_code(n_components, size)
    assert code.shape == (size, n_components)
    assert_allclose(np.linalg.norm(code, axis=1), 1, atol=1e-14)
    assert spherical_code(n_components, size) is code
    with pytest.raises(ValueError, match="read-only"):
        code[0, 0] = 0
    again = _fresh_code(n_components, size)
    assert_array_equal(again, code)
    if size > 1:
        # A random code of this size comes nowhere near half of the ideal angle.
        ideal = 180 * size ** (-1 / (n_components - 1))
        assert nearest(code).min() > 0.5 * min(ideal, 90)


def test_the_best_codes_where_they_are_known():
    assert_allclose(nearest(spherical_code(2, 7)), 360 / 7)
    assert_allclose(nearest(spherical_code(9, 10)), np.degrees(np.arccos(-1 / 9)))
    assert_allclose(nearest(spherical_code(9, 14)), 90)
    # Seven to twelve points on the sphere, as Tammes' problem is solved.
    for size, best in ((7, 77.87), (8, 74.86), (9, 70.53), (12, 63.43)):
        assert nearest(spherical_code(3, size)).min() > 0.97 * best


@pytest.mark.parametrize("n_components", [3, 5, 10, 16])
def test_many_vectors_are_apart_and_not_kept(n_components):
    size = 1_500
    code = spherical_code(n_components, size)
    assert code.shape == (size, n_components)
    assert_allclose(np.linalg.norm(code, axis=1), 1, atol=1e-14)
    assert_array_equal(spherical_code(n_components, size), code)
    assert spherical_code(n_components, size) is not code
    assert_array_equal(first_direction(n_components, size), code[0])
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal((size, n_components))
    drawn /= np.linalg.norm(drawn, axis=1)[:, None]
    assert (
        nearest(code).min() > (1.4 if n_components < 16 else 0.7) * nearest(drawn).min()
    )
    assert np.linalg.norm(code.mean(axis=0)) < 1.2 / np.sqrt(size)


def test_a_hub_takes_memory_in_the_number_of_nodes():
    def peak(size):
        tracemalloc.start()
        largest_gap.__wrapped__(10, size)
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    # Two matrices of n x n numbers of a byte would be 32 MB.
    assert peak(4_000) < 12e6


def test_one_dimension_has_two_directions():
    assert_array_equal(spherical_code(1, 4).ravel(), [1, -1, 1, -1])
    assert_array_equal(largest_gap(1, 1), [-1])


def widest(code):
    """Angle that the best of many random directions has to a code."""
    rng = np.random.default_rng(0)
    drawn = rng.standard_normal((20_000, code.shape[1]))
    drawn /= np.linalg.norm(drawn, axis=1)[:, None]
    return np.degrees(np.arccos((drawn @ code.T).max(axis=1).min()))


@pytest.mark.parametrize("n_components", [2, 3, 5, 10])
@pytest.mark.parametrize("size", [1, 2, 3, 4, 6, 11, 40])
def test_no_direction_has_more_room(n_components, size):
    code, gap = spherical_code(n_components, size), largest_gap(n_components, size)
    assert_allclose(np.linalg.norm(gap), 1)
    room = np.degrees(np.arccos(np.clip((code @ gap).max(), -1, 1)))
    assert room > widest(code) - 0.5


def test_without_neighbors_any_direction_will_do():
    assert_array_equal(largest_gap(3, 0), [1, 0, 0])
