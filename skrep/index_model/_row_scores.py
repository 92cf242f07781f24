"""What the score models share: the protocol, and sums over blocks of rows."""

from typing import Protocol

import numpy as np
import scipy.linalg

from skrep.linalg import moment_blocks
from skrep.typing import FloatArray

__all__ = ["RowScores", "fisher_root", "linear_part", "outer_sums"]


class RowScores(Protocol):
    r"""Scores of the density p of whitened rows z, as sums over the rows alone.

    They are :math:`s = -\nabla \log p` and :math:`T = \nabla^2 p / p`.
    """

    @property
    def metric(self) -> FloatArray:
        r"""Symmetric root F of the Fisher information :math:`J = E[s s^\top]`.

        A feature that does not depend on z has first moments of covariance J / n: they
        are compared after a division by F, and a direction v found there is F v in z.
        Of shape (rank, rank).
        """

    def first(self, G: FloatArray) -> FloatArray:
        """Average features of the response times the score.

        Parameters
        ----------
        G : ndarray of shape (n_rows, n_responses)
            Features of weighted mean 0.

        Returns
        -------
        ndarray of shape (n_responses, rank)
            The averages.
        """

    def second(self, G: FloatArray) -> FloatArray:
        """Average features of the response times the score of order two.

        Parameters
        ----------
        G : ndarray of shape (n_rows, n_responses)
            Features of weighted mean 0.

        Returns
        -------
        ndarray of shape (n_responses, rank, rank)
            Symmetric averages.
        """


def linear_part(
    Z: FloatArray, weights: FloatArray, G: FloatArray
) -> tuple[FloatArray, FloatArray]:
    r"""Split features into a part that is linear in the rows, and the rest.

    Whatever the density, :math:`E[z s^\top] = I` and :math:`E[z_j T] = 0`. So the
    scores need to be averaged over the rest alone, which is smaller.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0.
    weights : ndarray of shape (n_rows,)
        Their weights.
    G : ndarray of shape (n_rows, n_responses)
        Features of weighted mean 0.

    Returns
    -------
    slopes : ndarray of shape (n_responses, rank)
        Weighted means of g z.
    rest : ndarray of shape (n_rows, n_responses)
        G minus the part of these slopes.
    """
    slopes = (G * (weights / weights.sum())[:, None]).T @ Z
    return slopes, G - Z @ slopes.T


def outer_sums(rows: FloatArray, factors: FloatArray) -> FloatArray:
    """Sum outer products of rows, times one factor after the other.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, rank)
        Rows.
    factors : ndarray of shape (n_rows, n_factors)
        Factors of any sign.

    Returns
    -------
    ndarray of shape (n_factors, rank, rank)
        Symmetric sums.
    """
    sums = np.zeros((factors.shape[1], rows.shape[1], rows.shape[1]))
    for part in moment_blocks(rows):
        block = rows[part]
        for total, factor in zip(sums, factors[part].T, strict=True):
            total += (block * factor[:, None]).T @ block
    return (sums + sums.transpose(0, 2, 1)) / 2


def fisher_root(information: FloatArray, floor: float = 1.0) -> FloatArray:
    """Symmetric square root of a Fisher information.

    Parameters
    ----------
    information : ndarray of shape (rank, rank)
        The information, of a sample.
    floor : float, default=1.0
        What no eigenvalue is below in a population, by the bound of Cramér and Rao:
        one over the variance.

    Returns
    -------
    ndarray of shape (rank, rank)
        The root.
    """
    values, vectors = scipy.linalg.eigh(information)
    root: FloatArray = (vectors * np.sqrt(np.maximum(values, floor))) @ vectors.T
    return root
