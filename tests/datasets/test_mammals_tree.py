"""Facts of the bundled hypernym tree that need the shipped file alone."""

from collections import defaultdict

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import coo_array
from scipy.sparse.csgraph import shortest_path

from skrep.datasets import load_mammals


@pytest.fixture(scope="module")
def mammals():
    return load_mammals()


@pytest.fixture(scope="module")
def parents(mammals):
    found = defaultdict(list)
    for child, parent in mammals.edges.tolist():
        found[child].append(parent)
    return found


@pytest.fixture(scope="module")
def ancestors(mammals, parents):
    """Strict ancestors of every row, by walking up."""

    def walk(row):
        seen, waiting = set(), list(parents[row])
        while waiting:
            node = waiting.pop()
            if node not in seen:
                seen.add(node)
                waiting += parents[node]
        return seen

    return [walk(row) for row in range(len(mammals.names))]


def row_of(mammals, name):
    return int(np.flatnonzero(mammals.names == name)[0])


def test_edges_form_one_rooted_acyclic_graph(mammals, parents):
    assert mammals.edges.shape == (1170, 2)
    assert len(set(map(tuple, mammals.edges.tolist()))) == 1170
    assert [mammals.names[i] for i in range(1170) if not parents[i]] == ["mammal.n.01"]
    two = [mammals.names[i] for i in range(1170) if len(parents[i]) > 1]
    assert two == ["elephant.n.01"]
    # Kahn: leaves are taken away until nothing is left; a cycle would stay.
    waiting_for = np.bincount(mammals.edges[:, 1], minlength=1170)
    ready, taken = list(np.flatnonzero(waiting_for == 0)), 0
    while ready:
        taken += 1
        for parent in parents[ready.pop()]:
            waiting_for[parent] -= 1
            if waiting_for[parent] == 0:
                ready.append(parent)
    assert taken == 1170


def test_closure_has_6448_pairs(mammals, ancestors):
    assert sum(map(len, ancestors)) == 6448
    # Again by matrices: reachable in any number of steps.
    child, parent = mammals.edges.T
    steps = np.zeros((1170, 1170), dtype=np.float32)
    steps[child, parent] = 1
    reach = steps
    while True:
        wider = np.minimum(steps + steps @ reach, 1)
        if (wider == reach).all():
            break
        reach = wider
    assert np.count_nonzero(reach) == 6448


def test_depth_is_shortest_and_longest_path_to_the_root(mammals, parents):
    child, parent = mammals.edges.T
    graph = coo_array((np.ones(1170), (parent, child)), shape=(1170, 1170)).tocsr()
    root = row_of(mammals, "mammal.n.01")
    assert_array_equal(
        shortest_path(graph, unweighted=True, indices=root), mammals.depth
    )

    def longest(row):
        return 1 + max(map(longest, parents[row])) if parents[row] else 0

    assert_array_equal([longest(row) for row in range(1170)], mammals.depth)


def test_order_is_the_node_below_placental_or_the_root(mammals, parents, ancestors):
    root, placental = (
        row_of(mammals, name) for name in ("mammal.n.01", "placental.n.01")
    )
    for row in range(1170):
        chain = ancestors[row] | {row}
        tops = [node for node in chain if placental in parents[node]]
        tops = tops or [node for node in chain if root in parents[node]] or [root]
        allowed = {mammals.names[node].partition(".")[0] for node in tops}
        assert mammals.target_names[mammals.target[row]] in allowed
