"""Ranks of relations and of neighbors: values, laws, ties, the two MAPs, errors."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse.csgraph import dijkstra
from sklearn.metrics import average_precision_score

from skrep.datasets import load_mammals
from skrep.geometry import poincare
from skrep.metrics import _placed, neighbor_map, reconstruction_scores

seeds = st.integers(0, 2**32 - 1)


def in_the_ball(seed, n_nodes, n_components=2):
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n_nodes, n_components))
    norms = np.linalg.norm(points, axis=1, keepdims=True)
    return points / norms * np.tanh(rng.uniform(0, 3, (n_nodes, 1)) / 2)


def relations_of(seed, n_nodes, density=0.3):
    rng = np.random.default_rng(seed)
    matrix = (rng.random((n_nodes, n_nodes)) < density) * rng.uniform(1, 2)
    matrix[-1] = 0
    np.fill_diagonal(matrix, 0)
    matrix[0, 1] = 1
    return matrix


def distances_of(points):
    """The textbook form, one pair at a time."""
    n_nodes = len(points)
    distances = np.zeros((n_nodes, n_nodes))
    for i, x in enumerate(points):
        for j, y in enumerate(points):
            if i != j:
                room = (1 - x @ x) * (1 - y @ y)
                distances[i, j] = np.arccosh(1 + 2 * (x - y) @ (x - y) / room)
    return distances


def naive(distances, relations, rows=None):
    """The protocol in loops: the rank of each pair, the precision of each node."""
    ranks, precisions = [], []
    for u in range(len(distances)) if rows is None else rows:
        row = distances[u]
        positives = [v for v in range(len(row)) if relations[u, v] and v != u]
        negatives = [v for v in range(len(row)) if not relations[u, v] and v != u]
        positives.sort(key=lambda v: row[v])
        ahead = [sum(row[w] <= row[v] for w in negatives) for v in positives]
        ranks += [n + 1 for n in ahead]
        if positives:
            found = [(i + 1) / (i + 1 + n) for i, n in enumerate(ahead)]
            precisions.append(sum(found) / len(found))
    return sum(ranks) / len(ranks), sum(precisions) / len(precisions)


def tree_distances(edges, n_nodes, weights=None):
    weights = np.ones(len(edges)) if weights is None else weights
    matrix = sp.csr_array((weights, edges.T), shape=(n_nodes, n_nodes))
    return matrix, dijkstra(matrix, directed=False)


def closure(edges, n_nodes):
    matrix = sp.csr_array((np.ones(len(edges)), edges.T), shape=(n_nodes, n_nodes))
    steps = dijkstra(matrix, unweighted=True)
    return (steps > 0) & np.isfinite(steps)


@given(seed=seeds, n_nodes=st.integers(2, 12))
def test_both_scores_equal_loops(seed, n_nodes):
    points, relations = in_the_ball(seed, n_nodes), relations_of(seed, n_nodes)
    distances = distances_of(points)
    expected = naive(distances, relations)
    assert_allclose(reconstruction_scores(points, relations), expected, rtol=1e-12)
    expected = naive(distances, relations + relations.T)
    assert_allclose(neighbor_map(points, relations), expected[1], rtol=1e-12)


@given(seed=seeds, n_nodes=st.integers(2, 12))
def test_ties_count_against_what_is_related(seed, n_nodes):
    distances = np.random.default_rng(seed).integers(0, 3, (n_nodes, n_nodes))
    relations = relations_of(seed, n_nodes)
    found = reconstruction_scores(distances, relations, metric="precomputed")
    assert_allclose(found, naive(distances, relations), rtol=1e-12)
    found = neighbor_map(distances, relations, metric="precomputed")
    assert_allclose(found, naive(distances, relations + relations.T)[1], rtol=1e-12)


def test_precisions_are_those_of_scikit_learn_without_ties():
    points, relations = in_the_ball(0, 40), relations_of(1, 40) > 0
    distances = distances_of(points)
    precisions = [
        average_precision_score(np.delete(row, u), -np.delete(distances[u], u))
        for u, row in enumerate(relations)
        if row.any()
    ]
    assert_allclose(reconstruction_scores(points, relations).map, np.mean(precisions))


def test_a_perfect_embedding_by_hand_has_rank_1_and_map_1():
    """A root, two children in opposite directions, two leaves behind each of them."""
    along = np.tanh(np.array([0.0, 1.0, 1.0, 2.2, 2.2, 2.2, 2.2]) / 2)
    angles = np.pi * np.array([0, 0, 1, -0.17, 0.17, 0.83, 1.17])
    points = along[:, None] * np.column_stack([np.cos(angles), np.sin(angles)])
    edges = np.array([[1, 0], [2, 0], [3, 1], [4, 1], [5, 2], [6, 2]])
    related = closure(edges, 7)
    assert related.sum() == 10
    assert reconstruction_scores(points, related) == (1.0, 1.0)


@pytest.mark.parametrize("collapsed", [np.zeros((30, 2)), np.full((30, 2), 0.3)])
@pytest.mark.parametrize("metric", ["poincare", "euclidean"])
def test_a_collapsed_embedding_has_the_worst_scores(collapsed, metric):
    relations = np.zeros((30, 30))
    relations[1:, 0] = 1
    found = reconstruction_scores(collapsed, relations, metric=metric)
    assert found.mean_rank == 29
    assert_allclose(found.map, 1 / 29)
    worst = naive(np.zeros((30, 30)), relations + relations.T)[1]
    assert_allclose(neighbor_map(collapsed, relations, metric=metric), worst)


def test_the_two_maps_differ_on_the_exact_distances_of_the_mammals():
    mammals = load_mammals()
    direct, exact = tree_distances(mammals.edges, 1170)
    related = closure(mammals.edges, 1170)
    assert related.sum() == 6448
    assert neighbor_map(exact, direct, metric="precomputed") == 1.0
    found = reconstruction_scores(exact, related, metric="precomputed")
    # A sibling at distance 2 is before a great-grandfather at 3.
    assert_allclose(found, (58.47, 0.2825), rtol=1e-4)
    # With lengths that double with the depth all ancestors come first.
    doubled = 2.0 ** mammals.depth[mammals.edges[:, 0]]
    _, exact = tree_distances(mammals.edges, 1170, doubled)
    assert reconstruction_scores(exact, related, metric="precomputed") == (1.0, 1.0)


def test_metrics_and_containers_agree():
    points, relations = in_the_ball(0, 25, 3), relations_of(0, 25)
    for score in (reconstruction_scores, neighbor_map):
        expected = score(points, relations)
        for same in (
            sp.csr_array(relations),
            sp.csr_matrix(relations),
            sp.coo_array(relations),
            relations.tolist(),
            relations > 0,
        ):
            assert score(points, same) == expected
        assert score(points, relations, metric=poincare.pairwise_distances) == expected
        distances = poincare.pairwise_distances(points)
        assert score(distances, relations, metric="precomputed") == expected
        plain = np.linalg.norm(points[:, None] - points, axis=2)
        assert_allclose(
            score(points + 1e6, relations, metric="euclidean"),
            score(plain, relations, metric="precomputed"),
        )
        single = points.astype(np.float32)
        assert_allclose(score(single, relations), expected, rtol=0.05)


def test_loops_zeros_and_repeated_entries_have_no_part():
    points, relations = in_the_ball(0, 9), relations_of(0, 9)
    rows, columns = np.nonzero(relations)
    # Each entry twice, then the diagonal, then a stored zero.
    rows = np.concatenate([rows, rows, np.arange(9), [8]])
    columns = np.concatenate([columns, columns, np.arange(9), [0]])
    order = np.argsort(rows, kind="stable")
    starts = np.searchsorted(rows[order], np.arange(10))
    values = (np.arange(len(rows)) < len(rows) - 1) / 2
    given = sp.csr_array((values[order], columns[order], starts), shape=(9, 9))
    kept = given.copy()
    for score in (reconstruction_scores, neighbor_map):
        assert score(points, given) == score(points, relations)
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(given, part), getattr(kept, part))


def test_blocks_and_samples_of_rows(monkeypatch):
    points, relations = in_the_ball(0, 40), relations_of(0, 40)
    distances, rows = distances_of(points), [3, 17, 39, 3]
    monkeypatch.setattr(_placed, "neighbor_blocks", lambda n_nodes: iter([slice(0, 7)]))
    for asked in (None, rows, np.array(rows, dtype=np.uint8)):
        expected = naive(distances, relations, asked)
        found = reconstruction_scores(points, relations, rows=asked)
        assert_allclose(found, expected)
        expected = naive(distances, relations + relations.T, asked)
        assert_allclose(neighbor_map(points, relations, rows=asked), expected[1])


@given(seed=seeds)
def test_names_of_the_nodes_do_not_matter(seed):
    points, relations = in_the_ball(seed, 10), relations_of(seed, 10)
    order = np.random.default_rng(seed).permutation(10)
    moved = relations[np.ix_(order, order)]
    for score in (reconstruction_scores, neighbor_map):
        assert_allclose(score(points[order], moved), score(points, relations))


@pytest.mark.parametrize("score", [reconstruction_scores, neighbor_map])
def test_errors_name_the_remedy(score):
    points, relations = in_the_ball(0, 6), relations_of(0, 6)
    who = score.__name__
    with pytest.raises(ValueError, match=rf"{who}: 'metric' is 'cosine'.*Pass metric="):
        score(points, relations, metric="cosine")
    outside = points + 1.5 * np.eye(6)[:, [3, 2]]
    with pytest.raises(ValueError, match=rf"{who}: 'X' has norm 2.* in row 2.*project"):
        score(outside, relations)
    with pytest.raises(ValueError, match=rf"{who}: .*NaN.* Drop such rows"):
        score(np.full((6, 2), np.nan), relations)
    with pytest.raises(ValueError, match=r"\(6, 2\) and the least.*metric=\"poincare"):
        score(points, relations, metric="precomputed")
    with pytest.raises(ValueError, match=r"least entry -1\. .*metric=\"poincare"):
        score(-np.ones((6, 6)), relations, metric="precomputed")
    with pytest.raises(ValueError, match=r"shape \(5, 5\) and 'X' has 6 rows.*\[nodes"):
        score(points, relations[:5, :5])
    with pytest.raises(ValueError, match=r"holds -1\. .*Pass abs\("):
        score(points, -np.eye(6)[::-1])
    with pytest.raises(ValueError, match=r"relates no two nodes.*relations_from_edges"):
        score(points, np.eye(6))
    for rows in ([6], [-1], [0.5], [], [[0]], "all"):
        with pytest.raises(ValueError, match=r"'rows' must be .*Pass rows=None"):
            score(points, relations, rows=rows)
    alone = np.eye(6)
    alone[0, 1] = 1
    with pytest.raises(ValueError, match=rf"{who}: none of .*Pass rows=None"):
        score(points, alone, rows=[4, 5])
    with pytest.raises(ValueError, match=r"shape \(6,\) .*hyperboloid\.pairwise"):
        score(points, relations, metric=lambda X, Y: np.zeros(6))
    with pytest.raises(ValueError, match=r"NaN for . and 6.*hyperboloid\.pairwise"):
        score(points, relations, metric=lambda X, Y: np.full((len(X), len(Y)), np.nan))
