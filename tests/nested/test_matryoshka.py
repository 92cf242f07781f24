"""The trained projection: what it learns and keeps, claims and refuses."""

import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch.callbacks import Callback

from skrep.datasets import load_mammals
from skrep.invariance import Claim, check_invariance, unclaimed
from skrep.nested import MatryoshkaProjection, NestedProjection
from skrep.nested._matryoshka_read import read_sample
from skrep.nested._matryoshka_start import head_of, spread_of, standard_numbers
from tests.strategies import seeds

N, D, N_CLASSES = 240, 12, 10
FORMS = {
    "linear": {},
    "perceptron": {"hidden": (16,)},
    "adaptor": {"hidden": (16,), "residual": True},
    "random": {"init": "random"},
    "random adaptor": {"hidden": (16,), "residual": True, "init": "random"},
}
every_form = pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)


def made(**params):
    return MatryoshkaProjection(
        **{"max_epochs": 3, "random_state": 0, "batch_size": 80, **params}
    )


def table(seed=0):
    """Rows of classes whose means lie in many directions, away from the origin."""
    rng = np.random.default_rng(seed)
    y = np.arange(N) % N_CLASSES
    means = rng.standard_normal((N_CLASSES, D)) * np.geomspace(3, 0.5, D)
    return means[y] + rng.standard_normal((N, D)) + 4, y


def partners_of(X, seed=1):
    rng = np.random.default_rng(seed)
    return X + rng.standard_normal(X.shape) - 3


X, Y = table()
NUMBERS = np.sin(X[:, 0]) + X[:, 1]
PAIRS = partners_of(X)
FITS = {
    "classes": {"y": Y},
    "regression": {"y": NUMBERS},
    "pairs": {"pairs": PAIRS},
    "teacher": {},
}


# --- what is learned -------------------------------------------------------------


def test_short_prefixes_tell_more_classes_than_the_closed_form():
    mammals = load_mammals()
    X, y = mammals.gloss["minilm"], mammals.target
    counts = np.bincount(y)
    told = counts[y] >= 8
    X, y = X[told], y[told]
    train, test = np.arange(len(X)) % 2 == 0, np.arange(len(X)) % 2 == 1
    closed = NestedProjection(objective="classes", target_type="classes")
    closed.fit(X[train], y[train])
    learned = MatryoshkaProjection(objective="classes", random_state=0)
    learned.set_params(prefixes=(2, 4)).fit(X[train], y[train])
    scores = []
    for model in (closed, learned):
        Z = model.transform(X)[:, :2]
        head = LogisticRegression(max_iter=2000).fit(Z[train], y[train])
        scores.append(head.score(Z[test], y[test]))
    assert scores[1] > scores[0] + 0.02


@pytest.mark.parametrize("objective", FITS)
def test_training_lowers_the_loss_of_rows_held_out(objective):
    model = made(
        objective=objective,
        init="random",
        max_epochs=12,
        batch_size=20,
        validation_fraction=0.25,
    )
    history = model.fit(X, **FITS[objective]).history_
    assert history[-1]["valid_loss"] < history[0]["valid_loss"]


@pytest.mark.parametrize("objective", FITS)
def test_a_linear_encoder_is_a_rotation_of_the_closed_form(objective):
    closed = {"regression": "classes", "teacher": "variance"}.get(objective, objective)
    start = NestedProjection(objective=closed).fit(X, **FITS[objective])
    model = made(objective=objective).fit(X, **FITS[objective])
    B, C = model.components_, start.components_
    assert_allclose(B.T @ B, C.T @ C, atol=1e-10)
    assert_allclose(pdist(model.transform(X)), pdist(start.transform(X)))
    assert np.abs(np.abs(B) - np.abs(C)).max() > 1e-3
    assert (B[np.arange(len(B)), np.abs(B).argmax(axis=1)] > 0).all()


@pytest.mark.parametrize("form", [{}, {"hidden": (16,), "residual": True}])
def test_short_prefixes_have_more_of_the_cosines_than_principal_axes(form):
    def wrong(model):
        Z = model.transform(X)
        gaps = [cosine_similarity(Z[:, :k]) - whole for k in (2, 4)]
        return np.mean(np.square(gaps))

    whole = cosine_similarity(X - X.mean(axis=0))

    model = made(objective="teacher", prefixes=(2, 4, D), max_epochs=40, **form)
    assert wrong(model.fit(X)) < 0.97 * wrong(NestedProjection().fit(X))


def test_a_shorter_output_may_be_rotated_out_of_the_axes_behind_it():
    start = NestedProjection(objective="classes").fit(X, Y)
    model = made(n_components=3, prefixes=(2, 3)).fit(X, Y)
    assert model.components_.shape == (3, D)
    inside = start.prefix(3).components_
    rest = model.components_ - model.components_ @ np.linalg.pinv(inside) @ inside
    assert np.abs(rest).max() > 1e-3


def test_without_training_a_linear_encoder_is_the_closed_form():
    start = NestedProjection(objective="classes").fit(X, Y)
    model = made(lr=1e-12, max_epochs=1).fit(X, Y)
    assert_allclose(model.transform(X), start.transform(X), atol=1e-8)


@pytest.mark.parametrize("form", ["linear", "adaptor", "random", "random adaptor"])
def test_what_is_fitted_is_the_network(form):
    class Keep(Callback):
        def on_train_end(self, net, **kwargs):
            kept.append(net.module_)

    kept = []
    model = made(callbacks=[Keep()], max_epochs=8, lr=0.05, **FORMS[form]).fit(X, Y)
    rows = X - X.mean(axis=0)
    if not form.startswith("random"):
        rows = NestedProjection(objective="classes").fit(X, Y).transform(X)
    scale = np.sqrt(np.mean(rows**2, axis=0).max())
    if form == "linear":
        rows = rows[:, : N_CLASSES - 1]
    seen = torch.from_numpy(rows / scale)
    Z = kept[0](seen).detach().numpy()
    if form != "random":
        Z = Z * scale
    if form in ("linear", "random"):
        found = model.transform(X)[:, : Z.shape[1]]
        Z *= np.sign(np.sum(Z * found, axis=0))
    assert_allclose(model.transform(X)[:, : Z.shape[1]], Z, atol=1e-8)


def test_an_adaptor_without_training_is_what_it_is_added_to():
    start = NestedProjection(objective="variance").fit(X)
    model = made(hidden=(5,), residual=True, lr=1e-14, max_epochs=1).fit(X)
    assert_allclose(model.transform(X), start.transform(X), atol=1e-8)
    plain = made(hidden=(5,), residual=True, init="random", lr=1e-14, max_epochs=1)
    cut = plain.set_params(n_components=4).fit(X).transform(X)
    assert_allclose(cut, (X - X.mean(axis=0))[:, :4], atol=1e-8)


def test_weight_decay_pulls_toward_the_closed_form():
    start = NestedProjection(objective="classes").fit(X, Y).components_
    moved = [
        np.abs(made(weight_decay=w, max_epochs=10).fit(X, Y).components_ - start).max()
        for w in (0.0, 150.0)
    ]
    assert moved[1] < moved[0] / 2


def test_auto_is_told_by_what_is_passed():
    for objective, passed in FITS.items():
        assert made(max_epochs=1).fit(X, **passed).objective_ == objective
    assert made(max_epochs=1).fit(X, Y.astype(str)).objective_ == "classes"
    assert made(max_epochs=1).fit(X, Y, pairs=PAIRS).objective_ == "pairs"
    assert made(max_epochs=1, objective="teacher").fit(X, Y).objective_ == "teacher"
    model = made(max_epochs=1, objective="regression").fit(X, Y)
    assert model.objective_ == "regression"


def test_heads_may_be_tied_or_not():
    form = {"prefixes": (2, 4, 8)}
    one, other = (
        made(tied=tied, **form).fit(X, Y).components_ for tied in (True, False)
    )
    assert np.abs(one - other).max() > 1e-6


def test_weights_of_prefixes_follow_the_order_given():
    one = made(prefixes=(2, 4, 8), prefix_weights=(1, 0, 2)).fit(X, Y)
    other = made(prefixes=(8, 2, 4), prefix_weights=(2, 1, 0)).fit(X, Y)
    assert_array_equal(one.components_, other.components_)
    assert one.prefixes_.tolist() == [2, 4, 8]


def test_the_start_of_a_head_is_discriminant_analysis_on_each_axis():
    sample = read_sample(made(), X, Y, None, None)
    head = head_of(sample, X)
    means = np.array([X[c == Y].mean(axis=0) for c in range(N_CLASSES)])
    within = np.mean([X[c == Y].var(axis=0) for c in range(N_CLASSES)], axis=0)
    total = within + np.mean(means**2, axis=0)
    assert_allclose(head.weight, means / (within + 0.01 * total))
    assert_allclose(head.bias, np.log(np.full(N_CLASSES, 1 / N_CLASSES)))
    assert_allclose(spread_of(sample, X, None), np.sqrt(within) / 2)
    paired = read_sample(made(), X, None, PAIRS, None)
    gaps = np.sqrt(np.mean((X - PAIRS) ** 2, axis=0))
    assert_allclose(spread_of(paired, X, PAIRS), gaps / 2)


def test_the_start_of_a_head_of_numbers_is_least_squares_on_each_axis():
    sample = read_sample(made(), X, NUMBERS, None, None)
    rows = X - X.mean(axis=0)
    standard = standard_numbers(sample, sample)
    assert_allclose([standard.mean(), standard.std()], [0, 1], atol=1e-12)
    slope = [Ridge(1e-12).fit(rows[:, [j]], standard).coef_[0] for j in range(D)]
    assert_allclose(head_of(sample, rows).weight[0], slope)


# --- what is kept ----------------------------------------------------------------


@every_form
@pytest.mark.parametrize(
    ("objective", "dtype"),
    [("classes", np.float32), ("pairs", np.float32), ("teacher", np.float64)],
)
def test_prefixes_are_leading_columns_in_the_type_of_the_rows(form, objective, dtype):
    passed = FITS[objective]
    rows = X.astype(dtype)
    model = made(n_components=9, prefixes=(4, 9), max_epochs=1, **form)
    model.fit(rows, **passed)
    Z = model.transform(rows)
    assert Z.dtype == dtype
    assert Z.shape == (N, 9)
    cut = model.prefix(4)
    assert_allclose(cut.transform(rows), Z[:, :4], rtol=1e-4, atol=1e-4)
    assert cut.get_feature_names_out().tolist() == [
        f"matryoshkaprojection{j}" for j in range(4)
    ]
    assert cut.n_components == 4
    assert model.transform(rows).shape == (N, 9)
    if model.coefs_ is not None:
        assert {part.dtype for part in (*model.coefs_, *model.intercepts_)} == {
            np.dtype(dtype)
        }


@pytest.mark.parametrize("objective", ["regression", "teacher"])
def test_float_types_give_the_same_rotation(objective):
    found = [
        made(max_epochs=10, prefixes=(1, 2, 4, D), objective=objective)
        .fit(X.astype(dtype), **FITS[objective])
        .components_
        for dtype in (np.float32, np.float64)
    ]
    assert_allclose(found[0], found[1], atol=5e-3 * np.abs(found[1]).max())


def test_a_perceptron_is_its_layers():
    model = made(hidden=(16, 8)).fit(X, Y)
    rows = X - model.mean_
    for coef, intercept in zip(model.coefs_[:-1], model.intercepts_[:-1], strict=True):
        rows = np.maximum(rows @ coef + intercept, 0)
    expected = rows @ model.coefs_[-1] + model.intercepts_[-1]
    assert_allclose(model.transform(X), expected)
    assert model.components_ is None
    adaptor = made(hidden=(16,), residual=True).fit(X, Y)
    gaps = X - adaptor.mean_
    inner = np.maximum(gaps @ adaptor.coefs_[0] + adaptor.intercepts_[0], 0)
    expected = inner @ adaptor.coefs_[1] + adaptor.intercepts_[1]
    assert_allclose(adaptor.transform(X), expected + gaps @ adaptor.components_.T)


def test_a_perceptron_may_be_wider_than_the_rows():
    assert made(n_components=20, hidden=(8,)).fit(X, Y).transform(X).shape == (N, 20)


@every_form
def test_normalized_outputs_have_norm_one_at_every_length(form):
    model = made(normalize=True, n_components=6, **form).fit(X, Y)
    for k in (6, 2):
        assert_allclose(np.linalg.norm(model.prefix(k).transform(X), axis=1), 1)


@every_form
def test_the_counterpart_differs_in_its_mean_alone(form):
    model = made(**form).fit(X, pairs=PAIRS)
    twin = model.counterpart(PAIRS)
    assert_allclose(twin.mean_, PAIRS.mean(axis=0))
    shifted = PAIRS - PAIRS.mean(axis=0) + X.mean(axis=0)
    assert_allclose(twin.transform(PAIRS), model.transform(shifted), atol=1e-8)
    assert_allclose(model.mean_, X.mean(axis=0))
    w = np.arange(N, dtype=float)
    weighted = model.counterpart(PAIRS, sample_weight=w).mean_
    assert_allclose(weighted, np.average(PAIRS, axis=0, weights=w))


def global_states():
    numpy_state = np.random.mtrand._rand.get_state()[1].tolist()
    return numpy_state, torch.get_rng_state().tolist()


@every_form
def test_equal_seeds_are_bit_equal_and_leave_global_states_alone(form):
    before = global_states()
    one, other = (made(**form).fit(X, Y).transform(X) for _ in range(2))
    assert_array_equal(one, other)
    assert global_states() == before
    third = made(**form).set_params(random_state=1).fit(X, Y).transform(X)
    assert np.abs(one - third).max() > 0


@pytest.mark.parametrize(
    ("objective", "form"),
    [
        *((objective, FORMS["linear"]) for objective in FITS),
        ("classes", FORMS["adaptor"]),
        ("teacher", FORMS["perceptron"]),
    ],
)
def test_a_weight_is_a_number_of_rows(objective, form):
    w = np.arange(N) % 3.0
    kept = w > 0
    twice = np.repeat(np.arange(N), w.astype(int))
    passed = FITS[objective]
    zero = {k: v[kept] for k, v in passed.items()}
    full = {"batch_size": N, "max_epochs": 1, "lr": 1e-10, **form}
    found = made(**full).fit(X, **passed, sample_weight=w)
    absent = made(**full).fit(X[kept], **zero, sample_weight=w[kept])
    assert_array_equal(found.transform(X), absent.transform(X))
    if objective in ("classes", "pairs"):
        return
    copies = {k: v[twice] for k, v in passed.items()}
    doubled = made(**full).fit(X[twice], **copies)
    assert_allclose(found.history_[0]["train_loss"], doubled.history_[0]["train_loss"])
    assert_allclose(found.transform(X), doubled.transform(X), atol=1e-6)


def test_weights_that_sum_to_less_than_the_rows_are_shares():
    for w in (None, np.full(N, 1e-4)):
        model = made(batch_size=N, lr=1e-12, prefixes=(2, D), max_epochs=1)
        model.fit(X, sample_weight=w)
        Z = NestedProjection().fit(X).transform(X)
        wrong = (cosine_similarity(Z[:, :2]) - cosine_similarity(Z)) ** 2
        expected = wrong[np.triu_indices(N, 1)].mean()
        assert model.history_[0]["train_loss"] == pytest.approx(expected)


def test_equal_weights_are_none():
    one, other = (
        made().fit(X, Y, sample_weight=w).transform(X) for w in (None, np.ones(N))
    )
    assert_array_equal(one, other)


def test_a_pickle_holds_the_model_alone():
    mammals = load_mammals()
    rows = mammals.gloss["minilm"]
    model = made(max_epochs=1, batch_size=512).fit(rows)
    assert len(pickle.dumps(model)) < 4 * rows.shape[1] * (rows.shape[1] + 40) + 20_000
    again = pickle.loads(pickle.dumps(model))
    assert_array_equal(again.transform(rows), model.transform(rows))


def test_what_is_fitted_needs_no_torch(tmp_path):
    models = [made(**form).fit(X, Y) for form in FORMS.values()]
    path = tmp_path / "models"
    path.write_bytes(pickle.dumps((models, X, [m.transform(X) for m in models])))
    code = (
        "import pathlib, pickle, sys, numpy as np;"
        "from sklearn.base import clone;"
        f"models, X, Z = pickle.loads(pathlib.Path({str(path)!r}).read_bytes());"
        "assert all(np.array_equal(m.transform(X), z) for m, z in zip(models, Z));"
        "[(m.prefix(2).transform(X), m.counterpart(X)) for m in models];"
        "repr(clone(models[0]));"
        "assert not {'torch', 'skorch'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("package", ["torch", "skorch"])
def test_fit_without_a_package_says_how_to_install_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=r"pip install 'skrep\[torch\]'"):
        made().fit(X, Y)


def test_an_interrupted_fit_leaves_the_model_as_it_was():
    class Interrupt(Callback):
        def on_epoch_end(self, net, **kwargs):
            raise RuntimeError("enough")

    model = made(callbacks=[Interrupt()])
    with pytest.raises(RuntimeError, match="enough"):
        model.fit(X, Y)
    assert not hasattr(model, "components_")
    fitted = made().fit(X, Y)
    before = fitted.transform(X)
    with pytest.raises(RuntimeError, match="enough"):
        fitted.set_params(callbacks=[Interrupt()]).fit(X[:50], Y[:50])
    assert_array_equal(fitted.transform(X), before)


def test_it_is_searched_in_a_pipeline():
    steps = make_pipeline(
        StandardScaler(), made(max_epochs=1), LogisticRegression(max_iter=500)
    )
    grid = {
        "matryoshkaprojection__n_components": [8, 12],
        "matryoshkaprojection__optimizer__betas": [(0.8, 0.99), (0.9, 0.999)],
    }
    steps.set_params(matryoshkaprojection__optimizer_params={"betas": (0.9, 0.999)})
    search = GridSearchCV(steps, grid, cv=2).fit(X, Y)
    assert search.best_score_ > 0.5
    clone(search.best_estimator_)


# --- invariances -----------------------------------------------------------------


CLAIMING = [
    *(made(objective=objective) for objective in FITS),
    *(made(objective="classes", **form) for form in FORMS.values()),
    *(made(objective="teacher", **FORMS[form]) for form in ("adaptor", "random")),
    made(objective="teacher", normalize=True),
    made(objective="regression", tied=False),
]


@pytest.mark.parametrize("model", CLAIMING, ids=str)
def test_claims_hold_and_others_do_not(model):
    passed = dict(FITS[model.objective])
    y = passed.pop("y", None)
    for claim in model.invariances():
        report = check_invariance(model, claim, X, y, n_draws=1, fit_params=passed)
        assert report.holds, report
    for claim in unclaimed(model):
        if claim.group == "label_permutation" and model.objective != "classes":
            continue
        report = check_invariance(model, claim, X, y, n_draws=2, fit_params=passed)
        assert not report.holds, report


def test_auto_claims_what_holds_whatever_is_passed():
    claims = made().invariances()
    assert Claim("orthogonal", "up_to_sign") in claims
    assert not any(claim.group == "positive_scaling" for claim in claims)
    for claim in claims:
        for y in (None, Y, NUMBERS):
            report = check_invariance(made(), claim, X, y, n_draws=1)
            assert report.holds, report


# --- odd data --------------------------------------------------------------------


@every_form
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_are_served(form, n):
    Z = made(max_epochs=1, batch_size="auto", **form).fit(X[:n]).transform(X)
    assert np.isfinite(Z).all()


@every_form
def test_two_classes_and_a_class_of_one_row_are_served(form):
    for y in (Y[:30] > 4, np.arange(30) == 0):
        assert np.isfinite(made(**form).fit(X[:30], y).transform(X)).all()


@every_form
def test_equal_rows_and_constant_columns_are_served(form):
    rows = X.copy()
    rows[:, 3] = 7
    assert np.isfinite(made(**form).fit(rows, Y).transform(rows)).all()
    equal = np.repeat(X[:1], 20, axis=0)
    assert np.isfinite(made(**form).fit(equal).transform(equal)).all()


@given(
    seed=seeds,
    n=st.integers(2, 9),
    d=st.integers(1, 5),
    objective=st.sampled_from(sorted(FITS)),
)
@settings(max_examples=12, deadline=None)
def test_small_tables_are_served(seed, n, d, objective):
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, d))
    passed = {
        "classes": {"y": np.arange(n) % 2},
        "regression": {"y": rng.standard_normal(n)},
        "pairs": {"pairs": rng.standard_normal((n, d))},
        "teacher": {},
    }[objective]
    model = made(objective=objective, max_epochs=1, batch_size="auto")
    Z = model.fit(rows, **passed).transform(rows)
    assert Z.shape == (n, d)
    assert np.isfinite(Z).all()


def test_numbers_that_do_not_vary_are_served():
    model = made(objective="regression").fit(X, np.ones(N))
    assert np.isfinite(model.transform(X)).all()


def test_batches_may_be_larger_than_the_rows():
    one, other = (made(batch_size=b).fit(X, Y).transform(X) for b in (N, 10 * N))
    assert_array_equal(one, other)


def test_equal_pairs_are_no_negatives():
    rows = np.repeat(X[:20], 2, axis=0)
    others = np.repeat(PAIRS[:20], 2, axis=0)
    full = {"objective": "pairs", "batch_size": 40, "max_epochs": 1, "lr": 1e-10}
    twice = made(**full, hidden=(4,), init="random").fit(rows, pairs=others)
    once = made(**full, hidden=(4,), init="random").fit(
        X[:20], pairs=PAIRS[:20], sample_weight=np.full(20, 2.0)
    )
    assert twice.history_[0]["train_loss"] == pytest.approx(
        once.history_[0]["train_loss"], rel=0.3
    )


def test_weights_of_rows_count_in_the_order_of_classes():
    y = np.array(["b", "a"])[Y % 2]
    one = made(objective="classes").fit(X, y).transform(X)
    other = made(objective="classes").fit(X, np.where(y == "b", 0, 1)).transform(X)
    assert_array_equal(one, other)


# --- what is refused -------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_components": 13}, r"'n_components'.*13"),
        ({"n_components": 0, "hidden": (4,)}, r"'n_components'.*0"),
        ({"n_components": 2.5}, r"'n_components'.*2\.5"),
        ({"prefixes": (4, 2, 4)}, r"repeats a length.*pass prefixes=\[2, 4\]"),
        ({"prefixes": (4, 20)}, r"20"),
        ({"prefixes": (4, 20), "n_components": 12}, r'Pass prefixes="powers"'),
        ({"prefixes": ()}, r'Pass prefixes="powers"'),
        ({"prefixes": (2.5,)}, r'Pass prefixes="powers"'),
        ({"prefixes": "all"}, r'Pass prefixes="powers"'),
        ({"prefixes": (2, 4), "prefix_weights": [1]}, r"Pass prefix_weights=\[1\.0, 1"),
        ({"prefixes": (2, 4), "prefix_weights": [0, 0]}, "Pass prefix_weights=None"),
        ({"prefixes": (2, 4), "prefix_weights": [1, -1]}, "Pass prefix_weights=None"),
        ({"residual": True}, r"Pass hidden=\(256,\), say, or residual=False"),
        ({"hidden": (0,)}, r"pass hidden=\(64, 64\)"),
        ({"device": "nowhere"}, 'Pass device="cpu"'),
        ({"optimizer_params": {"beta": 1}}, "'optimizer__betas'"),
        ({"callbacks": ["early"]}, r"such as skorch\.callbacks\.LRScheduler"),
        ({"validation_fraction": 0.001}, "Pass validation_fraction=None"),
        ({"lr": 1e300, "hidden": (8,)}, "lower 'lr'"),
        ({"objective": "speed"}, "'objective' parameter"),
        ({"init": "pca"}, "'init' parameter"),
        ({"lr": 0}, "'lr' parameter"),
        ({"max_epochs": 0}, "'max_epochs' parameter"),
    ],
)
def test_parameters_that_do_not_suit_are_refused(params, match):
    model = made(**params)
    with pytest.raises(ValueError, match=match):
        model.fit(X, Y)
    assert not hasattr(model, "components_")


@pytest.mark.parametrize(
    ("params", "passed", "match"),
    [
        ({"objective": "classes"}, {}, "Pass y with one class or number per row"),
        ({"objective": "pairs"}, {"y": Y}, r"set_fit_request\(pairs=True\)"),
        ({}, {"pairs": PAIRS[:5]}, "Select the same rows of both"),
        ({}, {"pairs": PAIRS[:, :5]}, "Encode both with one encoder"),
        ({}, {"pairs": np.full((N, D), np.nan)}, "SimpleImputer"),
        ({"batch_size": 1}, {"pairs": PAIRS}, 'Pass batch_size="auto", or 2 and more'),
        ({}, {"y": np.zeros(N, int)}, "Pass rows of two classes or more, or y=None"),
        ({}, {"y": np.full(N, np.nan)}, "drop such rows from X and y"),
        ({}, {"y": Y[:5]}, "pass those of the same rows"),
        ({"objective": "regression"}, {"y": Y.astype(str)}, 'objective="classes"'),
        ({}, {"y": Y, "sample_weight": -np.ones(N)}, "Pass sample_weight=None"),
        ({"objective": "teacher"}, {"sample_weight": np.ones(3)}, "array of shape"),
    ],
)
def test_data_that_do_not_suit_are_refused(params, passed, match):
    with pytest.raises(ValueError, match=match):
        made(**params).fit(X, **passed)


def test_pairs_that_all_share_a_row_are_refused():
    rule = 'Pass more pairs, or objective="teacher"'
    with pytest.raises(ValueError, match=rule):
        made().fit(X[:1], pairs=PAIRS[:1])
    with pytest.raises(ValueError, match=rule):
        made().fit(X[:9], pairs=np.repeat(PAIRS[:1], 9, axis=0))
    with pytest.raises(ValueError, match=rule):
        made().fit(X[[0, 0, 0]], pairs=PAIRS[[0, 1, 2]])
    made(max_epochs=1).fit(X[[0, 0, 1]], pairs=PAIRS[[0, 1, 2]])


def test_rows_that_do_not_suit_are_refused():
    model = made(max_epochs=1).fit(X, Y)
    for bad in (np.nan, np.inf):
        rows = X.copy()
        rows[2, 1] = bad
        for call in (model.fit, model.transform):
            with pytest.raises(ValueError, match=r"row 2, column 1\. .*SimpleImputer"):
                call(rows)
    with pytest.raises(ValueError, match=r"Divide all rows by one number"):
        model.fit(X * 1e200)
    with pytest.raises(TypeError, match="toarray"):
        model.fit(sp.csr_array(X))
    with pytest.raises(ValueError, match="12 features"):
        model.transform(X[:, :5])
    with pytest.raises(ValueError, match="from the encoder that made those of fit"):
        model.counterpart(X[:, :5])
    with pytest.raises(ValueError, match="13"):
        model.prefix(13)


def test_columns_in_another_order_are_refused_by_name():
    names = [f"column {j}" for j in range(D)]
    frame = pd.DataFrame(X, columns=names)
    model = made(max_epochs=1).fit(frame, Y)
    with pytest.raises(ValueError, match="in the same order"):
        model.transform(frame[names[::-1]])
    with pytest.raises(ValueError, match=r"pass X_other\[X\.columns\]"):
        model.counterpart(frame[names[::-1]])


def test_an_output_longer_than_the_prefixes_warns():
    with pytest.warns(UserWarning, match="Pass n_components=4, or add 12 to prefixes"):
        made(prefixes=(2, 4), n_components=12).fit(X, Y)
