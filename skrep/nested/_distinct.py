"""Distinct rows in an order of their own: what random draws are made from."""

from typing import NamedTuple

import numpy as np

from skrep.linalg import weighted_mean
from skrep.typing import FloatArray, IntArray

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
    far rows, which are few in measured data, are sorted by their coordinates.

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
    mean = weighted_mean(X[first], summed)
    rows = X[first].astype(np.float64)
    rows -= mean
    scale = float(np.abs(rows).max())
    rows /= scale
    norms = np.linalg.norm(rows, axis=1)
    ramp = rows @ np.sqrt(np.arange(1.0, rows.shape[1] + 1))
    order = np.lexsort((ramp, np.round(norms / norms.max(), 9)))
    return CenteredRows(rows[order], summed[order], mean, scale)


def _merged(X: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    present = np.flatnonzero(weights)
    # Adding 0 makes the two zeros one. Hashes of the bytes find equal rows in linear
    # time.
    hashes = np.fromiter(
        (hash((row + 0.0).tobytes()) for row in X[present]), np.int64, len(present)
    )
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    return present[first], np.bincount(group, weights[present]).astype(np.float64)
