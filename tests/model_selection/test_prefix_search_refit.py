"""What a search holds is one whole fit, whatever came before or was set since."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from skrep.geometry import prefix_rows
from skrep.metrics import neighbor_overlap
from skrep.model_selection import PrefixSearchCV
from skrep.nested import Truncate

RNG = np.random.default_rng(0)
X = RNG.standard_normal((60, 8)) * np.linspace(3, 0.5, 8)
Y = X[:, 0] + 2 * X[:, 3]
CLASSES = (Y > 0).astype(int)
LISTED = [("axes", PCA()), ("cut", Truncate())]
METHODS = ["predict", "predict_proba", "predict_log_proba", "decision_function"]


def fitted(search):
    return {name: value for name, value in vars(search).items() if name.endswith("_")}


def test_a_refit_leaves_nothing_of_the_last_fit():
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    search = PrefixSearchCV(LISTED, LogisticRegression(), cv=2).fit(frame, CLASSES)
    assert {"best_candidate_", "best_head_", "feature_names_in_"} <= set(vars(search))
    search.set_params(estimator=PCA(), head=None).fit(X)
    alone = PrefixSearchCV(PCA(), cv=2).fit(X)
    assert set(vars(search)) == set(vars(alone))
    for name in ["classes_", *METHODS]:
        assert not hasattr(search, name)
    assert search.score(X) == alone.score(X)


def test_a_refit_on_rows_without_columns_forgets_their_number():
    texts = [f"say{i % 7} word{i % 3}" for i in range(40)]
    search = PrefixSearchCV(PCA(), Ridge(), prefixes=[2], cv=2).fit(X, Y)
    assert search.n_features_in_ == 8
    pipeline = make_pipeline(TfidfVectorizer(), TruncatedSVD(6, random_state=0))
    search.set_params(estimator=pipeline).fit(texts, np.arange(40) % 3)
    assert not hasattr(search, "n_features_in_")


def test_a_head_set_after_a_fit_without_one_waits_for_the_next():
    search = PrefixSearchCV(PCA(), cv=2).fit(X)
    search.set_params(head=LogisticRegression())
    for name in ["classes_", *METHODS]:
        assert not hasattr(search, name)
    with pytest.raises(AttributeError) as missing:
        search.predict(X)
    assert "Pass head=, a classifier or a regressor, and fit." in str(
        missing.value.__cause__
    )
    assert search.score(X) == neighbor_overlap(X, search.transform(X))
    search.fit(X, CLASSES)
    assert search.score(X, CLASSES) == np.mean(search.predict(X) == CLASSES)
    assert_array_equal(search.classes_, [0, 1])


@pytest.mark.parametrize("head", [None, Ridge()])
def test_a_fitted_head_serves_until_the_next_fit(head):
    search = PrefixSearchCV(PCA(), LogisticRegression(), cv=2).fit(X, CLASSES)
    score, probabilities = search.score(X, CLASSES), search.predict_proba(X)
    search.set_params(head=head, estimator=LISTED, scoring=None)
    assert search.score(X, CLASSES) == score
    assert_array_equal(search.predict_proba(X), probabilities)
    assert_array_equal(search.classes_, [0, 1])
    search.fit(X, Y)
    assert not hasattr(search, "predict_proba")
    assert not hasattr(search, "classes_")
    assert hasattr(search, "predict") is (head is not None)


def test_metadata_of_score_go_to_the_scorer_of_the_fit(metadata_routing):
    weight = np.arange(60.0)
    head = Ridge().set_fit_request(sample_weight=False)
    head.set_score_request(sample_weight=True)
    search = PrefixSearchCV(PCA(), head, prefixes=[3], cv=2).fit(X, Y)
    expected = search.best_head_.score(search.transform(X), Y, sample_weight=weight)
    for other in (Ridge(), None):
        search.set_params(head=other)
        assert search.score(X, Y, sample_weight=weight) == expected


def never(head, Z, y):
    return np.nan


class Refused(Ridge):
    """A head that cannot be fitted on all rows."""

    def fit(self, X, y, sample_weight=None):
        if len(X) == 50:
            raise ValueError("all rows are too many")
        return super().fit(X, y, sample_weight)


FAILURES = {
    "a candidate": ({"estimator": [("all", PCA(30))]}, "PrefixSearchCV: n_comp"),
    "a length": ({"prefixes": [9]}, "from 1 to 7"),
    "a score": ({"scoring": never}, "Use another scoring"),
    "the splits": ({"cv": 99}, "Cannot have number of splits"),
    "the last head": ({"head": Refused()}, "all rows are too many"),
}


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_refit_leaves_the_last_fit_whole(failure):
    params, message = FAILURES[failure]
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    search = PrefixSearchCV(LISTED, LogisticRegression(), cv=2).fit(frame, CLASSES)
    before, score = fitted(search), search.score(frame, CLASSES)
    predicted = search.predict_proba(frame)
    search.set_params(**params)
    with pytest.raises(ValueError, match=message):
        search.fit(X[:50, :7], CLASSES[:50])
    after = fitted(search)
    assert after.keys() == before.keys()
    assert all(after[name] is value for name, value in before.items())
    assert search.n_features_in_ == 8
    assert search.score(frame, CLASSES) == score
    assert_array_equal(search.predict_proba(frame), predicted)


@pytest.mark.parametrize("failure", FAILURES)
def test_a_failed_first_fit_leaves_nothing(failure):
    params, message = FAILURES[failure]
    search = PrefixSearchCV(PCA(), Ridge(), cv=2).set_params(**params)
    with pytest.raises(ValueError, match=message):
        search.fit(X[:50, :7], CLASSES[:50])
    assert not fitted(search)
    with pytest.raises(NotFittedError):
        search.transform(X[:, :7])


@pytest.mark.parametrize("normalize", [False, True])
def test_a_frozen_transformer_is_cut_as_it_was_fitted(normalize):
    cut = Truncate(normalize=normalize).fit(X)
    cut.set_params(normalize=not normalize)
    search = PrefixSearchCV(FrozenEstimator(cut), Ridge(), prefixes=[2, 5], cv=3)
    search.fit(X, Y)
    expected = [
        cross_val_score(Ridge(), prefix_rows(X, k, normalize=normalize), Y, cv=3).mean()
        for k in (2, 5)
    ]
    assert_allclose(search.cv_results_["mean_test_score"], expected)
