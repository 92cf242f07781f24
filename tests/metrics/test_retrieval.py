"""The retrieval score against second implementations, and its laws."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.metrics import label_ranking_average_precision_score
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances

from skrep.metrics import _retrieval, mean_reciprocal_rank

METRICS = ("cosine", "euclidean")
metrics = st.sampled_from(METRICS)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def integer_pairs(draw):
    """Two integer spaces of one shape: exact arithmetic, many ties, zero rows."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 4)))
    entries = arrays(np.int64, shape, elements=st.integers(-3, 3))
    return draw(entries), draw(entries)


def exact_score(q, t, metric):
    """A rational number that sorts targets as the metric does, for one query."""
    if metric == "euclidean":
        return -sum((int(a) - int(b)) ** 2 for a, b in zip(q, t, strict=True))
    product = sum(int(a) * int(b) for a, b in zip(q, t, strict=True))
    square = sum(int(b) ** 2 for b in t)
    # The query's length is common; x -> x|x| keeps the order and is rational.
    return Fraction(product * abs(product), square) if square else Fraction(0)


def exact_mrr(queries, targets, metric):
    total = Fraction(0)
    for i, q in enumerate(queries):
        scores = [exact_score(q, t, metric) for t in targets]
        better = sum(s > scores[i] for s in scores)
        tied = sum(s == scores[i] for s in scores)
        places = range(better + 1, better + tied + 1)
        total += 1 / Fraction(sum(places), tied)
    return float(total / len(queries))


def spaces(seed, n_samples=30, n_features=5, noise=0.7):
    rng = np.random.default_rng(seed)
    targets = rng.standard_normal((n_samples, n_features)) + 0.5
    return targets + noise * rng.standard_normal(targets.shape), targets


@given(pair=integer_pairs(), metric=metrics)
@settings(deadline=None)
def test_equals_exact_arithmetic_with_ties_and_zero_rows(pair, metric):
    found = mean_reciprocal_rank(*pair, metric=metric)
    assert_allclose(found, exact_mrr(*pair, metric), rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("columns", [1, 7, 1024])
def test_equals_label_ranking_precision_whatever_the_tiles(
    metric, columns, monkeypatch
):
    queries, targets = spaces(0, n_samples=100, n_features=20, noise=2.0)
    similarity = (
        cosine_similarity(queries, targets)
        if metric == "cosine"
        else -euclidean_distances(queries, targets)
    )
    expected = label_ranking_average_precision_score(np.eye(100, dtype=int), similarity)
    monkeypatch.setattr(_retrieval, "COLUMNS", columns)
    found = mean_reciprocal_rank(queries, targets, metric=metric)
    assert 0.1 < found < 0.9
    assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_many_row_blocks_equal_one(metric, monkeypatch):
    queries, targets = spaces(1, n_samples=101)
    whole = mean_reciprocal_rank(queries, targets, metric=metric)

    def small_blocks(n_rows, row_bytes, *, budget=None):
        return [slice(start, start + 13) for start in range(0, n_rows, 13)]

    monkeypatch.setattr(_retrieval, "row_blocks", small_blocks)
    assert_allclose(mean_reciprocal_rank(queries, targets, metric=metric), whole)


@given(seed=seeds, metric=metrics, n_samples=st.integers(1, 40))
@settings(deadline=None)
def test_identical_spaces_score_one(seed, metric, n_samples):
    _, targets = spaces(seed, n_samples)
    assert mean_reciprocal_rank(targets, targets, metric=metric) == 1.0


@given(pair=integer_pairs(), metric=metrics, seed=seeds)
@settings(deadline=None)
def test_permuting_both_spaces_alike_changes_nothing(pair, metric, seed):
    queries, targets = pair
    order = np.random.default_rng(seed).permutation(len(queries))
    assert_allclose(
        mean_reciprocal_rank(queries[order], targets[order], metric=metric),
        mean_reciprocal_rank(queries, targets, metric=metric),
        rtol=1e-12,
    )


@given(pair=integer_pairs(), metric=metrics)
@settings(deadline=None)
def test_range(pair, metric):
    n_samples = len(pair[0])
    score = mean_reciprocal_rank(*pair, metric=metric)
    assert 1 / n_samples <= score <= 1


@given(seed=seeds, metric=metrics)
@settings(deadline=None)
def test_a_common_rotation_changes_nothing(seed, metric):
    queries, targets = spaces(seed)
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((5, 5)))[0]
    assert_allclose(
        mean_reciprocal_rank(queries @ Q, targets @ Q, metric=metric),
        mean_reciprocal_rank(queries, targets, metric=metric),
    )


@given(seed=seeds)
@settings(deadline=None)
def test_cosine_ignores_lengths_and_distance_ignores_a_common_move(seed):
    queries, targets = spaces(seed)
    rng = np.random.default_rng(seed)
    lengths = rng.uniform(0.1, 10, (2, len(queries), 1))
    assert_allclose(
        mean_reciprocal_rank(lengths[0] * queries, lengths[1] * targets),
        mean_reciprocal_rank(queries, targets),
    )
    move = rng.uniform(-100, 100, 5)
    assert_allclose(
        mean_reciprocal_rank(queries + move, targets + move, metric="euclidean"),
        mean_reciprocal_rank(queries, targets, metric="euclidean"),
    )
