"""Within over between variance of rows, of regions of images and of soft masks."""

from itertools import combinations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import ortho_group
from torch.nn.functional import adaptive_avg_pool2d, one_hot

from skrep.nn.losses import DDALoss, TraceRatioLoss
from tests.strategies import matrices, seeds

LOSS = DDALoss()


def naive(rows, shares, ridge=1.0):
    """Mean over the pairs of columns of `shares`; None where there is no pair."""
    values = []
    for a, b in combinations(range(shares.shape[1]), 2):
        sums, sizes, means = 0.0, 0.0, []
        for c in (a, b):
            total = sum(shares[:, c])
            if total == 0:
                break
            mean = sum(w * z for w, z in zip(shares[:, c], rows, strict=True)) / total
            for w, z in zip(shares[:, c], rows, strict=True):
                sums += w * np.dot(z - mean, z - mean)
            sizes += total
            means.append(mean)
        if len(means) == 2:
            within, between = sums / sizes, np.sum((means[0] - means[1]) ** 2)
            e = ridge * (within + between)
            values.append(np.log(within + e) - np.log(between + e))
    return np.mean(values) if values else None


def naive_maps(maps, shares, ridge=1.0):
    """The mean over images, whose rows are their pixels."""
    values = []
    for image, share in zip(maps, shares, strict=True):
        rows = image.reshape(len(image), -1).T
        values.append(naive(rows, share.reshape(len(share), -1).T, ridge))
    return np.mean([value for value in values if value is not None])


def by_autograd(rows, y, weights, ridge):
    """The loss of rows in plain torch, whose derivatives are those of autograd."""
    moments = []
    for c in torch.unique(y):
        own = (y == c) & (weights > 0)
        if own.any():
            z, w = rows[own], weights[own]
            mean = (w[:, None] * z).sum(0) / w.sum()
            moments.append((w.sum(), mean, (w * (z - mean).square().sum(1)).sum()))
    values = []
    for (n_a, m_a, q_a), (n_b, m_b, q_b) in combinations(moments, 2):
        within, between = (q_a + q_b) / (n_a + n_b), (m_a - m_b).square().sum()
        e = ridge * (within + between)
        values.append(torch.log(within + e) - torch.log(between + e))
    return torch.stack(values).mean()


def maps_and_codes(seed, n_classes=2, n_images=4, n_columns=3, side=5):
    rng = np.random.default_rng(seed)
    maps = rng.standard_normal((n_images, n_columns, side, side))
    return maps, rng.integers(0, n_classes, (n_images, side, side))


def shares_of(codes, n_classes):
    return np.moveaxis(np.eye(n_classes)[codes], -1, 1)


@given(X=matrices(min_rows=4), n_classes=st.integers(2, 4), seed=seeds)
def test_rows_against_loops(X, n_classes, seed):
    y = np.random.default_rng(seed).integers(0, n_classes, len(X))
    y[:2] = 0, 1
    value = DDALoss(ridge=0.02)(torch.from_numpy(X), torch.from_numpy(y))
    expected = naive(X, np.eye(n_classes)[y], ridge=0.02)
    assert_allclose(value, expected, rtol=1e-7, atol=1e-9)


@given(n_classes=st.integers(2, 4), seed=seeds)
@settings(max_examples=20, deadline=None)
def test_maps_against_loops(n_classes, seed):
    maps, codes = maps_and_codes(seed, n_classes)
    value = LOSS(torch.from_numpy(maps), torch.from_numpy(codes))
    assert_allclose(value, naive_maps(maps, shares_of(codes, n_classes)), rtol=1e-9)


@given(seed=seeds)
@settings(max_examples=20, deadline=None)
def test_soft_masks_against_loops(seed):
    maps, _ = maps_and_codes(seed)
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.ones(3), maps[:, 0].shape).transpose(0, 3, 1, 2)
    value = LOSS(torch.from_numpy(maps), torch.from_numpy(shares))
    assert_allclose(value, naive_maps(maps, shares), rtol=1e-9)
    front = torch.from_numpy(shares[:, 0])
    both = np.stack([1 - shares[:, 0], shares[:, 0]], 1)
    assert_allclose(
        LOSS(torch.from_numpy(maps), front), naive_maps(maps, both), rtol=1e-9
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_soft_masks_of_zeros_and_ones_are_codes(n_classes):
    maps, codes = map(torch.from_numpy, maps_and_codes(0, n_classes))
    hard = LOSS(maps, codes)
    shares = one_hot(codes).movedim(3, 1).double()
    assert_allclose(LOSS(maps, shares), hard, rtol=1e-14)
    if n_classes == 2:
        assert_allclose(LOSS(maps, codes.float()), hard, rtol=1e-14)
        assert_allclose(LOSS(maps, codes.bool()), hard, rtol=1e-14)


def test_two_classes_are_the_trace_ratio_freed_from_shares():
    rng = np.random.default_rng(0)
    for n_front in (3, 20):
        rows = torch.from_numpy(rng.standard_normal((40, 3)))
        y = (torch.arange(40) < n_front).long()
        p = n_front / 40
        expected = TraceRatioLoss()(rows, y) + np.log(p * (1 - p))
        assert_allclose(DDALoss(ridge=1e-12)(rows, y), expected, rtol=1e-9)


@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_weights_are_repeats(seed):
    maps, codes = map(torch.from_numpy, maps_and_codes(seed, 3))
    times = torch.tensor([2, 0, 1, 3])
    repeated = LOSS(maps.repeat_interleave(times, 0), codes.repeat_interleave(times, 0))
    assert_allclose(LOSS(maps, codes, times), repeated, rtol=1e-12)
    rows, y = maps.movedim(1, 3).flatten(0, 2), codes.flatten()
    times = torch.from_numpy(np.random.default_rng(seed).integers(0, 3, len(y)))
    repeated = LOSS(rows.repeat_interleave(times, 0), y.repeat_interleave(times))
    assert_allclose(LOSS(rows, y, times), repeated, rtol=1e-12)
    one = maps[:1], codes[:1], times[: codes[0].numel()].view(codes[:1].shape)
    first = slice(0, codes[0].numel())
    assert_allclose(LOSS(*one), LOSS(rows[first], y[first], times[first]), rtol=1e-12)


def test_pixels_of_no_weight_are_absent_and_levels_of_weights_do_not_count():
    maps, codes = map(torch.from_numpy, maps_and_codes(1))
    weights = torch.ones(codes.shape)
    weights[:, :, 3:] = 0
    void = torch.where(weights > 0, codes, 255)
    expected = LOSS(maps[..., :3], codes[..., :3])
    assert_allclose(LOSS(maps, void, weights), expected, rtol=1e-13)
    each = torch.tensor([1.0, 5, 0.1, 7])[:, None, None]
    assert_allclose(LOSS(maps, void, each * weights), expected, rtol=1e-13)
    soft = torch.rand(codes.shape, dtype=torch.float64)
    expected = LOSS(maps[..., :3], soft[..., :3])
    assert_allclose(LOSS(maps, soft, weights), expected, rtol=1e-13)


def test_a_row_of_no_weight_may_hold_anything_finite():
    rows = torch.from_numpy(np.random.default_rng(2).standard_normal((9, 2)))
    y, weights = torch.arange(9) % 2, torch.ones(9)
    rows[0], weights[0] = 1e150, 0
    assert_allclose(LOSS(rows, y, weights), LOSS(rows[1:], y[1:]), rtol=1e-13)


def test_images_of_one_region_are_skipped():
    maps, codes = map(torch.from_numpy, maps_and_codes(2))
    expected = LOSS(maps[2:], codes[2:])
    codes[0], codes[1] = 0, 1
    assert_allclose(LOSS(maps, codes), expected, rtol=1e-14)
    assert_allclose(LOSS(maps, codes.double()), expected, rtol=1e-14)


@pytest.mark.parametrize("case", ["codes", "soft", "weights", "images", "row", "empty"])
def test_without_two_classes_the_loss_is_zero_and_has_a_graph(case):
    maps, codes = map(torch.from_numpy, maps_and_codes(3))
    y, weights = torch.full_like(codes, 7), None
    if case == "soft":
        y = torch.ones(codes.shape)
    elif case == "weights":
        y, weights = codes, (codes == 1).float()
    elif case == "images":
        y, weights = codes, torch.zeros(4)
    elif case == "row":
        maps, y = maps[:1, :, 0, 0], torch.tensor([3])
    elif case == "empty":
        maps, y = maps[:0], y[:0]
    maps.requires_grad_()
    value = LOSS(maps, y, weights)
    value.backward()
    assert value == 0
    assert not maps.grad.any()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
@pytest.mark.parametrize("level", [0.0, 1.2345, 1e3])
@pytest.mark.parametrize("n_rows", [7, 64])
def test_identical_features_have_no_pull(dtype, level, n_rows):
    rows = torch.full((n_rows, 3), level, dtype=dtype, requires_grad=True)
    value = LOSS(rows, torch.arange(n_rows) % 2)
    value.backward()
    assert value.dtype == dtype
    assert value == 0
    assert not rows.grad.any()


def test_one_row_per_class_has_the_lowest_value_and_no_gradient():
    rows = torch.eye(3, dtype=torch.float64, requires_grad=True)
    value = LOSS(rows, torch.arange(3))
    value.backward()
    assert_allclose(value.item(), np.log(1 / 2), rtol=1e-12)
    assert_allclose(rows.grad, 0, atol=1e-12)


def test_classes_that_coincide_beside_one_that_does_not_are_finite():
    rng = np.random.default_rng(0)
    maps = torch.from_numpy(rng.standard_normal((200, 17, 1, 3)))
    maps[..., 1] = maps[..., 0]
    maps.requires_grad_()
    value = LOSS(maps, torch.arange(3).expand(200, 1, 3))
    value.backward()
    assert torch.isfinite(value)
    assert torch.isfinite(maps.grad).all()


def test_equal_means_have_the_highest_value():
    rows = torch.tensor([[1.0, 0], [-1, 0], [0, 1], [0, -1]])
    value = LOSS(rows, torch.tensor([0, 0, 1, 1]))
    assert_allclose(value, -np.log(1 / 2), rtol=1e-6)


@given(seed=seeds, exponent=st.integers(-100, 100))
@settings(max_examples=20, deadline=None)
def test_invariances(seed, exponent):
    rng = np.random.default_rng(seed)
    maps, codes = maps_and_codes(rng, 3)
    value = LOSS(torch.from_numpy(maps), torch.from_numpy(codes))
    turn = ortho_group.rvs(3, random_state=np.random.RandomState(seed))
    moved = np.einsum("ij,njhw->nihw", turn, maps) * 10.0**exponent
    moved += rng.standard_normal((4, 3, 1, 1)) * 10.0**exponent
    renamed = np.array([30, -7, 12])[codes]
    order = rng.permutation(4)
    moved, renamed = moved[order], renamed[order]
    found = LOSS(torch.from_numpy(moved), torch.from_numpy(renamed))
    assert_allclose(found, value, rtol=1e-9)
    stretched = torch.from_numpy(maps * np.array([1, 10, 1])[:, None, None])
    assert abs(LOSS(stretched, torch.from_numpy(codes)) - value) > 1e-6


def test_light_that_differs_between_images_is_no_variance():
    maps, codes = map(torch.from_numpy, maps_and_codes(4))
    maps += 3 * codes[:, None]
    light = torch.tensor([0.0, 100, -100, 1e4])[:, None, None, None]
    assert_allclose(LOSS(maps + light, codes), LOSS(maps, codes), rtol=1e-9)
    pooled = (maps + light).movedim(1, 3).flatten(0, 2), codes.flatten()
    assert LOSS(*pooled) > LOSS(maps, codes) + 1


def test_the_share_of_a_region_is_no_gain():
    rows = torch.tensor([[-1.0], [1], [4], [6]], dtype=torch.float64)
    y = torch.tensor([0, 0, 1, 1])
    for weights in ([1, 1, 1, 1], [1, 1, 9, 9], [50, 50, 1, 1]):
        value = DDALoss(ridge=1e-12)(rows, y, torch.tensor(weights))
        assert_allclose(value, np.log(1 / 25), rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e4])
def test_float32_far_from_the_origin(offset):
    maps, codes = map(torch.from_numpy, maps_and_codes(5))
    near = (maps.float() + offset).double()
    found = LOSS(near.float(), codes)
    assert found.dtype == torch.float32
    assert_allclose(found, LOSS(near, codes), rtol=1e-4)


@pytest.mark.parametrize("kind", ["rows", "codes", "front", "shares"])
@pytest.mark.parametrize("weighted", [False, True])
def test_gradient(kind, weighted):
    maps, codes = map(torch.from_numpy, maps_and_codes(6, 3, 3, 2, 3))
    y = {
        "rows": codes.flatten(),
        "codes": codes,
        "front": codes / 2,
        "shares": torch.softmax(maps.new_tensor(maps_and_codes(7, 3, 3, 3, 3)[0]), 1),
    }[kind]
    z = maps.movedim(1, 3).flatten(0, 2) if kind == "rows" else maps
    weights = None
    if weighted:
        size = len(y) if kind == "rows" else (len(z), *z.shape[2:])
        weights = torch.from_numpy(np.random.default_rng(0).integers(0, 3, size))
    z = z.clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda z: LOSS(z, y, weights), z)


@pytest.mark.parametrize("ridge", [1.0, 0.02])
@given(X=matrices(min_rows=6), n_classes=st.integers(2, 5), seed=seeds)
@settings(max_examples=20, deadline=None)
def test_gradient_of_rows_is_that_of_autograd(ridge, X, n_classes, seed):
    rng = np.random.default_rng(seed)
    rows = torch.from_numpy(X + rng.standard_normal(X.shape))
    y = torch.from_numpy(rng.integers(0, n_classes, len(X)))
    y[:2] = torch.tensor([0, 1])
    weights = torch.from_numpy(rng.integers(0, 3, len(X)) * rng.uniform(0.5, 2, len(X)))
    weights[:2] = 1.0
    for given_weights in (None, weights):
        own, other = rows.clone().requires_grad_(), rows.clone().requires_grad_()
        value = DDALoss(ridge=ridge)(own, y, given_weights)
        used = torch.ones(len(X)).double() if given_weights is None else weights
        expected = by_autograd(other, y, used, ridge)
        value.backward()
        expected.backward()
        assert_allclose(value.item(), expected.item(), rtol=1e-10, atol=1e-10)
        scale = max(other.grad.abs().max().item(), 1e-12)
        assert_allclose(own.grad, other.grad, rtol=1e-10, atol=1e-10 * scale)


def test_rows_are_the_pixels_of_one_image():
    rows = torch.from_numpy(np.random.default_rng(3).standard_normal((12, 3)))
    y, weights = torch.arange(12) % 3, torch.arange(12) / 4.0
    own, other = rows.clone().requires_grad_(), rows.clone().requires_grad_()
    value = LOSS(own, y, weights)
    image = other.T[None, :, :, None], y[None, :, None], weights[None, :, None]
    expected = LOSS(*image)
    value.backward()
    expected.backward()
    assert_allclose(value.item(), expected.item(), rtol=1e-12)
    assert_allclose(own.grad, other.grad, rtol=1e-10, atol=1e-14)


def test_second_derivatives_of_rows_are_refused():
    rows = torch.eye(4, requires_grad=True)
    value = LOSS(rows, torch.tensor([0, 0, 1, 1]))
    with pytest.raises(RuntimeError, match=r"backward\(create_graph=False\)\.$"):
        value.backward(create_graph=True)


@pytest.mark.parametrize("form", ["rows", "map"])
def test_differences_under_the_precision_of_the_features_are_none(form):
    """Rows that differ in their last bit alone have no pull, far from the origin."""
    level = np.float32(1000)
    noise = np.random.default_rng(0).integers(0, 2, (40, 1))
    far = torch.from_numpy(level + np.spacing(level) * noise.astype(np.float32))
    near = torch.from_numpy(noise.astype(np.float32) * 2.0**-13)
    y = torch.from_numpy((np.arange(40) < 20).astype(np.int64))
    y[:5], y[-5:] = 1 - y[:5], 1 - y[-5:]

    def value(rows):
        if form == "rows":
            return LOSS(rows, y).item()
        return LOSS(rows.T[None, :, :, None], y[None, :, None]).item()

    # The spacing is half of what counts as rounding, so the variance is a fraction.
    assert abs(value(near)) > 0.6
    assert abs(value(far)) < 0.35


def planes(form, seed):
    """Descend on free maps to two columns of four classes at a square's corners."""
    rng = np.random.default_rng(seed)
    corners = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]]) * [3, 2.5]
    y = np.repeat(np.arange(4), 10)
    X = torch.from_numpy(corners[y] + 0.5 * rng.standard_normal((40, 2)))
    A = torch.from_numpy(rng.standard_normal((2, 2))).requires_grad_()
    codes = torch.from_numpy(y)
    optimizer = torch.optim.LBFGS([A], max_iter=60, line_search_fn="strong_wolfe")

    def closure():
        optimizer.zero_grad()
        value = form(X @ A, codes)
        value.backward()
        return value

    optimizer.step(closure)
    sizes = np.linalg.svd(A.detach().numpy(), compute_uv=False)
    return sizes[1] / sizes[0]


@pytest.mark.parametrize("seed", range(2))
def test_four_classes_fill_the_plane_where_the_trace_ratio_falls_to_a_line(seed):
    assert planes(DDALoss(), seed) > 0.5
    assert planes(TraceRatioLoss(), seed) < 1e-2


def test_a_bare_loop_on_pixels_learns():
    maps, _ = maps_and_codes(8, n_images=8, n_columns=1, side=8)
    maps = torch.from_numpy(maps).float()
    masks = (torch.nn.functional.avg_pool2d(maps, 3, 1, 1) > 0).long()[:, 0]
    torch.manual_seed(0)
    net = torch.nn.Conv2d(1, 2, 3, padding=1)
    optimizer = torch.optim.Adam(net.parameters(), 0.05)
    values = []
    for _ in range(30):
        loss = LOSS(net(maps), masks)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    assert values[-1] < values[0] - 0.3


def test_criterion_of_skorch():
    from sklearn.datasets import load_iris
    from skorch import NeuralNetClassifier

    X, y = load_iris(return_X_y=True)
    torch.manual_seed(0)
    net = NeuralNetClassifier(
        torch.nn.Linear(4, 2),
        criterion=DDALoss,
        criterion__ridge=0.01,
        max_epochs=10,
        lr=0.1,
        train_split=None,
        verbose=0,
    ).fit(X.astype(np.float32), y)
    losses = net.history[:, "train_loss"]
    assert losses[-1] < losses[0] - 0.2


@pytest.mark.parametrize(
    ("z", "y", "weights", "error", "remedy"),
    [
        ((4, 3, 2), (4,), None, ValueError, r"embeddings\.flatten\(1\)"),
        ((4, 3), (5,), None, ValueError, r"y of shape \(4,\)"),
        ((4, 3, 2, 2), (4, 1, 2, 2), None, ValueError, r"y\[:, 0\]"),
        ((4, 3, 2, 2), (4, 4, 4), None, ValueError, "adaptive_avg_pool2d"),
        ((4, 3), (4,), (3,), ValueError, r"of shape \(4,\)"),
        ((4, 3, 2, 2), (4, 2, 2), (2, 2), ValueError, r"\(4,\) or \(4, 2, 2\)"),
    ],
)
def test_wrong_shapes(z, y, weights, error, remedy):
    y = torch.zeros(y, dtype=torch.int64)
    weights = None if weights is None else torch.ones(weights)
    with pytest.raises(error, match=f"DDALoss: .*{remedy}"):
        LOSS(torch.zeros(z), y, weights)


def test_wrong_values():
    rows, maps = torch.zeros(4, 3), torch.zeros(4, 3, 2, 2)
    codes, masks = torch.arange(4), torch.zeros(4, 2, 2)
    with pytest.raises(TypeError, match=r"DDALoss: 'y'.*y\.long\(\)"):
        LOSS(rows, codes.float())
    with pytest.raises(ValueError, match=r"DDALoss: 'y'.*y / 255"):
        LOSS(maps, masks + 255)
    with pytest.raises(ValueError, match=r"DDALoss: 'y'.*y / 255"):
        LOSS(maps, masks - torch.nan)
    with pytest.raises(ValueError, match=r"'sample_weight'.*clamp\(min=0\)"):
        LOSS(rows, codes, -torch.ones(4))
    with pytest.raises(ValueError, match=r"'sample_weight'.*clamp\(min=0\)"):
        LOSS(rows, codes, torch.full((4,), torch.inf))
    with pytest.raises(ValueError, match=r"'y'.*y\[:, 0\]"):
        LOSS(maps, torch.rand(4, 1, 2, 2))
    with pytest.raises(ValueError, match=r"DDALoss: 'ridge' is 0.*ridge=1.0"):
        DDALoss(ridge=0)


def test_masks_made_smaller():
    maps, codes = map(torch.from_numpy, maps_and_codes(9, side=8))
    smaller = torch.nn.functional.avg_pool2d(maps, 2)
    soft = adaptive_avg_pool2d(codes.double(), smaller.shape[2:])
    assert torch.isfinite(LOSS(smaller, soft))


def test_repr_tells_the_ridge():
    assert repr(DDALoss(ridge=0.5)) == "DDALoss(ridge=0.5)"
