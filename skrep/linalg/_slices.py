"""Weighted quantile slices of a number per row."""

import numpy as np

from skrep.typing import FloatArray, IntArray

__all__ = ["filled_slices", "quantile_edges", "slice_codes"]

# How near to an integer a scaled quantile counts as one.
_TIE = 1e-9


def quantile_edges(
    y: FloatArray,
    n_slices: int,
    weights: FloatArray | None = None,
    *,
    lightest: float = 0.0,
) -> FloatArray:
    r"""Cut numbers into slices of about equal weight.

    A distinct value v of total weight :math:`o_v` lies in slice :math:`\lfloor H
    c_v\rfloor` of the H slices, where

    .. math:: c_v = \Big(\sum_{u < v} o_u + o_v / 2\Big) \Big/ \sum_u o_u.

    Where :math:`H c_v` is an integer the value joins the slice nearer to the center,
    and the lower one at :math:`c_v = 1/2`. So ties stay together, the order of the rows
    is irrelevant, a weight of 2 is a number twice and 0 an absent one, and increasing
    maps of y leave the slices as they are. Empty slices are left out.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Finite numbers.
    n_slices : int
        Largest number of slices H, at least 1.
    weights : ndarray of shape (n_rows,), default=None
        Non-negative weights, not all zero; None weighs all alike.
    lightest : float, default=0.0
        Least weight of a slice, in units of an even share. Beside a value that takes
        much of the weight less may be left; such a slice joins its lighter neighbor.

    Returns
    -------
    ndarray of shape (n_edges,), float64
        The edges between the slices, ascending: one fewer than there are slices. Each
        lies halfway between the values on its two sides.

    See Also
    --------
    slice_codes : The slice of every number, old or new.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import quantile_edges
    >>> quantile_edges(np.array([1.0, 2.0, 5.0, 6.0]), 2)
    array([3.5])
    >>> quantile_edges(np.array([0.0, 0.0, 0.0, 1.0]), 4)
    array([0.5])
    """
    y = np.asarray(y, dtype=np.float64)
    if weights is None:
        weights = np.ones(len(y))
    present = weights > 0
    values, positions = np.unique(y[present], return_inverse=True)
    totals = np.bincount(positions, weights=weights[present])
    below = np.cumsum(totals) - totals
    scaled = n_slices * (below + totals / 2) / totals.sum()
    nearest = np.rint(scaled)
    # At the center itself, 2 * nearest == n_slices, the lower slice is taken.
    toward_center = nearest - (2 * nearest >= n_slices)
    tied = np.abs(scaled - nearest) <= _TIE
    slices = np.where(tied, toward_center, np.floor(scaled))
    slices = np.clip(slices, 0, n_slices - 1)
    last: IntArray = np.flatnonzero(np.diff(slices) > 0)
    if lightest and len(last):
        least = lightest * totals.sum() / n_slices
        last = _joined(last, np.cumsum(totals), least * (1 - _TIE))
    lower, upper = values[last], values[last + 1]
    middle = lower / 2 + upper / 2
    # Halves round: neighbors in floating point have nothing between them.
    return np.where((lower <= middle) & (middle < upper), middle, lower)


def _joined(last: IntArray, below: FloatArray, least: float) -> IntArray:
    """Drop ends of slices until none is lighter than `least`, the lightest first."""
    while len(last):
        sizes = np.diff(below[last], prepend=0.0, append=below[-1])
        small = int(np.argmin(sizes))
        if sizes[small] >= least:
            break
        left = sizes[small - 1] if small else np.inf
        right = sizes[small + 1] if small < len(last) else np.inf
        last = np.delete(last, small - 1 if left <= right else small)
    return last


def slice_codes(y: FloatArray, edges: FloatArray) -> IntArray:
    """Tell the slice of every number.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
        Numbers, those of `quantile_edges` or new ones; a number on an edge belongs
        below it.
    edges : ndarray of shape (n_edges,)
        Ascending edges.

    Returns
    -------
    ndarray of shape (n_rows,)
        Slices, from 0 to ``n_edges``.

    See Also
    --------
    quantile_edges : Edges of about equal weight.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import slice_codes
    >>> slice_codes(np.array([0.0, 3.5, 9.0]), np.array([3.5]))
    array([0, 0, 1])
    """
    return np.searchsorted(edges, np.asarray(y, dtype=np.float64), side="left")


def filled_slices(n_slices: int, n_rows: float) -> int:
    """Lower the number of slices until each has four rows.

    Parameters
    ----------
    n_slices : int
        Number of slices asked for.
    n_rows : float
        Number of rows, each as often as it weighs.

    Returns
    -------
    int
        At least 2.
    """
    return min(n_slices, max(int(n_rows // 4), 2))
