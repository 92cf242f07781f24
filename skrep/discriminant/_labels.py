"""Moments of rows that may bear several labels at once."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skrep.linalg import Moments, moment_blocks
from skrep.typing import FloatArray

__all__ = ["LabelMoments"]


@dataclass(frozen=True)
class LabelMoments:
    r"""Moments of all rows, and weights and means of those with each label.

    Label l parts the rows in two groups of shares :math:`p_l` and :math:`1 - p_l`. Its
    variance between groups is of rank one, :math:`b_l b_l^\top` with

    .. math:: b_l = \sqrt{p_l / (1 - p_l)}\,(m_l - m),

    and what it leaves of the covariance of all rows is its variance within. So no label
    needs a matrix of its own.

    Parameters
    ----------
    rows : Moments
        Moments of all rows.
    weights : ndarray of shape (n_labels,)
        Sum of the weights of the rows with each label.
    means : ndarray of shape (n_labels, n_features)
        Their weighted means; 0 for a label that no row has.
    n_rows : int
        Number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.discriminant._labels import LabelMoments
    >>> X, Y = np.array([[0.0], [2.0], [4.0]]), np.array([[1, 0], [1, 1], [0, 1]])
    >>> moments = LabelMoments.of(X, Y, np.ones(3))
    >>> moments.means.ravel()
    array([1., 3.])
    >>> moments.within.round(4), moments.contrasts.round(4).ravel()
    (array([[0.6667]]), array([-1.,  1.]))
    """

    rows: Moments
    weights: FloatArray
    means: FloatArray
    n_rows: int

    @classmethod
    def of(cls, X: FloatArray, Y: FloatArray, weights: FloatArray) -> Self:
        """Measure rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows.
        Y : ndarray of shape (n_rows, n_labels)
            1 where a row has a label, 0 elsewhere.
        weights : ndarray of shape (n_rows,)
            Positive weights.

        Returns
        -------
        LabelMoments
            The moments.
        """
        rows = Moments.of(X, weights)
        totals = weights @ Y
        sums = np.zeros((Y.shape[1], X.shape[1]))
        for part in moment_blocks(X):
            sums += (Y[part] * weights[part, None]).T @ (X[part] - rows.mean)
        found = totals > 0
        means = np.zeros_like(sums)
        means[found] = rows.mean + sums[found] / totals[found, None]
        return cls(rows, totals, means, len(X))

    def merge(self, other: "LabelMoments") -> Self:
        """Join the moments of further rows.

        Parameters
        ----------
        other : LabelMoments
            Moments of other rows with the same columns and labels.

        Returns
        -------
        LabelMoments
            The moments of all rows; both are left as they were.
        """
        weights = self.weights + other.weights
        share = np.divide(
            other.weights, weights, out=np.zeros_like(weights), where=weights > 0
        )
        means = self.means + share[:, None] * (other.means - self.means)
        n_rows = self.n_rows + other.n_rows
        return type(self)(self.rows.merge(other.rows), weights, means, n_rows)

    def total(self) -> Moments:
        """Give the moments of all rows.

        Returns
        -------
        Moments
            Those of X.
        """
        return self.rows

    @property
    def contrasts(self) -> FloatArray:
        """Root of the mean variance between groups, a row for each label that varies.

        A label that all rows have, or none, parts nothing and is left out.
        """
        shares = self.weights / self.rows.weight
        # Sums of weights that differ by rounding alone are all of them.
        varies = (shares > 0) & (shares < 1 - 1e-12)
        shares = shares[varies, None]
        gaps = self.means[varies] - self.rows.mean
        contrasts: FloatArray = gaps * np.sqrt(shares / (1 - shares) / len(gaps))
        return contrasts

    @property
    def within(self) -> FloatArray:
        """Mean covariance within the groups of the labels that vary."""
        contrasts = self.contrasts
        return self.rows.covariance - contrasts.T @ contrasts
