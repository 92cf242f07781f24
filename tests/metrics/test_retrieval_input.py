"""Ties, ranges, types, weights and errors of the retrieval score."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from skrep.metrics import _retrieval, mean_reciprocal_rank

METRICS = ("cosine", "euclidean")


def spaces(seed, n_samples=30, n_features=5, noise=0.7):
    rng = np.random.default_rng(seed)
    targets = rng.standard_normal((n_samples, n_features)) + 0.5
    return targets + noise * rng.standard_normal(targets.shape), targets


@pytest.mark.parametrize("metric", METRICS)
def test_a_collapsed_space_is_all_ties(metric):
    # 384 columns that are not exact in binary: equal rows must tie after rounding.
    queries, row = spaces(0, n_samples=50, n_features=384)[0], np.full((1, 384), 0.1)
    targets = np.repeat(row, 50, axis=0)
    assert_allclose(mean_reciprocal_rank(queries, targets, metric=metric), 2 / 51)
    # Multiples of one row have one cosine, to rounding.
    scaled = targets * np.linspace(0.3, 3, 50)[:, None]
    assert_allclose(mean_reciprocal_rank(queries, scaled), 2 / 51)


def test_zero_rows():
    targets = np.eye(3)
    queries = targets.copy()
    queries[0] = 0
    assert_allclose(mean_reciprocal_rank(queries, targets), (1 / 2 + 1 + 1) / 3)
    assert_allclose(mean_reciprocal_rank(0 * queries, 0 * targets), 1 / 2)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_extreme_ranges(metric, scale):
    queries, targets = spaces(2)
    assert_allclose(
        mean_reciprocal_rank(scale * queries, scale * targets, metric=metric),
        mean_reciprocal_rank(queries, targets, metric=metric),
    )


def test_one_far_row_leaves_the_others_their_digits():
    queries, targets = spaces(3, noise=1e-4)
    targets[0] = queries[0] = 1e9
    assert mean_reciprocal_rank(queries, targets, metric="euclidean") == 1.0


@pytest.mark.parametrize("metric", METRICS)
def test_weights_weigh_the_queries(metric):
    queries, targets = spaces(4, n_samples=6, noise=2.0)
    ranks = _retrieval.counterpart_ranks(queries, targets, metric)
    assert len(set(ranks)) > 1
    weights = [0, 1, 2, 3, 0, 1]
    repeated = np.repeat(1 / ranks, weights)
    found = mean_reciprocal_rank(queries, targets, metric=metric, sample_weight=weights)
    assert_allclose(found, repeated.mean())


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int64])
def test_other_types_and_read_only_input(dtype):
    pair = [np.round(4 * rows).astype(dtype) for rows in spaces(5)]
    for rows in pair:
        rows.flags.writeable = False
    wide = [rows.astype(np.float64) for rows in pair]
    assert mean_reciprocal_rank(*pair) == mean_reciprocal_rank(*wide)
    assert mean_reciprocal_rank(*[rows.tolist() for rows in pair]) == (
        mean_reciprocal_rank(*wide)
    )


def test_inputs_are_not_written_to():
    pair = spaces(6)
    copies = [rows.copy() for rows in pair]
    for metric in METRICS:
        mean_reciprocal_rank(*pair, metric=metric)
    for rows, copy in zip(pair, copies, strict=True):
        assert (rows == copy).all()


@pytest.mark.parametrize("metric", METRICS)
def test_no_square_matrix_is_held(metric):
    queries, targets = spaces(7, n_samples=3000)
    tracemalloc.start()
    mean_reciprocal_rank(queries, targets, metric=metric)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3000 * 3000 * 8 / 6


def test_errors_name_parameter_rule_and_remedy():
    queries, targets = spaces(8)
    with pytest.raises(ValueError, match=r"'queries' has shape \(30, 5\).*same rows"):
        mean_reciprocal_rank(queries, targets[:7])
    with pytest.raises(ValueError, match="map one space into the other first"):
        mean_reciprocal_rank(queries, targets[:, :3])
    with pytest.raises(ValueError, match="'metric' parameter of mean_reciprocal_rank"):
        mean_reciprocal_rank(queries, targets, metric="manhattan")
    with pytest.raises(ValueError, match=r"pass an array of shape \(30,\)"):
        mean_reciprocal_rank(queries, targets, sample_weight=[1.0])
    for weights in (np.full(30, -1.0), np.zeros(30)):
        with pytest.raises(ValueError, match="Pass sample_weight=None"):
            mean_reciprocal_rank(queries, targets, sample_weight=weights)
    targets[3, 2] = np.nan
    with pytest.raises(ValueError, match="Input targets contains NaN"):
        mean_reciprocal_rank(queries, targets)
    with pytest.raises(ValueError, match="required by mean_reciprocal_rank"):
        mean_reciprocal_rank(queries[:0], targets[:0])
