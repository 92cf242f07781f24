"""The checks fit every kind of estimator, and find faults in every kind."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from skrep import __version__
from skrep._base import SkrepEstimator, SkrepTransformer
from skrep.exceptions import VersionMismatchWarning
from skrep.utils.estimator_checks import _CHECKS, check_skrep_estimator
from skrep.utils.triples import read_triples
from skrep.utils.validation import validate_rows


class Promising:
    """What every skrep estimator has."""

    _parameter_constraints = {}

    def invariances(self):
        return ()


class Stamped(Promising, BaseEstimator):
    """The stamp in pickles, for what is no transformer."""

    def __getstate__(self):
        return {**super().__getstate__(), "_skrep_version": __version__}

    def __setstate__(self, state):
        if state.pop("_skrep_version") != __version__:
            warnings.warn("another version", VersionMismatchWarning, stacklevel=2)
        super().__setstate__(state)


class Nearest(ClassifierMixin, Stamped):
    """A classifier by the nearest mean; it transforms nothing."""

    def fit(self, X, y):
        X = validate_rows(self, X, reset=True)
        self.classes_, codes = np.unique(y, return_inverse=True)
        means = [X[codes == code].mean(axis=0) for code in range(len(self.classes_))]
        self.means_ = np.array(means, dtype=X.dtype)
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False)
        squares = np.stack([((X - mean) ** 2).sum(axis=1) for mean in self.means_])
        return self.classes_[squares.argmin(axis=0)]


class Cluster(ClusterMixin, Stamped):
    """A clusterer that only predicts: above the mean of the first column or not."""

    def fit(self, X, y=None, sample_weight=None):
        X = validate_rows(self, X, reset=True)
        self.mean_ = np.average(X[:, 0], weights=sample_weight).astype(X.dtype)
        self.labels_ = (X[:, 0] > self.mean_).astype(int)
        return self

    def predict(self, X):
        check_is_fitted(self)
        return (validate_rows(self, X, reset=False)[:, 0] > self.mean_).astype(int)


class Depth(Promising, ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    """Places the nodes of a forest by their depth, and no new ones."""

    def fit(self, X, y=None):
        self.fit_transform(X)
        return self

    def fit_transform(self, X, y=None):
        X = validate_rows(self, X, reset=True, accept_sparse="csr")
        who = type(self).__name__
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"{who}: 'X' must be square.")
        graph = sp.csr_array(X)
        if graph.nnz and graph.data.min() < 0:
            raise ValueError(f"Negative values in data passed to {who}: 'X'.")
        depth = np.zeros((X.shape[0], 1), dtype=X.dtype)
        order, before = breadth_first_order(graph, 0, directed=False)
        for node in order[1:]:
            depth[node] = depth[before[node]] + 1
        self.embedding_ = depth
        self._n_features_out = 1
        return depth

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Count(Depth):
    """The same in a type of its own, whatever the type of X."""

    def fit_transform(self, X, y=None):
        super().fit_transform(X)
        self.embedding_ = self.embedding_.astype(np.float64)
        return self.embedding_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags


class Landmark(Promising, ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    """Distances to the first three points, from a matrix of distances."""

    def fit(self, X, y=None):
        X = validate_rows(self, X, reset=True)
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"{type(self).__name__}: 'X' must be square.")
        self.embedding_ = X[:, :3].copy()
        self._n_features_out = self.embedding_.shape[1]
        return self

    def transform(self, X):
        check_is_fitted(self)
        return validate_rows(self, X, reset=False)[:, :3].copy()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Code(Promising, ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    """Numbers the strings of the first column."""

    def fit(self, X, y=None):
        self.words_ = np.unique(self._read(X, reset=True))
        self._n_features_out = 1
        return self

    def transform(self, X):
        check_is_fitted(self)
        words = self._read(X, reset=False)
        if not np.isin(words, self.words_).all():
            raise ValueError(f"{type(self).__name__}: an unknown word.")
        return np.searchsorted(self.words_, words)[:, None].astype(np.float64)

    def _read(self, X, *, reset):
        who = type(self).__name__
        try:
            X = validate_data(self, X, reset=reset, dtype=object)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{who}: {error}") from error
        missing = [entry is None or entry != entry for entry in X.ravel()]
        if np.any(missing):
            raise ValueError(f"{who}: a word is missing.")
        return X[:, 0].astype(str)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.transformer_tags.preserves_dtype = []
        return tags


class Parity(Code):
    """Tells categories with even numbers from the others."""

    def _read(self, X, *, reset):
        return validate_rows(self, X, reset=reset)[:, 0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.string = False
        return tags


class Often(Promising, SkrepEstimator):
    """Counts in how many triples a tail is, and transforms nothing."""

    def fit(self, X, y=None):
        self.tails_, self.counts_ = np.unique(self._read(X, True), return_counts=True)
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        seen = dict(zip(self.tails_.tolist(), self.counts_.tolist(), strict=True))
        return np.array([seen.get(tail, 0) for tail in self._read(X, False)])

    def _read(self, X, reset):
        labels = read_triples(type(self).__name__, X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        return labels.tails

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


class KeepsTriples(Often):
    def fit(self, X, y=None):
        self.rows_ = np.array(X)
        return super().fit(X)


GOOD = [Nearest, Cluster, Depth, Count, Landmark, Code, Parity, Often]


def changed(cls, method, change):
    """Make a class whose method has another result."""

    def other(self, X, *args, **kwargs):
        return change(self, X, getattr(cls, method)(self, X, *args, **kwargs))

    return type(f"Broken{cls.__name__}", (cls,), {method: other})()


def before(cls, method, change):
    """Make a class whose method changes X first."""

    def other(self, X, *args, **kwargs):
        return getattr(cls, method)(self, change(X), *args, **kwargs)

    return type(f"Broken{cls.__name__}", (cls,), {method: other})()


def count(self, X, out):
    self.calls_ = getattr(self, "calls_", 0) + 1
    return out


def wide(self, X, out):
    self.embedding_ = self.embedding_.astype(np.float64)
    return out


def noisy(self, X, out):
    self.embedding_ = self.embedding_ + np.random.default_rng().random()
    return out


def loud(self, X, out):
    print("fitting")  # noqa: T201
    return out


def connected(X):
    matrix = X.toarray() if sp.issparse(X) else np.asarray(X)
    if not (matrix + matrix.T).any(axis=0).all():
        raise ValueError("BrokenDepth: 'X' has a node of no edges.")
    return X


def varied(X):
    words = np.asarray(X, dtype=object)
    if len(words) > 2 and len(set(words[:, 2])) == 1:
        raise ValueError("BrokenCode: column 2 has one word.")
    return X


def absolute(X):
    if isinstance(X, np.ndarray) and X.size and np.isfinite(X).all():
        return np.abs(X)
    return X


def squared(X):
    return X[:, : len(X)] if isinstance(X, np.ndarray) and len(X) else X


def finite(X):
    return np.nan_to_num(X, posinf=0)


def turned(self, X, out):
    return out[::-1]


def without_missing(X):
    if not isinstance(X, np.ndarray):
        return X
    return np.where(np.equal(X, None), "word 0", X)


class WordsInAList(Code):
    """Misses that a list is the same as an array."""

    def transform(self, X):
        return super().transform(X) + isinstance(X, list)


class Unnamed(Nearest):
    def fit(self, X, y):
        return super().fit(np.asarray(X), y)

    def predict(self, X):
        return super().predict(np.asarray(X))


class KeepsRows(Nearest):
    def fit(self, X, y):
        self.rows_ = np.array(X)
        return super().fit(X, y)


class KeepsRowsOfClusters(Cluster):
    def fit(self, X, y=None, sample_weight=None):
        self.rows_ = np.array(X)
        return super().fit(X, sample_weight=sample_weight)


class GreedyLandmark(Landmark):
    def transform(self, X):
        np.stack([np.asarray(X)] * 5)
        return super().transform(X)


class KeepsMatrix(Depth):
    def fit_transform(self, X, y=None):
        self.matrix_ = np.array(X)
        return super().fit_transform(X)


class Indexless(Depth):
    """A frame goes in and another one comes out."""

    def fit_transform(self, X, y=None):
        return super().fit_transform(np.asarray(X) if hasattr(X, "columns") else X)


class WideMeans(Nearest):
    def fit(self, X, y):
        super().fit(X, y)
        self.means_ = self.means_.astype(np.float64)
        return self


class Greedy(Nearest):
    def predict(self, X):
        np.stack([np.asarray(X)] * 5)
        return super().predict(X)


class Unweighted(Cluster):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X)


class SparseIsOneWay(Depth):
    def fit_transform(self, X, y=None):
        depth = super().fit_transform(X)
        self.embedding_ = depth + sp.issparse(X)
        return depth


class Densifies(Code):
    def fit(self, X, y=None):
        return super().fit(X.toarray() if sp.issparse(X) else X)


def write(X):
    if isinstance(X, np.ndarray) and X.flags.writeable:
        X[5, 0] = 7
    return X


def not_a_number(self, X, out):
    return out * np.nan


BROKEN = [
    ("check_float32_stays", changed(Depth, "fit_transform", wide), "float32"),
    ("check_float32_stays", WideMeans(), "'means_' is float64"),
    ("check_number_types", WordsInAList(), "list input changes"),
    ("check_input_is_left_alone", before(Depth, "fit_transform", write), "written to"),
    ("check_frames", Unnamed(), "reordered columns: accepted"),
    ("check_frames", Indexless(), "index was lost"),
    ("check_bad_input", before(Depth, "fit_transform", absolute), "negative number"),
    ("check_bad_input", before(Depth, "fit_transform", squared), "not square"),
    ("check_bad_input", before(Nearest, "predict", finite), "infinity"),
    ("check_bad_input", before(Code, "fit", without_missing), "missing string"),
    ("check_bad_input", before(Often, "fit", without_missing), "missing string"),
    (
        "check_degenerate_rows",
        before(Depth, "fit_transform", connected),
        "of no edges",
    ),
    ("check_degenerate_rows", before(Code, "fit", varied), "one word"),
    ("check_degenerate_rows", changed(Landmark, "transform", not_a_number), "NaN"),
    ("check_sparse", SparseIsOneWay(), "dense rows differ"),
    ("check_sparse", Densifies(), "must raise TypeError"),
    ("check_rows_are_independent", changed(Nearest, "predict", turned), "other rows"),
    ("check_rows_are_independent", changed(Landmark, "transform", turned), "other row"),
    ("check_state_stays", changed(Cluster, "predict", count), "predict changed"),
    ("check_randomness", changed(Depth, "fit_transform", noisy), "one seed differ"),
    ("check_memory", Greedy(), "predict of 8 MB peaked"),
    ("check_memory", GreedyLandmark(), "transform of 4 MB peaked"),
    ("check_pickle_holds_the_model", KeepsMatrix(), "grows"),
    ("check_pickle_holds_the_model", KeepsRows(), "grows"),
    ("check_pickle_holds_the_model", KeepsRowsOfClusters(), "grows"),
    ("check_pickle_holds_the_model", KeepsTriples(), "grows"),
    ("check_sample_weight", Unweighted(), "different fits"),
    ("check_silent", changed(Depth, "fit_transform", loud), "printed 'fitting"),
]


@pytest.mark.parametrize("cls", GOOD)
def test_every_kind_passes(cls):
    check_skrep_estimator(cls())


@pytest.mark.parametrize(
    ("name", "estimator", "message"),
    BROKEN,
    ids=[f"{i}-{name}" for i, (name, _, _) in enumerate(BROKEN)],
)
def test_a_fault_is_found_in_every_kind(name, estimator, message):
    check = {check.__name__: check for check in _CHECKS}[name]
    with pytest.raises(AssertionError, match=message):
        check(type(estimator).__name__, estimator)
