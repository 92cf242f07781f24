"""The law of noise eigenvalues, against quadrature and simulated noise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad

from skrep.linalg import (
    marchenko_pastur_cdf,
    marchenko_pastur_edges,
    marchenko_pastur_median,
)

RATIOS = [1e-3, 0.05, 0.25, 0.9, 1.0, 1.5, 20.0]


def density(x, ratio):
    """Density of the positive eigenvalues, from the definition."""
    low, high = (1 - np.sqrt(ratio)) ** 2, (1 + np.sqrt(ratio)) ** 2
    whole = np.sqrt(max((high - x) * (x - low), 0)) / (2 * np.pi * ratio * x)
    return whole / min(1.0, 1 / ratio)


@pytest.mark.parametrize("ratio", RATIOS)
def test_agrees_with_quadrature(ratio):
    low, high = marchenko_pastur_edges(ratio)
    for share in (0.1, 0.35, 0.7, 0.95):
        x = low + share * (high - low)
        area = quad(density, low, x, args=(ratio,), limit=500)[0]
        assert_allclose(marchenko_pastur_cdf(x, ratio), area, atol=1e-8)


@pytest.mark.parametrize("ratio", RATIOS)
def test_nothing_lies_beyond_the_edges(ratio):
    low, high = marchenko_pastur_edges(ratio)
    assert_allclose(
        marchenko_pastur_cdf([low - 1, low, high, high + 1], ratio), [0, 0, 1, 1]
    )


@pytest.mark.parametrize(("n", "d"), [(1500, 300), (400, 800)])
def test_agrees_with_the_eigenvalues_of_noise(n, d):
    X = np.random.default_rng(0).standard_normal((n, d))
    values = np.sort(np.linalg.svd(X, compute_uv=False) ** 2 / n)
    shares = (np.arange(len(values)) + 0.5) / len(values)
    assert_allclose(marchenko_pastur_cdf(values, d / n), shares, atol=0.02)
    assert_allclose(np.median(values), marchenko_pastur_median(d / n), rtol=0.01)
    assert_allclose(values[-1], marchenko_pastur_edges(d / n)[1], rtol=0.05)


@given(st.floats(1e-6, 1e4), st.integers(0, 2**32 - 1))
def test_the_share_grows_and_half_lies_below_the_median(ratio, seed):
    low, high = marchenko_pastur_edges(ratio)
    x = np.sort(np.random.default_rng(seed).uniform(low, high, 20))
    assert np.all(np.diff(marchenko_pastur_cdf(x, ratio)) >= -1e-7)
    median = marchenko_pastur_median(ratio)
    assert low <= median <= high
    assert_allclose(marchenko_pastur_cdf(median, ratio), 0.5, atol=1e-6)
