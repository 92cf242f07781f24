import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.datasets import load_mammals
from skrep.graph import primary_parents, relations_from_edges
from skrep.hyperbolic._layout import node_depths, place_in_layout, tree_layout
from tests.strategies import seeds


@st.composite
def forests(draw, max_nodes=25):
    """Parents of a forest whose nodes are in random order."""
    n = draw(st.integers(1, max_nodes))
    rng = np.random.default_rng(draw(seeds))
    above = np.array(
        [rng.integers(-1 if i == 0 else -(i % 7 == 3), i + 1) for i in range(n)]
    )
    above = np.minimum(above, np.arange(n) - 1)
    order = rng.permutation(n)
    parents = np.full(n, -1)
    for node, parent in enumerate(above):
        parents[order[node]] = order[parent] if parent >= 0 else -1
    return parents


def by_recursion(parents):
    """Sectors by the definition."""
    children = {
        node: np.flatnonzero(parents == node) for node in range(-1, len(parents))
    }

    def leaves(node):
        return sum(map(leaves, children[node])) if len(children[node]) else 1

    rho, theta = np.empty(len(parents)), np.empty(len(parents))

    def share(node, start, width):
        if node >= 0:
            rho[node], theta[node] = np.log(2 * np.pi / width), start + width / 2
        for child in children[node]:
            part = width * leaves(child) / leaves(node)
            share(child, start, part)
            start += part

    share(-1, 0.0, 2 * np.pi)
    return rho, theta


@given(forests())
def test_layout_is_that_of_a_recursion(parents):
    rho, theta = tree_layout(parents)
    expected_rho, expected_theta = by_recursion(parents)
    assert_allclose(rho, expected_rho, atol=1e-12)
    assert_allclose(theta, expected_theta, atol=1e-12)


@given(forests(), seeds)
def test_distances_from_the_origin_follow_a_relabelling(parents, seed):
    n = len(parents)
    order = np.random.default_rng(seed).permutation(n)
    place = np.argsort(order)
    turned = np.where(parents[order] >= 0, place[parents[order]], -1)
    assert_array_equal(tree_layout(turned)[0], tree_layout(parents)[0][order])


@given(forests())
def test_leaves_lie_at_the_rim_and_share_it(parents):
    rho, theta = tree_layout(parents)
    is_leaf = ~np.isin(np.arange(len(parents)), parents)
    n_leaves = is_leaf.sum()
    assert_allclose(rho[is_leaf], np.log(n_leaves))
    assert_allclose(
        np.sort(theta[is_leaf]), (np.arange(n_leaves) + 0.5) * 2 * np.pi / n_leaves
    )
    below = parents >= 0
    assert (rho[below] >= rho[parents[below]] - 1e-12).all()


def test_mammals():
    mammals = load_mammals()
    matrix, _ = relations_from_edges(mammals.names[mammals.edges])
    parents = primary_parents(matrix)
    rho, theta = tree_layout(parents)
    assert_allclose(rho.max(), 6.8, atol=0.05)
    assert rho.min() == rho[mammals.depth == 0] == 0
    below = parents >= 0
    assert (rho[below] >= rho[parents[below]]).all()
    again = tree_layout(parents)
    assert_array_equal(again[0], rho)
    assert_array_equal(again[1], theta)


def test_full_trees_lie_by_depth():
    parents = np.r_[-1, np.repeat(np.arange(364), 3)]
    rho, _ = tree_layout(parents)
    assert_allclose(rho, node_depths(parents) * np.log(3), atol=1e-12)


def test_chains_are_quick_and_lie_in_the_origin():
    rho, theta = tree_layout(np.arange(-1, 20_000))
    assert_array_equal(rho, 0)
    assert_array_equal(theta, np.pi)
    assert_array_equal(node_depths(np.arange(-1, 20_000)), np.arange(20_001))


def test_no_nodes():
    assert [len(part) for part in tree_layout(np.empty(0, dtype=int))] == [0, 0]


@pytest.mark.parametrize("parents", [[0], [1, 0], [-1, 2, 3, 1, 0], [1, 2, 1]])
def test_cycles_are_refused(parents):
    with pytest.raises(ValueError, match=r"into a cycle.*set parents\[\d\] = -1"):
        tree_layout(np.array(parents))


# --- one more leaf ---------------------------------------------------------------


@given(forests(), st.data())
def test_a_further_leaf_lies_in_the_sector_of_its_parent(parents, data):
    rho, theta = tree_layout(parents)
    parent = data.draw(st.integers(-1, len(parents) - 1))
    far, angle = place_in_layout(rho, theta, parents, parent)
    share = np.exp(-rho[parent]) if parent >= 0 else 1.0
    middle = theta[parent] if parent >= 0 else np.pi
    assert abs(angle - middle) <= np.pi * share + 1e-12
    n_leaves = share * np.exp(rho.max())
    assert_allclose(far, np.log((n_leaves + 1) / share), atol=1e-12)
    # It lies inside of no sector but those of its ancestors, and of an only child.
    if np.sum(parents == parent) != 1:
        above, node = set(), parent
        while node >= 0:
            above.add(node)
            node = parents[node]
        others = np.setdiff1d(np.arange(len(parents)), list(above))
        gaps = np.abs(angle - theta[others]) - np.pi * np.exp(-rho[others])
        assert (gaps > -1e-9).all()


@pytest.mark.parametrize(
    ("parents", "parent", "rho", "theta"),
    [
        ([-1], 0, np.log(2), np.pi),
        ([-1], -1, np.log(2), np.pi / 2),
        ([-1, 0], 0, np.log(2), np.pi / 2),
        ([-1, 0, 0, 0], 0, np.log(4), 2 * np.pi / 3),
        ([-1, 0, 0, 1, 1], 1, np.log(9 / 2), 2 * np.pi / 3),
        ([-1, -1], -1, np.log(3), np.pi),
    ],
)
def test_places_by_hand(parents, parent, rho, theta):
    parents = np.array(parents)
    found = place_in_layout(*tree_layout(parents), parents, parent)
    assert_allclose(found, (rho, theta))
