"""Length of the tree of a batch, with its gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import cdist
from scipy.stats import ortho_group

from skrep.metrics import spanning_tree_length
from skrep.nn.losses import SpanningTreeSpread
from tests.strategies import matrices, seeds


def value_and_gradient(loss, rows):
    rows = torch.as_tensor(rows).clone().requires_grad_()
    value = loss(rows)
    value.backward()
    return value.detach(), rows.grad


@given(X=matrices())
def test_length_less_the_pull(X):
    length = minimum_spanning_tree(cdist(X, X)).sum()
    pull = np.mean([(np.sqrt(x @ x) - 1) ** 2 for x in X])
    rows = torch.from_numpy(X)
    alone = SpanningTreeSpread(sphere=0)(rows)
    assert_allclose(alone, -length / len(X), rtol=1e-9)
    both = SpanningTreeSpread(sphere=0.5)(rows)
    assert_allclose(both, 0.5 * pull - length / len(X), rtol=1e-9, atol=1e-12)


@given(X=matrices())
def test_moves_order_and_scale(X):
    loss, rows = SpanningTreeSpread(sphere=0), torch.from_numpy(X)
    expected = loss(rows)
    Q = torch.from_numpy(np.atleast_2d(ortho_group.rvs(X.shape[1], random_state=0)))
    assert_allclose(loss(rows @ Q + 2), expected, rtol=1e-9)
    assert_allclose(loss(rows.flip(0)), expected, rtol=1e-12)
    for scale in (1e-9, 1e9):
        assert_allclose(loss(rows * scale), expected * scale, rtol=1e-9)
    pulled = SpanningTreeSpread()
    assert_allclose(pulled(rows @ Q), pulled(rows), rtol=1e-9, atol=1e-12)
    assert abs(pulled(rows + 2) - pulled(rows)) > 1e-9


@given(X=matrices(min_rows=3), seed=seeds)
def test_weights_are_repeats(X, seed):
    weights = np.random.default_rng(seed).integers(0, 4, len(X))
    weights[0] = 1
    loss = SpanningTreeSpread()
    repeated = loss(torch.from_numpy(np.repeat(X, weights, axis=0)))
    weighted = loss(torch.from_numpy(X), None, torch.from_numpy(weights))
    assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


def test_gradient():
    rows = torch.from_numpy(np.random.default_rng(0).standard_normal((8, 3)))
    rows.requires_grad_()
    weights = torch.tensor([1.0, 2, 0, 3, 1, 0.5, 1, 1])
    loss = SpanningTreeSpread(sphere=0.7)
    assert torch.autograd.gradcheck(lambda z: loss(z, sample_weight=weights), rows)


def test_copies_are_joined_at_no_length():
    rows = torch.tensor([[0.0, 0, 0], [1, 1, 1]], dtype=torch.float64)
    rows = rows.repeat_interleave(10, 0)
    loss = SpanningTreeSpread(sphere=0)
    for scale in (1, 1e-9):
        assert_allclose(loss(rows * scale), -scale * np.sqrt(3) / 20)
    _, gradient = value_and_gradient(loss, rows)
    pushed = gradient.any(1)
    assert pushed.sum() == 2
    assert pushed[:10].sum() == 1
    assert_allclose(gradient.sum(0), 0, atol=1e-15)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param(torch.zeros(5, 3), id="zero"),
        pytest.param(torch.full((5, 3), 0.7), id="identical"),
        pytest.param(torch.ones(1, 3), id="one row"),
        pytest.param(torch.zeros(1, 3), id="one zero row"),
        pytest.param(torch.eye(2), id="two rows"),
        pytest.param(torch.zeros(0, 3), id="no rows"),
        pytest.param(1e-30 * torch.eye(3), id="tiny"),
        pytest.param(1e15 * torch.eye(3), id="huge"),
    ],
)
def test_finite(rows):
    value, gradient = value_and_gradient(SpanningTreeSpread(), rows)
    assert torch.isfinite(value)
    assert torch.isfinite(gradient).all()


def test_infinite_rows_are_not_hidden_and_not_warned_of():
    rows = torch.tensor([[torch.inf, 0], [torch.inf, 1], [0, 1]])
    assert not torch.isfinite(SpanningTreeSpread()(rows))
    assert torch.isnan(SpanningTreeSpread()(torch.full((3, 2), torch.nan)))


def test_descent_spreads_rows_of_a_line_over_the_sphere():
    generator = torch.Generator().manual_seed(0)
    line = torch.linspace(-1, 1, 24)[:, None] * torch.ones(3)
    rows = line + 0.01 * torch.randn(24, 3, generator=generator)
    before = spanning_tree_length(rows)
    rows.requires_grad_()
    optimizer = torch.optim.Adam([rows], lr=0.05)
    for _ in range(200):
        optimizer.zero_grad()
        SpanningTreeSpread()(rows).backward()
        optimizer.step()
    rows = rows.detach()
    assert spanning_tree_length(rows) > 4 * before
    singular_values = torch.linalg.svdvals(rows - rows.mean(0))
    assert singular_values.min() > 0.6 * singular_values.max()
    assert 1 < rows.norm(dim=1).mean() < 1.71


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_dtype_is_kept_and_targets_are_not_read(dtype):
    rows = torch.eye(3, dtype=dtype)
    value = SpanningTreeSpread()(rows, torch.tensor([0.5, torch.nan, 2.0]))
    assert value.dtype == dtype
    assert_allclose(value.float(), -2 * np.sqrt(2) / 3, rtol=1e-2)


def test_bad_input():
    with pytest.raises(ValueError, match=r"Use SpanningTreeSpread\(sphere=1.0\)"):
        SpanningTreeSpread(sphere=-1)
    with pytest.raises(ValueError, match=r"SpanningTreeSpread: .*flatten\(1\)"):
        SpanningTreeSpread()(torch.ones(3))
    with pytest.raises(ValueError, match=r"SpanningTreeSpread: .*clamp\(min=0\)"):
        SpanningTreeSpread()(torch.eye(2), sample_weight=torch.tensor([1.0, -1]))
    assert repr(SpanningTreeSpread()) == "SpanningTreeSpread(sphere=1.0)"
