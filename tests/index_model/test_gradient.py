"""Gradient outer products: what they find, what they equal, and what they refuse."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from skrep.datasets import make_index_model
from skrep.exceptions import ThinDataWarning
from skrep.index_model import SteinIndex
from skrep.index_model import _gradient as gradient_module
from skrep.index_model._gradient import GradientOuterProduct
from skrep.invariance import Claim, check_invariance, unclaimed
from skrep.metrics import subspace_distance
from tests.strategies import seeds

LINKS = ("linear", "cubic", "sine", "even", "product", "ratio")


def rows(links="product", n=300, d=6, seed=0, **options):
    return make_index_model(n, d, links=links, random_state=seed, **options)


def machine(X, Y, n_iter, bandwidth, alpha):
    """A recursive feature machine on standardized columns, as in its definition."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    M = np.eye(Z.shape[1])
    for _ in range(n_iter):
        D = cdist(Z, Z, "mahalanobis", VI=M)
        K = np.exp(-D / bandwidth)
        a = np.linalg.solve(K + alpha * np.eye(len(Z)), Y)
        np.fill_diagonal(D, np.inf)
        G = np.zeros_like(M)
        for i, z in enumerate(Z):
            for c in range(Y.shape[1]):
                g = -((a[:, c] * K[i] / D[i]) @ (z - Z)) @ M / bandwidth
                G += np.outer(g, g) / len(Z)
        M = G / np.linalg.norm(G, 2)
    return G


# --- what it finds ---------------------------------------------------------------


@pytest.mark.parametrize("design", ["iso", "ar1", "gmm", "t5"])
@pytest.mark.parametrize("links", LINKS)
def test_it_is_sharper_than_moments(links, design):
    X, y, truth = rows(links, 1500, 10, design=design)
    index = GradientOuterProduct(len(truth), random_state=0).fit(X, y)
    stein = SteinIndex(len(truth)).fit(X, y)
    found = subspace_distance(index.components_, truth)
    assert found < 0.1
    assert found < 1.1 * subspace_distance(stein.components_, truth)


@pytest.mark.parametrize("kernel", ["laplace", "gaussian"])
@pytest.mark.parametrize("whiten", [True, False])
def test_both_kernels_and_both_coordinates_find_the_span(kernel, whiten):
    X, y, truth = rows("product", 800, 8, design="ar1")
    index = GradientOuterProduct(2, kernel=kernel, whiten=whiten).fit(X, y)
    assert subspace_distance(index.components_, truth) < 0.1


def test_directions_need_not_be_counted():
    X, y, truth = rows("product", 800, 8)
    index = GradientOuterProduct().fit(X, y)
    assert index.components_.shape == (8, 8)
    assert subspace_distance(index.components_[:2], truth) < 0.06
    assert index.eigenvalues_[1] > 20 * index.eigenvalues_[2]


def test_several_responses_share_their_directions():
    X, y, truth = rows(["linear", "even", "ratio"], 800, 8)
    index = GradientOuterProduct(2).fit(X, y)
    assert subspace_distance(index.components_, truth) < 0.1


def test_classes_of_a_ring():
    X, y, truth = rows("product", 800, 6, noise=0.1)
    labels = np.where(y > 0, "up", "down")
    index = GradientOuterProduct(2).fit(X, labels)
    assert subspace_distance(index.components_, truth) < 0.2


def test_the_recursive_feature_machine_is_its_definition():
    X, y, _ = rows(["sine", "product"], 80, 4, design="ar1")
    index = GradientOuterProduct(
        kernel="laplace",
        bandwidth=2.0,
        alpha=0.1,
        centers=None,
        n_iter=3,
        init="identity",
        whiten=False,
    ).fit(X, y)
    G = machine(X, y, 3, 2.0, 0.1)
    raw = G / X.std(axis=0) / X.std(axis=0)[:, None]
    largest = np.abs(raw).max()
    assert_allclose(index.gradient_outer_product_, raw, atol=1e-5 * largest)
    assert_allclose(index.eigenvalues_, np.linalg.eigvalsh(G)[::-1], rtol=1e-4)
    assert index.n_iter_ == 3


# --- the transformer -------------------------------------------------------------


@given(seed=seeds, k=st.integers(1, 6), whiten=st.booleans())
@settings(max_examples=10)
def test_outputs_are_uncorrelated_and_of_unit_variance(seed, k, whiten):
    X, y, _ = rows(n=60, seed=seed, design="ar1")
    index = GradientOuterProduct(k, whiten=whiten, centers=20).fit(3 * X + 7, y)
    Z = index.transform(3 * X + 7)
    assert_allclose(np.cov(Z.T, bias=True).reshape(k, k), np.eye(k), atol=1e-8)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-9)


def test_the_outer_product_is_a_metric():
    X, y, truth = rows("product", 800, 6)
    index = GradientOuterProduct(2).fit(X, y)
    G = index.gradient_outer_product_
    assert_array_equal(G, G.T)
    assert np.linalg.eigvalsh(G).min() > -1e-12
    assert_allclose(np.linalg.eigvalsh(G).sum(), np.trace(G))
    leading = np.linalg.eigh(G)[1][:, -2:]
    assert subspace_distance(leading.T, truth) < 0.1
    D = cdist(X, X, "mahalanobis", VI=G)
    near = KNeighborsRegressor(5, metric="mahalanobis", metric_params={"VI": G})
    learned = near.fit(X[:400], y[:400]).score(X[400:], y[400:])
    assert np.isfinite(D).all()
    assert learned > 0.2 + KNeighborsRegressor(5).fit(X[:400], y[:400]).score(
        X[400:], y[400:]
    )


def test_components_are_the_axes_of_the_outer_product():
    X, y, _ = rows("product", 300, 5, design="ar1")
    index = GradientOuterProduct().fit(X, y)
    B, G = index.components_, index.gradient_outer_product_
    S = np.cov(X.T, bias=True)
    inner = B @ S @ G @ S @ B.T
    assert_allclose(inner, np.diag(index.eigenvalues_), atol=1e-9)


def test_fewer_rows_than_centers_take_all_rows():
    X, y, _ = rows(n=60)
    one = GradientOuterProduct(2, centers=None).fit(X, y)
    other = GradientOuterProduct(2, centers=400).fit(X, y)
    assert_allclose(one.components_, other.components_, atol=1e-9)


def test_the_draw_of_centers_is_all_that_is_random():
    X, y, _ = rows()
    one, again, other = (
        GradientOuterProduct(2, centers=20, init="identity", random_state=seed)
        .fit(X, y)
        .components_
        for seed in (0, 0, 1)
    )
    assert_array_equal(one, again)
    assert not np.allclose(one, other, atol=1e-3)


def test_the_median_bandwidth_is_that_of_whitened_rows():
    X, y, _ = rows(n=1000, d=3, design="ar1")
    index = GradientOuterProduct(1).fit(X, y)
    S = np.cov(X.T, bias=True)
    D = cdist(X, X, "mahalanobis", VI=np.linalg.inv(S))
    assert_allclose(index.bandwidth_, np.median(D[np.triu_indices(1000, 1)]))
    assert GradientOuterProduct(1, bandwidth=2).fit(X, y).bandwidth_ == 2.0


def test_callbacks_hear_of_every_pass_and_may_stop():
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
            return fitted_estimator.n_iter_ == 2

    X, y, _ = rows(n=60)
    index = GradientOuterProduct(2, n_iter=4).set_callbacks(Watch()).fit(X, y)
    assert seen == [(60, 2)] * 3
    assert index.n_iter_ == 2
    expected = GradientOuterProduct(2, n_iter=2).fit(X, y).components_
    assert_array_equal(index.components_, expected)


def test_a_pipeline_with_kernel_ridge_is_tuned_by_grid_search():
    X, y, _ = rows("product", 300, 8)
    model = make_pipeline(GradientOuterProduct(), KernelRidge(kernel="rbf"))
    grid = {"gradientouterproduct__n_components": [1, 2, 8]}
    search = GridSearchCV(model, grid, cv=3).fit(X, y)
    assert search.best_params_ == {"gradientouterproduct__n_components": 2}
    assert search.best_score_ > 0.2 + cross_val_score(model[-1], X, y, cv=3).mean()


# --- responses -------------------------------------------------------------------


def test_a_column_is_a_response():
    X, y, _ = rows()
    one, other = (
        GradientOuterProduct(2).fit(X, target).components_ for target in (y, y[:, None])
    )
    assert_array_equal(one, other)


def test_strings_booleans_and_ordered_categories_are_classes():
    X, y, _ = rows("linear")
    cut = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    names = np.array(["low", "middle", "high"])[cut]
    ordered = pd.Series(pd.Categorical(names, ["low", "middle", "high"], ordered=True))
    one, two, three = (
        GradientOuterProduct(1).fit(X, labels).components_
        for labels in (cut, names, ordered)
    )
    assert_allclose(one, two, atol=1e-9)
    assert_allclose(one, three, atol=1e-9)
    flags = GradientOuterProduct(1).fit(X, y > 0).components_
    words = GradientOuterProduct(1).fit(X, np.where(y > 0, "a", "b")).components_
    assert_allclose(flags, words, atol=1e-9)


@given(seed=seeds, scale=st.sampled_from([1e-6, -2.0, 1e6]))
@settings(max_examples=10)
def test_units_and_signs_of_the_response_do_not_matter(seed, scale):
    X, y, _ = rows(n=80, seed=seed)
    one = GradientOuterProduct(init="identity").fit(X, y)
    other = GradientOuterProduct(init="identity").fit(X, scale * y + 3 * scale)
    assert_allclose(one.eigenvalues_, other.eigenvalues_, rtol=1e-4)


def test_even_links_of_both_signs_give_the_same_direction():
    X, y, _ = rows("even", 400, design="ar1")
    one, other = (GradientOuterProduct(1).fit(X, z).components_ for z in (y, -y))
    assert_allclose(one, other, atol=1e-6)


# --- cases -----------------------------------------------------------------------


@given(seed=seeds, numbers=st.booleans(), centers=st.sampled_from([20, 400, None]))
@settings(max_examples=20)
def test_weights_are_repetitions_and_order_does_not_matter(seed, numbers, centers):
    rng = np.random.default_rng(seed)
    X, y, _ = rows(n=80, d=4, seed=seed)
    y = y if numbers else np.where(y > 0, "a", "b")
    weights = rng.integers(0, 4, size=80)
    order = rng.permutation(np.repeat(np.arange(80), weights))
    estimator = GradientOuterProduct(2, centers=centers, random_state=0)
    one = clone(estimator).fit(X, y, sample_weight=weights).components_
    other = clone(estimator).fit(X[order], y[order]).components_
    assert_allclose(one, other, atol=1e-6)


def test_weights_are_repetitions_in_the_weakest_directions():
    X, y, _ = rows(n=60, d=5)
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    estimator = GradientOuterProduct(kernel="gaussian")
    one = clone(estimator).fit(X, y, sample_weight=weights).transform(X)
    repeated = np.repeat(np.arange(60), weights)
    other = clone(estimator).fit(X[repeated], y[repeated]).transform(X)
    assert_allclose(one, other, atol=1e-6)


def test_shares_as_weights_count_as_rows():
    X, y, _ = rows()
    plain = GradientOuterProduct(2).fit(X, y)
    shares = GradientOuterProduct(2).fit(X, y, sample_weight=np.full(300, 1 / 300))
    assert_allclose(shares.components_, plain.components_, atol=1e-6)


@pytest.mark.parametrize("whiten", [True, False])
def test_a_constant_column_gets_nothing_and_changes_nothing(whiten):
    X, y, _ = rows()
    padded = np.insert(X, 2, 7.0, axis=1)
    thin = "GradientOuterProduct: .*constant in column 2.*Drop such columns"
    with pytest.warns(ThinDataWarning, match=thin) as caught:
        index = GradientOuterProduct(2, whiten=whiten).fit(padded, y)
    assert len(caught) == 1
    assert_array_equal(index.components_[:, 2], 0)
    assert_array_equal(index.gradient_outer_product_[2], 0)
    expected = GradientOuterProduct(2, whiten=whiten).fit(X, y).components_
    assert_allclose(np.delete(index.components_, 2, axis=1), expected, atol=1e-6)


def test_a_dependent_column_adds_no_dimension():
    X, y, _ = rows()
    wide = np.c_[X, X[:, 0] + X[:, 1]]
    for whiten in (True, False):
        index = GradientOuterProduct(whiten=whiten).fit(wide, y)
        assert index.n_components_ == len(index.eigenvalues_) == 6
        Z = index.transform(wide)
        assert_allclose(np.cov(Z.T, bias=True), np.eye(6), atol=1e-8)
    one = GradientOuterProduct(2).fit(X, y).transform(X)
    other = GradientOuterProduct(2).fit(wide, y).transform(wide)
    assert_allclose(np.abs(one), np.abs(other), atol=1e-6)


def test_fewer_rows_than_columns_still_tell_something():
    X, y, _ = rows("linear", 120, 100)
    index = GradientOuterProduct(1).fit(X[:80], y[:80])
    assert np.corrcoef(index.transform(X[80:])[:, 0], y[80:])[0, 1] > 0.4


@pytest.mark.parametrize("whiten", [True, False])
def test_two_rows_are_enough(whiten):
    index = GradientOuterProduct(1, whiten=whiten)
    Z = index.fit([[0.0, 1.0], [2.0, 5.0]], [0.0, 1.0]).transform([[2.0, 5.0]])
    assert_allclose(np.abs(Z), 1)


def test_float32_far_from_zero_is_like_float64():
    X, y, _ = rows("sine", 400)
    far = X + 1e4
    single = GradientOuterProduct(1).fit(far.astype(np.float32), y)
    double = GradientOuterProduct(1).fit(far.astype(np.float32).astype(float), y)
    parts = ("components_", "mean_", "eigenvalues_", "gradient_outer_product_")
    assert {getattr(single, p).dtype for p in parts} == {np.dtype(np.float32)}
    assert_allclose(single.components_, double.components_, atol=1e-4)


def test_many_classes_and_real_columns():
    X, y = load_wine(return_X_y=True)
    index = GradientOuterProduct(2, random_state=0)
    near = make_pipeline(index, KNeighborsClassifier(5))
    assert cross_val_score(near, X, y, cv=5).mean() > 0.95


# --- errors ----------------------------------------------------------------------


def test_full_kernel_matrices_are_announced(monkeypatch):
    monkeypatch.setattr(gradient_module, "_MAX_ROWS", 299)
    X, y, _ = rows()
    with pytest.raises(
        ValueError, match=r"'centers' is None for 300 rows.*GB.*Pass centers=400"
    ):
        GradientOuterProduct(centers=None).fit(X, y)
    GradientOuterProduct(centers=None).fit(X[:299], y[:299])


@pytest.mark.parametrize(
    ("parameters", "remedy"),
    [
        ({"n_components": 7}, "Pass n_components=6"),
        ({"n_components": 0}, "Pass n_components=6"),
        ({"alpha": 0.0}, "'alpha'"),
        ({"alpha": np.inf}, "'alpha'"),
        ({"bandwidth": 0.0}, "'bandwidth'"),
        ({"bandwidth": "mean"}, "'bandwidth'"),
        ({"centers": 0}, "'centers'"),
        ({"n_iter": 0}, "'n_iter'"),
        ({"kernel": "cosine"}, "'kernel'"),
        ({"init": "random"}, "'init'"),
    ],
)
def test_parameters_are_checked(parameters, remedy):
    X, y, _ = rows(n=40)
    with pytest.raises(ValueError, match=remedy):
        GradientOuterProduct(**parameters).fit(X, y)


def test_responses_are_checked():
    X, y, _ = rows(n=40)
    index = GradientOuterProduct()
    with pytest.raises(ValueError, match="requires y to be passed"):
        index.fit(X, None)
    with pytest.raises(ValueError, match="at least two: pass rows of several values"):
        index.fit(X, np.ones(40))
    with pytest.raises(ValueError, match="pass those of the same rows"):
        index.fit(X, y[:-1])
    with pytest.warns(ThinDataWarning, match="Leave it out of y"):
        index.fit(X, np.c_[y, np.ones(40)])
    with pytest.raises(ValueError, match="Pass rows that differ"):
        index.fit(np.ones((40, 2)), y)
    with pytest.raises(ValueError, match="Divide all rows by one number"):
        index.fit(X * 1e200, y)


# --- invariance ------------------------------------------------------------------

ESTIMATORS = [
    GradientOuterProduct(2, centers=30, random_state=0),
    GradientOuterProduct(2, centers=30, whiten=False, random_state=0),
    GradientOuterProduct(2, kernel="gaussian", init="identity", random_state=0),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("labels", [True, False])
def test_claims_hold(estimator, labels):
    X, y, _ = rows(n=120, d=4, noise=0.1)
    target = np.where(y > 0, "a", "b") if labels else y
    for claim in estimator.invariances():
        if claim.group != "label_permutation" or labels:
            report = check_invariance(estimator, claim, X, target)
            assert report.holds, report


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_what_is_not_claimed_is_broken(estimator):
    X, y, _ = rows(n=120, d=4, noise=0.1)
    target = np.where(y > 0, "a", "b")
    claims = unclaimed(estimator)
    assert {"row_scaling", "sign_flip"} <= {claim.group for claim in claims}
    kept = Claim("orthogonal", "same_span")
    assert any(claim.implies(kept) for claim in estimator.invariances()) == (
        estimator.whiten
    )
    for claim in claims:
        report = check_invariance(estimator, claim, X, target, n_draws=6)
        assert not report.holds, report
