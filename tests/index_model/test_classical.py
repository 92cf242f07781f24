"""The classical inverse regressions: against loops over whitened rows, and LDA."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skrep.datasets import make_index_model
from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)
from skrep.linalg import (
    Moments,
    SliceMoments,
    averaged_variances,
    directional_regression,
    inverse_means,
    quantile_edges,
    slice_codes,
    whiten_slices,
    whitening,
)
from skrep.metrics import subspace_distance
from tests.strategies import seeds

SLICED = (
    SlicedInverseRegression,
    SlicedAverageVarianceEstimation,
    DirectionalRegression,
)


# --- candidate matrices, row by row ------------------------------------------------


def whiten(X):
    """Rows of identity covariance, the covariance with divisor n."""
    gaps = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(gaps.T @ gaps / len(X))
    return gaps @ vectors / np.sqrt(values)


def naive_sir(z, slices):
    M = np.zeros((z.shape[1],) * 2)
    for h in np.unique(slices):
        mean = sum(z[slices == h]) / np.sum(slices == h)
        M += np.mean(slices == h) * np.outer(mean, mean)
    return M


def naive_save(z, slices):
    M = np.zeros((z.shape[1],) * 2)
    for h in np.unique(slices):
        own = z[slices == h]
        if len(own) < 2:
            continue
        mean = own.mean(axis=0)
        within = sum(np.outer(row - mean, row - mean) for row in own) / (len(own) - 1)
        gap = np.eye(z.shape[1]) - within
        M += np.mean(slices == h) * gap @ gap
    return M


def naive_dr(z, slices):
    """Over pairs of slices, as directional regression is defined."""
    d = z.shape[1]
    M = np.zeros((d, d))
    for h in np.unique(slices):
        for k in np.unique(slices):
            one, other = z[slices == h], z[slices == k]
            gaps = (one[:, None] - other[None]).reshape(-1, d)
            gap = 2 * np.eye(d) - gaps.T @ gaps / len(gaps)
            M += np.mean(slices == h) * np.mean(slices == k) * gap @ gap
    return M


def written_dr(z, slices):
    """The sum that it amounts to."""
    M = naive_sir(z, slices)
    squares = np.zeros_like(M)
    for h in np.unique(slices):
        second = np.mean([np.outer(row, row) for row in z[slices == h]], axis=0)
        squares += np.mean(slices == h) * second @ second
    return 2 * squares + 2 * M @ M + 2 * np.trace(M) * M - 2 * np.eye(len(M))


def naive_phd(z, y):
    deviations = (y - y.mean()) / y.std()
    products = [g * np.outer(row, row) for g, row in zip(deviations, z, strict=True)]
    return sum(products) / len(z)


PAIRS = [
    (inverse_means, naive_sir),
    (averaged_variances, naive_save),
    (directional_regression, naive_dr),
    (directional_regression, written_dr),
]


@pytest.mark.parametrize(("fast", "slow"), PAIRS, ids=lambda f: f.__name__)
@given(seed=seeds, n_slices=st.integers(1, 6))
@settings(max_examples=25, deadline=None)
def test_candidate_matrices_are_those_of_whitened_rows(fast, slow, seed, n_slices):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 3)) @ rng.normal(size=(3, 3)) + 10
    # One slice may hold a single row, which SAVE leaves out.
    slices = np.r_[n_slices, rng.integers(0, n_slices, 39)]
    white = whitening(Moments.of(X))
    z = (X - white.mean) @ white.map
    found = fast(whiten_slices(SliceMoments.of(X, slices), white))
    expected = slow(z, slices)
    assert_allclose(found, expected, atol=1e-8 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize(
    ("cls", "slow"), list(zip(SLICED, (naive_sir, naive_save, naive_dr), strict=True))
)
@pytest.mark.parametrize("design", ["ar1", "t5", "gmm"])
def test_estimators_are_eigenvectors_of_their_matrix(cls, slow, design):
    X, y, _ = make_index_model(500, 5, links="ratio", design=design, random_state=0)
    z = whiten(X)
    slices = slice_codes(y, quantile_edges(y, 10))
    values, vectors = np.linalg.eigh(slow(z, slices))
    fitted = cls(n_components=3).fit(X, y)
    assert_allclose(fitted.eigenvalues_, values[::-1], rtol=1e-8)
    expected = z @ vectors[:, ::-1][:, :3]
    found = fitted.transform(X)
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_allclose(found * signs, expected, atol=1e-8)


@pytest.mark.parametrize("design", ["ar1", "t5", "gmm"])
def test_hessian_directions_are_ordered_by_size(design):
    X, y, _ = make_index_model(500, 5, links="even", design=design, random_state=0)
    z = whiten(X)
    for sign in (1, -1):
        values, vectors = np.linalg.eigh(naive_phd(z, sign * y))
        order = np.argsort(-np.abs(values))
        fitted = PrincipalHessianDirections(n_components=3).fit(X, sign * y)
        assert_allclose(fitted.eigenvalues_, np.abs(values[order]), rtol=1e-10)
        expected = z @ vectors[:, order[:3]]
        found = fitted.transform(X)
        signs = np.sign(np.sum(found * expected, axis=0))
        assert_allclose(found * signs, expected, atol=1e-8)


def test_of_several_responses_hessians_are_squared_and_added():
    X, y, _ = make_index_model(500, 5, links=["even", "product"], random_state=0)
    z, whitened = whiten(X), whiten(y)
    squares = sum(naive_phd(z, column) @ naive_phd(z, column) for column in whitened.T)
    fitted = PrincipalHessianDirections().fit(X, y)
    values = np.sqrt(np.linalg.eigvalsh(squares)[::-1])
    assert_allclose(fitted.eigenvalues_, values, rtol=1e-8)


@pytest.mark.parametrize("cls", SLICED)
def test_of_several_responses_matrices_are_averaged(cls):
    X, y, _ = make_index_model(600, 4, links=["even", "linear"], random_state=0)
    slow = dict(zip(SLICED, (naive_sir, naive_save, naive_dr), strict=True))[cls]
    z = whiten(X)
    M = sum(slow(z, slice_codes(column, quantile_edges(column, 10))) for column in y.T)
    values = np.linalg.eigvalsh(M / 2)[::-1]
    assert_allclose(cls().fit(X, y).eigenvalues_, values, rtol=1e-8)


# --- equalities of textbooks -------------------------------------------------------


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_inverse_regression_on_classes_is_discriminant_analysis(load):
    X, y = load(return_X_y=True)
    sir = SlicedInverseRegression().fit(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    found, expected = sir.transform(X), lda.transform(X)
    assert found.shape == expected.shape == (len(X), 2)
    expected = (expected - expected.mean(axis=0)) / expected.std(axis=0)
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_allclose(found * signs, expected, atol=1e-6)
    # Between over total variance, for sklearn's share of between over within.
    ratios = sir.eigenvalues_[:2] / (1 - sir.eigenvalues_[:2])
    assert_allclose(ratios / ratios.sum(), lda.explained_variance_ratio_, rtol=1e-8)


def test_inverse_regression_is_order_one_on_slices():
    X, y, _ = make_index_model(500, 5, links="ratio", design="ar1", random_state=1)
    edges = np.quantile(y, [0.2, 0.4, 0.6, 0.8])
    for given_edges in (None, edges):
        sir = SlicedInverseRegression(slice_edges=given_edges).fit(X, y)
        stein = SteinIndex(order=1, response="slices", slice_edges=given_edges)
        stein.fit(X, y)
        assert_array_equal(stein.slice_edges_, sir.slice_edges_)
        assert_allclose(stein.eigenvalues_, sir.eigenvalues_, rtol=1e-12)
        assert_allclose(stein.components_, sir.components_, rtol=1e-10)
        assert stein.noise_edge_ == sir.noise_edge_


def test_order_one_of_raw_responses_is_canonical_correlation_analysis():
    X, y, _ = make_index_model(500, 6, links="multi5", design="ar1", random_state=0)
    stein = SteinIndex(order=1, response="raw").fit(X, y)
    cca = CCA(5, tol=1e-12, max_iter=10_000).fit(X, y)
    found, expected = stein.transform(X), cca.transform(X)
    expected = expected / expected.std(axis=0)
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_allclose(found * signs, expected, atol=1e-4)
    # Squared canonical correlations, from the whitened sides.
    cross = whiten(X).T @ whiten(y) / len(X)
    correlations = np.linalg.svd(cross, compute_uv=False)
    assert_allclose(stein.eigenvalues_, correlations**2, rtol=1e-8)


def test_order_one_of_one_raw_response_is_least_squares():
    X, y, _ = make_index_model(300, 5, links="cubic", design="ar1", random_state=0)
    stein = SteinIndex(order=1, response="raw").fit(X, y)
    design = np.column_stack([X, np.ones(len(X))])
    slope = np.linalg.lstsq(design, y, rcond=None)[0][:-1]
    assert stein.components_.shape == (1, 5)
    assert subspace_distance(stein.components_, slope[None]) < 1e-10
    explained = np.var(design[:, :-1] @ slope) / np.var(y)
    assert_allclose(stein.eigenvalues_, [explained], rtol=1e-10)


@pytest.mark.parametrize("links", ["even", "product"])
def test_order_two_of_raw_responses_is_that_of_hessians_up_to_noise(links):
    X, y, components = make_index_model(2000, 6, links=links, random_state=0)
    stein = SteinIndex(order=2, response="raw").fit(X, y)
    hessian = PrincipalHessianDirections().fit(X, y)
    kept = np.count_nonzero(stein.eigenvalues_)
    assert kept == len(components)
    assert_allclose(
        stein.eigenvalues_[:kept], hessian.eigenvalues_[:kept] ** 2 / 2, rtol=1e-8
    )
    assert_allclose(stein.noise_edge_, hessian.noise_edge_**2 / 2)
    distance = subspace_distance(stein.components_[:kept], hessian.components_[:kept])
    assert distance < 1e-8


def test_directional_regression_is_made_of_both_orders():
    X, y, _ = make_index_model(500, 4, links="ratio", random_state=0)
    z, slices = whiten(X), slice_codes(y, quantile_edges(y, 10))
    squares = np.zeros((4, 4))
    for h in np.unique(slices):
        g = ((slices == h) - np.mean(slices == h)) / np.sqrt(np.mean(slices == h))
        A = (g[:, None] * z).T @ z / len(z) - np.mean(g) * np.eye(4)
        squares += A @ A
    M = naive_sir(z, slices)
    expected = 2 * squares + 2 * M @ M + 2 * np.trace(M) * M
    values = np.linalg.eigvalsh(expected)[::-1]
    found = DirectionalRegression().fit(X, y).eigenvalues_
    assert_allclose(found, values, rtol=1e-8)


# --- what each sees ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("cls", "links", "seen"),
    [
        (SlicedInverseRegression, "cubic", True),
        (SlicedInverseRegression, "even", False),
        (SlicedAverageVarianceEstimation, "cubic", True),
        (SlicedAverageVarianceEstimation, "even", True),
        (DirectionalRegression, "cubic", True),
        (DirectionalRegression, "even", True),
        (PrincipalHessianDirections, "even", True),
        (PrincipalHessianDirections, "linear", False),
    ],
)
def test_which_link_is_seen_by_what(cls, links, seen):
    X, y, components = make_index_model(2000, 8, links=links, random_state=0)
    fitted = cls(n_components=1).fit(X, y)
    distance = subspace_distance(fitted.components_, components)
    assert distance < 0.25 if seen else distance > 0.5


@pytest.mark.parametrize("cls", [*SLICED, PrincipalHessianDirections])
def test_outputs_are_centered_uncorrelated_and_of_unit_variance(cls):
    X, y, _ = make_index_model(300, 5, design="ar1", random_state=0)
    Z = cls().fit(X + 100, y).transform(X + 100)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    assert_allclose(Z.T @ Z / len(Z), np.eye(5), atol=1e-9)


@pytest.mark.parametrize("cls", SLICED)
def test_what_y_holds_can_be_said(cls):
    X, y, _ = make_index_model(300, 4, random_state=0)
    rounded = np.round(y).astype(int)
    classes, numbers = (cls(target_type=kind) for kind in ("classes", "numbers"))
    assert classes.fit(X, rounded).slice_edges_ is None
    assert len(numbers.fit(X, rounded).slice_edges_)
    with pytest.raises(ValueError, match=r"Pass y.astype\(float\)"):
        numbers.fit(X, rounded.astype(str))


def test_hessians_refuse_labels():
    X, y, _ = make_index_model(50, 4, random_state=0)
    with pytest.raises(ValueError, match=r"Pass y.astype\(float\)\.$"):
        PrincipalHessianDirections().fit(X, np.where(y > 0, "a", "b"))
