"""The network of sparse codes and its loss, against loops over rows."""

import numpy as np
import pytest
import torch
from numpy.testing import assert_allclose

from skrep.nn._sparse_code import (
    SparseCodeLoss,
    SparseCoder,
    class_search,
    cosine_contrast,
)


def drawn(n=7, d=4, m=9, seed=0):
    rng = np.random.default_rng(seed)
    atoms = rng.normal(size=(m, d))
    return rng.normal(size=(n, d)), atoms / np.linalg.norm(atoms, axis=1)[:, None]


def code_of(x, atoms, k):
    z = np.maximum(atoms @ x, 0)
    z[np.argsort(z)[:-k]] = 0
    return z


def missed(x, estimate):
    squares = estimate @ estimate
    return x @ x - (x @ estimate) ** 2 / squares if squares else x @ x


def cosine(a, b):
    norms = np.linalg.norm(a) * np.linalg.norm(b)
    return a @ b / norms if norms else 0.0


def searched(codes, t=0.1):
    """Chances with which each row finds each of the others."""
    found = []
    for i, z in enumerate(codes):
        scores = [np.exp(cosine(z, other) / t) for other in codes]
        total = sum(s for j, s in enumerate(scores) if j != i)
        found.append([s / total if j != i else 0 for j, s in enumerate(scores)])
    return np.array(found)


def test_network_gives_codes_and_what_they_miss():
    X, atoms = drawn()
    network = SparseCoder(atoms, 2, patience=3)
    out = network(torch.tensor(X)).detach().numpy()
    assert out.shape == (7, 1 + 4 + 18)
    for x, row in zip(X, out, strict=True):
        full, short = code_of(x, atoms, 2), code_of(x, atoms, 1)
        long = code_of(x, atoms, 8)
        expected = missed(x, full @ atoms) + missed(x, long @ atoms) / 8
        assert_allclose(row[0], expected)
        assert_allclose(row[1:5], x)
        assert_allclose(row[5:14], full, atol=1e-12)
        assert_allclose(row[14:], short, atol=1e-12)


def test_dead_atoms_reconstruct_what_is_left():
    X, atoms = drawn(n=5, m=12)
    network = SparseCoder(atoms, 2, patience=1)
    rows = torch.tensor(X)
    network(rows)
    network(rows)
    used = np.array([code_of(x, atoms, 2) > 0 for x in X]).any(axis=0)
    assert 0 < used.sum() < 12
    assert_allclose(network.idle.numpy(), np.where(used, 0, 2))
    out = network(rows)
    for x, value in zip(X, out[:, 0].detach().numpy(), strict=True):
        estimate = code_of(x, atoms, 2) @ atoms
        rest = x - (x @ estimate) / (estimate @ estimate) * estimate
        revived = code_of(x, atoms[~used], min(8, (~used).sum())) @ atoms[~used]
        expected = missed(x, estimate) + missed(x, code_of(x, atoms, 8) @ atoms) / 8
        assert_allclose(value, expected + missed(rest, revived) / 32)
    network.eval()
    network(rows)
    assert network.idle.max() == 3


def test_searches_agree_with_loops():
    X, _ = drawn(n=8)
    codes = np.maximum(drawn(n=8, d=6, seed=1)[0], 0)
    codes[3] = 0
    y = np.array([0, 0, 1, 1, 1, 0, 2, 1])
    told = searched(codes)
    same = (y[:, None] == y) & ~np.eye(8, dtype=bool)
    owners = same.any(axis=1)
    expected = -np.log((told * same).sum(axis=1)[owners]).mean()
    Z, ones = torch.tensor(codes), torch.ones(8, dtype=torch.float64)
    assert_allclose(class_search(Z, torch.tensor(y), ones, 0.1), expected)
    aims = searched(X)
    pairs = ~np.eye(8, dtype=bool)
    crossed = -(aims[pairs] * np.log(told[pairs])).sum() / 8
    assert_allclose(cosine_contrast(Z, torch.tensor(X), ones, 0.1), crossed)
    rows = torch.tensor(np.c_[np.arange(8.0), X, codes, codes])
    for supervised, search in ((True, expected), (False, crossed)):
        loss = SparseCodeLoss(4, 6, supervised)(rows, torch.tensor(y))
        assert_allclose(loss, 3.5 / 10 + 2 * search)


@pytest.mark.parametrize("supervised", [True, False])
def test_weights_are_repeated_rows(supervised):
    rng = np.random.default_rng(0)
    rows = np.abs(rng.normal(size=(6, 1 + 3 + 10)))
    y, weights = np.array([0, 1, 0, 1, 1, 0]), np.array([1, 2, 3, 1, 1, 2])
    again = np.repeat(np.arange(6), weights)
    loss = SparseCodeLoss(3, 5, supervised)
    assert_allclose(
        loss(torch.tensor(rows), torch.tensor(y), torch.tensor(weights)),
        loss(torch.tensor(rows[again]), torch.tensor(y[again])),
    )


def test_rows_without_others_cost_nothing():
    rows = torch.ones(1, 1 + 2 + 6, dtype=torch.float64, requires_grad=True)
    for supervised in (True, False):
        loss = SparseCodeLoss(2, 3, supervised)(rows, torch.tensor([0]))
        loss.backward()
        assert_allclose(loss.detach(), 0.1)
        assert torch.isfinite(rows.grad).all()


def test_gradients_are_those_of_differences():
    X, atoms = drawn(n=5)
    network = SparseCoder(atoms, 3, patience=100)
    y = torch.tensor([0, 1, 0, 1, 1])
    for supervised in (True, False):
        loss = SparseCodeLoss(4, 9, supervised)

        def value(offset, center, loss=loss):
            parts = {"offset": offset, "center": center}
            out = torch.func.functional_call(network, parts, (torch.tensor(X),))
            return loss(out, y) if loss.supervised else out.sum()

        start = (
            torch.full((9,), 0.01, dtype=torch.float64, requires_grad=True),
            torch.zeros(4, dtype=torch.float64, requires_grad=True),
        )
        assert torch.autograd.gradcheck(value, start)
