"""Trees in the plane whose angles are integers, however deep."""

import pickle

import mpmath
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.graph import rooted_order, tree_distances, undirected_edges
from skrep.hyperbolic import TreeEmbedding
from tests.hyperbolic.test_sarkar import random_tree
from tests.hyperbolic.test_tree import edges_of, random_parents
from tests.strategies import seeds


def caterpillar(depth):
    """A binary tree: a spine, and a leaf at each of its nodes but the last."""
    spine = np.arange(depth + 1) - 1
    return np.concatenate([spine, np.arange(depth)])


def deep_binary(depth, n_more, seed):
    """A spine, and more nodes where a node has fewer than two children."""
    rng = np.random.default_rng(seed)
    parents, free = list(range(-1, depth)), list(range(depth)) + [depth] * 2
    for node in range(depth + 1, depth + 1 + n_more):
        parents.append(free.pop(rng.integers(len(free))))
        free += [node, node]
    return np.array(parents)


def paths(tree, matrix):
    order = rooted_order(undirected_edges(matrix), tree.roots_)
    return tree_distances(order, np.arange(matrix.shape[0]))


def worst(tree, matrix):
    upper = np.triu_indices(matrix.shape[0], 1)
    ratios = tree.distances()[upper] / paths(tree, matrix)[upper]
    return ratios.max() / ratios.min()


def by_mobius(tree, tau, bits):
    """Sarkar's construction and the distances, in complex numbers of many bits."""
    n_nodes = len(tree.parents)
    points = [mpmath.mpc(0)] * n_nodes
    with mpmath.workprec(bits):
        for node in tree.order.tolist():
            z, parent = points[node], int(tree.parents[node])
            children = np.flatnonzero(tree.parents == node).tolist()
            start, size = mpmath.mpf(0), len(children) + (parent >= 0)
            if parent >= 0:
                p = points[parent]
                start = mpmath.arg((p - z) / (1 - mpmath.conj(z) * p))
            for j, child in enumerate(children):
                turn = start + 2 * mpmath.pi * (j + (parent >= 0)) / size
                length = mpmath.mpf(tau) * mpmath.mpf(float(tree.lengths[child]))
                w = mpmath.tanh(length / 2) * mpmath.expj(turn)
                points[child] = (w + z) / (1 + mpmath.conj(z) * w)
        return np.array(
            [
                [
                    float(2 * mpmath.atanh(abs((x - y) / (1 - mpmath.conj(x) * y))))
                    for y in points
                ]
                for x in points
            ]
        )


@given(seed=seeds, tau=st.sampled_from([0.5, 3.0, 20.0]))
@settings(max_examples=5, deadline=None)
def test_distances_of_random_trees_in_many_bits(seed, tau):
    order = random_tree(14, seed)
    below = np.flatnonzero(order.parents >= 0)
    entries = order.lengths[below], (below, order.parents[below])
    matrix = sp.csr_array(entries, shape=(14, 14))
    tree = TreeEmbedding(2, exact=True, tau=tau, root=0).fit(matrix)
    expected = by_mobius(order, tau, 2000) / tau
    assert_allclose(tree.distances(), expected, rtol=1e-9, atol=1e-9)


def test_distances_of_a_deep_tree_in_many_bits():
    matrix = edges_of(caterpillar(30))
    tree = TreeEmbedding(2, exact=True, root=0).fit(matrix)
    order = rooted_order(undirected_edges(matrix), np.array([0]))
    expected = by_mobius(order, tree.tau_, 1500) / tree.tau_
    assert_allclose(tree.distances(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("root", ["center", 0])
def test_a_path_of_depth_500(root):
    path = edges_of(np.arange(501) - 1)
    tree = TreeEmbedding(2, exact=True, root=root).fit(path)
    assert worst(tree, path) <= 1 + 1e-9
    assert_allclose(tree.radius_.max(), tree.tau_ * (500 if root == 0 else 250))


@pytest.mark.parametrize("parents", [caterpillar(500), deep_binary(500, 200, 0)])
def test_binary_trees_of_depth_500(parents):
    assert np.bincount(parents[parents >= 0]).max() == 2
    matrix = edges_of(parents)
    tree = TreeEmbedding(2, exact=True, root=0).fit(matrix)
    assert worst(tree, matrix) <= 1.06
    distances = tree.distances([0, 3, 500])
    below = np.flatnonzero(tree.parents_ >= 0)
    assert_allclose(distances[0], paths(tree, matrix)[0], rtol=0.06)
    edges = tree.distances(below[::50])[
        np.arange(len(below[::50])), tree.parents_[below[::50]]
    ]
    assert_allclose(edges, 1, rtol=1e-11)


@given(seed=seeds, degree=st.sampled_from([2, 5, 40]))
@settings(max_examples=10, deadline=None)
def test_the_automatic_scale_loses_five_percent_at_most(seed, degree):
    rng = np.random.default_rng(seed)
    parents = np.maximum(np.arange(60) - 1 - rng.integers(0, degree, 60), -1)
    parents[1:] = np.maximum(parents[1:], 0)
    matrix = edges_of(parents, rng.uniform(0.5, 2, 60))
    tree = TreeEmbedding(2, exact=True).fit(matrix)
    assert worst(tree, matrix) <= 1.06


def test_shallow_trees_agree_with_floats():
    matrix = edges_of(random_parents(40, 2))
    plain = TreeEmbedding(2, tau=1.5).fit(matrix)
    exact = TreeEmbedding(2, tau=1.5, exact=True).fit(matrix)
    assert_allclose(exact.distances(), plain.distances(), atol=1e-6)
    assert exact.tau_ == 1.5
    points = TreeEmbedding(2).fit_transform(matrix)
    assert_array_equal(exact.embedding_, points)


def test_forests_and_single_nodes():
    parents = np.array([-1, 0, 0, 2, -1, 4, 4, -1])
    tree = TreeEmbedding(2, exact=True).fit(edges_of(parents))
    below = np.flatnonzero(parents >= 0)
    assert_allclose(tree.distances(below)[np.arange(5), parents[below]], 1)
    assert tree.distances()[:4, 4:].min() > 1
    single = TreeEmbedding(2, exact=True).fit(np.zeros((1, 1)))
    assert_array_equal(single.distances(), [[0]])


def test_points_are_kept_as_integers_and_pickled():
    matrix = edges_of(caterpillar(100))
    tree = TreeEmbedding(2, exact=True).fit(matrix)
    assert all(type(angle) is int for angle in tree.angle_)
    assert max(tree.angle_) < 2**tree.n_bits_
    assert tree.n_bits_ * np.log(2) > tree.radius_.max() + 30
    copy = pickle.loads(pickle.dumps(tree))
    assert_array_equal(copy.distances(), tree.distances())
    assert_array_equal(tree.distances(), tree.distances().T)
    assert_array_equal(np.diag(tree.distances()), 0)


def test_angles_that_would_fill_the_memory_are_refused():
    path = edges_of(np.arange(101) - 1)
    with pytest.raises(
        ValueError, match=r"GiB, of which 1 is allowed. Pass tau="
    ) as err:
        TreeEmbedding(2, exact=True, tau=1e9).fit(path)
    remedy = float(str(err.value).split("Pass tau=")[1].split(",")[0])
    assert 1e4 < remedy < 1e9
