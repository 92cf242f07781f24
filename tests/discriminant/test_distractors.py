"""Distractor removal: what goes, what stays, what it says, and what it refuses."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse
import scipy.stats
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cross_decomposition import CCA
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skrep.discriminant import DistractorRemoval, _nuisance
from skrep.exceptions import NotRemovedWarning, ThinDataWarning
from skrep.invariance import check_invariance, unclaimed
from skrep.linalg import Moments, whitening
from tests.strategies import seeds


def confounded(n=400, d=6, n_batches=3, n_classes=2, together=0.7, seed=0, angle=90):
    """Rows shifted by a batch and by a class, which come together too often."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    batch = np.where(
        rng.random(n) < together, y % n_batches, rng.integers(0, n_batches, n)
    )
    shifts = 3 * rng.normal(size=(n_batches, d))
    means = 2 * rng.normal(size=(n_classes, d))
    if angle < 90:
        along = shifts[1] - shifts[0]
        means[1] = means[0] + np.cos(np.radians(angle)) * along
    X = 4 + means[y] + shifts[batch] + rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X, y, batch


def indicators(labels):
    return (np.asarray(labels)[:, None] == np.unique(labels)).astype(float)


def residual(A, *others):
    """What is left of columns after a regression on others and a constant."""
    return A - LinearRegression().fit(np.hstack(others), A).predict(np.hstack(others))


def readable(X, columns):
    """Share of the variance of standardized columns that regression on X tells."""
    values, vectors = np.linalg.eigh(
        np.cov(columns.T, ddof=0).reshape(columns.shape[1], -1)
    )
    kept = values > 1e-9
    white = columns @ vectors[:, kept] / np.sqrt(values[kept])
    return 1 - np.mean(np.var(white - LinearRegression().fit(X, white).predict(X), 0))


# --- without a target --------------------------------------------------------------


def test_it_is_least_squares_concept_erasure():
    """The formula of the paper, with matrix square roots."""
    X, _, batch = confounded()
    gaps, labels = X - X.mean(axis=0), indicators(batch)
    covariance = gaps.T @ gaps / len(X)
    cross = gaps.T @ (labels - labels.mean(axis=0)) / len(X)
    W = np.real(scipy.linalg.inv(scipy.linalg.sqrtm(covariance)))
    span = W @ cross
    P = span @ np.linalg.pinv(span)
    expected = X - gaps @ (np.linalg.inv(W) @ P @ W).T
    removal = DistractorRemoval().fit(X, nuisance=batch)
    assert_allclose(removal.transform(X), expected, atol=1e-9)
    assert removal.n_removed_ == 2


@pytest.mark.parametrize("n_batches", [2, 3, 5])
def test_no_linear_classifier_tells_the_nuisance_any_more(n_batches):
    X, _, batch = confounded(n_batches=n_batches)
    removal = DistractorRemoval().fit(X, nuisance=batch)
    Z = removal.transform(X)
    centers = [Z[batch == b].mean(axis=0) for b in range(n_batches)]
    assert_allclose(centers, np.tile(X.mean(axis=0), (n_batches, 1)), atol=1e-9)
    blind = LogisticRegression(C=1e4, max_iter=2000).fit(Z, batch)
    shares = np.bincount(batch) / len(batch)
    assert_allclose(blind.predict_proba(Z), np.tile(shares, (400, 1)), atol=1e-3)


def test_the_leak_is_the_mean_squared_canonical_correlation():
    X, _, batch = confounded(n_batches=4)
    removal = DistractorRemoval(2).fit(X, nuisance=batch)
    cca = CCA(3, max_iter=5000, tol=1e-12).fit(X, indicators(batch)[:, 1:])
    scores = cca.transform(X, indicators(batch)[:, 1:])
    squares = np.diag(np.corrcoef(*scores, rowvar=False)[:3, 3:]) ** 2
    assert_allclose(removal.leak_before_, np.mean(squares), rtol=1e-5)
    assert_allclose(removal.leak_after_, min(squares) / 3, rtol=1e-4)
    assert np.isnan(removal.target_kept_)


@given(seed=seeds, n_components=st.integers(1, 3), target=st.booleans())
@settings(max_examples=25, deadline=None)
def test_the_figures_are_those_of_regressions_of_the_output(seed, n_components, target):
    X, y, batch = confounded(n=150, d=7, n_batches=4, seed=seed)
    labels, within = indicators(batch), [indicators(y)] if target else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotRemovedWarning)
        removal = DistractorRemoval(n_components).fit(
            X, y if target else None, nuisance=batch
        )
    Z = removal.transform(X)
    assert np.linalg.matrix_rank(Z - Z.mean(axis=0)) == 7 - removal.n_removed_
    if not target:
        assert_allclose(removal.leak_before_, readable(X, labels), atol=1e-9)
        assert_allclose(removal.leak_after_, readable(Z, labels), atol=1e-7)
        return
    labels = residual(labels, *within)
    own = residual(indicators(y), indicators(batch))
    leaks, fisher = [], []
    for rows in (X, Z):
        rest = residual(rows, *within)
        leaks.append(readable(rest, labels))
        S = np.cov(rest.T, ddof=0)
        shift = np.cov(rows.T, own[:, 0], ddof=0)[:-1, -1] / np.std(own[:, 0])
        fisher.append(shift @ np.linalg.pinv(S, rcond=1e-9, hermitian=True) @ shift)
    assert_allclose([removal.leak_before_, removal.leak_after_], leaks, atol=1e-7)
    assert_allclose(removal.target_kept_, fisher[1] / fisher[0], atol=1e-6)


def test_directions_are_ordered_and_signed_units():
    X, y, batch = confounded(n_batches=4)
    for target in (None, y):
        removal = DistractorRemoval().fit(X, target, nuisance=batch)
        directions = removal.directions_
        assert_allclose(np.linalg.norm(directions, axis=1), 1)
        largest = np.argmax(np.abs(directions), axis=1)
        assert np.all(directions[np.arange(3), largest] > 0)
        # A detector reads its own direction, and no other.
        assert_allclose(removal.detectors_ @ directions.T, np.eye(3), atol=1e-9)
    leaks = [DistractorRemoval(k).fit(X, nuisance=batch).leak_after_ for k in (1, 2, 3)]
    drops = -np.diff([DistractorRemoval().fit(X, nuisance=batch).leak_before_, *leaks])
    assert np.all(np.diff(drops) < 0)
    assert abs(leaks[-1]) < 1e-12


# --- with a target -------------------------------------------------------------------


def effects(X, *labels):
    """Coefficients of the rows on all columns at once, one block for each."""
    sides = [indicators(one)[:, 1:] for one in labels]
    coefficients = LinearRegression().fit(np.hstack(sides), X).coef_
    return np.split(coefficients, np.cumsum([s.shape[1] for s in sides])[:-1], axis=1)


def test_shifts_of_the_nuisance_go():
    X, y, batch = confounded(n=500, d=8, n_classes=3)
    removal = DistractorRemoval().fit(X, y, nuisance=batch)
    B, _ = effects(X, batch, y)
    left, _ = effects(removal.transform(X), batch, y)
    assert np.abs(B).max() > 1
    assert_allclose(left, 0, atol=1e-9)


def test_of_all_maps_that_do_so_it_changes_rows_least():
    """Generalized least squares, written down, and maps that differ from it."""
    X, y, batch = confounded(n=500, d=8, n_classes=3)
    B, _ = effects(X, batch, y)
    gaps, own = X - X.mean(axis=0), residual(X, indicators(y))
    S = np.linalg.inv(np.cov(own.T))
    amounts = np.linalg.solve(B.T @ S @ B, B.T @ S @ gaps.T)
    Z = DistractorRemoval().fit(X, y, nuisance=batch).transform(X)
    assert_allclose(Z, X - (B @ amounts).T, atol=1e-9)
    null = scipy.linalg.null_space(B.T)
    rng = np.random.default_rng(0)
    for _ in range(5):
        other = Z + gaps @ null @ rng.normal(size=(null.shape[1], 8)) * 0.01
        assert_allclose(effects(other, batch, y)[0], 0, atol=1e-9)
        moved = [residual(rows - X, indicators(y)) for rows in (Z, other)]
        assert np.sum(moved[1] ** 2) > np.sum(moved[0] ** 2)


def test_no_other_map_free_of_the_nuisance_tells_more_of_the_target():
    """Not even the one that leaves the shifts of the target where they are."""
    X, y, batch = confounded(n=500, d=8, n_classes=3)
    B, A = effects(X, batch, y)
    G, gaps = np.hstack([B, A]), X - X.mean(axis=0)
    S = np.linalg.inv(np.cov(X.T))
    amounts = np.linalg.solve(G.T @ S @ G, G.T @ S @ gaps.T)[: B.shape[1]]
    other = X - (B @ amounts).T
    assert_allclose(effects(other, batch, y)[1], A, atol=1e-9)
    Z = DistractorRemoval().fit(X, y, nuisance=batch).transform(X)
    target = residual(indicators(y), indicators(batch))
    assert_allclose(readable(Z, target), readable(other, target), atol=1e-9)
    partial = Z @ np.random.default_rng(0).normal(size=(8, 5))
    assert readable(partial, target) < readable(Z, target)


def test_a_confounded_target_survives_where_plain_erasure_takes_it_along():
    """Trained where batch and class come together, tried where they do not."""
    X, y, batch = confounded(n=3000, n_batches=2, together=0.8, seed=3)
    rng = np.random.default_rng(1)
    train = np.arange(3000) < 1500
    apart = np.flatnonzero(~train & (rng.random(3000) < np.where(batch == y, 0.2, 1)))
    scores = {}
    for name, target in (("plain", None), ("kept", y[train])):
        removal = DistractorRemoval().fit(X[train], target, nuisance=batch[train])
        head = LinearDiscriminantAnalysis().fit(removal.transform(X[train]), y[train])
        scores[name] = head.score(removal.transform(X[apart]), y[apart])
    raw = LinearDiscriminantAnalysis().fit(X[train], y[train]).score(X[apart], y[apart])
    assert scores["kept"] > scores["plain"] + 0.05
    assert scores["kept"] >= raw - 0.01


def test_what_y_needs_stays_and_the_leak_says_so():
    X, y, batch = confounded(d=5, n_batches=2, together=0, angle=0)
    with pytest.warns(NotRemovedWarning, match="Pass y=None to remove them all"):
        removal = DistractorRemoval().fit(X, y, nuisance=batch)
    assert removal.n_removed_ == 0
    assert removal.leak_after_ == removal.leak_before_ > 0.1
    assert removal.target_kept_ == 1
    assert_array_equal(removal.transform(X), X)
    forced = DistractorRemoval().fit(X, nuisance=batch)
    assert forced.n_removed_ == 1


@pytest.mark.parametrize(("degrees", "n_spared"), [(25, 1), (35, 0), (90, 0)])
def test_the_rule_is_a_quarter_of_a_squared_distance(degrees, n_spared):
    """The sine of 30 degrees, squared; the kernel's other direction goes anyway."""
    radians = np.radians(degrees)
    turn = scipy.stats.ortho_group.rvs(5, random_state=0)
    kernel = turn[:, :2]
    along = np.cos(radians) * turn[:, 0] + np.sin(radians) * turn[:, 3]
    points = np.array([np.zeros(5), along, 3 * turn[:, 4], 3 * turn[:, 4]])
    kept = _nuisance.spare(kernel, points)
    assert kept.shape == (5, 2 - n_spared)
    assert_allclose(kept.T @ kept, np.eye(2 - n_spared), atol=1e-12)
    if n_spared:
        assert_allclose(kept.T @ along, 0, atol=1e-12)
        assert_allclose(np.abs(kept.T @ turn[:, 1]), 1)


def test_what_is_removed_beside_what_is_spared_is_ordered():
    rows = 2 * np.vstack([np.eye(5), -np.eye(5)])
    nuisance = _nuisance.Shifts(np.eye(5)[:, :3] * [0.3, 0.6, 0.9], np.eye(5)[:, :3])
    along = np.array([[1.0, 1.0, 0.0, 0.0, 0.0]]).T
    target = _nuisance.Shifts(along, along)
    white = whitening(Moments.of(rows))
    plan = _nuisance.plan_removal(nuisance, target, np.array([[0.0], [1.0]]), 3, white)
    assert plan.n_spared == 1
    z = plan.directions @ white.map
    z /= np.linalg.norm(z, axis=1)[:, None]
    told = np.linalg.norm(z @ nuisance.standard, axis=1)
    assert_allclose(told, [0.9, np.sqrt(0.3**2 + 0.6**2) / np.sqrt(2)], atol=1e-9)


@given(seed=seeds, d=st.integers(2, 6), k=st.integers(1, 4), n=st.integers(0, 5))
@settings(max_examples=50)
def test_every_pair_keeps_a_quarter(seed, d, k, n):
    rng = np.random.default_rng(seed)
    kernel = np.linalg.qr(rng.normal(size=(d, min(d, k))))[0]
    points = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 3)
    kept = _nuisance.spare(kernel, points)
    left = points - points @ kept @ kept.T
    for a in range(n):
        for b in range(a):
            whole = np.sum((points[a] - points[b]) ** 2)
            assert np.sum((left[a] - left[b]) ** 2) >= (0.25 - 1e-6) * whole
    assert_allclose(kernel @ kernel.T @ kept, kept, atol=1e-9)


def test_many_classes_in_few_columns_do_not_hold_a_nuisance_back():
    digits, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    batch = (rng.random(1797) < np.where(y < 5, 0.9, 0.1)).astype(int)
    light = np.repeat(np.linspace(6, -6, 8), 8)
    X = digits + np.outer(batch, light) + rng.normal(size=digits.shape)
    X = PCA(8, svd_solver="full").fit_transform(X)
    removal = DistractorRemoval().fit(X, y, nuisance=batch)
    assert removal.n_removed_ == 1
    assert removal.leak_before_ > 0.3
    assert removal.target_kept_ > 0.8


@pytest.mark.parametrize("together", [True, False])
def test_a_numeric_target_is_kept_as_a_number(together):
    rng = np.random.default_rng(0)
    y = rng.normal(size=500)
    batch = (y + rng.normal(size=500) > 0).astype(int)
    shift = [2.0, 2.0, 0.0, 0.0] if together else [0.0, 2.0, 0.0, 1.0]
    X = np.outer(y, [1.0, 1.0, 0, 0]) + np.outer(batch, shift)
    X += 0.5 * rng.normal(size=(500, 4))
    if together:
        with pytest.warns(NotRemovedWarning, match="1 of 1 directions"):
            removal = DistractorRemoval().fit(X, y, nuisance=batch)
        assert removal.n_removed_ == 0
        return
    removal = DistractorRemoval().fit(X, y, nuisance=batch)
    sides = np.column_stack([batch, y])
    after = LinearRegression().fit(sides, removal.transform(X)).coef_
    assert_allclose(after[:, 0], 0, atol=1e-9)
    assert after[0, 1] > 0.5
    for constant in (1.0, 0.1):
        same = DistractorRemoval().fit(X, np.full(500, constant), nuisance=batch)
        plain = DistractorRemoval().fit(X, nuisance=batch)
        assert_allclose(same.transform(X), plain.transform(X), atol=1e-9)
        assert np.isnan(same.target_kept_)


def test_numbers_are_cut_into_slices():
    rng = np.random.default_rng(0)
    length = rng.exponential(size=600)
    X = rng.normal(size=(600, 12))
    X[:, 0] += 3 * length
    X[:, 1] += np.sin(4 * length)
    removal = DistractorRemoval().fit(X, nuisance=length)
    assert removal.n_removed_ == 9
    slices = np.argsort(np.argsort(length)) // 60
    by_class = DistractorRemoval().fit(X, nuisance=slices)
    assert_allclose(removal.transform(X), by_class.transform(X), atol=1e-9)
    ranks = np.argsort(np.argsort(length))
    with pytest.warns(UserWarning, match=r"'nuisance' holds integers of 600 distinct"):
        by_rank = DistractorRemoval().fit(X, nuisance=ranks)
    assert_allclose(by_rank.transform(X), removal.transform(X), atol=1e-9)


# --- the transformer -----------------------------------------------------------------


@given(seed=seeds, target=st.booleans())
@settings(max_examples=15, deadline=None)
def test_weights_are_repetitions(seed, target):
    X, y, batch = confounded(n=60, d=4, n_batches=3, seed=seed)
    weights = np.random.default_rng(seed).integers(0, 3, 60)
    weights[:6] = 1
    y, batch = y.astype(object), np.array(["a", "b", "c"], object)[batch]
    batch[0], weights[0] = None, 0  # An absent row has no say.
    rows = np.repeat(np.arange(60), weights)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotRemovedWarning)
        one = DistractorRemoval().fit(
            X, y if target else None, nuisance=batch, sample_weight=weights
        )
        other = DistractorRemoval().fit(
            X[rows], y[rows] if target else None, nuisance=batch[rows]
        )
    assert_allclose(one.transform(X), other.transform(X), atol=1e-8)
    assert_allclose(one.leak_before_, other.leak_before_)
    assert_allclose(one.target_kept_, other.target_kept_)


@pytest.mark.parametrize("labels", [["a", "b", "c"], [10, 20, 30], [-1, 0, 1]])
def test_names_of_labels_do_not_matter(labels):
    X, y, batch = confounded()
    plain = DistractorRemoval().fit(X, y, nuisance=batch).transform(X)
    named = np.array(labels)[batch]
    for container in (named, named.tolist(), pd.Series(named).astype("category")):
        again = DistractorRemoval().fit(X, y, nuisance=container).transform(X)
        assert_allclose(again, plain, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-150, 1e4, 1e140])
def test_units_change_nothing_but_units(unit):
    X, y, batch = confounded()
    plain, scaled = (
        DistractorRemoval().fit(rows, y, nuisance=batch) for rows in (X, unit * X)
    )
    assert_allclose(scaled.leak_before_, plain.leak_before_)
    assert_allclose(scaled.transform(unit * X) / unit, plain.transform(X), atol=1e-9)


def test_float32_stays_float32():
    X, y, batch = confounded()
    wide = DistractorRemoval().fit(X, y, nuisance=batch)
    narrow = DistractorRemoval().fit(X.astype(np.float32), y, nuisance=batch)
    parts = (narrow.directions_, narrow.detectors_, narrow.mean_)
    assert {part.dtype for part in parts} == {np.dtype(np.float32)}
    Z = narrow.transform(X.astype(np.float32))
    assert Z.dtype == np.float32
    assert_allclose(Z, wide.transform(X), atol=1e-3)


def test_constant_and_doubled_columns_stay_out_of_it():
    X, y, batch = confounded()
    padded = np.column_stack([X, np.full(len(X), 7.0), X[:, 0]])
    removal = DistractorRemoval().fit(padded, y, nuisance=batch)
    Z = removal.transform(padded)
    plain = DistractorRemoval().fit(X, y, nuisance=batch).transform(X)
    assert_allclose(Z[:, :6], plain, atol=1e-8)
    assert_array_equal(Z[:, 6], 7.0)
    assert_allclose(Z[:, 7], Z[:, 0], atol=1e-8)
    # A column that is the target itself stays, and one that is the nuisance goes.
    with_target = np.column_stack([X, y - 0.5])
    Z = DistractorRemoval().fit(with_target, y, nuisance=batch).transform(with_target)
    assert_allclose(Z, np.column_stack([plain, y - 0.5]), atol=1e-8)
    with_label = np.column_stack([X, batch == 1.0])
    Z = DistractorRemoval().fit(with_label, y, nuisance=batch).transform(with_label)
    assert_allclose(Z[:, -1], np.mean(batch == 1), atol=1e-9)


def test_columns_keep_their_names():
    X, y, batch = confounded()
    frame = pd.DataFrame(X, columns=list("abcdef"))
    removal = DistractorRemoval().set_output(transform="pandas")
    Z = removal.fit_transform(frame, y, nuisance=batch)
    assert list(Z.columns) == list("abcdef")


def test_without_nuisance_nothing_is_removed():
    X, y, _ = confounded()
    with pytest.warns(NotRemovedWarning, match="set_fit_request") as caught:
        removal = DistractorRemoval().fit(X, y)
    assert len(caught) == 1
    Z = removal.transform(X)
    assert_array_equal(Z, X)
    assert Z is not X
    assert not np.shares_memory(Z, X)
    assert np.isnan([removal.leak_before_, removal.leak_after_]).all()


@pytest.mark.parametrize("nuisance", ["one class", "told by y", "not in X"])
def test_nothing_to_remove_is_said(nuisance):
    X, y, batch = confounded()
    if nuisance == "one class":
        batch = np.zeros(len(X), int)
    elif nuisance == "told by y":
        batch = np.array(["p", "q"])[y]
    else:
        X, y, batch = np.vstack([X, X]), np.r_[y, y], np.repeat([0, 1], len(X))
    with pytest.warns(NotRemovedWarning, match="Pass a nuisance of two classes"):
        removal = DistractorRemoval().fit(X, y, nuisance=batch)
    assert removal.n_removed_ == 0
    assert abs(removal.leak_before_) < 1e-12
    assert_array_equal(removal.transform(X), X)


def test_the_nuisance_is_routed():
    X, y, batch = confounded()
    with sklearn.config_context(enable_metadata_routing=True):
        removal = DistractorRemoval().set_fit_request(nuisance=True)
        pipe = make_pipeline(removal, LinearDiscriminantAnalysis())
        pipe.fit(X, y, nuisance=batch)
        assert pipe[0].n_removed_ == 2
        search = GridSearchCV(pipe, {"distractorremoval__n_components": [1, 2]}, cv=3)
        search.fit(X, y, nuisance=batch)
    assert search.best_estimator_[0].n_removed_ in (1, 2)


def test_what_it_refuses():
    X, y, batch = confounded()
    removal = DistractorRemoval()
    with pytest.raises(ValueError, match=r"'nuisance' has 399 entries.*order of X"):
        removal.fit(X, y, nuisance=batch[1:])
    with pytest.raises(ValueError, match="DistractorRemoval: 'y' has 399 entries"):
        removal.fit(X, y[1:], nuisance=batch)
    missing = np.where(batch == 0, np.nan, batch)
    with pytest.raises(ValueError, match=r"'nuisance' contains NaN.*drop such rows"):
        removal.fit(X, y, nuisance=missing)
    with pytest.raises(ValueError, match=r"'y' has shape.*one column"):
        removal.fit(X, np.c_[y, y], nuisance=batch)
    for bad in (0, 3, 1.5, True):
        with pytest.raises(ValueError, match=r"'n_components' is.*Pass n_components=2"):
            DistractorRemoval(bad).fit(X, nuisance=batch)
    with pytest.raises(ValueError, match="Pass n_components=6"):
        DistractorRemoval(7).fit(X)
    with pytest.raises(ValueError, match=r"nothing would be left.*n_components=1"):
        removal.fit(X[:, :2], nuisance=batch)
    with pytest.raises(ValueError, match=r"be left\. Pass rows of more columns\.$"):
        removal.fit(X[:, :1], nuisance=batch)
    assert not vars(removal).keys() - {"n_components"}
    with pytest.raises(ValueError, match=r"overflow.*Divide"):
        removal.fit(X * 1e200, nuisance=batch)
    with pytest.raises(TypeError, match="toarray"):
        removal.fit(scipy.sparse.csr_array(X), nuisance=batch)


def test_a_failed_fit_leaves_all_as_it_was():
    X, y, batch = confounded()
    removal = DistractorRemoval().fit(X, y, nuisance=batch)
    expected = removal.transform(X)
    with pytest.raises(ValueError, match="nothing would be left"):
        removal.fit(X[:, :2], nuisance=batch)
    assert_array_equal(removal.transform(X), expected)


def test_overflow_is_refused():
    X, _, batch = confounded()
    removal = DistractorRemoval().fit(X.astype(np.float32), nuisance=batch)
    far = np.float32([[3e38, -3e38, 3e38, -3e38, 3e38, -3e38]])
    with pytest.raises(ValueError, match=r"overflow float32. Pass X.astype"):
        removal.transform(np.vstack([far, np.abs(far)]) * removal.directions_[0])
    assert np.isfinite(removal.transform(far.astype(np.float64))).all()


@pytest.mark.parametrize("target", [True, False])
def test_fewer_rows_than_columns_are_said_to_tell_chance(target):
    rng = np.random.default_rng(0)
    X, y, batch = rng.normal(size=(40, 60)), np.arange(40) % 2, rng.integers(0, 3, 40)
    y = y if target else None
    with pytest.warns(ThinDataWarning, match="by chance.*PCA") as caught:
        removal = DistractorRemoval().fit(X, y, nuisance=batch)
    assert len(caught) == 1
    assert_allclose(removal.leak_before_, 1)
    if target:
        related = np.where(np.arange(40) < 39, y, 1 - y)
        with pytest.warns(UserWarning, match="by chance.*PCA") as caught:
            removal = DistractorRemoval().fit(X, y, nuisance=related)
        assert [one.category for one in caught] == [ThinDataWarning]
        assert removal.n_removed_ == 0
    assert DistractorRemoval().fit(X[:, :10], y, nuisance=batch).n_removed_ == 2
    light = np.full(40, 0.1)
    DistractorRemoval().fit(X[:, :10], y, nuisance=batch, sample_weight=light)


# --- invariance ----------------------------------------------------------------------


@pytest.mark.parametrize("n_components", [None, 1])
def test_claims_hold(n_components):
    X, y, batch = confounded(n=120)
    removal = DistractorRemoval(n_components)
    for claim in removal.invariances():
        report = check_invariance(removal, claim, X, y, fit_params={"nuisance": batch})
        assert report.holds, report


@pytest.mark.filterwarnings("ignore::skrep.exceptions.NotRemovedWarning")
def test_what_is_not_claimed_is_broken():
    X, y, batch = confounded(n=120)
    claims = unclaimed(DistractorRemoval())
    assert claims
    for claim in claims:
        report = check_invariance(
            DistractorRemoval(), claim, X, y, fit_params={"nuisance": batch}, n_draws=8
        )
        assert not report.holds, report
