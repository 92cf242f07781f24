"""SteinIndex with other scores than the Gaussian one, and without y."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.decomposition import PCA

from skrep.datasets import make_index_model
from skrep.index_model import SteinIndex
from skrep.invariance import Claim, check_invariance, unclaimed
from skrep.metrics import subspace_distance

MODELS = ("student", "mixture", "denoising", "auto")
models = pytest.mark.parametrize("model", MODELS)

X, Y, COMPONENTS = make_index_model(
    1500, 4, links="ratio", design="gmm", random_state=0
)


def gaussian_score(rows):
    """Scores of a normal density, and the mean over rows of number times T."""
    mean, covariance = rows.mean(axis=0), np.cov(rows.T, bias=True)
    scores = (rows - mean) @ np.linalg.inv(covariance)

    def weighted(numbers):
        second = (scores * numbers[:, None]).T @ scores / len(rows)
        return second - numbers.mean() * np.linalg.inv(covariance)

    return scores, weighted


@models
@pytest.mark.parametrize("order", ["both", 1, 2])
def test_directions_are_found_with_any_score(model, order):
    links, design = ("linear", "t5") if order == 1 else ("even", "t5")
    rows, y, components = make_index_model(
        3000, 5, links=links, design=design, random_state=1
    )
    index = SteinIndex(1, order=order, score_model=model, random_state=0).fit(rows, y)
    assert subspace_distance(index.components_, components) < 0.15
    Z = index.transform(rows)
    assert_allclose([Z.mean(), Z.var()], [0, 1], atol=1e-8)


def test_a_callable_with_the_gaussian_score_is_the_gaussian_model():
    rows, y, _ = make_index_model(1500, 4, links="ratio", random_state=0)
    for response, order in (("slices", "both"), ("raw", 1), ("raw", 2)):
        params = {"response": response, "order": order}
        one = SteinIndex(2 if order != 1 else 1, **params).fit(rows, y)
        other = clone(one).set_params(score_model=gaussian_score).fit(rows, y)
        assert other.score_model_ is gaussian_score
        assert subspace_distance(one.components_, other.components_) < 0.1


def test_order_two_needs_the_second_half_of_a_callable():
    index = SteinIndex(1, score_model=lambda rows: gaussian_score(rows)[0])
    assert index.set_params(order=1).fit(X, Y).n_components_ == 1
    with pytest.raises(
        ValueError, match=r"Return \(scores, weighted\), or pass order=1"
    ):
        index.set_params(order="both").fit(X, Y)


@pytest.mark.parametrize(
    ("design", "expected"), [("iso", "gaussian"), ("t5", "student"), ("gmm", "mixture")]
)
def test_auto_knows_the_rows(design, expected):
    rows, y, _ = make_index_model(3000, 4, design=design, random_state=0)
    index = SteinIndex(1, score_model="auto", random_state=0).fit(rows, y)
    assert index.score_model_ == expected


def test_classes_go_with_any_score():
    labels = np.array(list("abc"))[np.searchsorted(np.quantile(Y, [0.3, 0.6]), Y)]
    for model in MODELS:
        index = SteinIndex(2, score_model=model, random_state=0).fit(X, labels)
        assert index.slice_edges_ is None
        assert index.transform(X).shape == (1500, 2)


@models
def test_weights_are_repeats(model):
    weights = np.random.default_rng(0).integers(0, 3, 300)
    rows, y = X[:300], Y[:300]
    one = SteinIndex(1, score_model=model, random_state=0)
    one.fit(rows, y, sample_weight=weights)
    other = clone(one).fit(np.repeat(rows, weights, axis=0), np.repeat(y, weights))
    assert_allclose(one.transform(rows), other.transform(rows), atol=1e-6)


@pytest.mark.parametrize("model", [*MODELS, gaussian_score])
def test_such_fits_take_no_further_rows(model):
    index = SteinIndex(1, score_model=model, random_state=0).fit(X, Y)
    assert not hasattr(index, "partial_fit")
    assert not hasattr(index, "merge")
    gaussian = index.set_params(score_model="gaussian")
    if gaussian.score_model_ != "gaussian":
        with pytest.raises(ValueError, match=r"clone\(estimator\).partial_fit"):
            gaussian.partial_fit(X, Y)


@models
def test_few_rows_are_refused(model):
    with pytest.raises(ValueError, match=r'more than twice.*score_model="gaussian"'):
        SteinIndex(1, score_model=model).fit(X[:7], Y[:7])


@pytest.mark.parametrize("model", ["student", "mixture", "denoising"])
def test_claims_hold_and_others_are_broken(model):
    index = SteinIndex(2, response="slices", score_model=model, random_state=0)
    rows, y = X[:400], Y[:400]
    for claim in index.invariances():
        report = check_invariance(index, claim, rows, y, n_draws=2)
        assert report.holds, report
    stronger = Claim("invertible_affine")
    assert stronger in unclaimed(index)
    assert not check_invariance(index, stronger, rows, y).holds


def test_of_a_callable_nothing_is_claimed():
    index = SteinIndex(1, score_model=np.tanh, response="slices")
    assert index.invariances() == ()
    claim = Claim("translation")
    assert not check_invariance(index.set_params(order=1), claim, X, Y).holds


# --- without y ---------------------------------------------------------------------


@pytest.mark.parametrize("order", ["both", 1, 2])
def test_without_y_the_gaussian_case_is_pca(order):
    index = SteinIndex(3, order=order).fit(X)
    expected = PCA(3, whiten=True).fit(X).transform(X)
    expected /= expected.std(axis=0)
    found = index.transform(X)
    signs = np.sign(np.sum(found * expected, axis=0))
    assert_allclose(found * signs, expected, atol=1e-8)
    assert np.isnan(index.noise_edge_)
    assert index.score_model_ == "gaussian"
    assert (np.diff(index.eigenvalues_) <= 0).all()


def test_without_y_clusters_come_before_mere_variance():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((1000, 3)) * [1.0, 0.3, 1.2]
    rows[:, 1] += rng.choice([-1, 1], 1000)
    mixture = SteinIndex(1, score_model="mixture", order=1, random_state=0).fit(rows)
    gaussian = SteinIndex(1).fit(rows)
    assert np.argmax(np.abs(gaussian.components_ * rows.std(axis=0))) == 2
    assert mixture.score_model_ == "mixture"
    assert_array_equal(mixture.transform(rows).shape, (1000, 1))


@pytest.mark.parametrize("model", ["gaussian", "mixture"])
def test_claims_without_y(model):
    index = SteinIndex(2, score_model=model, random_state=0).fit(X[:300])
    claims = index.invariances()
    assert Claim("orthogonal", "up_to_sign") in claims
    assert Claim("column_scaling") not in claims
    for claim in claims:
        report = check_invariance(index, claim, X[:300], n_draws=2)
        assert report.holds, report
    assert not check_invariance(index, Claim("column_scaling"), X[:300]).holds


def test_with_and_without_y_leave_no_trace_of_each_other():
    index = SteinIndex(1).fit(X)
    index.fit(X, Y)
    assert Claim("invertible_affine", "up_to_sign") in index.invariances()
    assert not np.isnan(index.noise_edge_)
    with pytest.raises(ValueError, match="one value"):
        index.fit(X, np.ones(len(X)))
    index.fit(X)
    assert index.slice_edges_ is None
    with pytest.raises(ValueError, match="one value"):
        index.fit(X, np.ones(len(X)))
    assert np.isnan(index.noise_edge_)
    assert Claim("orthogonal", "up_to_sign") in index.invariances()
    with pytest.raises(ValueError, match="holds no moments"):
        index.partial_fit(X, Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"score_model": "student"}, 'score_model="gaussian" or "mixture"'),
        ({"score_model": np.tanh}, 'score_model="gaussian" or "mixture"'),
        ({"n_components": "auto"}, "Pass y, or n_components=2"),
        ({"n_components": 5}, "from 1 to 4"),
    ],
)
def test_what_needs_y_says_so(params, message):
    with pytest.raises(ValueError, match=message):
        SteinIndex(**params).fit(X)
