"""NeighborEncoder: what it computes, refuses and leaves alone."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from skorch.callbacks import Callback, EarlyStopping

from skrep.exceptions import ThinDataWarning
from skrep.invariance import check_invariance, unclaimed
from skrep.nested import NeighborEncoder, NestedProjection
from skrep.nested._distinct import centered_distinct_rows
from skrep.nested._neighbor_encoder_training import Neighborhoods, nearest_rows
from skrep.nn._modules import build_mlp
from skrep.nn._twins import Twins, start_as_linear
from skrep.utils.mlp import mlp_forward


def rows(n=70, d=5, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) * np.arange(d, 0, -1) + rng.normal(size=d)


def encoder(n_components=3, **params):
    params = {"max_epochs": 4, "random_state": 0, **params}
    return NeighborEncoder(n_components, **params)


def same(one, other, X):
    return np.array_equal(one.transform(X), other.transform(X))


# --- what it computes ------------------------------------------------------------


def test_neighbors_are_those_of_a_naive_loop():
    X = rows() - rows().mean(axis=0)
    U = X / np.linalg.norm(X, axis=1, keepdims=True)
    near = nearest_rows(X, None, 4)
    others = nearest_rows(X[:40], X[40:], 4)
    for i in range(len(X)):
        order = [j for j in np.argsort(-(U @ U[i])) if j != i]
        assert set(near[i]) == set(order[:4])
        if i >= 40:
            order = [j for j in order if j < 40]
            assert set(others[i - 40]) == set(order[:4])


def test_held_out_rows_have_neighbors_to_train_on():
    X = rows(40)
    centered = centered_distinct_rows("test", X, np.ones(40))
    train, held_out = np.arange(10, 40), np.arange(10)
    data = Neighborhoods.of(centered, np.float64, train, held_out, 3)
    U = centered.rows / np.linalg.norm(centered.rows, axis=1, keepdims=True)
    for i in range(40):
        order = [j for j in np.argsort(-(U @ U[i])) if j >= 10 and j != i]
        assert set(data.near[i]) == set(order[:3])
    assert_allclose((data.rows**2).mean(), 1)
    back = data.rows * data.unit + data.mean
    assert_allclose(np.sort(back, axis=0), np.sort(X, axis=0))


@pytest.mark.parametrize("hidden", [(), (8,), (6, 7)])
def test_it_starts_from_the_closed_form(hidden):
    X = rows()
    closed = NestedProjection(3, objective="neighbors").fit(X)
    found = encoder(hidden=hidden, lr=1e-9, max_epochs=1).fit(X)
    Z = closed.transform(X) / found.transform(X).std()
    # One map up to a turn of the outputs: the distances have one ratio.
    one, other = (A @ A.T for A in (Z, found.transform(X)))
    assert_allclose(one * (other[0, 0] / one[0, 0]), other, atol=1e-4)


def test_a_perceptron_computes_a_given_linear_map():
    W = np.random.default_rng(0).normal(size=(5, 2)).astype(np.float32)
    for hidden in ((), (4,), (9, 4, 6)):
        network = build_mlp(5, 2, hidden)
        start_as_linear(network, W)
        X = torch.randn(20, 5, generator=torch.Generator().manual_seed(0))
        assert_allclose(network(X).detach().numpy(), X.numpy() @ W, atol=1e-5)


def test_the_projector_sees_no_scale():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        twins = Twins(3, 2, (), 4).double()
        views = torch.randn(20, 6, dtype=torch.float64)
        before = twins(views).detach()
        with torch.no_grad():
            twins.encoder[0].weight.mul_(7)
        assert before.shape == (20, 8)
        assert_allclose(twins(views).detach(), before)


def test_training_lowers_the_loss():
    X = rows(300, 12)
    for init in ("closed_form", "random"):
        model = encoder(init=init, max_epochs=30, lr=3e-3).fit(X)
        losses = [epoch["train_loss"] for epoch in model.history_]
        assert losses[-1] < losses[0]
        assert model.n_iter_ == len(losses) == 30


@pytest.mark.parametrize("hidden", [(), (8,)])
def test_outputs_have_principal_axes_and_signs(hidden):
    X = rows()
    model = encoder(hidden=hidden).fit(X)
    Z = model.transform(X)
    assert_allclose(Z.mean(axis=0), 0, atol=1e-12)
    assert_allclose(np.cov(Z.T, ddof=0), np.diag(model.explained_variance_), atol=1e-9)
    assert (np.diff(model.explained_variance_) <= 0).all()
    last = model.coefs_[-1]
    assert (np.take_along_axis(last, np.abs(last).argmax(axis=0)[None], 0) > 0).all()
    by_hand = mlp_forward(X - model.mean_, model.coefs_, model.intercepts_)
    assert_allclose(Z, by_hand, atol=1e-12)
    if hidden:
        assert model.components_ is None
    else:
        assert_allclose(Z, (X - model.mean_) @ model.components_.T, atol=1e-12)


@pytest.mark.parametrize("hidden", [(), (8,)])
def test_prefixes(hidden):
    X = rows()
    model = encoder(hidden=hidden).fit(X)
    short = model.prefix(2)
    assert_array_equal(short.transform(X), model.transform(X)[:, :2])
    assert short.n_components == 2
    assert model.transform(X).shape[1] == 3
    assert list(short.get_feature_names_out()) == [
        "neighborencoder0",
        "neighborencoder1",
    ]
    with pytest.raises(ValueError, match="Pass n_components=3, say"):
        model.prefix(4)


def test_a_counterpart_has_the_mean_of_its_own_side():
    X, other = rows(), rows(seed=1) + 3
    model = encoder().fit(X)
    weights = np.arange(len(other)) % 3
    twin = model.counterpart(other, sample_weight=weights)
    assert_allclose(twin.mean_, np.average(other, axis=0, weights=weights))
    moved = other - twin.mean_ + model.mean_
    assert_allclose(twin.transform(other), model.transform(moved), atol=1e-12)
    assert_allclose(model.mean_, X.mean(axis=0))


def test_equal_seeds_are_equal_to_the_bit_and_global_states_stay():
    X = rows()
    torch.manual_seed(3)
    before = np.random.mtrand._rand.get_state()[1].copy(), torch.get_rng_state()
    options = {"init": "random", "hidden": (8,), "validation_fraction": 0.2}
    one, other = (encoder(**options).fit(X) for _ in range(2))
    assert same(one, other, X)
    assert not same(one, encoder(**options).set_params(random_state=1).fit(X), X)
    assert_array_equal(np.random.mtrand._rand.get_state()[1], before[0])
    assert torch.equal(torch.get_rng_state(), before[1])


def test_weights_count_rows_and_copies_are_no_neighbors():
    X = rows(40)
    weights = np.arange(40) % 3
    model = encoder(batch_size=15, validation_fraction=0.2)
    one = clone(model).fit(X, sample_weight=weights)
    order = np.random.default_rng(0).permutation(weights.sum())
    other = clone(model).fit(np.repeat(X, weights, axis=0)[order])
    assert same(one, other, X)
    assert not same(one, clone(model).fit(X[weights > 0]), X)


def test_batches_of_any_remainder():
    for n, batch in ((11, 5), (70, 1000), (7, 1)):
        model = encoder(n_neighbors=2, batch_size=batch).fit(rows(n))
        assert np.isfinite(model.transform(rows())).all()


def test_early_stopping_returns_to_the_best_weights():
    X = rows(60)
    model = encoder(
        validation_fraction=0.3, max_epochs=200, lr=0.05, init="random"
    ).fit(X)
    losses = [epoch["valid_loss"] for epoch in model.history_]
    assert model.n_iter_ < 200
    assert model.best_loss_ == min(losses)
    best = clone(model).set_params(max_epochs=1 + int(np.argmin(losses))).fit(X)
    assert same(best, model, X)


def test_callbacks_of_skorch():
    stop = EarlyStopping("train_loss", patience=1, threshold=1e9)
    assert encoder(max_epochs=50, callbacks=[stop]).fit(rows()).n_iter_ < 50


def test_float_types():
    X = rows().astype(np.float32)
    model = encoder(hidden=(8,)).fit(X)
    fitted = [*model.coefs_, *model.intercepts_, model.mean_, model.transform(X)]
    assert {part.dtype for part in fitted} == {np.dtype(np.float32)}
    double = encoder(hidden=(8,)).fit(X.astype(float))
    assert_allclose(double.transform(X), model.transform(X), atol=2e-3)


# --- what it refuses -------------------------------------------------------------


class Interrupt(Callback):
    def on_epoch_end(self, net, **_):
        raise RuntimeError("the power went off")


def test_an_interrupted_fit_leaves_the_estimator_as_it_was():
    X = rows()
    fresh = encoder(callbacks=[Interrupt()])
    with pytest.raises(RuntimeError, match="power"):
        fresh.fit(X)
    assert not hasattr(fresh, "n_features_in_")
    model = encoder().fit(X)
    before = model.transform(X)
    with pytest.raises(RuntimeError, match="power"):
        model.set_params(callbacks=[Interrupt()]).fit(rows(d=7))
    assert_array_equal(model.transform(X), before)


def test_few_rows():
    X = rows(4)
    with pytest.warns(ThinDataWarning, match="Pass n_neighbors=3 or fewer"):
        model = encoder().fit(X)
    assert np.isfinite(model.transform(X)).all()
    pair = encoder(1, n_neighbors=1).fit(X[:2])
    assert np.isfinite(pair.transform(X)).all()
    with pytest.raises(ValueError, match="pass at least two"):
        encoder().fit(np.ones((9, 5)))


@pytest.mark.parametrize("value", [0, -1, 2.0, True, "5", None])
def test_numbers_of_neighbors_that_are_none(value):
    with pytest.raises(ValueError, match="Pass n_neighbors=5"):
        encoder(n_neighbors=value).fit(rows())


@pytest.mark.parametrize("k", [0, 6, 2.5, True])
def test_lengths_that_there_are_not(k):
    with pytest.raises(ValueError, match="Pass n_components=5, say"):
        encoder(k).fit(rows())


def test_hidden_layers_must_carry_the_closed_form():
    with pytest.raises(ValueError, match=r"Pass hidden=\(6,\)"):
        encoder(hidden=(8, 5)).fit(rows())
    assert encoder(hidden=(8, 5), init="random").fit(rows()).coefs_[1].shape == (8, 5)
    with pytest.raises(ValueError, match="or \\(\\) for a linear map"):
        encoder(hidden=(0,)).fit(rows())


def test_other_bad_input():
    X = rows()
    with pytest.raises(ValueError, match=r'does not have\. Pass device="cpu"'):
        encoder(device="xpu").fit(X)
    with pytest.raises(ValueError, match="Valid ones are: 'optimizer__amsgrad'"):
        encoder().set_params(optimizer__beta=1)
    with pytest.raises(ValueError, match="lower 'lr'"):
        encoder(lr=1e300, max_epochs=9).fit(X)
    with pytest.raises(ValueError, match="pass an array of shape"):
        encoder().fit(X, sample_weight=[1, 2])
    with pytest.raises(ValueError, match="and at least two rows"):
        encoder(validation_fraction=0.1).fit(X[:2])


@pytest.mark.parametrize("factor", [1e-30, 1e30])
def test_sizes_of_rows_count_for_nothing(factor):
    X = rows()
    one, other = encoder().fit(X), encoder().fit(factor * X)
    assert_allclose(other.transform(factor * X), one.transform(X), atol=1e-6)


def test_nested_parameters_are_a_fresh_dict():
    given = {"eps": 1e-7}
    model = encoder(optimizer_params=given).set_params(optimizer__betas=(0.8, 0.9))
    assert given == {"eps": 1e-7}
    assert model.get_params()["optimizer__betas"] == (0.8, 0.9)
    assert model.optimizer_params is not given


def test_in_a_searched_pipeline():
    X = rows()
    y = (X[:, 0] > X[:, 0].mean()).astype(int)
    pipeline = make_pipeline(encoder(), KNeighborsClassifier(3))
    grid = {
        "neighborencoder__n_components": [1, 2],
        "neighborencoder__hidden": [(), (4,)],
    }
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.7


def test_without_torch(tmp_path):
    X = rows()
    (tmp_path / "model.pickle").write_bytes(pickle.dumps(encoder(hidden=(8,)).fit(X)))
    code = """
import pickle, sys

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "skorch"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
import numpy as np
from sklearn.base import clone
from skrep.nested import NeighborEncoder
repr(clone(NeighborEncoder(2)))
try:
    NeighborEncoder().fit(np.eye(9))
except ImportError as error:
    assert "pip install 'skrep[torch]'" in str(error), error
else:
    raise AssertionError
model = pickle.load(open(sys.argv[1], "rb"))
print(model.transform(np.zeros((1, 5))).shape, model.prefix(2).get_params()["lr"])
"""
    command = [sys.executable, "-c", code, str(tmp_path / "model.pickle")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout == "(1, 3) 0.0003\n", done.stderr


@pytest.mark.parametrize("params", [{}, {"hidden": (8,), "init": "random"}])
def test_claims_hold_and_what_is_not_claimed_is_broken(params):
    model, X = encoder(**params), rows(40)
    for claim in model.invariances():
        report = check_invariance(model, claim, X, n_draws=1)
        assert report.holds, report
    for claim in unclaimed(model):
        if claim.group != "label_permutation":
            assert not check_invariance(model, claim, X, n_draws=2).holds, claim
