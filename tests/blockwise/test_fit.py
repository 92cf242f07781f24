"""Fits from blocks equal fits of all rows at once."""

import numpy as np
import pandas as pd
import pytest
from joblib import parallel_config
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from skrep.blockwise import fit_blocks
from skrep.discriminant import LinearDiscriminantProjection
from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)
from skrep.nested import NestedProjection

N, D = 330, 5


def rows(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D)) @ rng.normal(size=(D, D)) + 3
    number = X[:, 0] ** 2 + X[:, 1] + 0.1 * rng.normal(size=N)
    return X, number


# Sorted by y, no block is like the whole.
X, NUMBER = (part[np.argsort(rows()[1])] for part in rows())
CLASSES = np.digitize(NUMBER, np.quantile(NUMBER, [0.3, 0.7]))
TARGETS = {
    "numbers": NUMBER,
    "integers": CLASSES,
    "labels": np.array(["a", "b", "c"])[CLASSES],
    "several": np.column_stack([NUMBER, X[:, 2]]),
    "none": None,
}
WEIGHTS = np.arange(N) % 3 + 0.5

CASES = [
    (NestedProjection(3), "none"),
    (NestedProjection(3, objective="classes"), "labels"),
    (NestedProjection(3, objective="classes"), "integers"),
    (NestedProjection(3, objective="classes"), "numbers"),
    (LinearDiscriminantProjection(), "labels"),
    (LinearDiscriminantProjection(), "integers"),
    (LinearDiscriminantProjection(2), "numbers"),
    (SteinIndex(2), "numbers"),
    (SteinIndex(2, response="raw"), "numbers"),
    (SteinIndex(2, response="raw", clip=2.0), "numbers"),
    (SteinIndex(2), "several"),
    (SteinIndex("auto"), "labels"),
    (SlicedInverseRegression(2), "numbers"),
    (SlicedAverageVarianceEstimation(2), "numbers"),
    (DirectionalRegression(2), "integers"),
    (PrincipalHessianDirections(2), "numbers"),
]


def cut(y, weights=None, n_blocks=7):
    parts = np.array_split(np.arange(N), n_blocks)
    return [
        tuple(part[at] for part in (X, y, weights) if part is not None) for at in parts
    ]


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["even", "weighted"])
@pytest.mark.parametrize(
    ("estimator", "target"), CASES, ids=lambda case: str(case).replace(" ", "")
)
def test_blocks_give_what_all_rows_give(estimator, target, weights):
    y = TARGETS[target]
    if y is None:
        blocks = [(block[0], None, *block[1:]) for block in cut(None, weights)]
    else:
        blocks = cut(y, weights)
    found = fit_blocks(estimator, blocks)
    whole = type(estimator)(**estimator.get_params()).fit(X, y, sample_weight=weights)
    assert_allclose(found.components_, whole.components_, rtol=1e-8, atol=1e-8)
    assert_allclose(found.transform(X), whole.transform(X), rtol=1e-8, atol=1e-8)
    with pytest.raises(NotFittedError):
        check_is_fitted(estimator)


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_change_nothing(backend):
    alone = fit_blocks(SteinIndex(2), cut(NUMBER))
    with parallel_config(backend=backend):
        shared = fit_blocks(SteinIndex(2), cut(NUMBER), n_jobs=2)
    assert_array_equal(shared.components_, alone.components_)


def test_the_fit_can_be_taken_further():
    blocks = cut(NUMBER)[::-1]
    edges = np.quantile(NUMBER, [0.2, 0.4, 0.6, 0.8])
    model = SlicedInverseRegression(1, slice_edges=edges)
    found = fit_blocks(model, blocks[:4]).partial_fit(*blocks[4])
    found.merge(fit_blocks(model, blocks[5:]))
    assert_allclose(found.components_, model.fit(X, NUMBER).components_, rtol=1e-8)


def test_float32_stays_and_mixed_types_widen():
    single = [X[:100].astype(np.float32), X[100:].astype(np.float32)]
    assert fit_blocks(NestedProjection(2), single).components_.dtype == np.float32
    mixed = fit_blocks(NestedProjection(2), [single[0], X[100:]])
    assert mixed.components_.dtype == np.float64


@pytest.mark.parametrize(
    ("estimator", "blocks"),
    [
        (NestedProjection(2), (block[0] for block in cut(NUMBER))),
        (NestedProjection(2, objective="classes"), iter(cut(TARGETS["labels"]))),
        (SlicedInverseRegression(2, slice_edges=[12.0, 25.0]), iter(cut(NUMBER)[3:])),
        (LinearDiscriminantProjection(target_type="classes"), iter(cut(CLASSES))),
    ],
)
def test_one_pass_is_enough_where_the_reading_of_y_is_settled(estimator, blocks):
    assert hasattr(fit_blocks(estimator, blocks), "components_")


@pytest.mark.parametrize("y", [NUMBER, CLASSES], ids=["numbers", "integers"])
def test_an_iterator_is_refused_where_two_passes_are_needed(y):
    with pytest.raises(ValueError, match=r"Pass a list or.*slice_edges=\.\.\."):
        fit_blocks(LinearDiscriminantProjection(), iter(cut(y)))


def test_frames_keep_their_names_and_other_columns_are_refused():
    frame = pd.DataFrame(X, columns=list("abcde"))
    found = fit_blocks(NestedProjection(2), [frame[:50], frame[50:]])
    assert_array_equal(found.feature_names_in_, list("abcde"))
    with pytest.raises(ValueError, match="feature names should match"):
        fit_blocks(NestedProjection(2), [frame[:50], frame[50:][list("bacde")]])
    with pytest.raises(ValueError, match="4 features"):
        fit_blocks(NestedProjection(2), [X[:50], X[50:, :4]])


@pytest.mark.parametrize(
    ("estimator", "blocks", "error", "message"),
    [
        (PCA(), [X], TypeError, r"is a PCA.*such as skrep.nested.NestedProjection"),
        (NestedProjection, [X], TypeError, r"Pass an instance: NestedProjection\(\)"),
        (NestedProjection(), [], ValueError, r"Pass one tuple \(X, y\)"),
        (NestedProjection(), X, TypeError, r"np.array_split\(X, 10\)"),
        (NestedProjection(), [(X, None, None, None)], ValueError, "a tuple of 4"),
        (NestedProjection(0), [X], ValueError, "'n_components'"),
        (NestedProjection(objective="pairs"), [X], TypeError, "'objective'"),
        (SteinIndex(order=7), [(X, NUMBER)], ValueError, "'order'"),
        (SteinIndex(score_model="student"), [X], TypeError, "'score_model'"),
        (SteinIndex(), [X], ValueError, r"Pass tuples \(X, y\)"),
        (SteinIndex(), iter([X]), ValueError, "requires y to be passed"),
        (SteinIndex(), [(X, NUMBER[:9])], ValueError, "9 entries, but X has 330"),
    ],
)
def test_what_cannot_be_fitted_is_refused(estimator, blocks, error, message):
    with pytest.raises(error, match=message):
        fit_blocks(estimator, blocks)
