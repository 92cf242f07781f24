"""The estimator: parameters, errors, names, decoding, memory."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.stats import ortho_group
from sklearn.base import clone
from sklearn.pipeline import FeatureUnion

from skrep.datasets import make_parallel_spaces
from skrep.relative import RelativeRepresentation
from skrep.relative._kinds import SIMILARITIES

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 5)) * [3, 2, 1, 1, 0.5] + [1, 0, 5, 0, 0]


def unit(rows, mean):
    rows = rows - mean
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.mark.parametrize(("dtype", "atol"), [(np.float64, 1e-10), (np.float32, 1e-5)])
def test_default_output_does_not_see_a_similarity_map(dtype, atol):
    rng = np.random.default_rng(1)
    rows = (rng.standard_normal((400, 24)) * np.linspace(3, 0.2, 24) + 1).astype(dtype)
    Q = ortho_group.rvs(24, random_state=1)
    moved = (2.5 * rows.astype(float) @ Q + 3 * rng.standard_normal(24)).astype(dtype)
    outputs = [
        RelativeRepresentation(random_state=0).fit(Z).transform(Z)
        for Z in (rows, moved)
    ]
    assert outputs[0].dtype == dtype
    np.testing.assert_allclose(*outputs, atol=atol)


@pytest.mark.parametrize("whiten", ["gram", None])
@pytest.mark.parametrize("scale", [True, False])
@pytest.mark.parametrize(
    "similarity", [name for name, entry in SIMILARITIES.items() if entry.decodes]
)
def test_inverse_transform(similarity, whiten, scale):
    model = RelativeRepresentation(
        20, similarity=similarity, whiten=whiten, scale=scale, random_state=0
    ).fit(X)
    back = model.inverse_transform(model.transform(X))
    if not SIMILARITIES[similarity].normalizes:
        np.testing.assert_allclose(back, X, atol=1e-9)
        return
    if similarity == "mahalanobis":
        L = np.linalg.cholesky(np.linalg.inv(np.cov(X.T, bias=True)))
    else:
        L = np.eye(5)
    np.testing.assert_allclose(
        unit(back @ L, model.mean_ @ L), unit(X @ L, model.mean_ @ L), atol=1e-7
    )
    lengths = np.linalg.norm((back - model.mean_) @ L, axis=1)
    mean_length = np.linalg.norm((X - model.mean_) @ L, axis=1).mean()
    np.testing.assert_allclose(lengths, mean_length, rtol=1e-9)


@pytest.mark.parametrize(
    "similarity", [name for name, entry in SIMILARITIES.items() if entry.decodes]
)
def test_inverse_transform_in_float32_with_more_anchors_than_columns(similarity):
    rows = np.random.default_rng(0).standard_normal((300, 40)).astype(np.float32)
    model = RelativeRepresentation(60, similarity=similarity, random_state=0).fit(rows)
    back = model.inverse_transform(model.transform(rows))
    assert back.dtype == np.float32
    cosines = (unit(back, model.mean_) * unit(rows, model.mean_)).sum(axis=1)
    if similarity != "mahalanobis":
        assert cosines.min() > 1 - 1e-4


def test_few_anchors_decode_into_their_span():
    model = RelativeRepresentation(2, similarity="inner", random_state=0).fit(X)
    back = model.inverse_transform(model.transform(X)) - model.mean_
    assert np.linalg.matrix_rank(back, tol=1e-9) == 2


@pytest.mark.parametrize("similarity", ["manhattan", "chebyshev", "rank", np.dot])
def test_what_cannot_be_decoded_says_so(similarity):
    model = RelativeRepresentation(5, similarity=similarity)
    assert not hasattr(model, "inverse_transform")
    with pytest.raises(AttributeError) as caught:
        _ = model.inverse_transform
    assert "Use one of" in str(caught.value.__cause__)


def test_dropped_similarities_cannot_be_decoded():
    with pytest.raises(AttributeError) as caught:
        _ = RelativeRepresentation(top_k=3).inverse_transform
    assert "top_k=None" in str(caught.value.__cause__)


def test_inverse_transform_of_another_width():
    model = RelativeRepresentation(5, random_state=0).fit(X)
    with pytest.raises(ValueError, match="Pass the output of transform"):
        model.inverse_transform(X[:, :3])


def test_top_k_keeps_the_largest():
    params = {"n_anchors": 10, "random_state": 0}
    dense = RelativeRepresentation(**params).fit(X).transform(X)
    kept = RelativeRepresentation(top_k=3, **params).fit(X).transform(X)
    assert isinstance(kept, sp.csr_array)
    assert (np.diff(kept.indptr) == 3).all()
    third = np.sort(dense, axis=1)[:, [-3]]
    np.testing.assert_array_equal(kept.toarray(), np.where(dense >= third, dense, 0))


def test_top_k_keeps_the_float_type():
    rows = X.astype(np.float32)
    kept = RelativeRepresentation(10, top_k=3, random_state=0).fit_transform(rows)
    assert kept.dtype == np.float32


def test_top_k_in_frames_fails_as_in_scikit_learn():
    model = RelativeRepresentation(10, top_k=3, random_state=0)
    with pytest.raises(ValueError, match="sparse"):
        model.set_output(transform="pandas").fit_transform(X)


@pytest.mark.parametrize(
    ("params", "remedy"),
    [
        ({"top_k": 11}, "Use top_k=10 or less"),
        ({"top_k": 2, "similarity": "euclidean"}, "top_k=None"),
        ({"anchors": [0, 60]}, "positions from 0 to 59"),
        ({"anchors": [-1]}, "positions from 0 to 59"),
        ({"anchors": [0.5, 1.0]}, "must be integers"),
        ({"anchors": np.zeros(60, dtype=bool)}, "must be integers"),
        ({"anchors": []}, "at least one"),
        ({"anchors": X[:3, :4]}, "has 4 columns and X has 5"),
        ({"anchors": np.zeros((2, 5)), "center": False}, "anchor 0 of 'anchors' eq"),
        ({"anchors": np.full((2, 5), np.nan)}, "anchors contains NaN"),
        ({"anchors": np.full((2, 5), np.inf)}, "anchors contains inf"),
        ({"selection": "stratified"}, "Call fit\\(X, y\\)"),
        ({"selection": "best"}, "'selection' parameter"),
        ({"n_anchors": 0}, "'n_anchors' parameter"),
        ({"similarity": "dot"}, "'similarity' parameter"),
    ],
)
def test_bad_parameters(params, remedy):
    model = RelativeRepresentation(**{"n_anchors": 10, "random_state": 0, **params})
    with pytest.raises(ValueError, match=remedy) as caught:
        model.fit(X)
    assert "RelativeRepresentation" in str(caught.value) or "anchors" in remedy


def test_zero_anchor_is_named_by_its_position():
    anchors = np.vstack([X[:3], X.mean(axis=0, keepdims=True)])
    with pytest.raises(ValueError, match=r"anchor 3 .* np.delete\(anchors, 3"):
        RelativeRepresentation(anchors=anchors).fit(X)


def test_mahalanobis_needs_more_rows_than_columns():
    with pytest.raises(ValueError, match="PCA"):
        RelativeRepresentation(3, similarity="mahalanobis").fit(X[:5])


def test_stratified_refuses_numbers():
    with pytest.raises(ValueError, match="label type"):
        RelativeRepresentation(5, selection="stratified").fit(X, X[:, 0])


def test_equal_rows_are_refused():
    with pytest.raises(ValueError, match="all rows are equal"):
        RelativeRepresentation(5).fit(np.ones((4, 3)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_the_first_bad_entry_is_named(bad):
    frame = pd.DataFrame(X.copy(), columns=list("abcde"))
    frame.loc[7, "c"] = bad
    with pytest.raises(ValueError, match=r"row 7, column 'c'.*SimpleImputer"):
        RelativeRepresentation(5).fit(frame)
    S = sp.csr_array(frame.to_numpy())
    with pytest.raises(ValueError, match="row 7, column 2"):
        RelativeRepresentation(5).fit(S)


@pytest.mark.parametrize("similarity", ["angular", "chebyshev", "mahalanobis", np.dot])
def test_sparse_rows_are_refused_with_a_remedy(similarity):
    with pytest.raises(TypeError, match="toarray"):
        RelativeRepresentation(5, similarity=similarity).fit(sp.csr_array(X))


def test_feature_names_are_the_labels_of_the_anchors():
    labels = [f"animal {i // 2}" for i in range(60)]
    frame = pd.DataFrame(X, index=labels)
    frame.columns = [f"x{j}" for j in range(5)]
    model = RelativeRepresentation(anchors=[4, 5, 9]).fit(frame)
    assert list(model.get_feature_names_out()) == ["animal 2", "animal 2_2", "animal 4"]
    out = model.set_output(transform="pandas").transform(frame)
    assert list(out.columns) == list(model.get_feature_names_out())
    assert list(out.index) == labels


def test_feature_names_without_labels():
    frame = pd.DataFrame(X)
    model = RelativeRepresentation(anchors=[4, 5]).fit(frame)
    assert list(model.get_feature_names_out()) == [
        "relativerepresentation0",
        "relativerepresentation1",
    ]


def test_wide_sparse_rows_in_a_frame():
    S = sp.random(50, 10_000, 0.002, format="csr", random_state=0)
    model = RelativeRepresentation(20, random_state=0).set_output(transform="pandas")
    out = model.fit_transform(S)
    assert out.shape == (50, 20)
    assert np.isfinite(out.to_numpy()).all()


def test_wide_sparse_rows_stay_sparse():
    n, per_row = 20_000, 20
    rng = np.random.default_rng(0)
    S = sp.csr_array(
        (
            rng.standard_normal(n * per_row).astype(np.float32),
            rng.integers(0, 100_000, n * per_row),
            np.arange(0, n * per_row + 1, per_row),
        ),
        shape=(n, 100_000),
    )
    model = RelativeRepresentation(64, selection="uniform", random_state=0)
    tracemalloc.start()
    out = model.fit(S).transform(S)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Dense rows would take 8 GB; the anchors and their directions take 26 MB each.
    assert peak - out.nbytes < 400e6
    assert np.isfinite(out).all()


def test_anchor_vectors_are_copied():
    anchors = X[:4].copy()
    model = RelativeRepresentation(anchors=anchors).fit(X)
    before = model.transform(X)
    anchors[:] = 0
    np.testing.assert_array_equal(model.transform(X), before)


def test_product_of_invariances_is_a_union():
    A, B = make_parallel_spaces(relation="similarity", random_state=0)
    union = FeatureUnion(
        [
            (name, RelativeRepresentation(anchors=range(12), similarity=name))
            for name in ("cosine", "euclidean", "rank")
        ]
    )
    outputs = [clone(union).fit(Z).transform(Z) for Z in (A, B)]
    assert outputs[0].shape == (500, 36)
    np.testing.assert_allclose(*outputs, atol=1e-8)


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_entries_are_found_by_transform(similarity, bad):
    model = RelativeRepresentation(5, similarity=similarity, random_state=0).fit(X)
    rows = X.copy()
    rows[7, 2] = bad
    with pytest.raises(ValueError, match="row 7, column 2"):
        model.transform(rows)
