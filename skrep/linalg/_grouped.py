"""Rows gathered by group, as deviations from a pivot of each group."""

from collections.abc import Iterator

import numpy as np

from skrep.linalg._blocks import moment_blocks
from skrep.typing import AnyArray, FloatArray, IntArray

__all__ = ["grouped_gaps", "number_labels", "present_rows"]


def grouped_gaps(
    X: FloatArray, codes: IntArray, weights: FloatArray, pivots: FloatArray
) -> Iterator[tuple[FloatArray, FloatArray, IntArray]]:
    """Yield blocks of rows, sorted by group, less the pivot of the group.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    codes : ndarray of shape (n_rows,)
        Groups, from 0 on.
    weights : ndarray of shape (n_rows,)
        Positive weights of the rows.
    pivots : ndarray of shape (n_groups, n_features), float64
        Filled on the way: the weighted mean of the group's rows in the first block
        that has any.

    Yields
    ------
    gaps : ndarray of shape (n_block, n_features), float64
        Deviations, an array of the caller's own.
    load : ndarray of shape (n_block,)
        Weights.
    ends : ndarray of shape (n_groups + 1,)
        Group g is in rows ``ends[g]`` to ``ends[g + 1]``.
    """
    n_groups = len(pivots)
    seen = np.zeros(n_groups, dtype=bool)
    # Numbers of 16 bits are sorted in linear time.
    short = codes.astype(np.int16 if n_groups < 2**15 else np.intp, copy=False)
    for rows in moment_blocks(X):
        order = np.argsort(short[rows], kind="stable")
        gaps = np.take(X[rows], order, axis=0).astype(np.float64, copy=False)
        load = weights[rows][order]
        ends = np.searchsorted(short[rows][order], np.arange(n_groups + 1))
        for group in np.flatnonzero(np.diff(ends)):
            part = gaps[ends[group] : ends[group + 1]]
            if not seen[group]:
                share = load[ends[group] : ends[group + 1]]
                pivots[group], seen[group] = share @ part / share.sum(), True
            part -= pivots[group]
        yield gaps, load, ends


def present_rows(
    X: FloatArray, labels: AnyArray, weights: FloatArray | None
) -> tuple[FloatArray, AnyArray, FloatArray]:
    """Leave out rows of weight zero.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    labels : ndarray of shape (n_rows,)
        Their groups.
    weights : ndarray of shape (n_rows,) or None
        Non-negative weights; None weighs every row 1.

    Returns
    -------
    X, labels, weights : ndarray
        Those of positive weight.
    """
    if weights is None:
        return X, labels, np.ones(len(X))
    kept = weights > 0
    return (
        (X, labels, weights) if kept.all() else (X[kept], labels[kept], weights[kept])
    )


def number_labels(labels: AnyArray) -> tuple[AnyArray, IntArray]:
    """Number the groups.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,)
        Labels of any type; slices, which are small integers, take no sorting.

    Returns
    -------
    found : ndarray of shape (n_groups,)
        The distinct labels, sorted.
    codes : ndarray of shape (n_rows,)
        The position of each row's label among them.
    """
    small = labels.dtype.kind == "i" and labels.size and labels.min() >= 0
    if small and labels.max() < 2**16:
        there = np.bincount(labels) > 0
        return np.flatnonzero(there), (np.cumsum(there) - 1)[labels]
    found, codes = np.unique(labels, return_inverse=True)
    return found, codes
