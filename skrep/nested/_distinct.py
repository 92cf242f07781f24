"""Distinct rows in an order of their own: what random draws are made from."""

from typing import NamedTuple

import numpy as np

from skrep.linalg import weighted_mean
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks

__all__ = ["CenteredRows", "centered_distinct_rows"]


class CenteredRows(NamedTuple):
    """Distinct rows minus their mean, over their largest entry."""

    rows: FloatArray
    weights: FloatArray
    mean: FloatArray
    scale: float


def centered_distinct_rows(
    who: str, X: FloatArray, weights: FloatArray
) -> CenteredRows:
    """Center rows, merge equal ones, and sort them by their distance from the mean.

    A draw by position then sees the content alone: neither the order of the rows, nor
    whether a row is given twice or weighs twice, nor where the axes point. Equally
    far rows, which are few in measured data, are sorted by their coordinates. The
    result is the same to the last bit in whatever order the rows come.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights, not all zero; a weight of zero is an absent row.

    Returns
    -------
    CenteredRows
        Rows of shape (n_distinct, n_features) in float64, with largest entry 1, their
        summed weights, the weighted mean, and what the rows were divided by.

    Raises
    ------
    ValueError
        If fewer than two distinct rows have a weight.
    """
    first, summed = _merged(X, weights)
    if len(first) < 2:
        raise ValueError(
            f"{who}: 'X' has one distinct row with a weight, n_samples = 1. It must "
            "have rows that differ: pass at least two, as X=rows."
        )
    rows = np.empty((len(first), X.shape[1]))
    for part in row_blocks(len(first), rows.itemsize * X.shape[1]):
        rows[part] = X[first[part]]
    mean = weighted_mean(rows, summed)
    rows -= mean
    scale = float(max(rows.max(), -rows.min()))
    rows /= scale
    norms = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    order = np.argsort(np.round(norms / norms.max(), 9), kind="stable")
    # An eighth of the columns at a time: no second copy of the rows.
    for columns in row_blocks(X.shape[1], 8, budget=X.shape[1]):
        rows[:, columns] = rows[order, columns]
    return CenteredRows(rows, summed[order], mean, scale)


def _merged(X: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """First of each set of equal rows, in order of their coordinates, and its weight.

    The order is that of numbers, not of bytes, and the same in every process.
    """
    present = np.flatnonzero(weights)
    found: dict[bytes, int] = {}
    # Adding zero turns -0.0 into 0.0, which is the same number.
    group = np.fromiter(
        (found.setdefault((X[i] + 0.0).tobytes(), len(found)) for i in present),
        np.intp,
        len(present),
    )
    first = present[np.unique(group, return_index=True)[1]]
    order = _in_order(X, first)
    return first[order], np.bincount(group, weights[present])[order].astype(np.float64)


def _in_order(X: FloatArray, positions: IntArray) -> IntArray:
    """Sort distinct rows by their first column, those that tie by the next, and on."""
    places = np.zeros(len(positions), dtype=np.intp)
    tied = np.arange(len(positions))
    for j in range(X.shape[1]):
        column = X[positions[tied], j]
        if (column == column[0]).all():
            continue
        order = np.lexsort((column, places[tied]))
        tied, column = tied[order], column[order]
        new_tie = np.diff(places[tied], prepend=-1) != 0
        new = new_tie | np.append(True, column[1:] != column[:-1])
        steps = np.arange(len(tied))
        starts = np.maximum.accumulate(np.where(new, steps, 0))
        places[tied] += starts - np.maximum.accumulate(np.where(new_tie, steps, 0))
        tied = tied[~(new & np.append(new[1:], True))]
        if not len(tied):
            break
    return np.argsort(places)
