"""The criterion that chooses an alignment, against naive loops."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge

from skrep.relative import LatentAlignment
from skrep.relative import _alignment_cv as cv
from skrep.relative import _alignment_maps as maps


def pairs(seed=0, n=40, d=12, noise=0.3):
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, d + 1) ** -0.5
    Z = rng.normal(size=(n, d)) * spectrum
    X = Z + noise * spectrum * rng.normal(size=Z.shape)
    return X, Z @ np.linalg.qr(rng.normal(size=(d, d)))[0] + 1


def prepare(X, Y, weights):
    prepared = maps.center_and_scale(X, Y, weights, True, True)
    return prepared, maps.decompose(prepared.P, prepared.Q, weights)


def losses_of(method, settings, X, Y, weights):
    return cv.held_out_losses(
        X, Y, weights, True, prepare, lambda s: maps.maps(method, s, settings, None)
    )


def test_distinct_pairs_keep_the_total_weight_of_each():
    X = np.array([[1.0], [2.0], [1.0], [-0.0], [0.0], [5.0]])
    Y = np.array([[1.0], [1.0], [1.0], [3.0], [3.0], [5.0]])
    weights = np.array([1.0, 2.0, 0.5, 1.0, 1.0, 0.0])
    rows, partners, totals = cv.distinct_pairs(X, Y, weights)
    found = sorted(zip(rows[:, 0], partners[:, 0], totals, strict=True))
    assert found == [(0.0, 3.0, 2.0), (1.0, 1.0, 1.5), (2.0, 1.0, 2.0)]


def test_folds_ignore_order_and_what_happens_to_the_source():
    X, Y = pairs()
    Y = np.round(Y)  # ties
    folds, judged = cv.fold_numbers(X, Y, True)
    assert_array_equal(np.bincount(folds), [8] * 5)
    assert_array_equal(np.sort(judged), np.arange(40))
    turned = 3 * X @ np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))[0]
    assert_array_equal(cv.fold_numbers(turned + 2, Y, True)[0], folds)
    order = np.random.default_rng(2).permutation(40)
    assert_array_equal(cv.fold_numbers(X[order], Y[order], True)[0], folds[order])


def test_many_pairs_are_judged_by_a_sample_of_every_fold():
    X, Y = pairs(n=1300)
    folds, judged = cv.fold_numbers(X, Y, True)
    assert judged.size == 434
    assert np.bincount(folds[judged]).min() >= 86


def test_losses_agree_with_a_naive_loop():
    X, Y = pairs()
    weights = np.random.default_rng(3).uniform(0.5, 2, size=40)
    alphas = [0.1, 3.0]
    losses, errors = losses_of("ridge", [maps.Choice(a) for a in alphas], X, Y, weights)
    folds, _ = cv.fold_numbers(X, Y, True)
    cosines = np.zeros((2, 40, 40))
    for row in range(40):
        train = folds != folds[row]
        mean = np.average(Y[train], axis=0, weights=weights[train])
        centered = X[train] - np.average(X[train], axis=0, weights=weights[train])
        square = np.average(np.sum(centered**2, axis=1), weights=weights[train])
        for i, alpha in enumerate(alphas):
            model = Ridge(alpha * square).fit(X[train], Y[train], weights[train])
            mapped = model.predict(X[[row]])[0] - mean
            for other in range(40):
                partner = Y[other] - mean
                cosines[i, row, other] = (mapped @ partner) / (
                    np.linalg.norm(mapped) * np.linalg.norm(partner)
                )
    own = np.array([np.average(np.diag(c), weights=weights) for c in cosines])
    assert_allclose(errors, 1 - own)
    U = Y - Y.mean(axis=0)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    sigma = np.sqrt(np.mean((U @ U.T)[~np.eye(40, dtype=bool)] ** 2))
    tau = sigma * (1 - own.max() ** 2) / (4 * own.max())
    for c, loss in zip(cosines, losses, strict=True):
        odds = np.exp(c / tau)
        naive = -np.log(np.diag(odds) / odds.sum(axis=1))
        assert loss == pytest.approx(np.average(naive, weights=weights), rel=1e-4)


def test_one_output_column_is_judged_by_squared_error():
    X, Y = pairs()
    losses, errors = losses_of("ridge", [maps.Choice(1.0)], X, Y[:, :1], np.ones(40))
    folds, _ = cv.fold_numbers(X, Y[:, :1], True)
    naive = []
    for fold in range(5):
        train, test = folds != fold, folds == fold
        square = np.sum(X[train].var(axis=0))
        model = Ridge(square).fit(X[train], Y[train, 0])
        naive.extend((model.predict(X[test]) - Y[test, 0]) ** 2 / Y[train, 0].var())
    assert_allclose(errors, np.mean(naive))
    assert_array_equal(losses, errors)


def test_the_estimator_follows_the_losses_not_the_errors():
    X, Y = pairs(n=30, d=40, noise=0.6)
    X, Y, weights = cv.distinct_pairs(X, Y, np.ones(30))
    settings = maps.choices("shrunk", "cv", 1.0)
    losses, errors = losses_of("shrunk", settings, X, Y, weights)
    model = LatentAlignment().fit(X, Y)
    chosen = (model.alpha_, model.softness_)
    assert chosen == pytest.approx(settings[np.argmin(losses)])
    assert chosen != pytest.approx(settings[np.argmin(errors)])


def test_exact_pairs_follow_the_errors():
    assert cv.best_candidate(np.array([0.3, 0.2]), np.array([1e-9, 1e-3])) == 0
    assert cv.best_candidate(np.array([0.3, 0.2]), np.array([0.1, 0.3])) == 1
    assert cv.best_candidate(np.array([0.2, 0.2]), np.array([0.1, 0.1])) == 0
