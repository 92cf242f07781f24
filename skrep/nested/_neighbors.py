"""Nearest rows by cosine, in blocks: what the neighbors of a row say about noise."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skrep.geometry import unit_rows
from skrep.linalg import moment_blocks
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks

STRIDES = 16
"""Columns of a group when the largest scores of a row are looked for."""

__all__ = ["draw_sample", "mutual_nearest", "neighbor_scatter", "second_moment"]


def neighbor_scatter(
    X: FloatArray,
    mean: FloatArray,
    weights: FloatArray,
    n_neighbors: int,
    anchors: IntArray,
) -> FloatArray:
    r"""Second moment of the differences between rows and their neighbors.

    .. math:: \sum_i \sum_{j \in N(i)} w_i \, (x_i - x_j)(x_i - x_j)^\top

    Neighbors are nearest by the cosine of centered rows. A row is no neighbor of its
    own, but its duplicates are; a row of weight 2 counts as two of them.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    mean : ndarray of shape (n_features,)
        The center.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    n_neighbors : int
        Size of N(i), in units of weight.
    anchors : ndarray of shape (n_anchors,)
        The rows i whose neighbors are looked for, among all rows.

    Returns
    -------
    ndarray of shape (n_features, n_features), float64
        The second moment, up to a factor.
    """
    n_rows = len(X)
    U = _centered_units(X, mean)
    k = _rows_needed(weights, n_neighbors)
    scatter = np.zeros((X.shape[1], X.shape[1]))
    for rows in row_blocks(len(anchors), 4 * n_rows, budget=2**23):
        own = anchors[rows]
        scores = U[own] @ U.T
        scores[:, n_rows:] = -np.inf
        scores[np.arange(len(own)), own] = -np.inf
        near = _largest(scores, k)
        share = _filled(weights[near], weights[own] - 1, n_neighbors)
        for j in np.flatnonzero(share.any(axis=0)):
            gaps = X[own] - X[near[:, j]].astype(np.float64)
            scatter += second_moment(gaps, weights[own] * share[:, j])
    return scatter


def _centered_units(X: FloatArray, mean: FloatArray) -> FloatArray:
    """Directions from the mean, and zero rows up to a multiple of `STRIDES`."""
    padded = -(-len(X) // STRIDES) * STRIDES
    U = np.zeros((padded, X.shape[1]), dtype=np.float32)
    for rows in row_blocks(len(X), 8 * X.shape[1]):
        U[rows] = unit_rows(X[rows] - mean)[0]
    return U


def _rows_needed(weights: FloatArray, n_neighbors: int) -> int:
    """How many other rows reach the wanted weight, however light they are."""
    reached = np.sort(weights)[: len(weights) - 1].cumsum()
    return min(len(reached), int(np.searchsorted(reached, n_neighbors)) + 1)


def _largest(scores: FloatArray, k: int) -> IntArray:
    """Columns of the k largest scores of every row, the largest first.

    Every column belongs to one of the groups ``j, j + g, j + 2 g, ...``. The k largest
    scores lie in the k groups of the largest maxima, and maxima cost a fraction of a
    partition of all columns.
    """
    n_groups = scores.shape[1] // STRIDES
    candidates = np.arange(scores.shape[1])[None]
    if k < n_groups:
        tops = scores.reshape(len(scores), STRIDES, n_groups).max(axis=1)
        groups = np.argpartition(tops, -k, axis=1)[:, -k:]
        candidates = groups[:, :, None] + n_groups * np.arange(STRIDES)
        candidates = candidates.reshape(len(scores), -1)
        scores = np.take_along_axis(scores, candidates, axis=1)
    order = np.argsort(-scores, axis=1)[:, :k]
    return np.take_along_axis(candidates, order, axis=1)


def _filled(capacity: FloatArray, copies: FloatArray, n_neighbors: int) -> FloatArray:
    """Fill the neighborhood from the nearest on; a row's own copies come first."""
    room = np.maximum(n_neighbors - np.maximum(copies, 0), 0)[:, None]
    before = np.cumsum(capacity, axis=1) - capacity
    return np.clip(room - before, 0, capacity)


def draw_sample(n_rows: int, largest: int, random_state: Any) -> IntArray:
    """Choose all rows, or as many as are allowed, at random.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    largest : int
        Largest number of rows to choose.
    random_state : int, RandomState instance or None
        Randomness of the draw; not touched when all rows serve.

    Returns
    -------
    ndarray of shape (n_chosen,)
        Ascending positions.
    """
    if n_rows <= largest:
        return np.arange(n_rows)
    rng = check_random_state(random_state)
    return np.sort(rng.choice(n_rows, largest, replace=False))


def mutual_nearest(
    X: FloatArray, queries: FloatArray, mean: FloatArray, query_mean: FloatArray
) -> tuple[IntArray, IntArray]:
    """Find the rows and queries that are nearest to each other.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    queries : ndarray of shape (n_queries, n_features)
        Queries.
    mean, query_mean : ndarray of shape (n_features,)
        The center of either side.

    Returns
    -------
    rows, found : ndarray of shape (n_pairs,)
        Positions in X and in `queries`: each query is the nearest of all queries to its
        row, and the row the nearest of all rows to it, by cosine.
    """
    U = _centered_units(X, mean)[: len(X)]
    V = _centered_units(queries, query_mean)[: len(queries)]
    nearest_row = np.empty(len(V), dtype=np.intp)
    best = np.full(len(U), -np.inf, dtype=np.float32)
    nearest_query = np.zeros(len(U), dtype=np.intp)
    for block in row_blocks(len(V), 4 * len(U), budget=2**24):
        scores = V[block] @ U.T
        nearest_row[block] = scores.argmax(axis=1)
        top = scores.argmax(axis=0)
        score = scores[top, np.arange(len(U))]
        better = score > best
        best[better] = score[better]
        nearest_query[better] = block.start + top[better]
    found = np.flatnonzero(nearest_query[nearest_row] == np.arange(len(V)))
    return nearest_row[found], found


def second_moment(gaps: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sum of the outer products of rows.

    Parameters
    ----------
    gaps : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights.

    Returns
    -------
    ndarray of shape (n_features, n_features), float64
        The sum.
    """
    total = np.zeros((gaps.shape[1], gaps.shape[1]))
    for rows in moment_blocks(gaps):
        scaled = gaps[rows] * np.sqrt(weights[rows])[:, None]
        total += scaled.T @ scaled
    return total
