"""The noise pruner: its two tests, its counts, and what it refuses."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.exceptions import FewerColumnsWarning
from skrep.invariance import check_invariance, unclaimed
from skrep.nested import NoisePruner, _noise_edge
from skrep.nested._noise_edge import (
    agreement,
    half_grams,
    mean_cosine,
    noise_edge,
    principal_axes,
)
from tests.strategies import seeds

nothing_found = pytest.mark.filterwarnings(
    "ignore::skrep.exceptions.FewerColumnsWarning"
)


def spiked(n=400, d=40, spikes=(4, 6, 9), seed=0, draw="normal"):
    """Noise of variance one plus a few directions of more variance."""
    rng = np.random.default_rng(seed)
    noise = {
        "normal": lambda shape: rng.normal(size=shape),
        "uniform": lambda shape: rng.uniform(-np.sqrt(3), np.sqrt(3), size=shape),
        "signs": lambda shape: rng.choice([-1.0, 1.0], size=shape),
    }[draw]
    axes = np.linalg.qr(rng.normal(size=(d, len(spikes))))[0].T
    return noise((n, d)) + noise((n, len(spikes))) * np.sqrt(spikes) @ axes + 5


# --- the two tests ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "d"),
    [(400, 40), (1000, 100), pytest.param(60, 120, id="fewer rows than columns")],
)
@pytest.mark.parametrize("seed", range(3))
@nothing_found
def test_pure_noise_holds_no_signal(n, d, seed):
    X = np.random.default_rng(seed).normal(size=(n, d))
    pruner = NoisePruner(random_state=0).fit(3 * X)
    assert pruner.n_signal_ == 0
    assert pruner.n_noise_ == d
    assert_allclose(pruner.noise_level_, 9, rtol=0.15)


@pytest.mark.parametrize("draw", ["normal", "uniform", "signs"])
@pytest.mark.parametrize(
    ("n", "d", "spikes"),
    [
        (400, 40, (4, 6, 9)),
        (600, 100, (3, 3, 3, 3, 3, 3)),
        pytest.param(150, 200, (30, 40), id="fewer rows than columns"),
    ],
)
def test_strong_directions_are_found_and_the_noise_is_measured(draw, n, d, spikes):
    X = spiked(n, d, spikes, draw=draw)
    pruner = NoisePruner(random_state=0).fit(X)
    assert pruner.n_signal_ == len(spikes)
    assert pruner.n_noise_ == d - len(spikes)
    assert_allclose(pruner.noise_level_, 1, rtol=0.15)


def test_the_edge_alone_is_fooled_more_often():
    X = np.random.default_rng(0).standard_t(3, size=(1000, 100))
    with pytest.warns(FewerColumnsWarning, match="lower threshold"):
        strict = NoisePruner(random_state=0).fit(X)
    assert strict.n_signal_ == 0
    assert NoisePruner(threshold=0, random_state=0).fit(X).n_signal_ > 0


def test_the_edge_is_the_formula():
    X = spiked()
    values = np.linalg.eigvalsh(np.cov(X.T))[::-1]
    pruner = NoisePruner(random_state=0).fit(X)
    assert_allclose(pruner.eigenvalues_, values)
    assert_allclose(pruner.edge_, pruner.noise_level_ * (1 + np.sqrt(40 / 399)) ** 2)


def test_dependent_columns_add_no_dimension():
    X = spiked()
    rng = np.random.default_rng(1)
    wide = X @ np.linalg.qr(rng.normal(size=(60, 40)))[0].T
    one, other = (NoisePruner(random_state=0).fit(rows) for rows in (X, wide))
    assert_allclose(other.edge_, one.edge_)
    assert_allclose(other.agreement_, one.agreement_)
    assert other.n_signal_ == one.n_signal_ == 3
    assert other.n_noise_ == 57


def test_agreement_is_the_cosine_of_principal_angles():
    X = spiked(n=120, d=12, spikes=(1, 1, 1, 1))
    grams = half_grams(
        X, np.ones(120), 6, n_splits=3, random_state=np.random.RandomState(0)
    )
    draws = np.random.RandomState(0)
    expected = np.zeros(6)
    for _ in range(3):
        order = draws.permutation(120)
        halves = []
        for part in (order[:60], order[60:]):
            halves.append(np.linalg.eigh(np.cov(X[part].T))[1][:, ::-1][:, :6])
        for one, other in (halves, halves[::-1]):
            for k in range(1, 7):
                angles = scipy.linalg.subspace_angles(one[:, :k], other)
                expected[k - 1] += np.cos(angles.max()) / 6
    assert_allclose([mean_cosine(grams, k) for k in range(1, 7)], expected)


@given(seed=seeds, threshold=st.floats(0.05, 0.95))
@settings(max_examples=20)
@nothing_found
def test_agreement_is_that_of_the_last_axis_that_passes_and_of_the_next(
    seed, threshold
):
    X = spiked(n=80, d=10, spikes=(1, 2, 3, 4), seed=seed)
    pruner = NoisePruner(threshold=threshold, random_state=0).fit(X)
    kept, following = pruner.agreement_
    n_above = np.sum(pruner.eigenvalues_ > pruner.edge_)
    assert kept >= threshold if pruner.n_signal_ else np.isnan(kept)
    assert following < threshold if pruner.n_signal_ < n_above else np.isnan(following)
    whole = NoisePruner(threshold=0, random_state=0).fit(X)
    assert whole.n_signal_ == n_above


@given(seed=seeds, threshold=st.floats(0, 1))
@settings(max_examples=30)
def test_bisection_finds_what_a_scan_finds(seed, threshold):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 9)) * np.geomspace(3, 1, 9)
    grams = half_grams(
        X, np.ones(40), 7, n_splits=2, random_state=np.random.RandomState(seed)
    )
    cosines = np.array([mean_cosine(grams, k) for k in range(1, 8)])
    assert np.all(np.diff(cosines) <= 1e-12)
    n_axes = int(np.argmin(np.append(cosines >= threshold, False)))
    padded = np.r_[np.nan, cosines, np.nan]
    found = agreement(grams, threshold)
    assert found.n_axes == n_axes
    assert_array_equal(found[1:], padded[n_axes : n_axes + 2])


def test_few_lengths_are_tried(monkeypatch):
    tried = []

    def watched(grams, k):
        tried.append(k)
        return mean_cosine(grams, k)

    monkeypatch.setattr(_noise_edge, "mean_cosine", watched)
    cosines = np.linspace(1, 0, 251)
    found = agreement([np.diag(cosines[:250] ** 2)], 0.301)
    assert_allclose(found, (175, cosines[174], cosines[175]))
    assert len(tried) <= 10


def test_no_candidates_leave_nothing_to_agree():
    none = half_grams(
        np.eye(4), np.ones(4), 0, n_splits=2, random_state=np.random.RandomState(0)
    )
    assert_array_equal(agreement(none, 0.5), (0, np.nan, np.nan))


def test_half_rows_that_span_too_little_agree_with_nothing():
    rows = np.vstack([np.zeros((5, 3)), np.eye(3)])
    grams = half_grams(
        rows, np.ones(8), 3, n_splits=1, random_state=np.random.RandomState(0)
    )
    assert mean_cosine(grams, 3) == 0


def test_noise_edge_of_rows_in_fewer_dimensions():
    values = np.array([3.0, 2.0, 1.0, 0.0, 0.0])
    assert noise_edge(values, 100.0) == noise_edge(values[:3], 100.0)


# --- the transformer -------------------------------------------------------------


def test_coordinates_are_those_of_principal_axes():
    X = spiked()
    pruner = NoisePruner(random_state=0).fit(X)
    assert_allclose(pruner.components_ @ pruner.components_.T, np.eye(3), atol=1e-12)
    assert_allclose(
        np.var(pruner.transform(X), axis=0, ddof=1), pruner.eigenvalues_[:3]
    )


def test_the_inverse_takes_noise_out():
    rng = np.random.default_rng(0)
    clean = rng.normal(size=(500, 3)) * 4 @ rng.normal(size=(3, 30)) / 5
    noisy = clean + rng.normal(size=clean.shape)
    pruner = NoisePruner(random_state=0).fit(noisy)
    back = pruner.inverse_transform(pruner.transform(noisy))
    assert np.mean((back - clean) ** 2) < 0.2 * np.mean((noisy - clean) ** 2)


def test_a_prefix_is_the_leading_coordinates():
    X = spiked()
    pruner = NoisePruner(random_state=0).fit(X)
    shorter = pruner.prefix(2)
    assert_array_equal(shorter.transform(X), pruner.transform(X)[:, :2])
    assert shorter.n_signal_ == 2
    assert shorter.n_noise_ == 38
    assert shorter.reason_ == (
        f"{pruner.reason_} Cut to the first 2 of the 3 axes kept."
    )
    assert not hasattr(shorter, "n_components")
    assert pruner.n_signal_ == 3
    assert pruner.reason_.endswith("37 axes are noise.")
    assert_array_equal(shorter.agreement_, pruner.agreement_)
    with pytest.raises(ValueError, match="Pass n_components=3"):
        pruner.prefix(4)


@nothing_found
def test_a_prefix_of_full_length_says_the_same():
    X = spiked()
    for pruner in (
        NoisePruner(random_state=0).fit(X),
        NoisePruner(threshold=1, random_state=0).fit(X),
    ):
        whole = pruner.prefix(len(pruner.components_))
        assert whole.n_signal_ == pruner.n_signal_
        assert whole.n_noise_ == pruner.n_noise_
        assert whole.reason_ == pruner.reason_
        assert vars(whole).keys() == vars(pruner).keys()


def test_the_reason_holds_the_numbers():
    pruner = NoisePruner(random_state=0).fit(spiked())
    assert pruner.reason_.startswith("3 of 40 eigenvalues are above the noise edge")
    assert "over 4 random halvings 3 leading axes agree" in pruner.reason_
    assert pruner.reason_.endswith("37 axes are noise.")


def test_one_column_is_kept_with_a_warning():
    X = np.random.default_rng(0).normal(size=(300, 30))
    with pytest.warns(FewerColumnsWarning, match="Pass more rows, or lower threshold"):
        pruner = NoisePruner(random_state=0).fit(X)
    assert pruner.n_signal_ == 0
    assert pruner.transform(X).shape == (300, 1)


@given(seed=seeds)
@settings(max_examples=20)
@nothing_found
def test_weights_are_repetitions_and_order_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    X = spiked(n=60, d=6, spikes=(2, 4), seed=seed)
    weights = rng.integers(0, 4, size=60)
    order = rng.permutation(np.repeat(np.arange(60), weights))
    one = NoisePruner(random_state=0).fit(X, sample_weight=weights)
    other = NoisePruner(random_state=0).fit(X[order])
    assert_allclose(one.edge_, other.edge_)
    assert_allclose(one.agreement_, other.agreement_, atol=1e-7)
    assert_allclose(one.transform(X), other.transform(X), atol=1e-7)


def test_shares_as_weights_count_as_rows():
    X = spiked()
    plain = NoisePruner(random_state=0).fit(X)
    shares = NoisePruner(random_state=0).fit(X, sample_weight=np.full(400, 1 / 400))
    assert_allclose(shares.edge_, plain.edge_)
    assert shares.n_signal_ == plain.n_signal_


@pytest.mark.parametrize("unit", [1e-150, 1.0, 1e140])
def test_units_change_nothing_but_units(unit):
    X = spiked()
    pruner = NoisePruner(random_state=0).fit(unit * X)
    assert pruner.n_signal_ == 3
    assert_allclose(
        pruner.components_, NoisePruner(random_state=0).fit(X).components_, atol=1e-9
    )


def test_float32_stays_float32():
    X = spiked().astype(np.float32)
    pruner = NoisePruner(random_state=0).fit(X)
    parts = (pruner.components_, pruner.mean_, pruner.eigenvalues_, pruner.agreement_)
    assert {part.dtype for part in parts} == {np.dtype(np.float32)}


@nothing_found
def test_few_and_constant():
    X = spiked(n=2, d=3, spikes=(1,))
    assert NoisePruner(random_state=0).fit_transform(X).shape == (2, 1)
    padded = np.c_[spiked(), np.full(400, 7.0)]
    assert NoisePruner(random_state=0).fit(padded).n_signal_ == 3
    assert NoisePruner(random_state=0).fit(X[:, :1]).n_signal_ == 0


@pytest.mark.parametrize("rows", [np.full((5, 3), 0.1), np.zeros((4, 2))])
def test_equal_rows_are_refused(rows):
    with pytest.raises(
        ValueError, match=r"NoisePruner.*rows that differ: pass at least"
    ):
        NoisePruner().fit(rows)
    with pytest.raises(ValueError, match="rows that differ: pass at least two"):
        NoisePruner().fit(spiked(), sample_weight=np.eye(400)[0])


def test_the_reference_axes_are_sorted():
    X = spiked(n=50, d=6)
    weights = np.random.default_rng(0).uniform(0.5, 2, 50)
    values, axes = principal_axes(X, weights, weights.sum())
    covariance = np.cov(X.T, aweights=weights, ddof=0)
    assert_allclose(values, np.linalg.eigvalsh(covariance)[::-1])
    assert_allclose((axes @ covariance), values[:, None] * axes, atol=1e-10)


@pytest.mark.parametrize("k", [1, 3, 9, 12])
def test_leading_axes_are_the_first_of_all(k):
    X = spiked(n=50, d=12)
    values, axes = principal_axes(X, np.ones(50))
    leading, first = principal_axes(X, np.ones(50), n_axes=k)
    assert first.shape == (k, 12)
    assert_allclose(leading, values[:k])
    assert_allclose(np.abs(np.sum(first * axes[:k], axis=1)), 1)


# --- invariance ------------------------------------------------------------------


def test_claims_hold():
    X = spiked(n=150, d=8)
    for claim in NoisePruner().invariances():
        report = check_invariance(NoisePruner(random_state=0), claim, X)
        assert report.holds, report


def test_what_is_not_claimed_is_broken():
    X = spiked(n=150, d=8)
    claims = unclaimed(NoisePruner(random_state=0))
    assert {claim.group for claim in claims} >= {"column_scaling", "row_scaling"}
    for claim in claims:
        report = check_invariance(NoisePruner(random_state=0), claim, X, n_draws=8)
        assert not report.holds, report
