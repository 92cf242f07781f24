"""Blocks and parts of rows: partial_fit and merge against fit on all rows."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skrep.datasets import make_index_model
from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)

X, Y, _ = make_index_model(
    600, 4, links=["ratio", "even"], design="ar1", random_state=0
)
NUMBERS = Y[:, 0]
LABELS = np.array(list("abc"))[np.digitize(NUMBERS, np.quantile(NUMBERS, [0.3, 0.7]))]
EDGES = np.quantile(NUMBERS, [0.1, 0.3, 0.5, 0.7, 0.9])
BOTH = [EDGES, np.quantile(Y[:, 1], [0.25, 0.5, 0.75])]
CUTS = np.split(np.arange(600), [100, 101, 350, 590])

CASES = [
    *(
        (cls(slice_edges=EDGES), NUMBERS)
        for cls in (
            SlicedInverseRegression,
            SlicedAverageVarianceEstimation,
            DirectionalRegression,
        )
    ),
    *((SteinIndex(order=k, slice_edges=EDGES), NUMBERS) for k in (1, 2, "both")),
    *((SteinIndex(order=k, response="raw"), NUMBERS) for k in (1, 2, "both")),
    (SteinIndex(response="raw"), Y),
    (SteinIndex(slice_edges=BOTH), Y),
    (DirectionalRegression(slice_edges=BOTH), Y),
    (PrincipalHessianDirections(), NUMBERS),
    (PrincipalHessianDirections(), Y),
    *((SteinIndex(order=k), LABELS) for k in (1, 2, "both")),
    (SlicedInverseRegression(), LABELS),
    (SlicedAverageVarianceEstimation(), LABELS),
    (DirectionalRegression(), LABELS),
    (SteinIndex(n_components="auto"), LABELS),
    (SteinIndex(shrinkage=0.1, slice_edges=EDGES), NUMBERS),
]
each = pytest.mark.parametrize(("estimator", "y"), CASES, ids=range(len(CASES)))


def agree(one, other):
    """Fitted states are equal up to rounding."""
    scale = np.abs(other.components_).max()
    assert_allclose(one.components_, other.components_, atol=1e-8 * scale)
    assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-10)
    assert_allclose(one.mean_, other.mean_, atol=1e-12)
    assert_allclose(one.noise_edge_, other.noise_edge_, rtol=1e-9)
    assert one.n_components_ == other.n_components_


@each
def test_blocks_are_all_rows(estimator, y):
    whole = clone(estimator).fit(X, y)
    streamed = clone(estimator)
    for rows in CUTS:
        assert streamed.partial_fit(X[rows], y[rows]) is streamed
    agree(streamed, whole)


@each
def test_merging_is_fitting_on_both(estimator, y):
    whole = clone(estimator).fit(X, y)
    one, other = (
        clone(estimator).fit(X[r], y[r]) for r in (slice(250), slice(250, 600))
    )
    before = pickle.dumps(other)
    assert one.merge(other) is one
    agree(one, whole)
    assert pickle.dumps(other) == before


@each
def test_weighted_blocks_are_weighted_rows(estimator, y):
    w = np.random.default_rng(1).integers(0, 3, 600).astype(float)
    w[CUTS[1]] = 1
    whole = clone(estimator).fit(X, y, sample_weight=w)
    streamed = clone(estimator)
    for rows in CUTS:
        streamed.partial_fit(X[rows], y[rows], sample_weight=w[rows])
    agree(streamed, whole)


@each
def test_a_fixed_order_of_blocks_gives_the_same_bits(estimator, y):
    fits = []
    for _ in range(2):
        streamed = clone(estimator)
        for rows in CUTS:
            streamed.partial_fit(X[rows], y[rows])
        fits.append(streamed)
    assert_array_equal(fits[0].components_, fits[1].components_)
    assert_array_equal(fits[0].eigenvalues_, fits[1].eigenvalues_)


def test_the_first_rows_settle_the_slices():
    first = CUTS[2]
    for estimator in (SlicedInverseRegression(), SteinIndex(), DirectionalRegression()):
        streamed = clone(estimator).partial_fit(X[first], NUMBERS[first])
        edges = streamed.slice_edges_
        streamed.partial_fit(X, NUMBERS)
        assert_array_equal(streamed.slice_edges_, edges)
        rows = np.r_[first, np.arange(600)]
        given = clone(estimator).set_params(slice_edges=edges)
        agree(streamed, given.fit(X[rows], NUMBERS[rows]))


def test_fit_starts_afresh():
    fitted = SteinIndex().partial_fit(X[:300], NUMBERS[:300] + 9)
    agree(fitted.fit(X, NUMBERS), SteinIndex().fit(X, NUMBERS))


def test_fit_goes_on_by_partial_fit():
    model = SteinIndex(slice_edges=EDGES).fit(X[:300], NUMBERS[:300])
    model.partial_fit(X[300:], NUMBERS[300:])
    agree(model, SteinIndex(slice_edges=EDGES).fit(X, NUMBERS))


def test_a_pickle_goes_on():
    model = SteinIndex(slice_edges=EDGES).partial_fit(X[:300], NUMBERS[:300])
    model = pickle.loads(pickle.dumps(model))
    model.partial_fit(X[300:], NUMBERS[300:])
    agree(model, SteinIndex(slice_edges=EDGES).fit(X, NUMBERS))


def test_the_state_holds_no_rows():
    sizes = [
        len(
            pickle.dumps(
                DirectionalRegression(slice_edges=EDGES).fit(X[:n], NUMBERS[:n])
            )
        )
        for n in (200, 600)
    ]
    assert abs(sizes[1] - sizes[0]) < 100


def test_new_classes_may_come_at_any_time():
    order = np.argsort(LABELS, kind="stable")
    streamed = SteinIndex()
    for rows in np.split(order, [300, 450]):
        if len(np.unique(LABELS[rows])) == 1:
            rows = np.r_[rows, order[:1]]
        streamed.partial_fit(X[rows], LABELS[rows])
    assert streamed.n_components_ == 4
    one = SlicedInverseRegression().fit(X[:60], np.where(LABELS[:60] == "a", "x", "y"))
    one.merge(SlicedInverseRegression().fit(X, LABELS))
    assert one.n_components_ == 4


def test_a_later_block_may_hold_one_row_or_one_class():
    streamed = SteinIndex().fit(X[:300], LABELS[:300])
    rows = np.flatnonzero(LABELS == "b")
    streamed.partial_fit(X[rows], LABELS[rows]).partial_fit(X[:1], LABELS[:1])
    rows = np.r_[:300, rows, 0]
    agree(streamed, SteinIndex().fit(X[rows], LABELS[rows]))


def test_float32_blocks_are_added_up_in_float64():
    far = (X * 50 + 1e6).astype(np.float32)
    streamed = SteinIndex(slice_edges=EDGES)
    for rows in CUTS:
        streamed.partial_fit(far[rows], NUMBERS[rows])
    whole = SteinIndex(slice_edges=EDGES).fit(far.astype(float), NUMBERS)
    assert streamed.components_.dtype == np.float32
    scale = np.abs(whole.components_).max()
    assert_allclose(streamed.components_, whole.components_, atol=1e-4 * scale)


# --- what cannot be joined ---------------------------------------------------------


def test_other_edges_are_refused():
    one, other = (SlicedInverseRegression().fit(X[r], NUMBERS[r]) for r in CUTS[2:4])
    before = one.components_.copy()
    with pytest.raises(ValueError, match=r"slice_edges=first\.slice_edges_"):
        one.merge(other)
    assert_array_equal(one.components_, before)


def test_other_parameters_are_refused():
    one = SteinIndex(slice_edges=EDGES).fit(X, NUMBERS)
    other = SteinIndex(slice_edges=EDGES, order=1).fit(X, NUMBERS)
    with pytest.raises(ValueError, match=r"'order' is 'both' here .* fit clones"):
        one.merge(other)
    with pytest.raises(ValueError, match="'other' is a SlicedInverseRegression"):
        one.merge(SlicedInverseRegression().fit(X, NUMBERS))


def test_long_edges_are_compared_whole():
    many = np.linspace(NUMBERS.min(), NUMBERS.max(), 2002)[1:-1]
    moved = many.copy()
    moved[1000] += 1e-4
    one, other = (
        SlicedInverseRegression(slice_edges=e).fit(X, NUMBERS) for e in (many, moved)
    )
    with pytest.raises(ValueError, match="slice_edges"):
        one.merge(other)


def test_other_columns_are_refused():
    pandas = pytest.importorskip("pandas")
    one = SteinIndex(slice_edges=EDGES).fit(X, NUMBERS)
    other = SteinIndex(slice_edges=EDGES).fit(X[:, :3], NUMBERS)
    with pytest.raises(ValueError, match="Fit both on the same columns"):
        one.merge(other)
    frames = [pandas.DataFrame(X, columns=list(names)) for names in ("abcd", "abdc")]
    one, other = (SteinIndex(slice_edges=EDGES).fit(frame, NUMBERS) for frame in frames)
    with pytest.raises(ValueError, match="in the same order"):
        one.merge(other)


def test_responses_of_another_width_are_refused():
    model = SteinIndex(response="raw").fit(X, Y)
    with pytest.raises(ValueError, match="Pass the same responses in every block"):
        model.partial_fit(X, NUMBERS)


def test_other_kinds_of_responses_are_refused():
    with pytest.raises(ValueError, match="slice_edges_"):
        SteinIndex().fit(X, NUMBERS).merge(SteinIndex().fit(X, LABELS))
    numbered = SteinIndex().fit(X, np.arange(600) % 3)
    with pytest.raises(ValueError, match=r"pass \[str\(label\) for label in y\]"):
        numbered.partial_fit(X, LABELS)
    with pytest.raises(ValueError, match=r"pass \[str\(label\) for label in y\]"):
        numbered.merge(SteinIndex().fit(X, LABELS))
    with pytest.raises(ValueError, match=r"Pass y.astype\(float\)"):
        SteinIndex().fit(X, NUMBERS).partial_fit(X, LABELS)


def test_a_refused_block_leaves_the_fit_as_it_was():
    model = SteinIndex(slice_edges=EDGES).fit(X, NUMBERS)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="4 features"):
        model.partial_fit(X[:, :3], NUMBERS)
    with pytest.raises(ValueError, match="drop such rows"):
        model.partial_fit(X, np.where(np.arange(600) == 5, np.nan, NUMBERS))
    assert pickle.dumps(model) == before


def test_the_first_block_needs_two_rows_and_two_values():
    with pytest.raises(ValueError, match="minimum of 2"):
        SteinIndex().partial_fit(X[:1], NUMBERS[:1])
    with pytest.raises(ValueError, match="pass rows of several values"):
        SteinIndex().partial_fit(X[:5], np.ones(5))


def test_merging_needs_a_fit():
    with pytest.raises(ValueError, match="not fitted"):
        SteinIndex().merge(SteinIndex().fit(X, NUMBERS))
    with pytest.raises(ValueError, match="fitted by fit or partial_fit with y"):
        SteinIndex().fit(X, NUMBERS).merge(SteinIndex())


@pytest.mark.parametrize(
    "model", ["student", "mixture", "denoising", "auto", np.negative]
)
def test_other_scores_need_all_rows_at_once(model):
    stein = SteinIndex(score_model=model)
    assert not hasattr(stein, "partial_fit")
    assert not hasattr(stein, "merge")
    with pytest.raises(
        AttributeError, match="has no attribute 'partial_fit'"
    ) as caught:
        stein.partial_fit(X, NUMBERS)
    assert 'score_model="gaussian" alone; call fit' in str(caught.value.__cause__)
