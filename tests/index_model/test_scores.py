"""Score models: formulas, Stein's identities, weights, and the choice among them."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from numpy.testing import assert_allclose

from skrep.datasets import make_index_model
from skrep.index_model._mixture import MixtureScores, mixture_scores
from skrep.index_model._mixture_fit import Mixture, fit_mixture, responsibilities
from skrep.index_model._row_scores import fisher_root
from skrep.index_model._scores import auto_scores, callable_scores
from skrep.index_model._student import (
    StudentScores,
    fit_student,
    mardia_nu,
    student_scores,
)
from skrep.linalg import Moments, quantile_edges, slice_codes, whitening
from skrep.metrics import subspace_distance
from tests.strategies import seeds

MIXTURE = Mixture(
    np.array([0.3, 0.5, 0.2]),
    np.array([[1.0, 0.0, -1.0], [-1.0, 0.5, 0.0], [1.0, -1.25, 1.5]]),
    np.stack([np.diag([0.5, 1.0, 2.0]), np.eye(3) + 0.4, 0.3 * np.eye(3)]),
)


def draw(name, n, rng):
    """Rows of a known density, its logarithm, and its scores at given rows."""
    if name == "mixture":
        member = rng.choice(3, n, p=MIXTURE.shares)
        roots = np.linalg.cholesky(MIXTURE.covariances)
        noise = np.einsum("nij,nj->ni", roots[member], rng.normal(size=(n, 3)))
        rows = MIXTURE.means[member] + noise

        def density(z):
            parts = zip(*MIXTURE, strict=True)
            return np.log(
                sum(
                    p * scipy.stats.multivariate_normal.pdf(z, m, Q)
                    for p, m, Q in parts
                )
            )

        return rows, density, lambda Z, w: MixtureScores(Z, w, MIXTURE)
    scale, center = np.eye(3) * 0.7 + 0.2, np.array([0.0, 0.1, -0.1])
    if name == "student":
        nu, law = 7.0, scipy.stats.multivariate_t(center, scale, 7, seed=1)
    else:
        nu, law = np.inf, scipy.stats.multivariate_normal(center, scale, seed=1)
    rows = law.rvs(n, random_state=rng)
    return rows, law.logpdf, lambda Z, w: StudentScores(Z, w, nu, center, scale)


def differentiated(density, Z, step=1e-3):
    """Scores of both orders by finite differences of the density."""
    k = Z.shape[1]
    e = step * np.eye(k)
    s = np.stack(
        [(density(Z - e[i]) - density(Z + e[i])) / (2 * step) for i in range(k)], axis=1
    )

    def ratio(shift):
        return np.exp(density(Z + shift) - density(Z))

    T = np.empty((len(Z), k, k))
    for i in range(k):
        for j in range(k):
            signs = ((1, 1), (1, -1), (-1, 1), (-1, -1))
            T[:, i, j] = sum(a * b * ratio(a * e[i] + b * e[j]) for a, b in signs)
    return s, T / (4 * step**2)


def centered(G, weights):
    return G - weights @ G / weights.sum()


def whitened(X, weights=None):
    white = whitening(Moments.of(X, weights))
    return (X - white.mean) @ white.map, white


def clusters(n, k, seed, gap=3.0):
    rng = np.random.default_rng(seed)
    centers = gap * rng.normal(size=(3, k)) / np.sqrt(k)
    return centers[rng.integers(3, size=n)] + rng.normal(size=(n, k))


# --- formulas --------------------------------------------------------------------


@pytest.mark.parametrize("name", ["gaussian", "student", "mixture"])
def test_sums_are_those_of_scores_by_finite_differences(name):
    rng = np.random.default_rng(0)
    Z, density, scores = draw(name, 40, rng)
    weights = rng.uniform(0.5, 2, 40)
    G = centered(rng.normal(size=(40, 2)), weights)
    s, T = differentiated(density, Z)
    shares = weights / weights.sum()
    slopes = np.einsum("n,ng,ni->gi", shares, G, Z)
    rest = G - Z @ slopes.T
    model = scores(Z, weights)
    first = slopes + np.einsum("n,ng,ni->gi", shares, rest, s)
    if name == "mixture":
        assert_allclose(model.first(G), first, atol=1e-5)
        information = np.einsum("n,ni,nj->ij", shares, s, s)
        assert_allclose(model.information(), information, atol=1e-4)
    else:
        assert_allclose(model.first(G), slopes)
        assert_allclose(model.metric, np.eye(3))
    second = np.einsum("n,ng,nij->gij", shares, rest, T)
    assert_allclose(model.second(G), second, atol=2e-5)
    assert_allclose(model.second(G), model.second(G).transpose(0, 2, 1))


def test_the_density_is_that_of_scipy():
    Z, density, _ = draw("mixture", 30, np.random.default_rng(0))
    posterior, logs = responsibilities(MIXTURE, Z)
    assert_allclose(logs, density(Z))
    assert_allclose(posterior.sum(axis=1), 1)


@pytest.mark.parametrize("name", ["gaussian", "student", "mixture"])
def test_the_identities_of_stein(name):
    rng = np.random.default_rng(0)
    Z, density, scores = draw(name, 100_000, rng)
    few = slice(0, 30_000)
    s, T = differentiated(density, Z[few])
    assert_allclose(s.mean(axis=0), 0, atol=0.03)
    assert_allclose(s.T @ Z[few] / len(s), np.eye(3), atol=0.05)
    assert_allclose(T.mean(axis=0), 0, atol=0.06)
    assert_allclose(np.einsum("n,nij->ij", Z[few, 0], T) / len(s), 0, atol=0.12)
    g = np.sin(Z[:, 0]) + Z[:, 1] * np.cos(Z[:, 2])
    gradient = np.column_stack(
        [np.cos(Z[:, 0]), np.cos(Z[:, 2]), -Z[:, 1] * np.sin(Z[:, 2])]
    )
    hessian = np.zeros((3, 3))
    hessian[0, 0] = -np.sin(Z[:, 0]).mean()
    hessian[1, 2] = hessian[2, 1] = -np.sin(Z[:, 2]).mean()
    hessian[2, 2] = -(Z[:, 1] * np.cos(Z[:, 2])).mean()
    model = scores(Z, np.ones(len(Z)))
    G = g[:, None] - g.mean()
    if name == "mixture":
        assert_allclose(model.first(G)[0], gradient.mean(axis=0), atol=0.02)
    assert_allclose(model.second(G)[0], hessian, atol=0.03)


def test_the_response_may_not_be_the_rows():
    """With y = x both moments are the same for every density: they tell nothing."""
    Z, _, scores = draw("mixture", 200_000, np.random.default_rng(1))
    model = scores(Z, np.ones(len(Z)))
    G = Z - Z.mean(axis=0)
    assert_allclose(model.first(G), np.eye(3), atol=0.02)
    assert_allclose(model.second(G), 0, atol=0.05)


def test_the_information_is_not_below_the_bound():
    root = fisher_root(np.diag([4.0, 0.0]))
    assert_allclose(root, np.diag([2.0, 1.0]))


# --- fits ------------------------------------------------------------------------


@pytest.mark.parametrize("nu", [3.0, 5.0, 12.0])
def test_degrees_of_freedom(nu):
    law = scipy.stats.multivariate_t(np.zeros(4), np.eye(4), nu)
    Z, _ = whitened(law.rvs(20_000, random_state=0))
    weights = np.ones(len(Z))
    fitted = fit_student(Z, weights)
    assert_allclose(fitted.nu, nu, rtol=0.1)
    share = fitted.scale / fitted.scale[0, 0]
    assert_allclose(share, np.eye(4), atol=0.3 if nu < 4 else 0.1)
    reference = scipy.stats.multivariate_t.logpdf(
        Z, fitted.center, fitted.scale, fitted.nu
    )
    assert_allclose(fitted.log_likelihood, reference.sum())
    scores = student_scores(Z, weights)
    assert scores.nu == (fitted.nu if nu < 6 else mardia_nu(Z, weights))


def test_light_tails_are_gaussian():
    Z, _ = whitened(np.random.default_rng(0).uniform(size=(500, 3)))
    scores = student_scores(Z, np.ones(500))
    assert np.isinf(scores.nu)
    G = centered(Z**2, np.ones(500))
    rest = G - Z @ (G.T @ Z / 500).T
    expected = np.einsum("ng,ni,nj->gij", rest, Z, Z) / 500
    assert_allclose(scores.second(G), expected, atol=1e-12)


def test_the_number_and_kind_of_components():
    rng = np.random.default_rng(0)
    one, _ = whitened(rng.normal(size=(800, 4)))
    three, _ = whitened(clusters(1500, 4, seed=1, gap=6))
    inner = rng.normal(size=(1500, 4)) * np.where(rng.random((1500, 1)) < 0.5, 0.3, 1.5)
    nested, _ = whitened(inner)
    for Z, size, tied in ((one, 1, True), (three, 3, True), (nested, 2, False)):
        mixture = fit_mixture(Z, np.ones(len(Z)), 0).mixture
        assert len(mixture.shares) == size
        same = np.ptp(mixture.covariances, axis=0).max() == 0
        assert same == tied
    single = fit_mixture(one, np.ones(800), 0).mixture
    assert_allclose(single.covariances[0], np.eye(4), atol=1e-12)


@pytest.mark.parametrize("centers", [2, 3])
def test_clusters_are_found_as_scikit_learn_finds_them(centers):
    from sklearn.mixture import GaussianMixture

    rng = np.random.default_rng(centers)
    X = 5 * np.eye(4)[rng.integers(centers, size=900)] + rng.normal(size=(900, 4))
    Z, _ = whitened(X)
    found = fit_mixture(Z, np.ones(900), 0)
    assert len(found.mixture.shares) == centers
    peer = GaussianMixture(centers, covariance_type="tied", random_state=0).fit(Z)
    assert found.log_likelihood > 900 * peer.score(Z) - 3
    assert_allclose(found.criterion, peer.bic(Z), rtol=1e-3)


def test_few_rows_have_one_component():
    Z, _ = whitened(clusters(15, 4, seed=0, gap=9))
    assert len(fit_mixture(Z, np.ones(15), 0).mixture.shares) == 1


def test_many_rows_are_thinned_evenly(monkeypatch):
    from skrep.index_model import _mixture_fit

    Z, _ = whitened(clusters(3000, 3, seed=0, gap=6))
    whole = fit_mixture(Z, np.ones(3000), 0).mixture
    monkeypatch.setattr(_mixture_fit, "_ROWS", 1000)
    some = fit_mixture(Z, np.full(3000, 2.0), 0).mixture
    order = np.argsort(whole.means[:, 0]), np.argsort(some.means[:, 0])
    assert_allclose(some.means[order[1]], whole.means[order[0]], atol=0.1)


# --- laws ------------------------------------------------------------------------

MODELS = {
    "student": lambda Z, w: student_scores(Z, w),
    "mixture": lambda Z, w: mixture_scores(Z, w, 0),
    "auto": lambda Z, w: auto_scores(Z, w, 0)[1],
}


def features(X):
    return np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])


@pytest.mark.parametrize("name", MODELS)
@given(seed=seeds)
@settings(max_examples=8)
def test_weights_are_repetitions_and_order_does_not_matter(name, seed):
    rng = np.random.default_rng(seed)
    X = clusters(90, 2, seed, gap=5) * rng.choice([0.5, 2.0], size=(90, 1))
    weights = rng.integers(0, 4, size=90).astype(float)
    order = rng.permutation(np.repeat(np.arange(90), weights.astype(int)))
    Z, _ = whitened(X, weights)
    one = MODELS[name](Z, weights)
    ones = np.ones(len(order))
    other = MODELS[name](Z[order], ones)
    G = centered(features(X), weights)
    assert_allclose(other.first(G[order]), one.first(G), atol=1e-6)
    assert_allclose(other.second(G[order]), one.second(G), atol=1e-6)
    assert_allclose(other.metric, one.metric, atol=1e-6)


@pytest.mark.parametrize("name", MODELS)
@given(seed=seeds)
@settings(max_examples=8)
def test_scores_turn_with_the_rows(name, seed):
    rng = np.random.default_rng(seed)
    Z, _ = whitened(clusters(120, 3, seed, gap=6))
    Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    weights = np.ones(120)
    G = centered(features(Z), weights)
    one, other = MODELS[name](Z, weights), MODELS[name](Z @ Q, weights)
    assert_allclose(other.first(G), one.first(G) @ Q, atol=1e-6)
    assert_allclose(other.second(G), Q.T @ one.second(G) @ Q, atol=1e-6)


def test_weights_that_sum_to_one_are_shares():
    Z, _ = whitened(clusters(400, 3, seed=0, gap=6))
    G = centered(features(Z), np.ones(400))
    one, other = (
        mixture_scores(Z, w, 0) for w in (np.ones(400), np.full(400, 1 / 400))
    )
    assert_allclose(other.second(G), one.second(G), atol=1e-7)
    assert auto_scores(Z, np.full(400, 1 / 400), 0)[0] == "mixture"


# --- what they are for -----------------------------------------------------------


def found(model, Z, white, y, r):
    """Directions from slices of y, both orders, in the metric of the scores."""
    codes = slice_codes(y, quantile_edges(y, 10))
    shares = np.bincount(codes) / len(codes)
    G = (np.eye(len(shares))[codes] - shares) / np.sqrt(shares)
    inverse = np.linalg.inv(model.metric)
    a, A = model.first(G) @ inverse, inverse @ model.second(G) @ inverse
    M = a.T @ a + np.einsum("gij,gjk->ik", A, A) / 2
    return (white.map @ model.metric @ np.linalg.eigh(M)[1][:, -r:]).T


@pytest.mark.parametrize(
    ("design", "link", "name"),
    [
        ("t5", "sine", "student"),
        ("gmm", "ratio", "mixture"),
        ("iso", "even", "gaussian"),
    ],
)
def test_the_score_that_is_chosen_finds_more(design, link, name):
    X, y, components = make_index_model(
        4000, 8, links=link, design=design, random_state=0
    )
    Z, white = whitened(X)
    weights = np.ones(len(Z))
    chosen, model = auto_scores(Z, weights, 0)
    assert chosen == name
    gaussian = StudentScores(Z, weights, np.inf, np.zeros(8), np.eye(8))
    ours, plain = (
        subspace_distance(found(one, Z, white, y, len(components)), components)
        for one in (model, gaussian)
    )
    if name == "gaussian":
        assert_allclose(ours, plain)
    else:
        assert ours < 0.8 * plain


def test_columns_of_few_values_are_no_smooth_density():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(600, 2)), rng.integers(2, size=600)])
    assert auto_scores(whitened(X)[0], np.ones(600), 0)[0] == "gaussian"
    sparse = np.column_stack([rng.normal(size=(600, 2)), rng.random(600) < 0.03])
    assert auto_scores(whitened(sparse)[0], np.ones(600), 0)[0] == "gaussian"


def test_few_rows_are_gaussian():
    Z, _ = whitened(clusters(9, 4, seed=0))
    assert auto_scores(Z, np.ones(9), 0)[0] == "gaussian"


# --- a function of the caller ----------------------------------------------------


def gaussian_score(X):
    precision = np.linalg.inv(np.cov(X.T, bias=True))
    gaps = X - X.mean(axis=0)
    rows = gaps @ precision

    def weighted(g):
        return (rows * g[:, None]).T @ rows / len(g) - g.mean() * precision

    return rows, weighted


def test_scores_of_raw_rows_become_those_of_whitened_ones():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4)) + 7
    Z, white = whitened(X)
    weights = np.ones(300)
    G = centered(features(X), weights)
    model = callable_scores(gaussian_score, X, white, weights)
    gaussian = StudentScores(Z, weights, np.inf, np.zeros(4), np.eye(4))
    assert_allclose(model.first(G), gaussian.first(G), atol=1e-9)
    assert_allclose(model.second(G), gaussian.second(G), atol=1e-9)
    assert_allclose(model.metric, np.eye(4), atol=1e-9)


def test_scores_of_a_caller_are_weighted():
    rng = np.random.default_rng(0)
    X = clusters(60, 3, seed=0)
    weights = rng.integers(1, 4, size=60).astype(float)
    order = np.repeat(np.arange(60), weights.astype(int))

    def score(rows):
        S = np.tanh(rows)
        return S, lambda g: (S * g[:, None]).T @ S / len(g)

    G = centered(features(X), weights)
    white = whitened(X, weights)[1]
    one = callable_scores(score, X, white, weights)
    other = callable_scores(score, X[order], white, np.ones(len(order)))
    assert_allclose(other.first(G[order]), one.first(G), atol=1e-12)
    assert_allclose(other.second(G[order]), one.second(G), atol=1e-12)
    assert_allclose(other.metric, one.metric, atol=1e-12)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda X: X[:, 0], r"shape \(20,\).*return a finite array of X.shape"),
        (lambda X: X * np.nan, r"NaN or infinity.*return a finite array of X.shape"),
        (lambda X: "scores", "return a finite array of X.shape"),
        (lambda X: (X, X), r"scores and a ndarray.*return \(scores, weighted\)"),
    ],
)
def test_what_a_function_may_not_return(answer, message):
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(ValueError, match=rf"^SteinIndex: 'score_model'.*{message}"):
        callable_scores(answer, X, whitened(X)[1], np.ones(20))


def test_order_two_needs_its_scores():
    X = np.random.default_rng(0).normal(size=(20, 2))
    white = whitened(X)[1]
    G = centered(X, np.ones(20))
    alone = callable_scores(lambda X: X, X, white, np.ones(20))
    assert alone.first(G).shape == (2, 2)
    with pytest.raises(ValueError, match=r"^SteinIndex: 'score_model'.*pass order=1"):
        alone.second(G)
    wrong = callable_scores(lambda X: (X, lambda g: g), X, white, np.ones(20))
    with pytest.raises(ValueError, match=r"shape \(20,\).*return the mean over rows"):
        wrong.second(G)
