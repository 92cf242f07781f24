"""Perceptrons as arrays, against torch and scikit-learn."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.neural_network import MLPClassifier, MLPRegressor

from skrep.nn._modules import (
    build_mlp,
    load_state,
    mlp_arrays,
    network_outputs,
    state_arrays,
)
from skrep.utils.mlp import mlp_forward
from tests.strategies import seeds


@given(seed=seeds, hidden=st.lists(st.integers(1, 6), max_size=3))
@settings(max_examples=30)
def test_forward_is_that_of_torch(seed, hidden):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        network = build_mlp(4, 3, hidden, dropout=0.5).double()
    X = np.random.default_rng(seed).normal(size=(7, 4))
    coefs, intercepts = mlp_arrays(network)
    assert [part.shape for part in intercepts] == [(k,) for k in (*hidden, 3)]
    expected = network.eval()(torch.from_numpy(X)).detach()
    assert_allclose(mlp_forward(X, coefs, intercepts), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(network_outputs(network, X), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("hidden", [(5,), (7, 4)])
def test_forward_is_that_of_scikit_learn(hidden):
    X, y = load_iris(return_X_y=True)
    how = {"hidden_layer_sizes": hidden, "max_iter": 20, "random_state": 0}
    peer = MLPRegressor(**how).fit(X, X[:, :2])
    found = mlp_forward(X, peer.coefs_, peer.intercepts_)
    assert_allclose(found, peer.predict(X))
    peer = MLPClassifier(**how).fit(X, y)
    scores = np.exp(mlp_forward(X, peer.coefs_, peer.intercepts_))
    expected = scores / scores.sum(axis=1, keepdims=True)
    assert_allclose(peer.predict_proba(X), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_outputs_have_the_type_of_the_rows_which_stay_as_they_are(dtype):
    X = np.random.default_rng(0).normal(size=(5, 4)).astype(dtype)
    before = X.copy()
    X.flags.writeable = False
    network = build_mlp(4, 3, (6,))
    coefs, intercepts = mlp_arrays(network)
    assert mlp_forward(X, coefs, intercepts).dtype == dtype
    assert mlp_forward(X, [coefs[0]], [intercepts[0]]).dtype == dtype
    assert network_outputs(network, X).dtype == dtype
    assert_array_equal(X, before)


def test_layers_must_be_as_many_as_intercepts():
    with pytest.raises(ValueError, match="shorter"):
        mlp_forward(np.ones((2, 2)), [np.eye(2)] * 2, [np.zeros(2)])


def test_arrays_do_not_follow_the_network():
    network = build_mlp(3, 2, (4,))
    coefs, intercepts = mlp_arrays(network)
    state = state_arrays(network)
    held = [part.copy() for part in (*coefs, *intercepts, *state.values())]
    with torch.no_grad():
        for part in network.parameters():
            part.add_(1)
    for part, before in zip((*coefs, *intercepts, *state.values()), held, strict=True):
        assert_array_equal(part, before)
        assert part.flags.c_contiguous


def test_layers_of_the_perceptron():
    kinds = [type(part).__name__ for part in build_mlp(4, 3, (6, 5), dropout=0.1)]
    hidden = ["Linear", "ReLU", "Dropout"]
    assert kinds == [*hidden, *hidden, "Linear"]
    assert [type(part).__name__ for part in build_mlp(4, 3, ())] == ["Linear"]
    assert len(build_mlp(4, 3, (6,))) == 3


def test_states_pass_from_network_to_network():
    class Normed(torch.nn.Sequential):
        def __init__(self):
            super().__init__(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))

    one, other = Normed().double(), Normed()
    X = np.random.default_rng(0).normal(size=(9, 3))
    one(torch.from_numpy(X))
    state = state_arrays(one)
    assert {"1.running_mean", "1.num_batches_tracked"} <= set(state)
    load_state(other, state)
    assert other[0].weight.dtype == torch.float64
    assert_array_equal(network_outputs(other, X), network_outputs(one, X))


def test_outputs_are_those_of_evaluation_and_the_mode_stays():
    network = build_mlp(3, 2, (50,), dropout=0.5)
    X = np.ones((4, 3))
    assert network.training
    assert_array_equal(network_outputs(network, X), network_outputs(network, X))
    assert network.training
    network_outputs(network.eval(), X)
    assert not network.training
