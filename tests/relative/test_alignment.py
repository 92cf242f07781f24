"""LatentAlignment against second implementations, and the laws it promises."""

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrep.invariance import Claim, check_invariance
from skrep.relative import LatentAlignment

METHODS = ("shrunk", "orthogonal", "ridge", "affine", "low_rank", "cca")


def rotation(seed, d, e=None):
    e = e or d
    big = np.random.default_rng(seed).normal(size=(max(d, e), max(d, e)))
    return np.linalg.qr(big)[0][:d, :e]


def noisy_pairs(seed=0, n=40, d=6, e=5, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * np.linspace(2, 0.5, d) + 1
    Y = X @ rng.normal(size=(d, e)) + noise * rng.normal(size=(n, e)) - 2
    return X, Y


# --- the map ---------------------------------------------------------------------


@pytest.mark.parametrize("method", ["shrunk", "orthogonal", "affine"])
@pytest.mark.parametrize(("d", "e"), [(6, 6), (4, 7)])
def test_a_similarity_is_recovered_and_undone(method, d, e):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, d)) * np.logspace(0, -4, d) + rng.normal(size=d)
    Q = rotation(1, d, e)
    Y = 2.5 * X @ Q + rng.normal(size=e)
    model = LatentAlignment(method).fit(X[:30], Y[:30])
    assert_allclose(model.transform(X), Y, atol=1e-10)
    assert_allclose(model.inverse_transform(Y), X, atol=1e-10)
    assert_allclose(model.coef_, 2.5 * Q, atol=1e-6)
    assert model.rank_ == d


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10**6),
    st.sampled_from([1e-3, 1.0, 1e3]),
    st.integers(1, 5),
    st.booleans(),
)
def test_the_default_recovers_any_similarity(seed, scale, d, weighted):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(15, d))
    Y = scale * (X @ rotation(seed + 1, d) + rng.normal(size=d))
    weights = rng.integers(0, 3, size=15) + np.arange(15) % 2 if weighted else None
    model = LatentAlignment().fit(X, Y, sample_weight=weights)
    assert_allclose(model.transform(X), Y, atol=1e-10 * scale)


@pytest.mark.parametrize("method", ["shrunk", "orthogonal"])
def test_the_map_is_zero_off_the_span_of_few_pairs(method):
    X, Y = np.random.default_rng(0).normal(size=(2, 5, 9))
    model = LatentAlignment(method).fit(X, Y)
    assert model.rank_ == 4
    unseen = scipy.linalg.null_space(X - X.mean(axis=0))
    assert unseen.shape == (9, 5)
    assert_allclose(unseen.T @ model.coef_, 0, atol=1e-12)
    assert_allclose(
        model.transform(model.mean_ + unseen.T), np.tile(Y.mean(axis=0), (5, 1))
    )


def test_few_pairs_give_a_partial_isometry():
    X, Y = np.random.default_rng(0).normal(size=(2, 5, 9))
    values = np.linalg.svd(LatentAlignment("orthogonal").fit(X, Y).coef_)[1]
    assert_allclose(values[:4] / values[0], 1)
    assert_allclose(values[4:], 0, atol=1e-12)


def test_orthogonal_agrees_with_scipy():
    X, Y = noisy_pairs(d=5, e=5)
    P, Q = X - X.mean(axis=0), Y - Y.mean(axis=0)
    R, total = scipy.linalg.orthogonal_procrustes(P, Q)
    model = LatentAlignment("orthogonal").fit(X, Y)
    assert_allclose(model.coef_, R * total / np.sum(P**2))


@pytest.mark.parametrize("shape", [(40, 6), (6, 12)])
@pytest.mark.parametrize("center", [True, False])
def test_ridge_agrees_with_sklearn(shape, center):
    X, Y = noisy_pairs(n=shape[0], d=shape[1])
    weights = np.random.default_rng(1).uniform(0.5, 2, size=len(X))
    reference = Ridge(3.0, fit_intercept=center).fit(X, Y, weights)
    model = LatentAlignment(
        "ridge", alpha=3.0, center=center, scale=False, restore_norm=False
    ).fit(X, Y, weights)
    assert_allclose(model.coef_, reference.coef_.T)
    assert_allclose(model.transform(X), reference.predict(X))
    assert model.alpha_ == 3.0


def test_alpha_counts_average_pairs_when_scaled():
    X, Y = noisy_pairs()
    square = np.mean(np.sum((X - X.mean(axis=0)) ** 2, axis=1))
    reference = Ridge(0.5 * square).fit(X, Y)
    model = LatentAlignment("ridge", alpha=0.5).fit(X, Y)
    assert_allclose(model.coef_, reference.coef_.T)


def test_ridge_chooses_like_leave_one_out():
    X, Y = noisy_pairs(n=200, d=10, noise=5)
    P, Q = X - X.mean(axis=0), Y - Y.mean(axis=0)
    model = LatentAlignment("ridge", scale=False).fit(X, Y)

    def loo(alpha):
        hat = P @ np.linalg.solve(P.T @ P + alpha * np.eye(10), P.T) + 1 / 200
        return np.sum(((Q - hat @ Q) / (1 - np.diag(hat))[:, None]) ** 2)

    assert 0 < model.alpha_ < np.inf
    grid = np.sum(P**2) / 200 * np.logspace(3, -8, 45)
    assert loo(model.alpha_) <= 1.001 * min(loo(alpha) for alpha in grid)


def test_affine_agrees_with_least_squares_and_keeps_its_norms():
    X, Y = noisy_pairs()
    model = LatentAlignment("affine").fit(X, Y)
    assert_allclose(model.transform(X), LinearRegression().fit(X, Y).predict(X))
    assert model.norm_law_ is None


def test_shrunk_is_the_formula():
    X, Y = noisy_pairs(n=30, d=6, e=8)
    model = LatentAlignment(alpha=2.0).fit(X, Y)
    P = (X - X.mean(axis=0)) / model.scale_
    Q = (Y - Y.mean(axis=0)) / model.y_scale_
    C = P.T @ Q
    U, s, Vt = np.linalg.svd(C, full_matrices=False)
    H = U * (s / np.hypot(s, model.softness_ * s[0])) @ Vt
    H *= np.sum(P @ H * Q) / np.sum((P @ H) ** 2)
    W = H + np.linalg.solve(P.T @ P + 2.0 * np.eye(6), P.T @ (Q - P @ H))
    assert_allclose(model.coef_, W * model.y_scale_ / model.scale_)
    assert model.alpha_ == 2.0


def test_low_rank_is_optimal_at_its_rank_and_ridge_at_full():
    X, Y = noisy_pairs()
    P, Q = X - X.mean(axis=0), Y - Y.mean(axis=0)
    given_up = LatentAlignment("low_rank", alpha=0.0, n_components=2).fit(X, Y)
    fitted = P @ np.linalg.lstsq(P, Q)[0]
    _, s, _ = np.linalg.svd(fitted)
    residual = np.sum((Q - P @ given_up.coef_) ** 2)
    assert_allclose(residual, np.sum((Q - fitted) ** 2) + np.sum(s[2:] ** 2))
    assert given_up.rank_ == 2
    full = LatentAlignment("low_rank", alpha=0.7).fit(X, Y)
    assert_allclose(full.coef_, LatentAlignment("ridge", alpha=0.7).fit(X, Y).coef_)


def test_cca_without_ridge_is_least_squares_through_canonical_scores():
    X, Y = noisy_pairs()
    least_squares = LatentAlignment("affine").fit(X, Y).coef_
    assert_allclose(LatentAlignment("cca", alpha=0.0).fit(X, Y).coef_, least_squares)
    one = LatentAlignment("cca", alpha=0.0, n_components=1).fit(X, Y)
    assert one.rank_ == 1
    P, Q = X - X.mean(axis=0), Y - Y.mean(axis=0)
    _, vectors = scipy.linalg.eigh(P.T @ Q @ np.linalg.solve(Q.T @ Q, Q.T @ P), P.T @ P)
    score = P @ vectors[:, -1:]
    assert_allclose(P @ one.coef_, score @ np.linalg.lstsq(score, Q)[0])


def test_cca_penalizes_the_target_in_its_own_units():
    X, Y = noisy_pairs()
    model = LatentAlignment("cca", n_components=2, alpha=5.0, scale=False)
    assert_allclose(model.fit(X, 10 * Y).coef_, 10 * clone(model).fit(X, Y).coef_)


# --- the choice ------------------------------------------------------------------


def test_the_default_finds_partners_that_ridge_and_completed_rotations_miss():
    rng = np.random.default_rng(0)
    d, n = 40, 30
    spectrum = np.arange(1, d + 1) ** -0.5
    Z = rng.normal(size=(n + 400, d)) * spectrum
    X = Z + 0.3 * spectrum * rng.normal(size=Z.shape)
    Y = (Z + 0.3 * spectrum * rng.normal(size=Z.shape)) @ rotation(1, d)

    def found(mapped):
        A, B = mapped - Y[:n].mean(axis=0), Y[n:] - Y[:n].mean(axis=0)
        cosines = A @ B.T / np.linalg.norm(B, axis=1)
        return np.mean(cosines.argmax(axis=1) == np.arange(400))

    ours = found(LatentAlignment().fit(X[:n], Y[:n]).transform(X[n:]))
    ridge = found(LatentAlignment("ridge").fit(X[:n], Y[:n]).transform(X[n:]))
    P, Q = X[:n] - X[:n].mean(axis=0), Y[:n] - Y[:n].mean(axis=0)
    R = scipy.linalg.orthogonal_procrustes(P, Q)[0]
    completed = found((X[n:] - X[:n].mean(axis=0)) @ R + Y[:n].mean(axis=0))
    assert ours > ridge + 0.03
    assert ours > completed + 0.03


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n_outputs", [1, 4])
def test_weights_are_repetitions_and_order_does_not_matter(method, n_outputs):
    X, Y = noisy_pairs(n=25, e=n_outputs)
    weights = np.random.default_rng(2).integers(0, 4, size=25)
    weighted = LatentAlignment(method).fit(X, Y, sample_weight=weights)
    order = np.random.default_rng(3).permutation(np.repeat(np.arange(25), weights))
    repeated = LatentAlignment(method).fit(X[order], Y[order])
    assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-9)
    assert weighted.alpha_ == pytest.approx(repeated.alpha_)
    assert weighted.softness_ == repeated.softness_


# --- norms -----------------------------------------------------------------------


def test_restored_norms_follow_the_law_and_nothing_else():
    X, Y = noisy_pairs()
    model = LatentAlignment("ridge", alpha=5.0).fit(X, Y)
    plain = LatentAlignment("ridge", alpha=5.0, restore_norm=False).fit(X, Y)
    exponent, factor = model.norm_law_
    assert 0 <= exponent <= 1
    norms = np.linalg.norm(X - X.mean(axis=0), axis=1) / model.scale_
    expected = factor * norms**exponent * model.y_scale_
    moved = model.transform(X) - model.y_mean_
    assert_allclose(np.linalg.norm(moved, axis=1), expected)
    assert_allclose(np.mean(expected**2), model.y_scale_**2)
    direction = plain.transform(X) - plain.y_mean_
    cosine = np.sum(direction * moved, axis=1) / expected
    assert_allclose(cosine, np.linalg.norm(direction, axis=1))


def test_a_row_at_the_mean_goes_to_the_mean():
    X, Y = noisy_pairs()
    model = LatentAlignment().fit(X, Y)
    assert_array_equal(model.transform(model.mean_[None])[0], model.y_mean_)


def test_one_output_column_is_not_blown_up():
    X, Y = noisy_pairs(e=1)
    model = LatentAlignment("ridge", alpha=1.0).fit(X, Y[:, 0])
    assert model.norm_law_ is None
    assert model.transform(X).shape == (40, 1)
    assert_allclose(model.transform(X), (X - model.mean_) @ model.coef_ + Y.mean())


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_mapped_one_by_one(method):
    X, Y = noisy_pairs()
    model = LatentAlignment(method).fit(X, Y)
    whole = model.transform(X)
    assert_allclose(np.vstack([model.transform(row[None]) for row in X]), whole)


def test_the_inverse_is_the_pseudo_inverse():
    X, Y = noisy_pairs(d=6, e=4)
    model = LatentAlignment("ridge", alpha=1.0, restore_norm=False).fit(X, Y)
    back = model.inverse_transform(Y)
    expected = (Y - Y.mean(axis=0)) @ np.linalg.pinv(model.coef_) + X.mean(axis=0)
    assert_allclose(back, expected)
    assert_allclose(model.transform(back), Y)


# --- inputs ----------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_float32_stays_float32(method):
    X, Y = (M.astype(np.float32) for M in noisy_pairs())
    model = LatentAlignment(method).fit(X, Y)
    fitted = (model.coef_, model.mean_, model.y_mean_)
    outputs = (model.transform(X), model.inverse_transform(Y))
    assert {part.dtype for part in fitted + outputs} == {np.dtype(np.float32)}
    double = LatentAlignment(method).fit(X.astype(float), Y.astype(float))
    assert_allclose(model.transform(X), double.transform(X.astype(float)), atol=1e-3)
    assert double.transform(X).dtype == np.float32


def test_output_names_come_from_y():
    X, Y = noisy_pairs(e=2)
    named = LatentAlignment().fit(X, pd.DataFrame(Y, columns=["left", "right"]))
    assert list(named.get_feature_names_out()) == ["left", "right"]
    column = LatentAlignment().fit(X, pd.Series(Y[:, 0], name="price"))
    assert list(column.get_feature_names_out()) == ["price"]
    plain = LatentAlignment().fit(X, Y).set_output(transform="pandas")
    assert list(plain.transform(X)) == ["latentalignment0", "latentalignment1"]


@pytest.mark.parametrize("method", METHODS)
def test_constant_columns_and_constant_rows(method):
    X, Y = noisy_pairs()
    X[:, 2] = 7.0
    Y[:, 1] = -3.0
    model = LatentAlignment(method).fit(X, Y)
    assert_allclose(model.transform(X)[:, 1], -3.0)
    with pytest.raises(ValueError, match="Pass pairs whose rows differ"):
        LatentAlignment(method).fit(np.full((12, 3), 0.1), Y[:12])


@pytest.mark.parametrize("method", METHODS)
def test_two_pairs_are_enough(method):
    X, Y = noisy_pairs(n=2)
    model = LatentAlignment(method, alpha=0.0).fit(X, Y)
    assert model.rank_ == 1
    assert_allclose(model.transform(X), Y)


def test_errors_name_the_remedy():
    X, Y = noisy_pairs(n=10)
    model = LatentAlignment()
    with pytest.raises(ValueError, match=r"in the order of X, such as y\["):
        model.fit(X, Y[:9])
    with pytest.raises(ValueError, match="more pairs, or use center=False"):
        model.fit(X[:1], Y[:1])
    with pytest.raises(ValueError, match="more pairs, or use center=False"):
        model.fit(X, Y, sample_weight=np.eye(10)[0])
    with pytest.raises(TypeError, match=r"y\.toarray\(\)"):
        model.fit(X, sp.csr_array(Y))
    with pytest.raises(TypeError, match=r"toarray\(\)"):
        model.fit(sp.csr_array(X), Y)
    with pytest.raises(ValueError, match="requires y to be passed"):
        model.fit(X, None)
    with pytest.raises(ValueError, match="'n_components' parameter"):
        LatentAlignment(n_components=0).fit(X, Y)
    with pytest.raises(ValueError, match="Pass the output of transform"):
        model.fit(X, Y).inverse_transform(X)
    with pytest.raises(ValueError, match="OneHotEncoder"):
        model.fit(X, np.full((10, 2), "a"))
    Y[3, 1] = np.nan
    with pytest.raises(ValueError, match=r"'y' contains NaN, first in row 3, column 1"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="'X' contains NaN, first in row 3, column 1"):
        model.fit(Y, X)


def test_affine_near_the_peak_names_the_alternatives():
    X, Y = noisy_pairs(n=8, d=6)
    with pytest.warns(UserWarning, match="method='shrunk'"):
        LatentAlignment("affine").fit(X, Y)


def test_fit_leaves_parameters_and_inputs_alone():
    X, Y = noisy_pairs()
    before = X.copy(), Y.copy()
    X.flags.writeable = Y.flags.writeable = False
    model = LatentAlignment(alpha="cv", n_components=None)
    parameters = model.get_params()
    model.fit(X, Y).transform(X)
    assert all(model.get_params()[name] is parameters[name] for name in parameters)
    assert_array_equal(X, before[0])
    assert_array_equal(Y, before[1])


# --- invariance ------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("options", [{}, {"center": False}, {"alpha": 0.5}])
def test_claims_hold(method, options):
    X, Y = noisy_pairs()
    model = LatentAlignment(method, **options)
    for claim in model.invariances():
        report = check_invariance(model, claim, X, Y)
        assert report.holds, report


@pytest.mark.parametrize(
    ("options", "group"),
    [
        ({}, "column_scaling"),
        ({"method": "ridge"}, "column_scaling"),
        ({"center": False}, "translation"),
        ({"method": "ridge", "alpha": 0.5, "scale": False}, "positive_scaling"),
    ],
)
def test_what_is_not_claimed_is_broken(options, group):
    X, Y = noisy_pairs()
    model = LatentAlignment(**options)
    assert group not in {claim.group for claim in model.invariances()}
    assert not check_invariance(model, Claim(group), X, Y).holds


@parametrize_with_checks([LatentAlignment(method) for method in METHODS[1:]])
@pytest.mark.filterwarnings("ignore:LatentAlignment. 'method'='affine':UserWarning")
def test_sklearn_checks_of_the_other_methods(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS)
def test_shares_as_weights_are_weights(method):
    X, Y = noisy_pairs(n=60)
    plain = LatentAlignment(method).fit(X, Y)
    shares = LatentAlignment(method).fit(X, Y, sample_weight=np.full(60, 1 / 60))
    assert shares.alpha_ == pytest.approx(plain.alpha_)
    assert_allclose(shares.coef_, plain.coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["low_rank", "cca", "shrunk"])
def test_exact_pairs_are_recovered_by_cross_validation(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 20)) * np.linspace(0.5, 3, 20) + 5
    Y = 3.7 * X @ np.linalg.qr(rng.normal(size=(20, 20)))[0] + 10
    model = LatentAlignment(method).fit(Y[:60], X[:60])
    assert_allclose(model.transform(Y), X, atol=1e-9)


def test_the_chosen_penalty_can_be_given():
    X, Y = noisy_pairs(n=40)
    assert LatentAlignment(alpha=np.inf).fit(X, Y).alpha_ == np.inf
    with pytest.raises(ValueError, match="Use a finite alpha"):
        LatentAlignment("ridge", alpha=np.inf).fit(X, Y)


@pytest.mark.parametrize("unit", [1e-20, 1e19])
def test_norms_are_restored_at_the_ends_of_float32(unit):
    X, Y = (M.astype(np.float32) for M in noisy_pairs(n=40))
    expected = LatentAlignment().fit(X, Y).transform(X)
    scaled = X * np.float32(unit)
    assert_allclose(
        LatentAlignment().fit(scaled, Y).transform(scaled), expected, rtol=1e-3
    )


def test_inverse_keeps_every_direction_in_float32():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 64)) * np.logspace(0, -4, 64)
    Y = (X @ np.linalg.qr(rng.normal(size=(64, 64)))[0]).astype(np.float32)
    X = X.astype(np.float32)
    model = LatentAlignment("orthogonal").fit(X, Y)
    assert model.rank_ == 64
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_inverse_without_restored_norms_is_the_pseudo_inverse(method):
    X, Y = noisy_pairs(n=60)
    model = LatentAlignment(method, restore_norm=False).fit(X, Y)
    expected = (Y - model.y_mean_) @ np.linalg.pinv(model.coef_) + model.mean_
    assert_allclose(model.inverse_transform(Y), expected, rtol=1e-6, atol=1e-8)
