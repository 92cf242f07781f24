"""Anchors as a network: their whitening, their gradients and their loss."""

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skrep.nn._anchor_whitening import gram_root
from skrep.nn._anchors import AnchorPair, PairContrast, Side
from tests.strategies import seeds


def units(rows, columns, seed=0):
    draws = torch.Generator().manual_seed(seed)
    Z = torch.randn(rows, columns, dtype=torch.float64, generator=draws)
    return torch.nn.functional.normalize(Z, dim=1)


@pytest.mark.parametrize(("rows", "columns"), [(3, 5), (6, 2), (1, 4)])
def test_the_root_against_scipy(rows, columns):
    A = units(rows, columns).numpy()
    expected = np.linalg.inv(scipy.linalg.sqrtm(A @ A.T + np.eye(rows)).real)
    assert_allclose(gram_root(torch.from_numpy(A)).numpy(), expected, atol=1e-12)


@pytest.mark.parametrize(
    "A",
    [
        units(3, 5),
        units(6, 2),
        torch.eye(4, dtype=torch.float64),
        units(1, 3).repeat(3, 1),
    ],
    ids=["distinct", "more rows than columns", "orthogonal", "equal rows"],
)
def test_the_gradient_of_the_root_where_eigenvalues_repeat(A):
    assert torch.autograd.gradcheck(gram_root, A.clone().requires_grad_())


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_the_gradient_of_the_loss(pooling):
    counts = torch.tensor([1, 3, 2, 2])
    tokens = units(8, 3)
    sides = [Side(tokens, counts, units(5, 3, seed), pooling) for seed in (1, 2)]
    network = AnchorPair(*sides).eval()
    rows = torch.tensor([2, 0, 3, 1])
    targets = torch.tensor([[0, 0], [1, 1], [2, 2], [3, 3]])

    def loss(x, y):
        parameters = {"x.anchors": x, "y.anchors": y}
        found = torch.func.functional_call(network, parameters, (rows,))
        return PairContrast()(found, targets)

    inputs = [side.anchors.detach().requires_grad_() for side in sides]
    assert torch.autograd.gradcheck(loss, inputs)


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_rows_are_taken_with_their_tokens(pooling):
    counts = torch.tensor([1, 3, 2, 2])
    tokens, anchors = units(8, 3), units(5, 3, 1)
    side = Side(tokens, counts, anchors, pooling).eval()
    parts = torch.split(tokens, counts.tolist())
    for at in ([2, 0, 3, 1], [1], [3, 3]):
        found = side(torch.tensor(at)).detach()
        for i, row in zip(at, found, strict=True):
            cosines = parts[i] @ anchors.T
            pooled = cosines.amax(0) if pooling == "max" else cosines.mean(0)
            expected = pooled @ gram_root(anchors)
            assert_allclose(row, expected / expected.norm(), atol=1e-12)


def test_noise_is_there_in_training_alone():
    side = Side(units(4, 3), torch.ones(4, dtype=int), units(2, 3, 1), "max")
    rows = torch.arange(4)
    assert not torch.equal(side(rows), side(rows))
    side.eval()
    assert torch.equal(side(rows), side(rows))


@settings(max_examples=25, deadline=None)
@given(seed=seeds, n=st.integers(2, 7), weighted=st.booleans())
def test_the_loss_against_loops(seed, n, weighted):
    rng = np.random.default_rng(seed)
    a, b = (units(n, 3, seed=int(rng.integers(2**31))) for _ in range(2))
    codes = rng.integers(0, 4, size=(n, 2))
    weights = rng.uniform(0.5, 2, size=n) if weighted else np.ones(n)
    total = 0.0
    for i in range(n):
        others = [j for j in range(n) if j == i or not (codes[j] == codes[i]).any()]
        there = np.exp([float(a[i] @ b[j]) / 0.1 for j in others]).sum()
        back = np.exp([float(a[j] @ b[i]) / 0.1 for j in others]).sum()
        own = float(a[i] @ b[i]) / 0.1
        total += weights[i] * (np.log(there) + np.log(back) - 2 * own) / 2
    told = (torch.from_numpy(weights),) if weighted else ()
    found = PairContrast()(torch.cat([a, b], 1), torch.from_numpy(codes), *told)
    assert_allclose(float(found), total / weights.sum(), rtol=1e-9, atol=1e-12)


def test_pairs_that_share_a_row_are_no_negatives():
    Z = units(3, 2)
    outputs = torch.cat([Z, Z], 1)
    apart = PairContrast()(outputs, torch.tensor([[0, 0], [1, 1], [2, 2]]))
    same = PairContrast()(outputs, torch.tensor([[0, 0], [0, 1], [0, 2]]))
    assert same == 0
    assert apart > 0
