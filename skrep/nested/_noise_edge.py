"""Which principal axes stand out of the noise, and return in other rows."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.linalg import (
    Moments,
    marchenko_pastur_edges,
    marchenko_pastur_median,
)
from skrep.typing import FloatArray

__all__ = ["NoiseEdge", "agreement", "noise_edge", "principal_axes"]


class NoiseEdge(NamedTuple):
    """Variance of the noise, largest eigenvalue it explains, eigenvalues above."""

    level: float
    edge: float
    n_above: int


def principal_axes(
    rows: FloatArray, weights: FloatArray, n_free: float = 1.0
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

    Returns
    -------
    eigenvalues : ndarray of shape (n_features,)
        Non-negative; what rounding leaves of zero eigenvalues is zero.
    axes : ndarray of shape (n_features, n_features)
        Unit axes as rows.
    """
    covariance = Moments.of(rows, weights).covariance
    values, vectors = scipy.linalg.eigh(covariance)
    values, axes = values[::-1], vectors.T[::-1]
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


def agreement(
    rows: FloatArray,
    weights: FloatArray,
    n_above: int,
    *,
    threshold: float,
    n_splits: int,
    random_state: np.random.RandomState,
) -> FloatArray:
    r"""Tell how well the leading axes of one half of the rows return in the other.

    For :math:`k = 1, 2, \dots` it is the smallest principal cosine between the first
    k axes of one half and the first `n_above` axes of the other, so that axes which
    only change places or mix within what stands out still agree. It never rises with
    k.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Distinct rows, in an order that depends on nothing else.
    weights : ndarray of shape (n_rows,)
        Their weights.
    n_above : int
        Number of candidates.
    threshold : float
        The numbers end with the first below it.
    n_splits : int
        Number of random halvings; both ways of each are averaged.
    random_state : RandomState instance
        Randomness of the halvings.

    Returns
    -------
    ndarray of shape (n_candidates,)
        Cosines; all but perhaps the last are at least the threshold.
    """
    grams = []
    for _ in range(n_splits if n_above else 0):
        order = random_state.permutation(len(rows))
        half = len(rows) // 2
        one, other = (
            _leading(rows[part], weights[part], n_above)
            for part in (order[:half], order[half:])
        )
        cosines = one @ other.T
        grams += [cosines @ cosines.T, cosines.T @ cosines]
    found: list[float] = []
    while len(found) < n_above and (not found or found[-1] >= threshold):
        k = len(found) + 1
        squares = [
            scipy.linalg.eigvalsh(gram[:k, :k], subset_by_index=[0, 0])[0]
            for gram in grams
        ]
        # Rounding must not let the numbers rise.
        mean = float(np.mean(np.sqrt(np.clip(squares, 0, 1))))
        found.append(min([mean, *found[-1:]]))
    return np.array(found)


def _leading(rows: FloatArray, weights: FloatArray, k: int) -> FloatArray:
    """First axes of some rows; zero, to agree with none, beyond what they span."""
    values, axes = principal_axes(rows, weights)
    return axes[:k] * (values[:k, None] > 0)
