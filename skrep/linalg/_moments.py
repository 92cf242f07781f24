"""Weighted means, and moments that merge exactly, whole and about group means."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from skrep.linalg._blocks import moment_blocks
from skrep.linalg._grouped import grouped_gaps, number_labels, present_rows
from skrep.typing import AnyArray, FloatArray, IntArray, Matrix
from skrep.utils import row_blocks

__all__ = ["GroupMoments", "Moments", "weighted_mean"]


@dataclass(frozen=True)
class Moments:
    r"""Weight, mean and scatter of rows, in float64.

    Two sets of rows merge by the update of Chan, Golub and LeVeque [1]_,

    .. math:: S = S_a + S_b + \frac{w_a w_b}{w_a + w_b}
        (m_a - m_b)(m_a - m_b)^\top,

    so that rows may come in blocks, in any order and from any machine.

    Parameters
    ----------
    weight : float
        Sum of the weights.
    mean : ndarray of shape (n_features,)
        Weighted mean.
    scatter : ndarray of shape (n_features, n_features)
        Weighted sum of :math:`(x - m)(x - m)^\top`.

    See Also
    --------
    GroupMoments : The same about the means of classes or slices.

    References
    ----------
    .. [1] Chan, T. F., Golub, G. H. and LeVeque, R. J. (1983). Algorithms for
       computing the sample variance: analysis and recommendations. The American
       Statistician, 37(3), 242-247.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import Moments
    >>> halves = [Moments.of(np.array([[x]])) for x in (1.0, 3.0)]
    >>> whole = halves[0].merge(halves[1])
    >>> whole.mean, whole.covariance
    (array([2.]), array([[1.]]))
    """

    weight: float
    mean: FloatArray
    scatter: FloatArray

    @classmethod
    def of(cls, X: Matrix, weights: FloatArray | None = None) -> Self:
        """Measure rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
            Rows. Dense ones are measured about the mean of the first block. Sparse
            ones stay sparse and are centered after the product, which loses digits
            where means are far larger than deviations.
        weights : ndarray of shape (n_rows,) or None
            Non-negative weights, not all zero; None weighs every row 1.

        Returns
        -------
        Moments
            The moments.
        """
        if weights is None:
            weights = np.ones(X.shape[0])
        if sp.issparse(X):
            return cls(*_of_sparse(X, weights))
        return cls(*_of_dense(X, weights))

    def merge(self, other: "Moments") -> Self:
        """Join the moments of further rows.

        Parameters
        ----------
        other : Moments
            Moments of other rows with the same columns.

        Returns
        -------
        Moments
            The moments of all rows; both are left as they were.
        """
        weight = self.weight + other.weight
        if not other.weight or not self.weight:
            kept = self if self.weight else other
            return type(self)(kept.weight, kept.mean, kept.scatter)
        gap = other.mean - self.mean
        scatter = np.outer(gap, gap * (self.weight * (other.weight / weight)))
        scatter += self.scatter
        scatter += other.scatter
        return type(self)(weight, self.mean + gap * (other.weight / weight), scatter)

    @property
    def covariance(self) -> FloatArray:
        """Scatter over weight, of shape (n_features, n_features)."""
        return self.scatter / self.weight


@dataclass(frozen=True)
class GroupMoments:
    r"""Weights and means of groups, and the pooled scatter about them, in float64.

    A group is a class, or a slice of a numeric target. The scatter within groups is
    one matrix for all of them: :math:`\sum_g \sum_{i \in g} w_i (x_i - m_g)
    (x_i - m_g)^\top`.

    Parameters
    ----------
    labels : ndarray of shape (n_groups,)
        Distinct labels, sorted.
    weights : ndarray of shape (n_groups,)
        Sum of the weights of each group, positive.
    means : ndarray of shape (n_groups, n_features)
        Weighted mean of each group.
    scatter : ndarray of shape (n_features, n_features)
        Pooled scatter within groups.
    n_rows : int
        Number of rows of positive weight.

    See Also
    --------
    Moments : The moments of all rows as one group.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import GroupMoments
    >>> X = np.array([[0.0], [2.0], [9.0]])
    >>> groups = GroupMoments.of(X, np.array(["a", "a", "b"]))
    >>> groups.means.ravel(), groups.scatter.ravel()
    (array([1., 9.]), array([2.]))
    >>> groups.total().mean.round(4)
    array([3.6667])
    """

    labels: AnyArray
    weights: FloatArray
    means: FloatArray
    scatter: FloatArray
    n_rows: int

    @classmethod
    def of(
        cls, X: FloatArray, labels: AnyArray, weights: FloatArray | None = None
    ) -> Self:
        """Measure rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows.
        labels : ndarray of shape (n_rows,)
            The group of each row.
        weights : ndarray of shape (n_rows,) or None
            Non-negative weights, not all zero; None weighs every row 1.

        Returns
        -------
        GroupMoments
            The moments. A group whose weights are all zero is absent.
        """
        X, labels, weights = present_rows(X, labels, weights)
        found, codes = number_labels(labels)
        totals = np.bincount(codes, weights).astype(np.float64)
        means, scatter = _of_groups(X, codes, weights, totals)
        return cls(found, totals, means, scatter, len(X))

    def merge(self, other: "GroupMoments") -> Self:
        """Join the moments of further rows.

        Parameters
        ----------
        other : GroupMoments
            Moments of other rows with the same columns; its groups may be new.

        Returns
        -------
        GroupMoments
            The moments of all rows; both are left as they were.
        """
        labels, codes = np.unique(
            np.concatenate([self.labels, other.labels]), return_inverse=True
        )
        weights = np.zeros((2, len(labels)))
        means = np.zeros((2, len(labels), self.means.shape[1]))
        mine, theirs = codes[: len(self.labels)], codes[len(self.labels) :]
        weights[0, mine], means[0, mine] = self.weights, self.means
        weights[1, theirs], means[1, theirs] = other.weights, other.means
        totals = weights.sum(axis=0)
        gaps = means[1] - means[0]
        shared = gaps * np.sqrt(weights[0] * (weights[1] / totals))[:, None]
        merged = means[0] + gaps * (weights[1] / totals)[:, None]
        scatter = self.scatter + other.scatter + shared.T @ shared
        return type(self)(labels, totals, merged, scatter, self.n_rows + other.n_rows)

    def total(self) -> Moments:
        """Give the moments of all rows as one group.

        Returns
        -------
        Moments
            Weight, mean and scatter within and between groups.
        """
        weight = float(self.weights.sum())
        mean = self.weights @ self.means / weight
        gaps = (self.means - mean) * np.sqrt(self.weights)[:, None]
        return Moments(weight, mean, self.scatter + gaps.T @ gaps)


def weighted_mean(X: Matrix, weights: FloatArray) -> FloatArray:
    r"""Mean of the rows, :math:`\sum_i w_i x_i / \sum_i w_i`.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights, not all zero.

    Returns
    -------
    ndarray of shape (n_features,), float64
        The mean.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import weighted_mean
    >>> weighted_mean(np.array([[0.0], [3.0]]), np.array([1.0, 2.0]))
    array([2.])
    """
    weights = weights / weights.sum()
    if sp.issparse(X):
        return X.T @ weights
    mean = np.zeros(X.shape[1])
    for rows in row_blocks(X.shape[0], 8 * X.shape[1]):
        mean += weights[rows] @ X[rows].astype(np.float64, copy=False)
    return mean


def _of_dense(
    X: FloatArray, weights: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    weight = float(weights.sum())
    first = next(moment_blocks(X))
    light = weights[first] if weights[first].any() else np.ones(len(X[first]))
    pivot = weighted_mean(X[first], light)
    offset, scatter = np.zeros(len(pivot)), np.zeros((len(pivot), len(pivot)))
    for rows in moment_blocks(X):
        gaps = X[rows] - pivot
        offset += weights[rows] @ gaps
        if not np.all(weights[rows] == 1):
            gaps *= np.sqrt(weights[rows])[:, None]
        scatter += gaps.T @ gaps
    offset /= weight
    scatter -= np.outer(offset, offset * weight)
    return weight, pivot + offset, scatter


def _of_sparse(X: Any, weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    weight = float(weights.sum())
    wide = X.astype(np.float64)
    mean = wide.T @ weights / weight
    products = wide.T @ wide.multiply(weights[:, None]).tocsr()
    return weight, mean, products.toarray() - np.outer(mean, mean * weight)


def _of_groups(
    X: FloatArray, codes: IntArray, weights: FloatArray, totals: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means of groups, and the pooled scatter about them."""
    width = X.shape[1]
    pivots, sums = np.zeros((2, len(totals), width))
    scatter = np.zeros((width, width))
    even = bool(np.all(weights == 1))
    for gaps, load, ends in grouped_gaps(X, codes, weights, pivots):
        for group in np.flatnonzero(np.diff(ends)):
            part = slice(ends[group], ends[group + 1])
            sums[group] += load[part] @ gaps[part]
        if not even:
            gaps *= np.sqrt(load)[:, None]
        scatter += gaps.T @ gaps
    offsets = sums / totals[:, None]
    return pivots + offsets, scatter - sums.T @ offsets
