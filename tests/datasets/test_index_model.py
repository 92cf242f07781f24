"""The model is what it says: links, designs, directions, noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from scipy.linalg import subspace_angles

from skrep.datasets import make_index_model

LINKS = {
    "linear": (1, lambda u: u),
    "cubic": (1, lambda u: u**3 / 3),
    "sine": (1, lambda u: np.sin(1.5 * u)),
    "even": (1, lambda u: u**2),
    "product": (2, lambda u, v: u * v),
    "ratio": (2, lambda u, v: u / (0.5 + (v + 1.5) ** 2)),
    "multi5": (5, None),
    "none": (0, None),
}
DESIGNS = ("iso", "ar1", "gmm", "t5", "unif")

links = st.sampled_from(sorted(LINKS))
designs = st.sampled_from(DESIGNS)
seeds = st.integers(0, 2**32 - 1)


def indices_of(X, components, design):
    """Coordinates along the components, over what their spread should be."""
    covariance = np.eye(X.shape[1])
    if design == "ar1":
        for i in range(len(covariance)):
            for j in range(len(covariance)):
                covariance[i, j] = 0.5 ** abs(i - j)
    sizes = np.array([np.sqrt(row @ covariance @ row) for row in components])
    return X @ components.T / sizes


@given(link=links, design=designs, seed=seeds, noise=st.sampled_from([0.0, 0.5]))
@settings(deadline=None)
def test_shapes_types_and_orthonormal_directions(link, design, seed, noise):
    X, y, components = make_index_model(
        30, 6, links=link, design=design, noise=noise, random_state=seed
    )
    n_directions = LINKS[link][0]
    assert X.shape == (30, 6)
    assert y.shape == ((30, 5) if link == "multi5" else (30,))
    assert components.shape == (n_directions, 6)
    assert X.dtype == y.dtype == components.dtype == np.float64
    assert_allclose(components @ components.T, np.eye(n_directions), atol=1e-12)


@pytest.mark.parametrize("design", ["iso", "ar1", "t5", "unif"])
@pytest.mark.parametrize(
    "link", ["linear", "cubic", "sine", "even", "product", "ratio"]
)
def test_without_noise_the_response_is_the_link_of_the_indices(link, design):
    X, y, components = make_index_model(
        50, 7, links=link, design=design, noise=0, random_state=0
    )
    u = indices_of(X, components, design)
    assert_allclose(y, LINKS[link][1](*u.T), atol=1e-12)


def test_five_responses_each_bend_along_the_index_before():
    X, Y, components = make_index_model(links="multi5", noise=0, random_state=0)
    u = indices_of(X, components, "iso")
    for j in range(5):
        assert_allclose(Y[:, j], np.tanh(u[:, j]) + u[:, (j + 4) % 5] ** 2 / 2)


def test_clusters_scale_their_index_too():
    X, y, components = make_index_model(
        200_000, 4, links="product", design="gmm", noise=0, random_state=0
    )
    coordinates = X @ components.T
    ratio = y / coordinates.prod(axis=1)
    assert np.ptp(ratio) < 1e-9
    assert_allclose(ratio[0] * coordinates.std(axis=0).prod(), 1, atol=0.01)


@pytest.mark.parametrize(
    ("design", "column", "length"),
    [
        ("iso", stats.norm(), stats.chi2(3)),
        # One chi-square for the whole row: lengths follow Fisher's law.
        ("t5", stats.t(5, scale=np.sqrt(3 / 5)), stats.f(3, 5, scale=9 / 5)),
        ("unif", stats.uniform(-np.sqrt(3), 2 * np.sqrt(3)), None),
    ],
)
def test_columns_and_lengths_have_the_law_of_the_design(design, column, length):
    X, _, _ = make_index_model(20_000, 3, design=design, random_state=0)
    assert_allclose(column.std(), 1)
    for values in X.T:
        assert stats.kstest(values, column.cdf).pvalue > 0.01
    if length is not None:
        assert stats.kstest(np.sum(X**2, axis=1), length.cdf).pvalue > 0.01


def test_neighbors_correlate_in_the_autoregressive_design():
    X, _, _ = make_index_model(200_000, 4, design="ar1", random_state=0)
    lags = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    assert_allclose(np.cov(X.T), 0.5**lags, atol=0.02)


def bend(X, components):
    """Variance outside of the index that its square tells, beyond the line."""
    index = X @ components.mean(axis=0)
    line = np.vander(index, 2)
    outside = X - X @ components.T @ components
    spreads = []
    for terms in (line, np.vander(index, 3)):
        fitted = terms @ np.linalg.lstsq(terms, outside)[0]
        spreads.append(fitted.var(axis=0).sum())
    return spreads[1] - spreads[0]


@pytest.mark.parametrize("link", ["even", "product"])
@pytest.mark.parametrize("design", DESIGNS)
def test_the_linearity_condition_is_broken_by_the_clusters_alone(link, design):
    X, _, components = make_index_model(
        20_000, 6, links=link, design=design, random_state=1
    )
    assert (bend(X, components) > 0.2) == (design == "gmm")


def sliced_inverse_regression(X, y, n_directions, n_slices=10):
    X = X - X.mean(axis=0)
    values, vectors = np.linalg.eigh(np.cov(X.T))
    whitening = vectors / np.sqrt(values)
    means = [(X[rows] @ whitening).mean(axis=0) for rows in slices(y, n_slices)]
    _, _, leading = np.linalg.svd(np.array(means))
    return leading[:n_directions] @ whitening.T


def slices(y, n_slices):
    return np.array_split(np.argsort(y), n_slices)


def sine(first, second):
    return np.sin(subspace_angles(first.T, second.T)[0])


@pytest.mark.parametrize("design", DESIGNS)
def test_inverse_regression_finds_the_sine_and_never_the_even_link(design):
    found = {}
    for link in ("sine", "even"):
        X, y, components = make_index_model(
            10_000, 10, links=link, design=design, random_state=3
        )
        found[link] = sine(sliced_inverse_regression(X, y, 1), components)
    assert found["sine"] < 0.15
    assert found["even"] > 0.5


def test_clusters_bias_inverse_regression_however_many_rows():
    errors = {}
    for design in ("iso", "gmm"):
        X, y, components = make_index_model(
            200_000, 6, links="ratio", design=design, random_state=0
        )
        errors[design] = sine(sliced_inverse_regression(X, y, 2), components)
    assert errors["iso"] < 0.03
    assert errors["gmm"] > 0.08


@pytest.mark.parametrize("n_features", [1, 2])
def test_clusters_with_no_direction_outside(n_features):
    links = "product" if n_features == 2 else "even"
    X, _, components = make_index_model(
        60_000, n_features, links=links, design="gmm", random_state=0
    )
    assert len(components) == n_features
    variance = 1 + np.mean(np.square([1.5, 0.3, 1.8]))
    assert_allclose(X.var(axis=0).sum(), variance + n_features - 1, rtol=0.02)


@pytest.mark.parametrize("link", ["cubic", ("ratio", "cubic", "sine")])
@pytest.mark.parametrize("noise", [0.1, 2.0])
def test_noise_is_a_share_of_the_spread_of_each_signal(link, noise):
    options = {"n_samples": 20_000, "links": link, "random_state": 3}
    clean = make_index_model(**options, noise=0)[1]
    noisy = make_index_model(**options, noise=noise)[1]
    share = (noisy - clean).std(axis=0) / clean.std(axis=0)
    assert_allclose(share, noise, rtol=0.03)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("noise", [0.0, 5.0])
def test_no_link_leaves_standard_noise(design, noise):
    X, y, components = make_index_model(
        20_000, links="none", design=design, noise=noise, random_state=0
    )
    assert components.shape == (0, 20)
    assert_allclose([y.mean(), y.std()], [0, 1], atol=0.02)
    for features in (X, X**2 / np.mean(X**2)):
        assert_allclose(np.cov(features.T, y)[-1, :-1], 0, atol=0.07)


def test_several_links_share_the_leading_indices():
    names = ("even", "ratio", "none", "sine")
    X, Y, components = make_index_model(
        100, 9, links=names, noise=0, design="ar1", random_state=0
    )
    assert Y.shape == (100, 4)
    u, v = indices_of(X, components, "ar1").T
    assert_allclose(Y[:, 0], LINKS["even"][1](u))
    assert_allclose(Y[:, 1], LINKS["ratio"][1](u, v))
    assert 0.8 < Y[:, 2].std() < 1.2
    assert_allclose(Y[:, 3], LINKS["sine"][1](u))


def test_one_link_in_a_list_is_that_link():
    for form in (["even"], ("even",), np.array(["even"])):
        y = make_index_model(20, links=form, random_state=0)[1]
        assert_array_equal(y, make_index_model(20, links="even", random_state=0)[1])


@given(design=st.sampled_from(["iso", "ar1", "t5", "unif"]), seed=seeds)
@settings(deadline=None)
def test_one_seed_means_one_set_of_rows_and_nested_directions(design, seed):
    options = {"n_samples": 12, "n_features": 6, "design": design, "random_state": seed}
    X, y, components = make_index_model(**options, links="multi5")
    for link, (n_directions, _) in LINKS.items():
        other, _, fewer = make_index_model(**options, links=link, noise=1.0)
        assert_array_equal(other, X)
        assert_array_equal(fewer, components[:n_directions])
    assert_array_equal(make_index_model(**options, links="multi5")[1], y)


def test_directions_are_drawn_uniformly():
    drawn = [make_index_model(1, 3, random_state=seed)[2][0] for seed in range(300)]
    assert_allclose(np.mean(drawn, axis=0), 0, atol=0.12)
    assert_allclose(np.cov(np.transpose(drawn)), np.eye(3) / 3, atol=0.08)


@pytest.mark.parametrize("random_state", [None, 0, np.random.default_rng(0)])
def test_the_global_random_state_is_untouched(random_state):
    before = np.random.get_state()[1:3]  # noqa: NPY002 -- the global state is the point
    for design in DESIGNS:
        make_index_model(design=design, random_state=random_state)
    after = np.random.get_state()[1:3]  # noqa: NPY002
    assert_array_equal(before[0], after[0])
    assert before[1] == after[1]


@pytest.mark.parametrize("source", [np.random.default_rng, np.random.RandomState])
@pytest.mark.parametrize("design", DESIGNS)
def test_generators_are_drawn_from(source, design):
    draws = [make_index_model(9, design=design, random_state=source(5)) for _ in "ab"]
    assert_array_equal(draws[0][0], draws[1][0])
    shared = source(5)
    once = make_index_model(9, design=design, random_state=shared)[0]
    again = make_index_model(9, design=design, random_state=shared)[0]
    assert not np.allclose(once, again)


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("n_samples", 0),
        ("n_features", 0),
        ("links", "square"),
        ("links", 3),
        ("design", "cauchy"),
        ("noise", -0.1),
        ("noise", np.inf),
        ("random_state", "seed"),
    ],
)
def test_bad_parameters(parameter, value):
    match = f"The '{parameter}' parameter of make_index_model must be"
    with pytest.raises(ValueError, match=match):
        make_index_model(**{parameter: value})


@pytest.mark.parametrize("links", [[], ["even", "square"], ["multi5"], [3], [["even"]]])
def test_a_sequence_names_links_of_one_response(links):
    with pytest.raises(ValueError, match=r"Pass links=\['linear', 'cubic'\], say"):
        make_index_model(links=links)


def test_more_directions_than_columns():
    with pytest.raises(ValueError, match="pass n_features=2 or more"):
        make_index_model(10, 1, links=["linear", "ratio"])
    with pytest.raises(ValueError, match="pass n_features=5 or more"):
        make_index_model(10, 4, links="multi5")
    assert make_index_model(10, 5, links="multi5")[2].shape == (5, 5)
