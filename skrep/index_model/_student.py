"""Student's t of many variables: its fit, and its score of order two."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import scipy.linalg
from scipy.special import gammaln

from skrep.index_model._row_scores import linear_part, outer_sums
from skrep.typing import FloatArray

__all__ = ["Student", "StudentScores", "fit_student", "mardia_nu", "student_scores"]

_MAX_PASSES = 200
_TOLERANCE = 1e-7
_FEWEST_NU, _MOST_NU = 0.5, 1e4


class Student(NamedTuple):
    """Degrees of freedom, center (k,), scale matrix (k, k), and log-likelihood."""

    nu: float
    center: FloatArray
    scale: FloatArray
    log_likelihood: float


@dataclass(frozen=True)
class StudentScores:
    r"""Scores of whitened rows under Student's t: Gaussian at order one.

    With :math:`u = Q^{-1} (z - m)`, :math:`\delta = u^\top Q u` and :math:`c = (\nu +
    k) / (\nu + \delta)`,

    .. math:: T = \Big(c^2 + \frac{2c}{\nu + \delta}\Big) u u^\top - c\, Q^{-1}.

    At order one the rows themselves serve, as for a Gaussian: t is elliptical, so that
    their moments are consistent, and they leave the tails their say.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Whitened rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    nu : float
        Degrees of freedom; infinite for a Gaussian.
    center : ndarray of shape (rank,)
        The center m.
    scale : ndarray of shape (rank, rank)
        The scale matrix Q, of a Gaussian its covariance.
    """

    Z: FloatArray
    weights: FloatArray
    nu: float
    center: FloatArray
    scale: FloatArray
    metric: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", np.eye(len(self.scale)))

    def first(self, G: FloatArray) -> FloatArray:
        """Average features times the Gaussian score; see `RowScores`."""
        return linear_part(self.Z, self.weights, G)[0]

    def second(self, G: FloatArray) -> FloatArray:
        """Average features times the score of order two; see `RowScores`."""
        precision = scipy.linalg.inv(self.scale)
        gaps = self.Z - self.center
        rows = gaps @ precision
        damping, outer = np.ones(len(rows)), np.ones(len(rows))
        if np.isfinite(self.nu):
            spread = self.nu + np.einsum("ij,ij->i", rows, gaps)
            damping = (self.nu + rows.shape[1]) / spread
            outer = damping**2 + 2 * damping / spread
        rest = linear_part(self.Z, self.weights, G)[1]
        rest *= (self.weights / self.weights.sum())[:, None]
        sums = outer_sums(rows, rest * outer[:, None])
        sums -= (damping @ rest)[:, None, None] * precision
        return sums


def student_scores(Z: FloatArray, weights: FloatArray) -> StudentScores:
    r"""Fit Student's t to whitened rows.

    Mardia's kurtosis [1]_ tells the degrees of freedom, see `mardia_nu`; the scale is
    then :math:`(\nu - 2) / \nu` times the identity. It never answers four or fewer, so
    below six the likelihood is maximized instead. Tails lighter than those of a
    Gaussian are taken for Gaussian.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0 and covariance one.
    weights : ndarray of shape (n_rows,)
        Non-negative weights; 2 is a row twice, 0 an absent one.

    Returns
    -------
    StudentScores
        The scores.

    References
    ----------
    .. [1] Mardia, K. V. (1970). Measures of multivariate skewness and kurtosis with
       applications. Biometrika, 57(3), 519-530.
    """
    Z, k = np.asarray(Z, dtype=np.float64), Z.shape[1]
    nu = mardia_nu(Z, weights)
    if nu < 6:
        found = fit_student(Z, weights)
        return StudentScores(Z, weights, found.nu, found.center, found.scale)
    share = 1.0 if np.isinf(nu) else (nu - 2) / nu
    return StudentScores(Z, weights, nu, np.zeros(k), share * np.eye(k))


def mardia_nu(Z: FloatArray, weights: FloatArray) -> float:
    r"""Degrees of freedom from the kurtosis of whitened rows.

    With :math:`\kappa = E\|z\|^4 / (k (k + 2)) = (\nu - 2) / (\nu - 4)` it is
    :math:`(4 \kappa - 2) / (\kappa - 1)`, more than four.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0 and covariance one.
    weights : ndarray of shape (n_rows,)
        Their weights.

    Returns
    -------
    float
        The number; infinite where the kurtosis is no more than that of a Gaussian.
    """
    k = Z.shape[1]
    squares = np.einsum("ij,ij->i", Z, Z)
    kurtosis = weights @ squares**2 / weights.sum() / (k * (k + 2))
    return float((4 * kurtosis - 2) / (kurtosis - 1)) if kurtosis > 1 else np.inf


def fit_student(Z: FloatArray, weights: FloatArray) -> Student:
    r"""Maximize the likelihood of Student's t by expectation-maximization.

    Rows weigh :math:`c_i = (\nu + k) / (\nu + \delta_i)`; the scale is divided by the
    sum of these [1]_, and the degrees of freedom maximize the likelihood given the
    rest. So that columns of few values end in no singular scale, k + 1 rows of scale
    one count as seen beside the others.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0 and covariance one.
    weights : ndarray of shape (n_rows,)
        Their weights.

    Returns
    -------
    Student
        The fit.

    References
    ----------
    .. [1] Kent, J. T., Tyler, D. E. and Vardi, Y. (1994). A curious likelihood identity
       for the multivariate t-distribution. Communications in Statistics - Simulation
       and Computation, 23(2), 441-453.
    """
    from scipy.optimize import minimize_scalar

    k, total = Z.shape[1], weights.sum()
    center, scale, last = np.zeros(k), np.eye(k), -np.inf

    def log_likelihood(nu: float, deltas: FloatArray, log_volume: float) -> float:
        constant = gammaln((nu + k) / 2) - gammaln(nu / 2) - k / 2 * np.log(nu * np.pi)
        tail = (nu + k) / 2 * (weights @ np.log1p(deltas / nu))
        return float(total * (constant - log_volume) - tail)

    for _ in range(_MAX_PASSES):
        root = np.linalg.cholesky(scale)
        gaps = Z - center
        solved = scipy.linalg.solve_triangular(root, gaps.T, lower=True)
        deltas = np.einsum("ji,ji->i", solved, solved)
        terms = deltas, np.log(np.diag(root)).sum()
        found = minimize_scalar(
            lambda log_nu, terms: -log_likelihood(np.exp(log_nu), *terms),
            bounds=(np.log(_FEWEST_NU), np.log(_MOST_NU)),
            args=(terms,),
            method="bounded",
        )
        nu, value = float(np.exp(found.x)), -float(found.fun)
        if value - last < _TOLERANCE * total:
            break
        last = value
        pulls = weights * (nu + k) / (nu + deltas)
        moved = center + pulls @ gaps / pulls.sum()
        gaps += center - moved
        scatter = (gaps * pulls[:, None]).T @ gaps + (k + 1) * np.eye(k)
        center, scale = moved, scatter / (pulls.sum() + k + 1)
    return Student(nu, center, scale, value)
