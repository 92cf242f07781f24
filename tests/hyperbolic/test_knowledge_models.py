"""Scores of triples, against the formulas of the ball and against complex numbers."""

import mpmath
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from skrep.hyperbolic._knowledge_models import (
    HYPERBOLIC,
    MODELS,
    cubes,
    pair_scores,
    queries,
    relation_parts,
    scores_of,
)
from tests.strategies import seeds

models = st.sampled_from(sorted(MODELS))


def draw(model, seed, n=5, width=6, scale=1.0):
    """Vectors of heads, relations and tails, biases, and c."""
    rng = np.random.default_rng(seed)
    n_parameters = int(sum(share * width for _, share in MODELS[model]))
    sizes = ((n, width), (n, n_parameters), (n, width), (n,))
    vectors = [scale * rng.standard_normal(size) for size in sizes]
    return *vectors, rng.uniform(0.1, 2, (n, 1))


def rotation(angle, *, flip):
    """Matrices of turns or reflections of the planes of coordinates k, k + half."""
    half = len(angle)
    matrix = np.zeros((2 * half, 2 * half))
    for k, a in enumerate(angle):
        sign = -1 if flip else 1
        plane = [[np.cos(a), -sign * np.sin(a)], [np.sin(a), sign * np.cos(a)]]
        matrix[np.ix_([k, k + half], [k, k + half])] = plane
    return matrix


def exp_origin(v, c):
    """The point at the distance of the length of v."""
    norm = mpmath.norm(v)
    root = mpmath.sqrt(c)
    return mpmath.tanh(root * norm / 2) / (root * norm) * v


def dot(x, y):
    return (x.T * y)[0]


def add(x, y, c):
    xy, xx, yy = dot(x, y), dot(x, x), dot(y, y)
    top = (1 + 2 * c * xy + c * yy) * x + (1 - c * xx) * y
    return top / (1 + 2 * c * xy + c * c * xx * yy)


def distance(x, y, c):
    root = mpmath.sqrt(c)
    return 2 / root * mpmath.atanh(root * mpmath.norm(add(-x, y, c)))


def in_the_ball(model, head, relation, tail, bias, c):
    """One score by the published formulas, in 60 digits."""
    part = {
        k: v[0] for k, v in relation_parts(model, relation[None], len(head)).items()
    }
    moved = rotation(part["angle"], flip=model == "refh") @ head
    if model == "atth":
        other = rotation(part["reflection_angle"], flip=True) @ head
        logits = part["attention"] @ np.stack([moved, other], 1) / np.sqrt(len(head))
        shares = np.exp(logits) / np.exp(logits).sum()
        moved = shares[0] * moved + shares[1] * other
    with mpmath.workdps(60):
        c = mpmath.mpf(float(c))
        points = [exp_origin(mpmath.matrix(v.tolist()), c) for v in (moved, tail)]
        step = exp_origin(mpmath.matrix(part["translation"].tolist()), c)
        return float(bias - distance(add(points[0], step, c), points[1], c) ** 2)


@pytest.mark.parametrize("scale", [1e-3, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("model", sorted(HYPERBOLIC))
def test_hyperbolic_scores_are_those_of_the_ball(model, scale):
    head, relation, tail, bias, c = draw(model, 0, n=4, scale=scale)
    found = pair_scores(np, model, head, relation, tail, bias, c)
    expected = [
        in_the_ball(model, *row)
        for row in zip(head, relation, tail, bias, c[:, 0], strict=True)
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-10)


@given(seeds)
def test_complex_scores_are_those_of_complex_numbers(seed):
    head, relation, tail, bias, c = draw("complex", seed)
    h, r, t = (v[:, :3] + 1j * v[:, 3:] for v in (head, relation, tail))
    expected = (h * r * t.conj()).sum(axis=1).real
    found = pair_scores(np, "complex", head, relation, tail, bias, c)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@given(seeds)
def test_euclidean_scores_are_distances_of_turned_heads(seed):
    head, relation, tail, bias, c = draw("rote", seed)
    turned = [
        rotation(angle, flip=False) @ h
        for angle, h in zip(relation[:, :3], head, strict=True)
    ]
    gap = turned + relation[:, 3:] - tail
    found = pair_scores(np, "rote", head, relation, tail, bias, c)
    np.testing.assert_allclose(found, bias - (gap**2).sum(axis=1), rtol=1e-9, atol=1e-9)


@given(seeds)
@settings(deadline=None)
def test_little_curvature_is_flat(seed):
    head, relation, tail, bias, c = draw("roth", seed, scale=0.5)
    flat = pair_scores(np, "rote", head, relation, tail, bias, c)
    curved = pair_scores(np, "roth", head, relation, tail, bias, np.full_like(c, 1e-5))
    np.testing.assert_allclose(curved, flat, rtol=1e-3, atol=1e-3)


@given(models, seeds)
@settings(deadline=None)
def test_all_tails_at_once_are_scored_as_one_by_one(model, seed):
    head, relation, tail, bias, c = draw(model, seed)
    query = queries(np, model, head, relation, c)
    squares = (tail**2).sum(axis=1)
    table = scores_of(np, model, query, query.vector @ tail.T, squares, bias, c)
    for j in range(len(tail)):
        others = np.repeat(tail[j : j + 1], len(head), axis=0)
        one = pair_scores(
            np, model, head, relation, others, np.full(len(head), bias[j]), c
        )
        np.testing.assert_allclose(table[:, j], one, rtol=1e-6, atol=1e-8)


@given(models, seeds)
@settings(deadline=None)
def test_torch_gives_what_numpy_gives(model, seed):
    vectors = draw(model, seed)
    expected = pair_scores(np, model, *vectors)
    found = pair_scores(torch, model, *map(torch.from_numpy, vectors))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    head, relation, tail, *_ = vectors
    found = cubes(model, *map(torch.from_numpy, (head, relation, tail)))
    np.testing.assert_allclose(found, cubes(model, head, relation, tail), rtol=1e-9)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_vectors_of_zeros_have_finite_slopes(model):
    vectors = [torch.zeros_like(torch.from_numpy(v)) for v in draw(model, 0)[:4]]
    for vector in vectors:
        vector.requires_grad_()
    c = torch.ones(5, 1, dtype=torch.float64, requires_grad=True)
    found = pair_scores(torch, model, *vectors, c) + cubes(model, *vectors[:3])
    assert torch.allclose(found, torch.zeros(5, dtype=torch.float64), atol=1e-10)
    found.sum().backward()
    given = (
        vectors[:3] if model == "complex" else [*vectors, c][: 4 + (model != "rote")]
    )
    assert all(v.grad.isfinite().all() for v in given)


@pytest.mark.parametrize("model", sorted(MODELS))
def test_slopes_are_right(model):
    vectors = [torch.from_numpy(v).requires_grad_() for v in draw(model, 1, n=2)]
    assert torch.autograd.gradcheck(
        lambda *v: pair_scores(torch, model, *v), vectors, atol=1e-5
    )


def test_cubes_are_moduli_of_what_regularization_names():
    head, relation, tail, *_ = draw("rote", 0)
    pairs = [v[:, :3] + 1j * v[:, 3:] for v in (head, relation[:, 3:], tail)]
    expected = sum((np.abs(v) ** 3).sum(axis=1) for v in pairs)
    np.testing.assert_allclose(cubes("rote", head, relation, tail), expected, rtol=1e-9)
