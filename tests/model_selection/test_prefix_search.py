"""The search against loops of scikit-learn, and its laws."""

import joblib
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    ShuffleSplit,
    cross_val_score,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.geometry import prefix_rows
from skrep.metrics import neighbor_overlap
from skrep.model_selection import PrefixSearchCV
from skrep.model_selection._table import choose

LENGTHS = [1, 2, 5, 9]


def rows(n=90, d=9, seed=0):
    """Rows, classes and numbers that need some four axes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * np.linspace(3, 0.5, d) + 2
    number = X @ np.r_[1, -1, 2, 3, np.zeros(d - 4)] + rng.standard_normal(n)
    return X, np.digitize(number, np.quantile(number, [1 / 3, 2 / 3])), number


class Spy(TransformerMixin, BaseEstimator):
    """Columns as they are, and a count of what was asked."""

    calls = []

    def __init__(self, width=None, normalize=False):
        self.width = width
        self.normalize = normalize

    def fit(self, X, y=None, sample_weight=None, queries=None):
        self.calls.append(("fit", len(X), sample_weight, queries))
        self.fitted_ = True
        return self

    def transform(self, X):
        self.calls.append(("transform", len(X)))
        return np.asarray(X)[:, : self.width]


@pytest.fixture
def spy():
    Spy.calls = []
    return Spy


# --- reference values ------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "numbers"])
@pytest.mark.parametrize("scaled", [False, True])
def test_equals_a_grid_search_that_refits_for_every_length(kind, scaled):
    X, labels, numbers = rows()
    head = LogisticRegression() if kind == "classes" else Ridge()
    y = labels if kind == "classes" else numbers
    scoring = "balanced_accuracy" if kind == "classes" else None
    before = [("scale", StandardScaler())] if scaled else []
    grid = GridSearchCV(
        Pipeline([*before, ("pca", PCA()), ("head", head)]),
        {"pca__n_components": LENGTHS},
        scoring=scoring,
    ).fit(X, y)
    estimator = Pipeline([*before, ("pca", PCA())]) if scaled else PCA()
    search = PrefixSearchCV(
        estimator, head, prefixes=LENGTHS, scoring=scoring, tolerance=0
    ).fit(X, y)
    for i in range(5):
        key = f"split{i}_test_score"
        assert_allclose(search.cv_results_[key], grid.cv_results_[key])
    for key in ("mean_test_score", "std_test_score", "rank_test_score"):
        assert_allclose(search.cv_results_[key], grid.cv_results_[key])
    assert search.best_index_ == grid.best_index_
    assert search.best_prefix_ == grid.best_params_["pca__n_components"]
    assert search.best_score_ == pytest.approx(grid.best_score_)
    assert_allclose(search.predict(X), grid.predict(X))
    assert search.score(X, y) == pytest.approx(grid.score(X, y))
    if kind == "classes":
        assert_allclose(search.predict_proba(X), grid.predict_proba(X))
        assert_allclose(search.predict_log_proba(X), grid.predict_log_proba(X))
        assert_allclose(search.decision_function(X), grid.decision_function(X))
        assert_array_equal(search.classes_, grid.classes_)


def test_without_a_head_neighbors_are_compared():
    X, *_ = rows()
    search = PrefixSearchCV(PCA(), prefixes=LENGTHS, cv=3).fit(X)
    for i, (train, test) in enumerate(KFold(3).split(X)):
        Z = PCA().fit(X[train]).transform(X[test])
        expected = [neighbor_overlap(X[test], Z[:, :k]) for k in LENGTHS]
        assert_allclose(search.cv_results_[f"split{i}_test_score"], expected)
    chosen = search.best_estimator_.transform(X)
    assert search.score(X) == neighbor_overlap(X, chosen)


def test_a_score_of_ones_own_gets_the_transformer_of_each_length():
    X, *_ = rows()
    seen = []

    def kept(transformer, X, y):
        seen.append((transformer.transform(X).shape, y is None))
        return -seen[-1][0][1]

    search = PrefixSearchCV(PCA(), prefixes=LENGTHS, scoring=kept, cv=2).fit(X)
    assert seen == [((45, k), True) for k in LENGTHS] * 2
    assert search.best_prefix_ == 1
    assert_array_equal(search.cv_results_["rank_test_score"], [1, 2, 3, 4])
    assert search.scorer_ is kept


def test_pipelines_are_cut_at_their_last_step():
    X, *_ = rows()
    pipeline = make_pipeline(StandardScaler(), TruncatedSVD(8, random_state=0))
    search = PrefixSearchCV(pipeline, prefixes=[3], cv=2).fit(X)
    whole = clone(pipeline).fit_transform(X)
    assert_allclose(search.transform(X), whole[:, :3])
    assert isinstance(search.best_estimator_, Pipeline)
    names = ["truncatedsvd0", "truncatedsvd1", "truncatedsvd2"]
    assert list(search.get_feature_names_out()) == names


# --- the choice ------------------------------------------------------------------


def test_the_choice_from_scores():
    lengths = [8, 16, 32, 8, 16]
    assert choose([0.5, 0.7, 0.71, 0.4, 0.6], lengths, 0.02) == 1
    assert choose([0.5, 0.7, 0.71, 0.4, 0.6], lengths, 0) == 2
    assert choose([0.5, 0.7, 0.71, 0.4, 0.6], lengths, 0.4) == 0
    assert choose([0.5, 0.7, 0.7, 0.6, 0.7], lengths, 0) == 1
    assert choose([0.69, 0.7, 0.7, 0.695, 0.7], lengths, 0.02) == 3
    assert choose([-1.0, -0.99, -0.5, -2.0, -0.51], lengths, 0.02) == 4
    assert choose([0.0, 0.0, -1.0, -1.0, 0.0], lengths, 0.5) == 0


@given(
    st.lists(st.tuples(st.floats(-10, 10), st.integers(1, 9)), min_size=1),
    st.floats(0, 1),
)
def test_the_choice_is_good_enough_and_nothing_shorter_is(table, tolerance):
    means, lengths = (np.array(column) for column in zip(*table, strict=True))
    chosen = choose(means, lengths, tolerance)
    enough = means >= means.max() - tolerance * abs(means.max())
    assert enough[chosen]
    assert lengths[chosen] == lengths[enough].min()
    ties = enough & (lengths == lengths[chosen])
    assert means[chosen] == means[ties].max()
    assert chosen == np.flatnonzero(ties & (means == means[chosen]))[0]


@settings(max_examples=10)
@given(st.lists(st.sampled_from(LENGTHS), min_size=1))
def test_order_and_repetition_of_lengths_do_not_matter(prefixes):
    X, _, y = rows(n=30)
    one = PrefixSearchCV(PCA(), Ridge(), prefixes=prefixes, cv=2).fit(X, y)
    other = PrefixSearchCV(PCA(), Ridge(), prefixes=sorted(set(prefixes)), cv=2)
    other.fit(X, y)
    assert_array_equal(one.cv_results_["param_prefix"], sorted(set(prefixes)))
    key = "mean_test_score"
    assert_array_equal(one.cv_results_[key], other.cv_results_[key])
    assert_array_equal(one.transform(X), other.transform(X))


def test_candidates_compete_and_the_shortest_wins():
    X, _, y = rows()
    mixed = X @ np.linalg.qr(np.random.default_rng(1).standard_normal((9, 9)))[0]
    own = [("cut", Spy()), ("axes", PCA()), ("short", PCA(2))]
    cut = PrefixSearchCV(own, Ridge(), prefixes=LENGTHS, tolerance=0.05).fit(X, y)
    table = cut.cv_results_
    assert list(table["param_candidate"]) == ["cut"] * 4 + ["axes"] * 4 + ["short"] * 2
    assert list(table["param_prefix"]) == [*LENGTHS, *LENGTHS, 1, 2]
    assert table["params"][4] == {"candidate": "axes", "prefix": 1}
    assert (cut.best_candidate_, cut.best_prefix_) == ("cut", 5)
    assert_array_equal(cut.transform(X), X[:, :5])
    axes = PrefixSearchCV(own, Ridge(), prefixes=LENGTHS, tolerance=0.05)
    assert axes.fit(mixed, y).best_candidate_ == "axes"
    assert_allclose(axes.transform(mixed), PCA().fit_transform(mixed)[:, :5])


def test_widths_bound_the_powers_of_each_candidate():
    X, *_ = rows(d=20)
    own = [("wide", PCA()), ("narrow", PCA(10))]
    search = PrefixSearchCV(own, cv=2).fit(X)
    assert list(search.cv_results_["param_prefix"]) == [8, 16, 20, 8, 10]


def test_ties_go_to_the_first_candidate():
    X, *_ = rows()
    own = [("one", PCA()), ("two", PCA())]
    search = PrefixSearchCV(own, scoring=lambda t, X, y: 1.0, cv=2).fit(X)
    assert (search.best_candidate_, search.best_index_) == ("one", 0)
    assert search.best_prefix_ == 8


def test_splits_with_fewer_columns_score_all_they_have():
    X, *_ = rows(n=10, d=20)
    search = PrefixSearchCV(PCA(), Ridge(), cv=2, prefixes=[2, 9, 10])
    search.fit(X, X[:, 0])
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == scores[2]
    five = PrefixSearchCV(PCA(5), Ridge(), cv=2, prefixes=[5]).fit(X, X[:, 0])
    assert scores[1] == pytest.approx(five.best_score_)


@pytest.mark.parametrize("scoring", [None, lambda t, X, y: t.transform(X).shape[1]])
def test_without_a_head_splits_score_all_they_have_too(scoring):
    X, *_ = rows(n=10, d=20)
    search = PrefixSearchCV(PCA(), scoring=scoring, cv=2, prefixes=[2, 5, 10]).fit(X)
    scores = search.cv_results_["mean_test_score"]
    assert scores[1] == scores[2] > scores[0]


def test_few_rows_have_few_neighbors():
    X, *_ = rows(n=12)
    search = PrefixSearchCV(PCA(), cv=3, prefixes=[1, 3]).fit(X)
    for i, (train, test) in enumerate(KFold(3).split(X)):
        Z = PCA().fit(X[train]).transform(X[test])
        expected = [neighbor_overlap(X[test], Z[:, :k], n_neighbors=2) for k in (1, 3)]
        assert_allclose(search.cv_results_[f"split{i}_test_score"], expected)
    assert PrefixSearchCV(PCA(), cv=6).fit(X).best_score_ == 1


# --- economy ---------------------------------------------------------------------


def test_one_fit_and_one_transform_serve_every_length(spy):
    X, *_, y = rows()
    PrefixSearchCV(spy(), Ridge(), prefixes=range(1, 10), cv=3).fit(X, y)
    fits = [call[1] for call in spy.calls if call[0] == "fit"]
    transforms = [call[1] for call in spy.calls if call[0] == "transform"]
    assert sorted(fits) == [60, 60, 60, 90]
    # A row of all tells the width, and the winner transforms all rows for its head.
    assert sorted(transforms) == [1, 30, 30, 30, 60, 60, 60, 90]


def test_without_a_head_training_rows_are_not_transformed(spy):
    X, *_ = rows()
    PrefixSearchCV(spy(), prefixes=range(1, 10), cv=3).fit(X)
    transforms = [call[1] for call in spy.calls if call[0] == "transform"]
    assert sorted(transforms) == [1, 1, 1, 1, 30, 30, 30]


def test_a_true_normalize_brings_every_prefix_to_norm_one(spy):
    X, *_, y = rows()
    X[3] = 0
    search = PrefixSearchCV(spy(normalize=True), Ridge(), prefixes=[2, 4], cv=3)
    search.fit(X, y)
    expected = [
        cross_val_score(Ridge(), prefix_rows(X, k, normalize=True), y, cv=3).mean()
        for k in (2, 4)
    ]
    assert_allclose(search.cv_results_["mean_test_score"], expected)
    Z = search.transform(X)
    assert_allclose(np.linalg.norm(Z, axis=1), np.arange(90) != 3)


def test_work_in_parallel_gives_the_same():
    X, *_, y = rows()
    one = PrefixSearchCV(PCA(), Ridge()).fit(X, y)
    with joblib.parallel_config(backend="threading"):
        two = PrefixSearchCV(PCA(), Ridge(), n_jobs=2).fit(X, y)
    for i in range(5):
        key = f"split{i}_test_score"
        assert_array_equal(one.cv_results_[key], two.cv_results_[key])


# --- metadata --------------------------------------------------------------------


def test_metadata_are_split_along_with_the_rows(spy):
    X, *_, y = rows()
    weight, queries = np.arange(90.0), np.ones((7, 9))
    search = PrefixSearchCV(spy(), Ridge(), prefixes=[4], cv=3)
    search.fit(X, y, sample_weight=weight, queries=queries)
    fits = [call for call in spy.calls if call[0] == "fit"]
    assert all(call[3] is queries for call in fits)
    expected = [weight[train] for train, _ in KFold(3).split(X)]
    for call, part in zip(fits, [weight, *expected], strict=True):
        assert_array_equal(call[2], part)


def test_weights_reach_head_and_score():
    X, *_, y = rows()
    weight = np.random.default_rng(0).integers(0, 3, 90)
    search = PrefixSearchCV(PCA(), Ridge(), prefixes=[3], cv=3)
    search.fit(X, y, sample_weight=weight)
    expected = []
    for train, test in KFold(3).split(X):
        pca = PCA(3).fit(X[train])
        head = Ridge().fit(pca.transform(X[train]), y[train], weight[train])
        expected.append(head.score(pca.transform(X[test]), y[test], weight[test]))
    assert search.best_score_ == pytest.approx(np.mean(expected))
    Z = PCA(3).fit_transform(X)
    assert_allclose(search.best_head_.coef_, Ridge().fit(Z, y, weight).coef_)


def test_named_scorers_get_weights_and_own_ones_if_they_ask():
    X, *_, y = rows()
    weight = np.arange(90.0)
    options = {"prefixes": [3], "cv": 3}
    by_name = PrefixSearchCV(PCA(), Ridge(), scoring="r2", **options)
    own = PrefixSearchCV(PCA(), Ridge(), **options)
    assert by_name.fit(X, y, sample_weight=weight).best_score_ == pytest.approx(
        own.fit(X, y, sample_weight=weight).best_score_
    )
    without = PrefixSearchCV(
        PCA(), Ridge(), scoring=lambda head, Z, y: head.score(Z, y), **options
    )
    assert without.fit(X, y, sample_weight=weight).best_score_ != own.best_score_


def test_scorers_that_take_no_weights_get_none():
    X, *_, y = rows()
    search = PrefixSearchCV(PCA(), Ridge(), scoring="neg_max_error", prefixes=[3])
    assert search.fit(X, y, sample_weight=np.ones(90)).best_score_ < 0


def test_a_score_of_ones_own_gets_the_metadata_that_it_names(spy):
    X, *_ = rows()

    def same_rows(transformer, X, y, queries):
        return float(np.array_equal(X[:, 0], queries))

    search = PrefixSearchCV(spy(), scoring=same_rows, prefixes=[2], cv=3)
    search.fit(X, queries=X[:, 0], sample_weight=np.ones(90))
    assert search.best_score_ == 1
    assert search.score(X[:9], queries=X[:9, 0]) == 1
    assert search.score(X[:9], queries=X[9:18, 0]) == 0


def test_groups_go_to_the_splitter():
    X, *_, y = rows()
    groups = np.random.default_rng(0).integers(0, 4, 90)
    search = PrefixSearchCV(PCA(), Ridge(), cv=GroupKFold(4)).fit(X, y, groups=groups)
    cv = list(GroupKFold(4).split(X, y, groups))
    expected = PrefixSearchCV(PCA(), Ridge(), cv=cv).fit(X, y)
    assert search.best_score_ == expected.best_score_
    assert search.n_splits_ == 4


def test_metadata_routing_gives_each_part_what_it_asks_for(spy, metadata_routing):
    X, *_, y = rows()
    weight, groups = np.arange(90.0), np.arange(90) % 5
    asks = spy().set_fit_request(queries=True, sample_weight=False)
    own = [("asks", asks), ("does_not", PCA())]
    head = Ridge().set_fit_request(sample_weight=True)
    head.set_score_request(sample_weight=True)
    search = PrefixSearchCV(own, head, prefixes=[3], cv=GroupKFold(3))
    search.fit(X, y, sample_weight=weight, groups=groups, queries="all")
    fits = [call for call in spy.calls if call[0] == "fit"]
    assert {call[2:] for call in fits} == {(None, "all")}
    plain = PrefixSearchCV(PCA(), head, prefixes=[3], cv=GroupKFold(3))
    plain.fit(X, y, sample_weight=weight, groups=groups)
    assert search.cv_results_["mean_test_score"][1] == plain.best_score_
    Z = plain.transform(X)
    expected = plain.best_head_.score(Z, y, sample_weight=weight)
    assert plain.score(X, y, sample_weight=weight) == expected


def test_metadata_routing_passes_through_an_outer_search(metadata_routing):
    X, *_, y = rows()
    head = Ridge().set_fit_request(sample_weight=True)
    head.set_score_request(sample_weight=False)
    search = PrefixSearchCV(PCA(), head, prefixes=[2, 4], cv=2)
    outer = GridSearchCV(search, {"tolerance": [0, 0.5]}, cv=2)
    outer.fit(X, y, sample_weight=np.ones(90))
    assert outer.best_params_["tolerance"] == 0


# --- as an estimator -------------------------------------------------------------


def test_it_works_as_a_step_and_around_a_pipeline():
    X, labels, _ = rows()
    search = PrefixSearchCV(PCA(), prefixes=LENGTHS, cv=2)
    pipeline = make_pipeline(StandardScaler(), search, LogisticRegression())
    assert pipeline.fit(X, labels).score(X, labels) > 0.6
    grid = GridSearchCV(pipeline, {"prefixsearchcv__tolerance": [0, 0.9]}, cv=2)
    assert grid.fit(X, labels).best_params_ == {"prefixsearchcv__tolerance": 0}


def test_parameters_of_parts_are_reached_and_clones_keep_them():
    search = PrefixSearchCV(PCA(), Ridge())
    search.set_params(estimator__whiten=True, head__alpha=3.0)
    assert (search.estimator.whiten, search.head.alpha) == (True, 3.0)
    listed = PrefixSearchCV([("cut", Spy()), ("axes", PCA())])
    listed.set_params(axes__whiten=True, cut=Spy(4))
    copy = clone(listed)
    assert copy.get_params()["axes__whiten"] is True
    assert copy.get_params()["cut__width"] == 4
    assert copy.estimator[1][1] is not listed.estimator[1][1]


def test_splits_with_a_random_state_of_their_own_are_shared_by_candidates():
    X, *_, y = rows()
    own = [("one", PCA()), ("two", PCA())]
    cv = ShuffleSplit(2, random_state=np.random.RandomState(0))
    search = PrefixSearchCV(own, Ridge(), prefixes=[3], cv=cv).fit(X, y)
    one, two = search.cv_results_["mean_test_score"]
    assert one == two


def test_the_table_has_times():
    X, *_, y = rows()
    table = PrefixSearchCV(PCA(), Ridge(), prefixes=LENGTHS, cv=2).fit(X, y).cv_results_
    shared = table["mean_fit_time"]
    assert (shared > 0).all()
    assert (shared == shared[0]).all()
    assert (table["mean_head_fit_time"] > 0).all()
    assert (table["mean_score_time"] > 0).all()
    assert {len(column) for column in table.values()} == {4}


def test_the_estimator_given_stays_unfitted():
    X, *_ = rows()
    pca = PCA()
    PrefixSearchCV(pca, cv=2).fit(X)
    assert not hasattr(pca, "components_")
