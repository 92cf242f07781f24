"""Laws of index models: what moves X, y and the weights, and how outputs answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)
from tests.strategies import seeds

RAW = [
    SteinIndex(order=1, response="raw"),
    SteinIndex(order=2, response="raw"),
    SteinIndex(response="raw"),
    PrincipalHessianDirections(),
]
SLICES = [
    SteinIndex(order=1),
    SteinIndex(order=2),
    SteinIndex(),
    SlicedInverseRegression(),
    SlicedAverageVarianceEstimation(),
    DirectionalRegression(),
]


@st.composite
def tables(draw, estimators, n_responses=1):
    """An estimator, rows of some scale, and what depends on the first two columns."""
    rng = np.random.default_rng(draw(seeds))
    n, d = 2 * draw(st.integers(40, 80)), draw(st.integers(2, 4))
    factors = draw(st.sampled_from([1e-3, 1.0, 1e3])) * np.arange(1, d + 1)
    Z = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    noise = rng.normal(size=(n, n_responses))
    y = Z[:, :1] + Z[:, 1:2] ** 2 + np.arange(n_responses) * Z[:, :1] ** 3 + 0.3 * noise
    X = Z * factors + rng.normal(size=d)
    return draw(st.sampled_from(estimators)), X, y if n_responses > 1 else y[:, 0], rng


def fit(estimator, X, y, **params):
    return clone(estimator).fit(X, y, **params)


def gap(one, X, other, W, order=None):
    """Largest difference of the outputs, up to signs."""
    Z, V = one.transform(X), other.transform(W)
    assert Z.shape == V.shape
    if order is not None:
        Z = Z[order]
    signs = np.sign(np.sum(Z * V, axis=0))
    return np.abs(Z * signs - V).max()


def rotated(X, rng):
    return X @ np.linalg.qr(rng.normal(size=(X.shape[1],) * 2))[0]


def scaled(X, rng):
    return X * 10.0 ** rng.uniform(-3, 3, X.shape[1])


def mapped(X, rng):
    A = rotated(np.diag(10.0 ** rng.uniform(-1, 1, X.shape[1])), rng)
    return X @ rotated(A.T, rng) + X.std() * rng.normal(size=X.shape[1])


# --- rows of the table of equivariance: raw responses, and slices -------------------


@pytest.mark.parametrize("act", [rotated, scaled, mapped])
@given(table=tables(RAW + SLICES))
@settings(max_examples=20, deadline=None)
def test_maps_of_the_columns_change_no_output(act, table):
    estimator, X, y, rng = table
    W = act(X, rng)
    one, other = fit(estimator, X, y), fit(estimator, W, y)
    assert gap(one, X, other, W) < 1e-6
    assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-8)
    assert_allclose(one.noise_edge_, other.noise_edge_, rtol=1e-8)


@given(table=tables(RAW + SLICES), b=st.sampled_from([-7.0, -1e-3, 1e-3, 1.0, 1e3]))
@settings(max_examples=20, deadline=None)
def test_units_of_the_response_change_no_output(table, b):
    estimator, X, y, rng = table
    one, other = fit(estimator, X, y), fit(estimator, X, rng.normal() + b * y)
    assert gap(one, X, other, X) < 1e-6
    assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-8)


@given(table=tables(SLICES), increasing=st.sampled_from([np.cbrt, np.exp, np.arctan]))
@settings(max_examples=20, deadline=None)
def test_increasing_maps_of_the_response_leave_slices(table, increasing):
    estimator, X, y, _ = table
    one, other = fit(estimator, X, y), fit(estimator, X, increasing(y / 4))
    assert_array_equal(one.components_, other.components_)
    assert_array_equal(one.eigenvalues_, other.eigenvalues_)


@given(table=tables(RAW), increasing=st.sampled_from([np.cbrt, np.exp, np.arctan]))
@settings(max_examples=20, deadline=None)
def test_increasing_maps_of_the_response_change_raw_forms(table, increasing):
    estimator, X, y, _ = table
    one, other = fit(estimator, X, y), fit(estimator, X, increasing(y / 4))
    assert gap(one, X, other, X) > 1e-4


@given(table=tables(RAW + SLICES), ties=st.booleans())
@settings(max_examples=20, deadline=None)
def test_the_order_of_rows_is_that_of_outputs(table, ties):
    estimator, X, y, rng = table
    y = np.round(y) if ties else y
    order = rng.permutation(len(X))
    one, other = fit(estimator, X, y), fit(estimator, X[order], y[order])
    assert gap(one, X, other, X[order], order) < 1e-6


@given(table=tables(RAW + SLICES), ties=st.booleans())
@settings(max_examples=20, deadline=None)
def test_weights_are_repetitions(table, ties):
    estimator, X, y, rng = table
    y = np.round(y) if ties else y
    weights = rng.choice([0, 1, 3], len(X))
    repeated = (np.repeat(part, weights, axis=0) for part in (X, y))
    one, other = fit(estimator, X, y, sample_weight=weights), fit(estimator, *repeated)
    assert gap(one, X, other, X) < 1e-6
    assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-8)
    assert_allclose(one.noise_edge_, other.noise_edge_, rtol=1e-8)
    if one.slice_edges_ is not None:
        assert_array_equal(one.slice_edges_, other.slice_edges_)


@given(table=tables(RAW + SLICES))
@settings(max_examples=20, deadline=None)
def test_rows_without_weight_are_absent(table):
    estimator, X, y, rng = table
    present = rng.random(len(X)) < 0.8
    wild = np.where(present, y, 1e9)
    one = fit(estimator, X, wild, sample_weight=present * 1.0)
    other = fit(estimator, X[present], y[present])
    assert_array_equal(one.components_, other.components_)
    assert_array_equal(one.eigenvalues_, other.eigenvalues_)


@given(table=tables(SLICES))
@settings(max_examples=10, deadline=None)
def test_classes_without_weight_are_absent(table):
    estimator, X, y, _ = table
    labels = np.digitize(y, np.quantile(y, [0.1, 0.5])).astype(str)
    one = fit(estimator, X, labels, sample_weight=(labels != "0") * 1.0)
    other = fit(estimator, X[labels != "0"], labels[labels != "0"])
    assert_array_equal(one.components_, other.components_)


@pytest.mark.parametrize("estimator", RAW + SLICES, ids=repr)
def test_weights_are_validated(estimator):
    X = np.random.default_rng(0).normal(size=(60, 2))
    for bad in (-np.ones(60), np.zeros(60), np.ones(59)):
        with pytest.raises(ValueError, match=r"pass an array|Pass sample_weight=None"):
            fit(estimator, X, X[:, 0], sample_weight=bad)


@given(table=tables(RAW + SLICES, n_responses=2))
@settings(max_examples=15, deadline=None)
def test_units_of_several_responses_change_no_output(table):
    estimator, X, y, rng = table
    one, other = fit(estimator, X, y), fit(estimator, X, scaled(y, rng) + 1)
    assert gap(one, X, other, X) < 1e-6
    assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-8)


# Where order two is freed from noise, it is so response by response.
@given(table=tables([RAW[0], RAW[3]], n_responses=2))
@settings(max_examples=15, deadline=None)
def test_maps_among_raw_responses_change_no_output(table):
    estimator, X, y, rng = table
    one, other = fit(estimator, X, y), fit(estimator, X, mapped(y, rng))
    assert gap(one, X, other, X) < 1e-6
    assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-8)


@given(table=tables(SLICES, n_responses=2))
@settings(max_examples=15, deadline=None)
def test_slices_of_responses_do_not_know_their_order(table):
    estimator, X, y, _ = table
    one, other = fit(estimator, X, y), fit(estimator, X, y[:, ::-1])
    assert gap(one, X, other, X) < 1e-6


# --- rows come in parts ------------------------------------------------------------


@given(table=tables(RAW + SLICES), data=st.data())
@settings(max_examples=20, deadline=None)
def test_merging_is_fitting_on_all(table, data):
    estimator, X, y, rng = table
    estimator = clone(estimator)
    if "slice_edges" in estimator.get_params():
        estimator.set_params(slice_edges=np.quantile(y, [0.25, 0.5, 0.75]))
    cut = data.draw(st.integers(10, len(X) - 10))
    order = rng.permutation(len(X))
    one, other = (fit(estimator, X[rows], y[rows]) for rows in np.split(order, [cut]))
    streamed = clone(estimator)
    for rows in np.split(order, [cut, cut + 1]):
        streamed.partial_fit(X[rows], y[rows])
    whole = fit(estimator, X, y)
    for joined in (one.merge(other), streamed):
        assert gap(joined, X, whole, X) < 1e-6
        assert_allclose(joined.eigenvalues_, whole.eigenvalues_, atol=1e-8)
        assert_allclose(joined.noise_edge_, whole.noise_edge_, rtol=1e-8)


# --- outputs -----------------------------------------------------------------------


@given(table=tables(RAW + SLICES))
@settings(max_examples=20, deadline=None)
def test_outputs_are_centered_uncorrelated_and_of_unit_variance(table):
    estimator, X, y, _ = table
    fitted = fit(estimator, X, y)
    Z = fitted.transform(X)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-7)
    assert_allclose(Z.T @ Z / len(Z), np.eye(Z.shape[1]), atol=1e-7)
    # What the inverse gives has the same indices.
    assert_allclose(fitted.transform(fitted.inverse_transform(Z)), Z, atol=1e-6)


@given(table=tables(RAW + SLICES))
@settings(max_examples=20, deadline=None)
def test_fewer_components_are_the_first_of_more(table):
    estimator, X, y, _ = table
    whole = fit(estimator, X, y)
    for k in range(1, whole.n_components_ + 1):
        part = fit(clone(estimator).set_params(n_components=k), X, y)
        scale = np.abs(whole.components_).max()
        assert_allclose(part.components_, whole.components_[:k], atol=1e-8 * scale)
