"""Discriminant axes against scikit-learn, SciPy and their definition."""

import tracemalloc

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import OAS
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skrep.linalg import (
    GroupMoments,
    Moments,
    contrast_axes,
    discriminant_axes,
    oas_shrinkage,
)
from skrep.metrics import subspace_distance
from tests.strategies import seeds


def grouped(n=200, d=6, n_classes=4, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return X + 2 * rng.standard_normal((n_classes, d))[y] + offset, y


def solved(X, y, *args, **options):
    return discriminant_axes(GroupMoments.of(X, y), *args, **options)


def covariances(X, y, shares=None):
    """Within and between by a loop, with the divisor n."""
    counts = np.bincount(y)
    shares = counts / len(y) if shares is None else shares
    means = np.array([X[y == c].mean(axis=0) for c in range(len(counts))])
    gaps = means - shares @ means
    within = (X - means[y]).T @ (X - means[y]) / len(X)
    return within, (gaps * shares[:, None]).T @ gaps


def same_columns(one, other, atol=1e-8):
    """Equal up to the signs of columns."""
    signs = np.sign(np.sum(one * other, axis=0))
    assert_allclose(one * signs, other, atol=atol)


@pytest.mark.parametrize(("n", "d"), [(8, 20), (50, 10), (400, 5)])
def test_shrinkage_is_that_of_scikit_learn(n, d):
    X = np.random.default_rng(0).standard_normal((n, d)) * np.arange(1, d + 1)
    X -= X.mean(axis=0)
    expected = OAS(assume_centered=True).fit(X).shrinkage_
    assert oas_shrinkage(X.T @ X / n, n) == pytest.approx(expected)


@pytest.mark.parametrize("covariance", [np.eye(1), np.zeros((3, 3))])
def test_nothing_is_shrunk_without_columns_to_compare(covariance):
    assert oas_shrinkage(covariance, 5) == 0


@pytest.mark.parametrize("solver", ["svd", "eigen"])
@pytest.mark.parametrize("data", [load_wine(return_X_y=True), grouped(d=8)])
def test_without_shrinkage_axes_are_those_of_scikit_learn(solver, data):
    X, y = data
    peer = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    axes = solved(X, y)
    n = axes.n_between
    assert n == y.max()
    center = X - X.mean(axis=0)
    same_columns(center @ axes.directions[:, :n], center @ peer.scalings_[:, :n])
    ratio = axes.values / axes.values.sum()
    assert_allclose(ratio[:n], peer.explained_variance_ratio_)


def test_priors_are_those_of_scikit_learn():
    X, y = grouped(d=8)
    priors = np.array([0.4, 0.3, 0.2, 0.1])
    peer = LinearDiscriminantAnalysis(priors=priors).fit(X, y)
    same_columns(solved(X, y, 0.0, priors).directions[:, :3], peer.scalings_)


@pytest.mark.parametrize("shrinkage", [1e-3, 0.3, 1.0])
def test_shrunk_axes_give_the_discriminants_of_scikit_learn(shrinkage):
    X, y = grouped(d=8)
    axes = solved(X, y, shrinkage)
    means = GroupMoments.of(X, y).means @ axes.directions[:, : axes.n_between]
    Z = X @ axes.directions[:, : axes.n_between]
    scores = Z @ means.T - np.einsum("ij,ij->i", means, means) / 2
    for solver in ("lsqr", "eigen"):
        peer = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage)
        other = peer.fit(X, y).decision_function(X)
        assert_allclose(scores - scores[:, :1], other - other[:, :1], atol=1e-8)


@pytest.mark.parametrize("shrinkage", [0.3, 0.5])
def test_scikit_learn_shrinks_between_classes_too(shrinkage):
    """Why the axes of its solver "eigen" are others once it shrinks: worse ones."""
    X, y = grouped(n=60, d=5, n_classes=2)
    X[:, 0] *= 30
    within, between = covariances(X, y)
    shrunk = (1 - shrinkage) * within + shrinkage * np.trace(within) / 5 * np.eye(5)
    mine = solved(X, y, shrinkage).directions[:, 0]
    peer = LinearDiscriminantAnalysis(solver="eigen", shrinkage=shrinkage).fit(X, y)
    theirs = peer.scalings_[:, 0]
    ratios = [v @ between @ v / (v @ shrunk @ v) for v in (mine, theirs)]
    assert ratios[1] < 0.95 * ratios[0]


@settings(deadline=None, max_examples=30)
@given(
    seed=seeds,
    shrinkage=st.sampled_from([0.0, 1e-6, 0.1, 0.7, 1.0, None]),
    uniform=st.booleans(),
    standardize=st.booleans(),
)
def test_axes_solve_the_problem(seed, shrinkage, uniform, standardize):
    X, y = grouped(n=40, d=7, n_classes=4, seed=seed, offset=3)
    shares = np.full(4, 0.25) if uniform else None
    X, y = X[3:], y[3:]
    axes = solved(X, y, shrinkage, shares, standardize=standardize)
    within, between = covariances(X, y, shares)
    units = np.sqrt(np.diag(within)) if standardize else np.ones(7)
    within, between = (S / units / units[:, None] for S in (within, between))
    if shrinkage is None:
        shrinkage = oas_shrinkage(within, len(X))
    Sw = (1 - shrinkage) * within + shrinkage * np.trace(within) / 7 * np.eye(7)
    A = axes.directions * units[:, None]
    assert axes.n_between == 3
    assert_allclose(A.T @ Sw @ A, np.eye(7), atol=1e-7)
    assert_allclose(A.T @ between @ A, np.diag(axes.values), atol=1e-7)
    expected = scipy.linalg.eigh(between, Sw, eigvals_only=True)[::-1]
    assert_allclose(axes.values[:3], expected[:3])
    assert_array_equal(axes.values[3:], 0)
    rest = A[:, 3:]
    per_length = np.einsum("ij,ik,kj->j", rest, within, rest) / np.sum(rest**2, axis=0)
    assert (np.diff(per_length) < 0).all()
    lengths = np.linalg.norm(rest, axis=0)
    assert_allclose(rest.T @ rest / lengths / lengths[:, None], np.eye(4), atol=1e-6)


@pytest.mark.parametrize("shrinkage", [0.0, 0.3, 1.0])
def test_what_is_left_is_principal_axes(shrinkage):
    """Class means differ along one column alone: the rest is the PCA of the others."""
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((50, 4)) * [4, 3, 2, 1] @ rng.standard_normal((4, 4))
    noise -= noise.mean(axis=0)
    first = np.repeat([[-1.0], [1.0]], 25, axis=0)
    X = np.vstack([np.hstack([first, noise]), np.hstack([-first, noise])])
    axes = solved(X, np.repeat([0, 1, 1, 0], 25), shrinkage)
    assert axes.n_between == 1
    expected = PCA().fit(noise).components_
    rest = axes.directions[1:, 1:].T
    rest /= np.linalg.norm(rest, axis=1)[:, None]
    same_columns(rest.T, expected.T)


def test_order_is_that_of_the_ratio_and_signs_are_fixed():
    X, y = grouped(seed=3)
    X *= [1, 10, 1e3, 1, 1e-2, 1]
    for standardize in (False, True):
        axes = solved(X, y, standardize=standardize)
        assert (np.diff(axes.values) <= 0).all()
        units = axes.directions * X.std(axis=0)[:, None]
        assert (units[np.abs(units).argmax(axis=0), np.arange(6)] > 0).all()


# --- rows that leave something open ------------------------------------------------


@pytest.mark.parametrize("shrinkage", [0.0, 0.2, None])
@pytest.mark.parametrize("standardize", [False, True])
def test_constant_columns_are_as_if_they_were_not_there(shrinkage, standardize):
    X, y = grouped()
    wide = np.hstack([np.full((len(X), 1), 1e6), X, np.full((len(X), 2), 0.1)])
    axes = solved(X, y, shrinkage, standardize=standardize)
    other = solved(wide, y, shrinkage, standardize=standardize)
    assert_array_equal(other.directions[[0, -2, -1]], 0)
    assert_allclose(other.directions[1:-2], axes.directions, atol=1e-9)
    assert_allclose(other.values, axes.values)


@pytest.mark.parametrize("standardize", [False, True])
def test_copies_of_columns_add_nothing(standardize):
    X, y = grouped()
    wide = np.hstack([X, X[:, :2], X[:, [0]] - 3 * X[:, [4]]])
    axes, other = (solved(Z, y, standardize=standardize) for Z in (X, wide))
    assert len(other.values) == 6
    assert other.n_between == 3
    same_columns(wide @ other.directions[:, :3], X @ axes.directions[:, :3], 1e-7)
    spans = [(Z - Z.mean(axis=0)) @ A.directions for Z, A in ((wide, other), (X, axes))]
    assert subspace_distance(spans[0].T, spans[1].T) < 1e-6


@pytest.mark.parametrize("shrinkage", [0.0, 0.4, None])
def test_one_unit_for_all_columns_is_of_no_consequence(shrinkage):
    X, y = grouped()
    axes = solved(X, y, shrinkage)
    for factor in (1e-100, 1e-4, 1e4, 1e100):
        other = solved(factor * X, y, shrinkage)
        assert_allclose(other.directions * factor, axes.directions, atol=1e-9)


@pytest.mark.parametrize("standardize", [False, True])
def test_units_of_columns_decide_nothing(standardize):
    X, y = grouped()
    units = np.array([1e4, 1e-4, 1, 100, 1e-2, 1e3])
    shrinkage = 0.3 if standardize else 0.0
    axes, other = (
        solved(Z, y, shrinkage, standardize=standardize) for Z in (X, X * units)
    )
    n = 6 if standardize else 3
    assert len(other.values) == 6
    same_columns(other.directions[:, :n] * units[:, None], axes.directions[:, :n], 1e-7)


def test_standardizing_draws_correlations_towards_zero():
    X, y = load_wine(return_X_y=True)
    within, _ = covariances(X, y)
    A = solved(X, y, 0.3, standardize=True).directions
    drawn = 0.7 * within + 0.3 * np.diag(np.diag(within))
    assert_allclose(A.T @ drawn @ A, np.eye(13), atol=1e-9)


def test_a_column_that_classes_fix_has_no_deviation_within():
    X, y = grouped()
    fixed = np.hstack([X, y[:, None] % 2])
    for shrinkage in (0.0, 0.3, None):
        axes = solved(fixed, y, shrinkage, standardize=True)
        assert np.isfinite(axes.directions).all()
        scores = fixed @ axes.directions[:, 0]
        parity = [scores[y % 2 == k].mean() for k in (0, 1)]
        spread = scores[y == 0].std()
        assert abs(parity[1] - parity[0]) > 2 * spread
        units = np.array([1, 1, 1, 1, 1, 1, 1e4])
        other = solved(fixed * units, y, shrinkage, standardize=True)
        same_columns(other.directions * units[:, None], axes.directions, 1e-7)


@pytest.mark.parametrize("shrinkage", [0.0, 0.5, None])
@pytest.mark.parametrize("standardize", [False, True])
def test_rows_that_equal_their_class_mean(shrinkage, standardize):
    rng = np.random.default_rng(0)
    means = rng.standard_normal((4, 6)) * [5, 1, 1, 1, 1, 1]
    axes = solved(
        means[np.arange(40) % 4], np.arange(40) % 4, shrinkage, standardize=standardize
    )
    assert axes.n_between == 3
    assert np.isfinite(axes.directions).all()
    assert_allclose(axes.values, 1e10, rtol=1e-6)
    if not standardize:
        # Then nothing but the variance of the means for their length gives an order.
        expected = PCA().fit(means).components_[:3].T
        same_columns(
            axes.directions / np.linalg.norm(axes.directions, axis=0), expected
        )


def test_fewer_rows_than_columns_through_the_ridge():
    X, y = grouped(n=15, d=30, n_classes=3)
    within, _ = covariances(X, y)
    plain = solved(X, y, 0.0)
    assert len(plain.values) == 14
    assert plain.n_between == 2
    A = plain.directions[:, :2]
    assert_allclose(A.T @ within @ A, 0, atol=1e-8 * np.sum(A**2))
    ridged = solved(X, y, 1e-9).directions[:, :2]
    assert subspace_distance(A.T, ridged.T) < 1e-5
    shrunk = solved(X, y, 0.3)
    assert shrunk.directions.shape == (30, 14)
    outside = scipy.linalg.null_space(X - X.mean(axis=0))
    assert_allclose(outside.T @ shrunk.directions, 0, atol=1e-9)


def test_rounding_of_single_precision_makes_no_dimension():
    X, y = grouped(d=4, offset=40)
    X = X.astype(np.float32)
    wide = np.hstack([X, X[:, [0]] + X[:, [1]] * np.float32(0.3)])
    axes = solved(wide, y, precision=2.0**-23)
    assert len(axes.values) == 4


def test_equal_means_come_apart_nowhere():
    X = np.random.default_rng(0).standard_normal((40, 3)) + 1e5
    axes = solved(np.vstack([X, X]), np.repeat([0, 1], 40))
    assert axes.n_between == 0
    assert_array_equal(axes.values, np.zeros(3))
    assert_allclose(np.cov((X @ axes.directions).T, bias=True), np.eye(3), atol=1e-6)


def test_means_that_differ_by_rounding_are_equal():
    means = np.array([[5.0, 1.0], [5.0, 1.0 + 1e-12]])
    groups = GroupMoments(np.arange(2), np.full(2, 9.0), means, 18 * np.eye(2), 18)
    assert discriminant_axes(groups).n_between == 0


def test_means_on_a_line_come_apart_along_one_axis():
    X = np.random.default_rng(0).standard_normal((30, 3))
    X = np.vstack([X - X.mean(axis=0) + shift for shift in ([0, 0, 0], [1, 2, 0])])
    X = np.vstack([X, X[:30] + np.array([3, 6, 0])])
    axes = solved(X, np.repeat([0, 1, 2], 30))
    assert axes.n_between == 1
    assert axes.values[0] > 1


def test_one_group_and_no_columns():
    X, _ = grouped()
    axes = solved(X, np.zeros(len(X)))
    assert (axes.n_between, axes.directions.shape) == (0, (6, 6))
    axes = solved(np.ones((9, 2)), np.arange(9) % 2)
    assert (axes.n_between, axes.directions.shape) == (0, (2, 0))


def test_more_groups_than_columns():
    X, y = grouped(n=300, d=3, n_classes=20)
    axes = solved(X, y)
    assert axes.n_between == 3
    within, between = covariances(X, y)
    expected = scipy.linalg.eigh(between, within, eigvals_only=True)[::-1]
    assert_allclose(axes.values, expected)


def test_groups_take_no_matrix_each():
    rng = np.random.default_rng(0)
    C, d = 4000, 60
    groups = GroupMoments(
        np.arange(C), np.ones(C), rng.standard_normal((C, d)), np.eye(d) * C, 2 * C
    )
    tracemalloc.start()
    discriminant_axes(groups, None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * 8 * (C * d + d * d)


# --- contrasts of any kind ---------------------------------------------------------


def test_classes_are_contrasts_of_their_means():
    X, y = grouped()
    within, _ = covariances(X, y)
    counts = np.bincount(y) / len(y)
    groups = GroupMoments.of(X, y)
    contrasts = np.sqrt(counts)[:, None] * (groups.means - X.mean(axis=0))
    one = contrast_axes(within, contrasts, Moments.of(X), None, n_rows=len(X))
    other = discriminant_axes(groups, None)
    assert_allclose(one.directions, other.directions, atol=1e-9)
    assert_allclose(one.values, other.values, atol=1e-9)


def test_weights_of_sum_one_count_rows():
    X, y = grouped(n=40)
    groups = GroupMoments.of(X, y, np.full(40, 1 / 40))
    assert_allclose(discriminant_axes(groups, None).values, solved(X, y, None).values)


def test_inputs_are_left_alone():
    X, y = grouped()
    groups = GroupMoments.of(X, y)
    kept = [groups.means.copy(), groups.scatter.copy()]
    for standardize in (False, True):
        discriminant_axes(groups, None, standardize=standardize)
    assert_array_equal(groups.means, kept[0])
    assert_array_equal(groups.scatter, kept[1])


def nearly_means(spread):
    """Rows that differ from the mean of their class by a share of what means do."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 4
    means = rng.standard_normal((4, 6)) * [5, 1, 1, 1, 1, 1]
    return means[y] + spread * rng.standard_normal((60, 6)) * np.arange(1, 7), y


def test_there_is_nothing_to_shrink_towards_under_the_floor():
    X, y = nearly_means(1e-7)
    shrunk, plain = solved(X, y, 0.5), solved(X, y, 0.0)
    same_columns(shrunk.directions, plain.directions)
    X, y = nearly_means(1e-3)
    turned = solved(X, y, 0.5).directions[:, :3] / solved(X, y, 0.0).directions[:, :3]
    assert abs(turned - 1).max() > 0.1


def test_columns_that_do_not_vary_within_classes_have_the_unit_of_all_rows():
    X, y = nearly_means(0.3)
    gaps = X[:, 5] - X[:, 5].mean()
    X[:, 5] = y
    exact = solved(X, y, 0.5, standardize=True)
    X[:, 5] += 1e-7 * gaps
    nearly = solved(X, y, 0.5, standardize=True)
    assert_allclose(nearly.values[:3], exact.values[:3], rtol=1e-4)
