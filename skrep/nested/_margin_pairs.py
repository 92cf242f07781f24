"""Pairs of rows, and the mean of the smallest of their gaps."""

from typing import NamedTuple

import numpy as np

from skrep.typing import FloatArray, IntArray

__all__ = ["Pairs", "draw_pairs", "lower_mean"]


class Pairs(NamedTuple):
    """Positions of the two rows of every pair, and weights (None: all alike)."""

    first: IntArray
    second: IntArray
    weights: FloatArray | None


def draw_pairs(
    weights: FloatArray, n_pairs: int, random_state: np.random.RandomState
) -> Pairs:
    """Take all pairs of distinct rows, or draw some where there are too many.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Positive weights of at least two rows.
    n_pairs : int
        The largest number of pairs. Drawn pairs come from at most ``n_pairs / 8``
        rows, in proportion to the product of the weights.
    random_state : RandomState instance
        Randomness of the draw.

    Returns
    -------
    Pairs
        The pairs; no row is paired with itself.
    """
    n = len(weights)
    first: IntArray
    second: IntArray
    pool: IntArray
    if n * (n - 1) // 2 <= n_pairs:
        first, second = np.triu_indices(n, 1)
        products = weights[first] * weights[second]
        alike = products.min() == products.max()
        return Pairs(first, second, None if alike else products)
    pool = np.arange(n)
    n_pool = max(2, n_pairs // 8)
    if n > n_pool:
        levels = (np.arange(n_pool) + random_state.random_sample()) / n_pool
        chosen, counts = np.unique(_at(levels, weights), return_counts=True)
        if len(chosen) > 1:
            pool, weights = chosen, counts.astype(np.float64)
    ends = np.cumsum(weights)
    first = _at(random_state.random_sample(n_pairs), weights)
    # The second level skips the interval of the first row.
    levels = random_state.random_sample(n_pairs) * (ends[-1] - weights[first])
    levels += np.where(levels >= ends[first] - weights[first], weights[first], 0)
    second = _at(levels / ends[-1], weights)
    differ = first != second
    return Pairs(pool[first[differ]], pool[second[differ]], None)


def _at(levels: FloatArray, weights: FloatArray) -> IntArray:
    """Rows whose intervals of cumulated weight hold the levels, of [0, 1)."""
    ends = np.cumsum(weights)
    found = np.searchsorted(ends, levels * ends[-1], side="right")
    return np.minimum(found, len(weights) - 1)


def lower_mean(
    gaps: FloatArray, weights: FloatArray | None, share: float
) -> tuple[float, FloatArray]:
    """Mean of the smallest share of the gaps.

    Parameters
    ----------
    gaps : ndarray of shape (n_pairs,)
        Non-negative numbers.
    weights : ndarray of shape (n_pairs,) or None
        Their weights; None is all alike.
    share : float
        Which share of the total weight counts, in (0, 1].

    Returns
    -------
    mean : float
        The mean; the gaps at the edge of the share count in part.
    kept : ndarray of shape (n_pairs,)
        The weight with which each gap entered; they sum to 1.
    """
    if weights is None:
        weights = np.ones(len(gaps))
        target = share * len(gaps)
        rank = min(int(target), len(gaps) - 1)
        edge = np.partition(gaps, rank)[rank]
    else:
        order = np.argsort(gaps)
        masses = np.cumsum(weights[order])
        target = share * masses[-1]
        edge = gaps[order[min(np.searchsorted(masses, target), len(gaps) - 1)]]
    below, tied = gaps < edge, gaps == edge
    kept = np.where(below, weights, 0.0)
    rest = target - kept.sum()
    kept[tied] = weights[tied] * (rest / weights[tied].sum())
    kept /= target
    return float(kept @ gaps), kept
