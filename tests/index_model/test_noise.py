"""What is noise: edges against permutations of y, and numbers of directions."""

import warnings
from functools import cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skrep.datasets import make_index_model
from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)
from skrep.index_model._noise import first_order_edge
from skrep.metrics import subspace_distance

DESIGNS = ("iso", "t5", "unif")
designs = pytest.mark.parametrize("design", DESIGNS)


@cache
def rows(design, n=1000, d=10):
    return make_index_model(n, d, links="linear", design=design, random_state=0)[:2]


def ratios(estimator, design, n_draws=20):
    """Largest eigenvalue of noise over its edge, draw by draw."""
    X, y = rows(design)
    rng = np.random.default_rng(0)
    found = []
    for _ in range(n_draws):
        fitted = estimator.fit(X, rng.permutation(y))
        found.append(fitted.eigenvalues_[0] / fitted.noise_edge_)
    return np.array(found)


def hits(estimator, links, design, n=3000, d=10, n_seeds=10):
    """Share of draws in which the number of directions is told rightly."""
    found = []
    for seed in range(n_seeds):
        X, y, components = make_index_model(
            n, d, links=links, design=design, random_state=seed
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            found.append(estimator.fit(X, y).n_components_ == len(components))
    return np.mean(found)


# --- edges -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "p", "q"), [(1000, 50, 40), (400, 100, 60), (300, 20, 100)]
)
def test_the_edge_of_order_one_is_that_of_canonical_correlations(n, p, q):
    rng = np.random.default_rng(0)
    largest = []
    for _ in range(5):
        bases = (np.linalg.qr(rng.normal(size=(n, k)))[0] for k in (p, q))
        one, other = bases
        largest.append(np.linalg.svd(one.T @ other, compute_uv=False)[0] ** 2)
    assert_allclose(np.mean(largest), first_order_edge(n, p, q), rtol=0.1)


def test_the_edge_of_order_one_is_at_most_one():
    assert first_order_edge(30, 20, 20) == 1
    assert first_order_edge(41, 20, 20) <= 1
    n, p, q = 10**6, 20, 9
    assert_allclose(
        first_order_edge(n, p, q), (np.sqrt(p) + np.sqrt(q)) ** 2 / n, rtol=1e-4
    )


@designs
@pytest.mark.parametrize(
    "estimator",
    [
        SlicedInverseRegression(),
        SteinIndex(order=1),
        SlicedAverageVarianceEstimation(),
        DirectionalRegression(),
        PrincipalHessianDirections(),
    ],
    ids=repr,
)
def test_edges_are_those_of_permuted_responses(estimator, design):
    found = ratios(estimator, design)
    assert 0.6 < found.mean() < 1.2
    # Heavy tails make noise itself uncertain.
    assert np.mean(found > (1.4 if design == "t5" else 1)) <= 0.35


def test_the_edge_of_one_raw_response_bounds_its_correlation():
    found = ratios(SteinIndex(order=1, response="raw"), "iso", 40)
    assert 0.4 < found.mean() < 1
    assert np.mean(found > 1) <= 0.1


@pytest.mark.parametrize("design", ["iso", "unif"])
def test_the_edge_of_order_two_is_that_of_the_semicircle(design):
    X, y = rows(design)
    y = np.random.default_rng(0).permutation(y)
    semicircle = 2 * np.sqrt(10 / 1000)
    hessian = PrincipalHessianDirections().fit(X, y)
    assert 1.19 * semicircle < hessian.noise_edge_ < 1.5 * semicircle
    assert hessian.eigenvalues_[0] < hessian.noise_edge_
    stein = SteinIndex(order=2, response="raw").fit(X, y)
    assert_allclose(stein.noise_edge_, hessian.noise_edge_**2 / 2)


# --- what order two finds ----------------------------------------------------------


@designs
@pytest.mark.parametrize("response", ["slices", "raw"])
def test_of_permuted_responses_order_two_finds_nothing(design, response):
    X, y = rows(design)
    rng = np.random.default_rng(1)
    estimator = SteinIndex(order=2, response=response)
    nothing = [
        not estimator.fit(X, rng.permutation(y)).eigenvalues_.any() for _ in range(40)
    ]
    # A row far out in one slice has no counterpart in the example of its noise.
    assert np.mean(nothing) >= (0.5 if design == "t5" else 0.85)


@designs
@pytest.mark.parametrize("links", ["even", "product"])
def test_what_is_no_noise_stays(design, links):
    found = []
    for seed in range(5):
        X, y, components = make_index_model(
            3000, 10, links=links, design=design, random_state=seed
        )
        k = len(components)
        stein = SteinIndex(n_components=k, order=2).fit(X, y)
        assert stein.eigenvalues_[0] > stein.noise_edge_
        found.append(subspace_distance(stein.components_, components))
    assert np.mean(found) < 0.3


@pytest.mark.parametrize("n", [200, 400])
def test_a_linear_link_is_not_hurt_by_order_two(n):
    found = {1: [], "both": []}
    for seed in range(4):
        X, y, components = make_index_model(n, n // 4, random_state=seed)
        for order, distances in found.items():
            stein = SteinIndex(n_components=1, order=order).fit(X, y)
            distances.append(subspace_distance(stein.components_, components))
    assert np.mean(found["both"]) < 1.35 * np.mean(found[1])


# --- how many directions -----------------------------------------------------------


@pytest.mark.parametrize("design", ["iso", "ar1"])
@pytest.mark.parametrize(
    "links", ["none", "linear", "sine", "even", "product", "ratio"]
)
def test_the_number_of_directions_is_told(links, design):
    assert hits(SteinIndex("auto"), links, design) >= 0.8


# Rows that are not elliptical show further directions once there is a signal.
@pytest.mark.parametrize(
    ("links", "design"),
    [("none", "t5"), ("even", "t5"), ("product", "t5"), ("none", "unif")],
)
def test_the_number_is_told_whatever_the_tails(links, design):
    assert hits(SteinIndex("auto"), links, design) >= 0.8


@pytest.mark.parametrize("design", ["iso", "t5"])
@pytest.mark.parametrize("links", ["none", "cubic", "ratio"])
def test_order_one_tells_the_number_by_chi_square(links, design):
    assert hits(SlicedInverseRegression("auto"), links, design, n=1000) >= 0.8


@pytest.mark.parametrize(
    ("estimator", "links"),
    [
        *(
            (SlicedAverageVarianceEstimation("auto"), links)
            for links in ("none", "even")
        ),
        *((DirectionalRegression("auto"), links) for links in ("none", "even")),
        *(
            (estimator, links)
            for estimator in (
                PrincipalHessianDirections("auto"),
                SteinIndex("auto", order=2, response="raw"),
            )
            for links in ("none", "even", "product")
        ),
    ],
)
def test_other_forms_tell_the_number(estimator, links):
    assert hits(estimator, links, "iso", n_seeds=5) >= 0.8


def test_the_number_of_classes_bounds_that_of_order_one():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 4, 600)
    X = rng.normal(size=(600, 6))
    X[:, 0] += 2 * (y == 1)
    X[:, 1] += 2 * (y == 2)
    for estimator in (SlicedInverseRegression("auto"), SteinIndex("auto")):
        fitted = estimator.fit(X, y)
        assert fitted.n_components_ == 2
        assert subspace_distance(fitted.components_, np.eye(6)[:2]) < 0.2


def test_the_number_is_at_most_what_there_is():
    X, y = rows("iso")
    fitted = SteinIndex("auto").fit(X[:, :1], X[:, 0] + 0.1 * y)
    assert fitted.n_components_ == 1
    several = SteinIndex("auto", response="raw", order=1).fit(X, X[:, :3] ** 3)
    assert several.n_components_ == 3
