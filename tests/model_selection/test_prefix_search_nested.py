"""The search over nested projections."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrep.datasets import load_mammals
from skrep.metrics import recall_at_k
from skrep.model_selection import PrefixSearchCV
from skrep.nested import NestedProjection, Truncate

MAMMALS = load_mammals()
CV = KFold(3, shuffle=True, random_state=0)


def recall(transformer, X, y, pairs):
    return recall_at_k(transformer.transform(pairs), transformer.transform(X), k=1)


@parametrize_with_checks(
    [PrefixSearchCV([("cut", Truncate()), ("axes", NestedProjection())])]
)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("normalize", [False, True])
def test_equals_refitting_for_every_length(normalize):
    X, y = MAMMALS.data[:200, :24], MAMMALS.depth[:200].astype(float)
    projection = NestedProjection(objective="classes", normalize=normalize)
    pipeline = Pipeline([("nested", projection), ("head", Ridge())])
    grid = GridSearchCV(pipeline, {"nested__n_components": [3, 9, 24]}, cv=3)
    grid.fit(X, y)
    search = PrefixSearchCV(projection, Ridge(), prefixes=[3, 9, 24], cv=3).fit(X, y)
    for i in range(3):
        key = f"split{i}_test_score"
        assert_allclose(search.cv_results_[key], grid.cv_results_[key], rtol=1e-6)


def test_the_winner_is_the_prefix_of_one_fit():
    X = MAMMALS.data
    search = PrefixSearchCV(NestedProjection(), tolerance=0.1, cv=CV).fit(X)
    assert isinstance(search.best_estimator_, NestedProjection)
    assert search.best_estimator_.n_components == search.best_prefix_
    expected = NestedProjection().fit(X).prefix(search.best_prefix_).transform(X)
    assert_array_equal(search.transform(X), expected)
    names = search.get_feature_names_out()
    assert list(names) == [f"nestedprojection{i}" for i in range(search.best_prefix_)]


def test_pairs_reach_the_candidates_and_the_score_that_take_them():
    X, pairs = MAMMALS.gloss["minilm"], MAMMALS.lemma["minilm"]
    own = [("cut", Truncate()), ("pairs", NestedProjection(objective="pairs"))]
    search = PrefixSearchCV(own, scoring=recall, prefixes=[32, 256], cv=CV)
    search.fit(X, pairs=pairs)
    assert search.best_candidate_ == "pairs"
    train, test = next(CV.split(X))
    short = clone(own[1][1]).set_params(n_components=32)
    short.fit(X[train], pairs=pairs[train])
    expected = recall(short, X[test], None, pairs[test])
    assert search.cv_results_["split0_test_score"][2] == pytest.approx(expected)


def test_vectors_trained_to_be_cut_are_just_cut():
    X, pairs = MAMMALS.gloss["wordllama"], MAMMALS.lemma["wordllama"]
    own = [("axes", NestedProjection()), ("cut", Truncate())]
    search = PrefixSearchCV(own, scoring=recall, tolerance=0.05, cv=CV)
    assert search.fit(X, pairs=pairs).best_candidate_ == "cut"
    assert search.best_prefix_ < 256
    assert isinstance(search.best_estimator_, Truncate)
    Z = search.transform(X)
    assert_allclose(np.linalg.norm(Z, axis=1), 1, rtol=1e-6)


def test_pairs_in_a_pipeline_that_transforms_them():
    X, pairs = MAMMALS.gloss["minilm"][:, :32], MAMMALS.lemma["minilm"][:, :32]
    search = PrefixSearchCV(
        make_pipeline(StandardScaler(), NestedProjection(objective="pairs")),
        scoring=lambda transformer, X, y: 1.0,
        prefixes=[4],
        cv=2,
    ).fit(X, nestedprojection__pairs=pairs)
    expected = NestedProjection(4, objective="pairs")
    scaled = StandardScaler().fit_transform(X)
    expected.fit(scaled, pairs=pairs)
    assert_allclose(search.transform(X), expected.transform(scaled), rtol=1e-4)


def test_metadata_routing_of_pairs(metadata_routing):
    X, pairs = MAMMALS.gloss["minilm"][:, :32], MAMMALS.lemma["minilm"][:, :32]
    projection = NestedProjection(objective="pairs").set_fit_request(pairs=True)
    y = MAMMALS.depth > 5
    search = PrefixSearchCV(projection, LogisticRegression(), prefixes=[4, 16], cv=2)
    routed = search.fit(X, y, pairs=pairs).cv_results_["mean_test_score"]
    projection.set_fit_request(pairs=False)
    with pytest.raises(TypeError, match="'pairs'}, which are not routed"):
        search.fit(X, y, pairs=pairs)
    assert routed[1] > 0.6


def test_a_pipeline_that_ends_in_a_normalizer_is_normalized_after_the_cut():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 8)) * np.arange(8, 0, -1)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    search = PrefixSearchCV(
        make_pipeline(NestedProjection(), Normalizer()),
        LogisticRegression(),
        prefixes=[2, 4, 8],
        cv=3,
    ).fit(X, y)
    np.testing.assert_allclose(np.linalg.norm(search.transform(X), axis=1), 1)
    steps = NestedProjection(), Normalizer(), LogisticRegression()
    grid = GridSearchCV(
        make_pipeline(*steps), {"nestedprojection__n_components": [2, 4, 8]}, cv=3
    ).fit(X, y)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], grid.cv_results_["mean_test_score"]
    )
