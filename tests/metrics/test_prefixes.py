"""Scores of every prefix, against each prefix scored on its own."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import silhouette_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.datasets import load_mammals
from skrep.metrics import (
    ndcg_at_k,
    neighbor_overlap,
    prefix_area,
    prefix_scores,
    recall_at_k,
)
from skrep.nested import Truncate


class Counted(TransformerMixin, BaseEstimator):
    """Gives the rows back, and counts how often it is asked to."""

    def __init__(self, normalize=False):
        self.normalize = normalize
        self.n_calls = 0

    def fit(self, X, y=None):
        self.n_columns_ = X.shape[1]
        return self

    def transform(self, X):
        self.n_calls += 1
        return X


@pytest.fixture(scope="module")
def rows():
    """Sixty rows of width 12, their classes and numbers, and queries."""
    rng = np.random.default_rng(0)
    classes = np.arange(60) % 3
    X = rng.standard_normal((60, 12)) + 1.5 * np.eye(12)[classes]
    numbers = X[:, 0] + 0.1 * rng.standard_normal(60)
    queries = X[:40] + 0.8 * rng.standard_normal((40, 12))
    return X, classes, numbers, queries


def test_each_score_is_that_of_the_prefix_alone(rows):
    X, classes, numbers, queries = rows
    pca = PCA().fit(X)
    Z, Q = pca.transform(X), pca.transform(queries)
    options = {"prefixes": [3, 1, 12], "n_neighbors": 5, "k": 4}
    relevant = np.arange(40)[::-1]
    scores = prefix_scores(
        pca, X, classes, queries=queries, relevant=relevant, **options
    )
    regression = prefix_scores(pca, X, numbers, **options)["knn"]
    assert list(scores) == [
        *("prefix", "neighbor_overlap", "knn", "recall_at_k", "ndcg_at_k")
    ]
    for i, n in enumerate([1, 3, 12]):
        z, q = Z[:, :n], Q[:, :n]
        expected = {
            "prefix": n,
            "neighbor_overlap": neighbor_overlap(X, z, n_neighbors=5),
            "recall_at_k": recall_at_k(q, z, k=4, relevant=relevant),
            "ndcg_at_k": ndcg_at_k(q, z, k=4, relevant=relevant),
        }
        for name, value in expected.items():
            assert_allclose(scores[name][i], value, rtol=1e-12)
        if n == 1:
            continue
        model = KNeighborsRegressor(n_neighbors=5, metric="cosine")
        told = cross_val_predict(model, z, numbers, cv=LeaveOneOut())
        off = np.sum((numbers - told) ** 2) / np.sum((numbers - numbers.mean()) ** 2)
        assert_allclose(regression[i], 1 - off, rtol=1e-10)


def test_the_vote_equals_scikit_learn_where_no_two_classes_tie(rows):
    X, classes, *_ = rows
    halves = classes > 0
    scores = prefix_scores(Counted(), X, halves, prefixes=[4, 12], n_neighbors=5)
    for i, n in enumerate([4, 12]):
        model = KNeighborsClassifier(n_neighbors=5, metric="cosine")
        told = cross_val_predict(model, X[:, :n], halves, cv=LeaveOneOut())
        assert_allclose(scores["knn"][i], np.mean(told == halves), rtol=1e-12)


def test_classes_that_tie_share_the_vote():
    # Each row's three nearest are all the others.
    X = np.array([[1.0, 0.0], [1.0, 0.1], [1.0, 0.2], [1.0, 0.3]])
    scores = prefix_scores(Counted(), X, list("aabc"), prefixes=[2], n_neighbors=3)
    # a sees a, b, c; b sees a twice; so does c.
    assert_allclose(scores["knn"], [(1 / 3 + 1 / 3 + 0 + 0) / 4])


def test_a_collapsed_prefix_votes_for_the_largest_class():
    X = np.column_stack([np.ones(9), np.linspace(0.1, 1, 9)])
    y = ["a"] * 6 + ["b"] * 3
    scores = prefix_scores(Counted(), X, y, prefixes=[1, 2], n_neighbors=3)
    assert_allclose(scores["knn"][0], 6 / 9)


def test_what_y_holds_can_be_said(rows):
    X, classes, *_ = rows
    as_classes = prefix_scores(Counted(), X, classes)["knn"]
    as_strings = prefix_scores(Counted(), X, classes.astype(str))["knn"]
    as_numbers = prefix_scores(Counted(), X, classes.astype(float))["knn"]
    told = prefix_scores(Counted(), X, classes, target_type="numbers")["knn"]
    assert_array_equal(as_classes, as_strings)
    assert_array_equal(as_numbers, told)
    assert (as_classes != as_numbers).any()


def test_one_transform_of_each_side(rows):
    X, _, _, queries = rows
    documents, other = Counted(), Counted()
    prefix_scores(documents, X, queries=queries, query_estimator=other)
    assert (documents.n_calls, other.n_calls) == (1, 1)
    prefix_scores(documents, X, queries=queries)
    assert documents.n_calls == 3


def test_queries_go_through_their_own_estimator(rows):
    X, _, _, queries = rows
    pca = PCA().fit(X)
    twin = PCA().fit(X)
    twin.mean_ = queries.mean(axis=0)
    found = prefix_scores(pca, X, queries=queries, query_estimator=twin, k=3)
    expected = recall_at_k(twin.transform(queries), pca.transform(X), k=3)
    assert_allclose(found["recall_at_k"][-1], expected)


def test_lengths_are_sorted_and_unique(rows):
    X = rows[0]
    expected = prefix_scores(Counted(), X, prefixes=[1, 5, 12])
    found = prefix_scores(Counted(), X, prefixes=np.array([12, 5, 5, 1, 12]))
    assert_array_equal(found["prefix"], [1, 5, 12])
    assert_array_equal(found["neighbor_overlap"], expected["neighbor_overlap"])
    assert_array_equal(prefix_scores(Counted(), X)["prefix"], [8, 12])


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("wrap", [make_pipeline, FrozenEstimator, lambda step: step])
def test_own_scores_get_prefixes_of_norm_one_where_the_estimator_does(
    rows, wrap, normalize
):
    X, classes, *_ = rows
    estimator = wrap(Counted(normalize).fit(X))
    seen = []

    def norm(Z, y):
        assert_array_equal(y, classes)
        seen.append(Z.shape[1])
        return np.linalg.norm(Z, axis=1).mean()

    scores = prefix_scores(
        estimator,
        X,
        classes,
        prefixes=[2, 12],
        scoring={"norm": norm, "silhouette": silhouette_score},
    )
    assert seen == [2, 12]
    plain = [np.linalg.norm(X[:, :n], axis=1).mean() for n in (2, 12)]
    assert_allclose(scores["norm"], [1, 1] if normalize else plain)
    assert list(scores)[-2:] == ["norm", "silhouette"]
    alone = prefix_scores(estimator, X, classes, prefixes=[2, 12], scoring=norm)
    assert_array_equal(alone["score"], scores["norm"])


def test_the_result_is_a_frame(rows):
    X, classes, _, queries = rows
    scores = prefix_scores(PCA().fit(X), X, classes, queries=queries)
    frame = pd.DataFrame(scores)
    assert frame.shape == (2, 5)
    assert pl.DataFrame(scores).columns == list(scores)
    assert frame["prefix"].dtype == np.int64
    assert (frame.drop(columns="prefix").dtypes == np.float64).all()


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames_and_pipelines(rows, backend):
    X, classes, *_ = rows
    names = [f"x{i}" for i in range(12)]
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[backend](
        dict(zip(names, X.T, strict=True))
    )
    plain = make_pipeline(StandardScaler(), PCA()).fit(X)
    named = make_pipeline(StandardScaler(), PCA()).set_output(transform=backend)
    expected = prefix_scores(plain, X, classes)
    found = prefix_scores(named.fit(frame), frame, classes)
    for name, values in expected.items():
        assert_allclose(found[name], values, rtol=1e-12)


def test_sparse_rows(rows):
    X = np.clip(rows[0], 0, None)
    for form in (sp.csr_array, sp.csr_matrix):
        svd = TruncatedSVD(5, random_state=0).fit(form(X))
        found = prefix_scores(svd, form(X))["neighbor_overlap"]
        expected = prefix_scores(svd, X)["neighbor_overlap"]
        assert_allclose(found, expected, rtol=1e-12)


def test_float32_and_read_only_rows(rows):
    X = np.round(4 * rows[0]).astype(np.float32)
    X.flags.writeable = False
    seen = []

    def score(Z, y):
        seen.append(Z.dtype)
        return 0

    found = prefix_scores(Counted(), X, scoring=score)
    expected = prefix_scores(Counted(), X.astype(float), scoring=score)
    assert seen == [np.float32] * 2 + [np.float64] * 2
    assert_array_equal(found["neighbor_overlap"], expected["neighbor_overlap"])


def test_zero_prefixes_and_zero_rows(rows):
    X = rows[0].copy()
    X[:, 0] = 0
    X[5] = 0
    scores = prefix_scores(
        Counted(normalize=True),
        X,
        prefixes=[1, 2],
        queries=X[:9],
        scoring=lambda Z, y: Z[5].sum(),
    )
    assert_allclose(scores["neighbor_overlap"][0], (59 * 10 / 59 + 1) / 60)
    assert_allclose(scores["recall_at_k"][0], 10 / 60)
    assert_array_equal(scores["score"], [0, 0])


def test_pca_of_the_mammals_climbs():
    mammals, lemmas = load_mammals(), load_mammals(text="lemma")
    pca = PCA(random_state=0).fit(mammals.data[::2])
    scores = prefix_scores(
        pca,
        mammals.data[1::2],
        mammals.target[1::2],
        queries=lemmas.data[1::2],
        target_type="classes",
    )
    for name in ("neighbor_overlap", "knn", "recall_at_k", "ndcg_at_k"):
        assert scores[name][0] < scores[name][2] < scores[name][4]


def test_errors_name_parameter_rule_and_remedy(rows):
    X, classes, _, queries = rows
    good = Counted()

    def fails(match, estimator=good, X=X, y=None, kind=ValueError, **options):
        with pytest.raises(kind, match=match) as error:
            prefix_scores(estimator, X, y, **options)
        assert str(error.value).startswith("prefix_scores: ")
        assert "\n" not in str(error.value)

    for bad in (0, -1, 20, 2.5, True):
        rule = "'prefixes' holds .* from 1 to 12. Pass prefixes="
        fails(rule, prefixes=[4, bad])
    fails("'n_neighbors' is 60 .*n_neighbors=59", n_neighbors=60)
    fails("'n_neighbors' is 2.5.*from 1 up", n_neighbors=2.5)
    fails("'k' is 0.*Pass k=10", k=0)
    fails("'y' has 3 entries, but X has 60 rows", y=[1, 2, 3])
    rule = "'target_type' is 'labels'.*Pass target_type="
    fails(rule, y=classes, target_type="labels")
    for name, value in (("relevant", [0]), ("query_estimator", good)):
        fails(f"'{name}' is given.*Pass queries=", **{name: value})
    fails("'queries' has 3 columns.*counterpart", queries=queries[:, :3])
    fails("more queries. Pass relevant=", queries=np.vstack([X, X]))
    rule = "a str is to transform 'X'.*Pass a fitted"
    fails(rule, estimator="pca", kind=TypeError)
    rule = "a int is to transform 'queries'.*Pass a fitted"
    fails(rule, queries=queries, query_estimator=3, kind=TypeError)
    for scoring in ("accuracy", {"a": "accuracy"}):
        rule = "'scoring' holds 'accuracy'.*Pass a function"
        fails(rule, scoring=scoring, kind=TypeError)
    fails("'knn', as one that is there.*another name", scoring={"knn": len})
    sparse = sp.csr_array(np.abs(X))
    selector = VarianceThreshold().fit(sparse)
    rule = r"makes sparse rows.*Put TruncatedSVD\(\)"
    fails(rule, estimator=selector, X=sparse, kind=TypeError)
    fails("contains NaN. Drop such rows", X=np.where(X > 2, np.nan, X))


@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_prefixes_have_the_norms_of_the_fit(normalize, piped):
    X = np.random.default_rng(0).standard_normal((30, 6))
    cut = Truncate(normalize=normalize)
    estimator = make_pipeline(StandardScaler(), cut).fit(X) if piped else cut.fit(X)
    cut.set_params(normalize=not normalize)

    def length(Z, y):
        return np.linalg.norm(Z, axis=1).mean()

    scores = prefix_scores(estimator, X, prefixes=[2, 4], scoring=length)["score"]
    rows = StandardScaler().fit_transform(X) if piped else X
    own = [np.linalg.norm(rows[:, :k], axis=1).mean() for k in (2, 4)]
    assert_allclose(scores, 1 if normalize else own)


@given(
    lengths=st.lists(st.integers(1, 500), min_size=2, max_size=9, unique=True),
    seed=st.integers(0, 2**32 - 1),
)
def test_area_is_the_mean_height_over_doublings(lengths, seed):
    scores = np.random.default_rng(seed).uniform(-1, 1, len(lengths))
    order = np.argsort(lengths)
    x, y = np.log2(np.array(lengths)[order]), scores[order]
    expected = np.trapezoid(y, x) / (x[-1] - x[0])
    assert_allclose(prefix_area(lengths, scores), expected, rtol=1e-9, atol=1e-12)
    assert scores.min() - 1e-12 <= prefix_area(lengths, scores) <= scores.max() + 1e-12
    constant = np.full(len(lengths), 0.3)
    assert_allclose(prefix_area(lengths, constant), 0.3)


def test_area_of_one_prefix_and_of_doublings():
    assert prefix_area([16], [0.4]) == 0.4
    assert prefix_area([1], [0.4]) == 0.4
    assert_allclose(prefix_area([32, 8, 16], [0.5, 0.2, 0.4]), 0.375)


def test_area_errors():
    with pytest.raises(ValueError, match="Pass one score per prefix"):
        prefix_area([1, 2], [0.5])
    with pytest.raises(ValueError, match="Pass one score per prefix"):
        prefix_area([[1, 2]], [[0.5, 0.5]])
    for bad in ([0, 2], [2, 2], [0.5, 1]):
        with pytest.raises(ValueError, match=r"be there once\. Pass the arrays"):
            prefix_area(bad, [0.5, 0.5])
    with pytest.raises(ValueError, match=r"^prefix_area: Input scores contains NaN"):
        prefix_area([1, 2], [0.5, np.nan])
