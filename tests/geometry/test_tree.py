from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from skrep.geometry import spanning_tree
from tests.strategies import matrices


def lengths(X):
    edges = spanning_tree(X)
    return np.sort(np.linalg.norm(X[edges[:, 0]] - X[edges[:, 1]], axis=1))


def greedy_lengths(X):
    """Kruskal's way: shortest edges first, none that closes a circle."""
    groups = list(range(len(X)))
    chosen = []
    edges = combinations(range(len(X)), 2)
    for i, j in sorted(edges, key=lambda e: np.linalg.norm(X[e[0]] - X[e[1]])):
        if groups[i] != groups[j]:
            chosen.append(np.linalg.norm(X[i] - X[j]))
            groups = [groups[i] if g == groups[j] else g for g in groups]
    return np.sort(chosen)


def joined(edges, n):
    ones = np.ones(len(edges))
    graph = coo_array((ones, (edges[:, 0], edges[:, 1])), shape=(n, n))
    return connected_components(graph, directed=False)[0] == 1


@given(X=matrices(min_rows=1), repeats=st.integers(1, 2))
def test_agrees_with_the_greedy_tree_with_copies_too(X, repeats):
    X = np.repeat(X, repeats, axis=0)
    edges = spanning_tree(X)
    assert edges.shape == (len(X) - 1, 2)
    assert joined(edges, len(X))
    assert_allclose(lengths(X), greedy_lengths(X), rtol=1e-9)


def test_agrees_with_scipy():
    X = np.random.default_rng(0).standard_normal((200, 5))
    expected = np.sort(minimum_spanning_tree(cdist(X, X)).data)
    assert_allclose(lengths(X), expected, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_any_scale_has_the_same_tree(scale):
    X = np.random.default_rng(1).standard_normal((30, 3))
    assert (spanning_tree(X * scale) == spanning_tree(X)).all()


def test_an_offset_costs_no_digits():
    X = np.random.default_rng(2).integers(0, 2**20, (30, 3)).astype(float)
    assert (spanning_tree(X + 2.0**50) == spanning_tree(X)).all()


def test_float32_rows_are_not_written_to():
    X = np.random.default_rng(3).standard_normal((20, 2)).astype(np.float32)
    X.flags.writeable = False
    assert (spanning_tree(X) == spanning_tree(X.astype(float))).all()


def test_one_row_has_no_edge_and_copies_have_edges_of_length_zero():
    assert spanning_tree(np.ones((1, 3))).shape == (0, 2)
    assert lengths(np.ones((5, 3))).tolist() == [0] * 4
    assert lengths(np.zeros((3, 0))).tolist() == [0, 0]
