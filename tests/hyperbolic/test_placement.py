"""New nodes of the Poincare embedding."""

import numpy as np
import pytest
import scipy.sparse as sp

from skrep.datasets import load_mammals
from skrep.geometry import poincare
from skrep.graph import relations_from_edges
from skrep.hyperbolic import PoincareEmbedding
from skrep.hyperbolic._pair_loss import softmax_loss
from skrep.hyperbolic._placement import place_nodes


@pytest.fixture(scope="module")
def split():
    """Mammals without fifty leaves, and the relations of these."""
    mammals = load_mammals()
    names, edges = mammals.names, mammals.edges
    relations = relations_from_edges([(names[c], names[p]) for c, p in edges]).matrix
    leaves = np.flatnonzero(np.bincount(relations.indices, minlength=len(names)) == 0)
    held = np.random.default_rng(0).choice(leaves, 50, replace=False)
    kept = np.setdiff1d(np.arange(len(names)), held)
    parents = sp.csr_array((np.ones(len(edges)), edges.T), relations.shape)
    embedding = PoincareEmbedding(5, affinity="precomputed", random_state=0)
    embedding.fit(relations[kept][:, kept])
    return embedding, parents[held][:, kept], relations[held][:, kept]


def scores(points, new, ancestors):
    """Mean rank and average precision of true ancestors among all fitted nodes."""
    ranks, precisions = [], []
    for distances, row in zip(
        poincare.pairwise_distances(new, points), ancestors.toarray() > 0, strict=True
    ):
        others = np.sort(distances[~row])
        rank = np.searchsorted(others, np.sort(distances[row]), side="right") + 1
        ranks.extend(rank)
        found = np.arange(1, len(rank) + 1)
        precisions.append(np.mean(found / (found + rank - 1)))
    return np.mean(ranks), np.mean(precisions)


def test_leaves_are_placed_from_their_ancestors(split):
    embedding, _, ancestors = split
    before = embedding.embedding_.copy()
    placed = embedding.transform(ancestors)
    np.testing.assert_array_equal(embedding.embedding_, before)
    rank, precision = scores(embedding.embedding_, placed, ancestors)
    assert rank <= 1.1
    assert precision >= 0.98


def test_leaves_are_placed_at_their_only_relation(split):
    """Where one relation pulls and all else pushes, the minimum is at the relation."""
    embedding, parents, ancestors = split
    single = np.flatnonzero(np.diff(parents.indptr) == 1)
    placed = embedding.transform(parents[single])
    points = embedding.embedding_[parents[single].indices]
    assert poincare.distance(placed, points).max() < 0.1
    _, precision = scores(embedding.embedding_, placed, ancestors[single])
    assert precision >= 0.95


def test_each_row_is_placed_as_if_alone(split):
    embedding, parents, _ = split
    placed = embedding.transform(parents)
    alone = np.vstack([embedding.transform(parents[[i]]) for i in range(8)])
    np.testing.assert_allclose(alone, placed[:8], atol=1e-12)
    scaled = embedding.transform(parents * 7)
    np.testing.assert_allclose(scaled, placed, atol=1e-12)


@pytest.mark.parametrize("model", ["poincare", "euclidean"])
def test_a_step_goes_down_the_loss_of_training(model, monkeypatch):
    """One step against the gradient of the loss that the fit uses."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-0.5, 0.5, size=(12, 3))
    related = np.array([2, 5])
    weights = np.array([1.0, 3.0])
    relations = sp.csr_array((weights, ([0, 0], related)), (1, 12))
    monkeypatch.setattr("skrep.hyperbolic._placement._STEPS", 0)
    options = {"radius_cap": 20.0, "model": model}
    start = place_nodes(points, relations, np.arange(12), **options)
    monkeypatch.setattr("skrep.hyperbolic._placement._STEPS", 1)
    moved = place_nodes(points, relations, np.arange(12), **options)

    others = np.setdiff1d(np.arange(12), related)
    candidates = np.vstack([related, np.repeat(others[:, None], 2, axis=1)])
    _, gradient = softmax_loss(
        np.vstack([points, start]),
        np.array([12, 12]),
        candidates,
        np.zeros((len(others), 2), bool),
        weights / weights.sum(),
        model=model,
    )
    factor = 2 / (1 - np.sum(start**2)) if model == "poincare" else 1.0
    step = -0.1 * gradient[-1] / factor**2
    if model == "poincare":
        expected = poincare.exp_map(start[0], step)
    else:
        expected = start[0] + step
    np.testing.assert_allclose(moved[0], expected, atol=1e-12)


def test_one_relation_starts_at_its_point(monkeypatch):
    monkeypatch.setattr("skrep.hyperbolic._placement._STEPS", 0)
    points = poincare.project(np.eye(3), max_radius=20.0)
    relations = sp.csr_array(np.eye(3))
    placed = place_nodes(
        points, relations, np.arange(3), radius_cap=20.0, model="poincare"
    )
    assert poincare.distance(placed, points).max() < 1e-6


def test_fitted_rows_get_their_points():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    embedding = PoincareEmbedding(2, random_state=0).fit(X)
    queries = np.vstack([X[7], X[7] + 1e-9, X[0]])
    placed = embedding.transform(queries)
    np.testing.assert_array_equal(placed[[0, 2]], embedding.embedding_[[7, 0]])
    assert not np.array_equal(placed[1], embedding.embedding_[7])


def test_new_rows_lie_with_their_neighbors():
    rng = np.random.default_rng(0)
    label = np.arange(90) % 3
    X = rng.normal(size=(90, 4)) * 0.3 + 5 * np.eye(4)[label]
    embedding = PoincareEmbedding(2, random_state=0).fit(X[:60])
    distances = poincare.pairwise_distances(
        embedding.transform(X[60:]), embedding.embedding_
    )
    assert np.mean(label[:60][distances.argmin(axis=1)] == label[60:]) > 0.95


def test_rows_without_relations():
    embedding = PoincareEmbedding(2, affinity="precomputed", random_state=0)
    embedding.fit(np.eye(5)[[1, 2, 3, 4, 0]])
    with pytest.raises(ValueError, match=r"no positive value in row 1.*Drop such rows"):
        embedding.transform([[1, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    with pytest.raises(ValueError, match="'X' is -1 in row 0, column 2"):
        embedding.transform([[1, 0, -1, 0, 0]])


def test_many_nodes_have_some_rivals():
    n = 1500
    relations = relations_from_edges({i: (i - 1) // 3 for i in range(1, n)}).matrix
    embedding = PoincareEmbedding(2, affinity="precomputed", random_state=0)
    embedding.set_params(max_epochs=2, init="tree").fit(relations)
    assert len(embedding._rivals) == 1024
    assert np.isfinite(embedding.transform(relations[-3:])).all()
