"""Gaussian mixtures of whitened rows, fitted by expectation-maximization."""

from typing import NamedTuple

import numpy as np
import scipy.linalg
from sklearn.utils import check_random_state

from skrep.index_model._row_scores import outer_sums
from skrep.linalg import moment_blocks
from skrep.typing import FloatArray, IntArray

__all__ = [
    "FittedMixture",
    "Mixture",
    "fit_mixture",
    "fit_tied",
    "most_components",
    "representatives",
    "responsibilities",
]

_LARGEST = 5
_STARTS = 3
_ROWS = 20_000
_TOLERANCE = 1e-5


class Mixture(NamedTuple):
    """Shares (K,), means (K, k) and covariances (K, k, k) of Gaussian components."""

    shares: FloatArray
    means: FloatArray
    covariances: FloatArray


class FittedMixture(NamedTuple):
    """A mixture, its log-likelihood, and its Bayesian information criterion."""

    mixture: Mixture
    log_likelihood: float
    criterion: float


def fit_mixture(
    Z: FloatArray, weights: FloatArray, random_state: object
) -> FittedMixture:
    """Fit mixtures of one to five components, and keep the best.

    The criterion of Schwarz chooses their number, and whether all have one covariance
    or each its own [1]_. Starts are drawn among the rows in order of their length, by
    weight, so that neither the order of the rows, nor repetition instead of weight,
    nor a rotation changes them. Of more than 20,000 rows, so many are taken at even
    steps of that order.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0 and covariance one.
    weights : ndarray of shape (n_rows,)
        Their weights.
    random_state : int, RandomState instance or None
        Randomness of the starts.

    Returns
    -------
    FittedMixture
        The best.

    References
    ----------
    .. [1] Fraley, C. and Raftery, A. E. (2002). Model-based clustering, discriminant
       analysis, and density estimation. Journal of the American Statistical
       Association, 97(458), 611-631.
    """
    chosen, counts = representatives(Z, weights)
    rows, n, k = Z[chosen], counts.sum(), Z.shape[1]
    draws = check_random_state(random_state)
    best, posterior = fit_tied(rows, counts, 1, draws)
    for size in range(2, most_components(n, k, _LARGEST) + 1):
        before = best
        tied, posterior = fit_tied(rows, counts, size, draws)
        if tied.criterion < best.criterion:
            best = tied
        full = _fit_full(rows, counts, posterior, best.criterion)
        if full.criterion < best.criterion:
            best = full
        if best is before and size > 2:
            break
    return best


def most_components(n_rows: float, rank: int, largest: int) -> int:
    """Components that so many rows allow: 2 (k + 1) rows each.

    Parameters
    ----------
    n_rows : float
        Number of rows.
    rank : int
        Number k of columns.
    largest : int
        Most that are wanted.

    Returns
    -------
    int
        The number, at least 1.
    """
    return max(1, min(largest, int(n_rows / (2 * rank + 2))))


def fit_tied(
    Z: FloatArray,
    weights: FloatArray,
    size: int,
    draws: np.random.RandomState,
    places: FloatArray | None = None,
) -> tuple[FittedMixture, FloatArray]:
    """Fit a mixture whose components have one covariance.

    Expectation-maximization with linear logits, as of that covariance only the means
    change; the best of three starts goes on until the likelihood stands still. As if
    seen, k + 1 rows of covariance one keep it regular.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0 and covariance one.
    weights : ndarray of shape (n_rows,)
        Their weights, in numbers of rows.
    size : int
        Number of components.
    draws : RandomState instance
        Randomness of the starts.
    places : ndarray of shape (n_rows, n_columns), default=None
        Where the rows lie when starts are drawn and rows join the nearest; None takes
        Z.

    Returns
    -------
    fitted : FittedMixture
        The mixture.
    posterior : ndarray of shape (n_rows, size)
        Probabilities of the components.
    """
    k, total = Z.shape[1], weights.sum()
    second = (Z * weights[:, None]).T @ Z / total
    starts = [
        _start(Z if places is None else places, weights, size, draws)
        for _ in range(_STARTS if size > 1 else 1)
    ]
    tries = [_climb_tied(Z, weights, second, start, 10) for start in starts]
    posterior = max(tries, key=lambda one: one[1])[2]
    mixture, value, posterior = _climb_tied(Z, weights, second, posterior, 200)
    numbers = size - 1 + size * k + k * (k + 1) / 2
    fitted = FittedMixture(mixture, value, numbers * np.log(total) - 2 * value)
    return fitted, posterior


def responsibilities(mixture: Mixture, Z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Posterior probabilities of the components, and the log of the density.

    Parameters
    ----------
    mixture : Mixture
        The mixture.
    Z : ndarray of shape (n_rows, rank)
        Rows.

    Returns
    -------
    posterior : ndarray of shape (n_rows, n_components)
        Probabilities.
    log_density : ndarray of shape (n_rows,)
        Logs of the density.
    """
    logs = np.empty((len(Z), len(mixture.shares)))
    for j, (share, mean, covariance) in enumerate(zip(*mixture, strict=True)):
        root = np.linalg.cholesky(covariance)
        whitener = scipy.linalg.solve_triangular(root, np.eye(len(mean)), lower=True)
        constant = np.log(share / np.sqrt(2 * np.pi) ** len(mean))
        constant -= np.log(np.diag(root)).sum()
        for part in moment_blocks(Z):
            gaps = (Z[part] - mean) @ whitener.T
            logs[part, j] = constant - np.einsum("ij,ij->i", gaps, gaps) / 2
    return _normalized(logs)


def _normalized(logs: FloatArray) -> tuple[FloatArray, FloatArray]:
    top = logs.max(axis=1, keepdims=True)
    odds = np.exp(logs - top)
    total = odds.sum(axis=1, keepdims=True)
    return odds / total, (top + np.log(total))[:, 0]


def representatives(Z: FloatArray, weights: FloatArray) -> tuple[IntArray, FloatArray]:
    """Put present rows in order of length, at even steps of weight if they are many.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows.
    weights : ndarray of shape (n_rows,)
        Their weights.

    Returns
    -------
    chosen : ndarray of shape (n_chosen,)
        Positions of the rows.
    counts : ndarray of shape (n_chosen,)
        Weights in numbers of rows, which they are not where all sum to less than that.
    """
    present = np.flatnonzero(weights)
    total = max(weights.sum(), float(len(present)))
    norms = np.einsum("ij,ij->i", Z[present], Z[present])
    order = present[np.argsort(norms, kind="stable")]
    shares = weights[order] / weights.sum()
    if len(order) <= _ROWS:
        return order, shares * total
    steps = (np.arange(_ROWS) + 0.5) / _ROWS
    return order[_at(np.cumsum(shares), steps)], np.full(_ROWS, total / _ROWS)


def _at(cumulative: FloatArray, steps: FloatArray) -> IntArray:
    """Positions at which cumulated shares pass the steps."""
    found = np.searchsorted(cumulative, steps * cumulative[-1], side="right")
    return np.minimum(found, len(cumulative) - 1)


def _start(
    places: FloatArray, weights: FloatArray, size: int, draws: np.random.RandomState
) -> FloatArray:
    """Membership after a few rounds of k-means from far-apart rows."""
    gaps = np.ones(len(places))
    centers = np.empty((size, places.shape[1]))
    for j in range(size):
        chosen = int(_at(np.cumsum(weights * gaps), draws.random_sample(1))[0])
        centers[j] = places[chosen]
        squares = np.square(places - centers[j]).sum(axis=1)
        gaps = np.minimum(gaps, squares) if j else squares
    for _ in range(10):
        offsets = np.einsum("ij,ij->i", centers, centers) / 2
        members = np.argmax(places @ centers.T - offsets, axis=1)
        belongs = np.eye(size)[members] * weights[:, None]
        masses = belongs.sum(axis=0)
        filled = masses > 0
        centers[filled] = (belongs.T @ places)[filled] / masses[filled, None]
    posterior: FloatArray = np.eye(size)[members]
    return posterior


def _climb_tied(
    Z: FloatArray,
    weights: FloatArray,
    second: FloatArray,
    posterior: FloatArray,
    max_passes: int,
) -> tuple[Mixture, float, FloatArray]:
    k, total, last = Z.shape[1], weights.sum(), -np.inf
    for _ in range(max_passes):
        belongs = posterior * weights[:, None]
        masses = belongs.sum(axis=0) + 1e-10
        shares, means = masses / masses.sum(), belongs.T @ Z / masses[:, None]
        scatter = total * (second - (means.T * shares) @ means) + (k + 1) * np.eye(k)
        covariance = scatter / (total + k + 1)
        precision = scipy.linalg.inv(covariance)
        loads = means @ precision
        offsets = np.log(shares) - np.einsum("ij,ij->i", loads, means) / 2
        posterior, logs = _normalized(Z @ loads.T + offsets)
        volume = np.linalg.slogdet(covariance)[1] + k * np.log(2 * np.pi)
        value = weights @ logs - total / 2 * (np.sum(precision * second) + volume)
        if value - last < _TOLERANCE * total:
            break
        last = value
    covariances = np.repeat(covariance[None], len(shares), axis=0)
    return Mixture(shares, means, covariances), float(value), posterior


def _fit_full(
    Z: FloatArray, weights: FloatArray, posterior: FloatArray, goal: float
) -> FittedMixture:
    """Let every component have its own covariance, as long as that may reach a goal."""
    k, total, last = Z.shape[1], weights.sum(), -np.inf
    size = posterior.shape[1]
    numbers = size - 1 + size * (k + k * (k + 1) / 2)
    for _ in range(100):
        belongs = posterior * weights[:, None]
        masses = belongs.sum(axis=0) + 1e-10
        means = belongs.T @ Z / masses[:, None]
        prior = (k + 1) * np.eye(k)
        covariances = np.stack(
            [
                (outer_sums(Z - mean, one[:, None])[0] + prior) / (mass + k + 1)
                for mean, one, mass in zip(means, belongs.T, masses, strict=True)
            ]
        )
        mixture = Mixture(masses / masses.sum(), means, covariances)
        posterior, logs = responsibilities(mixture, Z)
        value = float(weights @ logs)
        gain, last = value - last, value
        ahead = numbers * np.log(total) - 2 * (value + 20 * gain)
        if gain < _TOLERANCE * total or ahead > goal:
            break
    return FittedMixture(mixture, value, numbers * np.log(total) - 2 * value)
