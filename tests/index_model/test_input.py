"""Odd and bad input: what is refused, warned of, or simply right."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from skrep.datasets import make_index_model
from skrep.exceptions import ThinDataWarning
from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)
from skrep.linalg import slice_codes

FIRST = [
    SteinIndex(order=1),
    SteinIndex(order=1, response="raw"),
    SlicedInverseRegression(),
]
SECOND = [
    SteinIndex(),
    SteinIndex(order=2),
    SteinIndex(response="raw"),
    SteinIndex(order=2, response="raw"),
    SlicedAverageVarianceEstimation(),
    DirectionalRegression(),
    PrincipalHessianDirections(),
]
ALL = FIRST + SECOND
SLICED = [one for one in ALL if hasattr(one, "n_slices") and "raw" not in repr(one)]
every = pytest.mark.parametrize("estimator", ALL, ids=repr)
sliced = pytest.mark.parametrize("estimator", SLICED, ids=repr)
thin = pytest.mark.filterwarnings("ignore::skrep.exceptions.ThinDataWarning")

X, Y, _ = make_index_model(400, 4, links="ratio", design="ar1", random_state=0)
LABELS = np.array(list("abc"))[np.digitize(Y, np.quantile(Y, [0.3, 0.7]))]


def fit(estimator, X=X, y=Y, **params):
    return clone(estimator).set_params(**params).fit(X, y)


def agree(one, other, X, W=None, tolerance=1e-7):
    """Transforms are equal, up to the signs that other columns may settle."""
    Z, V = one.transform(X), other.transform(X if W is None else W)
    assert Z.shape == V.shape
    signs = np.sign(np.sum(Z * V, axis=0))
    assert_allclose(Z * signs, V, atol=tolerance)


def warned(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, caught


# --- columns -----------------------------------------------------------------------


@every
@pytest.mark.parametrize("value", [0.0, 1 / 3])
def test_a_constant_column_has_coefficients_of_exact_zero(estimator, value):
    more = np.insert(X, 2, value, axis=1)
    fitted, caught = warned(lambda: fit(estimator, more))
    assert [one.category for one in caught] == [ThinDataWarning]
    assert "constant in column 2: the coefficient is 0" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert_array_equal(fitted.components_[:, 2], 0)
    without = fit(estimator)
    rest = np.delete(fitted.components_, 2, axis=1)
    scale = np.abs(without.components_).max()
    assert_allclose(rest, without.components_, atol=1e-8 * scale)


@thin
@every
def test_constant_columns_of_float32_are_constant(estimator):
    more = np.insert(X, 2, 1 / 3, axis=1).astype(np.float32)
    assert_array_equal(fit(estimator, more).components_[:, 2], 0)


def test_constant_columns_are_named_and_counted():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd")).assign(left=1.0, right=2)
    with pytest.warns(ThinDataWarning, match="in column 'left', 'right': the"):
        SteinIndex().fit(frame, Y)
    many = np.hstack([X, np.ones((400, 9))])
    with pytest.warns(
        ThinDataWarning, match=r"column 4, 5, 6, 7, 8 and 4 more: .*Drop"
    ):
        SteinIndex().fit(many, Y)


@every
def test_rows_that_are_all_alike_are_refused(estimator):
    with pytest.raises(ValueError, match="Pass rows that differ"):
        fit(estimator, np.ones((400, 3)))


@every
def test_a_dependent_column_changes_no_output(estimator):
    more = np.column_stack([X, X[:, 0] + X[:, 1]])
    fitted, without = fit(estimator, more), fit(estimator)
    assert fitted.components_.dtype == np.float64
    agree(fitted, without, more, X)
    # Of all directions that give these outputs, the shortest on standardized columns.
    units = fitted.components_ * more.std(axis=0)
    standardized = (more - more.mean(axis=0)) / more.std(axis=0)
    shortest = np.linalg.pinv(standardized, rcond=1e-10) @ fitted.transform(more)
    assert_allclose(units, shortest.T, atol=1e-8)


@every
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_a_column_that_hardly_varies_gives_bounded_outputs(estimator, offset):
    near = X.copy()
    near[:, 2] = offset + 1e-7 * X[:, 2]
    fitted = fit(estimator, near)
    assert np.abs(fitted.transform(near)).max() < 10
    agree(fitted, fit(estimator), near, X, tolerance=1e-3)


# --- numbers of components ---------------------------------------------------------


@every
def test_as_many_components_as_columns_are_allowed(estimator):
    if repr(estimator) == repr(FIRST[1]):
        y = np.column_stack([Y, Y**2, X[:, 0], X[:, 1] ** 3])
    else:
        y = Y
    assert fit(estimator, y=y, n_components=4).components_.shape == (4, 4)


@every
def test_what_is_no_number_of_components_is_refused(estimator):
    for bad in (0, -1, 5, 1.5, "all", True):
        with pytest.raises(ValueError, match=r"is .* Pass n_components=.*, say"):
            fit(estimator, n_components=bad)


@every
def test_more_components_than_the_rank_are_refused(estimator):
    more = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.raises(ValueError, match=r"from 1 to (4|1), or None for all (4|1)"):
        fit(estimator, more, n_components=6)
    with pytest.raises(ValueError, match=r"Pass n_components=(4|1)"):
        fit(estimator, more, n_components=5)


@pytest.mark.parametrize("estimator", [FIRST[0], FIRST[2]], ids=repr)
def test_order_one_tells_one_direction_fewer_than_classes(estimator):
    assert fit(estimator, y=LABELS).n_components_ == 2
    with pytest.raises(ValueError, match=r"at most 2 directions .* n_components=2"):
        fit(estimator, y=LABELS, n_components=3)


@pytest.mark.parametrize("estimator", [FIRST[0], FIRST[2]], ids=repr)
def test_order_one_tells_one_direction_fewer_than_slices(estimator):
    assert fit(estimator, n_slices=3).n_components_ == 2
    with pytest.raises(ValueError, match=r"at most 2 directions .* n_components=2"):
        fit(estimator, n_slices=3, n_components=3)
    with pytest.raises(ValueError, match=r"at most 1 directions? .* n_components=1"):
        fit(estimator, y=(Y > 0) * 1.0, n_components=2)


def test_order_one_tells_as_many_directions_as_raw_responses():
    assert fit(FIRST[1]).n_components_ == 1
    with pytest.raises(ValueError, match=r"at most 1 directions? .*order=\"both\""):
        fit(FIRST[1], n_components=2)
    # A response that depends on another adds none.
    assert fit(FIRST[1], y=np.column_stack([Y, 2 * Y])).n_components_ == 1


@pytest.mark.parametrize("estimator", SECOND, ids=repr)
def test_order_two_tells_more_directions_than_classes(estimator):
    if estimator in SLICED:
        assert fit(estimator, y=LABELS, n_components=4).n_components_ == 4
    assert fit(estimator, y=LABELS == "a").n_components_ == 4


# --- responses ---------------------------------------------------------------------


@every
@pytest.mark.parametrize("y", [np.ones(400), np.full(400, "a"), np.zeros((400, 2))])
def test_a_response_of_one_value_is_refused(estimator, y):
    if y.dtype.kind == "U" and estimator not in SLICED:
        with pytest.raises(ValueError, match=r"Pass y.astype\(float\)"):
            fit(estimator, y=y)
        return
    with pytest.raises(ValueError, match="pass rows of several values") as caught:
        fit(estimator, y=y)
    assert "'y' has one value, " in str(caught.value)
    assert "np." not in str(caught.value)


@every
def test_too_few_rows_are_told_before_a_response_of_one_value(estimator):
    with pytest.raises(ValueError, match=r"1 sample\(s\) .* minimum of 2 is required"):
        fit(estimator, X[:1], np.ones(1))


@every
def test_of_pure_noise_no_column_is_left(estimator):
    noise, seeds = np.empty((400, 0)), []
    for seed in range(5):
        y = np.random.default_rng(seed).normal(size=400)
        fitted, caught = warned(lambda y=y: fit(estimator, y=y, n_components="auto"))
        if fitted.n_components_ == 0:
            seeds.append(seed)
            assert len(caught) == 1
            message = str(caught[0].message)
            assert "next step of a pipeline will refuse" in message
            assert f"{type(estimator).__name__}(n_components=1) to force" in message
            assert caught[0].filename == __file__
            assert fitted.components_.shape == (0, 4)
            assert_array_equal(fitted.transform(X), noise)
            assert list(fitted.get_feature_names_out()) == []
    assert len(seeds) >= 4


@every
def test_a_column_of_a_table_is_a_vector(estimator):
    one, other = fit(estimator), fit(estimator, y=Y[:, None])
    assert_array_equal(one.components_, other.components_)
    assert_array_equal(one.eigenvalues_, other.eigenvalues_)


@pytest.mark.parametrize("convert", [str, bool, "category"])
@sliced
def test_labels_are_classes(estimator, convert):
    codes = (Y > 0).astype(int)
    if convert == "category":
        pandas = pytest.importorskip("pandas")
        labels = pandas.Series(
            pandas.Categorical.from_codes(codes, ["low", "high"], ordered=True)
        )
    else:
        labels = codes.astype(convert)
    one, other = fit(estimator, y=labels), fit(estimator, y=codes)
    assert one.slice_edges_ is other.slice_edges_ is None
    assert_allclose(one.components_, other.components_, atol=1e-9)


@sliced
def test_integers_are_classes_up_to_a_bound(estimator):
    order = np.argsort(np.argsort(Y))
    few, many = order * 20 // 400, order * 21 // 400
    assert fit(estimator, y=few).slice_edges_ is None
    name = "response" if isinstance(estimator, SteinIndex) else "target_type"
    fitted, caught = warned(lambda: fit(estimator, y=many))
    assert len(fitted.slice_edges_)
    assert [one.category for one in caught] == [UserWarning]
    assert f'{name}="classes"' in str(caught[0].message)
    assert caught[0].filename == __file__
    numbers = "slices" if name == "response" else "numbers"
    again = fit(estimator, y=many, **{name: numbers})
    assert_array_equal(again.components_, fitted.components_)


@every
def test_a_constant_output_adds_nothing(estimator):
    y = np.column_stack([Y, np.full(400, 3.0)])
    fitted, caught = warned(lambda: fit(estimator, y=y))
    assert [one.category for one in caught] == [ThinDataWarning]
    assert "constant in column 1, which tells no direction" in str(caught[0].message)
    assert caught[0].filename == __file__
    agree(fitted, fit(estimator), X)
    assert_allclose(fitted.eigenvalues_, fit(estimator).eigenvalues_, rtol=1e-9)


@pytest.mark.parametrize("estimator", SECOND, ids=repr)
def test_curves_up_and_down_show_the_same_direction(estimator):
    rows = np.random.default_rng(0).normal(size=(1000, 4))
    up, down = (
        fit(estimator, rows, sign * rows[:, 0] ** 2, n_components=1) for sign in (1, -1)
    )
    assert_allclose(up.components_, down.components_, atol=1e-8)
    assert np.abs(up.components_[0, 0]) > 0.95


@sliced
def test_two_numbers_are_two_slices(estimator):
    y = (Y > 0) * 1.0
    fitted = fit(estimator, y=y)
    assert_array_equal(fitted.slice_edges_, [0.5])
    order = np.random.default_rng(0).permutation(400)
    again = fit(estimator, X[order], y[order])
    assert_allclose(fitted.components_, again.components_, atol=1e-8)


@sliced
@pytest.mark.parametrize("n_zeros", [601, 600, 599, 550])
def test_many_zeros_are_one_slice(estimator, n_zeros):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(1000, 4))
    y = np.abs(rows[:, 0]) + 1
    y[rng.permutation(1000)[:n_zeros]] = 0
    fitted = fit(estimator, rows, y)
    sizes = np.bincount(slice_codes(y, fitted.slice_edges_))
    halves = 1 if estimator in SECOND[-3:] or estimator in FIRST else 2
    assert sizes[0] == n_zeros
    assert 4 * halves <= len(sizes) - 1 <= 5 * halves
    # What a tie leaves over is no slice of its own.
    assert sizes.min() >= 0.4 * 100 / halves
    order = rng.permutation(1000)
    again = fit(estimator, rows[order], y[order])
    assert_array_equal(again.slice_edges_, fitted.slice_edges_)
    assert_allclose(fitted.components_, again.components_, atol=1e-8)


# --- few rows ----------------------------------------------------------------------


@pytest.mark.parametrize("n", [30, 40, 41])
@pytest.mark.parametrize(
    "estimator", [SteinIndex(), *FIRST, DirectionalRegression()], ids=repr
)
def test_no_more_rows_than_columns_still_tell_something(estimator, n):
    found = []
    for seed in range(3):
        rows, y, _ = make_index_model(n + 500, 40, design="ar1", random_state=seed)
        fitted = fit(estimator, rows[:n], y[:n], n_components=1)
        Z = fitted.transform(rows[n:])[:, 0]
        # The sign is settled by a coefficient, so which way Z goes is in the fit.
        way = np.sign(np.corrcoef(fitted.transform(rows[:n])[:, 0], y[:n])[0, 1])
        found.append(way * np.corrcoef(Z, y[n:])[0, 1])
    assert min(found) > 0
    assert np.mean(found) > 0.3


@thin
@every
@pytest.mark.parametrize("n", [20, 40])
def test_few_rows_do_not_know_the_order_of_columns(estimator, n):
    rows, y, _ = make_index_model(n, 40, design="ar1", random_state=0)
    order = np.random.default_rng(0).permutation(40)
    fitted = fit(estimator, rows, y, n_components=1)
    moved = fit(estimator, rows[:, order], y, n_components=1)
    agree(fitted, moved, rows, rows[:, order])
    assert np.isfinite(fitted.components_).all()
    assert_allclose(fitted.transform(rows).std(axis=0), 1)


def test_the_ridge_is_on_up_to_twice_as_many_rows_as_columns():
    rows, y, _ = make_index_model(81, 40, random_state=0)
    for n, ridge in ((81, 0.0), (80, np.sqrt(40 / 80))):
        one = fit(FIRST[2], rows[:n], y[:n])
        other = fit(FIRST[2], rows[:n], y[:n], shrinkage=ridge)
        assert_array_equal(one.components_, other.components_)


@every
def test_tests_need_rows(estimator):
    rows, y, _ = make_index_model(60, 40, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ThinDataWarning)
        with pytest.raises(ValueError, match="Pass n_components=1, say"):
            fit(estimator, rows, y, n_components="auto")
    with pytest.raises(ValueError, match="no shrinkage"):
        fit(estimator, n_components="auto", shrinkage=0.1)


@pytest.mark.parametrize(
    ("n", "n_slices", "expected"),
    [(400, 10, 10), (399, 30, 24), (100, 10, 6), (32, 10, 2)],
)
def test_average_variances_take_fewer_slices_of_fewer_rows(n, n_slices, expected):
    save = SlicedAverageVarianceEstimation(n_slices=n_slices).fit(X[:n], Y[:n])
    assert len(save.slice_edges_) + 1 == expected


@pytest.mark.parametrize("n", [3, 16, 31])
def test_average_variances_of_too_few_rows_are_warned_of(n):
    with pytest.warns(ThinDataWarning, match="Use SlicedInverseRegression") as caught:
        save = SlicedAverageVarianceEstimation().fit(X[:n], Y[:n])
    assert len(caught) == 1
    assert "at least 32 rows" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert len(save.slice_edges_) == 1
    assert np.isfinite(save.components_).all()


@thin
@every
@pytest.mark.parametrize("n", [2, 3, 5])
def test_a_handful_of_rows_is_fitted(estimator, n):
    fitted = fit(estimator, X[:n], Y[:n])
    assert 1 <= fitted.n_components_ <= min(n - 1, 4)
    assert_allclose(fitted.transform(X[:n]).std(axis=0), 1)


# --- classes -----------------------------------------------------------------------


@sliced
def test_a_class_may_have_one_row(estimator):
    y = LABELS.copy()
    y[7] = "z"
    fitted = fit(estimator, y=y)
    Z = fitted.transform(X)
    assert_allclose(Z.T @ Z / 400, np.eye(Z.shape[1]), atol=1e-9)


@sliced
def test_classes_that_are_told_apart_perfectly(estimator):
    rows = X.copy()
    rows[:, 0] = 5.0 * (Y > 0)
    fitted = fit(estimator, rows, np.where(Y > 0, "a", "b"), n_components=1)
    assert np.isfinite(fitted.eigenvalues_).all()
    Z = fitted.transform(rows)[:, 0]
    assert_allclose(np.abs(np.corrcoef(Z, rows[:, 0])[0, 1]), 1, atol=1e-6)


# --- float types, columns ----------------------------------------------------------


@every
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_float32_far_from_the_origin_equals_float64(estimator, scale):
    far = (X * scale + 1e6).astype(np.float32)
    single, double = fit(estimator, far), fit(estimator, far.astype(np.float64))
    assert single.components_.dtype == single.eigenvalues_.dtype == np.float32
    assert single.mean_.dtype == np.float32
    size = np.abs(double.components_).max()
    assert_allclose(single.components_, double.components_, atol=1e-4 * size)
    assert_allclose(single.eigenvalues_, double.eigenvalues_, rtol=1e-4, atol=1e-6)
    Z = single.transform(far)
    assert Z.dtype == np.float32
    assert_allclose(Z, double.transform(far.astype(np.float64)), atol=1e-4)
    assert single.inverse_transform(Z).dtype == np.float32


@every
def test_missing_and_renamed_columns_are_refused(estimator):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    fitted = fit(estimator, frame)
    with pytest.raises(ValueError, match=r"3 features, but .* is expecting 4"):
        fit(estimator).transform(X[:, :3])
    with pytest.raises(ValueError, match="feature names should match those"):
        fitted.transform(frame.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match="must be in the same order"):
        fitted.transform(frame[list("bacd")])
    with pytest.raises(ValueError, match="Pass the output of transform"):
        fitted.inverse_transform(np.ones((2, 9)))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("estimator", [SteinIndex(), FIRST[1], FIRST[2]], ids=repr)
def test_numbers_that_are_not_there_are_refused(estimator, bad):
    rows = X.copy()
    rows[3, 1] = bad
    with pytest.raises(ValueError, match="first in row 3, column 1"):
        fit(estimator, rows)
    with pytest.raises(ValueError, match="first in row 3, column 1"):
        fit(estimator).transform(rows)
    with pytest.raises(ValueError, match="drop such rows"):
        fit(estimator, y=np.where(np.arange(400) == 3, bad, Y))
    y = np.column_stack([Y, Y])
    y[3, 1] = bad
    with pytest.raises(ValueError, match="'y' has several columns"):
        fit(estimator, y=y)


@every
def test_a_response_of_another_length_is_refused(estimator):
    for y in (Y[:-1], np.column_stack([Y, Y])[:-1]):
        with pytest.raises(ValueError, match="pass those of the same rows"):
            fit(estimator, y=y)


@every
def test_numbers_too_large_are_told(estimator):
    with pytest.raises(ValueError, match="Divide all rows by one number first"):
        fit(estimator, X * 1e200)


@every
def test_inputs_are_left_alone(estimator):
    rows, y, w = X.copy(), Y.copy(), np.ones(400)
    for array in (rows, y, w):
        array.setflags(write=False)
    fitted = clone(estimator).fit(rows, y, sample_weight=w)
    fitted.transform(rows)
    assert_array_equal(rows, X)
    assert_array_equal(y, Y)
