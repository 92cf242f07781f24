"""Distortion of a graph's distances: values, the best scale, laws, errors."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from skrep.geometry import poincare
from skrep.metrics import _placed, distortion

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, n_nodes=9):
    """Points of the ball, and edges with lengths, connected or not."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n_nodes, 2))
    points *= 0.9 / np.linalg.norm(points, axis=1).max()
    edges = np.triu(rng.random((n_nodes, n_nodes)) < 0.25, 1)
    edges[0, 1] = True
    return points, edges * rng.uniform(0.5, 2, edges.shape)


def naive(points, lengths, scale):
    """All pairs that a path joins, one at a time."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(points)))
    graph.add_weighted_edges_from(
        (int(u), int(v), lengths[u, v]) for u, v in np.argwhere(lengths)
    )
    errors, ratios = [], []
    for u, found in nx.all_pairs_dijkstra_path_length(graph):
        for v, length in found.items():
            if u != v:
                distance = float(poincare.distance(points[u], points[v]))
                errors.append(abs(distance / scale - length) / length)
                ratios.append(distance / length)
    return np.mean(errors), max(ratios) / min(ratios)


@given(seed=seeds, scale=st.floats(0.1, 10))
def test_equals_loops(seed, scale):
    points, lengths = drawn(seed)
    found = distortion(points, lengths, scale=scale)
    assert_allclose(found[:2], naive(points, lengths, scale), rtol=1e-9)
    assert found.scale == scale


@given(seed=seeds)
def test_the_best_scale_is_the_best(seed):
    points, lengths = drawn(seed)
    found = distortion(points, lengths)

    def average(log_scale):
        return distortion(points, lengths, scale=float(np.exp(log_scale))).average

    around = np.log(found.scale) + np.array([-1.0, 1.0])
    searched = minimize_scalar(average, bounds=around, method="bounded")
    assert found.average <= searched.fun + 1e-12
    assert_allclose(found.average, average(np.log(found.scale)), rtol=1e-12)


@given(seed=seeds)
def test_names_and_directions_do_not_matter_and_the_worst_knows_no_scale(seed):
    points, lengths = drawn(seed)
    expected = distortion(points, lengths)
    order = np.random.default_rng(seed).permutation(len(points))
    moved = distortion(points[order], lengths[np.ix_(order, order)])
    assert_allclose(moved, expected, rtol=1e-9)
    for same in (lengths.T, lengths + lengths.T, sp.csr_matrix(lengths)):
        assert_allclose(distortion(points, same), expected, rtol=1e-9)
    other = distortion(points, lengths, scale=0.1)
    assert_allclose(other.worst, expected.worst)
    longer = distortion(points, lengths * 3)
    factors = 1, 1, 1 / 3
    assert_allclose(longer, np.multiply(expected, factors), rtol=1e-9)


def test_of_two_lengths_of_one_edge_the_shorter_counts():
    both_ways = np.array([[0.0, 2.0], [5.0, 0.0]])
    found = distortion([[0.0], [2.0]], both_ways, metric="euclidean", scale=1.0)
    assert found == (0.0, 1.0, 1.0)


def test_distances_of_the_graph_have_none_and_collapse_has_no_bound():
    cycle = sp.csr_array(np.roll(np.eye(6), 1, axis=1))
    steps = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    exact = np.minimum(steps, 6 - steps)
    assert distortion(2.5 * exact, cycle, metric="precomputed") == (0.0, 1.0, 2.5)
    assert distortion(np.zeros((6, 2)), cycle) == (1.0, np.inf, 1.0)
    twins = distortion([[0.0], [0.0], [0.5]], [[0, 1, 0], [0, 0, 1], [0, 0, 0]])
    assert twins.worst == np.inf


def test_an_offset_costs_no_digits():
    points, lengths = drawn(0)
    expected = distortion(points, lengths, metric="euclidean")
    moved = distortion(points + 300.0, lengths, metric="euclidean")
    assert_allclose(moved, expected, rtol=1e-11)


def test_blocks_and_samples_of_rows(monkeypatch):
    points, lengths = drawn(0, 30)
    whole = distortion(points, lengths)
    sample = distortion(points, lengths, scale=1.0, rows=[0, 7])
    alone = [distortion(points, lengths, scale=1.0, rows=[u]) for u in (0, 7)]
    low, high = sorted(part.average for part in alone)
    assert low <= sample.average <= high
    assert sample.worst <= whole.worst
    small = [slice(0, 7)]
    monkeypatch.setattr(_placed, "neighbor_blocks", lambda n_nodes: iter(small))
    assert_allclose(distortion(points, lengths), whole)


def test_errors_name_the_remedy():
    points, lengths = drawn(0)
    for scale in (0, -1.0, np.inf, np.nan, "best", True, None):
        with pytest.raises(ValueError, match=r"'scale' is .*Pass scale=1\.0, say"):
            distortion(points, lengths, scale=scale)
    lonely = np.zeros((9, 9))
    lonely[0, 1] = 1
    with pytest.raises(ValueError, match=r"no path leads .*Pass rows=None"):
        distortion(points, lonely, rows=[5])
    with pytest.raises(ValueError, match=r"distortion: 'adjacency' has shape \(8, 8\)"):
        distortion(points, lengths[:8, :8])
    with pytest.raises(ValueError, match=r"distortion: 'X' has norm .*project\(X\)"):
        distortion(points * 5, lengths)
