"""Dimension around the rows of a batch, with its gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import ortho_group

from skrep.nn.losses import LocalDimension
from tests.strategies import seeds


def gaussian(seed, n=30, d=3):
    return np.random.default_rng(seed).standard_normal((n, d))


def row_by_row(X, k, weights=None):
    """Loss by hand: copies of a row are one neighbor, and none of their own."""
    others = np.unique(X, axis=0)
    values = []
    for x in X:
        r = sorted(np.sqrt(np.sum((x - o) ** 2)) for o in others)
        r = [distance for distance in r if distance > 0][:k]
        mu = np.mean(r[:-1])
        values.append(abs(np.log(mu / (r[-1] - mu))))
    return -np.average(values, weights=weights)


def value_and_gradient(loss, rows, weights=None):
    rows = torch.as_tensor(rows).clone().requires_grad_()
    value = loss(rows, sample_weight=weights)
    value.backward()
    return value.detach(), rows.grad


@given(seed=seeds, k=st.integers(2, 40), copies=st.integers(0, 5))
def test_row_by_row(seed, k, copies):
    X = gaussian(seed)
    X = np.vstack([X, X[:copies], X[:copies]])
    value = LocalDimension(n_neighbors=k)(torch.from_numpy(X))
    assert_allclose(value, row_by_row(X, min(k, 29)), rtol=1e-9)


@given(seed=seeds)
def test_weights_are_repeats(seed):
    X = gaussian(seed)
    weights = np.random.default_rng(seed).integers(0, 4, len(X))
    loss = LocalDimension(n_neighbors=5)
    repeated = loss(torch.from_numpy(np.repeat(X, weights, axis=0)))
    weighted = loss(torch.from_numpy(X), None, torch.from_numpy(weights))
    assert_allclose(weighted, repeated, rtol=1e-9)
    shares = torch.full((len(X),), 0.1)
    rows = torch.from_numpy(X)
    assert_allclose(loss(rows, None, shares), loss(rows), rtol=1e-9)


@given(seed=seeds)
def test_moves_scale_and_order_do_not_count_and_stretching_does(seed):
    rows = torch.from_numpy(gaussian(seed))
    loss = LocalDimension(n_neighbors=8)
    expected = loss(rows)
    Q = torch.from_numpy(ortho_group.rvs(3, random_state=0))
    assert_allclose(loss(rows @ Q + 5), expected, rtol=1e-6)
    assert_allclose(loss(rows.flip(0)), expected, rtol=1e-9)
    for scale in (1e-200, 1e-9, 1e9, 1e200):
        assert_allclose(loss(rows * scale), expected, rtol=1e-9)
    assert abs(loss(rows * torch.tensor([1, 10, 100])) - expected) > 1e-3


def test_gradient_flows_through_the_row_and_not_through_its_neighbors():
    X = torch.from_numpy(gaussian(0, 12))
    loss = LocalDimension(n_neighbors=4)
    for i in range(3):
        weights = torch.ones(12)
        _, gradient = value_and_gradient(loss, X, weights)

        def moved(row, i=i):
            """The row's own value, at neighbors that stay."""
            others = torch.cat([X[:i], X[i + 1 :]])
            near = torch.linalg.vector_norm(others - row, dim=1).sort().values[:4]
            mu = near[:3].mean()
            return -(mu / (near[3] - mu)).log().abs() / 12

        row = X[i].clone().requires_grad_()
        assert torch.autograd.gradcheck(moved, row)
        moved(row).backward()
        assert_allclose(gradient[i], row.grad, rtol=1e-9)


def test_gradient_at_weights_of_one_row():
    """Where one row alone is scored its gradient is the whole one."""
    X = torch.from_numpy(gaussian(1, 12))
    loss = LocalDimension(n_neighbors=5)
    tiny = torch.full((12,), 1e-300, dtype=torch.float64)
    tiny[4] = 1

    def of_row(row):
        return loss(torch.cat([X[:4], row[None], X[5:]]), sample_weight=tiny)

    assert torch.autograd.gradcheck(of_row, X[4].clone().requires_grad_())


def test_descent_raises_the_dimension():
    generator = torch.Generator().manual_seed(0)
    flat = torch.randn(60, 4, generator=generator) * torch.tensor([1, 1, 0.05, 0.05])
    loss = LocalDimension(n_neighbors=15)
    rows = flat.clone().requires_grad_()
    optimizer = torch.optim.Adam([rows], lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        loss(rows).backward()
        optimizer.step()
    assert loss(rows) < loss(flat) - 0.3


NOTHING_TO_LEARN = [
    pytest.param(torch.zeros(5, 3), id="zero"),
    pytest.param(torch.full((5, 3), 0.7), id="identical"),
    pytest.param(torch.zeros(0, 3), id="no rows"),
    pytest.param(torch.ones(1, 3), id="one row"),
    pytest.param(torch.eye(2), id="two rows"),
    pytest.param(torch.eye(2).repeat(4, 1), id="two distinct rows"),
    pytest.param(torch.eye(6), id="equally far"),
    pytest.param(torch.zeros(5, 0), id="no columns"),
]


@pytest.mark.parametrize("rows", NOTHING_TO_LEARN)
def test_zero_with_a_gradient_of_zero(rows):
    value, gradient = value_and_gradient(LocalDimension(), rows)
    assert value == 0
    assert not gradient.any()


def test_rows_without_an_estimate_are_left_out():
    square = torch.tensor([[0.0, 0], [1, 0], [0, 1], [1, 1]], dtype=torch.float64)
    rest = torch.from_numpy(gaussian(0, 20, 2))
    loss = LocalDimension(n_neighbors=2)
    rows = torch.cat([square + 100, rest])
    weights = torch.linspace(1, 5, 24)
    value, gradient = value_and_gradient(loss, rows, weights)
    assert_allclose(value, loss(rest, None, weights[4:]), rtol=1e-9)
    assert not gradient[:4].any()
    assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_dtype_is_kept_and_targets_are_not_read(dtype):
    rows = torch.from_numpy(gaussian(0)).to(dtype)
    loss = LocalDimension()
    value = loss(rows, torch.full((30,), torch.nan))
    assert value.dtype == dtype
    assert_allclose(value.double(), loss(rows.double()), rtol=1e-2)


def test_nan_is_not_hidden():
    rows = torch.from_numpy(gaussian(0))
    rows[3, 1] = torch.nan
    assert torch.isnan(LocalDimension(n_neighbors=5)(rows))


def test_bad_input():
    for wrong in (1, 2.5, True, None):
        with pytest.raises(ValueError, match=r"Use LocalDimension\(n_neighbors=64\)"):
            LocalDimension(n_neighbors=wrong)
    with pytest.raises(ValueError, match=r"LocalDimension: .*flatten\(1\)"):
        LocalDimension()(torch.ones(3))
    assert repr(LocalDimension()) == "LocalDimension(n_neighbors=64)"
