"""The features after large gradient steps: what they see, claim and refuse."""

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
from hypothesis import given, settings
from numpy.testing import assert_allclose
from scipy.special import erf
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils import check_random_state

from skrep.datasets import make_index_model
from skrep.exceptions import ThinDataWarning
from skrep.index_model._step import GradientStepFeatures
from skrep.index_model._step_kernel import erf_kernel, relu_kernel
from skrep.invariance import check_invariance, unclaimed
from skrep.metrics import subspace_distance
from tests.strategies import seeds

ACTIVATIONS = ("relu", "softplus", "erf", "tanh")


def score(features, link, n=1000, d=20, seed=0):
    """Held-out R2 of ridge regression on the features of train rows."""
    X, y, _ = make_index_model(n + 2000, d, links=link, random_state=seed)
    model = make_pipeline(features, Ridge(10)).fit(X[:n], y[:n])
    return model.score(X[n:], y[n:])


def rows(n=80, d=5, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1) + 3
    return X, X[:, 0] + X[:, 1] * X[:, 2]


# --- what the features see -------------------------------------------------------


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("link", ["cubic", "sine"])
def test_one_step_sees_what_random_features_do_not(activation, link):
    plain, stepped = (
        score(GradientStepFeatures(activation=activation, step=s, random_state=0), link)
        for s in (0, "giant")
    )
    assert stepped > plain + 0.15


def test_even_links_are_seen_by_what_is_not_odd():
    plain = score(GradientStepFeatures(step=0, random_state=0), "even")
    odd = score(GradientStepFeatures(activation="erf", random_state=0), "even")
    relu = score(GradientStepFeatures(random_state=0), "even")
    assert relu > plain + 0.1
    assert odd < plain + 0.05


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("design", ["iso", "ar1"])
def test_the_spike_is_the_direction_of_one_index(activation, design):
    X, y, components = make_index_model(5000, 10, design=design, random_state=0)
    model = GradientStepFeatures(8, activation=activation, random_state=0).fit(X, y)
    assert model.spikes_.shape == (1, 10)
    assert model.n_spikes_ == 1
    assert subspace_distance(model.spikes_, components) < 0.05
    naive = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean(), rcond=None)[0][None]
    assert subspace_distance(model.spikes_, naive) < 1e-7


def test_the_second_step_sees_what_the_first_leads_to():
    X, _, components = make_index_model(5000, 10, links="product", random_state=0)
    u, v = components @ X.T
    steps = [
        GradientStepFeatures(n_steps=k, random_state=0).fit(X, u + u * v)
        for k in (1, 2)
    ]
    assert [s.n_spikes_ for s in steps] == [1, 3]
    assert subspace_distance(steps[0].spikes_, components[:1]) < 0.1
    assert subspace_distance(steps[1].spikes_[:2], components) < 0.1
    assert_allclose(steps[0].spikes_, steps[1].spikes_[:1])


@pytest.mark.parametrize("n_steps", [1, 2])
def test_indices_along_the_spikes_are_uncorrelated(n_steps):
    X, y, _ = make_index_model(300, 12, links="multi5", design="t5", random_state=0)
    model = GradientStepFeatures(8, n_steps=n_steps, random_state=0).fit(X, y)
    indices = (X - model.mean_) @ model.spikes_.T
    assert_allclose(np.cov(indices.T, ddof=0), np.eye(len(model.spikes_)), atol=1e-9)
    assert_allclose(indices.mean(axis=0), 0, atol=1e-12)
    standardized = model.spikes_ * X.std(axis=0)
    largest = np.argmax(np.abs(standardized), axis=1)
    assert np.all(standardized[np.arange(len(largest)), largest] > 0)


def test_fewer_outliers_are_predicted_for_smaller_steps():
    X, y = rows()
    rates = (0, 0.5, 3.0, 256**0.25, 200.0)
    one, two = (
        [
            GradientStepFeatures(256, n_steps=k, step=rate).fit(X, y).n_spikes_
            for rate in rates
        ]
        for k in (1, 2)
    )
    assert one == [0, 0, 1, 1, 1]
    assert two == [0, 0, 1, 2, 3]


def test_no_step_gives_random_features():
    X, y = rows()
    first = GradientStepFeatures(step=0, random_state=0).fit(X, y)
    other = GradientStepFeatures(step=0, n_steps=2, random_state=0).fit(X, -(y**2))
    assert_allclose(first.transform(X), other.transform(X))
    assert first.spikes_.shape == (0, 5)


def test_random_weights_are_drawn_for_standardized_columns():
    X, y, _ = make_index_model(300, 5, design="ar1", random_state=0)
    X = X * np.arange(1, 6) + 3
    model = GradientStepFeatures(7, step=0, random_state=0).fit(X, y)
    draws = check_random_state(0).standard_normal((5, 7))
    root = scipy.linalg.sqrtm(np.corrcoef(X.T))
    expected = np.linalg.solve(root, draws) / np.sqrt(5) / X.std(axis=0)[:, None]
    assert_allclose(model.weights_, expected)


def test_transform_is_a_layer_of_a_network():
    X, y = rows()
    for activation, function in (("relu", lambda t: t * (t > 0)), ("tanh", np.tanh)):
        model = GradientStepFeatures(7, activation=activation, random_state=0)
        inputs = (X - X.mean(axis=0)) @ model.fit(X, y).weights_ + model.bias_
        assert_allclose(model.transform(X), function(inputs), atol=1e-10)


def test_the_spike_fits_the_noise_of_its_own_rows():
    rng = np.random.default_rng(0)
    X, noise = rng.standard_normal((200, 30)), rng.standard_normal(200)
    spike = GradientStepFeatures(random_state=0).fit(X[:100], noise[:100]).spikes_[0]
    own, other = (
        np.corrcoef(X[half] @ spike, noise[half])[0, 1]
        for half in (slice(100), slice(100, 200))
    )
    assert own > 0.4
    assert abs(other) < 0.2


# --- the kernel ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kernel", "function"),
    [
        (relu_kernel, lambda t: t * (t > 0)),
        (erf_kernel, erf),
    ],
    ids=["relu", "erf"],
)
def test_kernels_are_means_over_gaussian_weights(kernel, function):
    rng = np.random.default_rng(0)
    P = rng.standard_normal((4, 3))
    W = rng.standard_normal((3, 100_000))
    outputs = function(P @ W)
    variances = np.sum(P**2, axis=1)
    found = kernel(P @ P.T, variances, variances)
    assert_allclose(found, outputs @ outputs.T / 100_000, atol=0.03)


@pytest.mark.parametrize(("activation", "tolerance"), [("erf", 0.02), ("relu", 0.08)])
def test_the_kernel_is_what_many_neurons_approach(activation, tolerance):
    X, y, _ = make_index_model(400, 6, links=["sine", "even"], random_state=0)
    model = GradientStepFeatures(40_000, activation=activation, random_state=0)
    model.fit(X, y)
    Z = model.transform(X[:50])
    gap = model.kernel(X[:50]) - Z @ Z.T / 40_000
    assert np.linalg.norm(gap) < tolerance * np.linalg.norm(model.kernel(X[:50]))


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("n_steps", [1, 2])
def test_kernels_are_kernels(activation, n_steps):
    X, y = rows()
    model = GradientStepFeatures(
        64, n_steps=n_steps, activation=activation, random_state=0
    ).fit(X, y)
    K = model.kernel(X)
    assert_allclose(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-8 * K.max()
    assert_allclose(model.kernel(X[:3], X), K[:3], rtol=1e-9, atol=1e-12)
    if n_steps == 2 or activation not in ("relu", "erf"):
        Z = model.transform(X)
        assert_allclose(K, Z @ Z.T / 64)
    else:
        other = GradientStepFeatures(
            64, n_steps=n_steps, activation=activation, random_state=1
        )
        assert_allclose(other.fit(X, y).kernel(X), K)


def test_the_kernel_turns_towards_the_response():
    X, y, components = make_index_model(2000, 10, random_state=0)
    model = GradientStepFeatures(activation="erf", random_state=0).fit(X, y)
    across = np.linalg.svd(components)[2][1:2]
    origin = model.kernel(np.zeros((1, 10)), components).item()
    assert model.kernel(np.zeros((1, 10)), across).item() > origin + 0.1


def test_the_other_side_of_the_kernel_has_the_same_columns():
    X, y = rows()
    model = GradientStepFeatures().fit(pd.DataFrame(X, columns=list("abcde")), y)
    frame = pd.DataFrame(X, columns=list("abcde"))
    with pytest.raises(ValueError, match=r"kernel: 'Y' has 4 columns.*same columns"):
        model.kernel(frame, X[:, 1:])
    with pytest.raises(ValueError, match=r"pass Y\[X.columns\]"):
        model.kernel(frame, frame[list("edcba")])


# --- responses -------------------------------------------------------------------


def outputs(y, X=None, **params):
    X = rows()[0] if X is None else X
    return GradientStepFeatures(16, random_state=0, **params).fit(X, y).transform(X)


@pytest.mark.parametrize("n_steps", [1, 2])
def test_units_of_the_response_do_not_matter(n_steps):
    y = rows()[1]
    expected = outputs(y, n_steps=n_steps)
    for other in (y[:, None], 5 - 1e-3 * -y, 1e200 * y, y * 1e-200):
        assert_allclose(outputs(other, n_steps=n_steps), expected, rtol=1e-6, atol=1e-9)


def test_a_class_is_a_response():
    labels = np.array(["a", "b", "c", "a"])[np.arange(80) % 4]
    columns = (labels[:, None] == ["a", "b", "c"]).astype(float)
    assert_allclose(outputs(labels), outputs(columns))
    assert_allclose(outputs(np.arange(80) % 2), outputs(np.arange(80) % 2 == 1))
    X = rows()[0]
    assert GradientStepFeatures().fit(X, labels).spikes_.shape == (2, 5)


def test_a_constant_response_is_left_out():
    y = rows()[1]
    with pytest.warns(ThinDataWarning, match=r"constant in column 1.*Leave it out"):
        found = outputs(np.column_stack([y, np.full(80, 4.0), y**2]))
    assert_allclose(found, outputs(np.column_stack([y, y**2])))


@pytest.mark.parametrize("y", [np.full(80, 2.0), ["a"] * 80, np.full((80, 2), 3.0)])
def test_one_value_has_no_gradient(y):
    with pytest.raises(ValueError, match=r"'y' has one value.*rows of several values"):
        outputs(y)


def test_absent_rows_have_no_say_in_what_y_is():
    X = rows()[0]
    y = np.array([f"{i % 2}" for i in range(80)], dtype=object)
    y[0] = "only here"
    weights = np.ones(80)
    weights[0] = 0
    model = GradientStepFeatures(16, random_state=0).fit(X, y, sample_weight=weights)
    other = GradientStepFeatures(16, random_state=0).fit(X[1:], y[1:])
    assert_allclose(model.transform(X), other.transform(X))
    with pytest.raises(ValueError, match="'y' has one value"):
        GradientStepFeatures().fit(X, ["a"] + ["b"] * 79, sample_weight=weights)


@given(seed=seeds)
@settings(max_examples=10)
@pytest.mark.parametrize("n_steps", [1, 2])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_weights_are_repetitions(n_steps, activation, seed):
    rng = np.random.default_rng(seed)
    X, y = rows(60, 4, seed)
    Y = np.column_stack([y, X[:, 3] ** 2])[:, : rng.integers(1, 3)]
    weights = rng.integers(0, 3, 60)
    order = rng.permutation(np.repeat(np.arange(60), weights))
    model = GradientStepFeatures(
        12, n_steps=n_steps, activation=activation, random_state=0
    )
    expected = model.fit(X[order], Y[order]).transform(X)
    found = model.fit(X, Y, sample_weight=weights).transform(X)
    assert_allclose(found, expected, rtol=1e-6, atol=1e-8)


# --- rows ------------------------------------------------------------------------


@pytest.mark.parametrize("n_steps", [1, 2])
def test_a_constant_column_changes_nothing_else(n_steps):
    X, y = rows()
    wide = np.insert(X, 2, 7.0, axis=1)
    model = GradientStepFeatures(16, n_steps=n_steps, random_state=0)
    expected = model.fit(X, y).transform(X)
    with pytest.warns(ThinDataWarning, match="constant in column 2"):
        model.fit(wide, y)
    assert_allclose(model.transform(wide), expected)
    assert not model.weights_[2].any()
    assert not model.spikes_[:, 2].any()
    assert_allclose(model.transform(wide + np.eye(6)[2]), expected)


def test_equal_rows_are_refused():
    y = rows()[1]
    with pytest.raises(ValueError, match=r"constant in every column.*rows that differ"):
        GradientStepFeatures().fit(np.ones((80, 3)), y)


def test_dependent_columns_add_no_dimension():
    X, y = rows()
    wide = np.column_stack([X, X[:, 0] + X[:, 1]])
    one, other = (GradientStepFeatures(random_state=0).fit(A, y) for A in (X, wide))
    assert_allclose(
        (wide - other.mean_) @ other.spikes_.T,
        (X - one.mean_) @ one.spikes_.T,
        atol=1e-9,
    )
    assert_allclose(other.kernel(wide), one.kernel(X), rtol=1e-8)


@pytest.mark.parametrize("n", [20, 40, 70])
@pytest.mark.parametrize("n_steps", [1, 2])
def test_fewer_rows_than_columns(n, n_steps):
    X, y, _ = make_index_model(n + 500, 40, links="cubic", random_state=0)
    model = GradientStepFeatures(n_steps=n_steps, random_state=0).fit(X[:n], y[:n])
    index = X[n:] @ model.spikes_[0]
    assert np.corrcoef(index, y[n:])[0, 1] > 0.1
    assert_allclose(np.var(X[:n] @ model.spikes_[0]), 1)
    assert np.isfinite(model.transform(X)).all()


def test_single_precision_far_from_the_origin():
    X, y = rows()
    far = (X + np.array([1e6, -1e6, 0, 1e5, 3e5])).astype(np.float32)
    models = [
        GradientStepFeatures(16, n_steps=n_steps, random_state=0).fit(A, y)
        for n_steps in (1, 2)
        for A in (far, far.astype(np.float64))
    ]
    for one, other in (models[:2], models[2:]):
        wide = other.transform(far.astype(np.float64))
        found = one.transform(far)
        assert found.dtype == np.float32
        assert_allclose(found, wide, atol=1e-4 * wide.max())
        K = one.kernel(far)
        assert K.dtype == np.float32
        expected = other.kernel(far.astype(np.float64))
        assert_allclose(K, expected, atol=1e-4 * expected.max())


def test_what_overflows_is_refused():
    X, y = rows()
    with pytest.raises(ValueError, match=r"squares overflow. Divide all rows"):
        GradientStepFeatures().fit(1e200 * X, y)
    model = GradientStepFeatures().fit(1e-150 * X, y)
    with pytest.raises(ValueError, match=r"features overflow float64. Pass"):
        model.transform(1e200 * X)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_features": 0}, "'n_features' parameter"),
        ({"n_steps": 3}, "'n_steps' parameter"),
        ({"activation": "gelu"}, "'activation' parameter"),
        ({"step": -1}, "'step' parameter"),
        ({"step": np.inf}, "'step' parameter"),
        ({"step": "large"}, "'step' parameter"),
    ],
)
def test_parameters_are_checked(params, match):
    with pytest.raises(ValueError, match=match):
        GradientStepFeatures(**params).fit(*rows())


def test_steps_are_chosen_by_a_search():
    X, y = rows(60)
    pipeline = make_pipeline(GradientStepFeatures(32, random_state=0), Ridge())
    grid = {
        "gradientstepfeatures__n_steps": [1, 2],
        "gradientstepfeatures__step": [0, "giant", 5.0],
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    names = search.best_estimator_[0].get_feature_names_out()
    assert list(names[:2]) == ["gradientstepfeatures0", "gradientstepfeatures1"]
    assert len(names) == 32


# --- invariance ------------------------------------------------------------------

CLAIMING = [
    GradientStepFeatures(16, n_steps=n_steps, activation=activation, random_state=0)
    for n_steps in (1, 2)
    for activation in ("relu", "erf")
]


@pytest.mark.parametrize("model", CLAIMING, ids=str)
@pytest.mark.parametrize("labels", [False, True], ids=["numbers", "classes"])
def test_claims_hold(model, labels):
    X, y = rows()
    for claim in model.invariances():
        target = np.digitize(y, [10, 20]) if labels else y
        report = check_invariance(model, claim, X, target)
        assert report.holds, report


@pytest.mark.parametrize("model", CLAIMING, ids=str)
def test_what_is_not_claimed_is_broken(model):
    X, y = rows()
    claims = unclaimed(model)
    assert {claim.group for claim in claims} >= {"rotation", "label_permutation"}
    for claim in claims:
        report = check_invariance(model, claim, X, np.digitize(y, [10, 20]), n_draws=8)
        assert not report.holds, report


@given(seed=seeds)
@settings(max_examples=10)
def test_the_kernel_is_the_same_for_all_invertible_maps(seed):
    rng = np.random.default_rng(seed)
    X, y = rows(60, 4, seed)
    moved = X @ (rng.standard_normal((4, 4)) + 3 * np.eye(4)) + 5
    for activation in ("relu", "erf"):
        one, other = (
            GradientStepFeatures(8, activation=activation).fit(A, y).kernel(A)
            for A in (X, moved)
        )
        assert_allclose(one, other, rtol=1e-6, atol=1e-8)
