"""Trees placed level by level, against one node at a time by Möbius maps."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from skrep.geometry import poincare
from skrep.graph import rooted_order, undirected_edges
from skrep.hyperbolic._codes import largest_gap, spherical_code
from skrep.hyperbolic._plane import place_in_plane
from skrep.hyperbolic._sarkar import ball_points, place_leaf, place_tree
from skrep.hyperbolic._triangle import solve_triangle
from tests.strategies import seeds


def random_tree(n_nodes, seed, n_trees=1):
    rng = np.random.default_rng(seed)
    matrix = np.zeros((n_nodes, n_nodes))
    children = np.arange(n_trees, n_nodes)
    matrix[children, rng.integers(0, children)] = rng.uniform(0.5, 2, len(children))
    return rooted_order(undirected_edges(matrix), np.arange(n_trees))


def one_by_one(tree, tau, digits=40):
    """Sarkar's construction with complex numbers of many digits."""
    points = {}
    with mpmath.workdps(digits):
        for node in tree.order.tolist():
            children = np.flatnonzero(tree.parents == node).tolist()
            z, parent = points.setdefault(node, mpmath.mpc(0)), int(tree.parents[node])
            start, size = mpmath.mpf(0), len(children)
            if parent >= 0:
                p = points[parent]
                start = mpmath.arg((p - z) / (1 - mpmath.conj(z) * p))
                size += 1
            for j, child in enumerate(children):
                turn = start + 2 * mpmath.pi * (j + (parent >= 0)) / size
                length = mpmath.mpf(tau) * mpmath.mpf(float(tree.lengths[child]))
                w = mpmath.tanh(length / 2) * mpmath.expj(turn)
                points[child] = (w + z) / (1 + mpmath.conj(z) * w)
        radius = [2 * mpmath.atanh(abs(points[v])) for v in range(len(tree.parents))]
        angle = [mpmath.arg(points[v]) for v in range(len(tree.parents))]
    return np.array(radius, dtype=float), np.array(angle, dtype=float)


def angle_gaps(placement, angles):
    units = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.linalg.norm(placement.direction - units, axis=1)


@given(seed=seeds, n_nodes=st.integers(2, 25), tau=st.sampled_from([0.3, 1.0, 2.5]))
@settings(max_examples=20, deadline=None)
def test_the_plane_is_sarkars(seed, n_nodes, tau):
    tree = random_tree(n_nodes, seed)
    placed = place_in_plane(tree, 2, tau, 0.0, 40.0)
    radius, angles = one_by_one(tree, tau)
    assert_allclose(placed.radius, radius, rtol=1e-10, atol=1e-12)
    assert angle_gaps(placed, angles)[radius > 0].max() < 1e-12


def test_the_plane_and_the_general_case_have_the_same_radii():
    """They turn in opposite senses, so that points differ."""
    tree = random_tree(60, 3)
    plane = place_in_plane(tree, 2, 1.5, 0.0, 40.0)
    general = place_tree(tree, 2, 1.5, 0.0, 40.0)
    assert_allclose(general.radius, plane.radius, atol=1e-9)


@given(
    seed=seeds,
    n_components=st.integers(2, 12),
    n_trees=st.integers(1, 4),
    tau=st.sampled_from([0.5, 1.0, 2.0]),
)
@settings(max_examples=30, deadline=None)
def test_edges_are_exact_and_directions_are_the_code(seed, n_components, n_trees, tau):
    tree = random_tree(20, seed, n_trees)
    placed = place_tree(tree, n_components, tau, 1.0, 40.0)
    points = ball_points(placed.radius, placed.direction, placed.limit)
    below = np.flatnonzero(tree.parents >= 0)
    edges = poincare.distance(points[below], points[tree.parents[below]])
    assert_allclose(edges, tau * tree.lengths[below], rtol=1e-6)
    for node in range(20):
        children = np.flatnonzero(tree.parents == node)
        up = tree.parents[node]
        around = [points[children]] + ([points[[up]]] if up >= 0 else [])
        if n_trees > 1 and up < 0:
            around.append(np.zeros((1, n_components)))
        neighbors = np.concatenate(around[::-1])
        if not len(neighbors):
            continue
        seen = poincare.log_map(points[node], neighbors)
        seen /= np.linalg.norm(seen, axis=1)[:, None]
        code = spherical_code(n_components, len(neighbors))
        assert_allclose(seen @ seen.T, code @ code.T, atol=1e-5)
        assert_allclose(seen[0], placed.toward[node], atol=1e-5)


def test_far_nodes_keep_their_edges():
    """No error grows towards the rim."""
    tree = random_tree(300, 5)
    depth = np.zeros(300)
    for node in tree.order[1:]:
        depth[node] = depth[tree.parents[node]] + tree.lengths[node]
    tau = 34 / depth.max()
    for n_components in (2, 3, 10):
        place = place_in_plane if n_components == 2 else place_tree
        placed = place(tree, n_components, tau, 0.0, 36.0)
        points = ball_points(placed.radius, placed.direction, placed.limit)
        edges = poincare.distance(points[1:], points[tree.parents[1:]])
        assert_allclose(edges, tau * tree.lengths[1:], rtol=0.02, atol=0.02)


@given(
    p=st.floats(0, 60),
    length=st.floats(1e-3, 60),
    gamma=st.floats(0.1, np.pi),
)
@settings(max_examples=60, deadline=None)
def test_triangles_in_many_digits(p, length, gamma):
    found = solve_triangle(
        np.array([p]),
        np.array([length]),
        np.array([np.sin(gamma)]),
        np.array([np.sin(gamma / 2) ** 2]),
    )
    with mpmath.workdps(80):
        a, b, g = (mpmath.mpf(v) for v in (p, length, gamma))
        sine, cosine = mpmath.sin(g), mpmath.cos(g)
        q = mpmath.acosh(
            mpmath.cosh(a) * mpmath.cosh(b) - mpmath.sinh(a) * mpmath.sinh(b) * cosine
        )
        turn = mpmath.atan2(
            mpmath.sinh(b) * sine,
            mpmath.sinh(a) * mpmath.cosh(b) - mpmath.cosh(a) * mpmath.sinh(b) * cosine,
        )
        back = mpmath.atan2(
            mpmath.sinh(a) * sine,
            mpmath.sinh(b) * mpmath.cosh(a) - mpmath.cosh(b) * mpmath.sinh(a) * cosine,
        )
        scaled = turn * mpmath.exp(a)
    assert_allclose(found.side, float(q.real), rtol=1e-9, atol=1e-7)
    assert_allclose(found.turn, float(scaled), rtol=1e-9, atol=1e-9)
    assert_allclose(found.back, float(back), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("p", [301.0, 5_000.0])
def test_no_radius_is_too_large(p):
    gamma = 2 * np.pi / 3
    found = solve_triangle(
        np.array([p]), np.array([6.0]), np.array([np.sin(gamma)]), np.array([0.75])
    )
    # Two long sides: p + l + log(sin(gamma / 2) ** 2), and 2 / tan for the angle.
    assert_allclose(found.side, p + 6 + np.log(0.75 * (1 - np.exp(-12)) + np.exp(-12)))
    share = 0.75 * (1 - np.exp(-12)) + np.exp(-12)
    assert_allclose(found.turn, np.sin(gamma) * (1 - np.exp(-12)) / share)


@pytest.mark.parametrize("n_components", [2, 3, 10])
def test_a_leaf_goes_where_most_room_is(n_components):
    tree = random_tree(25, 1)
    place = place_in_plane if n_components == 2 else place_tree
    placed = place(tree, n_components, 1.5, 0.0, 40.0)
    points = ball_points(placed.radius, placed.direction, placed.limit)
    nodes = np.arange(25)
    leaves = place_leaf(placed, nodes, np.full(25, 0.7))
    assert_allclose(poincare.distance(points, leaves), 1.5 * 0.7, rtol=1e-6)
    for node in nodes:
        around = (tree.parents == node) | (nodes == tree.parents[node])
        seen = poincare.log_map(points[node], points[around])
        seen /= np.linalg.norm(seen, axis=1)[:, None]
        new = poincare.log_map(points[node], leaves[node])
        new /= np.linalg.norm(new)
        size = int(around.sum())
        code, gap = spherical_code(n_components, size), largest_gap(n_components, size)
        assert_allclose((seen @ new).max(), (code @ gap).max(), atol=1e-6)


def test_leaves_stay_within_the_limit_and_fit_a_single_node():
    single = place_tree(random_tree(1, 0), 3, 2.0, 0.0, 36.0)
    leaf = place_leaf(single, np.array([0]), np.array([1.0]))
    assert_allclose(poincare.distance(leaf[0], np.zeros(3)), 2.0)
    far = place_leaf(single, np.array([0]), np.array([40.0]))
    assert_allclose(poincare.distance(far[0], np.zeros(3)), 36.0, rtol=1e-2)
