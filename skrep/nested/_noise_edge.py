"""Which principal axes stand out of the noise, and return in other rows."""

from bisect import bisect_left
from functools import cache
from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.linalg import (
    Moments,
    marchenko_pastur_edges,
    marchenko_pastur_median,
)
from skrep.typing import FloatArray

__all__ = [
    "Agreement",
    "NoiseEdge",
    "agreement",
    "half_grams",
    "mean_cosine",
    "noise_edge",
    "principal_axes",
]


class NoiseEdge(NamedTuple):
    """Variance of the noise, largest eigenvalue it explains, eigenvalues above."""

    level: float
    edge: float
    n_above: int


class Agreement(NamedTuple):
    """Number of axes that agree, their mean cosine, and that with one axis more."""

    n_axes: int
    cosine: float
    following: float


def principal_axes(
    rows: FloatArray,
    weights: FloatArray,
    n_free: float = 1.0,
    n_axes: int | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues and eigenvectors of a covariance, the largest first.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    n_free : float, default=1.0
        What the sum of the weights is divided by: the covariance is multiplied by the
        quotient.
    n_axes : int or None, default=None
        How many, from 1 to `n_features`; None is all.

    Returns
    -------
    eigenvalues : ndarray of shape (n_axes,)
        Non-negative; what rounding leaves of zero eigenvalues is zero.
    axes : ndarray of shape (n_axes, n_features)
        Unit axes as rows.
    """
    covariance = Moments.of(rows, weights).covariance
    d = len(covariance)
    n_axes = n_axes or d
    # Beyond a quarter of the axes, all at once are faster than some.
    subset = [d - n_axes, d - 1] if 4 * n_axes <= d else None
    values, vectors = scipy.linalg.eigh(covariance, subset_by_index=subset)
    values, axes = values[::-1][:n_axes], vectors.T[::-1][:n_axes]
    floor = 10 * max(rows.shape) * np.finfo(np.float64).eps * values[0]
    values = np.where(values > floor, values, 0.0)
    return values * (weights.sum() / n_free), axes


def noise_edge(eigenvalues: FloatArray, n_free: float) -> NoiseEdge:
    r"""Fit the Marchenko-Pastur law to the median eigenvalue.

    With d dimensions and :math:`\beta = d / n`, the noise variance
    :math:`\sigma^2` is the median of the positive eigenvalues over that of the law,
    and noise alone reaches :math:`\sigma^2 (1 + \sqrt\beta)^2`. Above
    :math:`\beta = 1` only n eigenvalues are positive, and the law of those serves.

    Parameters
    ----------
    eigenvalues : ndarray of shape (n_features,)
        Eigenvalues of the unbiased covariance, the largest first. Where fewer are
        positive than there could be, the rows lie in fewer dimensions than columns,
        and d is their number.
    n_free : float
        Number n of rows, less 1 for the mean.

    Returns
    -------
    NoiseEdge
        The variance, the edge, and the number of eigenvalues above it.
    """
    positive = eigenvalues[eigenvalues > 0]
    full = len(positive) >= min(len(eigenvalues), round(n_free))
    ratio = (len(eigenvalues) if full else len(positive)) / n_free
    level = float(np.median(positive)) / marchenko_pastur_median(ratio)
    edge = level * marchenko_pastur_edges(ratio)[1]
    return NoiseEdge(level, edge, int(np.sum(positive > edge)))


def half_grams(
    rows: FloatArray,
    weights: FloatArray,
    n_above: int,
    *,
    n_splits: int,
    random_state: np.random.RandomState,
) -> list[FloatArray]:
    """Compare the leading axes of one half of the rows with those of the other.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Distinct rows, in an order that depends on nothing else.
    weights : ndarray of shape (n_rows,)
        Their weights.
    n_above : int
        Number of candidates.
    n_splits : int
        Number of random halvings; both ways of each are compared.
    random_state : RandomState instance
        Randomness of the halvings.

    Returns
    -------
    list of ndarray of shape (n_above, n_above)
        Inner products of the axes of a half, once they are projected on the span of
        the first `n_above` axes of the other; none where there are no candidates.
    """
    grams: list[FloatArray] = []
    for _ in range(n_splits if n_above else 0):
        order = random_state.permutation(len(rows))
        half = len(rows) // 2
        one, other = (
            _leading(rows[part], weights[part], n_above)
            for part in (order[:half], order[half:])
        )
        cosines = one @ other.T
        grams += [cosines @ cosines.T, cosines.T @ cosines]
    return grams


def mean_cosine(grams: list[FloatArray], k: int) -> float:
    """Smallest principal cosine of the first k axes with the other half, averaged.

    Axes that only change places, or mix within what stands out, still agree. The
    number never rises with k.

    Parameters
    ----------
    grams : list of ndarray of shape (n_above, n_above)
        See `half_grams`.
    k : int
        Number of axes, from 1 to `n_above`.

    Returns
    -------
    float
        The mean cosine.
    """
    squares = [
        scipy.linalg.eigvalsh(gram[:k, :k], subset_by_index=[0, 0])[0] for gram in grams
    ]
    return float(np.mean(np.sqrt(np.clip(squares, 0, 1))))


def agreement(grams: list[FloatArray], threshold: float) -> Agreement:
    """Find how many leading axes of one half of the rows return in the other.

    Parameters
    ----------
    grams : list of ndarray of shape (n_above, n_above)
        See `half_grams`.
    threshold : float
        The least mean cosine.

    Returns
    -------
    Agreement
        The largest k whose mean cosine is not under the threshold, found by
        bisection, its cosine, and that of k + 1; NaN where there are no such axes.
    """
    n_above = len(grams[0]) if grams else 0

    @cache
    def at(k: int) -> float:
        return mean_cosine(grams, k) if 0 < k <= n_above else np.nan

    found = bisect_left(range(1, n_above + 1), True, key=lambda k: at(k) < threshold)
    return Agreement(found, at(found), at(found + 1))


def _leading(rows: FloatArray, weights: FloatArray, k: int) -> FloatArray:
    """First axes of some rows; zero, to agree with none, beyond what they span."""
    values, axes = principal_axes(rows, weights, n_axes=k)
    return axes * (values[:, None] > 0)
