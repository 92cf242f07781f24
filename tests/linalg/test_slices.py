"""Quantile slices against a loop in exact fractions, and their laws."""

from fractions import Fraction
from math import floor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skrep.linalg import quantile_edges, slice_codes
from tests.strategies import seeds

counts = st.integers(1, 9)


@st.composite
def targets(draw):
    """Integers with ties, and integer weights of which some are zero."""
    rng = np.random.default_rng(draw(seeds))
    n = draw(st.integers(1, 30))
    y = rng.integers(-draw(st.integers(1, 20)), 20, size=n).astype(float)
    weights = rng.integers(0, 3, size=n)
    weights[rng.integers(n)] += 1
    return y, weights


def sliced(y, n_slices, weights=None):
    return slice_codes(y, quantile_edges(y, n_slices, weights))


def naive(y, n_slices, weights):
    """The rule as it is written, value by value."""
    total = sum(int(w) for w in weights)
    found = {}
    for v in sorted({v for v, w in zip(y, weights, strict=True) if w}):
        below = sum(int(w) for u, w in zip(y, weights, strict=True) if u < v)
        own = sum(int(w) for u, w in zip(y, weights, strict=True) if u == v)
        center = (below + Fraction(own, 2)) / total
        place = n_slices * center
        if place.denominator == 1:
            place = place if center < Fraction(1, 2) else place - 1
        found[v] = min(max(floor(place), 0), n_slices - 1)
    names = sorted(set(found.values()))
    return {v: names.index(place) for v, place in found.items()}


@given(targets(), counts)
def test_slices_are_those_of_the_rule(target, n_slices):
    y, weights = target
    expected = naive(y, n_slices, weights)
    present = weights > 0
    codes = sliced(y, n_slices, weights)
    assert_array_equal(codes[present], [expected[v] for v in y[present]])
    edges = quantile_edges(y, n_slices, weights)
    assert len(edges) == max(expected.values())
    assert (np.diff(edges) > 0).all()


@given(targets(), counts)
def test_weights_are_repetitions_in_any_order_and_unit(target, n_slices):
    y, weights = target
    repeated = np.random.default_rng(0).permutation(np.repeat(y, weights))
    edges = quantile_edges(y, n_slices, weights)
    assert_array_equal(edges, quantile_edges(repeated, n_slices))
    assert_array_equal(edges, quantile_edges(y, n_slices, weights / 3))


@given(targets(), counts, st.sampled_from([np.cbrt, np.exp, np.arctan]))
def test_increasing_maps_leave_the_slices(target, n_slices, increasing):
    y, weights = target
    expected = sliced(y, n_slices, weights)[weights > 0]
    mapped = sliced(increasing(y / 8), n_slices, weights)[weights > 0]
    assert_array_equal(mapped, expected)


@given(st.integers(1, 60), counts)
def test_without_ties_slices_are_even(n, n_slices):
    codes = sliced(np.random.default_rng(n).normal(size=n), n_slices)
    sizes = np.bincount(codes)
    assert len(sizes) == min(n, n_slices)
    assert sizes.max() - sizes.min() <= 1 + (n_slices % 2 == 0)


def test_new_numbers_fall_between_the_old():
    y = np.array([1.0, 2.0, 5.0, 6.0])
    edges = quantile_edges(y, 2)
    assert_array_equal(edges, [3.5])
    assert_array_equal(slice_codes([-9, 3.4, 3.6, 99], edges), [0, 0, 1, 1])


@pytest.mark.parametrize(
    ("lower", "upper"),
    [
        (np.nextafter(1.0, 2), 1 + 2 * np.finfo(float).eps),
        (-5e-324, 0.0),
        (0.0, 5e-324),
        (1.6e308, 1.7e308),
        (-1.7e308, 1.7e308),
    ],
)
def test_edges_lie_between_whatever_the_range(lower, upper):
    y = np.array([lower, upper])
    assert_array_equal(sliced(y, 2), [0, 1])


def test_a_constant_and_one_number_are_one_slice():
    for y in (np.full(5, 3.0), np.ones(1)):
        assert quantile_edges(y, 4).shape == (0,)
        assert not sliced(y, 4).any()


def test_float32_and_float64_agree():
    y = np.random.default_rng(0).normal(size=50).astype(np.float32)
    assert quantile_edges(y, 5).dtype == np.float64
    assert_array_equal(sliced(y, 5), sliced(y.astype(float), 5))
