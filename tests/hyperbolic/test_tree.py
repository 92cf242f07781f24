"""TreeEmbedding: quality, cases, input and claims."""

import pickle
import re

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import spearmanr
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.utils import get_tags

from skrep.datasets import load_mammals
from skrep.geometry import poincare
from skrep.graph import (
    rooted_order,
    spanning_forest,
    tree_distances,
    undirected_edges,
)
from skrep.hyperbolic import TreeEmbedding
from skrep.invariance import Claim, check_invariance, unclaimed
from skrep.metrics import distortion, neighbor_map
from tests.strategies import seeds


def edges_of(parents, lengths=None):
    parents = np.asarray(parents)
    below = np.flatnonzero(parents >= 0)
    data = np.ones(len(below)) if lengths is None else lengths[below]
    return sp.csr_array((data, (below, parents[below])), shape=(len(parents),) * 2)


def random_parents(n_nodes, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([[-1], rng.integers(0, np.arange(1, n_nodes))])


def star(degree):
    return edges_of([-1] + [0] * degree)


@pytest.fixture(scope="module")
def mammals():
    bundle = load_mammals()
    n_nodes = len(bundle.names)
    entries = np.ones(len(bundle.edges)), tuple(bundle.edges.T)
    return spanning_forest(sp.csr_array(entries, shape=(n_nodes, n_nodes)))


# --- quality ----------------------------------------------------------------------


@pytest.mark.parametrize(("n_components", "worst"), [(10, 1.2), (5, 1.3), (3, 1.6)])
def test_mammals(mammals, n_components, worst):
    tree = TreeEmbedding(n_components).fit(mammals)
    assert neighbor_map(tree.embedding_, mammals) == 1
    found = distortion(tree.embedding_, mammals, scale=tree.tau_)
    assert found.worst < worst
    assert tree.parents_[tree.roots_] == -1
    assert tree.distortion_ is None


def test_mammals_in_the_plane(mammals):
    """What float64 holds is short of what 35 rodents need; exact angles are not."""
    tree = TreeEmbedding(2).fit(mammals)
    assert neighbor_map(tree.embedding_, mammals) > 0.97
    exact = TreeEmbedding(2, exact=True).fit(mammals)
    assert_array_equal(exact.embedding_, tree.embedding_)
    distances = exact.distances()
    assert neighbor_map(distances, mammals, metric="precomputed") == 1
    assert distortion(distances, mammals, metric="precomputed").worst < 1.05


def test_mammals_in_float32(mammals):
    tree = TreeEmbedding(10).fit(mammals.astype(np.float32))
    assert tree.embedding_.dtype == tree.lengths_.dtype == np.float32
    assert tree.distances([0]).dtype == np.float32
    wide = TreeEmbedding(10).fit(mammals)
    ratio = poincare.max_radius(np.float32) / poincare.max_radius(np.float64)
    assert_allclose(tree.tau_, wide.tau_ * ratio)
    assert neighbor_map(tree.embedding_, mammals) > 0.995


@pytest.mark.parametrize(("arity", "n_levels"), [(2, 11), (3, 9)])
@pytest.mark.parametrize("root", ["center", 0])
def test_the_root_is_nearest_the_center(arity, n_levels, root):
    """The norms follow the depth as far as norms that all differ can.

    Of nodes in shares p of all at each depth, ranks of depths and of any norms have a
    correlation of at most sqrt(1 - sum(p ** 3)): 0.93 for binary trees and 0.83 for
    ternary ones, where two nodes of three are leaves.
    """
    sizes = arity ** np.arange(n_levels)
    n_nodes = sizes.sum()
    parents = (np.arange(n_nodes) - 1) // arity
    tree = TreeEmbedding(2, root=root).fit(edges_of(parents))
    assert_array_equal(tree.roots_, [0])
    norms = np.linalg.norm(tree.embedding_, axis=1)
    depth = np.repeat(np.arange(n_levels), sizes)
    assert norms.argmin() == 0
    radii = 2 * np.arctanh(norms)
    means = [radii[depth == level].mean() for level in range(n_levels)]
    assert (np.diff(means) > 1).all()
    highest = np.sqrt(1 - ((sizes / n_nodes) ** 3).sum())
    assert spearmanr(depth, norms).statistic > 0.99 * highest


@given(seed=seeds, n_components=st.integers(3, 12), n_nodes=st.integers(3, 40))
@settings(max_examples=20, deadline=None)
def test_edges_have_their_lengths(seed, n_components, n_nodes):
    rng = np.random.default_rng(seed)
    matrix = edges_of(random_parents(n_nodes, seed), rng.uniform(0.5, 2, n_nodes))
    tree = TreeEmbedding(n_components).fit(matrix)
    below = np.flatnonzero(tree.parents_ >= 0)
    lengths = undirected_edges(matrix)[below, tree.parents_[below]]
    assert_array_equal(tree.lengths_[below], lengths)
    distances = tree.distances(below)[np.arange(len(below)), tree.parents_[below]]
    assert_allclose(distances, lengths, rtol=0.05)
    paths = tree_distances(rooted_order(undirected_edges(matrix), tree.roots_), below)
    # Never longer than the path, up to what is lost at the rim.
    assert (tree.distances(below) <= paths * 1.05 + 0.05).all()


@given(seed=seeds, n_components=st.integers(2, 6))
@settings(max_examples=20, deadline=None)
def test_direction_and_container_do_not_matter(seed, n_components):
    matrix = edges_of(random_parents(15, seed))
    expected = TreeEmbedding(n_components).fit_transform(matrix)
    both = sp.csr_matrix(matrix + matrix.T)
    for other in (matrix.T, both, matrix.toarray(), both.toarray().tolist()):
        assert_array_equal(TreeEmbedding(n_components).fit_transform(other), expected)


# --- cases ------------------------------------------------------------------------


@pytest.mark.parametrize("degree", [1, 2, 3, 17, 500])
@pytest.mark.parametrize("n_components", [2, 3, 5, 10, 20])
def test_stars(degree, n_components):
    matrix = star(degree)
    tree = TreeEmbedding(n_components).fit(matrix)
    assert np.isfinite(tree.embedding_).all()
    assert np.linalg.norm(tree.embedding_, axis=1).max() < 1
    assert neighbor_map(tree.embedding_, matrix) == 1
    assert distortion(tree.embedding_, matrix).worst < 1.6
    assert tree.roots_ == 0 or degree == 1


def test_one_node_two_nodes_and_none_joined():
    single = TreeEmbedding(3).fit(np.zeros((1, 1)))
    assert_array_equal(single.embedding_, np.zeros((1, 3)))
    assert single.tau_ == 1
    pair = TreeEmbedding(3).fit([[0, 2], [0, 0]])
    assert_allclose(pair.tau_, poincare.max_radius(np.float64) / 2)
    assert_allclose(pair.distances(), [[0, 2], [2, 0]], rtol=1e-2)
    apart = TreeEmbedding(3).fit(np.zeros((4, 4)))
    assert_array_equal(apart.roots_, np.arange(4))
    assert apart.distances()[~np.eye(4, dtype=bool)].min() > 1


@pytest.mark.parametrize("n_components", [2, 3, 10])
def test_paths_are_straight(n_components):
    path = edges_of(np.arange(21) - 1)
    tree = TreeEmbedding(n_components).fit(path)
    gaps = abs(np.arange(21)[:, None] - np.arange(21))
    assert_allclose(tree.distances(), gaps, atol=0.05)
    assert_array_equal(tree.roots_, [10])


@pytest.mark.parametrize("n_components", [2, 4])
def test_forests_stand_around_the_origin(n_components):
    parents = np.array([-1, 0, 0, 2, -1, 4, 4, -1])
    tree = TreeEmbedding(n_components, root=3).fit(edges_of(parents))
    assert_array_equal(tree.roots_, [3, 4, 7])
    radii = 2 * np.arctanh(np.linalg.norm(tree.embedding_[tree.roots_], axis=1))
    assert_allclose(radii, tree.tau_)
    below = np.flatnonzero(tree.parents_ >= 0)
    edges = tree.distances(below)[np.arange(len(below)), tree.parents_[below]]
    assert_allclose(edges, 1, rtol=0.05)
    apart = tree.distances()[np.ix_([0, 1, 2, 3], [4, 5, 6])]
    assert apart.min() > 1


def test_a_cycle_is_cut_with_a_warning():
    cycle = np.roll(np.eye(4), 1, axis=1)
    with pytest.warns(
        DataConversionWarning, match="1 of 4 edges close circles"
    ) as seen:
        tree = TreeEmbedding(5).fit(cycle)
    assert "Pass skrep.graph.spanning_forest(X) to agree" in str(seen[0].message)
    found = distortion(tree.embedding_, cycle, scale=tree.tau_)
    assert_allclose(tree.distortion_, (found.average, found.worst))
    # Two nodes that were neighbors are three edges apart now.
    assert 2.5 < tree.distortion_.worst < 3.5


def test_the_distortion_is_that_of_the_metric():
    """A star whose leaves are joined in a ring: all distances but edges are off."""
    wheel = star(12).toarray()
    wheel[np.arange(1, 13), np.roll(np.arange(1, 13), 1)] = 1.9
    with pytest.warns(DataConversionWarning, match="12 of 24 edges"):
        tree = TreeEmbedding(3, tau=2.0).fit(wheel)
    found = distortion(tree.embedding_, wheel, scale=tree.tau_)
    assert_allclose(tree.distortion_, (found.average, found.worst))


def test_the_distortion_of_a_large_graph_is_sampled():
    rng = np.random.default_rng(0)
    matrix = edges_of(random_parents(1200, 0), rng.uniform(1, 2, 1200)).tolil()
    matrix[1199, 3] = 1.5
    matrix = matrix.tocsr()
    with pytest.warns(DataConversionWarning, match="1 of 1200 edges"):
        tree = TreeEmbedding().fit(matrix)
    whole = distortion(tree.embedding_, matrix, scale=tree.tau_)
    assert_allclose(tree.distortion_.average, whole.average, rtol=0.02)
    assert 1 < tree.distortion_.worst <= whole.worst + 1e-9


def test_one_dimension_is_for_paths():
    path = edges_of([-1, 0, 1, 0])
    tree = TreeEmbedding(1).fit(path)
    assert_allclose(
        np.diff(np.sort(np.arctanh(tree.embedding_.ravel()))), tree.tau_ / 2
    )
    with pytest.warns(DataConversionWarning, match="Pass n_components=2 or more"):
        TreeEmbedding(1).fit(star(4))


def test_the_scale_is_the_largest_or_the_one_given():
    matrix = edges_of(np.arange(9) - 1)
    largest = TreeEmbedding(4).fit(matrix).tau_
    assert_allclose(largest, poincare.max_radius(np.float64) / 4)
    tree = TreeEmbedding(4, tau=2.5).fit(matrix)
    assert tree.tau_ == 2.5
    edge = poincare.distance(tree.embedding_[0], tree.embedding_[1])
    assert_allclose(edge, 2.5, rtol=1e-6)
    TreeEmbedding(4, tau=largest).fit(matrix)


def test_pickles_hold_no_square_matrix():
    tree = TreeEmbedding(3).fit(edges_of(random_parents(2000, 0)))
    assert len(pickle.dumps(tree)) < 2000 * 3 * 8 * 6


# --- input ------------------------------------------------------------------------


def test_a_scale_beyond_the_limit_is_refused():
    matrix = edges_of(np.arange(9) - 1)
    with pytest.raises(ValueError, match=r'tau="auto", or at most tau=9\.01') as error:
        TreeEmbedding(4, tau=9.1).fit(matrix)
    assert "takes the farthest node to radius 36.4" in str(error.value)
    TreeEmbedding(4, tau=9.01).fit(matrix)
    with pytest.raises(
        ValueError, match=r'"auto", or exact=True, or at most tau=9\.01'
    ):
        TreeEmbedding(2, tau=9.1).fit(matrix)
    with pytest.raises(ValueError, match=r"hold 15\.94"):
        TreeEmbedding(4, tau=9.0).fit(matrix.astype(np.float32))


@pytest.mark.parametrize("value", [0, -1, 2.5, True, None, "many"])
def test_dimensions_are_whole(value):
    with pytest.raises(ValueError, match=r"'n_components' is .* Pass n_components="):
        TreeEmbedding(value).fit(star(3))


def test_exact_trees_lie_in_the_plane():
    with pytest.raises(ValueError, match=r"2 with exact=True. Pass n_components=2"):
        TreeEmbedding(3, exact=True).fit(star(3))


def test_bad_lengths_are_refused_by_name():
    matrix = star(3).toarray()
    with pytest.raises(ValueError, match=r"'X' has shape \(3, 4\).*must be square"):
        TreeEmbedding().fit(matrix[1:])
    for value, remedy in (
        (np.nan, r"'X' contains NaN, first in row 2, column 0\. Pass .*nan_to_num\("),
        (np.inf, r"'X' contains infinity, first in row 2, column 0\. .*nan_to_num\("),
        (-2.0, r".*'X' is -2 in row 2, column 0\..*must be positive\. Pass abs\(X\)"),
    ):
        bad = matrix.copy()
        bad[2, 0] = value
        for X in (bad, sp.csr_array(bad)):
            with pytest.raises(ValueError, match=rf"TreeEmbedding: {remedy}"):
                TreeEmbedding().fit(X)
    with pytest.raises(ValueError, match="Divide all lengths by one number first"):
        TreeEmbedding().fit(edges_of(np.arange(9) - 1) * 1e308)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_remedies_for_lengths_that_are_not_finite_work(value):
    matrix = star(3).toarray()
    matrix[2, 3] = value
    expected = TreeEmbedding(3).fit_transform(star(3))
    X = np.nan_to_num(matrix, posinf=0)
    assert_array_equal(TreeEmbedding(3).fit_transform(X), expected)
    X = sp.csr_array(matrix)
    with pytest.raises(ValueError, match=r"X\.data = .*posinf=0\); X\.eliminate_zer"):
        TreeEmbedding(3).fit(X)
    X.data = np.nan_to_num(X.data, posinf=0)
    X.eliminate_zeros()
    assert_array_equal(TreeEmbedding(3).fit_transform(X), expected)


def test_of_two_lengths_the_shorter_counts_with_a_warning():
    matrix = star(3).toarray()
    matrix[0, 2] = 3
    for X in (matrix, sp.csr_array(matrix)):
        message = r"two lengths for 1 edges, .* 3 in row 0, column 2 and 1 in row 2,"
        with pytest.warns(DataConversionWarning, match=message) as seen:
            found = TreeEmbedding(3).fit_transform(X)
        assert "undirected_edges(X) to agree" in str(seen[0].message)
        assert_array_equal(found, TreeEmbedding(3).fit_transform(star(3)))
        TreeEmbedding(3).fit(undirected_edges(X))
    matrix[0, 2] = 1 + 1e-12
    TreeEmbedding(3).fit(matrix)


DEEP = [
    (edges_of(np.arange(501) - 1), 2, "2 of 500 edges"),
    (edges_of(np.arange(501) - 1).astype(np.float32), 10, "of 500 edges .* float32"),
    (np.diag([1, 1e6, 1.0], k=1), 3, "1 of 3 edges"),
]


@pytest.mark.parametrize(("path", "n_components", "told"), DEEP)
def test_neighbors_in_one_place_are_told_with_remedies_that_work(
    path, n_components, told
):
    message = rf"{told} .*n_components=2 and exact=True.* or tau=[\d.e-]+, at which"
    with pytest.warns(DataConversionWarning, match=message) as seen:
        tree = TreeEmbedding(n_components).fit(path)
    assert len(seen) == 1
    text = str(seen[0].message)
    one, other = map(int, re.search(r"node (\d+) and node (\d+) have", text).groups())
    assert_array_equal(tree.embedding_[one], tree.embedding_[other])
    tau = float(re.search(r"or tau=([\d.e-]+),", text)[1])
    smaller = TreeEmbedding(n_components, tau=tau).fit(path)
    assert distortion(smaller.embedding_, path, scale=tau).worst < 1.1
    exact = TreeEmbedding(2, exact=True).fit(path)
    assert distortion(exact.distances(), path, metric="precomputed").worst < 1.01


def test_where_no_scale_tells_all_edges_none_is_named():
    path = np.diag([1e-9, 1e9, 1.0], k=1)
    with pytest.warns(DataConversionWarning, match=r"distances\(\) that are right\.$"):
        TreeEmbedding(3).fit(path)


def test_stored_zeros_are_refused_and_padding_is_not():
    matrix = sp.csr_array(star(3))
    matrix.data[1] = 0
    with pytest.raises(ValueError, match=r"first in row 2, column 0.*eliminate_zeros"):
        TreeEmbedding().fit(matrix)
    padded = TreeEmbedding(3).fit(star(3).tobsr(blocksize=(2, 2)))
    assert_array_equal(padded.embedding_, TreeEmbedding(3).fit_transform(star(3)))


def test_loops_are_dropped_with_a_warning():
    matrix = star(3).toarray()
    matrix[[0, 2], [0, 2]] = 4
    with pytest.warns(DataConversionWarning, match="joins 2 nodes to themselves"):
        found = TreeEmbedding(3).fit_transform(matrix)
    assert_array_equal(found, TreeEmbedding(3).fit_transform(star(3)))


def test_roots_and_rows_are_nodes():
    with pytest.raises(ValueError, match=r'from 0 to 3, or "center"'):
        TreeEmbedding(root=4).fit(star(3))
    tree = TreeEmbedding(3, root=2).fit(star(3))
    assert_array_equal(tree.roots_, [2])
    assert_array_equal(tree.embedding_[2], np.zeros(3))
    with pytest.raises(ValueError, match="'rows' holds 4 and type int64"):
        tree.distances(np.arange(5))
    for rows in ([4], [-1], [0.5], [], 2):
        with pytest.raises(ValueError, match=re.escape("Pass rows=[0], say")):
            tree.distances(rows)
    with pytest.raises(NotFittedError):
        TreeEmbedding().distances()


# --- invariance -------------------------------------------------------------------


def test_claims():
    matrix = edges_of(random_parents(20, 4), np.random.default_rng(0).uniform(1, 2, 20))
    for estimator in (TreeEmbedding(), TreeEmbedding(2), TreeEmbedding(tau=0.5)):
        for claim in estimator.invariances():
            report = check_invariance(estimator, claim, matrix.toarray())
            assert report.holds, report
    scaled = Claim("positive_scaling")
    assert not check_invariance(TreeEmbedding(tau=0.1), scaled, matrix.toarray()).holds
    assert TreeEmbedding(tau=0.5).invariances() == ()
    moved = [c for c in unclaimed(TreeEmbedding(3)) if c.group == "tree_relabelling"]
    assert moved
    for claim in moved:
        report = check_invariance(TreeEmbedding(3), claim, matrix.toarray())
        assert not report.holds, report


def test_a_large_graph_with_a_circle_and_nodes_without_edges():
    E = sp.lil_array((3000, 3000))
    E[1, 2] = E[2, 4] = E[1, 4] = 1
    with pytest.warns(DataConversionWarning, match="to agree"):
        tree = TreeEmbedding(2).fit(E.tocsr())
    assert tree.distortion_.worst > 1


def test_repeated_entries_are_summed():
    twice = sp.csr_array(([1.0, 2.0], [1, 1], [0, 2, 2]), shape=(2, 2))
    tree = TreeEmbedding(2).fit(twice)
    assert tree.lengths_.max() == 3
    assert twice.nnz == 2


def test_another_fit_forgets_what_was_exact():
    edges = edges_of([-1, 0, 0, 1])
    tree = TreeEmbedding(2, exact=True).fit(edges)
    tree.set_params(exact=False)
    exact = tree.distances()
    assert_allclose(exact, TreeEmbedding(2, exact=True).fit(edges).distances())
    tree.fit(edges)
    assert not hasattr(tree, "radius_")
    assert not hasattr(tree, "angle_")
    assert not hasattr(tree, "n_bits_")
    plain = tree.distances()
    assert_array_equal(tree.set_params(exact=True).distances(), plain)


def test_the_output_is_no_part_of_the_model():
    tree = TreeEmbedding(2)
    points = tree.fit_transform(edges_of([-1, 0, 0, 1]))
    before = tree.distances()
    points *= 0
    assert_array_equal(tree.distances(), before)


def test_the_tag_of_types_is_true():
    kept = get_tags(TreeEmbedding()).transformer_tags.preserves_dtype
    assert kept == ["float64", "float32"]
