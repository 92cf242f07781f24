"""Forests: spanned, centered, ordered and measured."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import dijkstra

from skrep.graph import (
    rooted_order,
    spanning_forest,
    tree_centers,
    tree_distances,
    undirected_edges,
)
from tests.strategies import seeds


def random_forest(n_nodes, n_trees, seed, *, whole=False):
    """Child to parent, nodes in random order; the first `n_trees` are roots."""
    rng = np.random.default_rng(seed)
    children = np.arange(n_trees, n_nodes)
    parents = rng.integers(0, children)
    lengths = np.ones(len(children)) if whole else rng.uniform(0.5, 2, len(children))
    names = rng.permutation(n_nodes)
    entries = lengths, (names[children], names[parents])
    return sp.csr_array(entries, shape=(n_nodes, n_nodes))


forests = st.builds(
    random_forest,
    st.integers(4, 30),
    st.integers(1, 4),
    seeds,
    whole=st.booleans(),
)


def random_graph(n_nodes, density, seed):
    rng = np.random.default_rng(seed)
    there = rng.random((n_nodes, n_nodes)) < density
    return np.where(there, rng.uniform(0.5, 2, there.shape), 0)


# --- edges in both directions ------------------------------------------------------


def test_both_directions_of_the_shorter_edge_and_no_loops():
    given_edges = np.array([[5, 2, 0], [3, 0, 0], [4, 0, 1]])
    expected = [[0, 2, 4], [2, 0, 0], [4, 0, 0]]
    wide = sp.coo_array(given_edges)
    wide.coords = tuple(part.astype(np.int64) for part in wide.coords)
    for matrix in (given_edges, sp.csr_matrix(given_edges), wide):
        made = undirected_edges(matrix)
        assert_array_equal(made.toarray(), expected)
        assert made.indices.dtype == spanning_forest(matrix).indices.dtype == np.int32


@given(seed=seeds)
@settings(max_examples=25)
def test_direction_does_not_matter(seed):
    graph = random_graph(9, 0.3, seed)
    assert (undirected_edges(graph) != undirected_edges(graph.T)).nnz == 0


# --- spanning ----------------------------------------------------------------------


@given(seed=seeds, density=st.floats(0.05, 0.9))
@settings(max_examples=40)
def test_a_shortest_forest_as_networkx_finds_it(seed, density):
    edges = undirected_edges(random_graph(12, density, seed))
    forest = spanning_forest(edges)
    reference = nx.minimum_spanning_tree(nx.from_scipy_sparse_array(edges))
    assert forest.nnz == 2 * reference.number_of_edges()
    assert_allclose(forest.sum() / 2, reference.size(weight="weight"))
    assert_array_equal((forest != forest.T).nnz, 0)


@given(forest=forests)
@settings(max_examples=30)
def test_a_forest_comes_back_whole(forest):
    assert (spanning_forest(forest) != undirected_edges(forest)).nnz == 0


def test_equal_lengths_keep_the_distances_to_the_hub():
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(5, 5))
    grid.add_edge(12, 0)
    edges = nx.to_scipy_sparse_array(grid)
    forest = spanning_forest(edges)
    hub = np.array([12])
    assert forest.nnz == 2 * 24
    assert_array_equal(dijkstra(forest, indices=hub), dijkstra(edges, indices=hub))


# --- centers -----------------------------------------------------------------------


@given(forest=forests)
@settings(max_examples=40)
def test_centers_have_the_least_eccentricity(forest):
    edges = undirected_edges(forest)
    lengths = dijkstra(edges)
    eccentricity = np.where(np.isfinite(lengths), lengths, 0).max(axis=1)
    expected = []
    for nodes in nx.connected_components(nx.from_scipy_sparse_array(edges)):
        nodes = np.array(sorted(nodes))
        least = eccentricity[nodes].min()
        expected.append(nodes[eccentricity[nodes] <= least * (1 + 1e-9)][0])
    assert_array_equal(tree_centers(edges), np.sort(expected))


# --- order -------------------------------------------------------------------------


@given(forest=forests)
@settings(max_examples=40)
def test_order_parents_and_levels(forest):
    edges = undirected_edges(forest)
    roots = tree_centers(edges)
    tree = rooted_order(edges, roots)
    place = np.argsort(tree.order)
    below = np.flatnonzero(tree.parents >= 0)
    assert_array_equal(np.sort(tree.order), np.arange(edges.shape[0]))
    assert_array_equal(np.flatnonzero(tree.parents < 0), roots)
    assert (place[tree.parents[below]] < place[below]).all()
    assert_array_equal(tree.lengths[below], edges[below, tree.parents[below]])
    assert not tree.lengths[roots].any()
    hops = dijkstra(edges, indices=roots, min_only=True, unweighted=True)
    for level, (start, stop) in enumerate(
        zip(tree.levels[:-1], tree.levels[1:], strict=True)
    ):
        assert_array_equal(hops[tree.order[start:stop]], level)
    ordered = tree.parents[tree.order]
    for parent in np.unique(tree.parents[below]):
        siblings = np.flatnonzero(ordered == parent)
        assert_array_equal(np.diff(siblings), 1)
        assert (np.diff(tree.order[siblings]) > 0).all()


def test_a_long_path_needs_no_recursion():
    path = undirected_edges(
        sp.diags_array(np.ones(4999), offsets=1, shape=(5000, 5000))
    )
    tree = rooted_order(path, np.array([0]))
    assert_array_equal(tree.order, np.arange(5000))
    assert tree_centers(path) == [2499]
    assert_array_equal(tree_distances(tree, np.array([7]))[0], abs(np.arange(5000) - 7))


# --- distances ---------------------------------------------------------------------


@given(forest=forests, seed=seeds)
@settings(max_examples=40)
def test_distances_are_those_of_dijkstra(forest, seed):
    edges = undirected_edges(forest)
    tree = rooted_order(edges, tree_centers(edges))
    nodes = np.random.default_rng(seed).integers(0, edges.shape[0], 5)
    assert_allclose(tree_distances(tree, nodes), dijkstra(edges, indices=nodes))


@pytest.mark.parametrize("n_nodes", [1, 3])
def test_nodes_without_edges(n_nodes):
    edges = undirected_edges(np.zeros((n_nodes, n_nodes)))
    centers = tree_centers(spanning_forest(edges))
    tree = rooted_order(edges, centers)
    assert_array_equal(centers, np.arange(n_nodes))
    assert_array_equal(tree.levels, [0, n_nodes])
    expected = np.where(np.eye(n_nodes, dtype=bool), 0, np.inf)
    assert_array_equal(tree_distances(tree, np.arange(n_nodes)), expected)


def test_entries_in_any_order_give_the_lengths():
    edges = undirected_edges(np.array([[0, 1, 2], [0, 0, 0], [0, 0, 0]]))
    mixed = edges.copy()
    mixed.indices[:2], mixed.data[:2] = [2, 1], [2, 1]
    mixed.has_sorted_indices = False
    assert_array_equal(rooted_order(mixed, np.array([0])).lengths, [0, 1, 2])


@pytest.mark.parametrize("roots", [[0], [0, 1, 2]])
def test_each_component_has_one_root(roots):
    edges = undirected_edges(np.diag([1.0, 0.0], k=1))
    with pytest.raises(ValueError, match=r"Pass skrep\.graph\.tree_centers\(forest\)"):
        rooted_order(edges, np.array(roots))


def test_of_two_centers_the_first_is_taken_whatever_the_rounding():
    path = np.diag([0.15, 0.15, 0.01, 0.2, 0.1], k=1)
    assert_array_equal(tree_centers(undirected_edges(path)), [2])
