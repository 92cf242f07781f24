"""Fitted transformers of a shorter length."""

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.decomposition import PCA
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MaxAbsScaler, Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrep.model_selection._cut import FirstColumns, cut_rows, cut_transformer
from skrep.nested import NestedProjection, Truncate
from skrep.utils.prefixes import normalizes

X = np.random.default_rng(0).standard_normal((12, 5))


class Nested(TransformerMixin, BaseEstimator):
    """A transformer with a prefix of its own."""

    def __init__(self, n_components=5, normalize=False):
        self.n_components = n_components
        self.normalize = normalize

    def fit(self, X, y=None):
        self.fitted_ = True
        return self

    def transform(self, X):
        return X[:, : self.n_components]

    def prefix(self, k):
        return Nested(k, self.normalize).fit(None)


@parametrize_with_checks([FirstColumns(PCA(1), 1)])
def test_sklearn_checks(estimator, check):
    check(estimator)


def test_a_prefix_of_its_own_is_used():
    fitted = Nested().fit(X)
    assert isinstance(cut_transformer(fitted, 2), Nested)
    assert fitted.n_components == 5


def test_the_last_step_of_a_pipeline_is_cut():
    pipeline = make_pipeline(MaxAbsScaler(), Nested()).fit(X)
    cut = cut_transformer(pipeline, 2)
    assert isinstance(cut["nested"], Nested)
    assert_allclose(cut.transform(X), pipeline.transform(X)[:, :2])
    assert pipeline.transform(X).shape == (12, 5)
    idle = Pipeline([("pca", PCA()), ("nothing", "passthrough")]).fit(X)
    assert_allclose(cut_transformer(idle, 2).transform(X), idle.transform(X)[:, :2])


def test_others_are_wrapped_and_a_clone_refits():
    fitted = PCA().fit(X[:8])
    cut = cut_transformer(fitted, 2)
    assert_array_equal(cut.transform(X), fitted.transform(X)[:, :2])
    assert list(cut.get_feature_names_out()) == ["pca0", "pca1"]
    again = clone(cut).fit(X)
    assert_array_equal(again.transform(X), PCA().fit(X).transform(X)[:, :2])
    assert_array_equal(cut.transform(X), fitted.transform(X)[:, :2])


@pytest.mark.parametrize("normalize", [False, True])
def test_norms_of_cut_rows(normalize):
    Z = X.copy()
    Z[4] = 0
    dense = cut_rows(Z, 3, normalize=normalize)
    sparse = cut_rows(sp.csr_array(Z), 3, normalize=normalize)
    assert_allclose(sparse.toarray(), dense)
    if normalize:
        assert_allclose(np.linalg.norm(dense, axis=1), np.arange(12) != 4)
    assert cut_rows(Z, 9, normalize=False).shape == (12, 5)


def test_who_normalizes():
    assert normalizes(Nested(normalize=True))
    assert normalizes(make_pipeline(PCA(), Nested(normalize=True)))
    assert not normalizes(make_pipeline(Nested(normalize=True), PCA()))
    assert not normalizes(Nested())
    assert normalizes(Normalizer())
    assert not normalizes(Normalizer("l1"))
    assert normalizes(FrozenEstimator(make_pipeline(PCA(), Truncate()).fit(X)))


@pytest.mark.parametrize("kind", [Truncate, NestedProjection])
@pytest.mark.parametrize("normalize", [False, True])
def test_what_counts_is_how_it_was_fitted(kind, normalize):
    fitted = kind(normalize=normalize).fit(X)
    rows = fitted.transform(X)
    fitted.set_params(normalize=not normalize)
    assert normalizes(fitted) is normalize
    assert normalizes(make_pipeline(PCA(), fitted)) is normalize
    assert_array_equal(fitted.transform(X), rows)


def test_steps_that_are_no_pipeline_are_left_alone():
    class Walk(Nested):
        steps = 5

    assert normalizes(Walk(normalize=True))


def test_the_number_of_columns_acts_at_the_next_fit():
    cut = cut_transformer(PCA().fit(X), 2)
    cut.set_params(n_components=3)
    assert cut.transform(X).shape == (12, 2)
    assert list(cut.get_feature_names_out()) == ["pca0", "pca1"]
    assert cut.fit(X).transform(X).shape == (12, 3)
