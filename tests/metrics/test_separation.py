"""The Fisher criterion and the log-det ratio, and what small samples add to them."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import digamma
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from skrep.exceptions import ThinDataWarning
from skrep.metrics import fisher_criterion, log_det_ratio
from tests.strategies import seeds

CRITERIA = [fisher_criterion, log_det_ratio]
both = pytest.mark.parametrize("criterion", CRITERIA)


def draw(seed, n=60, k=3, n_classes=4, shift=1.0):
    """Rows, and classes of many sizes whose means differ by about the shift."""
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_classes, 3.0))
    y = np.r_[np.arange(n_classes), rng.choice(n_classes, n - n_classes, p=shares)]
    means = shift * rng.standard_normal((n_classes, k))
    return means[y] + rng.standard_normal((n, k)), y


def eigenvalues(X, y):
    """Of the pencil (B, W), by loops over rows."""
    k = X.shape[1]
    W, B = np.zeros((2, k, k))
    for label in np.unique(y):
        rows = X[y == label]
        for row in rows:
            W += np.outer(row - rows.mean(0), row - rows.mean(0))
            B += np.outer(rows.mean(0) - X.mean(0), rows.mean(0) - X.mean(0))
    return scipy.linalg.eigh(B, W, eigvals_only=True)


def digamma_sum(n, n_classes, k):
    return sum(
        digamma((n - 1 - j) / 2) - digamma((n - n_classes - j) / 2) for j in range(k)
    )


@given(seed=seeds, k=st.integers(1, 5), n_classes=st.integers(2, 6))
@settings(deadline=None, max_examples=40)
def test_values_are_those_of_the_eigenvalues(seed, k, n_classes):
    X, y = draw(seed, k=k, n_classes=n_classes)
    found = eigenvalues(X, y)
    trace, swell = found.sum(), np.log1p(found).sum()
    assert_allclose(fisher_criterion(X, y, corrected=False), trace)
    assert_allclose(log_det_ratio(X, y, corrected=False), swell)
    spare = 60 - n_classes - k - 1
    unbiased = (spare * trace - k * (n_classes - 1)) / 60
    assert_allclose(fisher_criterion(X, y), unbiased, atol=1e-12)
    bias = digamma_sum(60, n_classes, k)
    assert_allclose(log_det_ratio(X, y), swell - bias, atol=1e-12)


def test_eigenvalues_are_those_behind_the_discriminants_of_scikit_learn():
    X, y = load_wine(return_X_y=True)
    Z = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).transform(X)
    for criterion in CRITERIA:
        whole = criterion(X, y, corrected=False)
        assert_allclose(criterion(Z, y, corrected=False), whole, rtol=1e-8)


def test_two_classes_have_the_distance_of_mahalanobis():
    X, y = draw(0, n_classes=2)
    pooled = sum(np.cov(X[y == c].T, ddof=0) * np.mean(y == c) for c in (0, 1))
    gap = X[y == 1].mean(0) - X[y == 0].mean(0)
    expected = y.mean() * (1 - y.mean()) * gap @ np.linalg.solve(pooled, gap)
    assert_allclose(fisher_criterion(X, y, corrected=False), expected)
    assert_allclose(log_det_ratio(X, y, corrected=False), np.log1p(expected))


@pytest.mark.parametrize(("n", "k", "n_classes"), [(32, 9, 10), (24, 3, 4)])
def test_the_bias_without_classes_is_removed(n, k, n_classes):
    y = np.arange(n) % n_classes
    rng = np.random.default_rng(0)
    draws = rng.standard_normal((250, n, k))
    for criterion, bias in (
        (fisher_criterion, k * (n_classes - 1) / (n - n_classes - k - 1)),
        (log_det_ratio, digamma_sum(n, n_classes, k)),
    ):
        raw = np.array([criterion(X, y, corrected=False) for X in draws])
        assert abs(raw.mean() - bias) < 3 * raw.std() / np.sqrt(len(raw))
        mended = np.array([criterion(X, y) for X in draws])
        assert abs(mended.mean()) < 3 * mended.std() / np.sqrt(len(raw))


def test_with_classes_the_corrected_trace_is_the_true_one_on_average():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2, 3], [3, 5, 7, 9])
    means = rng.standard_normal((4, 3))
    A = rng.standard_normal((3, 3))
    centered = (means - means[y].mean(0))[y]
    truth = np.mean(np.sum(centered**2, axis=1))
    found = [
        fisher_criterion((means[y] + rng.standard_normal((24, 3))) @ A, y)
        for _ in range(500)
    ]
    error = np.std(found) / np.sqrt(len(found))
    assert error < 0.05 * truth
    assert abs(np.mean(found) - truth) < 3 * error


@both
@given(seed=seeds, corrected=st.booleans())
@settings(deadline=None, max_examples=25)
def test_invertible_affine_maps_and_names_of_classes_change_nothing(
    criterion, seed, corrected
):
    X, y = draw(seed)
    rng = np.random.default_rng(seed)
    Q, R = np.linalg.qr(rng.standard_normal((3, 3)))
    A = 10.0 ** np.array([-5, 0, 5]) * (Q + np.triu(R, 1))
    names = np.array(["d", "a", "c", "b"])[y]
    order = rng.permutation(60)
    moved = criterion((X @ A + 7)[order], names[order], corrected=corrected)
    assert_allclose(moved, criterion(X, y, corrected=corrected), rtol=1e-6, atol=1e-8)


@both
def test_weights_count_rows(criterion):
    X, y = draw(3)
    counts = np.random.default_rng(3).integers(0, 3, 60)
    assert (np.bincount(y, counts) > 0).all()
    twice = criterion(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_allclose(criterion(X, y, sample_weight=counts), twice, rtol=1e-12)
    assert criterion(X, y, sample_weight=np.ones(60)) == criterion(X, y)
    labels = [None if w == 0 else int(c) for c, w in zip(y, counts, strict=True)]
    assert_allclose(criterion(X, labels, sample_weight=counts), twice, rtol=1e-12)


@both
def test_a_class_whose_weights_are_zero_is_absent(criterion):
    X, y = draw(4)
    weights = (y != 2).astype(float)
    absent = criterion(X[y != 2], y[y != 2])
    assert_allclose(criterion(X, y, sample_weight=weights), absent, rtol=1e-12)


@both
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_constant_and_dependent_columns_count_for_nothing(criterion, dtype):
    X, y = draw(5)
    X = X.astype(dtype)
    expected = criterion(X, y)
    # In float32 the dependence holds to rounding only.
    more = np.c_[X, np.full(60, 0.1), X[:, 0] - 3 * X[:, 1] + 50, 1e6 * X[:, 2]]
    found = criterion(more.astype(dtype), y)
    assert_allclose(found, expected, rtol=1e-9 if dtype == np.float64 else 1e-3)


@both
@pytest.mark.parametrize("offset", [1e3, 1e6])
def test_far_from_the_origin_the_digits_stay(criterion, offset):
    X, y = draw(6)
    assert_allclose(criterion(X + offset, y), criterion(X, y), rtol=1e-7)


@both
@pytest.mark.parametrize("offset", [0.0, 0.3, 1e8])
def test_classes_apart_where_none_has_scatter_are_infinitely_far(criterion, offset):
    X, y = draw(7, n_classes=2)
    assert criterion(np.c_[X, 2 * y - 1 + offset], y) == np.inf
    # The same column, hidden in two others.
    assert criterion(np.c_[X, X[:, 0] + y + offset], y) == np.inf
    assert criterion(np.c_[y, y] + offset, y) == np.inf


@both
def test_rounding_of_class_means_is_no_scatter(criterion):
    y = np.repeat([-1, 1], 30)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        weights = np.tile(rng.random(30), 2)
        X = rng.random() * y[:, None]
        assert criterion(X, y, sample_weight=weights) == np.inf


@both
def test_large_but_finite_values_are_told_from_infinite_ones(criterion):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    noise = rng.standard_normal((100, 2))
    near = criterion(y[:, None] + 1e-5 * noise, y, corrected=False)
    expected = 0.25 * 1e10 * np.array([1.0, 1.0])
    value = near if criterion is fisher_criterion else np.exp(near)
    assert_allclose(value, expected.sum(), rtol=0.5)


@both
def test_equal_rows_are_not_apart(criterion):
    assert criterion(np.full((12, 2), 0.1), np.arange(12) % 3) == 0


@both
def test_values_at_the_edge_are_warned_of_or_refused(criterion):
    X, y = draw(8, n=9, k=4, n_classes=4)
    with pytest.warns(ThinDataWarning, match="mostly noise. Pass more rows"):
        criterion(X, y, corrected=False)
    X, y = draw(8, n=10, k=4, n_classes=4)
    criterion(X[:, :3], y)
    # n = C + k: W is regular, just so.
    with pytest.warns(ThinDataWarning, match=r"PCA\(n_components=1\)"):
        criterion(X[:8], y[:8], corrected=False)


def test_the_two_corrections_end_where_their_moments_do():
    X, y = draw(8, n=9, k=4, n_classes=4)
    with pytest.raises(ValueError, match="or corrected=False"):
        fisher_criterion(X, y)
    with pytest.warns(ThinDataWarning, match="mostly noise"):
        assert np.isfinite(log_det_ratio(X, y))


@both
@pytest.mark.parametrize("corrected", [True, False])
@pytest.mark.parametrize("n", [5, 9])
def test_too_few_rows_are_refused(criterion, corrected, n):
    X, y = draw(9, n=n, k=6)
    with pytest.raises(ValueError, match=r"noise\. Pass more rows of each class"):
        criterion(X, y, corrected=corrected)


@both
def test_errors_say_what_to_do(criterion):
    X, y = draw(10)
    who = criterion.__name__
    with pytest.raises(ValueError, match=f"{who}: 'y' has 1 class.*several classes"):
        criterion(X, np.zeros(60))
    with pytest.raises(ValueError, match=f"{who}: 'y' has 1 class"):
        criterion(X, y, sample_weight=y == 1)
    with pytest.raises(ValueError, match=f"{who}: 'y' has 59 entries"):
        criterion(X, y[1:])
    with pytest.raises(ValueError, match=f"{who}: 'y' contains NaN"):
        criterion(X, np.r_[np.nan, y[1:]])
    with pytest.raises(ValueError, match=f"{who}: .*Drop such rows"):
        criterion(np.where(np.abs(X) > 2, np.nan, X), y)
    with pytest.raises(ValueError, match=r"overflow\. Divide"):
        criterion(1e200 * X, y)
    with pytest.raises(ValueError, match="'corrected'"):
        criterion(X, y, corrected="no")
    with pytest.raises(ValueError, match=r"label type: continuous.*np\.digitize"):
        criterion(X, X[:, 0])
    with pytest.raises(ValueError, match="rows of each class"):
        criterion(X, np.arange(60.0))


@both
def test_inputs_are_left_as_they_were(criterion):
    X, y = draw(11)
    kept = X.copy()
    X.flags.writeable = y.flags.writeable = False
    criterion(X, y, sample_weight=np.arange(60) % 3)
    np.testing.assert_array_equal(X, kept)
