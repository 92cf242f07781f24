import time

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from skrep.graph import primary_parents, transitive_closure
from tests.strategies import seeds


def random_relations(n, seed, density=0.3):
    """Relations without cycles, their nodes in random order."""
    rng = np.random.default_rng(seed)
    dense = np.tril(rng.random((n, n)) < density, -1) * rng.uniform(0.5, 2, (n, n))
    order = rng.permutation(n)
    return dense[np.ix_(order, order)]


@given(n=st.integers(1, 14), seed=seeds)
def test_closure_is_that_of_networkx(n, seed):
    dense = random_relations(n, seed)
    given_array = sp.csr_array(dense)
    given_array.indices = given_array.indices.astype(np.int64)
    given_array.indptr = given_array.indptr.astype(np.int64)
    closed = transitive_closure(given_array)
    graph = nx.transitive_closure_dag(nx.DiGraph(dense))
    assert_array_equal(
        closed.toarray(), nx.to_numpy_array(graph, nodelist=range(n), weight=None)
    )
    assert closed.has_sorted_indices
    assert closed.dtype == np.float64
    assert closed.indices.dtype == np.int32
    assert_array_equal(given_array.toarray(), dense)
    assert_array_equal(transitive_closure(closed).toarray(), closed.toarray())


@given(n=st.integers(1, 12), seed=seeds)
def test_closure_and_parents_follow_a_relabelling(n, seed):
    dense = random_relations(n, seed)
    order = np.random.default_rng(seed).permutation(n)
    closed = transitive_closure(sp.csr_array(dense)).toarray()
    turned = transitive_closure(sp.csr_array(dense[np.ix_(order, order)])).toarray()
    assert_array_equal(turned, closed[np.ix_(order, order)])


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.coo_array, np.array])
def test_containers_loops_and_zeros(kind):
    dense = np.array([[5, 1, 0], [0, 0, 2], [0, 0, 1]])
    closed = transitive_closure(kind(dense))
    assert_array_equal(closed.toarray(), [[0, 1, 1], [0, 0, 1], [0, 0, 0]])
    stored = sp.csr_array(dense)
    stored.data[stored.data == 1] = 0
    assert_array_equal(
        transitive_closure(stored).toarray(), [[0, 0, 0], [0, 0, 1], [0, 0, 0]]
    )


def test_cycles_are_refused():
    dense = np.zeros((5, 5))
    dense[[4, 3, 1, 2], [3, 1, 2, 3]] = 1
    with pytest.raises(ValueError, match=r"nodes 1 and 2.*set relations\[1, 2\] = 0"):
        transitive_closure(sp.csr_array(dense))


@given(n=st.integers(1, 14), seed=seeds)
def test_primary_parents_are_those_of_a_loop(n, seed):
    dense = random_relations(n, seed, density=0.4)
    np.fill_diagonal(dense, 1)
    off = (dense > 0) & ~np.eye(n, dtype=bool)
    expected = []
    for node in range(n):
        candidates = np.flatnonzero(off[node])
        counts = off.sum(axis=1)[candidates]
        expected.append(candidates[np.argmax(counts)] if len(candidates) else -1)
    found = primary_parents(sp.csr_array(dense))
    assert_array_equal(found, expected)
    assert found.dtype == np.int64


@given(n=st.integers(1, 30), seed=seeds)
def test_the_closure_of_a_tree_gives_the_tree_back(n, seed):
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *(rng.integers(0, i) for i in range(1, n))])
    children = np.flatnonzero(parents >= 0)
    shape = n, n
    direct = sp.csr_array((np.ones(n - 1), (children, parents[children])), shape=shape)
    assert_array_equal(primary_parents(direct), parents)
    assert_array_equal(primary_parents(transitive_closure(direct)), parents)


def test_a_long_chain():
    n = 1200
    chain = sp.csr_array(sp.diags_array(np.ones(n - 1), offsets=1))
    closed = transitive_closure(chain)
    assert closed.nnz == n * (n - 1) // 2
    assert_array_equal(closed[[0]].toarray()[0], np.r_[0, np.ones(n - 1)])


def test_a_pair_is_reached_once_whatever_the_number_of_ways():
    n = 1_000
    whole = sp.csr_array(np.tri(n, k=-1))
    begun = time.process_time()
    closed = transitive_closure(whole)
    # Products of matrices take n times as long as the pairs: minutes.
    assert time.process_time() - begun < 20
    assert closed.nnz == n * (n - 1) // 2
