"""Length of the shortest tree."""

import numpy as np
import pytest
from hypothesis import given
from numpy.testing import assert_allclose
from scipy.stats import ortho_group

from skrep.metrics import spanning_tree_length
from tests.strategies import matrices


def grown(X):
    """Prim's way, with a table of all distances."""
    gaps = np.linalg.norm(X[:, None] - X[None], axis=2)
    inside, length = [0], 0.0
    while len(inside) < len(X):
        outside = [i for i in range(len(X)) if i not in inside]
        part = gaps[np.ix_(inside, outside)]
        length += part.min()
        inside.append(outside[int(part.min(axis=0).argmin())])
    return length


@given(X=matrices(min_rows=1))
def test_agrees_with_a_table_of_all_distances(X):
    assert_allclose(spanning_tree_length(X), grown(X), rtol=1e-9)


@given(X=matrices())
def test_copies_and_order_do_not_count(X):
    length = spanning_tree_length(X)
    assert_allclose(spanning_tree_length(np.vstack([X, X[::-1]])), length, rtol=1e-12)


def test_two_groups_of_copies_are_one_edge():
    X = np.repeat([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]], 10, axis=0)
    assert_allclose(spanning_tree_length(X), np.sqrt(3))
    assert_allclose(spanning_tree_length(X * 1e-9), np.sqrt(3) * 1e-9)


@given(X=matrices())
def test_moves_keep_it_and_scale_multiplies_it(X):
    Q = np.atleast_2d(ortho_group.rvs(X.shape[1], random_state=0))
    length = spanning_tree_length(X)
    assert_allclose(spanning_tree_length(X @ Q + 2), length, rtol=1e-9)
    for scale in (1e-200, 1e200):
        assert_allclose(spanning_tree_length(X * scale), length * scale, rtol=1e-9)


@pytest.mark.parametrize("m", [2, 3])
def test_growth_tells_the_dimension(m):
    rng = np.random.default_rng(0)
    few, many = (spanning_tree_length(rng.uniform(size=(n, m))) for n in (250, 2000))
    assert_allclose(np.log(many / few) / np.log(8), 1 - 1 / m, atol=0.03)


def test_single_row_and_bad_rows():
    assert spanning_tree_length([[1.0, 2.0]]) == 0
    with pytest.raises(ValueError, match="Drop such rows, or fill them in first"):
        spanning_tree_length([[np.nan], [1.0]])
    with pytest.raises(ValueError, match="Divide all rows by one number first"):
        spanning_tree_length([[-1.5e308], [1.5e308]])
