"""The overlap of nearest rows: values, laws, ties and errors."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.neighbors import NearestNeighbors

from skrep.metrics import _neighbors, neighbor_overlap
from skrep.metrics._neighbors import prefix_neighbors, space_of

METRICS = ("cosine", "euclidean")
seeds = st.integers(0, 2**32 - 1)
metrics = st.sampled_from(METRICS)


def pair(seed, n_rows=40, n_features=5, n_other=3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, n_features)) + 0.5
    return X, X[:, :n_other] + 0.3 * rng.standard_normal((n_rows, n_other))


def with_ties(seed, n_rows=14):
    """Rows on a coarse grid: duplicates, equal distances, zero rows."""
    return np.random.default_rng(seed).integers(-1, 2, (n_rows, 2)).astype(float)


def small_blocks(n_rows):
    return [slice(i, min(i + 7, n_rows)) for i in range(0, n_rows, 7)]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("n_neighbors", [1, 10, 39])
def test_equals_scikit_learn_without_ties(metric, n_neighbors):
    X, Z = pair(0)

    def lists(rows):
        index = NearestNeighbors(n_neighbors=n_neighbors, metric=metric).fit(rows)
        return index.kneighbors(return_distance=False)

    common = [
        len(set(a) & set(b)) / n_neighbors
        for a, b in zip(lists(X), lists(Z), strict=True)
    ]
    found = neighbor_overlap(X, Z, n_neighbors=n_neighbors, metric=metric)
    assert_allclose(found, np.mean(common), rtol=1e-12)
    assert (found < 1) == (n_neighbors < 39)


def naive_shares(scores, i, k):
    """Exact shares of the places around row i; scores are exact."""
    others = [j for j in range(len(scores)) if j != i]
    last = sorted((scores[j] for j in others), reverse=True)[k - 1]
    ahead = [j for j in others if scores[j] > last]
    equal = [j for j in others if scores[j] == last]
    shares = np.zeros(len(scores))
    shares[ahead] = 1
    shares[equal] = (k - len(ahead)) / len(equal)
    return shares


@given(seed=seeds, k=st.integers(1, 13))
def test_equally_near_rows_share_the_places(seed, k):
    X, Z = with_ties(seed), with_ties(seed + 1)

    def table(rows, i):
        return naive_shares(-np.sum((rows - rows[i]) ** 2, axis=1), i, k)

    common = [np.minimum(table(X, i), table(Z, i)).sum() for i in range(14)]
    found = neighbor_overlap(X, Z, n_neighbors=k, metric="euclidean")
    assert_allclose(found, np.mean(common) / k, rtol=1e-12)


@given(seed=seeds, metric=metrics, ties=st.booleans(), k=st.integers(1, 13))
def test_laws(seed, metric, ties, k):
    X, Z = (with_ties(seed), with_ties(seed + 1)) if ties else pair(seed, 14)
    options = {"n_neighbors": k, "metric": metric}
    found = neighbor_overlap(X, Z, **options)
    assert 0 <= found <= 1 + 1e-12
    assert_allclose(neighbor_overlap(X, X, **options), 1, rtol=1e-12)
    assert_allclose(neighbor_overlap(Z, X, **options), found, rtol=1e-12)
    order = np.random.default_rng(seed).permutation(14)
    moved = neighbor_overlap(X[order], Z[order], **options)
    assert_allclose(moved, found, rtol=1e-12)
    turned = (
        X @ np.linalg.qr(np.random.default_rng(seed).normal(size=2 * X.shape[1:]))[0]
    )
    assert_allclose(neighbor_overlap(3 * turned, Z, **options), found, rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_a_collapsed_space_has_no_more_than_chance_in_common(metric):
    X, Z = pair(1)[0], np.full((40, 9), 0.1)
    found = neighbor_overlap(X, Z, n_neighbors=5, metric=metric)
    assert_allclose(found, 5 / 39, rtol=1e-12)


def test_a_row_is_left_out_by_its_position_and_its_duplicate_stays():
    X = np.repeat(np.eye(3), 2, axis=0)
    Z = X[[0, 2, 4, 1, 3, 5]]
    assert neighbor_overlap(X, X, n_neighbors=1) == 1
    assert neighbor_overlap(X, Z, n_neighbors=1) == 0


@pytest.mark.parametrize("scale", [1e-150, 1e150])
@pytest.mark.parametrize("metric", METRICS)
def test_extreme_ranges(metric, scale):
    X, Z = pair(2)
    expected = neighbor_overlap(X, Z, metric=metric)
    assert_allclose(neighbor_overlap(scale * X, Z, metric=metric), expected)


def test_distance_ignores_a_common_move_and_keeps_its_digits():
    X, Z = pair(3)
    expected = neighbor_overlap(X, Z, metric="euclidean")
    assert_allclose(neighbor_overlap(X + 1e6, Z, metric="euclidean"), expected)
    X[0] = 1e9
    assert neighbor_overlap(X, X + 0, metric="euclidean") == 1


@pytest.mark.parametrize("form", [sp.csr_array, sp.csr_matrix])
def test_sparse_equals_dense(form):
    X, Z = pair(4)
    X[X < 0] = 0
    # A row without entries, and one of stored zeros.
    X[8] = 0
    sparse = form(X)
    X[7] = 0
    sparse.data[sparse.indptr[7] : sparse.indptr[8]] = 0
    expected = neighbor_overlap(X, Z)
    assert_allclose(neighbor_overlap(sparse, Z), expected, rtol=1e-12)
    assert_allclose(neighbor_overlap(Z, sparse), expected, rtol=1e-12)
    assert (sparse.toarray() == X).all()
    with pytest.raises(TypeError, match=r"Use '\.toarray\(\)'"):
        neighbor_overlap(sparse, Z, metric="euclidean")


@given(seed=seeds, ties=st.booleans())
def test_prefixes_at_once_equal_each_alone(seed, ties):
    rows = with_ties(seed, 20) if ties else pair(seed, 20)[0]
    lengths = np.arange(1, rows.shape[1] + 1)
    for block in small_blocks(20):
        found = prefix_neighbors(rows, lengths, block, 4)
        for n, near in zip(lengths, found, strict=True):
            alone = space_of(rows[:, :n], "cosine").nearest(block, 4)
            assert_allclose(near.table(20), alone.table(20), rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_blocks_change_nothing_and_hold_no_square(metric, monkeypatch):
    X, Z = pair(5, n_rows=2000)
    whole = neighbor_overlap(X, Z, metric=metric)
    monkeypatch.setattr(_neighbors, "BLOCK_BYTES", 2**20)
    tracemalloc.start()
    blocked = neighbor_overlap(X, Z, metric=metric)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert_allclose(blocked, whole, rtol=1e-12)
    assert peak < 2000 * 2000 * 8 / 6


def test_types_and_untouched_inputs():
    X, Z = (np.round(4 * rows) for rows in pair(6))
    expected = neighbor_overlap(X, Z)
    for dtype in (np.float16, np.float32, np.int64):
        typed = X.astype(dtype), Z.astype(dtype)
        for rows in typed:
            rows.flags.writeable = False
        assert neighbor_overlap(*typed) == expected


def test_errors_name_parameter_rule_and_remedy():
    X, Z = pair(7)
    for n_neighbors in (40, 100):
        rule = f"'n_neighbors' is {n_neighbors} and there are 40.*n_neighbors=39"
        with pytest.raises(ValueError, match=rule):
            neighbor_overlap(X, Z, n_neighbors=n_neighbors)
    for bad in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match=r"'n_neighbors' is .*Pass n_neighbors=10"):
            neighbor_overlap(X, Z, n_neighbors=bad)
    with pytest.raises(ValueError, match=r"'Z' has 30.*same rows of both"):
        neighbor_overlap(X, Z[:30])
    with pytest.raises(ValueError, match="'metric' parameter of neighbor_overlap"):
        neighbor_overlap(X, Z, metric="manhattan")
    Z[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"Input Z contains infinity.*Drop such rows"):
        neighbor_overlap(X, Z)
