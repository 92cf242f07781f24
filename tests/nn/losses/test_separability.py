"""The probe that is trained along."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import log_softmax
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

from skrep.nn.losses import LinearSeparability
from tests.strategies import seeds


def drawn(seed, n=12, d=4, n_classes=3):
    rng = np.random.default_rng(seed)
    loss = LinearSeparability(d, n_classes).double()
    with torch.no_grad():
        for p in loss.parameters():
            p.copy_(torch.from_numpy(rng.standard_normal(p.shape)))
    X = torch.from_numpy(rng.standard_normal((n, d)))
    return loss, X, torch.from_numpy(rng.integers(0, n_classes, n)), rng


@given(seed=seeds, n=st.integers(1, 12))
def test_cross_entropy_row_by_row(seed, n):
    loss, X, y, rng = drawn(seed, n)
    weights = rng.uniform(0.1, 3, n)
    A, b = (p.detach().numpy() for p in loss.probe.parameters())
    surprises = [-log_softmax(A @ x + b)[c] for x, c in zip(X.numpy(), y, strict=True)]
    assert_allclose(loss(X, y).detach(), np.mean(surprises), rtol=1e-12)
    weighted = loss(X, y, torch.from_numpy(weights)).detach()
    assert_allclose(weighted, np.average(surprises, weights=weights), rtol=1e-12)


@given(seed=seeds)
def test_weights_are_repeats(seed):
    loss, X, y, rng = drawn(seed)
    weights = torch.from_numpy(rng.integers(0, 4, len(X)))
    weights[0] = 1
    repeated = loss(X.repeat_interleave(weights, 0), y.repeat_interleave(weights, 0))
    assert_allclose(loss(X, y, weights).detach(), repeated.detach(), rtol=1e-12)


def test_gradient_of_rows_and_probe():
    loss, X, y, _ = drawn(0)
    weights = torch.linspace(0, 2, len(X))

    def of(z, *values):
        names = [name for name, _ in loss.named_parameters()]
        state = dict(zip(names, values, strict=True))
        return torch.func.functional_call(loss, state, (z, y, weights))

    inputs = (X.requires_grad_(), *loss.parameters())
    assert torch.autograd.gradcheck(of, inputs)


def test_starts_at_zero_without_random_numbers():
    state = torch.random.get_rng_state()
    loss = LinearSeparability(3, 4)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not any(p.any() for p in loss.parameters())
    rows = torch.eye(3, requires_grad=True)
    value = loss(rows, torch.tensor([0, 1, 2]))
    value.backward()
    assert_allclose(value.detach(), np.log(4), rtol=1e-6)
    assert not rows.grad.any()
    assert loss.probe.weight.grad.any()


def test_learns_what_a_logistic_regression_learns():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(0)) / X.std(0)
    reference = LogisticRegression(C=np.inf, tol=1e-8, max_iter=2000).fit(X, y)
    best = -np.log(reference.predict_proba(X)[np.arange(150), y]).mean()
    rows, codes = torch.from_numpy(X), torch.from_numpy(y)
    loss = LinearSeparability(4, 3).double()
    optimizer = torch.optim.LBFGS(
        loss.parameters(), max_iter=500, line_search_fn="strong_wolfe"
    )

    def closure():
        optimizer.zero_grad()
        value = loss(rows, codes)
        value.backward()
        return value

    optimizer.step(closure)
    assert_allclose(loss(rows, codes).detach(), best, rtol=1e-2)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16])
def test_dtype_of_the_layer_is_kept_whatever_that_of_the_probe(dtype):
    loss = LinearSeparability(2, 3)
    rows = torch.eye(2, dtype=dtype, requires_grad=True)
    for codes in (torch.int32, torch.uint8):
        value = loss(rows, torch.tensor([0, 2], dtype=codes))
        assert value.dtype == dtype
        value.backward()
    assert loss.probe.weight.grad.dtype == torch.float32


@pytest.mark.parametrize("n", [0, 1, 5])
def test_zero_rows_one_row_and_none_are_finite(n):
    loss = LinearSeparability(2, 3)
    rows = torch.zeros(n, 2, requires_grad=True)
    value = loss(rows, torch.zeros(n, dtype=torch.int64))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(rows.grad).all()
    assert torch.isfinite(loss.probe.weight.grad).all()


def test_bad_input():
    remedy = r"Use LinearSeparability\(n_features=64, n_classes=10\)"
    for shape in ((0, 3), (3, 1), (2.0, 3), (True, 3)):
        with pytest.raises(ValueError, match=remedy):
            LinearSeparability(*shape)
    loss, y = LinearSeparability(2, 3), torch.tensor([0, 1])
    with pytest.raises(ValueError, match=r"Use LinearSeparability\(4, 3\)"):
        loss(torch.ones(2, 4), y)
    for codes, value in (([0, 3], 3), ([-1, 0], -1)):
        with pytest.raises(ValueError, match=rf"'y' holds {value}, .*return_inverse"):
            loss(torch.ones(2, 2), torch.tensor(codes))
    with pytest.raises(ValueError, match=r"LinearSeparability: 'y' .*y.long\(\)"):
        loss(torch.ones(2, 2), y.float())
    with pytest.raises(ValueError, match=r"LinearSeparability: .*flatten\(1\)"):
        loss(torch.ones(2, 2, 1), y)
