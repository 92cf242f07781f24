"""Blocks and parts of rows: partial_fit and merge against fit on all rows."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from skrep.discriminant import LinearDiscriminantProjection
from tests.strategies import seeds

RNG = np.random.default_rng(0)
CODES = RNG.integers(0, 4, 300)
X = RNG.standard_normal((300, 5)) @ RNG.standard_normal((5, 5)) + 100
X += RNG.standard_normal((4, 5))[CODES]
LABELS = np.array(list("dabc"))[CODES]
MANY = (RNG.uniform(size=(300, 3)) < 0.4).astype(int)
NUMBERS = X[:, 0] + RNG.standard_normal(300)
EDGES = np.quantile(NUMBERS, [0.2, 0.5, 0.7])
CUTS = np.split(np.arange(300), [50, 51, 170, 290])

CASES = [
    (LinearDiscriminantProjection(), LABELS),
    (LinearDiscriminantProjection(5, shrinkage=0), LABELS),
    (LinearDiscriminantProjection(4, shrinkage=0.2), CODES),
    (LinearDiscriminantProjection(priors="uniform"), LABELS),
    (LinearDiscriminantProjection(4), MANY),
    (LinearDiscriminantProjection(shrinkage=0), MANY),
    (LinearDiscriminantProjection(slice_edges=EDGES), NUMBERS),
]
each = pytest.mark.parametrize(("estimator", "y"), CASES, ids=range(len(CASES)))


def agree(one, other):
    """Fitted states are equal up to rounding."""
    scale = np.abs(other.components_).max()
    assert_allclose(one.components_, other.components_, atol=1e-8 * scale)
    assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-9)
    assert_allclose(one.mean_, other.mean_, atol=1e-10)
    assert_allclose(
        one.explained_variance_ratio_, other.explained_variance_ratio_, atol=1e-9
    )
    assert_allclose(
        one.inverse_transform(one.transform(X[:9])),
        other.inverse_transform(other.transform(X[:9])),
    )
    if other.classes_ is None:
        assert one.classes_ is None
    else:
        assert_array_equal(one.classes_, other.classes_)


@each
@pytest.mark.parametrize("weighted", [False, True])
def test_blocks_are_all_rows(estimator, y, weighted):
    weights = RNG.integers(0, 3, len(X)) if weighted else np.ones(len(X))
    weights[:2] = weights[50] = 1
    whole = clone(estimator).fit(X, y, weights)
    streamed = clone(estimator)
    for rows in CUTS:
        assert streamed.partial_fit(X[rows], y[rows], weights[rows]) is streamed
    agree(streamed, whole)


@each
def test_merging_is_fitting_on_both(estimator, y):
    whole = clone(estimator).fit(X, y)
    one, other = (
        clone(estimator).fit(X[r], y[r]) for r in (slice(130), slice(130, 300))
    )
    before = pickle.dumps(other)
    assert one.merge(other) is one
    agree(one, whole)
    assert pickle.dumps(other) == before


@settings(deadline=None, max_examples=20)
@given(seed=seeds, n_parts=st.integers(2, 6))
def test_parts_merge_in_any_order(seed, n_parts):
    rng = np.random.default_rng(seed)
    parts = rng.integers(0, n_parts, len(X))
    order = rng.permutation(n_parts)
    model = LinearDiscriminantProjection(4)
    merged = clone(model)
    for k in order:
        fitted = clone(model).partial_fit(X[parts == k], LABELS[parts == k])
        merged = fitted if not hasattr(merged, "_state") else merged.merge(fitted)
    agree(merged, clone(model).fit(X, LABELS))


def test_a_fitted_model_takes_more_rows():
    model = LinearDiscriminantProjection().fit(X[:200], LABELS[:200])
    again = pickle.loads(pickle.dumps(model)).partial_fit(X[200:], LABELS[200:])
    agree(again, clone(model).fit(X, LABELS))


def test_new_classes_add_columns():
    few = np.isin(LABELS, ["a", "b"])
    model = LinearDiscriminantProjection().partial_fit(X[few], LABELS[few])
    assert model.n_components_ == 1
    agree(
        model.partial_fit(X[~few], LABELS[~few]),
        LinearDiscriminantProjection().fit(X, LABELS),
    )
    assert list(model.classes_) == list("abcd")


def test_rows_of_one_class_wait_for_another():
    model = LinearDiscriminantProjection()
    for label in "abcd":
        rows = label == LABELS
        model.partial_fit(X[rows], LABELS[rows])
        if label == "a":
            with pytest.raises(NotFittedError):
                model.transform(X)
    agree(model, LinearDiscriminantProjection().fit(X, LABELS))


def test_parts_of_one_class_each_merge():
    groups = [np.flatnonzero(k == CODES) for k in range(4)]
    parts = [
        LinearDiscriminantProjection().partial_fit(X[r], LABELS[r]) for r in groups
    ]
    for part in parts[1:]:
        parts[0].merge(part)
    agree(parts[0], LinearDiscriminantProjection().fit(X, LABELS))


def test_labels_that_do_not_vary_wait():
    rows = MANY[:, 0] == 1
    model = LinearDiscriminantProjection().partial_fit(X[rows], MANY[rows][:, [0, 0]])
    assert not hasattr(model, "components_")
    model.partial_fit(X[~rows], MANY[~rows][:, [0, 0]])
    agree(model, LinearDiscriminantProjection().fit(X, MANY[:, [0, 0]]))


def test_edges_are_frozen_at_the_first_block():
    model = LinearDiscriminantProjection().partial_fit(X[:100], NUMBERS[:100])
    edges = model.slice_edges_
    model.partial_fit(X[100:], NUMBERS[100:])
    assert_array_equal(model.slice_edges_, edges)
    agree(model, LinearDiscriminantProjection(slice_edges=edges).fit(X, NUMBERS))


def test_merging_mixes_float_types_to_the_wider():
    one = LinearDiscriminantProjection().fit(X[:100].astype(np.float32), LABELS[:100])
    other = LinearDiscriminantProjection().fit(X[100:], LABELS[100:])
    assert one.components_.dtype == np.float32
    assert one.merge(other).components_.dtype == np.float64


def test_nothing_is_kept_of_rows_that_are_refused():
    model = LinearDiscriminantProjection().fit(X, LABELS)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"Divide all rows by one number"):
        model.partial_fit(X * 1e200, LABELS)
    assert pickle.dumps(model) == before


@pytest.mark.parametrize(
    ("first", "then", "message"),
    [
        (LABELS, CODES, r"holds classes such as 0, and .* 'a'.*pass \[str\(label\)"),
        (LABELS, MANY, "has 3 columns, and the first rows had 1. Pass the same"),
        (MANY, LABELS, "has 1 columns, and the first rows had 3. Pass the same"),
        (MANY, MANY[:, :2], "has 2 columns, and the first rows had 3. Pass the same"),
        (NUMBERS, LABELS, r"holds labels such as .*Pass y.astype\(float\)"),
    ],
)
def test_blocks_of_another_kind_are_refused(first, then, message):
    model = LinearDiscriminantProjection().fit(X, first)
    with pytest.raises(
        ValueError, match=f"LinearDiscriminantProjection: 'y' {message}"
    ):
        model.partial_fit(X, then)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ((1, X, LABELS), "'n_components' is None here and 1 in.*fit clones of one"),
        (
            (None, X[:, :4], LABELS),
            "'other' was fitted on 4 columns.*Fit both on the same col",
        ),
        ((None, X, NUMBERS), "'other' has 'numbers', and this one 'classes'.*Fit both"),
        ((None, X, CODES), r"classes such as .*pass \[str\(label\) for label in y\]"),
    ],
)
def test_what_was_not_fitted_alike_is_not_merged(other, message):
    model = LinearDiscriminantProjection().fit(X, LABELS)
    k, rows, y = other
    fitted = LinearDiscriminantProjection(k).fit(rows, y)
    with pytest.raises(
        ValueError, match=rf"LinearDiscriminantProjection.merge: .*{message}"
    ):
        model.merge(fitted)


def test_other_edges_and_other_labels_are_not_merged():
    one, other = (
        LinearDiscriminantProjection().fit(X[r], NUMBERS[r])
        for r in (slice(130), slice(130, 300))
    )
    with pytest.raises(ValueError, match=r"slice_edges=first.slice_edges_"):
        one.merge(other)
    one, other = (LinearDiscriminantProjection().fit(X, MANY[:, :k]) for k in (2, 3))
    with pytest.raises(ValueError, match="has 3, and this one 2, as numbers of labels"):
        one.merge(other)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        (LinearDiscriminantProjection(), "'other' has seen no rows"),
        ("model", "'other' is a str"),
        (None, "'other' is a NoneType"),
    ],
)
def test_only_what_has_seen_rows_is_merged(other, message):
    model = LinearDiscriminantProjection().fit(X, LABELS)
    with pytest.raises(
        ValueError, match=f"{message}. Pass a LinearDiscriminantProjection after fit"
    ):
        model.merge(other)
    with pytest.raises(ValueError, match=r"seen no rows. Call fit or partial_fit"):
        LinearDiscriminantProjection().merge(model)


SHARES = [0.1, 0.2, 0.3, 0.4]


@pytest.mark.parametrize("merged", [False, True])
@pytest.mark.parametrize(
    ("estimator", "y", "first"),
    [
        (LinearDiscriminantProjection(priors=SHARES), LABELS, CODES < 2),
        (
            LinearDiscriminantProjection(priors=SHARES, slice_edges=EDGES),
            NUMBERS,
            EDGES[1] > NUMBERS,
        ),
        (LinearDiscriminantProjection(5), LABELS, np.arange(300) < 4),
        (LinearDiscriminantProjection(3), LABELS, np.arange(300) < 3),
    ],
    ids=["classes", "slices", "dimensions", "fewer"],
)
def test_rows_wait_for_what_the_parameters_ask(estimator, y, first, merged):
    model = clone(estimator).partial_fit(X[first], y[first])
    with pytest.raises(NotFittedError):
        model.transform(X)
    with pytest.raises(ValueError, match="Pass "):
        clone(estimator).fit(X[first], y[first])
    if merged:
        model.merge(clone(estimator).partial_fit(X[~first], y[~first]))
    else:
        model.partial_fit(X[~first], y[~first])
    agree(model, clone(estimator).fit(X, y))


def test_equal_rows_wait_for_others():
    model = LinearDiscriminantProjection().partial_fit(X[[0] * 4], LABELS[:4])
    assert not hasattr(model, "components_")
    assert model.partial_fit(X, LABELS).n_components_ == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"priors": [0.5, 0.4, 0.3]}, "Pass priors="),
        ({"priors": [0.4, 0.3, 0.3], "slice_edges": EDGES[:1]}, "Pass priors="),
        ({"n_components": 6}, "Pass n_components="),
        ({"n_components": True}, "Pass n_components="),
    ],
)
def test_what_no_rows_can_mend_is_refused_at_once(change, message):
    y = NUMBERS if "slice_edges" in change else np.arange(300) % 2
    with pytest.raises(ValueError, match=message):
        LinearDiscriminantProjection(**change).partial_fit(X, y)


def test_more_classes_than_priors_are_refused_and_nothing_is_lost():
    few = CODES < 3
    model = LinearDiscriminantProjection(priors=[0.2, 0.3, 0.5])
    model.partial_fit(X[few], CODES[few])
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"must hold 4 shares.*Pass priors=.uniform"):
        model.partial_fit(X, CODES)
    assert pickle.dumps(model) == before


def test_a_fitted_model_does_not_wait():
    model = LinearDiscriminantProjection(2).partial_fit(X[:4], LABELS[:4])
    before = pickle.dumps(model.set_params(n_components=5))
    with pytest.raises(ValueError, match=r"'n_components' is 5.*Pass n_components=3"):
        model.partial_fit(X[:4], LABELS[:4])
    assert pickle.dumps(model) == before


def test_after_a_failed_fit_rows_go_on():
    model = LinearDiscriminantProjection().fit(X[:200], LABELS[:200])
    with pytest.raises(ValueError, match="'y' has 1 class"):
        model.fit(X[:, :2], ["a"] * 300)
    model.partial_fit(X[200:], LABELS[200:])
    agree(model, LinearDiscriminantProjection().fit(X, LABELS))
    waiting = LinearDiscriminantProjection()
    with pytest.raises(ValueError, match="'shrinkage' is 2"):
        waiting.set_params(shrinkage=2).partial_fit(X[:, :2], LABELS)
    waiting.set_params(shrinkage="auto").partial_fit(X, LABELS)
    agree(waiting, LinearDiscriminantProjection().fit(X, LABELS))


@pytest.mark.parametrize("types", [("f8", "f4"), ("f4", "f8"), ("f4", "f4")])
def test_blocks_mix_float_types_to_the_wider(types):
    model = LinearDiscriminantProjection()
    for rows, dtype in zip(np.split(np.arange(300), 2), types, strict=True):
        model.partial_fit(X[rows].astype(dtype), LABELS[rows])
    assert model.components_.dtype == np.result_type(*types)


@pytest.mark.parametrize("merged", [False, True])
def test_integers_that_become_many_are_told(merged):
    y = np.arange(300) % 15
    model = LinearDiscriminantProjection().partial_fit(X, y)
    other = LinearDiscriminantProjection().partial_fit(X, y + 10)
    with pytest.warns(UserWarning, match=r"25 distinct integers.*held 15.*Pass targ"):
        model.merge(other) if merged else model.partial_fit(X, y + 10)
    model.partial_fit(X, y + 20)  # Told once.
    for sure, labels in (("classes", y), ("auto", y.astype(str))):
        model = LinearDiscriminantProjection(target_type=sure).partial_fit(X, labels)
        further = labels + 10 if sure == "classes" else np.char.add(labels, "x")
        assert len(model.partial_fit(X, further).classes_) > 20


def test_auto_shrinkage_counts_rows_of_light_weights():
    model = LinearDiscriminantProjection()
    one, light, heavy = (
        clone(model).fit(X, LABELS, np.full(300, w)).eigenvalues_ for w in (1, 0.1, 9)
    )
    assert_allclose(light, one)
    assert np.abs(heavy / one - 1).max() > 1e-4
