"""The choice of anchors."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans

from skrep.exceptions import FewerColumnsWarning
from skrep.relative import RelativeRepresentation
from skrep.relative._selection import GEOMETRIC, SELECTIONS
from tests.strategies import seeds

RNG = np.random.default_rng(3)
X = RNG.standard_normal((80, 6)) * [3, 2, 1, 1, 1, 0.5]
Y = np.repeat(["a", "b", "c"], [60, 15, 5])


def chosen(selection, n_anchors=10, rows=X, y=Y, **fit_params):
    model = RelativeRepresentation(n_anchors, selection=selection, random_state=0)
    return model.fit(rows, y, **fit_params).anchor_indices_


@pytest.mark.parametrize("selection", sorted(SELECTIONS))
def test_anchors_are_distinct_rows(selection):
    model = RelativeRepresentation(10, selection=selection, random_state=0).fit(X, Y)
    assert len(set(model.anchor_indices_)) == model.n_anchors_ == 10
    np.testing.assert_array_equal(model.anchors_, X[model.anchor_indices_])


@pytest.mark.parametrize("selection", sorted(SELECTIONS))
def test_duplicates_serve_once(selection):
    rows = np.repeat(X[:12], 5, axis=0)
    y = np.repeat(["a", "b"], 30)
    assert len(np.unique(rows[chosen(selection, 12, rows, y)], axis=0)) == 12
    with pytest.warns(FewerColumnsWarning, match="n_anchors=12"):
        assert len(chosen(selection, 13, rows, y)) == 12


def test_one_warning_when_rows_are_few():
    with pytest.warns(FewerColumnsWarning, match="set n_anchors=5") as caught:
        model = RelativeRepresentation(random_state=0).fit(X[:5])
    assert len(caught) == 1
    assert model.n_anchors_ == 5
    assert model.transform(X).shape == (80, 5)


def test_farthest_is_gonzalez():
    expected = [int(np.argmax(np.linalg.norm(X - X.mean(axis=0), axis=1)))]
    while len(expected) < 10:
        expected.append(int(np.argmax(cdist(X, X[expected]).min(axis=1))))
    np.testing.assert_array_equal(chosen("farthest"), expected)


def test_leverage_is_pivoted_qr_then_farthest():
    pivots = scipy.linalg.qr((X - X.mean(axis=0)).T, pivoting=True)[2]
    found = chosen("leverage")
    np.testing.assert_array_equal(found[:6], pivots[:6])
    taken = list(found[:6])
    for i in found[6:]:
        assert i == np.argmax(cdist(X, X[taken]).min(axis=1))
        taken.append(i)


def test_kmeans_takes_rows_near_the_centers():
    centers = np.eye(6)[:4] * 20
    rows = np.repeat(centers, 20, axis=0) + 0.1 * RNG.standard_normal((80, 6))
    found = chosen("kmeans", 4, rows)
    reference = KMeans(4, n_init=1, random_state=0).fit(rows)
    nearest = [
        np.argmin(np.linalg.norm(rows - c, axis=1)) for c in reference.cluster_centers_
    ]
    assert set(found) == set(nearest)


def test_kmeans_uses_a_spread_of_many_rows():
    rows = np.random.default_rng(0).standard_normal((3000, 2))
    assert len(set(chosen("kmeans", 3, rows, None))) == 3


def test_kmeans_of_many_rows_follows_the_weights():
    rows = np.random.default_rng(0).standard_normal((4000, 2))
    rows[7] = [30.0, 30.0]
    weights = np.ones(4000)
    weights[7] = 3000
    found = chosen("kmeans", 3, rows, None, sample_weight=weights)
    assert 7 in found


def test_stratified_follows_the_shares():
    counts = dict(
        zip(*np.unique(Y[chosen("stratified", 16)], return_counts=True), strict=True)
    )
    assert counts == {"a": 12, "b": 3, "c": 1}


def test_stratified_shares_follow_the_weights():
    weights = np.where(Y == "c", 12.0, 1.0)
    found = Y[chosen("stratified", 9, sample_weight=weights)]
    assert (found == "c").sum() == 4


@pytest.mark.parametrize("selection", sorted(GEOMETRIC))
def test_sparse_and_dense_rows_give_the_same_anchors(selection):
    S = sp.random(70, 20, 0.3, format="csr", random_state=1)
    np.testing.assert_array_equal(
        chosen(selection, 8, S, None), chosen(selection, 8, S.toarray(), None)
    )


@given(seed=seeds)
def test_farthest_does_not_see_the_order_of_rows(seed):
    order = np.random.default_rng(seed).permutation(80)
    np.testing.assert_array_equal(
        order[chosen("farthest", rows=X[order])], chosen("farthest")
    )


@given(seed=seeds, selection=st.sampled_from(sorted(SELECTIONS)))
def test_weights_are_repetitions(seed, selection):
    weights = np.random.default_rng(seed).integers(0, 4, size=80)
    weights[:12] = 1
    weights[-1] = 1
    weighted = X[chosen(selection, sample_weight=weights)]
    rows, y = np.repeat(X, weights, axis=0), np.repeat(Y, weights)
    np.testing.assert_array_equal(weighted, rows[chosen(selection, rows=rows, y=y)])


@pytest.mark.parametrize("selection", ["uniform", "stratified", "kmeans"])
def test_another_seed_gives_other_anchors(selection):
    sets = {
        tuple(
            RelativeRepresentation(10, selection=selection, random_state=seed)
            .fit(X, Y)
            .anchor_indices_
        )
        for seed in range(4)
    }
    assert len(sets) > 1


def test_one_row_however_it_is_stored():
    S = sp.random(30, 12, 0.4, format="csr", random_state=0)
    long = sp.csr_array(sp.coo_array(S))
    long.indices, long.indptr = (
        a.astype(np.int64) for a in (long.indices, long.indptr)
    )
    split = sp.csr_array(
        (np.repeat(S.data / 2, 2), np.repeat(S.indices, 2), 2 * S.indptr), S.shape
    )
    C = sp.coo_array(S)
    gap = np.argmax(S.toarray()[0] == 0)
    places = (np.append(C.row, 0), np.append(C.col, gap))
    padded = sp.csr_array(sp.coo_array((np.append(C.data, 0.0), places), C.shape))
    for selection in ("kmeans", "farthest", "uniform"):
        expected = chosen(selection, 8, S, None)
        for other in (long, split, padded):
            np.testing.assert_array_equal(chosen(selection, 8, other, None), expected)
    assert long.indices.dtype == np.int64
    assert (split.nnz, padded.nnz) == (2 * S.nnz, S.nnz + 1)


def test_negative_zero_is_zero():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0], [0.0, -3.0]])
    with pytest.warns(FewerColumnsWarning, match="n_anchors=3"):
        assert len(chosen("uniform", 4, rows, None)) == 3


def test_rows_without_direction_are_passed_over():
    rows = np.vstack([np.zeros((3, 6)), X])
    model = RelativeRepresentation(83, center=False, selection="uniform")
    with pytest.warns(FewerColumnsWarning, match="80"):
        model.fit(rows)
    assert model.anchor_indices_.min() == 3
