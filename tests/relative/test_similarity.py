"""Similarities against second implementations, and their laws."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from scipy.spatial.distance import cdist, pdist, squareform
from scipy.stats import rankdata
from sklearn.metrics.pairwise import cosine_similarity

from skrep.relative import RelativeRepresentation
from skrep.relative._kinds import SIMILARITIES
from tests.strategies import matrices

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5)) * [3, 2, 1, 1, 0.5] + [1, 0, 5, 0, 0]
ANCHORS = [3, 8, 20, 21]


def bare(similarity, **params):
    return RelativeRepresentation(
        anchors=ANCHORS, similarity=similarity, whiten=None, scale=False, **params
    )


def mean_distance(metric):
    return squareform(pdist(X[ANCHORS], metric)).sum() / (4 * 3)


def naive(similarity):
    C = X - X.mean(axis=0)
    A = C[ANCHORS]
    cosines = cosine_similarity(C, A)
    if similarity == "cosine":
        return cosines
    if similarity == "angular":
        return np.arccos(np.clip(cosines, -1, 1)) / np.pi
    if similarity == "inner":
        return C @ A.T / np.mean((A**2).sum(axis=1))
    if similarity == "rank":
        return rankdata(cosines, axis=1) / 4
    if similarity == "mahalanobis":
        W = np.linalg.cholesky(np.linalg.inv(np.cov(X.T)))
        return cosine_similarity(C @ W, A @ W)
    metric = {"manhattan": "cityblock"}.get(similarity, similarity)
    return cdist(X, X[ANCHORS], metric) / mean_distance(metric)


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_against_a_naive_form(similarity):
    np.testing.assert_allclose(
        bare(similarity).fit(X).transform(X), naive(similarity), atol=1e-7
    )


def test_callable():
    def product(rows, anchors):
        return rows @ anchors.T

    np.testing.assert_allclose(
        bare(product).fit(X).transform(X), X @ X[ANCHORS].T, rtol=1e-12
    )


@pytest.mark.parametrize(
    ("similarity", "got"),
    [
        (lambda rows, anchors: rows, "shape \\(40, 5\\)|shape \\(4, 5\\)"),
        (lambda rows, anchors: rows @ anchors.T * np.nan, "NaN"),
    ],
)
def test_a_callable_that_returns_something_else(similarity, got):
    with pytest.raises(ValueError, match=f"returned ({got}).*lambda X, A: X @ A.T"):
        bare(similarity).fit(X).transform(X)


def test_uncentered_cosine():
    np.testing.assert_allclose(
        bare("cosine", center=False).fit(X).transform(X),
        cosine_similarity(X, X[ANCHORS]),
        rtol=1e-12,
    )


@pytest.mark.parametrize("similarity", ["euclidean", "manhattan", "chebyshev"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_a_row_is_at_distance_zero_from_itself(similarity, dtype, offset):
    rows = (X + offset).astype(dtype)
    distances = bare(similarity).fit(rows).transform(rows)
    assert (distances[ANCHORS, range(4)] == 0).all()


@pytest.mark.parametrize("similarity", ["euclidean", "manhattan", "chebyshev"])
def test_distances_far_from_the_origin_keep_their_digits(similarity):
    rows = (X + 1e4).astype(np.float32)
    single = bare(similarity).fit(rows).transform(rows)
    double = bare(similarity).fit(rows.astype(float)).transform(rows.astype(float))
    np.testing.assert_allclose(single, double, rtol=1e-5)


def test_angle_to_itself_is_zero():
    angles = bare("angular").fit(X.astype(np.float32)).transform(X.astype(np.float32))
    assert (angles[ANCHORS, range(4)] <= 4 * np.finfo(np.float32).eps).all()


@pytest.mark.parametrize("whiten", ["gram", None])
@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_whitening_and_scale_are_what_they_say(similarity, whiten):
    plain = naive(similarity)
    if whiten:
        K = plain[ANCHORS]
        K = (K + K.T) / 2
        values, V = np.linalg.eigh(K)
        sizes = np.abs(values) + np.abs(values).mean()
        plain = plain @ (V / np.sqrt(sizes)) @ V.T
    expected = (plain - plain.mean(axis=0)) / plain.std(axis=0)
    model = RelativeRepresentation(
        anchors=ANCHORS, similarity=similarity, whiten=whiten
    ).fit(X)
    np.testing.assert_allclose(model.transform(X), expected, atol=1e-6)


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(
    "similarity", [name for name, entry in SIMILARITIES.items() if entry.sparse]
)
def test_sparse_rows_give_the_dense_result(similarity, center, container):
    S = sp.random(60, 25, 0.3, format="csr", random_state=0)
    model = RelativeRepresentation(
        8, selection="farthest", similarity=similarity, center=center
    )
    dense = model.fit(S.toarray()).transform(S.toarray())
    np.testing.assert_allclose(model.fit(container(S)).transform(S), dense, atol=1e-9)
    back = model.fit(container(S))
    assert sp.issparse(back.anchors_)


@pytest.mark.parametrize("center", [True, False])
def test_zero_rows_have_similarity_zero(center):
    rows = np.vstack([X, np.zeros((1, 5))])
    rows -= rows.mean(axis=0) * center
    rows[-1] = 0
    rows -= rows.mean(axis=0) * center
    model = bare("cosine", center=center).fit(rows)
    last = model.mean_ if center else np.zeros(5)
    np.testing.assert_array_equal(model.transform(last[None]), np.zeros((1, 4)))


@pytest.mark.parametrize("unit", [1e-160, 1e-300, 1e120])
def test_cosines_do_not_depend_on_the_unit(unit):
    model = bare("cosine", center=False)
    expected = cosine_similarity(X, X[ANCHORS])
    np.testing.assert_allclose(model.fit(X * unit).transform(X * unit), expected)


@given(rows=matrices(min_rows=6, min_columns=2))
def test_cosines_are_bounded_and_one_for_the_anchor(rows):
    model = RelativeRepresentation(
        anchors=[0, 1], whiten=None, scale=False, center=False
    ).fit(rows)
    R = model.transform(rows)
    assert np.abs(R).max() <= 1 + 1e-12
    np.testing.assert_allclose(R[[0, 1], [0, 1]], 1, rtol=1e-12)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize(
    "similarity", [name for name, entry in SIMILARITIES.items() if entry.sparse]
)
def test_fitted_on_one_container_and_used_on_the_other(similarity, center):
    S = sp.random(60, 25, 0.3, format="csr", random_state=0)
    model = RelativeRepresentation(
        8, selection="farthest", similarity=similarity, center=center
    )
    expected = model.fit(S.toarray()).transform(S.toarray())
    np.testing.assert_allclose(model.transform(S), expected, atol=1e-9)
    np.testing.assert_allclose(model.fit(S).transform(S.toarray()), expected, atol=1e-9)


def test_sparse_float32_rows_far_from_the_origin():
    counts = np.random.default_rng(0).poisson(1000, (200, 50)) + 3000.0
    model = RelativeRepresentation(8, selection="farthest")
    expected = model.fit(counts).transform(counts)
    S = sp.csr_array(counts.astype(np.float32))
    np.testing.assert_allclose(model.fit(S).transform(S), expected, atol=1e-3)


@pytest.mark.parametrize(("dtype", "unit"), [("f4", 1e5), ("f4", 1e25), ("f8", 1e9)])
def test_mahalanobis_does_not_depend_on_the_units_of_columns(dtype, unit):
    model = RelativeRepresentation(anchors=ANCHORS, similarity="mahalanobis")
    expected = model.fit(X).transform(X)
    rows = (X * [unit, 1, 1, 1, 1]).astype(dtype)
    np.testing.assert_allclose(model.fit(rows).transform(rows), expected, atol=1e-3)


def test_equal_cosines_share_a_rank():
    rows = np.array([[1.0, 0], [0, 1], [1, 1], [-1, 2], [3, 1]])
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    model = RelativeRepresentation(
        anchors=[0, 1], similarity="rank", center=False, whiten=None, scale=False
    )
    np.testing.assert_array_equal(
        model.fit(rows).transform(rows), model.fit(rows @ turn).transform(rows @ turn)
    )
    assert (model.transform((rows @ turn)[[2]]) == 0.75).all()
