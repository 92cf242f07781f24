"""Nearest rows in blocks against whole matrices."""

import numpy as np

from skrep.nested._neighbors import _largest, draw_sample, mutual_nearest


def test_mutual_nearest_rows_in_several_blocks():
    rng = np.random.default_rng(0)
    X, queries = rng.standard_normal((9000, 3)), rng.standard_normal((700, 3))
    rows, found = mutual_nearest(X, queries, X.mean(axis=0), queries.mean(axis=0))
    units = [(side - side.mean(axis=0)).astype(np.float64) for side in (X, queries)]
    units = [u / np.linalg.norm(u, axis=1, keepdims=True) for u in units]
    scores = units[1] @ units[0].T
    expected = [
        (row, query)
        for query, row in enumerate(scores.argmax(axis=1))
        if scores[:, row].argmax() == query
    ]
    # Scores are single: a few nearest rows may change places.
    both = set(expected) & set(zip(rows.tolist(), found.tolist(), strict=True))
    assert len(both) > 0.99 * max(len(expected), len(rows))


def test_largest_scores_by_groups():
    scores = np.random.default_rng(1).standard_normal((40, 160)).astype(np.float32)
    for k in (1, 5, 9, 12, 160):
        expected = np.argsort(-scores, axis=1)[:, :k]
        np.testing.assert_array_equal(_largest(scores, k), expected)


def test_samples():
    np.testing.assert_array_equal(draw_sample(5, 5, None), np.arange(5))
    drawn = draw_sample(50, 20, 0)
    assert len(set(drawn)) == 20
    np.testing.assert_array_equal(drawn, np.sort(drawn))
    np.testing.assert_array_equal(drawn, draw_sample(50, 20, 0))
