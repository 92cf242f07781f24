"""Losses of class separation: values, gradients, invariances, cases, messages."""

import numpy as np
import pytest
import scipy.linalg
import torch
from hypothesis import given, settings
from scipy.special import log_softmax, logsumexp

from skrep.nn.losses import (
    BhattacharyyaLoss,
    DeepLDALoss,
    FisherTraceLoss,
    LDACrossEntropy,
    LogDetLoss,
    TraceRatioLoss,
)
from tests.strategies import seeds

RATIOS = [FisherTraceLoss, LogDetLoss, DeepLDALoss, LDACrossEntropy, BhattacharyyaLoss]
SCATTER = [*RATIOS, TraceRatioLoss]
MOMENTS = [loss for loss in SCATTER if loss is not LDACrossEntropy]
every = pytest.mark.parametrize("loss", SCATTER)
both_priors = pytest.mark.parametrize("priors", ["empirical", "uniform"])
small = settings(max_examples=8, deadline=None)


def orthogonal(rng, k):
    return np.linalg.qr(rng.normal(size=(k, k)))[0]


def draw(seed=0, sizes=(7, 5, 6), k=3):
    """Rows of classes that overlap, in random order."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    mix = orthogonal(rng, k) * np.linspace(0.5, 2, k)
    rows = rng.normal(size=(len(y), k)) @ mix.T
    return rows + rng.normal(size=(len(sizes), k))[y], y


def value(loss, rows, y, weight=None):
    weight = None if weight is None else torch.as_tensor(weight)
    return loss(torch.as_tensor(rows), torch.as_tensor(y), weight).item()


def value_and_gradient(loss, rows, y, weight=None):
    rows = torch.tensor(rows, requires_grad=True)
    weight = None if weight is None else torch.as_tensor(weight)
    result = loss(rows, torch.as_tensor(y), weight)
    result.backward()
    return result.item(), rows.grad.numpy()


def naive_moments(rows, y, ridge, priors):
    """Priors, means, S_w with its ridge and S_b, by loops over classes and rows."""
    classes = np.unique(y)
    k = rows.shape[1]
    p = np.array([np.mean(y == c) for c in classes])
    p = np.full(len(classes), 1 / len(classes)) if priors == "uniform" else p
    means = np.array([rows[y == c].mean(0) for c in classes])
    overall = sum(share * mean for share, mean in zip(p, means, strict=True))
    S_w, S_b = np.zeros((k, k)), np.zeros((k, k))
    for c, share, mean in zip(classes, p, means, strict=True):
        S_b += share * np.outer(mean - overall, mean - overall)
        for row in rows[y == c]:
            S_w += share / np.sum(y == c) * np.outer(row - mean, row - mean)
    return p, means, (1 - ridge) * S_w + ridge * np.trace(S_w) / k * np.eye(k), S_b


def distance(z, m, S):
    return (z - m) @ np.linalg.solve(S, z - m)


def naive(loss, rows, y):
    """The definitions, by loops, with rows repeated in place of weights."""
    name = type(loss).__name__
    p, means, S_w, S_b = naive_moments(rows, y, loss.ridge, loss.priors)
    if name == "TraceRatioLoss":
        return np.log(np.trace(S_w) / np.trace(S_b))
    ratios = scipy.linalg.eigh(S_b, S_w, eigvals_only=True)
    if name == "FisherTraceLoss":
        return -ratios.sum()
    if name == "LogDetLoss":
        return -np.log1p(ratios).sum()
    if name == "DeepLDALoss":
        ratios = ratios[-min(len(S_w), len(p) - 1) :]
        return -ratios[ratios <= ratios.min() + loss.margin].mean()
    if name == "BhattacharyyaLoss":
        terms = [
            np.log(p[a] * p[b]) / 2 - distance(means[a], means[b], S_w) / 8
            for a in range(len(p))
            for b in range(a)
        ]
        bound = np.exp(terms).sum()
        if loss.power == 0:
            return logsumexp(terms)
        return (bound**loss.power - 1) / loss.power
    return naive_lda_cross_entropy(rows, y, p, means, S_w, loss.priors)


def naive_lda_cross_entropy(rows, y, p, means, S_w, priors):
    classes, own = np.unique(y, return_inverse=True)
    terms, weights = [], []
    for i, c in enumerate(own):
        others = np.flatnonzero((own == c) & (np.arange(len(y)) != i))
        if len(others):
            centers = means.copy()
            centers[c] = rows[others].mean(0)
            scores = [-distance(rows[i], m, S_w) / 2 for m in centers] + np.log(p)
            terms.append(-log_softmax(scores)[c])
            weights.append(1 / np.sum(own == c) if priors == "uniform" else 1)
    assert len(classes) == len(p)
    return np.average(terms, weights=weights) if terms else 0.0


VARIANTS = [
    *[loss(priors=priors) for loss in SCATTER for priors in ("empirical", "uniform")],
    *[loss(ridge=ridge) for loss in RATIOS for ridge in (0.0, 0.3)],
    BhattacharyyaLoss(power=0),
    BhattacharyyaLoss(power=1),
    DeepLDALoss(margin=0.0),
    DeepLDALoss(margin=100.0),
]
variants = pytest.mark.parametrize("loss", VARIANTS, ids=repr)


@variants
@pytest.mark.parametrize(
    ("sizes", "k"), [((7, 5, 6), 3), ((3, 9, 2, 8), 2), ((6, 4), 1)]
)
def test_equals_the_definition(loss, sizes, k):
    rows, y = draw(1, sizes, k)
    assert value(loss, rows, y) == pytest.approx(naive(loss, rows, y), rel=1e-9)


@variants
def test_gradient(loss):
    rows, y = draw(2, (5, 4, 1, 3), 3)
    weight = torch.as_tensor(np.random.default_rng(0).uniform(0.2, 3, len(y)))
    y = torch.as_tensor(y)
    for w in (None, weight):
        leaf = torch.tensor(rows, requires_grad=True)
        assert torch.autograd.gradcheck(lambda z, w=w: loss(z, y, w), (leaf,))


@every
def test_gradient_at_repeated_eigenvalues(loss):
    # Classes at the corners of a simplex, rows of each at the corners of another.
    corners = np.eye(3) - 1 / 3
    rows = (2 * corners[:, None] + corners).reshape(9, 3) @ np.linalg.svd(corners)[0]
    rows, y = rows[:, :2], np.repeat([0, 1, 2], 3)
    _, _, S_w, S_b = naive_moments(rows, y, 0.0, "empirical")
    ratios = scipy.linalg.eigh(S_b, S_w, eigvals_only=True)
    assert ratios[0] == pytest.approx(ratios[1], rel=1e-12)
    leaf, codes = torch.tensor(rows, requires_grad=True), torch.as_tensor(y)
    assert torch.autograd.gradcheck(lambda z: loss()(z, codes), (leaf,))


@variants
def test_weight_2_is_the_row_twice_and_weight_0_is_its_absence(loss):
    rows, y = draw(3, (4, 1, 3, 2), 2)
    weight = np.array([2, 0, 1, 3, 1, 0, 2, 1, 1, 2])
    repeated, gradient = value_and_gradient(
        loss, np.repeat(rows, weight, 0), np.repeat(y, weight)
    )
    rows[weight == 0] = np.nan
    weighted, weighted_gradient = value_and_gradient(loss, rows, y, weight)
    assert weighted == pytest.approx(repeated, rel=1e-12)
    assert weighted == pytest.approx(
        naive(loss, np.repeat(rows, weight, 0), np.repeat(y, weight)), rel=1e-9
    )
    sums = np.zeros_like(rows)
    np.add.at(sums, np.repeat(np.arange(10), weight), gradient)
    np.testing.assert_allclose(weighted_gradient, sums, rtol=1e-9, atol=1e-12)


@variants
def test_weights_of_one_are_none(loss):
    rows, y = draw(4)
    plain = value_and_gradient(loss, rows, y)
    ones = value_and_gradient(loss, rows, y, np.ones(len(y)))
    assert plain[0] == pytest.approx(ones[0], rel=1e-12)
    np.testing.assert_allclose(plain[1], ones[1], rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("loss", MOMENTS)
@both_priors
def test_rows_twice_change_nothing(loss, priors):
    rows, y = draw(5)
    twice = value(loss(priors=priors), np.tile(rows, (2, 1)), np.tile(y, 2))
    assert twice == pytest.approx(value(loss(priors=priors), rows, y), rel=1e-10)


def test_rows_twice_change_the_row_that_is_left_out():
    rows, y = draw(5)
    twice = value(LDACrossEntropy(), np.tile(rows, (2, 1)), np.tile(y, 2))
    assert abs(twice / value(LDACrossEntropy(), rows, y) - 1) > 0.1


@variants
@small
@given(seed=seeds)
def test_order_and_names_of_classes_do_not_matter(loss, seed):
    rows, y = draw(seed, (4, 3, 5))
    order = np.random.default_rng(seed).permutation(len(y))
    plain, gradient = value_and_gradient(loss, rows, y)
    renamed = np.array([7, -3, 10**9], dtype=np.int32)[y]
    shuffled, its_gradient = value_and_gradient(loss, rows[order], renamed[order])
    assert shuffled == pytest.approx(plain, rel=1e-8, abs=1e-10)
    scale = np.abs(gradient).max()
    np.testing.assert_allclose(its_gradient, gradient[order], atol=1e-7 * scale)


MAPS = {
    "translation": lambda rows, rng: rows + rng.normal(size=rows.shape[1]),
    "orthogonal": lambda rows, rng: rows @ orthogonal(rng, rows.shape[1]),
    "scale": lambda rows, rng: rows * 10.0 ** rng.uniform(-6, 6),
    "axes": lambda rows, rng: rows * 10.0 ** np.linspace(-1, 1, rows.shape[1]),
    "invertible": lambda rows, rng: (
        rows
        @ orthogonal(rng, rows.shape[1])
        @ np.diag(10.0 ** np.linspace(-1, 1, rows.shape[1]))
        @ orthogonal(rng, rows.shape[1])
    ),
}
SIMILARITIES = ["translation", "orthogonal", "scale"]
AFFINE = ["axes", "invertible"]
KEPT = [(loss(), group) for loss in SCATTER for group in SIMILARITIES] + [
    (loss(ridge=0.0), group) for loss in RATIOS for group in MAPS
]
BROKEN = [(loss(), group) for loss in SCATTER for group in AFFINE]


@pytest.mark.parametrize(("loss", "group"), KEPT, ids=str)
@small
@given(seed=seeds)
def test_invariant(loss, group, seed):
    rows, y = draw(seed, (8, 6, 7))
    moved = MAPS[group](rows, np.random.default_rng(seed))
    # What keeps S_w positive definite is 1e-13 of the total scatter, and the maps
    # stretch that by up to 1e4 against the spread within.
    assert value(loss, moved, y) == pytest.approx(value(loss, rows, y), rel=1e-6)


@pytest.mark.parametrize(("loss", "group"), BROKEN, ids=str)
def test_not_invariant(loss, group):
    rows, y = draw(6, (8, 6, 7))
    moved = MAPS[group](rows, np.random.default_rng(6))
    assert abs(value(loss, moved, y) / value(loss, rows, y) - 1) > 1e-3


def test_for_two_classes_the_bound_is_affine_in_the_fisher_trace():
    for seed in range(3):
        rows, y = draw(seed, (6, 9))
        product = 0.4 * 0.6
        squared = -value(FisherTraceLoss(), rows, y) / product
        expected = np.log(product) / 2 - squared / 8
        bound = value(BhattacharyyaLoss(power=0), rows, y)
        assert bound == pytest.approx(expected, rel=1e-9)


@every
@pytest.mark.parametrize("offset", [1e2, 1e4])
def test_two_passes_keep_float32_accurate_far_from_the_origin(loss, offset):
    rows, y = draw(7, (40, 30, 50))
    far = (rows + offset).astype(np.float32)
    exact = value(loss(), far.astype(np.float64) - offset, y)
    result = loss()(torch.as_tensor(far), torch.as_tensor(y))
    assert result.dtype == torch.float32
    assert result.item() == pytest.approx(exact, rel=1e-6)


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_dtype_of_the_embeddings_is_kept(loss, dtype):
    rows, y = draw(8)
    leaf = torch.as_tensor(rows).to(dtype).requires_grad_()
    result = loss()(leaf, torch.as_tensor(y))
    result.backward()
    assert result.dtype == leaf.grad.dtype == dtype
    expected, gradient = value_and_gradient(loss(), leaf.detach().double().numpy(), y)
    eps = torch.finfo(dtype).eps
    assert result.item() == pytest.approx(expected, rel=eps)
    atol = 2 * eps * np.abs(gradient).max()
    np.testing.assert_allclose(leaf.grad.double(), gradient, atol=atol)


CASES = {
    "one row per class": (np.random.default_rng(0).normal(size=(6, 3)), range(6)),
    "fewer rows than columns": (draw(0, (2, 2), 9)[0], [0, 0, 1, 1]),
    "pairs and single rows": (draw(0, (2, 1, 1, 2), 8)[0], [4, 4, 1, 2, 7, 7]),
    "equal class means": ([[1.0, 2], [-1, -2], [3, 0], [-3, 0]], [0, 0, 1, 1]),
    "a dead column": (draw(0)[0] * [1, 0, 1], draw(0)[1]),
    "a column twice": (draw(0)[0][:, [0, 1, 1]], draw(0)[1]),
    "tiny": (1e-20 * draw(0)[0], draw(0)[1]),
    "huge": (1e30 * draw(0)[0], draw(0)[1]),
    "classes of 100 and 5 rows": draw(0, (100, 5), 4),
}
FLAT = {
    "one class": (draw(0)[0], np.zeros(18, int)),
    "one row": ([[0.1, 0.7]], [3]),
    "no row": (np.zeros((0, 2)), np.zeros(0, int)),
    "no column": (np.zeros((2, 0)), [0, 1]),
    "identical": (np.full((10, 3), 0.1), np.repeat([0, 1, 2], [3, 3, 4])),
    "dead": (np.zeros((6, 3)), [0, 0, 1, 1, 2, 2]),
    "no spread within": (np.repeat(draw(0)[0][:3], 2, 0), [0, 0, 1, 1, 2, 2]),
    "one row per class": CASES["one row per class"],
}


@variants
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_finite(loss, case, dtype):
    rows, y = CASES[case]
    result, gradient = value_and_gradient(loss, np.asarray(rows, dtype), np.array(y))
    assert np.isfinite(result)
    assert np.isfinite(gradient).all()


@variants
@pytest.mark.parametrize("case", FLAT)
def test_nothing_to_learn_is_0_with_a_graph(loss, case):
    rows, y = FLAT[case]
    result, gradient = value_and_gradient(
        loss, np.array(rows, dtype=float), np.array(y)
    )
    assert result == 0
    assert (gradient == 0).all()


@every
def test_all_weights_0_is_an_empty_batch(loss):
    rows, y = draw()
    result, gradient = value_and_gradient(loss(), rows, y, np.zeros(len(y)))
    assert result == 0
    assert (gradient == 0).all()


@every
def test_what_is_not_finite_shows(loss):
    rows, y = draw()
    rows[0, 0] = np.nan
    assert np.isnan(value(loss(), rows, y))


def test_the_between_scatter_of_unequal_classes_is_positive():
    # With a mean of the covariances of the classes in place of the scatter, the
    # eigenvalues of the wider small class here would be negative.
    rows, y = draw(0, (100, 5), 4)
    rows[y == 1] *= 10
    assert value(DeepLDALoss(), rows, y) < 0
    assert value(LogDetLoss(), rows, y) < 0


@every
def test_a_small_step_down_the_gradient_lowers_the_loss(loss):
    rows, y = draw(9)
    before, gradient = value_and_gradient(loss(), rows, y)
    step = 1e-4 / np.linalg.norm(gradient)
    assert value(loss(), rows - step * gradient, y) < before


def test_second_derivatives_are_refused():
    rows, y = draw()
    result = LogDetLoss()(torch.tensor(rows, requires_grad=True), torch.as_tensor(y))
    with pytest.raises(RuntimeError, match=r"backward\(create_graph=False\)\.$"):
        result.backward(create_graph=True)


@every
def test_batches_that_cannot_be_right(loss):
    name, criterion = loss.__name__, loss()
    rows, y = map(torch.as_tensor, draw())

    def refuse(message, *batch):
        with pytest.raises(ValueError, match=f"^{name}: .*{message}$"):
            criterion(*batch)

    refuse(r"\(18,\)\. Pass embeddings.float\(\).flatten\(1\)\.", rows[:, 0], y)
    refuse(r"Pass embeddings.float\(\).flatten\(1\)\.", rows.long(), y)
    refuse(r"Pass y.long\(\)\.", rows, y.double())
    refuse(r"of the 18 rows .* Pass y.reshape\(len\(embeddings\)\)\.", rows, y[:4])
    refuse(r"Pass y.reshape\(len\(embeddings\)\)\.", rows, y[:, None])
    refuse(r"Pass sample_weight.reshape\(len\(embeddings\)\)\.", rows, y, y[:3])
    refuse(r"got -1\. Pass sample_weight.clamp\(min=0\)\.", rows, y, -(y + 1.0) / 3)
    refuse(r"got nan\. Pass .*", rows, y, y / y * torch.nan)


@pytest.mark.parametrize("loss", RATIOS)
@pytest.mark.parametrize("ridge", [-0.1, 1.5, float("nan")])
def test_ridge_out_of_range(loss, ridge):
    with pytest.raises(ValueError, match=rf"Use {loss.__name__}\(ridge=0.01\)"):
        loss(ridge=ridge)


@every
def test_unknown_priors(loss):
    with pytest.raises(ValueError, match=rf"Use {loss.__name__}\(priors='empirical'\)"):
        loss(priors="flat")


def test_other_options_out_of_range():
    with pytest.raises(ValueError, match=r"Use BhattacharyyaLoss\(power=0.25\)"):
        BhattacharyyaLoss(power=2)
    with pytest.raises(ValueError, match=r"Use DeepLDALoss\(margin=1.0\)"):
        DeepLDALoss(margin=-1.0)


@variants
def test_repr_makes_the_loss(loss):
    made = eval(repr(loss))
    assert type(made) is type(loss)
    options = {"ridge", "priors", "form", "margin"}
    assert {o: vars(made).get(o) for o in options} == {
        o: vars(loss).get(o) for o in options
    }
