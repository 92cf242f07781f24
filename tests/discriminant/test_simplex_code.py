"""Simplex codes: coordinates and posteriors, teachers, the path, and refusals."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris, make_blobs
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.mixture import GaussianMixture
from sklearn.multioutput import MultiOutputClassifier
from sklearn.pipeline import make_pipeline

from skrep.discriminant import SimplexCode, _posterior
from skrep.geometry import simplex_vertices
from skrep.invariance import check_invariance, unclaimed
from tests.strategies import seeds

X, Y = load_iris(return_X_y=True)


def blobs(n=300, d=10, k=4, seed=0):
    rows, labels = make_blobs(n, d, centers=k, cluster_std=3.0, random_state=seed)
    return rows + 5, labels


def floored(q):
    return (1 - 1e-6) * q + 1e-6 / q.shape[1]


class Fixed(LogisticRegression):
    """A classifier whose posterior is given."""

    answer = None

    def predict_proba(self, X):
        return self.answer


# --- coordinates -------------------------------------------------------------------


@given(
    seed=seeds, k=st.integers(2, 9), beta=st.floats(0.1, 10), sharp=st.floats(0.1, 20)
)
@settings(max_examples=30)
def test_codes_are_the_formula_and_give_posteriors_back(seed, k, beta, sharp):
    rng = np.random.default_rng(seed)
    q = floored(rng.dirichlet(np.full(k, 1 / sharp), size=7))
    V = simplex_vertices(k)
    Z = _posterior.encode_posterior(q, V, beta)
    for row, z in zip(q, Z, strict=True):
        code = sum(np.log(p) * v for p, v in zip(row, V, strict=True))
        assert_allclose(z, (k - 1) / (k * beta) * code, atol=1e-9)
        scores = np.exp([beta * (v @ z) for v in V])
        assert_allclose(scores / scores.sum(), row, atol=1e-12)
    assert_allclose(_posterior.simplex_posterior(Z, V, beta), q, atol=1e-12)


def test_squared_distances_are_those_of_centered_log_odds():
    q = floored(np.random.default_rng(0).dirichlet(np.ones(5), size=20))
    Z = _posterior.encode_posterior(q, simplex_vertices(5), 2.0)
    logs = np.log(q) - np.log(q).mean(axis=1, keepdims=True)
    squares = np.sum((logs[:, None] - logs) ** 2, axis=2)
    assert_allclose(
        np.sum((Z[:, None] - Z) ** 2, axis=2), squares * 4 / 5 / 2.0**2, atol=1e-10
    )


def test_a_sure_row_lies_along_its_vertex():
    q = floored(np.eye(4))
    Z = _posterior.encode_posterior(q, simplex_vertices(4), 1.0)
    cosines = Z @ simplex_vertices(4).T / np.linalg.norm(Z, axis=1)[:, None]
    assert_allclose(np.diag(cosines), 1)


# --- the mixture ---------------------------------------------------------------------


def test_the_mixture_is_that_of_whitened_principal_scores():
    rows, _ = blobs()
    scores = PCA(3, whiten=True, svd_solver="full").fit_transform(rows)
    scores *= np.sqrt(len(rows) / (len(rows) - 1))
    mixture = GaussianMixture(4, reg_covar=1e-3, max_iter=500, random_state=0)
    q = mixture.fit(scores).predict_proba(scores)
    code = SimplexCode(4, beta=2.0, random_state=0).fit(rows)
    Z = code.transform(rows)
    assert Z.shape == (300, 3)
    assert_allclose(code.posterior(Z), floored(q), atol=1e-7)
    assert code.n_clusters_ == 4
    assert_allclose(code.vertices_, simplex_vertices(4))
    assert_allclose(code.mean_, rows.mean(axis=0))
    assert_allclose(
        np.cov(rows @ code.components_.T, rowvar=False, ddof=0), np.eye(3), atol=1e-9
    )


def test_clusters_come_apart_in_the_code():
    rows, labels = blobs()
    code = SimplexCode(4, random_state=0).fit(rows)
    nearest = np.argmax(code.transform(rows) @ code.vertices_.T, axis=1)
    table = np.array(
        [[np.sum((labels == a) & (nearest == b)) for b in range(4)] for a in range(4)]
    )
    assert table.max(axis=1).sum() > 290


@pytest.mark.parametrize("shape", [(40, 12), (10, 30)])
def test_scores_have_variance_one_whatever_the_shape(shape):
    rows = np.random.default_rng(0).normal(size=shape) * 3 + 100
    mean, axes = _posterior.principal_scores(rows, 4)
    assert_allclose(
        np.cov((rows - mean) @ axes.T, rowvar=False, ddof=0), np.eye(4), atol=1e-9
    )
    expected = PCA(4, svd_solver="full").fit(rows).components_
    cosines = np.sum(expected * axes, axis=1) / np.linalg.norm(axes, axis=1)
    assert_allclose(np.abs(cosines), 1, atol=1e-9)


def test_rows_of_few_dimensions_have_few_scores():
    flat = np.outer(np.arange(30.0), [1.0, 2.0, 0.0])
    code = SimplexCode(4, random_state=0).fit(flat)
    assert code.components_.shape == (1, 3)
    assert code.transform(flat).shape == (30, 3)
    assert _posterior.principal_scores(np.full((5, 2), 0.1), 1)[1].shape == (0, 2)


def test_one_cluster_has_no_columns():
    code = SimplexCode(1, random_state=0).fit(X)
    assert code.transform(X).shape == (150, 0)
    assert list(code.get_feature_names_out()) == []


def test_float32_stays_float32():
    rows, _ = blobs()
    code = SimplexCode(4, random_state=0).fit(rows.astype(np.float32))
    Z = code.transform(rows.astype(np.float32))
    assert Z.dtype == code.posterior(Z).dtype == np.float32
    wide = SimplexCode(4, random_state=0).fit(rows)
    assert_allclose(code.posterior(Z), wide.posterior(wide.transform(rows)), atol=1e-3)


@pytest.mark.parametrize("unit", [1e-150, 1e150])
def test_units_do_not_matter(unit):
    rows, _ = blobs()
    plain, scaled = (
        SimplexCode(4, random_state=0).fit_transform(scale * rows)
        for scale in (1, unit)
    )
    assert_allclose(scaled, plain, atol=1e-6)


def test_names():
    frame = pd.DataFrame(X, columns=list("abcd"))
    code = SimplexCode(3, random_state=0).set_output(transform="pandas")
    Z = code.fit_transform(frame)
    assert list(Z.columns) == ["simplexcode0", "simplexcode1"]
    assert_allclose(code.posterior(Z).sum(axis=1), 1)


# --- other teachers ------------------------------------------------------------------


@pytest.mark.parametrize(
    "teacher",
    [LogisticRegression(max_iter=500), RandomForestClassifier(20, random_state=0)],
    ids=lambda teacher: type(teacher).__name__,
)
def test_a_classifier_teaches_its_classes(teacher):
    labels = np.array(["a", "b", "c"])[Y]
    code = SimplexCode(teacher=teacher).fit(X, labels)
    Z = code.transform(X)
    assert Z.shape == (150, 2)
    assert not hasattr(teacher, "classes_")
    assert_array_equal(code.teacher_.classes_, ["a", "b", "c"])
    q = teacher.fit(X, labels).predict_proba(X)
    assert_allclose(code.posterior(Z), floored(q), atol=1e-12)
    assert code.components_ is None
    assert code.mean_ is None


def test_a_frozen_teacher_stays_and_needs_no_y():
    frame = pd.DataFrame(X, columns=list("abcd"))
    frozen = FrozenEstimator(LogisticRegression(max_iter=500).fit(frame, Y))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = SimplexCode(teacher=frozen).fit(frame[:100])
        q = code.posterior(code.transform(frame))
    assert code.teacher_.estimator is frozen.estimator
    assert_allclose(q, floored(frozen.predict_proba(frame)), atol=1e-12)


def test_a_mixture_of_the_rows_themselves_may_teach():
    teacher = make_pipeline(PCA(2), GaussianMixture(3, random_state=0))
    code = SimplexCode(teacher=teacher).fit(X)
    assert code.transform(X).shape == (150, 2)


def test_only_a_teacher_that_needs_y_asks_for_it():
    for teacher, needs in (
        ("gmm", False),
        (GaussianMixture(3), False),
        (LogisticRegression(), True),
        (FrozenEstimator(LogisticRegression().fit(X[:, :1], Y == 0)), False),
    ):
        tags = SimplexCode(teacher=teacher).__sklearn_tags__()
        assert tags.target_tags.required is needs


# --- the path ------------------------------------------------------------------------


def information(q, weights):
    """Mutual information by sums over rows and clusters."""
    total, mean = 0.0, np.average(q, axis=0, weights=weights)
    for row, weight in zip(q, weights / np.sum(weights), strict=True):
        total += weight * sum(p * np.log(p / m) for p, m in zip(row, mean, strict=True))
    return total


@given(seed=seeds, k=st.integers(2, 6), beta=st.floats(0.2, 5))
@settings(max_examples=30)
def test_the_path_leads_from_constant_to_all_information(seed, k, beta):
    rng = np.random.default_rng(seed)
    q = floored(rng.dirichlet(np.full(k, 0.5), size=12))
    weights = rng.integers(1, 4, size=12).astype(float)
    path = _posterior.margin_energy(q, weights, beta, 9)
    assert_allclose(path.a, np.arange(9) / 8)
    assert_allclose(path.margin[-1], information(q, weights), atol=1e-10)
    mean = np.average(q, axis=0, weights=weights)
    entropy = -np.sum(mean * np.log(mean))
    assert_allclose(path.margin[0], entropy - np.log(k), atol=1e-12)
    assert np.all(np.diff(path.margin) > 0)
    assert np.all(np.diff(path.margin, 2) < 0)
    V = simplex_vertices(k)
    Z = _posterior.encode_posterior(q, V, beta)
    energy = np.average(np.sum(Z**2, axis=1), weights=weights) / 2
    assert_allclose(path.energy, path.a**2 * energy, atol=1e-9)
    # The margin of the scaled codes themselves.
    p = _posterior.simplex_posterior(path.a[3] * Z, V, beta)
    cross = -np.average(np.sum(q * np.log(p), axis=1), weights=weights)
    assert_allclose(path.margin[3], entropy - cross, atol=1e-9)


def test_the_path_of_rows():
    code = SimplexCode(3, random_state=0).fit(X)
    q = code.posterior(code.transform(X))
    a, margin, energy = code.margin_energy_path(X, 5)
    assert len(a) == len(margin) == len(energy) == 5
    assert_allclose(margin[-1], information(q, np.ones(150)), atol=1e-8)
    assert len(code.margin_energy_path(X).a) == 11
    weights = np.arange(150) % 3
    one = code.margin_energy_path(X, sample_weight=weights)
    other = code.margin_energy_path(np.repeat(X, weights, axis=0))
    assert_allclose(one, other, atol=1e-10)


# --- refusals ------------------------------------------------------------------------


def test_what_it_refuses():
    with pytest.raises(ValueError, match=r"'n_clusters' is 8.*3 distinct.*=3"):
        SimplexCode().fit(np.repeat(X[[0, 60, 120]], 9, axis=0))
    with pytest.raises(ValueError, match=r"y is None.*FrozenEstimator"):
        SimplexCode(teacher=LogisticRegression()).fit(X)
    with pytest.raises(ValueError, match="predict_proba"):
        SimplexCode(teacher=RidgeClassifier()).fit(X, Y)
    with pytest.raises(ValueError, match="beta"):
        SimplexCode(beta=0.0).fit(X)
    forest = RandomForestClassifier(3, random_state=0)
    with pytest.raises(ValueError, match=r"knows 1 class.*at least two classes"):
        SimplexCode(teacher=forest).fit(X, np.zeros(150))
    several = MultiOutputClassifier(forest)
    with pytest.raises(ValueError, match=r"a list.*teacher of one target"):
        SimplexCode(teacher=several).fit(X, np.c_[Y, Y])
    code = SimplexCode(3, random_state=0).fit(X)
    with pytest.raises(ValueError, match=r"'Z' has 4 columns.*output of transform"):
        code.posterior(X)
    with pytest.raises(ValueError, match=r"SimplexCode: 'Z' contains NaN"):
        code.posterior([[np.nan, 0.0]])
    for bad in (1, 2.5, True, "5"):
        with pytest.raises(ValueError, match="pass n_points=11"):
            code.margin_energy_path(X, bad)
    with pytest.raises(ValueError, match="sample_weight"):
        code.margin_energy_path(X, sample_weight=[1.0])
    with pytest.raises(TypeError, match="toarray"):
        SimplexCode().fit(sp.csr_array(X))


def test_a_failed_fit_leaves_all_as_it_was():
    code = SimplexCode(3, random_state=0)
    with pytest.raises(ValueError, match="distinct rows"):
        code.fit(X[[0, 0]])
    assert not hasattr(code, "n_features_in_")
    expected = code.fit(X).transform(X)
    forest = RandomForestClassifier(3, random_state=0)
    for teacher, rows in (("gmm", X[[0, 0], :2]), (forest, X)):
        with pytest.raises(ValueError, match=r"distinct rows|knows 1 class"):
            code.set_params(teacher=teacher).fit(rows, np.zeros(len(rows)))
        assert_allclose(code.transform(X), expected)


@pytest.mark.parametrize(
    "answer",
    [[[np.nan, 1.0]], [[-0.5, 1.5]], [[0.0, 0.0]]],
    ids=["nan", "below", "zero"],
)
def test_a_posterior_must_be_one(answer):
    teacher = Fixed()
    teacher.answer = np.array(answer)
    with pytest.raises(ValueError, match=r"Check teacher.predict_proba"):
        _posterior.supported_posterior("SimplexCode", teacher, X)


def test_a_posterior_is_brought_to_sum_one():
    teacher = Fixed()
    teacher.answer = np.array([[1.0, 3.0]])
    q = _posterior.supported_posterior("SimplexCode", teacher, X)
    assert_allclose(q, floored(np.array([[0.25, 0.75]])))


def test_distinct_rows_are_counted_as_far_as_needed():
    rows = np.repeat(np.eye(3), 50, axis=0)
    assert _posterior.count_distinct(rows, 3) == 3
    assert _posterior.count_distinct(rows, 5) == 3
    assert _posterior.count_distinct(np.arange(100.0)[:, None], 2) >= 2


# --- invariance ----------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(200, 8), (12, 30)])
def test_claims_hold(shape):
    rows, _ = blobs(*shape)
    code = SimplexCode(4, random_state=0)
    for claim in code.invariances():
        report = check_invariance(code, claim, rows)
        assert report.holds, report
    assert SimplexCode(teacher=LogisticRegression()).invariances() == ()


def test_what_is_not_claimed_is_broken():
    rows, _ = blobs(200, 8)
    code = SimplexCode(4, random_state=0)
    claims = [c for c in unclaimed(code) if c.group != "label_permutation"]
    assert {claim.group for claim in claims} >= {"column_scaling", "row_scaling"}
    for claim in claims:
        report = check_invariance(code, claim, rows, n_draws=8)
        assert not report.holds, report
