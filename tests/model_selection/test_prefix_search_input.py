"""What the search refuses, and the containers that it takes."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import LeaveOneOut
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrep.model_selection import PrefixSearchCV
from skrep.nested import NestedProjection
from skrep.utils.estimator_checks import parametrize_with_skrep_checks

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 8)) * np.linspace(3, 0.5, 8)
Y = X[:, 0] + 2 * X[:, 3]

SEARCHES = [
    PrefixSearchCV(PCA()),
    PrefixSearchCV(PCA(), LogisticRegression()),
    PrefixSearchCV(PCA(), Ridge()),
]


# scikit-learn itself casts infinite classes, and scores single rows.
@pytest.mark.filterwarnings("ignore:invalid value encountered in cast")
@parametrize_with_checks(SEARCHES)
def test_sklearn_checks(estimator, check):
    check(estimator)


# Splits of a few rows have no coefficient of determination.
@pytest.mark.filterwarnings("ignore:R.2 score is not well-defined")
@parametrize_with_skrep_checks(
    [PrefixSearchCV(PCA()), PrefixSearchCV(NestedProjection(), Ridge())]
)
def test_skrep_checks(estimator, check):
    check(type(estimator).__name__, estimator)


# --- errors ----------------------------------------------------------------------


@pytest.mark.parametrize("k", [0, -1, 20, 2.5, True, "all"])
def test_a_length_out_of_range_is_refused(k):
    with pytest.raises(ValueError, match=r"PrefixSearchCV: 'prefixes' holds .* to 8\."):
        PrefixSearchCV(PCA(), prefixes=[2, k]).fit(X)


def test_lengths_are_bounded_by_the_transformer():
    with pytest.raises(ValueError, match='Pass prefixes="powers", or integers up to 4'):
        PrefixSearchCV(PCA(4), prefixes=[2, 5]).fit(X)
    with pytest.raises(ValueError, match='Pass prefixes="powers"'):
        PrefixSearchCV(PCA(4), prefixes=[]).fit(X)


def test_a_head_needs_a_target():
    with pytest.raises(ValueError, match=r"Pass fit\(X, y\), or head=None"):
        PrefixSearchCV(PCA(), Ridge()).fit(X)


def test_a_named_score_needs_a_head():
    search = PrefixSearchCV(PCA(), scoring="accuracy")
    with pytest.raises(ValueError, match="Pass a head, such as"):
        search.fit(X)


def test_scoring_is_a_name_or_a_callable():
    with pytest.raises(ValueError, match="The 'scoring' parameter of PrefixSearchCV"):
        PrefixSearchCV(PCA(), Ridge(), scoring=["r2"]).fit(X, Y)
    with pytest.raises(ValueError, match="Got 'nothing' instead"):
        PrefixSearchCV(PCA(), Ridge(), scoring="nothing").fit(X, Y)


@pytest.mark.parametrize("score", [np.nan, np.inf, None, {"r2": 1.0}, "1"])
def test_a_score_is_one_finite_number(score):
    search = PrefixSearchCV(PCA(), scoring=lambda t, X, y: score)
    with pytest.raises(ValueError, match="Use another scoring, or splits on which"):
        search.fit(X)


@pytest.mark.parametrize("parameter", ["tolerance", "cv", "head", "estimator"])
def test_parameters_are_constrained(parameter):
    search = PrefixSearchCV(PCA()).set_params(**{parameter: -1})
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter"):
        search.fit(X)


@pytest.mark.parametrize(
    "candidates", [[], [PCA()], [("a", PCA(), 1)], [("a", PCA()), PCA()]]
)
def test_candidates_are_pairs(candidates):
    with pytest.raises(ValueError, match=r"Pass estimator=\[\("):
        PrefixSearchCV(candidates)._named()


@pytest.mark.parametrize("name", ["a", "b__c", "head", 1])
def test_names_of_candidates_are_names(name):
    with pytest.raises(ValueError, match="Names must be strings, each used once"):
        PrefixSearchCV([("a", PCA()), (name, PCA())]).fit(X)


@pytest.mark.parametrize("thing", [PCA, Ridge(), None])
def test_candidates_are_transformers(thing):
    with pytest.raises(TypeError, match="an instance with fit and transform"):
        PrefixSearchCV([("a", thing)])._named()


def test_a_row_alone_has_no_neighbors():
    with pytest.raises(ValueError, match="Use fewer splits, such as cv=5"):
        PrefixSearchCV(PCA(), cv=LeaveOneOut()).fit(X)


def test_no_split_is_refused():
    with pytest.raises(ValueError, match="Pass a number of splits, such as cv=5"):
        PrefixSearchCV(PCA(), cv=[]).fit(X)


def test_errors_of_parts_begin_with_the_search():
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"PrefixSearchCV: Input X contains NaN"):
        PrefixSearchCV(PCA()).fit(bad)
    with pytest.raises(ValueError, match=r"PrefixSearchCV: Input X contains NaN"):
        PrefixSearchCV(StandardScaler(), Ridge()).fit(bad, Y)
    model = PrefixSearchCV(PCA()).fit(X)
    with pytest.raises(ValueError, match=r"PrefixSearchCV: Input X contains NaN"):
        model.transform(bad)
    with pytest.raises(ValueError, match="X has 7 features, but PrefixSearchCV"):
        model.transform(X[:, 1:])
    with pytest.raises(
        ValueError, match="PrefixSearchCV: Cannot have number of splits"
    ):
        PrefixSearchCV(PCA()).fit(X[:3])


def test_metadata_that_no_part_takes_are_refused():
    with pytest.raises(TypeError, match=r"name the step of a Pipeline .* step__pairs="):
        PrefixSearchCV(PCA(), Ridge()).fit(X, Y, pairs=X)
    with pytest.raises(TypeError, match="fit got 'sample_weight'"):
        PrefixSearchCV(PCA()).fit(X, sample_weight=np.ones(60))
    with pytest.raises(TypeError, match="which the scorer does not take"):
        PrefixSearchCV(PCA()).fit(X).score(X, sample_weight=np.ones(60))


def test_steps_of_a_pipeline_get_metadata_by_name():
    weight = np.arange(60.0)
    pipeline = make_pipeline(StandardScaler(), PCA())
    search = PrefixSearchCV(pipeline, Ridge(), prefixes=[8])
    search.fit(X, Y, standardscaler__sample_weight=weight)
    mean = search.best_estimator_[0].mean_
    assert_allclose(mean, np.average(X, axis=0, weights=weight))


# --- predictions -----------------------------------------------------------------


def test_predictions_are_there_where_the_head_has_them():
    plain = PrefixSearchCV(PCA())
    for method in ("predict", "predict_proba", "decision_function"):
        assert not hasattr(plain, method)
        assert not hasattr(plain.fit(X), method)
    with pytest.raises(AttributeError) as missing:
        plain.predict(X)
    assert "Pass head=" in str(missing.value.__cause__)
    search = PrefixSearchCV(PCA(), LinearSVC())
    assert hasattr(search, "decision_function")
    assert not hasattr(search, "predict_proba")
    assert not hasattr(search, "classes_")
    assert not hasattr(PrefixSearchCV(PCA(), Ridge()).fit(X, Y), "classes_")


def test_several_outputs():
    targets = np.column_stack([Y, X[:, 1]])
    search = PrefixSearchCV(PCA(), LinearRegression(), prefixes=[8]).fit(X, targets)
    assert_allclose(search.predict(X), targets)


def test_tags_come_from_the_parts():
    assert get_tags(PrefixSearchCV(PCA())).estimator_type is None
    tags = get_tags(PrefixSearchCV(PCA(), LogisticRegression()))
    assert tags.estimator_type == "classifier"
    assert tags.target_tags.required
    assert tags.input_tags.sparse
    mixed = PrefixSearchCV([("a", PCA()), ("b", FrozenEstimator(PCA()))], Ridge())
    assert get_tags(mixed).estimator_type == "regressor"


# --- containers ------------------------------------------------------------------


def test_frames_in_and_out():
    frame = pd.DataFrame(X, columns=list("abcdefgh"), index=range(100, 160))
    search = PrefixSearchCV(PCA(), Ridge(), prefixes=[4]).set_output(transform="pandas")
    out = search.fit(frame, pd.Series(Y, index=frame.index)).transform(frame)
    assert list(out) == ["pca0", "pca1", "pca2", "pca3"]
    assert list(out.index) == list(frame.index)
    assert list(search.feature_names_in_) == list("abcdefgh")
    plain = PrefixSearchCV(PCA(), Ridge(), prefixes=[4]).fit(X, Y)
    assert_allclose(out, plain.transform(X))
    with pytest.raises(ValueError, match="must be in the same order"):
        search.transform(frame[list("bacdefgh")])


def test_parts_that_give_frames():
    estimator = PCA().set_output(transform="pandas")
    search = PrefixSearchCV(estimator, Ridge(), prefixes=[4]).fit(X, Y)
    plain = PrefixSearchCV(PCA(), Ridge(), prefixes=[4]).fit(X, Y)
    assert_array_equal(search.predict(X), plain.predict(X))


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
def test_sparse_rows_and_sparse_outputs(container):
    rows = container(np.where(np.abs(X) > 1, X, 0))
    svd = TruncatedSVD(6, algorithm="arpack", random_state=0)
    for head in (None, Ridge()):
        sparse = PrefixSearchCV(svd, head, prefixes=[2, 6]).fit(rows, Y)
        dense = PrefixSearchCV(svd, head, prefixes=[2, 6]).fit(rows.toarray(), Y)
        scores = [s.cv_results_["mean_test_score"] for s in (sparse, dense)]
        assert_allclose(*scores, rtol=1e-6)
        kept = PrefixSearchCV(StandardScaler(with_mean=False), head, prefixes=[2, 6])
        out = kept.fit(rows, Y).transform(rows)
        assert sp.issparse(out)
        scaled = StandardScaler(with_mean=False).fit_transform(rows.toarray())
        assert_allclose(out.toarray(), scaled[:, : kept.best_prefix_])


def test_texts():
    texts = [f"say{i % 7} word{i % 3} word{i % 3}" for i in range(40)]
    labels = np.arange(40) % 3
    pipeline = make_pipeline(TfidfVectorizer(), TruncatedSVD(6, random_state=0))
    search = PrefixSearchCV(pipeline, LogisticRegression(C=100), prefixes=[2, 6])
    assert search.fit(texts, labels).score(texts, labels) == 1
    assert search.predict(texts[:2]).tolist() == [0, 1]


def test_a_frozen_transformer_is_not_refitted():
    frozen = FrozenEstimator(PCA().fit(X[:30]))
    search = PrefixSearchCV(frozen, Ridge(), prefixes=[3]).fit(X, Y)
    assert_allclose(search.transform(X), PCA(3).fit(X[:30]).transform(X))
