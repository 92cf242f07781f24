"""Stein index: its moments, what it sees, its outputs and its classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from skrep.datasets import make_index_model
from skrep.index_model import SlicedInverseRegression, SteinIndex
from skrep.linalg import quantile_edges, slice_codes
from skrep.metrics import subspace_distance

DESIGNS = ("iso", "ar1", "t5", "unif")
LINKS = ("linear", "cubic", "sine", "even", "product", "ratio")


def whiten(X):
    gaps = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(gaps.T @ gaps / len(X))
    return gaps @ vectors / np.sqrt(values)


# --- moments -----------------------------------------------------------------------


def features(response, y):
    """Centered features of unit variance, one per column."""
    if response == "raw":
        return whiten(y.reshape(len(y), -1))
    slices = slice_codes(y, quantile_edges(y, 10))
    shares = np.bincount(slices) / len(y)
    return ((slices[:, None] == np.arange(len(shares))) - shares) / np.sqrt(shares)


@pytest.mark.parametrize("response", ["raw", "slices"])
def test_order_one_is_the_sum_over_features(response):
    X, y, _ = make_index_model(400, 5, links="ratio", design="ar1", random_state=0)
    z, g = whiten(X), features(response, y)
    M = np.zeros((5, 5))
    for column in g.T:
        a = np.mean(column[:, None] * z, axis=0)
        M += np.outer(a, a)
    values = np.linalg.eigvalsh(M)[::-1]
    stein = SteinIndex(order=1, response=response).fit(X, y)
    available = 1 if response == "raw" else 5
    assert stein.n_components_ == available
    assert_allclose(stein.eigenvalues_, values[:available], rtol=1e-8)


def test_order_two_is_the_square_of_what_is_above_the_noise():
    X, y, _ = make_index_model(2000, 5, links="product", design="ar1", random_state=0)
    z, g = whiten(X), features("raw", y)
    A = (g * z).T @ z / len(z)
    values, vectors = np.linalg.eigh(A)
    order = np.argsort(-np.abs(values))
    stein = SteinIndex(order=2, response="raw").fit(X, y)
    assert_allclose(stein.eigenvalues_[:2], values[order[:2]] ** 2 / 2, rtol=1e-8)
    assert_array_equal(stein.eigenvalues_[2:], 0)
    assert np.abs(values[order[2]]) < np.sqrt(2 * stein.noise_edge_)
    found, expected = stein.transform(X)[:, :2], z @ vectors[:, order[:2]]
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_allclose(found * signs, expected, atol=1e-8)


def test_zeroed_directions_are_ordered_by_what_was_zeroed():
    X, y, _ = make_index_model(2000, 5, links="even", random_state=0)
    z, g = whiten(X), features("raw", y)
    A = (g * z).T @ z / len(z)
    values, vectors = np.linalg.eigh(A)
    order = np.argsort(-np.abs(values))
    stein = SteinIndex(order=2, response="raw").fit(X, y)
    expected = z @ vectors[:, order]
    cosines = np.abs(np.mean(stein.transform(X) * expected, axis=0))
    assert_allclose(cosines, 1, rtol=1e-8)


def test_both_orders_see_what_either_misses():
    X = np.random.default_rng(0).normal(size=(4000, 6))
    y = X[:, 0] + X[:, 1] ** 2
    distances = {
        order: subspace_distance(
            SteinIndex(n_components=2, order=order).fit(X, y).components_, np.eye(6)[:2]
        )
        for order in (1, 2, "both")
    }
    assert distances["both"] < 0.1
    assert distances[1] > 0.3


# --- what it finds -----------------------------------------------------------------


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("links", LINKS)
def test_the_default_misses_no_link(links, design):
    X, y, components = make_index_model(
        3000, 10, links=links, design=design, random_state=0
    )
    stein = SteinIndex(n_components=len(components)).fit(X, y)
    assert subspace_distance(stein.components_, components) < 0.35


def test_several_responses_tell_several_directions():
    X, y, components = make_index_model(4000, 10, links="multi5", random_state=0)
    for response in ("slices", "raw"):
        stein = SteinIndex(n_components=5, response=response).fit(X, y)
        assert subspace_distance(stein.components_, components) < 0.3


@pytest.mark.parametrize(
    "settings", [{"response": "slices"}, {"response": "raw", "clip": 3}]
)
@pytest.mark.parametrize("seed", range(3))
def test_wild_responses_are_tamed(settings, seed):
    X, y, components = make_index_model(
        5000, 20, links="cubic", design="t5", noise=0, random_state=seed
    )
    y = y + np.random.default_rng(seed).standard_cauchy(5000)
    plain = SteinIndex(n_components=1, response="raw").fit(X, y)
    tamed = SteinIndex(n_components=1, **settings).fit(X, y)
    assert subspace_distance(plain.components_, components) > 0.7
    assert subspace_distance(tamed.components_, components) < 0.25


def test_clipping_is_about_the_median():
    X, y, _ = make_index_model(301, 4, random_state=0)
    y[:3] = 1e6, -1e6, 50
    middle = np.median(y)
    bound = 2.5 * np.median(np.abs(y - middle))
    clipped = np.clip(y, middle - bound, middle + bound)
    one = SteinIndex(response="raw", clip=2.5).fit(X, y)
    other = SteinIndex(response="raw").fit(X, clipped)
    assert_allclose(one.components_, other.components_, rtol=1e-9)


# --- classes -----------------------------------------------------------------------


def test_of_classes_order_one_comes_first():
    X, y = load_iris(return_X_y=True)
    first = SlicedInverseRegression().fit(X, y)
    both = SteinIndex().fit(X, y)
    assert both.n_components_ == 4
    assert_allclose(both.components_[:2], first.components_, rtol=1e-8)
    assert_allclose(both.eigenvalues_[:2], first.eigenvalues_, rtol=1e-8)
    assert both.slice_edges_ is None


def test_of_classes_order_two_comes_in_the_complement():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = rng.integers(0, 2, 2000)
    X[:, 0] += y
    X[:, 1] *= 1 + y
    stein = SteinIndex(n_components=2).fit(X, y)
    assert subspace_distance(stein.components_[:1], np.eye(5)[:1]) < 0.15
    assert subspace_distance(stein.components_, np.eye(5)[:2]) < 0.15
    # Order two alone does not see what moves the mean but through the total.
    second = SteinIndex(n_components=1, order=2).fit(X, y)
    assert subspace_distance(second.components_, np.eye(5)[1:2]) < 0.15


# --- outputs -----------------------------------------------------------------------


@pytest.mark.parametrize("response", ["slices", "raw"])
def test_outputs_are_centered_uncorrelated_and_of_unit_variance(response):
    X, y, _ = make_index_model(300, 5, links="ratio", design="ar1", random_state=0)
    stein = SteinIndex(response=response).fit(X + 100, y)
    Z = stein.transform(X + 100)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-10)
    assert_allclose(Z.T @ Z / len(Z), np.eye(5), atol=1e-9)
    assert_allclose(stein.mean_, X.mean(axis=0) + 100)


def test_weighted_outputs_are_so_under_the_weights():
    X, y, _ = make_index_model(300, 5, links="ratio", random_state=0)
    w = np.random.default_rng(0).random(300)
    Z = SteinIndex().fit(X, y, sample_weight=w).transform(X)
    assert_allclose(np.average(Z, axis=0, weights=w), 0, atol=1e-12)
    assert_allclose((Z.T * w) @ Z / w.sum(), np.eye(5), atol=1e-10)


def test_the_largest_coefficient_on_standardized_columns_is_positive():
    X, y, _ = make_index_model(300, 5, links="ratio", random_state=0)
    X *= 10.0 ** np.arange(5)
    units = SteinIndex().fit(X, y).components_ * X.std(axis=0)
    assert (units[np.arange(5), np.abs(units).argmax(axis=1)] > 0).all()


def test_the_inverse_is_least_squares():
    X, y, _ = make_index_model(300, 5, links="ratio", design="ar1", random_state=0)
    stein = SteinIndex(n_components=2).fit(X, y)
    Z = stein.transform(X)
    slopes = np.linalg.lstsq(Z, X - X.mean(axis=0), rcond=None)[0]
    assert_allclose(stein.inverse_transform(Z), Z @ slopes + X.mean(axis=0), rtol=1e-8)
    assert_allclose(stein.transform(stein.inverse_transform(Z)), Z, atol=1e-10)
    whole = SteinIndex().fit(X, y)
    assert_allclose(whole.inverse_transform(whole.transform(X)), X, atol=1e-9)


def test_fewer_components_are_the_first_of_more():
    X, y, _ = make_index_model(500, 5, links="ratio", random_state=0)
    whole = SteinIndex().fit(X, y)
    for k in range(1, 6):
        part = SteinIndex(n_components=k).fit(X, y)
        assert_allclose(part.components_, whole.components_[:k], rtol=1e-9)
        assert_array_equal(part.eigenvalues_, whole.eigenvalues_)


def test_eigenvalues_do_not_rise_above_the_noise():
    for links in LINKS:
        X, y, _ = make_index_model(400, 6, links=links, random_state=0)
        for order in (1, 2, "both"):
            stein = SteinIndex(order=order).fit(X, y)
            values = stein.eigenvalues_
            telling = int(np.count_nonzero(values > stein.noise_edge_))
            assert (np.diff(values[: telling + 1]) <= 1e-12).all()
            assert (values[telling:] <= stein.noise_edge_).all()
            assert (values >= 0).all()


# --- in a pipeline -----------------------------------------------------------------


@pytest.mark.parametrize(
    "last",
    [
        Ridge(),
        KNeighborsRegressor(),
        GaussianProcessRegressor(alpha=0.1, optimizer=None),
    ],
)
def test_a_search_tunes_it(last):
    X, y, _ = make_index_model(120, 4, links="even", random_state=0)
    search = GridSearchCV(
        make_pipeline(SteinIndex(), last),
        {
            "steinindex__order": [1, 2, "both"],
            "steinindex__response": ["raw", "slices"],
            "steinindex__n_components": [1, None],
        },
        cv=2,
        error_score="raise",
    ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.predict(X).shape == (120,)


def test_an_even_link_makes_a_neighbors_regression_of_one_column():
    X, y, _ = make_index_model(1000, 10, links="even", random_state=0)
    model = make_pipeline(SteinIndex(n_components=1), KNeighborsRegressor())
    plain = KNeighborsRegressor().fit(X[:500], y[:500]).score(X[500:], y[500:])
    assert model.fit(X[:500], y[:500]).score(X[500:], y[500:]) > plain + 0.2


# --- errors ------------------------------------------------------------------------


@pytest.mark.parametrize("order", [0, 3, "12", True, None])
def test_what_is_no_order_is_refused(order):
    X, y, _ = make_index_model(50, 3, random_state=0)
    with pytest.raises(ValueError, match='Pass order="both" unless you know'):
        SteinIndex(order=order).fit(X, y)


@pytest.mark.parametrize(
    "edges", [[], [1.0, 1.0], [2.0, 1.0], [np.nan], [[0.0], [1.0]]]
)
def test_what_is_no_edge_is_refused(edges):
    X, y, _ = make_index_model(50, 3, random_state=0)
    with pytest.raises(ValueError, match=r"Pass slice_edges=np.quantile"):
        SteinIndex(slice_edges=edges).fit(X, y)


def test_a_table_of_classes_is_refused():
    X, y, _ = make_index_model(50, 3, links=["linear", "even"], random_state=0)
    with pytest.raises(ValueError, match=r"pass y\[:, 0\]"):
        SteinIndex(response="classes").fit(X, y)
    with pytest.raises(ValueError, match="Pass classes as one column"):
        SteinIndex().fit(X, np.where(y > 0, "a", "b"))
