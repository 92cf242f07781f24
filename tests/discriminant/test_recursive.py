"""Recursive least squares: against stacked rows, in blocks, and where it is flat."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep._neural import standardization
from skrep.discriminant import _recursive
from skrep.discriminant._recursive import hidden_moments, hidden_rows, updated_layer
from skrep.discriminant._sample import Sample
from tests.strategies import seeds


def problem(seed=0, n_old=40, n_new=25, n_hidden=6, n_outputs=3):
    rng = np.random.default_rng(seed)
    old, new = (rng.normal(size=(n, n_hidden)) for n in (n_old, n_new))
    layer = rng.normal(size=(n_hidden, n_outputs))
    return old, new, layer, rng.normal(size=(n_new, n_outputs))


def stacked(old, new, layer, targets):
    """The same layer from all rows at once."""
    rows, goals = np.vstack([old, new]), np.vstack([old @ layer, targets])
    return np.linalg.lstsq(rows, goals, rcond=None)[0]


@given(seed=seeds, n_new=st.integers(1, 30))
@settings(max_examples=30)
def test_old_rows_are_held_where_they_were_and_new_ones_pulled(seed, n_new):
    old, new, layer, targets = problem(seed, n_new=n_new)
    gram = old.T @ old + new.T @ new
    found = updated_layer(layer, gram, new.T @ (targets - new @ layer))
    # The ridge is a millionth of the mean square of a column.
    assert_allclose(found, stacked(old, new, layer, targets), atol=1e-4)


def test_without_the_ridge_it_is_the_stacked_problem(monkeypatch):
    monkeypatch.setattr(_recursive, "_RIDGE", 0.0)
    old, new, layer, targets = problem()
    gram = old.T @ old + new.T @ new
    found = updated_layer(layer, gram, new.T @ (targets - new @ layer))
    assert_allclose(found, stacked(old, new, layer, targets), rtol=1e-10, atol=1e-12)


def test_nothing_new_changes_nothing():
    old, _, layer, _ = problem()
    assert_array_equal(updated_layer(layer, old.T @ old, np.zeros((6, 3))), layer)


def test_dead_and_repeated_columns_are_harmless():
    old, new, layer, targets = problem()
    gram = old.T @ old + new.T @ new
    product = new.T @ (targets - new @ layer)
    plain = updated_layer(layer, gram, product)
    # Column 6 is always 0, and column 7 is column 0.
    cut = np.eye(6)[:, [0, 1, 2, 3, 4, 5, 5, 0]]
    cut[:, 6] = 0
    wide = np.vstack([layer, np.ones((1, 3)), np.zeros((1, 3))])
    found = updated_layer(wide, cut.T @ gram @ cut, cut.T @ product)
    assert_array_equal(found[6], 1)
    assert_allclose(new @ cut @ found, new @ plain, atol=1e-4)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
@pytest.mark.parametrize("hidden", [(), (4,), (5, 3)])
def test_moments_are_sums_over_rows(monkeypatch, hidden, form):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4)) * (rng.random((30, 4)) < 0.6)
    codes, weights = rng.integers(0, 3, 30), rng.uniform(0.5, 2, 30)
    widths = [4, *hidden]
    coefs = [rng.normal(size=pair) for pair in itertools.pairwise(widths)]
    intercepts = [rng.normal(size=width) for width in hidden]
    targets = rng.normal(size=(3, 2))
    standard = standardization("test", X, np.ones(30))
    gram, cross = np.zeros((widths[-1] + 1,) * 2), np.zeros((widths[-1] + 1, 2))
    for row, code, weight in zip(X, codes, weights, strict=True):
        h = (row - standard.mean) / standard.scale
        for coef, intercept in zip(coefs, intercepts, strict=True):
            h = np.maximum(h @ coef + intercept, 0)
        h = np.append(h, 1)
        gram += weight * np.outer(h, h)
        cross += weight * np.outer(h, targets[code])
    sample = Sample(form(X), codes, weights)
    for n_rows in (30, 7):
        monkeypatch.setattr(
            _recursive,
            "row_blocks",
            lambda n, _, size=n_rows: (slice(i, i + size) for i in range(0, n, size)),
        )
        found = hidden_moments(sample, standard, coefs, intercepts, targets)
        assert_allclose(found[0], gram, rtol=1e-10, atol=1e-12)
        assert_allclose(found[1], cross, rtol=1e-10, atol=1e-12)


def test_hidden_rows_are_float64_and_end_in_ones():
    rows = np.array([[1.0, -2.0]], dtype=np.float32)
    assert_array_equal(hidden_rows(rows, [], []), [[1, -2, 1]])
    coef, intercept = np.eye(2, dtype=np.float32), np.ones(2, dtype=np.float32)
    found = hidden_rows(rows, [coef], [intercept])
    assert_array_equal(found, [[2, 0, 1]])
    assert found.dtype == np.float64
    assert_array_equal(rows, [[1, -2]])
