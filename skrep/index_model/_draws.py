"""Draws of rows that see content and weight alone."""

import numpy as np

from skrep.index_model._kernels import median_distance
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import row_blocks

__all__ = [
    "MIDDLE",
    "distance_of_sample",
    "draw_centers",
    "merged_rows",
    "spread_out",
    "squared_lengths",
]

# An offset of draws that is not random; irrational, so that no step ends with a row.
MIDDLE = (np.sqrt(5) - 1) / 2
_N_SAMPLE = 1000


def spread_out(
    keys: FloatArray,
    weights: FloatArray,
    count: int,
    offset: float,
    X: FloatArray | None = None,
) -> IntArray:
    """Draw rows at equal steps of weight, after sorting them by a key.

    The draw sees neither the order of the rows, nor whether a row weighs twice or is
    given twice; where `count` is the number of rows of equal weight, it has all.

    Parameters
    ----------
    keys : ndarray of shape (n_rows,)
        Non-negative numbers; those that tie to nine digits are sorted by `X`.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    count : int
        Number of steps.
    offset : float
        Where in its step each draw lies, from 0 to 1.
    X : ndarray of shape (n_rows, n_features) or None, default=None
        The rows; without them ties stay in their order.

    Returns
    -------
    ndarray of int of shape (count,)
        Positions of rows; one whose weight exceeds a step comes repeatedly.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._draws import spread_out
    >>> spread_out(np.array([3.0, 1.0, 2.0]), np.array([1.0, 2.0, 1.0]), 2, 0.5)
    array([1, 0])
    """
    columns = np.empty((len(keys), 0)) if X is None else X
    order = _order(np.round(keys / keys.max(), 9), columns)
    ends = np.cumsum(weights[order])
    steps = (np.arange(count) + offset) * (ends[-1] / count)
    found = np.searchsorted(ends, steps, side="right")
    return order[np.minimum(found, len(order) - 1)]


def draw_centers(
    X: FloatArray, keys: FloatArray, weights: FloatArray, count: int, offset: float
) -> IntArray:
    """Draw distinct rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    keys : ndarray of shape (n_rows,)
        What rows are sorted by.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    count : int
        Largest number of rows.
    offset : float
        What is random about the draw, from 0 to 1.

    Returns
    -------
    ndarray of int of shape (n_drawn,)
        Positions of rows that differ.
    """
    drawn = spread_out(keys, weights, count, offset, X)
    _, first = np.unique(X[drawn], axis=0, return_index=True)
    return drawn[np.sort(first)]


def distance_of_sample(
    X: FloatArray,
    mean: FloatArray,
    axes: FloatArray,
    keys: FloatArray,
    weights: FloatArray,
) -> float:
    """Median distance of a sample of rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    mean : ndarray of shape (n_features,)
        Their mean.
    axes : ndarray of shape (n_features, n_dimensions)
        Takes centered rows to where distances are measured.
    keys : ndarray of shape (n_rows,)
        What rows are sorted by.
    weights : ndarray of shape (n_rows,)
        Positive weights.

    Returns
    -------
    float
        The median over pairs of rows that differ.
    """
    drawn = spread_out(keys, weights, _N_SAMPLE, MIDDLE, X)
    return median_distance((X[drawn] - mean) @ axes)


def squared_lengths(X: FloatArray, mean: FloatArray, axes: FloatArray) -> FloatArray:
    """Compute squared distances of rows from their mean.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    mean : ndarray of shape (n_features,)
        Their mean, float64.
    axes : ndarray of shape (n_features, n_dimensions)
        Takes centered rows to where distances are measured.

    Returns
    -------
    ndarray of shape (n_rows,)
        The squares.
    """
    lengths = np.empty(len(X))
    for rows in row_blocks(len(X), 8 * sum(axes.shape)):
        points = (X[rows] - mean) @ axes
        np.einsum("ij,ij->i", points, points, out=lengths[rows])
    return lengths


def merged_rows(
    X: FloatArray, values: AnyArray, weights: FloatArray, keys: FloatArray
) -> tuple[AnyArray, FloatArray]:
    """Merge rows that are given repeatedly, with the same response.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels or numbers.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    keys : ndarray of shape (n_rows,)
        Non-negative numbers that equal rows share to nine digits, and few others.

    Returns
    -------
    positions : ndarray of int of shape (n_distinct,)
        A row of each kind, rising.
    weights : ndarray of shape (n_distinct,)
        Sums of the weights of each kind.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._draws import merged_rows
    >>> X, y = np.array([[2.0], [2.0], [1.0]]), np.array(["a", "a", "b"])
    >>> merged_rows(X, y, np.ones(3), X[:, 0])
    (array([0, 2]), array([2., 1.]))
    """
    rounded = np.round(keys / keys.max(), 9)
    kinds = np.unique(values, axis=0, return_inverse=True)[1].reshape(len(X), 1)
    order = _order(rounded, np.hstack([X, kinds]))
    later = np.flatnonzero(np.diff(rounded[order]) == 0)
    one, next_ = order[later], order[later + 1]
    same = (X[one] == X[next_]).all(axis=1)
    other = values[one] == values[next_]
    same &= other if other.ndim == 1 else other.all(axis=1)
    repeats = np.zeros(len(X), dtype=bool)
    repeats[later[same] + 1] = True
    kind = np.cumsum(~repeats) - 1
    positions = order[~repeats]
    summed: FloatArray = np.bincount(kind, weights[order]).astype(np.float64)
    rising = np.argsort(positions)
    return positions[rising], summed[rising]


def _order(keys: FloatArray, columns: FloatArray) -> AnyArray:
    """Order of keys, ties by columns, so that the order of the rows tells nothing."""
    order = np.argsort(keys, kind="stable")
    equal = np.diff(keys[order]) == 0
    tied = np.append(equal, False) | np.append(False, equal)
    if tied.any():
        rows = order[tied]
        order[tied] = rows[np.lexsort((*columns[rows].T[::-1], keys[rows]))]
    return order
