import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from skrep.datasets import load_mammals
from skrep.graph import primary_parents, relations_from_edges
from skrep.hyperbolic._layout import (
    layout_sectors,
    node_depths,
    place_in_layout,
    tree_layout,
)
from tests.strategies import seeds


def placed(parents, nodes):
    return place_in_layout(layout_sectors(parents), parents, nodes)


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

    def share(node, start, width, lonely):
        if node >= 0:
            rho[node] = np.log(2 * np.pi * (1 + lonely) / width)
            theta[node] = start + width / 2
        only = node >= 0 and len(children[node]) == 1
        for child in children[node]:
            part = width * leaves(child) / leaves(node)
            share(child, start, part, lonely + only)
            start += part

    share(-1, 0.0, 2 * np.pi, 0)
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
def test_leaves_share_the_circle_and_no_two_nodes_a_place(parents):
    rho, theta = tree_layout(parents)
    is_leaf = ~np.isin(np.arange(len(parents)), parents)
    n_leaves = is_leaf.sum()
    assert (rho[is_leaf] >= np.log(n_leaves) - 1e-12).all()
    assert_allclose(
        np.sort(theta[is_leaf]), (np.arange(n_leaves) + 0.5) * 2 * np.pi / n_leaves
    )
    below = parents >= 0
    assert (rho[below] > rho[parents[below]]).all()
    places = np.column_stack([rho * np.cos(theta), rho * np.sin(theta)]).round(9)
    assert len(np.unique(places, axis=0)) == len(parents)


def test_leaves_behind_siblings_lie_equally_far_out():
    parents = np.array([-1, 0, 0, 1, 1, 2, 2, 2])
    assert_allclose(tree_layout(parents)[0][3:], np.log(5))


def test_mammals():
    mammals = load_mammals()
    matrix, _ = relations_from_edges(mammals.names[mammals.edges])
    parents = primary_parents(matrix)
    rho, theta = tree_layout(parents)
    n_leaves = len(rho) - len(np.unique(parents[parents >= 0]))
    # Up to two only children are on the way to a leaf.
    assert_allclose(rho.max(), np.log(3 * n_leaves))
    assert rho.min() == rho[mammals.depth == 0] == 0
    below = parents >= 0
    assert (rho[below] > rho[parents[below]]).all()
    places = np.column_stack([rho * np.cos(theta), rho * np.sin(theta)])
    assert len(np.unique(places.round(6), axis=0)) == 1170
    again = tree_layout(parents)
    assert_array_equal(again[0], rho)
    assert_array_equal(again[1], theta)


def test_full_trees_lie_by_depth():
    parents = np.r_[-1, np.repeat(np.arange(364), 3)]
    rho, _ = tree_layout(parents)
    assert_allclose(rho, node_depths(parents) * np.log(3), atol=1e-12)


def test_chains_are_quick_and_as_long_as_a_star_is_wide():
    rho, theta = tree_layout(np.arange(-1, 20_000))
    assert_allclose(rho, np.log(np.arange(1, 20_002)))
    assert_array_equal(theta, np.pi)
    assert len(np.unique(np.tanh(rho / 2))) == 20_001
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
    far, angle = (part[0] for part in placed(parents, np.array([parent])))
    children = [np.flatnonzero(parents == node) for node in range(len(parents))]

    def leaves(node):
        return sum(map(leaves, children[node])) if len(children[node]) else 1

    def lonely(node):
        above = parents[node]
        return 0 if above < 0 else lonely(above) + (len(children[above]) == 1)

    total = sum(leaves(node) for node in np.flatnonzero(parents < 0))
    shares = np.array([leaves(node) / total for node in range(len(parents))])
    share = shares[parent] if parent >= 0 else 1.0
    middle = theta[parent] if parent >= 0 else np.pi
    assert abs(angle - middle) <= np.pi * share + 1e-12
    factor = 1 + lonely(parent) if parent >= 0 else 1
    if parent >= 0 and not len(children[parent]):
        assert_allclose(far, np.log((factor + 1) / share), atol=1e-12)
        grown = np.append(parents, parent)
        assert_allclose((far, angle), [part[-1] for part in tree_layout(grown)])
    else:
        expected = np.log((share * total + 1) * factor / share)
        assert_allclose(far, expected, atol=1e-12)
    assert parent < 0 or far > rho[parent]
    # It lies inside of no sector but those of its ancestors, and of an only child.
    if np.sum(parents == parent) != 1:
        above, node = set(), parent
        while node >= 0:
            above.add(node)
            node = parents[node]
        others = np.setdiff1d(np.arange(len(parents)), list(above))
        gaps = np.abs(angle - theta[others]) - np.pi * shares[others]
        assert (gaps > -1e-9).all()


@given(forests(), seeds)
def test_further_leaves_are_placed_each_by_itself(parents, seed):
    nodes = np.random.default_rng(seed).integers(-1, len(parents), 5)
    together = np.transpose(placed(parents, nodes))
    alone = [np.ravel(placed(parents, nodes[i : i + 1])) for i in range(5)]
    assert_array_equal(together, alone)


@pytest.mark.parametrize(
    ("parents", "parent", "rho", "theta"),
    [
        ([-1], 0, np.log(2), np.pi),
        ([-1], -1, np.log(2), np.pi / 2),
        ([-1, 0], 0, np.log(2), np.pi / 2),
        ([-1, 0], 1, np.log(3), np.pi),
        ([-1, 0, 0, 0], 0, np.log(4), 2 * np.pi / 3),
        ([-1, 0, 0, 1, 1], 1, np.log(9 / 2), 2 * np.pi / 3),
        ([-1, -1], -1, np.log(3), np.pi),
    ],
)
def test_places_by_hand(parents, parent, rho, theta):
    found = placed(np.array(parents), np.array([parent]))
    assert_allclose(np.ravel(found), (rho, theta))
