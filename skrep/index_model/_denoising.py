"""Scores of rows with noise added, and what they say where there is no response."""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg
from sklearn.utils import check_random_state

from skrep.index_model._mixture import MixtureScores
from skrep.index_model._mixture_fit import (
    Mixture,
    fit_mixture,
    fit_tied,
    most_components,
    representatives,
)
from skrep.linalg import Whitening
from skrep.typing import FloatArray
from skrep.utils import row_blocks

__all__ = [
    "DenoisingScores",
    "denoising_matrix",
    "denoising_scores",
    "gaussian_denoising_matrix",
    "noise_variance",
]

_LARGEST = 10
_DRAWS = 4


@dataclass(frozen=True)
class DenoisingScores:
    """Scores of a mixture with noise added, at rows with such noise.

    Parameters
    ----------
    inner : MixtureScores
        The scores of all noisy copies of the rows, one copy after the other.
    n_copies : int
        Number of copies.
    """

    inner: MixtureScores
    n_copies: int
    metric: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", self.inner.metric)

    def first(self, G: FloatArray) -> FloatArray:
        """Average features times the score; see `RowScores`."""
        return self.inner.first(np.tile(G, (self.n_copies, 1)))

    def second(self, G: FloatArray) -> FloatArray:
        """Average features times the score of order two; see `RowScores`."""
        return self.inner.second(np.tile(G, (self.n_copies, 1)))


def denoising_scores(
    Z: FloatArray, weights: FloatArray, random_state: object, scale: float = 0.25
) -> DenoisingScores:
    r"""Fit a mixture to whitened rows and take the scores of its noised density.

    Noise of covariance :math:`\sigma^2 I` turns the covariances :math:`Q_j` of the
    mixture into :math:`Q_j + \sigma^2 I`; the scores are bounded by 1 / sigma instead
    of the narrowest component. Every row is taken twice, with a draw of the noise and
    with its negative. Rows of one length share a draw, so that repeated rows count as
    one of twice the weight, in any order.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0 and covariance one.
    weights : ndarray of shape (n_rows,)
        Non-negative weights; 2 is a row twice, 0 an absent one.
    random_state : int, RandomState instance or None
        Randomness of the starts and of the noise.
    scale : float, default=0.25
        Standard deviation sigma of the noise; that of the rows is 1.

    Returns
    -------
    DenoisingScores
        The scores, for features of the rows as they are.
    """
    Z = np.asarray(Z, dtype=np.float64)
    draws = check_random_state(random_state)
    mixture = fit_mixture(Z, weights, draws).mixture
    noise = scale * _by_length(Z, weights, Z.shape[1], draws)
    noised = mixture._replace(
        covariances=mixture.covariances + scale**2 * np.eye(Z.shape[1])
    )
    rows = np.concatenate([Z + noise, Z - noise])
    floor = 1 / (1 + scale**2)
    return DenoisingScores(
        MixtureScores(rows, np.tile(weights, 2), noised, floor), n_copies=2
    )


def noise_variance(covariance: FloatArray, scale: float = 2.0) -> float:
    r"""Variance of the noise to be taken out, :math:`c^2 \operatorname{tr} S / p`.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        Covariance S of the rows; p counts the columns that vary.
    scale : float, default=2.0
        Standard deviation c of the noise, over the root mean variance of a column.

    Returns
    -------
    float
        The variance.
    """
    variances = np.diag(covariance)
    return float(scale**2 * variances.sum() / max(np.count_nonzero(variances), 1))


def gaussian_denoising_matrix(
    covariance: FloatArray, variance: float, order: int = 1
) -> FloatArray:
    r"""Denoising form of Gaussian rows, :math:`S (S + \sigma^2 I)^{-1}`, to a power.

    Its eigenvectors are principal axes and its eigenvalues those of the filter of
    Wiener, whatever the noise.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        Covariance S of the rows.
    variance : float
        Variance :math:`\sigma^2` of the noise, positive.
    order : {1, 2}, default=1
        The power: mean gradient of the denoiser, or mean square of it.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        The matrix, in raw columns.
    """
    values, vectors = scipy.linalg.eigh(covariance)
    values = np.maximum(values, 0.0)
    gains = (values / (values + variance)) ** order
    matrix: FloatArray = (vectors * gains) @ vectors.T
    return matrix


def denoising_matrix(
    X: FloatArray,
    weights: FloatArray,
    white: Whitening,
    random_state: object,
    *,
    variance: float,
    order: int = 2,
) -> FloatArray:
    r"""Denoising form of rows in clusters: gradients of the denoiser of a mixture.

    From a row with noise, :math:`\tilde x = x + \sigma e`, the best guess of the row
    is :math:`r(\tilde x) = \tilde x - \sigma^2 s(\tilde x)` with the score s of the
    noised density [1]_. Its gradient

    .. math:: D = I - \sigma^2 \nabla s(\tilde x)
        = \operatorname{cov}(x \mid \tilde x) / \sigma^2

    is averaged, :math:`E[D] = I - \sigma^2 E[s s^\top]`, for order one, and squared
    before, :math:`E[D^2]`, for order two. The mixture has up to ten components of one
    covariance Q. With :math:`P = (Q + \sigma^2 I)^{-1}`, the rows :math:`m_j^\top P` of
    L, and the posterior probabilities :math:`\gamma` of the components,

    .. math:: D = I - \sigma^2 P
        + \sigma^2 L^\top (\operatorname{diag}(\gamma) - \gamma \gamma^\top) L,

    so that sums over rows have as many rows and columns as there are components.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights; 2 is a row twice, 0 an absent one.
    white : Whitening
        Whitening of the rows, without a ridge.
    random_state : int, RandomState instance or None
        Randomness of the starts and of the noise.
    variance : float
        Variance :math:`\sigma^2` of the noise, positive; see `noise_variance`.
    order : {1, 2}, default=2
        Mean gradient, or mean square of it.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        Positive semi-definite matrix in raw columns; exactly zero for constant ones.

    References
    ----------
    .. [1] Efron, B. (2011). Tweedie's formula and selection bias. Journal of the
       American Statistical Association, 106(496), 1602-1614.
    """
    draws = check_random_state(random_state)
    rows = np.asarray(X, dtype=np.float64) - white.mean
    means, shares, covariance = _raw_mixture(rows, weights, white, draws)
    eye = np.eye(rows.shape[1])
    precision = scipy.linalg.inv(covariance + variance * eye)
    loads = means @ precision
    inner = loads @ loads.T
    offsets = np.log(shares) - np.einsum("ij,ij->i", loads, means) / 2
    gaps = rows @ loads.T
    spread = np.sqrt(variance) * _root(inner)
    single, double = np.zeros_like(inner), np.zeros_like(inner)
    portion = weights / (weights.sum() * 2 * _DRAWS)
    for _ in range(_DRAWS):
        noise = _by_length(rows, weights, len(loads), draws) @ spread
        for signed in (noise, -noise):
            one, two = _posterior_spread(gaps + signed + offsets, portion, inner)
            single += one
            double += two
    base = eye - variance * precision
    added = variance * loads.T @ single @ loads
    if order == 1:
        matrix = base + added
    else:
        matrix = base @ base + base @ added + added @ base
        matrix += variance**2 * loads.T @ double @ loads
    constant = white.scale == 0
    matrix[constant] = 0.0
    matrix[:, constant] = 0.0
    return (matrix + matrix.T) / 2


def _raw_mixture(
    rows: FloatArray,
    weights: FloatArray,
    white: Whitening,
    draws: np.random.RandomState,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means, by their length, shares, and the one covariance of centered rows."""
    chosen, counts = representatives(rows, weights)
    Z, places = rows[chosen] @ white.map, rows[chosen]
    best, _ = fit_tied(Z, counts, 1, draws)
    for size in range(2, most_components(counts.sum(), Z.shape[1], _LARGEST) + 1):
        fitted, _ = fit_tied(Z, counts, size, draws, places)
        if fitted.criterion < best.criterion:
            best = fitted
        elif size > 3:
            break
    mixture: Mixture = best.mixture
    covariance = white.inverse.T @ mixture.covariances[0] @ white.inverse
    means = mixture.means @ white.inverse
    order = np.argsort(np.einsum("ij,ij->i", means, means), kind="stable")
    return means[order], mixture.shares[order], covariance


def _by_length(
    rows: FloatArray, weights: FloatArray, width: int, draws: np.random.RandomState
) -> FloatArray:
    """Standard normal numbers, the same for rows of the same length."""
    norms = np.einsum("ij,ij->i", rows, rows)
    lengths = np.unique(norms[weights > 0])
    ranks = np.searchsorted(lengths[:-1], norms)
    return draws.standard_normal((len(lengths), width))[ranks]


def _root(gram: FloatArray) -> FloatArray:
    """Symmetric root of a positive semi-definite matrix."""
    values, vectors = scipy.linalg.eigh(gram)
    root: FloatArray = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    return root


def _posterior_spread(
    logits: FloatArray, portions: FloatArray, inner: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Weighted sums of H = diag(p) - p p', and of H times `inner` times H."""
    size = len(inner)
    single, double = np.zeros_like(inner), np.zeros_like(inner)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    for part in row_blocks(len(odds), 3 * 8 * size**2):
        block, portion = odds[part], portions[part]
        spread = block[:, :, None] * (np.eye(size) - block[:, None, :])
        single += np.einsum("i,ijk->jk", portion, spread)
        double += np.einsum("i,ijk->jk", portion, spread @ inner @ spread)
    return single, double
