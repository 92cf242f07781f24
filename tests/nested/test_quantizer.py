"""ScalarQuantizer against loops and NumPy, and what it promises."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.preprocessing import KBinsDiscretizer, MinMaxScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrep.invariance import check_invariance, unclaimed
from skrep.nested import ScalarQuantizer
from skrep.utils.estimator_checks import parametrize_with_skrep_checks
from tests.strategies import matrices, seeds

X = np.random.default_rng(0).normal(size=(50, 12)) * np.linspace(0.1, 9, 12) + 2
ABOVE = np.array([row > X.mean(axis=0) for row in X])


@parametrize_with_checks([ScalarQuantizer(bits=1)])
def test_sklearn_checks_of_one_bit(estimator, check):
    check(estimator)


@parametrize_with_skrep_checks([ScalarQuantizer(bits=1)])
def test_skrep_checks_of_one_bit(estimator, check):
    check(type(estimator).__name__, estimator)


# --- bytes -----------------------------------------------------------------------


def test_codes_are_the_scaled_and_rounded_rows():
    codes = ScalarQuantizer().fit_transform(X)
    assert codes.dtype == np.uint8
    scaled = MinMaxScaler(feature_range=(0, 255)).fit_transform(X)
    assert_array_equal(codes, scaled.round())
    assert_array_equal(codes.min(axis=0), 0)
    assert_array_equal(codes.max(axis=0), 255)


@given(matrices(), st.sampled_from([np.float32, np.float64]))
def test_rows_come_back_within_half_a_step(rows, dtype):
    rows = rows.astype(dtype)
    model = ScalarQuantizer().fit(rows)
    back = model.inverse_transform(model.transform(rows))
    assert back.dtype == dtype
    rounding = 8 * np.finfo(dtype).eps * np.abs(rows).max(axis=0)
    assert (np.abs(back - rows) <= model.step_ / 2 + rounding).all()
    assert_array_equal(model.transform(back), model.transform(rows))


def test_numbers_beyond_the_range_are_clipped():
    model = ScalarQuantizer().fit(X)
    far = np.vstack([X.min(axis=0) - 1e6, X.max(axis=0) + 1e6])
    assert_array_equal(model.transform(far), np.repeat([[0], [255]], 12, axis=1))
    ends = np.vstack([X.min(axis=0), X.max(axis=0)])
    assert_allclose(model.inverse_transform(model.transform(far)), ends)


@pytest.mark.parametrize("bits", [8, 1])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("constant", [0.1, 0.0, -7.3])
def test_a_constant_column_comes_back_exactly(bits, dtype, constant):
    rows = X.astype(dtype)
    rows[:, 3] = constant
    model = ScalarQuantizer(bits).fit(rows)
    assert_array_equal(
        model.inverse_transform(model.transform(rows))[:, 3], dtype(constant)
    )
    if bits == 1:
        assert model.threshold_[3] == dtype(constant)
    moved = rows + np.eye(12)[3].astype(dtype)
    back = model.inverse_transform(model.transform(moved))
    assert_array_equal(back[:, 3], dtype(constant))


@pytest.mark.parametrize("bits", [8, 1])
def test_one_row_comes_back_exactly(bits):
    model = ScalarQuantizer(bits).fit(X[:1])
    assert_array_equal(model.inverse_transform(model.transform(X)), [X[0]] * 50)


def test_ranges_too_small_to_be_cut_are_constant():
    rows = np.array([[0.0], [1e-310]])
    model = ScalarQuantizer().fit(rows)
    assert_array_equal(model.transform(rows), [[0], [0]])


# --- bits ------------------------------------------------------------------------


def test_bits_are_packed_as_documented():
    model = ScalarQuantizer(bits=1).fit(X)
    packed = model.transform(X)
    assert packed.dtype == np.uint8
    assert packed.shape == (50, 2)
    for row, pair in zip(ABOVE, packed, strict=True):
        text = "".join("01"[int(bit)] for bit in row) + "0000"
        assert [int(text[:8], 2), int(text[8:], 2)] == list(pair)


@given(matrices(max_columns=20))
def test_signs_make_the_round_trip(rows):
    model = ScalarQuantizer(bits=1).fit(rows)
    packed = model.transform(rows)
    assert packed.shape == (len(rows), (rows.shape[1] + 7) // 8)
    back = model.inverse_transform(packed)
    assert back.shape == rows.shape
    assert_array_equal(back > model.threshold_, rows > model.threshold_)
    assert_array_equal(model.transform(back), packed)


@given(seeds)
def test_the_inverse_is_the_mean_of_the_side(seed):
    rng = np.random.default_rng(seed)
    rows, weights = rng.normal(size=(20, 3)), rng.uniform(size=20)
    model = ScalarQuantizer(bits=1).fit(rows, sample_weight=weights)
    means = np.average(rows, axis=0, weights=weights)
    assert_allclose(model.threshold_, means, atol=1e-14)
    back = model.inverse_transform(model.transform(rows))
    for j, mean in enumerate(means):
        for side in (rows[:, j] > mean, rows[:, j] <= mean):
            expected = np.average(rows[side, j], weights=weights[side])
            assert_allclose(back[side, j], expected)
    assert_allclose(np.average(back, axis=0, weights=weights), means, atol=1e-12)


def test_a_rare_side_keeps_its_mean_in_float32():
    rows = np.full((1000, 8), 1000 + np.linspace(0, 1, 8), dtype=np.float32)
    rows[0] -= 9
    model = ScalarQuantizer(bits=1).fit(rows)
    assert_allclose(model.means_, rows[:2], rtol=1e-6)


def test_two_uniform_bins_at_the_middle_are_one_bit():
    rows = np.vstack([X, 2 * X.mean(axis=0) - X])
    bins = KBinsDiscretizer(2, encode="ordinal", strategy="uniform").fit_transform(rows)
    packed = ScalarQuantizer(bits=1).fit_transform(rows)
    assert_array_equal(np.unpackbits(packed, axis=1, count=12), bins)


def test_differing_bits_can_be_counted():
    packed = ScalarQuantizer(bits=1).fit_transform(X)
    counted = np.bitwise_count(packed[:, None] ^ packed[None]).sum(axis=2)
    assert_array_equal(counted, (ABOVE[:, None] != ABOVE[None]).sum(axis=2))


# --- weights, types, names -------------------------------------------------------


@pytest.mark.parametrize("bits", [8, 1])
def test_weights_are_repetitions(bits):
    weights = np.random.default_rng(1).integers(0, 3, size=50)
    weights[X[:, 0].argmax()] = 0
    model = ScalarQuantizer(bits).fit(X, sample_weight=weights)
    other = ScalarQuantizer(bits).fit(np.repeat(X, weights, axis=0))
    assert_array_equal(model.transform(X), other.transform(X))
    assert_allclose(
        model.inverse_transform(model.transform(X)),
        other.inverse_transform(other.transform(X)),
    )


@pytest.mark.parametrize("bits", [8, 1])
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_fitted_arrays_are_float32(bits, dtype):
    rows = X.astype(dtype)
    model = ScalarQuantizer(bits).fit(rows)
    fitted = (model.lower_, model.step_, model.threshold_, model.means_)
    kept = [part for part in fitted if part is not None]
    assert len(kept) == 2
    assert {part.dtype for part in kept} == {np.dtype(np.float32)}
    assert model.inverse_transform(model.transform(rows)).dtype == np.float32


def test_parameters_act_at_the_next_fit():
    model = ScalarQuantizer().fit(X)
    codes = model.transform(X)
    assert_array_equal(model.set_params(bits=1).transform(X), codes)
    assert model.fit(X).transform(X).shape == (50, 2)
    assert model.lower_ is None
    assert model.set_params(bits=8).fit(X).threshold_ is None
    assert_array_equal(model.transform(X), codes)


def test_names_of_the_columns():
    frame = pd.DataFrame(X, columns=list("abcdefghijkl"))
    table = ScalarQuantizer().set_output(transform="pandas").fit_transform(frame)
    assert list(table) == list(frame)
    assert set(table.dtypes) == {np.dtype(np.uint8)}
    packed = ScalarQuantizer(bits=1).set_output(transform="pandas")
    expected = ["scalarquantizer0", "scalarquantizer1"]
    assert list(packed.fit_transform(frame)) == expected
    with pytest.raises(ValueError, match="is not equal to feature_names_in_"):
        packed.get_feature_names_out(["a"])


@pytest.mark.parametrize("bits", [8, 1])
@pytest.mark.parametrize(
    "wrap", [np.float64, np.int64, pd.DataFrame, np.ndarray.tolist]
)
def test_codes_may_come_in_any_type(bits, wrap):
    model = ScalarQuantizer(bits).fit(X)
    codes = model.transform(X)
    assert_array_equal(
        model.inverse_transform(wrap(codes)), model.inverse_transform(codes)
    )


# --- errors ----------------------------------------------------------------------


@pytest.mark.parametrize("bits", [8, 1])
def test_errors_name_the_remedy(bits):
    model = ScalarQuantizer(bits).fit(X)
    codes = model.transform(X)
    for bad in (codes + 0.5, codes.astype(int) - 256, codes.astype(int) + 256):
        with pytest.raises(ValueError, match="integers from 0 to 255: pass the output"):
            model.inverse_transform(bad)
    with pytest.raises(ValueError, match=r"transform gives .*Pass the output"):
        model.inverse_transform(codes[:, 1:])
    with pytest.raises(ValueError, match=r"ScalarQuantizer.inverse_transform: .*NaN"):
        model.inverse_transform(np.full(codes.shape, np.nan))
    with pytest.raises(TypeError, match=r"ScalarQuantizer: .*toarray\(\)"):
        ScalarQuantizer(bits).fit(sp.csr_array(X))
    with pytest.raises(ValueError, match="Pass sample_weight=None"):
        ScalarQuantizer(bits).fit(X, sample_weight=np.zeros(50))


@pytest.mark.parametrize("bits", [0, 2, 4, 16, "8", 8.0])
def test_bits_are_eight_or_one(bits):
    with pytest.raises(ValueError, match="'bits' parameter"):
        ScalarQuantizer(bits).fit(X)


# --- invariance ------------------------------------------------------------------


@pytest.mark.parametrize("bits", [8, 1])
def test_claims_hold_and_the_others_are_broken(bits):
    estimator = ScalarQuantizer(bits)
    for claim in estimator.invariances():
        report = check_invariance(estimator, claim, X)
        assert report.holds, report
    for claim in unclaimed(estimator):
        assert not check_invariance(estimator, claim, X, n_draws=8).holds, claim
