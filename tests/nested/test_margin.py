"""Margin axes: the objective, the ascent, and what the axes are good for."""

import os
import subprocess
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning

from skrep.invariance import check_invariance, unclaimed
from skrep.nested import MarginProjection, _margin_axes
from skrep.nested._distinct import centered_distinct_rows
from skrep.nested._margin_axes import (
    _at,
    _Objective,
    _Residual,
    _subgradient,
    _without,
    greedy_axes,
)
from skrep.nested._margin_pairs import Pairs, draw_pairs, lower_mean
from tests.strategies import matrices, seeds


def rows(n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_t(4, size=(n, d)) * np.geomspace(3, 1, d) + 2


def objective(X, w, earlier, share, alpha):
    """The definition, by loops over pairs: whole gaps only."""
    gaps = sorted(
        abs(float(w @ (X[i] - X[j]))) for i in range(len(X)) for j in range(i)
    )
    kept = gaps[: round(share * len(gaps))]
    spread = np.sqrt(np.linalg.eigvalsh(np.cov(X.T, ddof=0))[-1])
    return np.mean(kept) - alpha * spread * sum(float(v @ w) ** 2 for v in earlier)


# --- the objective ---------------------------------------------------------------


@pytest.mark.parametrize("share", [0.5, 1.0])
@pytest.mark.parametrize("alpha", [0.5, 10.0])
def test_values_are_the_definition(share, alpha):
    X = rows(n=21)
    model = MarginProjection(quantile=share, alpha=alpha).fit(X)
    for j, w in enumerate(model.components_):
        expected = objective(X, w, model.components_[:j], share, alpha)
        assert_allclose(model.objective_values_[j], expected)


@pytest.mark.parametrize("seed", range(3))
def test_no_direction_of_the_plane_is_much_better(seed):
    X = rows(n=13, d=2, seed=seed)
    model = MarginProjection(quantile=0.5, alpha=1.0, tol=0).fit(X)
    turns = np.linspace(0, np.pi, 181)
    circle = np.c_[np.cos(turns), np.sin(turns)]
    for j in range(2):
        best = max(objective(X, w, model.components_[:j], 0.5, 1.0) for w in circle)
        assert model.objective_values_[j] > 0.97 * best


@given(X=matrices(min_rows=5, max_rows=12, min_columns=2))
@settings(max_examples=25)
def test_values_are_at_least_those_of_the_principal_axes_left(X):
    model = MarginProjection(quantile=0.7).fit(X)
    values = model.objective_values_
    assert np.all(values >= -1e-9 * values.max())
    first = PCA(1).fit(X).components_[0]
    gaps = np.abs(np.subtract.outer(X @ first, X @ first))
    start, _ = lower_mean(gaps[np.tril_indices(len(X), -1)], None, 0.7)
    assert values[0] >= start * (1 - 1e-9)


def test_all_gaps_of_bell_shaped_rows_give_principal_axes():
    X = np.random.default_rng(0).normal(size=(250, 3)) * [4, 2, 1]
    model = MarginProjection(quantile=1.0).fit(X)
    cosines = np.abs(np.sum(model.components_ * PCA().fit(X).components_, axis=1))
    assert cosines.min() > 0.99


def test_outliers_turn_principal_axes_and_not_these():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6)) * [3, 2, 1, 0.1, 0.1, 0.1]
    X[:6, 5] = rng.normal(size=6) * 100
    assert abs(PCA(1).fit(X).components_[0, 5]) > 0.9
    robust = MarginProjection(3, random_state=0).fit(X).components_
    assert np.abs(robust[:, 5]).max() < 0.2


@given(seed=seeds)
def test_lower_mean_is_the_mean_of_the_smallest(seed):
    rng = np.random.default_rng(seed)
    gaps = np.round(rng.uniform(size=30), 1)
    counts = rng.integers(0, 3, size=30)
    counts[0] = 1
    share = rng.uniform(0.05, 1)
    mean, kept = lower_mean(gaps, counts.astype(float), share)
    again, shares = lower_mean(np.repeat(gaps, counts), None, share)
    assert_allclose(mean, again)
    assert_allclose(kept.sum(), 1)
    assert_allclose(shares.sum(), 1)
    assert_allclose(kept @ gaps, mean)
    fine = np.sort(np.repeat(gaps, counts * 1000))
    assert_allclose(mean, fine[: round(share * len(fine))].mean(), atol=2e-3)


def test_gaps_that_tie_at_the_edge_share_it():
    mean, kept = lower_mean(np.array([1.0, 2.0, 2.0, 2.0]), None, 0.5)
    assert_allclose(mean, 1.5)
    assert_allclose(kept, [0.5, 1 / 6, 1 / 6, 1 / 6])


# --- pairs -----------------------------------------------------------------------


def test_all_pairs_where_they_are_few():
    pairs = draw_pairs(np.ones(5), 10, np.random.RandomState(0))
    assert sorted(zip(pairs.first, pairs.second, strict=True)) == [
        (i, j) for i in range(5) for j in range(i + 1, 5)
    ]
    assert pairs.weights is None
    weights = np.array([1.0, 2.0, 3.0])
    weighted = draw_pairs(weights, 3, np.random.RandomState(0))
    assert_array_equal(
        weighted.weights, weights[weighted.first] * weights[weighted.second]
    )


@pytest.mark.parametrize("n_pairs", [2000, 40000])
def test_drawn_pairs_follow_the_weights(n_pairs):
    weights = np.r_[np.full(300, 1.0), np.full(100, 5.0)]
    first, second, _ = draw_pairs(weights, n_pairs, np.random.RandomState(0))
    assert np.all(first != second)
    assert len(first) > 0.9 * n_pairs
    heavy = np.mean(np.r_[first, second] >= 300)
    assert_allclose(heavy, 500 / 800, atol=0.02)


def test_drawn_pairs_come_from_few_rows():
    pairs = draw_pairs(np.ones(5000), 800, np.random.RandomState(0))
    assert len(np.unique(np.r_[pairs.first, pairs.second])) <= 100


def test_one_row_of_nearly_all_weight_leaves_pairs():
    weights = np.r_[1e9, np.ones(30)]
    pairs = draw_pairs(weights, 16, np.random.RandomState(0))
    assert len(pairs.first) == 16
    assert np.all((pairs.first == 0) | (pairs.second == 0))


@given(seed=seeds)
def test_distinct_rows_depend_on_content_alone(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 3, size=(30, 2)).astype(float)
    X[0], X[1] = [0.0, 5.0], [-0.0, 5.0]
    order = rng.permutation(30)
    one = centered_distinct_rows("example", X, np.ones(30))
    other = centered_distinct_rows("example", X[order], np.ones(30))
    assert len(one.rows) == len(np.unique(X, axis=0))
    assert one.weights.sum() == 30
    assert_allclose(one.rows, other.rows, atol=1e-12)
    assert_array_equal(one.weights, other.weights)
    assert np.abs(one.rows).max() == 1


@given(seed=seeds)
def test_rows_that_tie_are_the_same_to_the_last_bit_in_any_order(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3)).round(1)
    X = np.vstack([X, -X, X[:5], -X[:5]])
    order = rng.permutation(len(X))
    one = centered_distinct_rows("example", X, np.ones(len(X)))
    other = centered_distinct_rows("example", X[order], np.ones(len(X)))
    for part, counterpart in zip(one, other, strict=True):
        assert_array_equal(part, counterpart)
    back = one.rows * one.scale + one.mean
    found, counts = np.unique(back.round(1) + 0.0, axis=0, return_counts=True)
    expected, weights = np.unique(X + 0.0, axis=0, return_counts=True)
    assert_array_equal(found, expected)
    assert_array_equal(counts, 1)
    places = np.lexsort(back.round(1).T[::-1])
    assert_array_equal(one.weights[places], weights)


def test_equally_far_rows_are_sorted_by_their_coordinates():
    X = np.array([[1.0, 0, 3], [-1, 0, -3], [1, 0, -3], [-1, 0, 3], [3, 0, 1]])
    X = np.vstack([X, [[-3.0, 0, -1]]])
    found = centered_distinct_rows("example", X, np.ones(6))
    order = np.lexsort(X.T[::-1])
    assert_array_equal(found.rows * found.scale, X[order])


def test_processes_agree_to_the_last_bit():
    script = """
import numpy as np
from skrep.nested import MarginProjection, NoisePruner
X = np.random.default_rng(0).normal(size=(300, 8)) * [6, 5, 4, 1, 1, 1, 1, 1]
margin = MarginProjection(3, n_pairs=500, random_state=0).fit(X)
pruner = NoisePruner(random_state=0).fit(X)
for found in (margin.components_, pruner.components_, pruner.agreement_):
    print(found.tobytes().hex())
"""
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**os.environ, "PYTHONHASHSEED": salt},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for salt in ("1", "2")
    }
    assert len(printed) == 1


def test_distinct_rows_are_held_once():
    X = np.random.default_rng(0).normal(size=(40000, 64)).astype(np.float32)
    weights = np.ones(len(X))
    tracemalloc.start()
    centered_distinct_rows("example", X, weights)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.5 * 2 * X.nbytes


# --- the axes --------------------------------------------------------------------


@pytest.mark.parametrize("n_pairs", [32768, 500])
def test_a_prefix_is_the_fit_of_that_length(n_pairs):
    X = rows()
    whole = MarginProjection(n_pairs=n_pairs, random_state=0).fit(X)
    shorter = whole.prefix(2)
    fitted = MarginProjection(2, n_pairs=n_pairs, random_state=0).fit(X)
    assert_array_equal(shorter.components_, fitted.components_)
    assert_array_equal(shorter.objective_values_, fitted.objective_values_)
    assert_array_equal(shorter.transform(X), whole.transform(X)[:, :2])
    assert len(whole.components_) == len(whole.objective_values_) == 4


def test_axes_are_unit_and_nearly_orthogonal_and_invert():
    X = rows(d=6)
    model = MarginProjection().fit(X)
    gram = model.components_ @ model.components_.T
    assert_allclose(np.diag(gram), 1)
    assert np.abs(gram - np.eye(6)).max() < 0.2
    assert 0 < model.full_length_drift_ < 0.5
    assert_allclose(model.inverse_transform(model.transform(X)), X)


def test_a_large_price_makes_axes_orthogonal_and_a_small_one_does_not():
    X = rows()
    dear = MarginProjection(alpha=1e4).fit(X)
    cheap = MarginProjection(alpha=0.1).fit(X)
    assert dear.full_length_drift_ < 1e-3 < cheap.full_length_drift_


def test_rows_of_fewer_dimensions_than_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) @ rng.normal(size=(2, 5))
    model = MarginProjection().fit(X)
    assert_array_equal(model.objective_values_[2:], 0)
    assert_allclose(model.transform(X)[:, 2:], 0, atol=1e-12)
    assert np.linalg.matrix_rank(model.components_) == 5
    few = MarginProjection().fit(rng.normal(size=(4, 7)))
    assert_array_equal(few.objective_values_ > 0, [True] * 3 + [False] * 4)


def test_one_column():
    X = rows(d=1)
    model = MarginProjection().fit(X)
    assert_array_equal(model.components_, [[1.0]])
    assert_allclose(model.transform(X), X - X.mean())


@pytest.mark.parametrize("n_pairs", [32768, 300])
@pytest.mark.parametrize("seed", range(4))
def test_weights_are_repetitions_and_order_does_not_matter(n_pairs, seed):
    rng = np.random.default_rng(seed)
    X = rows(n=40, d=3, seed=seed)
    weights = rng.integers(0, 4, size=40)
    order = rng.permutation(np.repeat(np.arange(40), weights))
    model = MarginProjection(n_pairs=n_pairs, random_state=0)
    one = model.fit(X, sample_weight=weights).transform(X)
    other = model.fit(X[order]).transform(X)
    assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_units_change_nothing_but_units(unit):
    X = rows()
    model, plain = MarginProjection().fit(unit * X), MarginProjection().fit(X)
    assert_allclose(model.components_, plain.components_, atol=1e-9)
    assert_allclose(model.objective_values_, unit * plain.objective_values_)


def test_float32_stays_float32():
    model = MarginProjection(2).fit(rows().astype(np.float32))
    parts = model.components_, model.mean_, model.objective_values_
    assert {part.dtype for part in parts} == {np.dtype(np.float32)}


def test_two_rows():
    model = MarginProjection().fit([[0.0, 0.0], [3.0, 4.0]])
    assert_allclose(model.components_[0], [0.6, 0.8])
    assert_allclose(model.objective_values_, [5, 0])


# --- the ascent ------------------------------------------------------------------


@given(seed=seeds)
def test_the_subgradient_is_the_slope(seed):
    rng = np.random.default_rng(seed)
    X, earlier = rng.normal(size=(9, 4)), rng.normal(size=(2, 4))
    pairs = draw_pairs(rng.uniform(1, 2, size=9), 99, np.random.RandomState(0))
    problem = _Objective(X, pairs, 0.6, 2.0)
    w, u = np.linalg.qr(rng.normal(size=(4, 2)))[0].T

    def at(angle):
        turned = np.cos(angle) * w + np.sin(angle) * u
        return _at(problem, X @ turned, earlier @ turned)

    slope = (at(1e-7).value - at(-1e-7).value) / 2e-7
    found = _subgradient(problem, w, at(0.0), earlier) @ u
    assert_allclose(found, slope, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("alpha", [0.2, 10.0])
def test_ascents_start_at_principal_axes_of_what_earlier_axes_leave(monkeypatch, alpha):
    X = rows(n=80, d=7)
    X -= X.mean(axis=0)
    seen = []
    climb = _margin_axes._climb

    def watched(problem, starts, earlier, max_iter, tol):
        seen.append((starts, earlier))
        return climb(problem, starts, earlier, max_iter, tol)

    monkeypatch.setattr(_margin_axes, "_climb", watched)
    MarginProjection(4, alpha=alpha).fit(X)
    variances = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    assert_allclose(np.abs(seen[0][0]), np.eye(4, 7), atol=1e-9)
    for starts, earlier in seen[1:]:
        assert_allclose(starts @ earlier.T, 0, atol=1e-9)
        taken = scipy.linalg.orth(earlier.T)
        off = np.eye(7) - taken @ taken.T
        share = np.diag(off)
        usable = share > 0.25 * np.trace(off) / 7
        left = np.diag(off @ np.diag(variances) @ off)
        measure = np.where(usable, left / share, -1)
        best = np.argsort(-measure)[:4]
        expected = (off[best].T / np.sqrt(share[best])).T
        assert_allclose(starts, expected, atol=1e-7)


@given(seed=seeds)
def test_what_axes_leave_is_the_projection_off_their_span(seed):
    rng = np.random.default_rng(seed)
    covariance = np.diag([4.0, 3.0, 2.0, 1.0])
    residual = _Residual(np.eye(4), covariance, 4)
    axes = rng.normal(size=(2, 4))
    for axis in (axes[0], axes[1], axes[0] - axes[1]):
        residual = _without(residual, axis)
    taken = scipy.linalg.orth(axes.T)
    off = np.eye(4) - taken @ taken.T
    assert residual.dimension == 2
    assert_allclose(residual.off, off, atol=1e-7)
    assert_allclose(residual.covariance, off @ covariance @ off, atol=1e-7)


def test_the_ascent_never_falls_and_reports_its_end():
    X = rows()
    centered = centered_distinct_rows("example", X, np.ones(60))
    first, second = np.triu_indices(60, 1)

    def reached(max_iter):
        axes = greedy_axes(
            centered.rows,
            centered.weights,
            Pairs(first, second, None),
            share=0.5,
            alpha=1.0,
            max_iter=max_iter,
            tol=0.0,
        )
        return next(axes)

    values = [reached(k).value for k in range(1, 12)]
    assert np.all(np.diff(values) >= 0)
    assert values[-1] > values[0]
    assert not reached(1).converged
    assert reached(1).n_iter == 1
    assert reached(10_000).converged


def test_too_few_steps_are_told():
    with pytest.warns(
        ConvergenceWarning, match=r"'max_iter'=1. Raise it, or raise tol"
    ):
        model = MarginProjection(max_iter=1, tol=0).fit(rows())
    assert model.n_iter_ == 1
    assert MarginProjection().fit(rows()).n_iter_ < 200


def test_callbacks_hear_of_every_direction_and_may_stop():
    seen = []

    class Watch:
        def setup(self, estimator, context):
            pass

        def teardown(self, estimator, context):
            pass

        def on_fit_task_begin(self, estimator, context):
            pass

        def on_fit_task_end(self, estimator, context, *, X, fitted_estimator):
            seen.append(fitted_estimator.transform(X).shape)
            return len(fitted_estimator.components_) == 2

    X = rows()
    model = MarginProjection().set_callbacks(Watch()).fit(X)
    assert seen == [(60, 1), (60, 2), (60, 2)]
    assert_array_equal(model.components_, MarginProjection(2).fit(X).components_)


# --- errors and claims -----------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, 20, 2.5, True])
def test_the_rule_of_lengths(k):
    with pytest.raises(ValueError, match=r"MarginProjection.*Pass n_components=8"):
        MarginProjection(k).fit(rows(d=8))


def test_equal_rows_are_refused():
    for equal in (np.full((6, 3), 0.1), np.zeros((6, 3))):
        with pytest.raises(ValueError, match="rows that differ: pass at least two"):
            MarginProjection().fit(equal)
    with pytest.raises(ValueError, match="rows that differ: pass at least two"):
        MarginProjection().fit(rows(), sample_weight=np.eye(60)[3])


@pytest.mark.parametrize("n_pairs", [32768, 500])
def test_claims_hold(n_pairs):
    model = MarginProjection(n_pairs=n_pairs, random_state=0)
    for claim in model.invariances():
        report = check_invariance(model, claim, rows(), n_draws=3)
        assert report.holds, report


def test_what_is_not_claimed_is_broken():
    model = MarginProjection(random_state=0)
    claims = unclaimed(model)
    assert {claim.group for claim in claims} >= {"column_scaling", "row_scaling"}
    for claim in claims:
        assert not check_invariance(model, claim, rows(), n_draws=4).holds, claim
