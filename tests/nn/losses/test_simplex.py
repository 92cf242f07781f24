"""The head that is not learned."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import log_softmax

from skrep.geometry import simplex_vertices
from skrep.nn.losses import SimplexLoss
from tests.strategies import seeds


def drawn(seed, n=12, n_classes=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, n_classes - 1))
    return torch.from_numpy(X), torch.from_numpy(rng.integers(0, n_classes, n))


def cross_entropy(X, y, n_classes):
    V = simplex_vertices(n_classes)
    rows = zip(X.numpy(), y.tolist(), strict=True)
    return np.mean([-log_softmax([v @ x for v in V])[c] for x, c in rows])


def contrast(X, y, temperature):
    """The published term, pair by pair, of rows that have others of their class."""
    U = X.numpy() / np.linalg.norm(X.numpy(), axis=1, keepdims=True)
    values = []
    for i in range(len(U)):
        all_others = [a for a in range(len(U)) if a != i]
        own = [a for a in all_others if y[a] == y[i]]
        if own:
            scores = log_softmax([U[i] @ U[a] / temperature for a in all_others])
            picked = [scores[all_others.index(p)] for p in own]
            values.append(-np.mean(picked))
    return np.mean(values) if values else 0.0


@given(seed=seeds, n=st.integers(1, 12), n_classes=st.integers(2, 6))
def test_both_terms_pair_by_pair(seed, n, n_classes):
    X, y = drawn(seed, n, n_classes)
    plain = cross_entropy(X, y, n_classes)
    assert_allclose(SimplexLoss(n_classes)(X, y), plain, rtol=1e-9)
    mixed = SimplexLoss(n_classes, contrast=0.3, temperature=0.5)(X, y)
    assert_allclose(mixed, plain + 0.3 * contrast(X, y, 0.5), rtol=1e-9)


@given(seed=seeds)
def test_weights_are_repeats(seed):
    X, y = drawn(seed)
    weights = torch.from_numpy(np.random.default_rng(seed).integers(0, 4, len(X)))
    weights[0] = 1
    loss = SimplexLoss(4, contrast=1.0)
    repeated = loss(X.repeat_interleave(weights, 0), y.repeat_interleave(weights, 0))
    assert_allclose(loss(X, y, weights), repeated, rtol=1e-9)


@given(seed=seeds)
def test_rows_and_classes_in_another_order(seed):
    """Classes change places by an isometry of the simplex; a rotation breaks it."""
    X, y = drawn(seed)
    loss = SimplexLoss(4, contrast=1.0)
    expected = loss(X, y)
    order = torch.from_numpy(np.random.default_rng(seed).permutation(len(X)))
    assert_allclose(loss(X[order], y[order]), expected, rtol=1e-9)
    places = torch.tensor([2, 0, 3, 1])
    turn = torch.linalg.pinv(loss.vertices) @ loss.vertices[places]
    assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)
    assert_allclose(loss(X @ turn, places[y]), expected, rtol=1e-9)
    angle = torch.tensor(0.3)
    rotation = torch.eye(3, dtype=torch.float64)
    rotation[:2, :2] = torch.stack(
        [angle.cos(), -angle.sin(), angle.sin(), angle.cos()]
    ).reshape(2, 2)
    assert abs(loss(X @ rotation, y) - expected) > 1e-6
    assert abs(loss(2 * X, y) - expected) > 1e-6


@pytest.mark.parametrize("strength", [0.0, 0.5])
def test_gradient(strength):
    X, y = drawn(0)
    weights = torch.linspace(0, 2, len(X))
    loss = SimplexLoss(4, contrast=strength)
    rows = X.requires_grad_()
    assert torch.autograd.gradcheck(lambda z: loss(z, y, weights), rows)


def test_the_head_is_a_buffer():
    loss = SimplexLoss(5)
    assert not list(loss.parameters())
    assert_allclose(loss.vertices, simplex_vertices(5))
    assert list(loss.state_dict()) == ["vertices"]
    assert loss.half().vertices.dtype == torch.float16


def test_reserved_vertices_are_in_no_class_way():
    """Classes seen go to their vertices, and away from those of classes to come."""
    loss = SimplexLoss(6)
    y = torch.tensor([0, 1, 2]).repeat(4)
    rows = torch.zeros(12, 5, requires_grad=True)
    optimizer = torch.optim.SGD([rows], lr=20.0)
    for _ in range(60):
        optimizer.zero_grad()
        loss(rows, y).backward()
        optimizer.step()
    units = torch.nn.functional.normalize(rows.detach()).double()
    assert_allclose((units * loss.vertices[y]).sum(1), 1, atol=1e-3)


def test_two_classes_learn_and_the_contrast_has_no_say_there():
    y = torch.tensor([0, 1, 0, 1])
    grads = []
    for strength in (0.0, 1.0):
        rows = torch.tensor([[0.1], [0.2], [-0.3], [0.4]], requires_grad=True)
        SimplexLoss(2, contrast=strength)(rows, y).backward()
        grads.append(rows.grad)
    assert grads[0].abs().min() > 0.05
    assert_allclose(grads[0], grads[1], atol=1e-6)


def test_contrast_pulls_a_class_together():
    X, y = drawn(3, 40)
    same, spreads = y[:, None] == y, []
    for strength in (0.0, 1.0):
        loss = SimplexLoss(4, contrast=strength)
        rows = X.clone().requires_grad_()
        optimizer = torch.optim.Adam([rows], lr=0.1)
        for _ in range(120):
            optimizer.zero_grad()
            loss(rows, y).backward()
            optimizer.step()
        units = torch.nn.functional.normalize(rows.detach())
        spreads.append(1 - (units @ units.T)[same].min())
    assert spreads[1] < 0.1
    assert spreads[1] < spreads[0] / 5


@pytest.mark.parametrize("strength", [0.0, 1.0])
@pytest.mark.parametrize(
    ("rows", "codes"),
    [
        pytest.param(torch.zeros(4, 2), [0, 0, 1, 1], id="zero"),
        pytest.param(torch.ones(4, 2), [0, 0, 1, 1], id="identical"),
        pytest.param(torch.ones(1, 2), [2], id="one row"),
        pytest.param(torch.eye(2), [0, 1], id="one row per class"),
        pytest.param(torch.eye(2), [1, 1], id="one class"),
        pytest.param(torch.zeros(0, 2), [], id="no rows"),
        pytest.param(1e4 * torch.eye(2), [0, 1], id="large"),
    ],
)
def test_finite(rows, codes, strength):
    rows = rows.clone().requires_grad_()
    codes = torch.tensor(codes, dtype=torch.int64)
    value = SimplexLoss(3, contrast=strength)(rows, codes)
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(rows.grad).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("codes", [torch.int32, torch.uint8, torch.int64])
def test_dtypes(dtype, codes):
    rows, y = torch.eye(2, dtype=dtype), torch.tensor([0, 2], dtype=codes)
    value = SimplexLoss(3, contrast=0.1)(rows, y)
    assert value.dtype == dtype
    expected = cross_entropy(torch.eye(2), y, 3)
    assert_allclose(value.double(), expected, rtol=1e-2)


def test_bad_input():
    for wrong in (1, 0, 3.0, True):
        with pytest.raises(ValueError, match=r"Use SimplexLoss\(n_classes=2\)"):
            SimplexLoss(wrong)
    with pytest.raises(ValueError, match=r"Use SimplexLoss\(3, contrast=0.1\)"):
        SimplexLoss(3, contrast=-1)
    with pytest.raises(ValueError, match=r"Use SimplexLoss\(3, temperature=0.1\)"):
        SimplexLoss(3, temperature=0)
    loss, y = SimplexLoss(3), torch.tensor([0, 1])
    with pytest.raises(ValueError, match=r"LazyLinear\(2\), or use SimplexLoss\(5\)"):
        loss(torch.ones(2, 4), y)
    for codes, value in (([0, 3], 3), ([-1, 0], -1)):
        with pytest.raises(ValueError, match=rf"'y' holds {value}, .*return_inverse"):
            loss(torch.ones(2, 2), torch.tensor(codes))
    with pytest.raises(ValueError, match=r"SimplexLoss: 'y' .*y.long\(\)"):
        loss(torch.ones(2, 2), y.float())
    with pytest.raises(ValueError, match=r"SimplexLoss: 'y' .*reshape"):
        loss(torch.ones(2, 2), y[:1])
    assert repr(loss) == "SimplexLoss(3, contrast=0.0, temperature=0.1)"
