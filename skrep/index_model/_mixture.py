"""Scores of both orders under a Gaussian mixture."""

from dataclasses import dataclass, field

import numpy as np
import scipy.linalg

from skrep.index_model._mixture_fit import Mixture, fit_mixture, responsibilities
from skrep.index_model._row_scores import fisher_root, linear_part, outer_sums
from skrep.linalg import moment_blocks
from skrep.typing import FloatArray

__all__ = ["MixtureScores", "mixture_scores"]


@dataclass(frozen=True)
class MixtureScores:
    r"""Scores of rows under a Gaussian mixture.

    With the posterior probabilities :math:`\gamma_j` of the components and :math:`u_j
    = Q_j^{-1} (z - m_j)`,

    .. math:: s = \sum_j \gamma_j u_j, \qquad
        T = \sum_j \gamma_j (u_j u_j^\top - Q_j^{-1}).

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0.
    weights : ndarray of shape (n_rows,)
        Their weights.
    mixture : Mixture
        Their density.
    floor : float, default=1.0
        What the Fisher information is not below, one over the variance of the rows.
    """

    Z: FloatArray
    weights: FloatArray
    mixture: Mixture
    floor: float = 1.0
    metric: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "metric", fisher_root(self.information(), self.floor))

    def first(self, G: FloatArray) -> FloatArray:
        """Average features times the score; see `RowScores`."""
        slopes, rest = linear_part(self.Z, self.weights, G)
        rest *= (self.weights / self.weights.sum())[:, None]
        posterior, _ = responsibilities(self.mixture, self.Z)
        moments = slopes
        for odds, mean, covariance in zip(posterior.T, *self.mixture[1:], strict=True):
            shares = rest * odds[:, None]
            gaps = shares.T @ self.Z - np.outer(shares.sum(axis=0), mean)
            moments = moments + scipy.linalg.solve(covariance, gaps.T, assume_a="pos").T
        return moments

    def second(self, G: FloatArray) -> FloatArray:
        """Average features times the score of order two; see `RowScores`."""
        rest = linear_part(self.Z, self.weights, G)[1]
        rest *= (self.weights / self.weights.sum())[:, None]
        posterior, _ = responsibilities(self.mixture, self.Z)
        k = self.Z.shape[1]
        moments = np.zeros((G.shape[1], k, k))
        for odds, mean, covariance in zip(posterior.T, *self.mixture[1:], strict=True):
            shares = rest * odds[:, None]
            precision = scipy.linalg.inv(covariance)
            moments += outer_sums((self.Z - mean) @ precision, shares)
            moments -= shares.sum(axis=0)[:, None, None] * precision
        return moments

    def information(self) -> FloatArray:
        """Average outer products of the score.

        Returns
        -------
        ndarray of shape (rank, rank)
            The Fisher information.
        """
        k = self.Z.shape[1]
        total = np.zeros((k, k))
        for part in moment_blocks(self.Z):
            rows = self.Z[part]
            posterior, _ = responsibilities(self.mixture, rows)
            scores = np.zeros_like(rows)
            for odds, mean, covariance in zip(
                posterior.T, *self.mixture[1:], strict=True
            ):
                scores += odds[:, None] * _solved(covariance, rows - mean)
            total += (scores * self.weights[part, None]).T @ scores
        return total / self.weights.sum()


def mixture_scores(
    Z: FloatArray, weights: FloatArray, random_state: object
) -> MixtureScores:
    """Fit a mixture to whitened rows and take its scores.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0 and covariance one.
    weights : ndarray of shape (n_rows,)
        Non-negative weights; 2 is a row twice, 0 an absent one.
    random_state : int, RandomState instance or None
        Randomness of the starts.

    Returns
    -------
    MixtureScores
        The scores.
    """
    Z = np.asarray(Z, dtype=np.float64)
    return MixtureScores(Z, weights, fit_mixture(Z, weights, random_state).mixture)


def _solved(covariance: FloatArray, gaps: FloatArray) -> FloatArray:
    solved: FloatArray = scipy.linalg.solve(covariance, gaps.T, assume_a="pos").T
    return solved
