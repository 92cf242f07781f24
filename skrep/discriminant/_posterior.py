"""Posteriors as simplex coordinates and back, and what such a code is worth."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import log_softmax, softmax, xlogy
from sklearn import config_context

from skrep.geometry import simplex_vertices
from skrep.linalg import Moments, fix_signs
from skrep.typing import FloatArray

__all__ = [
    "MarginEnergyPath",
    "count_distinct",
    "encode_posterior",
    "fit_mixture",
    "margin_energy",
    "principal_scores",
    "simplex_posterior",
    "supported_posterior",
    "vertices",
]

FLOOR = 1e-6
"""Share of a posterior that is spread evenly, so that it has no zeros."""

# Variance added along every score, whose own variance is one.
_RIDGE = 1e-3


class MarginEnergyPath(NamedTuple):
    """What a code is worth, from constant to exact, and what it costs.

    Parameters
    ----------
    a : ndarray of shape (n_points,)
        Factors of the code, from 0 to 1.
    margin : ndarray of shape (n_points,)
        Nats by which the posterior of the scaled code beats the best constant one.
    energy : ndarray of shape (n_points,)
        Half the mean squared norm of the scaled code.
    """

    a: FloatArray
    margin: FloatArray
    energy: FloatArray


def vertices(n_clusters: int) -> FloatArray:
    """Place one vertex for each cluster, a single one in no dimension.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, 1 or more.

    Returns
    -------
    ndarray of shape (n_clusters, n_clusters - 1)
        Unit rows.
    """
    return simplex_vertices(n_clusters) if n_clusters > 1 else np.zeros((1, 0))


def principal_scores(X: FloatArray, n_scores: int) -> tuple[FloatArray, FloatArray]:
    """Find the leading principal axes, over the standard deviations along them.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    n_scores : int
        Number of axes; fewer are where rows vary along fewer.

    Returns
    -------
    mean : ndarray of shape (n_features,), float64
        Mean of the rows.
    axes : ndarray of shape (n_axes, n_features), float64
        The axes, as rows.
    """
    n, d = X.shape
    unit = float(np.abs(X).max()) or 1.0
    if n < d:
        rows = X / unit
        mean = rows.mean(axis=0, dtype=np.float64)
        _, sizes, axes = scipy.linalg.svd(rows - mean, full_matrices=False)
        values = (sizes**2 / n)[:n_scores]
        axes = axes[:n_scores]
    else:
        moments = Moments.of(X / unit)
        mean, leading = moments.mean, (max(d - n_scores, 0), d - 1)
        values, vectors = scipy.linalg.eigh(moments.covariance, subset_by_index=leading)
        values, axes = values[::-1], vectors[:, ::-1].T
    rounding = 10 * max(n, d) * 2.0**-52
    kept = values > max(rounding * values.max(initial=0.0), (16 * 2.0**-52) ** 2)
    scores = fix_signs(axes[kept]) / np.sqrt(values[kept])[:, None]
    return mean * unit, scores / unit


def count_distinct(X: FloatArray, enough: int) -> int:
    """Count distinct rows, up to a number that is enough.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    enough : int
        Where there are as many among the first rows, the others are not looked at.

    Returns
    -------
    int
        The number, or one that is at least `enough`.
    """
    for rows in (X[: 4 * enough], X):
        found = len(np.unique(rows, axis=0))
        if found >= enough:
            break
    return found


def fit_mixture(scores: FloatArray, n_clusters: int, random_state: Any) -> Any:
    """Fit a mixture of Gaussians to principal scores.

    Parameters
    ----------
    scores : ndarray of shape (n_rows, n_scores)
        Scores of variance one.
    n_clusters : int
        Number of Gaussians.
    random_state : int, RandomState instance or None
        Randomness of the first clusters.

    Returns
    -------
    GaussianMixture
        The fitted mixture.
    """
    from sklearn.mixture import GaussianMixture

    mixture = GaussianMixture(
        n_clusters, reg_covar=_RIDGE, max_iter=500, random_state=random_state
    )
    # Its first clusters, from k-means, know NumPy alone.
    with config_context(array_api_dispatch=False):
        return mixture.fit(scores)


def supported_posterior(who: str, teacher: Any, X: Any) -> FloatArray:
    """Ask a teacher for its posterior, and leave no zeros in it.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    teacher : estimator
        A fitted one with `predict_proba`.
    X : array-like of shape (n_rows, n_features)
        Rows as the teacher takes them.

    Returns
    -------
    ndarray of shape (n_rows, n_clusters), float64
        Positive probabilities that sum to one.

    Raises
    ------
    ValueError
        If the answer is no posterior.
    """
    found: Any = teacher.predict_proba(X)
    shape = np.shape(found) if not isinstance(found, list) else None
    if shape is None or len(shape) != 2 or not shape[1]:
        what = "a list" if shape is None else f"an array of shape {shape}"
        raise ValueError(
            f"{who}: 'teacher' gives {what} for its posterior. It must have one row "
            "per row and one column per class: pass a teacher of one target, such as "
            "LogisticRegression()."
        )
    q = np.asarray(found, dtype=np.float64)
    if not np.isfinite(q).all() or q.min(initial=0.0) < 0 or not q.sum(axis=1).all():
        raise ValueError(
            f"{who}: 'teacher' gives a posterior with NaN, infinite or negative "
            "entries, or rows of zeros. Check teacher.predict_proba(X), which must be "
            "probabilities."
        )
    shares = q / q.sum(axis=1, keepdims=True)
    return (1 - FLOOR) * shares + FLOOR / q.shape[1]


def encode_posterior(q: FloatArray, vertices: FloatArray, beta: float) -> FloatArray:
    r"""Turn posteriors into coordinates, :math:`(K - 1) / (K \beta) V^\top \log q`.

    Parameters
    ----------
    q : ndarray of shape (n_rows, n_clusters)
        Positive probabilities.
    vertices : ndarray of shape (n_clusters, n_clusters - 1)
        Vertices of the simplex, as unit rows.
    beta : float
        Inverse temperature.

    Returns
    -------
    ndarray of shape (n_rows, n_clusters - 1), float64
        The coordinates.
    """
    n_clusters = len(vertices)
    code: FloatArray = np.log(q) @ vertices
    code *= (n_clusters - 1) / (n_clusters * beta)
    return code


def simplex_posterior(Z: FloatArray, vertices: FloatArray, beta: float) -> FloatArray:
    r"""Turn coordinates into posteriors, :math:`\mathrm{softmax}(\beta V z)`.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_clusters - 1)
        Coordinates.
    vertices : ndarray of shape (n_clusters, n_clusters - 1)
        Vertices of the simplex, as unit rows.
    beta : float
        Inverse temperature.

    Returns
    -------
    ndarray of shape (n_rows, n_clusters), float64
        Probabilities.
    """
    q: FloatArray = softmax(beta * (Z @ vertices.T), axis=1)
    return q


def margin_energy(
    q: FloatArray, weights: FloatArray, beta: float, n_points: int
) -> MarginEnergyPath:
    r"""Follow the code of posteriors from constant to exact.

    The code z, times a factor a, stands for the posterior :math:`p_a \propto q^a`. Its
    margin over the best constant prediction and its energy are

    .. math:: H(\bar q) - \frac{1}{n} \sum_i \mathrm{CE}(q_i, p_{a, i}), \qquad
        \frac{a^2}{2 n} \sum_i \|z_i\|^2 = \frac{a^2 (K - 1)}{2 K \beta^2 n}
        \sum_i \|\log q_i - \overline{\log q_i}\|^2 .

    Parameters
    ----------
    q : ndarray of shape (n_rows, n_clusters)
        Positive probabilities.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    beta : float
        Inverse temperature.
    n_points : int
        Number of factors, from 0 to 1.

    Returns
    -------
    MarginEnergyPath
        The path; margins in nats.
    """
    shares = weights / weights.sum()
    n_clusters = q.shape[1]
    logs = np.log(q)
    mean = shares @ q
    best = -xlogy(mean, mean).sum()
    a = np.linspace(0, 1, n_points)
    margin = np.array(
        [best + shares @ np.sum(q * log_softmax(f * logs, axis=1), axis=1) for f in a]
    )
    gaps = logs - logs.mean(axis=1, keepdims=True)
    size = shares @ np.sum(gaps**2, axis=1)
    energy = a**2 * size * (n_clusters - 1) / (2 * n_clusters * beta**2)
    return MarginEnergyPath(a, margin, energy)
