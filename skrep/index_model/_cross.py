"""Moments of rows together with numeric responses, up to the third mixed ones."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from skrep.linalg import Moments, moment_blocks
from skrep.typing import FloatArray

__all__ = ["CrossMoments"]


@dataclass(frozen=True)
class CrossMoments:
    r"""Moments of rows and responses as one, and :math:`\sum w\,\dot y\,\dot x \dot
    x^\top` of every response, where dots are deviations from the means; in float64.

    Two sets of rows merge exactly: with :math:`e = m_p - m` and :math:`f = \bar y_p -
    \bar y` of part p, scatter :math:`S_p` and cross products :math:`c_p`,

    .. math:: T = \sum_p T_p + f_p S_p + e_p c_p^\top + c_p e_p^\top
        + w_p f_p e_p e_p^\top.

    Parameters
    ----------
    joint : Moments
        Moments of the columns of X followed by those of y.
    thirds : ndarray of shape (n_outputs, n_features, n_features) or None
        The third moments, where order two asks for them.
    n_features : int
        Number of columns of X.
    n_rows : int
        Number of rows of positive weight.
    """

    joint: Moments
    thirds: FloatArray | None
    n_features: int
    n_rows: int

    @classmethod
    def of(
        cls, X: FloatArray, y: FloatArray, weights: FloatArray, *, third: bool
    ) -> Self:
        """Measure rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows.
        y : ndarray of shape (n_rows, n_outputs)
            Their responses.
        weights : ndarray of shape (n_rows,)
            Positive weights.
        third : bool
            Whether third moments are needed.

        Returns
        -------
        CrossMoments
            The moments.
        """
        # What overflows is infinite, and is refused by who asks.
        with np.errstate(over="ignore", invalid="ignore"):
            joint = _joint(X, y, weights)
            thirds = _thirds(X, y, weights, joint.mean) if third else None
        return cls(joint, thirds, X.shape[1], len(X))

    def merge(self, other: "CrossMoments") -> Self:
        """Join the moments of further rows.

        Parameters
        ----------
        other : CrossMoments
            Moments of other rows with the same columns and responses.

        Returns
        -------
        CrossMoments
            The moments of all rows; both are left as they were.
        """
        joint = self.joint.merge(other.joint)
        n_rows = self.n_rows + other.n_rows
        if self.thirds is None or other.thirds is None:
            return type(self)(joint, None, self.n_features, n_rows)
        thirds = np.zeros_like(self.thirds)
        d = self.n_features
        for part, parts in ((self, self.thirds), (other, other.thirds)):
            gap = part.joint.mean - joint.mean
            e, scatter = gap[:d], part.joint.scatter
            for output, f in enumerate(gap[d:]):
                shift = np.outer(e, scatter[:d, d + output])
                thirds[output] += parts[output] + f * scatter[:d, :d]
                thirds[output] += shift + shift.T
                thirds[output] += np.outer(e, e * (part.joint.weight * f))
        return type(self)(joint, thirds, self.n_features, n_rows)

    def scaled(self, factors: FloatArray) -> Self:
        """Multiply the responses by numbers.

        Parameters
        ----------
        factors : ndarray of shape (n_outputs,)
            One for each response; powers of two are exact.

        Returns
        -------
        CrossMoments
            The moments of the products.
        """
        both = np.concatenate([np.ones(self.n_features), factors])
        joint = self.joint
        scaled = Moments(
            joint.weight, joint.mean * both, joint.scatter * both * both[:, None]
        )
        thirds = self.thirds
        if thirds is not None:
            thirds = thirds * factors[:, None, None]
        return type(self)(scaled, thirds, self.n_features, self.n_rows)

    def total(self) -> Moments:
        """Give the moments of the rows alone.

        Returns
        -------
        Moments
            The moments.
        """
        d, joint = self.n_features, self.joint
        return Moments(joint.weight, joint.mean[:d], joint.scatter[:d, :d])


def _joint(X: FloatArray, y: FloatArray, weights: FloatArray) -> Moments:
    weight = float(weights.sum())
    pivot = np.concatenate([X[0].astype(np.float64), y[0]])
    sums, products = np.zeros(len(pivot)), np.zeros((len(pivot), len(pivot)))
    for rows in moment_blocks(X):
        gaps = np.hstack([X[rows], y[rows]]) - pivot
        sums += weights[rows] @ gaps
        products += gaps.T @ (gaps * weights[rows, None])
    offset = sums / weight
    return Moments(weight, pivot + offset, products - np.outer(sums, offset))


def _thirds(
    X: FloatArray, y: FloatArray, weights: FloatArray, mean: FloatArray
) -> FloatArray:
    d, q = X.shape[1], y.shape[1]
    thirds = np.zeros((q, d, d))
    for rows in moment_blocks(X):
        gaps = X[rows] - mean[:d]
        loads = (y[rows] - mean[d:]) * weights[rows, None]
        for output, load in enumerate(loads.T):
            thirds[output] += gaps.T @ (gaps * load[:, None])
    return thirds
