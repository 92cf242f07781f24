"""The loss of redundancy reduction: its formula, what leaves it alone, its refusals."""

import numpy as np
import pytest
import torch
from hypothesis import given
from numpy.testing import assert_allclose

from skrep.nn.losses import RedundancyReductionLoss
from tests.strategies import seeds


def views(n=30, k=4, seed=0):
    rng = np.random.default_rng(seed)
    first = rng.normal(size=(n, k))
    return first, first + rng.normal(size=(n, k))


def loss_of(first, second, weight=None, **options):
    both = torch.from_numpy(np.hstack([first, second]))
    weight = None if weight is None else torch.from_numpy(np.asarray(weight, float))
    return float(RedundancyReductionLoss(**options)(both, None, weight))


@given(seed=seeds)
def test_value_is_the_formula(seed):
    first, second = views(seed=seed)
    k = first.shape[1]
    C = np.corrcoef(first.T, second.T)[:k, k:]
    expected = 0.0
    for i in range(k):
        for j in range(k):
            expected += (1 - C[i, j]) ** 2 if i == j else 0.3 * C[i, j] ** 2
    assert_allclose(loss_of(first, second, off_diagonal=0.3), expected)


def test_shifts_and_scales_of_columns_count_for_nothing():
    first, second = views()
    rng = np.random.default_rng(1)
    for side in range(2):
        moved = [first, second]
        moved[side] = moved[side] * rng.uniform(0.1, 10, 4) + rng.normal(size=4) * 100
        assert_allclose(loss_of(*moved), loss_of(first, second))


def test_weights_count_rows():
    first, second = views()
    weight = np.arange(30) % 3
    repeated = [np.repeat(view, weight, axis=0) for view in (first, second)]
    assert_allclose(loss_of(first, second, weight), loss_of(*repeated))
    assert_allclose(loss_of(first, second, np.ones(30)), loss_of(first, second))


def test_derivative():
    both = torch.from_numpy(np.hstack(views(n=8, k=2))).requires_grad_()
    weight = torch.arange(1.0, 9.0, dtype=torch.float64)
    loss = RedundancyReductionLoss(off_diagonal=0.5)
    assert torch.autograd.gradcheck(lambda z: loss(z, None, weight), both)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("column", [0.0, 0.1, 1e6])
def test_constant_columns_correlate_with_none(dtype, column):
    both = torch.from_numpy(np.hstack(views())).to(dtype)
    both[:, 1] = column
    both.requires_grad_()
    loss = RedundancyReductionLoss(off_diagonal=0.0)(both)
    loss.backward()
    kept = [0, 2, 3]
    first, second = (view[:, kept] for view in views())
    alone = loss_of(first, second, off_diagonal=0.0)
    assert_allclose(loss.item(), 1 + alone, rtol=1e-5)
    assert torch.isfinite(both.grad).all()
    assert not both.grad[:, 1].any()


@pytest.mark.parametrize("n", [0, 1])
def test_batches_without_spread(n):
    both = torch.ones(n, 4, requires_grad=True)
    loss = RedundancyReductionLoss()(both)
    loss.backward()
    assert loss.item() == 2
    assert not both.grad.any()


def test_refusals():
    with pytest.raises(ValueError, match=r"pass torch.hstack\(\[first, second\]\)"):
        RedundancyReductionLoss()(torch.ones(5, 3))
    for value in (-1, float("inf"), float("nan")):
        with pytest.raises(ValueError, match=r"Use .*off_diagonal=0.005"):
            RedundancyReductionLoss(off_diagonal=value)
