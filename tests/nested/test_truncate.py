"""Truncate against slices by hand, and what it promises."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.preprocessing import Normalizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrep.invariance import check_invariance, unclaimed
from skrep.nested import Truncate
from skrep.utils.estimator_checks import parametrize_with_skrep_checks
from tests.strategies import matrices, seeds

X = np.random.default_rng(0).normal(size=(40, 8)) + 0.5
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)

VARIANTS = [
    Truncate(order="random", normalize=False, random_state=0),
    Truncate(1, order=[0]),
]


@parametrize_with_checks(VARIANTS)
def test_sklearn_checks_of_the_variants(estimator, check):
    check(estimator)


@parametrize_with_skrep_checks(VARIANTS)
def test_skrep_checks_of_the_variants(estimator, check):
    check(type(estimator).__name__, estimator)


# --- the cut ---------------------------------------------------------------------


@given(matrices(min_columns=2), st.data())
def test_outputs_are_unit_rows_whose_products_are_cosines(rows, data):
    k = data.draw(st.integers(1, rows.shape[1]))
    cut = Truncate(k).fit_transform(rows)
    assert_allclose(np.linalg.norm(cut, axis=1), 1)
    assert_allclose(cut @ cut.T, cosine_similarity(rows[:, :k]), atol=1e-12)


def test_float32_rows_have_norm_one_to_six_digits():
    cut = Truncate(4).fit_transform(UNIT.astype(np.float32))
    assert cut.dtype == np.float32
    assert_allclose(np.linalg.norm(cut, axis=1), 1, atol=1e-6)


def test_parameters_act_at_the_next_fit():
    cut = Truncate(3).fit(X)
    before = cut.transform(X)
    cut.set_params(n_components=2, normalize=False)
    assert_array_equal(cut.transform(X), before)
    assert_array_equal(cut.fit(X).transform(X), X[:, :2])


def test_it_is_a_slice_and_a_normalizer():
    assert_allclose(Truncate(5).fit_transform(X), Normalizer().transform(X[:, :5]))
    assert_array_equal(Truncate(5, normalize=False).fit_transform(X), X[:, :5])
    picked = Truncate(order=[6, 0, 3], normalize=False)
    assert_array_equal(picked.fit_transform(X), X[:, [6, 0, 3]])
    assert_array_equal(picked.set_params(n_components=2).fit_transform(X), X[:, [6, 0]])


@given(seeds)
def test_a_random_order_is_one_order_for_every_length(seed):
    whole = Truncate(order="random", normalize=False, random_state=seed).fit(X)
    assert_array_equal(np.sort(whole.indices_), np.arange(8))
    for k in range(1, 9):
        short = Truncate(k, order="random", normalize=False, random_state=seed)
        assert_array_equal(short.fit_transform(X), whole.transform(X)[:, :k])


def test_random_orders_differ():
    orders = {
        tuple(Truncate(order="random", random_state=seed).fit(X).indices_)
        for seed in range(5)
    }
    assert len(orders) == 5


@pytest.mark.parametrize("order", ["leading", "random", [5, 2, 7, 0]])
@pytest.mark.parametrize("normalize", [True, False])
def test_a_prefix_is_the_shorter_fit(order, normalize):
    params = {"order": order, "normalize": normalize, "random_state": 0}
    whole = Truncate(**params).fit(X)
    before = whole.transform(X)
    for k in range(1, 5):
        prefix = whole.prefix(k)
        assert prefix.n_components == k
        assert_array_equal(prefix.transform(X), Truncate(k, **params).fit_transform(X))
        assert_array_equal(prefix.fit(X).indices_, whole.indices_[:k])
    assert whole.n_components is None
    assert_array_equal(whole.transform(X), before)


@pytest.mark.parametrize("order", ["leading", [1, 0, 2]])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("container", [np.array, np.asfortranarray, sp.csr_array])
def test_writing_into_the_output_leaves_the_input(order, normalize, container):
    rows = container(X)
    cut = Truncate(order=order, normalize=normalize).fit_transform(rows)
    if sp.issparse(cut):
        cut.data[:] = 0
        assert (rows != sp.csr_array(X)).nnz == 0
    else:
        cut[:] = 0
        assert_array_equal(rows, X)


def test_a_zero_row_stays_zero():
    rows = np.vstack([X, np.zeros(8), np.r_[0, 0, 1, np.zeros(5)]])
    for container in (np.array, sp.csr_array):
        cut = Truncate(2).fit_transform(container(rows))
        dense = cut.toarray() if sp.issparse(cut) else cut
        assert_array_equal(dense[-2:], 0)
        assert_allclose(np.linalg.norm(dense[:-2], axis=1), 1)


# --- containers ------------------------------------------------------------------


@pytest.mark.parametrize("container", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("order", ["leading", [6, 2, 4]])
@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
def test_csr_stays_csr(container, dtype, order, unit):
    sparse = sp.random_array((30, 8), density=0.4, rng=0).toarray().astype(dtype)
    rows = container(sparse * dtype(unit))
    cut = Truncate(3, order=order).fit_transform(rows)
    assert isinstance(cut, container)
    assert cut.dtype == dtype
    assert cut.has_sorted_indices
    expected = Truncate(3, order=order).fit_transform(sparse)
    assert_allclose(cut.toarray(), expected, rtol=1e-6)


def test_entries_of_csr_rows_that_stand_twice_are_added_first():
    twice = sp.csr_array(([1.0, 2.0, 4.0], [0, 0, 1], [0, 3]), shape=(1, 2))
    assert_allclose(Truncate().fit_transform(twice).toarray(), [[0.6, 0.8]])
    assert twice.nnz == 3


def test_zeros_that_csr_rows_store_stay_zero():
    stored = sp.csr_array(([0.0, 0.0, 2.0], [0, 1, 0], [0, 2, 3]), shape=(2, 2))
    assert_array_equal(Truncate().fit_transform(stored).toarray(), [[0, 0], [1, 0]])


@pytest.mark.parametrize("wrap", [np.asarray, pd.DataFrame])
def test_half_floats_become_float32(wrap):
    half = wrap(X.astype(np.float16))
    cut = Truncate(4).fit_transform(half)
    assert cut.dtype == np.float32
    assert_allclose(cut, Truncate(4).fit_transform(X), atol=2e-3)


def test_columns_keep_their_names():
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    cut = Truncate(order=[6, 0]).set_output(transform="pandas").fit_transform(frame)
    assert list(cut) == ["g", "a"]
    assert list(Truncate(2).fit(X).get_feature_names_out()) == ["x0", "x1"]
    prefix = Truncate(order=[6, 0]).fit(frame).prefix(1)
    assert list(prefix.get_feature_names_out()) == ["g"]


# --- errors ----------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, -1, 20, 2.5, True])
def test_lengths_follow_the_one_rule(bad):
    message = r"'n_components' is .*from 1 to 8, or None for all 8. Pass n_compon"
    with pytest.raises(ValueError, match=f"Truncate: {message}"):
        Truncate(bad).fit(X)
    with pytest.raises(ValueError, match=rf"Truncate\.prefix: {message}"):
        Truncate().fit(X).prefix(bad)
    assert Truncate().fit_transform(X).shape == (40, 8)


def test_an_order_of_few_columns_has_no_more():
    with pytest.raises(ValueError, match="from 1 to 3, or None for all 3"):
        Truncate(4, order=[1, 2, 5]).fit(X)


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ([], "'order' is empty"),
        ([0, 8], "'order' holds 8"),
        ([0, -1], "'order' holds -1"),
        ([0, 1.0], r"'order' holds 1\.0"),
        ([True, 2], "'order' holds True"),
        (np.array([True, False]), "'order' holds np.True_"),
        ([3, 1, 3], "'order' holds 3 more than once"),
        ([[0, 1]], r"'order' holds \[0, 1\]"),
    ],
)
def test_an_order_holds_columns_each_once(order, message):
    with pytest.raises(ValueError, match=rf"{message}.*pass such as order=\[2, 0, 1\]"):
        Truncate(order=order).fit(X)
    with pytest.raises(ValueError, match="must be a str among"):
        Truncate(order="middle").fit(X)


# --- invariance ------------------------------------------------------------------

CLAIMING = [
    Truncate(n_components, order=order, normalize=normalize, random_state=0)
    for n_components in (None, 2)
    for order in ("leading", "random", [3, 1])
    for normalize in (True, False)
]


@pytest.mark.parametrize("estimator", CLAIMING, ids=str)
def test_claims_hold_and_the_others_are_broken(estimator):
    rows = X[:, :5] * [3, 2, 1, 1, 0.5] + [1, 0, 5, 0, 0]
    assert estimator.invariances()
    for claim in estimator.invariances():
        report = check_invariance(estimator, claim, rows)
        assert report.holds, report
    for claim in unclaimed(estimator):
        assert not check_invariance(estimator, claim, rows, n_draws=8).holds, claim
