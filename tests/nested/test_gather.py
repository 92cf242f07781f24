"""Canonical axes from moments against those from the rows."""

import numpy as np
import pytest

from skrep.linalg import fix_signs, ridge_cca
from skrep.nested._gather import Side, canonical_axes


@pytest.mark.parametrize("shrinkage", [None, 0.1, 0.0])
@pytest.mark.parametrize(("n", "width"), [(300, 12), (300, 30), (15, 12)])
def test_canonical_axes_are_those_of_the_rows(shrinkage, n, width):
    if shrinkage == 0 and n == 15:
        shrinkage = 0.01  # Without a ridge all correlations tie at one.
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 20)) + 5
    pairs = X[:, :8] @ rng.standard_normal((8, width)) - 3
    pairs += rng.standard_normal((n, width))
    weights = rng.integers(1, 3, n).astype(float)
    own, other = canonical_axes("test", Side(X, weights), pairs, shrinkage)
    ridge = 1.0 if shrinkage is None else shrinkage
    roots = np.sqrt(weights / weights.sum())[:, None]
    P, Q = (roots * (R - np.average(R, axis=0, weights=weights)) for R in (X, pairs))
    W, V, correlations = ridge_cca(
        P,
        Q,
        x_penalty=ridge * np.sum(P**2) / 20,
        y_penalty=ridge * np.sum(Q**2) / width,
    )
    np.testing.assert_allclose(own.values, correlations)
    scale = np.sqrt(correlations)
    for found, expected in ((own, W * scale), (other, V * scale)):
        np.testing.assert_allclose(
            fix_signs(found.directions.T), fix_signs(expected.T), atol=1e-8
        )
    together = np.sum(own.directions * (W * scale), axis=0)
    np.testing.assert_array_equal(
        np.sign(together), np.sign(np.sum(other.directions * (V * scale), axis=0))
    )
