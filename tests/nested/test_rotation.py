"""PrefixRotation against a naive deflation, and the laws it promises."""

import itertools
import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.covariance import oas
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression

from skrep.datasets import load_mammals
from skrep.invariance import Claim, check_invariance, unclaimed
from skrep.nested import PrefixRotation
from tests.strategies import seeds


def labeled(seed=0, n=80, d=7, n_coarse=3, n_fine=2):
    """Rows around class means, with a coarse and a fine label."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(n_coarse, size=n)
    fine = n_fine * coarse + rng.integers(n_fine, size=n)
    means = 2 * rng.normal(size=(n_coarse, d))[coarse]
    means += rng.normal(size=(n_coarse * n_fine, d))[fine]
    X = means + rng.normal(size=(n, d)) * np.linspace(2, 0.5, d) + rng.normal(size=d)
    return X, np.column_stack([coarse, fine])


def naive_level(X, y):
    """Orthonormal discriminants and their eigenvalues, pair of classes by pair."""
    names = sorted(set(y))
    means = {c: X[y == c].mean(axis=0) for c in names}
    shares = {c: np.mean(y == c) for c in names}
    rows = X - np.array([means[c] for c in y])
    within = oas(rows, assume_centered=True)[0]
    between = np.zeros_like(within)
    for a, b in itertools.combinations(names, 2):
        gap = means[a] - means[b]
        distance = math.sqrt(gap @ np.linalg.solve(within, gap))
        weight = math.erf(distance / math.sqrt(8)) / (2 * distance**2)
        between += shares[a] * shares[b] * weight * np.outer(gap, gap)
    values, vectors = scipy.linalg.eigh(between, within)
    n_axes = len(names) - 1
    axes = np.linalg.qr(vectors[:, ::-1][:, :n_axes])[0]
    return axes, values[::-1][:n_axes]


# --- the basis -------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_agrees_with_a_naive_deflation(seed):
    X, y = labeled(seed, d=9)
    model = PrefixRotation().fit(X, y)
    axes, values = naive_level(X, y[:, 0])
    rest = scipy.linalg.null_space(axes.T)
    finer, finer_values = naive_level(X @ rest, y[:, 1])
    axes = np.hstack([axes, rest @ finer])
    rest = scipy.linalg.null_space(axes.T)
    left = PCA().fit(X @ rest)
    axes = np.hstack([axes, rest @ left.components_.T])
    assert_array_equal(model.roles_, [0] * 2 + [1] * 5 + [-1] * 2)
    assert_allclose(np.abs(np.diag(model.components_ @ axes)), 1, rtol=1e-8)
    variances = left.explained_variance_ * (len(X) - 1) / len(X)
    assert_allclose(
        model.objective_values_, np.hstack([values, finer_values, variances])
    )


def test_one_class_gives_the_principal_axes():
    X, _ = labeled()
    model = PrefixRotation().fit(X, np.full(len(X), "all"))
    reference = PCA().fit(X)
    assert_array_equal(model.roles_, np.full(7, -1))
    products = model.components_ @ reference.components_.T
    assert_allclose(np.abs(products), np.eye(7), atol=1e-8)
    assert_allclose(
        model.objective_values_, reference.explained_variance_ * (len(X) - 1) / len(X)
    )


def test_signs_are_those_of_the_largest_entries():
    components = PrefixRotation().fit(*labeled()).components_
    largest = np.abs(components).argmax(axis=1)
    assert np.all(components[np.arange(7), largest] > 0)


def test_blocks_know_what_they_are_for():
    mammals = load_mammals()
    kept = np.bincount(mammals.target)[mammals.target] >= 20
    X, order = mammals.data[kept], mammals.target[kept]
    depth = np.clip(mammals.depth[kept], 3, 9)
    train = np.random.default_rng(0).random(len(X)) < 0.6

    def accuracy(Z, y):
        Z = Z * 10
        head = LogisticRegression(C=1, max_iter=1000).fit(Z[train], y[train])
        return head.score(Z[~train], y[~train])

    y = np.column_stack([order, depth])
    Z = PrefixRotation().fit(X[train], y[train]).transform(X)
    P = PCA().fit(X[train]).transform(X)
    assert accuracy(Z[:, :4], order) > accuracy(P[:, :4], order) + 0.1
    assert accuracy(Z[:, :9], order) > accuracy(P[:, :9], order) + 0.05
    assert accuracy(Z[:, 9:15], depth) > accuracy(Z[:, :9], depth) + 0.05
    assert accuracy(Z[:, 9:15], depth) > accuracy(P[:, 9:15], depth) + 0.1


# --- laws ------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    seeds,
    st.integers(1, 30),
    st.integers(1, 12),
    st.integers(1, 4),
    st.integers(1, 3),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([1e-3, 1.0, 1e3]),
)
def test_full_length_is_an_isometry(seed, n, d, n_coarse, n_fine, dtype, scale):
    X, y = labeled(seed, n, d, n_coarse, n_fine)
    X = (X * scale).astype(dtype)
    model = PrefixRotation().fit(X, y)
    Z = model.transform(X)
    bound = 1e-6 if dtype == np.float32 else 1e-12
    assert model.full_length_drift_ < bound
    size = np.max(np.sum(X.astype(float) ** 2, axis=1))
    assert_allclose(Z @ Z.T, X @ X.T, atol=10 * bound * size)
    assert_allclose(model.inverse_transform(Z), X, atol=10 * bound * np.sqrt(size))
    for role in np.unique(model.roles_):
        values = model.objective_values_[model.roles_ == role]
        assert np.all(np.diff(values) <= 0)
        assert np.all(values >= 0)
    for level in (0, 1):
        assert np.sum(model.roles_ == level) <= len(np.unique(y[:, level])) - 1


@pytest.mark.parametrize(("dtype", "bound"), [("float32", 1e-6), ("float64", 1e-12)])
def test_wide_vectors_are_kept(dtype, bound):
    mammals = load_mammals()
    X = mammals.data.astype(dtype)
    y = np.column_stack([mammals.target, mammals.depth])
    for n in (1170, 200):
        assert PrefixRotation().fit(X[:n], y[:n]).full_length_drift_ < bound


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(2, 25), st.integers(1, 7))
def test_a_prefix_is_the_shorter_fit(seed, n, k):
    X, y = labeled(seed, n)
    whole = PrefixRotation().fit(X, y)
    short, again = whole.prefix(k), PrefixRotation(k).fit(X, y)
    for model in (short, again):
        assert model.n_components == k
        assert_array_equal(model.components_, whole.components_[:k])
        assert_array_equal(model.roles_, whole.roles_[:k])
        assert_array_equal(model.objective_values_, whole.objective_values_[:k])
        assert_allclose(model.transform(X), whole.transform(X)[:, :k], atol=1e-12)
    assert len(whole.roles_) == 7
    assert short.full_length_drift_ == 1 or k == 7


def test_nothing_is_subtracted():
    X, y = labeled()
    model = PrefixRotation(3).fit(X, y)
    assert model.mean_ is None
    assert_allclose(model.transform(X), X @ model.components_.T)
    projection = X @ model.components_.T @ model.components_
    assert_allclose(model.inverse_transform(model.transform(X)), projection)


@settings(max_examples=20, deadline=None)
@given(seeds, st.integers(5, 25))
def test_weights_are_repetitions(seed, n):
    X, y = labeled(seed, n, d=9)
    weights = np.random.default_rng(seed).integers(0, 4, size=n)
    weights[:2] = 1
    order = np.random.default_rng(seed).permutation(np.repeat(np.arange(n), weights))
    weighted = PrefixRotation().fit(X, y, sample_weight=weights)
    repeated = PrefixRotation().fit(X[order], y[order])
    assert_array_equal(weighted.roles_, repeated.roles_)
    assert_allclose(weighted.objective_values_, repeated.objective_values_, atol=1e-9)
    assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-6)


# --- few rows, few classes, many levels ------------------------------------------


def test_fewer_rows_than_columns():
    X, y = labeled(n=6, d=12)
    model = PrefixRotation().fit(X, y)
    flat = (model.roles_ == -1) & (model.objective_values_ == 0)
    assert np.sum(flat) == 12 - np.sum(model.roles_ >= 0) - np.sum(
        model.objective_values_[model.roles_ == -1] > 0
    )
    assert np.sum(flat) >= 12 - 6
    Z = model.transform(X)[:, flat]
    assert_allclose(Z[:, 0], Z[0, 0])
    assert abs(Z[0, 0]) > 0.1
    assert_allclose(Z[:, 1:], 0, atol=1e-12)


def test_directions_without_variance_do_not_depend_on_the_order_of_rows():
    X, y = labeled(n=6, d=12)
    new = np.random.default_rng(1).normal(size=(4, 12))
    for mean in (X.mean(axis=0), 0 * X.mean(axis=0)):
        rows = X - X.mean(axis=0) + mean
        one = PrefixRotation().fit(rows, y)
        other = PrefixRotation().fit(rows[::-1], y[::-1])
        assert_allclose(one.transform(new), other.transform(new), atol=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_classes_of_one_row_each(scale):
    X, _ = labeled(n=5)
    X = X * scale
    model = PrefixRotation().fit(X, np.arange(5) + 0.5)
    assert_array_equal(model.roles_, [0] * 4 + [-1] * 3)
    assert_array_equal(model.objective_values_[4:], 0)
    assert model.full_length_drift_ < 1e-12


def test_many_integers_are_classes_as_well():
    X, _ = labeled(n=60, d=30)
    y = np.arange(60) % 25
    for labels in (y, np.column_stack([y, y])):
        assert np.sum(PrefixRotation().fit(X, labels).roles_ == 0) == 24


def test_a_class_without_weight_is_absent():
    X, y = labeled()
    kept = y[:, 0] != 1
    weighted = PrefixRotation().fit(X, y[:, 0], sample_weight=kept)
    alone = PrefixRotation().fit(X[kept], y[kept, 0])
    assert_array_equal(weighted.roles_, alone.roles_)
    assert_allclose(weighted.components_, alone.components_)


def test_levels_beyond_the_last_direction_get_none():
    X, y = labeled(d=4)
    levels = np.column_stack([y, y[:, 1], y[:, 0]])
    model = PrefixRotation().fit(X, levels)
    assert_array_equal(model.roles_, [0, 0, 1, 1])
    assert model.full_length_drift_ < 1e-12


def test_levels_are_not_served_from_rounding():
    X, y = labeled(n=10, d=30)
    levels = np.column_stack([np.arange(10), y, y[:, 1]])
    model = PrefixRotation().fit(X + 100, levels)
    assert_array_equal(model.roles_, [0] * 9 + [-1] * 21)
    assert_array_equal(model.objective_values_[9:], 0)


def test_a_level_of_equal_means_gets_no_axes():
    X, y = labeled(n=40, d=5)
    twice, side = np.vstack([X, X]), np.repeat(["a", "b"], 40)
    levels = np.column_stack([side, np.tile(y[:, 0], 2)])
    assert_array_equal(PrefixRotation().fit(twice, levels).roles_, [1, 1, -1, -1, -1])


def test_means_that_differ_by_rounding_alone_are_equal():
    """Noise that is the same on all axes leaves the complement no class means."""
    centers = np.array([[3.0, 0, 0, 0], [-1, 2, 0, 0], [0, -2, 0, 0]])
    rows = np.vstack([center + s * np.eye(4) for center in centers for s in (1, -1)])
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(4, 4)))[0]
    y = np.repeat([0, 1, 2], 8)
    model = PrefixRotation().fit(rows @ turn + 1 / 3, np.column_stack([y, y]))
    assert_array_equal(model.roles_, [0, 0, -1, -1])


@pytest.mark.parametrize("rows", [[[3.0, 4.0, 0.0]], [[3.0, 4.0, 0.0]] * 4, [[0.0]]])
def test_rows_without_variance(rows):
    X = np.array(rows)
    model = PrefixRotation().fit(X, np.arange(len(X)) % 2)
    assert_array_equal(model.roles_, np.full(X.shape[1], -1))
    expected = np.zeros(X.shape)
    expected[:, 0] = np.linalg.norm(X[0])
    assert_allclose(model.transform(X), expected, atol=1e-12)


# --- inputs ----------------------------------------------------------------------


def test_labels_of_any_type():
    X, y = labeled()
    names = np.array(["ape", "bat", "cat"])[y[:, 0]]
    species = [f"{name} {number}" for name, number in zip(names, y[:, 1], strict=True)]
    frame = pd.DataFrame({"order": names, "species": y[:, 1]})
    expected = PrefixRotation().fit(X, y).components_
    for labels in (
        y.astype(float),
        y.tolist(),
        np.column_stack([names, species]),
        np.array([names, y[:, 1]], dtype=object).T,
        frame,
        frame.astype("category"),
        pl.from_pandas(frame),
        [[name, number] for name, number in zip(names, y[:, 1].tolist(), strict=True)],
    ):
        assert_allclose(PrefixRotation().fit(X, labels).components_, expected)
    one = PrefixRotation().fit(X, y[:, 0])
    for labels in (y[:, :1], list(names), frame["order"], pd.Categorical(names)):
        assert_allclose(PrefixRotation().fit(X, labels).components_, one.components_)
    assert_array_equal(PrefixRotation().fit(X, y[:, 0] == 1).roles_, [0] + [-1] * 6)


def test_float32_stays_float32():
    X, y = labeled()
    model = PrefixRotation().fit(X.astype(np.float32), y)
    fitted = (model.components_, model.objective_values_, model.transform(X[:1]))
    assert [part.dtype for part in fitted] == [np.float32, np.float32, np.float64]
    assert model.transform(X.astype(np.float32)).dtype == np.float32
    double = PrefixRotation().fit(X, y)
    assert_allclose(model.components_, double.components_, atol=1e-4)


def test_errors_name_the_remedy():
    X, y = labeled(n=10)
    model = PrefixRotation()
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X)
    with pytest.raises(ValueError, match="pass those of the same rows"):
        model.fit(X, y[:9, 0])
    with pytest.raises(ValueError, match=r"level 0: .* pass those of the same rows"):
        model.fit(X, y[:9])
    for shape in ((10, 2, 1), (10, 0)):
        with pytest.raises(ValueError, match=r"np\.column_stack\(\[coarse, fine\]\)"):
            model.fit(X, np.ones(shape))
    missing = y.astype(float)
    missing[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"level 1: 'y' contains NaN, first in row 3"):
        model.fit(X, missing)
    with pytest.raises(ValueError, match=r"'y' contains nan.*drop such rows"):
        model.fit(X, [["a", "b"]] * 9 + [["a", np.nan]])
    with pytest.raises(ValueError, match=r"'y' contains None.*drop such rows"):
        model.fit(X, [*"abcdefghi", None])
    with pytest.raises(ValueError, match=r"\[str\(label\) for label in y\]"):
        model.fit(X, [*"abcdefghi", 1])
    for bad in (0, -1, 20, 2.5, True):
        with pytest.raises(ValueError, match="Pass n_components=7, say"):
            PrefixRotation(bad).fit(X, y)
    with pytest.raises(TypeError, match=r"toarray\(\)"):
        model.fit(sp.csr_array(X), y)
    with pytest.raises(ValueError, match="sample_weight=None"):
        model.fit(X, y, sample_weight=np.zeros(10))
    with pytest.raises(ValueError, match="Pass n_components=7, say"):
        model.fit(X, y).prefix(8)


# --- invariance ------------------------------------------------------------------


@pytest.mark.parametrize("k", [None, 4])
@pytest.mark.parametrize("n", [60, 6])
def test_claims_hold(k, n):
    X, y = labeled(n=n)
    model = PrefixRotation(k)
    for claim in model.invariances():
        report = check_invariance(model, claim, X, y[:, 0])
        assert report.holds, report


@pytest.mark.parametrize("k", [None, 4])
def test_what_is_not_claimed_is_broken(k):
    X, y = labeled(n=60)
    claims = unclaimed(PrefixRotation(k))
    assert {claim.group for claim in claims} >= {"translation", "column_scaling"}
    for claim in [*claims, Claim("translation", "up_to_orthogonal")]:
        report = check_invariance(PrefixRotation(k), claim, X, y[:, 0])
        assert not report.holds, report


def test_numbers_whose_squares_overflow():
    X, y = labeled(0)
    with np.errstate(all="ignore"), pytest.raises(ValueError, match="Divide all rows"):
        PrefixRotation().fit(X * 1e200, y)
