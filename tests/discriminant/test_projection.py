"""The linear discriminant projection: its values, its targets, what it refuses."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline

from skrep.discriminant import LinearDiscriminantProjection
from skrep.discriminant._labels import LabelMoments
from skrep.exceptions import ThinDataWarning
from skrep.linalg import Moments
from tests.strategies import seeds

WINE, WINE_Y = load_wine(return_X_y=True)
NAME = "LinearDiscriminantProjection"


def data(n=90, d=5, n_classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    return X + rng.standard_normal((n_classes, d))[y] + 5, y


def same_columns(one, other, **tolerance):
    signs = np.sign(np.sum(one * other, axis=0))
    assert_allclose(one * signs, other, **({"atol": 1e-8} | tolerance))


# --- what it computes ---------------------------------------------------------------


@pytest.mark.parametrize("solver", ["svd", "eigen"])
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_without_shrinkage_it_is_that_of_scikit_learn(load, solver):
    X, y = load(return_X_y=True)
    peer = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    model = LinearDiscriminantProjection(shrinkage=0).fit(X, y)
    expected = peer.transform(X)
    same_columns(model.transform(X), expected - expected.mean(axis=0), atol=1e-7)
    assert_allclose(model.explained_variance_ratio_, peer.explained_variance_ratio_)
    assert_array_equal(model.classes_, peer.classes_)


@pytest.mark.parametrize("priors", ["uniform", [0.2, 0.5, 0.3], [0.5, 0.0, 0.5]])
def test_priors_are_those_of_scikit_learn(priors):
    shares = np.full(3, 1 / 3) if priors == "uniform" else priors
    with np.errstate(divide="ignore"):
        peer = LinearDiscriminantAnalysis(priors=shares).fit(WINE, WINE_Y)
    model = LinearDiscriminantProjection(shrinkage=0, priors=priors)
    k = np.count_nonzero(shares) - 1
    Z = model.fit(WINE, WINE_Y).transform(WINE)[:, :k]
    same_columns(Z, peer.transform(WINE)[:, :k])
    assert_allclose(model.mean_, peer.xbar_)


@pytest.mark.parametrize("shrinkage", [0, 0.1, 1])
@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
def test_nearest_class_mean_is_linear_discriminant_analysis(shrinkage, solver):
    X, y = data()
    model = make_pipeline(
        LinearDiscriminantProjection(shrinkage=shrinkage), NearestCentroid()
    )
    peer = LinearDiscriminantAnalysis(solver=solver, shrinkage=shrinkage)
    assert_array_equal(model.fit(X, y).predict(X), peer.fit(X, y).predict(X))


def test_auto_draws_correlations_towards_zero():
    X, y = data()
    model = LinearDiscriminantProjection(5).fit(X, y)
    centered = X - np.array([X[y == c].mean(axis=0) for c in range(3)])[y]
    within = centered.T @ centered / len(X)
    A = model.components_
    # (1 - s) W + s diag W gives the identity, for one s between 0 and 1.
    plain = A @ within @ A.T - np.eye(5)
    drawn = A @ (np.diag(np.diag(within)) - within) @ A.T
    s = -np.sum(plain * drawn) / np.sum(drawn**2)
    assert 0 < s < 1
    assert_allclose(plain + s * drawn, 0, atol=1e-10)


@pytest.mark.parametrize("shrinkage", [0, 0.2, "auto"])
def test_there_are_always_as_many_columns_as_asked_for(shrinkage):
    X, y = load_breast_cancer(return_X_y=True)
    widths = range(1, 31, 7)
    models = [
        LinearDiscriminantProjection(k, shrinkage=shrinkage).fit(X, y) for k in widths
    ]
    Z = models[-1].transform(X)
    for k, model in zip(widths, models, strict=True):
        assert model.n_components_ == k
        assert_allclose(model.transform(X), Z[:, :k], atol=1e-7)
    assert_array_equal(models[-1].eigenvalues_[1:], 0)
    assert models[-1].explained_variance_ratio_[0] == 1
    assert list(models[1].get_feature_names_out()) == [
        f"lineardiscriminantprojection{j}" for j in range(8)
    ]


def test_more_columns_than_classes_tell_more_to_a_model_behind():
    X, y = load_digits(return_X_y=True)
    scores = [
        cross_val_score(
            make_pipeline(LinearDiscriminantProjection(k), KNeighborsClassifier()),
            X[:600],
            y[:600] % 2,
            cv=3,
        ).mean()
        for k in (1, 10)
    ]
    assert scores[1] > scores[0] + 0.02


@settings(deadline=None, max_examples=20)
@given(seed=seeds, shrinkage=st.sampled_from([0.0, 0.3, "auto"]))
def test_weights_are_repeats(seed, shrinkage):
    X, y = data(seed=seed % 1000)
    counts = np.random.default_rng(seed).integers(0, 4, len(X))
    counts[:6] = 1
    one = LinearDiscriminantProjection(4, shrinkage=shrinkage)
    other = LinearDiscriminantProjection(4, shrinkage=shrinkage)
    one.fit(X, y, sample_weight=counts)
    other.fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_allclose(one.components_, other.components_, atol=1e-8)
    assert_allclose(one.mean_, other.mean_)
    assert_allclose(one.eigenvalues_, other.eigenvalues_, atol=1e-10)


def test_weights_of_one_are_none():
    X, y = data()
    one = LinearDiscriminantProjection(4).fit(X, y, sample_weight=np.ones(len(X)))
    other = LinearDiscriminantProjection(4).fit(X, y)
    assert_allclose(one.components_, other.components_, rtol=1e-12, atol=1e-12)


def test_rows_of_weight_zero_may_hold_anything_in_y():
    X, y = data()
    labels = np.array(["a", "b", "c"], dtype=object)[y]
    weights = np.ones(len(X))
    labels[0], weights[0] = None, 0
    model = LinearDiscriminantProjection().fit(X, labels, sample_weight=weights)
    assert_array_equal(model.classes_, ["a", "b", "c"])


@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_single_precision_far_from_the_origin(offset):
    X, y = data()
    X = (X + offset).astype(np.float32)
    model = LinearDiscriminantProjection(3, shrinkage=0).fit(X, y)
    wide = LinearDiscriminantProjection(3, shrinkage=0).fit(X.astype(np.float64), y)
    assert model.transform(X).dtype == model.components_.dtype == np.float32
    assert_allclose(model.transform(X), wide.transform(X.astype(float)), atol=5e-5)


def test_rounding_of_single_precision_makes_no_dimension():
    X, y = data(d=4)
    X = (X + 20).astype(np.float32)
    wide = np.hstack([X, X[:, [0]] + X[:, [1]] * np.float32(0.3)])
    with pytest.raises(ValueError, match="from 1 to 4"):
        LinearDiscriminantProjection(5).fit(wide, y)


def test_imbalance_leaves_variance_between_classes_positive():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((100, 4)), 6 * rng.standard_normal((5, 4)) + 1])
    y = np.repeat([0, 1], [100, 5])
    for shrinkage in (0, "auto"):
        for priors in (None, "uniform"):
            model = LinearDiscriminantProjection(
                shrinkage=shrinkage, priors=priors
            ).fit(X, y)
            assert model.eigenvalues_[0] > 0
            assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("shrinkage", [0, 0.3, "auto"])
@pytest.mark.parametrize("factor", [1e4, 1e-4])
def test_units_of_all_columns_change_nothing(shrinkage, factor):
    model = LinearDiscriminantProjection(5, shrinkage=shrinkage)
    Z = model.fit(WINE, WINE_Y).transform(WINE)
    scaled = model.fit(WINE * factor, WINE_Y).transform(WINE * factor)
    assert_allclose(scaled, Z, atol=1e-7)


def test_equal_class_means_give_the_right_number_of_columns():
    X = np.random.default_rng(0).standard_normal((40, 3))
    model = LinearDiscriminantProjection().fit(np.vstack([X, X]), np.repeat([0, 1], 40))
    assert model.components_.shape == (1, 3)
    assert_array_equal(model.eigenvalues_, 0)
    assert_array_equal(model.explained_variance_ratio_, 0)


@pytest.mark.parametrize("shrinkage", [0, 0.3, "auto"])
def test_rows_that_equal_their_class_mean(shrinkage):
    means, y = np.eye(4)[:3], np.arange(12) % 3
    model = LinearDiscriminantProjection(shrinkage=shrinkage)
    with pytest.warns(ThinDataWarning, match="Pass several different rows"):
        Z = model.fit(means[y], y).transform(means[y])
    assert np.isfinite(Z).all()
    gaps = pairwise_distances(Z[:3])[np.triu_indices(3, 1)]
    assert_allclose(gaps, gaps[0])


def test_a_class_of_one_row():
    X, y = data()
    y = y.copy()
    y[0] = 7
    assert LinearDiscriminantProjection().fit(X, y).components_.shape == (3, 5)


@pytest.mark.parametrize("priors", [None, "uniform"])
@pytest.mark.parametrize("shrinkage", [0, "auto"])
def test_rows_come_back_by_least_squares(priors, shrinkage):
    X, y = data(n=91)
    full = LinearDiscriminantProjection(5, priors=priors, shrinkage=shrinkage)
    assert_allclose(full.fit(X, y).inverse_transform(full.transform(X)), X, atol=1e-7)
    model = LinearDiscriminantProjection(2, priors=priors, shrinkage=shrinkage)
    Z = model.fit(X, y).transform(X)
    back = model.inverse_transform(Z)
    assert_allclose(model.transform(back), Z, atol=1e-8)
    design = np.column_stack([np.ones(len(Z)), Z])
    assert_allclose(back, design @ np.linalg.lstsq(design, X, rcond=None)[0], atol=1e-7)


def test_labels_of_any_type_are_the_same_partition():
    X, y = data()
    outputs = [
        LinearDiscriminantProjection().fit(X, np.asarray(names)[y]).transform(X)
        for names in (list("abc"), [10, 20, 30], [-1, 0, 1])
    ]
    outputs.append(LinearDiscriminantProjection().fit(X, pd.Series(y)).transform(X))
    for Z in outputs[1:]:
        assert_array_equal(Z, outputs[0])


# --- numbers ------------------------------------------------------------------------


def test_numbers_are_cut_into_slices_of_equal_weight():
    X, y = load_diabetes(return_X_y=True)
    model = LinearDiscriminantProjection(2, n_slices=5).fit(X, y)
    assert model.classes_ is None
    assert len(model.slice_edges_) == 4
    slices = np.searchsorted(model.slice_edges_, y)
    assert np.ptp(np.bincount(slices)) <= 5
    other = LinearDiscriminantProjection(2).fit(X, slices)
    assert_allclose(model.transform(X), other.transform(X))
    assert abs(np.corrcoef(model.transform(X)[:, 0], y)[0, 1]) > 0.65


def test_floats_of_few_values_are_told():
    X, y = data()
    with pytest.warns(UserWarning, match=r'3 distinct.*target_type="classes" or'):
        LinearDiscriminantProjection().fit(X, y / 2)
    LinearDiscriminantProjection(target_type="numbers").fit(X, y / 2)


def test_few_rows_make_few_slices():
    X, y = load_diabetes(return_X_y=True)
    assert len(LinearDiscriminantProjection(1).fit(X[:17], y[:17]).slice_edges_) == 3


def test_edges_may_be_given():
    X, y = load_diabetes(return_X_y=True)
    model = LinearDiscriminantProjection(slice_edges=[100, 200]).fit(X, y)
    assert_array_equal(model.slice_edges_, [100, 200])
    assert model.n_components_ == 2


def test_integers_may_be_numbers_or_classes():
    X, y = load_digits(return_X_y=True)
    numbers = LinearDiscriminantProjection(target_type="numbers", n_slices=3).fit(X, y)
    assert numbers.n_components_ == 2
    many = np.arange(len(X)) % 30
    with pytest.warns(UserWarning, match='Pass target_type="classes"'):
        LinearDiscriminantProjection().fit(X, many)
    model = LinearDiscriminantProjection(target_type="classes").fit(X, many)
    assert model.n_components_ == 29


# --- several labels -----------------------------------------------------------------


def labelled(n=120, d=6, n_labels=3, seed=0):
    rng = np.random.default_rng(seed)
    Y = (rng.uniform(size=(n, n_labels)) < [0.5, 0.3, 0.1][:n_labels]).astype(int)
    X = rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + 3
    return X + Y @ rng.standard_normal((n_labels, d)), Y


def label_scatter(X, Y, weights=None):
    """Mean over labels of within and between covariance, by a loop."""
    w = np.ones(len(X)) if weights is None else weights
    within, between = np.zeros((2, X.shape[1], X.shape[1]))
    mean = np.average(X, axis=0, weights=w)
    for column in Y.T:
        for value in (0, 1):
            rows = column == value
            center = np.average(X[rows], axis=0, weights=w[rows])
            gaps = X[rows] - center
            within += (gaps * w[rows, None]).T @ gaps / w.sum()
            between += w[rows].sum() / w.sum() * np.outer(center - mean, center - mean)
    return within / Y.shape[1], between / Y.shape[1]


@pytest.mark.parametrize("weighted", [False, True])
def test_labels_add_up(weighted):
    X, Y = labelled()
    weights = np.random.default_rng(1).uniform(0.1, 2, len(X)) if weighted else None
    within, between = label_scatter(X, Y, weights)
    model = LinearDiscriminantProjection(6, shrinkage=0).fit(
        X, Y, sample_weight=weights
    )
    A = model.components_
    assert_allclose(A @ within @ A.T, np.eye(6), atol=1e-9)
    assert_allclose(A @ between @ A.T, np.diag(model.eigenvalues_), atol=1e-9)
    assert (model.eigenvalues_[:3] > 1e-3).all()
    assert_array_equal(model.classes_, [0, 1, 2])
    assert LinearDiscriminantProjection().fit(X, Y).n_components_ == 3


@pytest.mark.parametrize("shrinkage", [0, 0.2, "auto"])
def test_one_label_twice_is_two_classes(shrinkage):
    X, Y = labelled()
    model = LinearDiscriminantProjection(4, shrinkage=shrinkage)
    one = model.fit(X, Y[:, 0]).transform(X)
    both = model.fit(X, Y[:, [0, 0]]).transform(X)
    column = model.fit(X, Y[:, [0]]).transform(X)
    assert_allclose(both, one, atol=1e-8)
    assert_array_equal(column, one)


def test_labels_come_as_frames_booleans_and_lists():
    X, Y = labelled()
    expected = LinearDiscriminantProjection().fit(X, Y).transform(X)
    frame = pd.DataFrame(Y, columns=list("abc"))
    for given_ in (frame, Y.astype(bool), Y.tolist(), Y.astype(float)):
        model = LinearDiscriminantProjection().fit(X, given_)
        assert_array_equal(model.transform(X), expected)


def test_labels_of_all_rows_or_none_are_left_out():
    X, Y = labelled()
    wide = np.column_stack([np.ones(len(Y)), Y, np.zeros(len(Y))])
    weights = np.random.default_rng(0).uniform(size=len(X)) / 7
    model = LinearDiscriminantProjection()
    expected = model.fit(X, Y, sample_weight=weights).transform(X)
    assert_allclose(
        model.fit(X, wide, sample_weight=weights).transform(X), expected, atol=1e-9
    )
    assert_array_equal(model.classes_, np.arange(5))


def test_label_moments_are_those_of_the_rows_with_each():
    X, Y = labelled()
    moments = LabelMoments.of(X, Y, np.ones(len(X)))
    for mean, column in zip(moments.means, Y.T, strict=True):
        assert_allclose(mean, X[column == 1].mean(axis=0))
    assert_allclose(moments.total().covariance, Moments.of(X).covariance)
    within, between = label_scatter(X, Y)
    assert_allclose(moments.within, within)
    assert_allclose(moments.contrasts.T @ moments.contrasts, between)


# --- inside scikit-learn ------------------------------------------------------------


def test_in_a_searched_pipeline():
    X, y = load_digits(return_X_y=True)
    pipeline = make_pipeline(LinearDiscriminantProjection(), NearestCentroid())
    grid = {
        f"{NAME.lower()}__n_components": [2, 9, 20],
        f"{NAME.lower()}__shrinkage": ["auto", 0.3],
    }
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise")
    assert search.fit(X[:500], y[:500]).best_score_ > 0.85
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    assert_array_equal(again.predict(X[500:]), search.predict(X[500:]))


# --- what it refuses ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": None}, "requires y to be passed"),
        (
            {"y": np.zeros(9), "target_type": "numbers"},
            "nearly all of them are 0.*Pass rows of several values",
        ),
        ({"y": ["a"] * 9}, "'y' has 1 class, 'a', .* pass rows of several classes"),
        ({"y": np.r_[np.nan, np.zeros(8)]}, "'y' contains NaN, first in row 0.*drop"),
        ({"y": np.arange(8) % 2}, "'y' has 8 entries, but X has 9 rows.*same rows"),
        ({"y": np.ones((8, 2))}, "'y' has 8 entries, but X has 9 rows.*same rows"),
        ({"y": np.ones((9, 2))}, "2 labels, and each is the same.*with and without"),
        ({"y": np.full((9, 2), 3)}, r"labels 0 or 1, and holds 3. Pass one column"),
        ({"y": np.full((9, 2), np.nan)}, "must hold labels 0 or 1: .*Pass one column"),
        ({"y": [["a", "b"]] * 9}, "must hold labels 0 or 1: .*Pass one column"),
        ({"X": np.ones((9, 3))}, "'X' is constant in every column.*rows that differ"),
        ({"X": np.full((9, 3), np.nan)}, "contains NaN.*SimpleImputer"),
        ({"X": np.full((9, 3), np.inf)}, "contains infinity.*SimpleImputer"),
        ({"n_components": 4}, "'n_components' is 4.*1 to 3.*Pass n_components=3"),
        ({"n_components": 0}, "'n_components' is 0.*Pass n_components=3"),
        ({"n_components": True}, "'n_components' is True.*Pass n_components=3"),
        ({"n_components": 1.5}, "'n_components' is 1.5.*Pass n_components=3"),
        ({"shrinkage": 1.5}, "'shrinkage' is 1.5.*Pass shrinkage=0 for no"),
        ({"shrinkage": None}, "'shrinkage' is None.*Pass shrinkage=0 for no"),
        ({"shrinkage": True}, "'shrinkage' is True.*Pass shrinkage=0 for no"),
        ({"shrinkage": np.nan}, "'shrinkage' is nan.*Pass shrinkage=0 for no"),
        ({"shrinkage": "oas"}, "'shrinkage' is 'oas'.*Pass shrinkage=0 for no"),
        ({"priors": [0.5, 0.4]}, r'sum 1, and more.*Pass priors="uniform"'),
        ({"priors": [1.5, -0.5]}, r'shares from 0 to 1.*Pass priors="uniform"'),
        ({"priors": [1.0, 0.0]}, r'one of them positive. Pass priors="uniform"'),
        ({"priors": [1.0]}, r'must hold 2 shares.*Pass priors="uniform"'),
        ({"priors": [np.nan, 0.5]}, r'must hold 2 shares.*Pass priors="uniform"'),
        (
            {"priors": "uniform", "y": np.eye(9)[:, :2]},
            "y holds 2 labels.*Pass priors=None",
        ),
        ({"target_type": "numbers", "y": list("ababababa")}, "y.astype"),
        ({"slice_edges": [2, 1], "y": np.arange(9.0)}, "rising.*np.quantile"),
        ({"slice_edges": [np.nan], "y": np.arange(9.0)}, "rising.*np.quantile"),
        ({"slice_edges": [[1.0]], "y": np.arange(9.0)}, "rising.*np.quantile"),
        ({"slice_edges": [], "y": np.arange(9.0)}, "rising.*np.quantile"),
        ({"slice_edges": [99], "y": np.arange(9.0)}, "in one slice. Pass edges"),
    ],
)
def test_errors_name_the_remedy(change, message):
    X = np.random.default_rng(0).standard_normal((9, 3))
    given_ = {"X": X, "y": np.arange(9) % 2} | change
    X, y = given_.pop("X"), given_.pop("y")
    with pytest.raises(ValueError, match=f"{NAME}.*{message}"):
        LinearDiscriminantProjection(**given_).fit(X, y)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("priors", "even"),
        ("n_slices", 1),
        ("slice_edges", 3.0),
        ("target_type", "labels"),
    ],
)
def test_parameters_are_declared(name, value):
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {NAME} must be"):
        LinearDiscriminantProjection(**{name: value}).fit(WINE, WINE_Y)


def test_numbers_too_large_are_refused():
    X, y = data()
    with pytest.raises(ValueError, match=r"Divide all rows by one number"):
        LinearDiscriminantProjection().fit(X * 1e200, y)
    model = LinearDiscriminantProjection().fit(X * 1e-140, y)
    with pytest.raises(ValueError, match=r"Pass X.astype\(np.float64\)"):
        model.transform(X * 1e300)


def test_overflow_in_any_column_is_refused():
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    X = np.c_[
        rng.standard_normal(300) * 1e3 + 1e4 * (y == 1),
        rng.standard_normal(300) * 1e-3 + 2e-3 * (y == 2),
    ].astype(np.float32)
    model = LinearDiscriminantProjection(shrinkage=0).fit(X, y)
    far = np.float32([[0, 1e36]])
    with pytest.raises(ValueError, match=r"overflow float32. Pass X.astype"):
        model.transform(far)
    assert np.isfinite(model.transform(far.astype(np.float64))).all()


def test_a_failed_fit_leaves_all_as_it_was():
    X, y = data()
    model = LinearDiscriminantProjection()
    with pytest.raises(ValueError, match="'y' has 1 class"):
        model.fit(X, np.full(len(X), "a"))
    assert not hasattr(model, "n_features_in_")
    model.fit(pd.DataFrame(X, columns=list("abcde")), y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="'y' has 1 class"):
        model.fit(X[:, :2], np.full(len(X), "a"))
    assert pickle.dumps(model) == before


def test_nothing_before_fit():
    for method in ("transform", "inverse_transform"):
        with pytest.raises(NotFittedError):
            getattr(LinearDiscriminantProjection(), method)(WINE)
