"""Each promise is broken once, and its check must say so."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import OneToOneFeatureMixin
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_array, check_is_fitted

from skrep._base import SkrepTransformer
from skrep.utils import estimator_checks as checks
from skrep.utils.estimator_checks import (
    check_skrep_estimator,
    parametrize_with_skrep_checks,
)
from skrep.utils.validation import check_sample_weight, validate_rows


class Center(OneToOneFeatureMixin, SkrepTransformer):
    """A small transformer that keeps every promise."""

    _parameter_constraints = {"shift": [float], "random_state": ["random_state"]}

    def __init__(self, shift=0.0, *, random_state=None):
        self.shift = shift
        self.random_state = random_state

    def fit(self, X, y=None, sample_weight=None):
        X = validate_rows(self, X, reset=True)
        weights = check_sample_weight(type(self).__name__, sample_weight, X.shape[0])
        self.mean_ = (np.average(X, axis=0, weights=weights) + self.shift).astype(
            X.dtype
        )
        return self

    def transform(self, X):
        check_is_fitted(self)
        return validate_rows(self, X, reset=False) - self.mean_

    def invariances(self):
        return ()


def breaks(method, *, before=lambda self, X: None, after=lambda self, X, out: out):
    """Make a Center whose method does something more."""

    def changed(self, X, *args, **kwargs):
        before(self, X)
        return after(self, X, getattr(Center, method)(self, X, *args, **kwargs))

    return type("Broken", (Center,), {method: changed})()


def write(self, X):
    if isinstance(X, np.ndarray) and X.flags.writeable:
        X[0] = 0


def replace_parameter(self, X):
    self.shift = float(np.float64(self.shift))


def count_calls(self, X):
    self.calls_ = getattr(self, "calls_", 0) + 1


def draw_globally(self, X):
    np.random.rand()  # noqa: NPY002


class KeywordArguments(Center):
    def __init__(self, **params):
        super().__init__()


class NoDefault(Center):
    def __init__(self, shift):
        super().__init__(shift)


class NamedLikeAMethod(Center):
    _parameter_constraints = {"transform": [float]}

    def __init__(self, transform=0.0):
        self.transform = transform


class Undeclared(Center):
    _parameter_constraints = {}


class Unweighted(Center):
    def fit(self, X, y=None, sample_weight=None):
        return super().fit(X)


class NoWeightsAtAll(Center):
    def fit(self, X, y=None):
        return super().fit(X)


class AcceptsAnything(Center):
    def fit(self, X, y=None):
        X = check_array(X, ensure_all_finite=False, ensure_min_samples=0)
        self.n_features_in_ = X.shape[1]
        self.mean_ = np.zeros(X.shape[1])
        return self

    def transform(self, X):
        return check_array(X, ensure_all_finite=False) - self.mean_


class Stampless(Center):
    def __getstate__(self):
        state = super().__getstate__()
        del state["_skrep_version"]
        return state


class Silent(Center):
    def __setstate__(self, state):
        self.__dict__.update(state)


class NoClaims(Center):
    invariances = None


class SparseUnlikeDense(Center):
    def fit(self, X, y=None):
        X = validate_rows(self, X, reset=True, accept_sparse="csr")
        self.mean_ = np.zeros(X.shape[1])
        return self

    def transform(self, X):
        X = validate_rows(self, X, reset=False, accept_sparse="csr")
        return X.toarray() + 1 if sp.issparse(X) else X.copy()

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Densifies(Center):
    def fit(self, X, y=None):
        return super().fit(X.toarray() if sp.issparse(X) else X)


class KeepsRows(Center):
    def fit(self, X, y=None):
        self.rows_ = np.array(X)
        return super().fit(X)


class NaNForZeroRows(Center):
    def transform(self, X):
        X = super().transform(X) + self.mean_
        with np.errstate(invalid="ignore"):
            return X / np.linalg.norm(X, axis=1, keepdims=True)


def loud(self, X):
    print("fitting")  # noqa: T201


BROKEN = [
    ("check_constructor", KeywordArguments()),
    ("check_constructor", NoDefault(0.0)),
    ("check_constructor", NamedLikeAMethod()),
    ("check_constructor", Undeclared()),
    ("check_parameters_stay", breaks("fit", before=replace_parameter)),
    (
        "check_float32_stays",
        breaks("transform", after=lambda s, X, out: out.astype(np.float64)),
    ),
    (
        "check_number_types",
        breaks("transform", after=lambda s, X, out: out + isinstance(X, list)),
    ),
    ("check_input_is_left_alone", breaks("fit", before=write)),
    ("check_frames", AcceptsAnything()),
    ("check_bad_input", AcceptsAnything()),
    ("check_degenerate_rows", NaNForZeroRows()),
    ("check_sparse", Densifies()),
    ("check_sparse", SparseUnlikeDense()),
    (
        "check_rows_are_independent",
        breaks("transform", after=lambda s, X, out: out - out.mean(axis=0)),
    ),
    ("check_state_stays", breaks("transform", before=count_calls)),
    (
        "check_randomness",
        breaks("fit", after=lambda s, X, out: (draw_globally(s, X), out)[1]),
    ),
    (
        "check_randomness",
        breaks(
            "transform",
            after=lambda s, X, out: out + np.random.default_rng().random(),
        ),
    ),
    (
        "check_memory",
        breaks("transform", after=lambda s, X, out: np.stack([out] * 5)[0]),
    ),
    ("check_pickle_holds_the_model", KeepsRows()),
    ("check_sample_weight", Unweighted()),
    ("check_silent", breaks("fit", before=loud)),
    ("check_round_trips", Stampless()),
    ("check_round_trips", Silent()),
    ("check_invariances_are_declared", NoClaims()),
]


@pytest.fixture(scope="module")
def by_name():
    return {check.__name__: check for check in checks._CHECKS}


def test_a_good_transformer_passes():
    check_skrep_estimator(Center())
    check_skrep_estimator(NoWeightsAtAll())


@pytest.mark.parametrize(
    ("name", "estimator"), BROKEN, ids=[f"{i}-{b[0]}" for i, b in enumerate(BROKEN)]
)
def test_a_broken_promise_is_found(name, estimator, by_name):
    with pytest.raises(AssertionError):
        by_name[name](type(estimator).__name__, estimator)


def test_every_check_has_a_broken_example(by_name):
    assert {name for name, _ in BROKEN} == set(by_name)


def test_scikit_learn_does_not_promise_as_much():
    with pytest.raises(AssertionError, match="PCA"):
        check_skrep_estimator(PCA())


def test_parametrize_makes_one_case_for_each_promise():
    mark = parametrize_with_skrep_checks([Center(), Center()])
    assert len(mark.args[1]) == 2 * len(checks._CHECKS)
