"""Use of the columns."""

import numpy as np
import pytest
import torch
from hypothesis import given
from numpy.testing import assert_allclose

from skrep.nn.losses import FlopsRegularizer
from tests.strategies import matrices, seeds


@given(X=matrices(min_rows=1))
def test_square_of_mean_use_column_by_column(X):
    expected = sum(np.mean([abs(entry) for entry in column]) ** 2 for column in X.T)
    value = FlopsRegularizer()(torch.from_numpy(X))
    assert_allclose(value, expected, rtol=1e-12)


@given(X=matrices(min_rows=3), seed=seeds)
def test_weights_are_repeats_and_order_does_not_count(X, seed):
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, 4, len(X))
    weights[0] = 1
    loss, rows = FlopsRegularizer(), torch.from_numpy(X)
    repeated = loss(torch.from_numpy(np.repeat(X, weights, axis=0)[::-1].copy()))
    weighted = loss(rows, None, torch.from_numpy(weights))
    assert_allclose(weighted, repeated, rtol=1e-12)
    assert_allclose(loss(rows, sample_weight=torch.full((len(X),), 0.1)), loss(rows))


@given(X=matrices())
def test_signs_do_not_count_and_scale_is_squared(X):
    loss, rows = FlopsRegularizer(), torch.from_numpy(X)
    assert_allclose(loss(-3 * rows.abs()), 9 * loss(rows), rtol=1e-12)


def test_gradient():
    rows = torch.from_numpy(np.random.default_rng(0).standard_normal((6, 3)))
    rows.requires_grad_()
    weights = torch.tensor([1.0, 2, 0, 3, 1, 0.5])
    loss = FlopsRegularizer()
    assert torch.autograd.gradcheck(lambda z: loss(z, sample_weight=weights), rows)


def test_even_use_costs_less():
    loss = FlopsRegularizer()
    assert loss(torch.eye(4)) == 4 / 16
    assert loss(torch.eye(4)[[0, 0, 0, 0]]) == 1


@pytest.mark.parametrize("shape", [(0, 3), (1, 3), (4, 3)])
def test_zero_rows_have_no_penalty_and_no_gradient(shape):
    rows = torch.zeros(shape, requires_grad=True)
    value = FlopsRegularizer()(rows)
    value.backward()
    assert value == 0
    assert not rows.grad.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_dtype_is_kept_and_targets_are_not_read(dtype):
    rows = torch.ones(3, 2, dtype=dtype)
    value = FlopsRegularizer()(rows, torch.tensor([0.5, torch.nan, 2.0]))
    assert value.dtype == dtype
    assert value == 2


def test_bad_input():
    loss, rows = FlopsRegularizer(), torch.ones(3, 2)
    with pytest.raises(ValueError, match=r"FlopsRegularizer: .*flatten\(1\)"):
        loss(torch.ones(3, 2, 1))
    with pytest.raises(ValueError, match=r"FlopsRegularizer: .*float\(\)"):
        loss(torch.ones(3, 2, dtype=torch.int64))
    with pytest.raises(ValueError, match=r"FlopsRegularizer: .*clamp\(min=0\)"):
        loss(rows, sample_weight=torch.tensor([1.0, -1.0, 1.0]))
    with pytest.raises(ValueError, match=r"FlopsRegularizer: .*reshape"):
        loss(rows, sample_weight=torch.ones(2))
