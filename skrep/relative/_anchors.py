"""Which rows become anchors: five ways to choose, each returning row positions.

The geometric ways (k-means, farthest point, leverage) see rows through Euclidean
distances only, so that an isometry or a change of unit leaves the choice as it is.
They work in float64: in float32 a rotation would move borderline rows.
"""

import warnings
from hashlib import blake2b
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning

from skrep.linalg import weighted_mean
from skrep.typing import AnyArray, FloatArray, IntArray, Matrix

__all__ = [
    "Rows",
    "distinct_rows",
    "farthest",
    "kmeans",
    "leverage",
    "prepare",
    "stratified",
    "thin",
    "uniform",
]

# As many rows per centroid as its position needs; more cost time, not accuracy.
_ROWS_PER_CENTROID = 256
_LLOYD_STEPS = 50


class Rows(NamedTuple):
    """Rows seen from their mean.

    Parameters
    ----------
    matrix : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Centered dense rows, or CSR rows as they are; float64.
    shift : ndarray of shape (n_features,)
        What is still to be subtracted: zero for dense rows, the mean for CSR rows.
    squares : ndarray of shape (n_rows,)
        Squared distances from the mean.
    """

    matrix: Matrix
    shift: FloatArray
    squares: FloatArray

    def row(self, i: int) -> FloatArray:
        """One centered row, dense."""
        row = self.matrix[[i]]
        dense = row.toarray()[0] if sp.issparse(row) else row[0]
        return dense - self.shift

    def dot(self, v: FloatArray) -> FloatArray:
        """Products of all centered rows with one vector."""
        return self.matrix @ v - self.shift @ v


def prepare(X: Matrix, weights: FloatArray) -> Rows:
    """Center rows about their weighted mean without densifying CSR rows.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Weights of the mean.

    Returns
    -------
    Rows
        Centered rows in float64.
    """
    mean = weighted_mean(X, weights)
    if not sp.issparse(X):
        centered = X - mean
        return Rows(
            centered, np.zeros_like(mean), np.einsum("ij,ij->i", centered, centered)
        )
    X = X.astype(np.float64)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel() - 2 * (X @ mean)
    return Rows(X, mean, np.maximum(squares + mean @ mean, 0))


def distinct_rows(X: Matrix, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """First positions of the distinct rows of positive weight, and their total weights.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights.

    Returns
    -------
    positions : ndarray of shape (n_distinct,)
        Row positions, ascending.
    totals : ndarray of shape (n_distinct,)
        Sum of the weights of the rows equal to each.
    """
    rows = np.flatnonzero(weights > 0)
    totals = weights.astype(np.float64)
    first: dict[bytes, int] = {}
    for i in rows[_perhaps_equal(X[rows])]:
        if sp.issparse(X):
            part = slice(X.indptr[i], X.indptr[i + 1])
            content = X.indices[part].tobytes() + X.data[part].tobytes()
        else:
            # Adding zero turns -0.0 into 0.0, which is the same number.
            content = (X[i] + 0.0).tobytes()
        key = blake2b(content, digest_size=16).digest()
        head = first.setdefault(key, int(i))
        if head != i:
            totals[head] += totals[i]
            totals[i] = 0
    kept = np.flatnonzero(totals > 0)
    return kept, totals[kept]


def _perhaps_equal(X: Matrix) -> IntArray:
    # Equal rows have equal products with any vector; few others come that close.
    marks = X @ np.random.default_rng(0).standard_normal(X.shape[1])
    order = np.argsort(marks)
    close = np.diff(marks[order]) <= 1e-9 * np.abs(marks).max(initial=0)
    return np.sort(order[np.append(close, False) | np.append(False, close)])


def uniform(
    weights: FloatArray, n_anchors: int, rng: np.random.RandomState
) -> IntArray:
    """Draw rows without replacement, in proportion to their weights.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Positive weights.
    n_anchors : int
        At most ``n_rows``.
    rng : RandomState
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_anchors,)
        Row positions.
    """
    p = weights / weights.sum()
    return rng.choice(len(weights), n_anchors, replace=False, p=p)


def stratified(
    y: AnyArray, weights: FloatArray, n_anchors: int, rng: np.random.RandomState
) -> IntArray:
    """Draw rows from every class, in proportion to the weight of the class.

    The seats are given one by one to the class that is furthest behind its share
    (Webster's method), so that every class is served before any is served twice as
    often as its share.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Classes.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    n_anchors : int
        At most ``n_rows``.
    rng : RandomState
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_anchors,)
        Row positions, class by class.
    """
    _, codes = np.unique(y, return_inverse=True)
    shares = np.bincount(codes, weights)
    sizes = np.bincount(codes)
    seats = np.zeros(len(sizes), dtype=int)
    for _ in range(n_anchors):
        claim = np.where(seats < sizes, shares / (2 * seats + 1), -1)
        seats[np.argmax(claim)] += 1
    picks = []
    for code, n in enumerate(seats):
        members = np.flatnonzero(codes == code)
        picks.append(members[uniform(weights[members], n, rng)])
    return np.concatenate(picks)


def farthest(rows: Rows, n_anchors: int, chosen: IntArray | None = None) -> IntArray:
    """Take again and again the row farthest from those taken (Gonzalez, 1985).

    The first is the row farthest from the mean. The k rows cover all others within
    twice the best radius that k rows can reach.

    Parameters
    ----------
    rows : Rows
        Distinct centered rows.
    n_anchors : int
        At most the number of rows.
    chosen : ndarray of shape (n_chosen,) or None
        Rows that are already taken; they come first in the result.

    Returns
    -------
    ndarray of shape (n_anchors,)
        Row positions.
    """
    picks = [] if chosen is None else [int(i) for i in chosen]
    if len(picks) == n_anchors:
        return np.array(picks)
    gap = np.full(len(rows.squares), np.inf)
    for i in picks:
        _close(gap, rows, i)
    while len(picks) < n_anchors:
        i = _first_largest(gap if picks else rows.squares)
        picks.append(i)
        _close(gap, rows, i)
    return np.array(picks)


def _first_largest(values: FloatArray) -> int:
    # Of values that are equal but for rounding the first counts as the largest.
    return int(np.argmax(values >= values.max() * (1 - 1e-6)))


def _close(gap: FloatArray, rows: Rows, i: int) -> None:
    squares = rows.squares + rows.squares[i] - 2 * rows.dot(rows.row(i))
    np.minimum(gap, np.maximum(squares, 0), out=gap)
    gap[i] = -1


def thin(
    weights: FloatArray, n_anchors: int, rng: np.random.RandomState
) -> tuple[IntArray, FloatArray]:
    """Choose the rows that k-means works on: 256 a cluster, spread over the weights.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Positive weights.
    n_anchors : int
        Number of clusters.
    rng : RandomState
        Source of the systematic sample's start.

    Returns
    -------
    positions : ndarray of shape (n_used,)
        Row positions, ascending; all of them where there are few.
    weights : ndarray of shape (n_used,)
        How much each of them stands for.
    """
    everything = np.arange(len(weights))
    n_used = _ROWS_PER_CENTROID * n_anchors
    if len(weights) <= n_used:
        return everything, weights
    steps = (np.arange(n_used) + rng.uniform()) / n_used
    shares = np.cumsum(weights / weights.sum())
    drawn = np.searchsorted(shares, steps).clip(max=len(weights) - 1)
    used, counts = np.unique(drawn, return_counts=True)
    if len(used) < n_anchors:
        return everything, weights
    return used, counts.astype(np.float64)


def kmeans(
    rows: Rows, weights: FloatArray, n_anchors: int, rng: np.random.RandomState
) -> IntArray:
    """Take the nearest row of every k-means cluster.

    Parameters
    ----------
    rows : Rows
        Distinct centered rows.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    n_anchors : int
        At most the number of rows.
    rng : RandomState
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_anchors,)
        Row positions, cluster by cluster.
    """
    # Clustering costs a third of a second to import.
    from sklearn.cluster import KMeans

    if n_anchors == len(weights):
        return farthest(rows, n_anchors)
    # A tolerance of zero: scikit-learn's is relative to an unweighted variance.
    model = KMeans(
        n_anchors, n_init=1, max_iter=_LLOYD_STEPS, tol=0.0, random_state=rng
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels = model.fit(rows.matrix, sample_weight=weights).labels_
    heads = []
    tie = 1e-6 * rows.squares.mean()
    for label, center in enumerate(model.cluster_centers_ - rows.shift):
        members = np.flatnonzero(labels == label)
        if members.size:
            gaps = rows.squares[members] - 2 * (rows.matrix[members] @ center)
            # Two members are equally near their midpoint: rounding must not choose.
            first = np.argmax(gaps <= gaps.min() + tie)
            heads.append(members[first])
    return farthest(rows, n_anchors, np.array(heads))


def leverage(rows: Rows, n_anchors: int) -> IntArray:
    """Take the pivots of a QR factorization with column pivoting of the rows.

    They are the greedy rows of largest volume (Businger and Golub, 1965). Once the
    pivots span all rows, farthest-point rows follow.

    Parameters
    ----------
    rows : Rows
        Distinct centered rows.
    n_anchors : int
        At most the number of rows.

    Returns
    -------
    ndarray of shape (n_anchors,)
        Row positions.
    """
    left = rows.squares.copy()
    floor = 1e-10 * left.max()
    basis = np.empty((0, len(rows.shift)))
    picks: list[int] = []
    while len(picks) < n_anchors and left.max() > floor:
        i = _first_largest(left)
        picks.append(i)
        row = rows.row(i)
        # Twice is enough: the second pass restores orthogonality to rounding.
        for _ in range(2):
            row = row - basis.T @ (basis @ row)
        row /= np.linalg.norm(row)
        basis = np.vstack([basis, row])
        left -= rows.dot(row) ** 2
        left[i] = -np.inf
    return farthest(rows, n_anchors, np.array(picks, dtype=int))
