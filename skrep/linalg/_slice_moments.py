"""Moments of every class or slice, second moments included, that merge exactly."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg.blas

from skrep.linalg._grouped import grouped_gaps, number_labels, present_rows
from skrep.linalg._moments import Moments
from skrep.typing import AnyArray, FloatArray, IntArray

__all__ = ["SliceMoments"]


@dataclass(frozen=True)
class SliceMoments:
    r"""Weight, mean and scatter of every group of rows, in float64.

    A group is a class, or a slice of a numeric target. Together the groups cost what
    the moments of all rows cost, as each row is in one of them.

    Parameters
    ----------
    labels : ndarray of shape (n_groups,)
        Distinct labels, sorted.
    weights : ndarray of shape (n_groups,)
        Sum of the weights of each group, positive.
    means : ndarray of shape (n_groups, n_features)
        Weighted mean of each group.
    scatters : ndarray of shape (n_groups, n_features, n_features)
        Weighted sum of :math:`(x - m_g)(x - m_g)^\top` of each group.
    n_rows : int
        Number of rows of positive weight.

    See Also
    --------
    GroupMoments : The same with one pooled scatter.
    Moments : The moments of all rows as one group.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import SliceMoments
    >>> X = np.array([[0.0], [2.0], [9.0]])
    >>> slices = SliceMoments.of(X, np.array([0, 0, 1]))
    >>> slices.means.ravel(), slices.scatters.ravel()
    (array([1., 9.]), array([2., 0.]))
    >>> slices.total().mean.round(4)
    array([3.6667])
    """

    labels: AnyArray
    weights: FloatArray
    means: FloatArray
    scatters: FloatArray
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
        SliceMoments
            The moments. A group whose weights are all zero is absent.
        """
        X, labels, weights = present_rows(X, labels, weights)
        found, codes = number_labels(labels)
        totals = np.bincount(codes, weights).astype(np.float64)
        means, scatters = _measure(X, codes, weights, totals)
        return cls(found, totals, means, scatters, len(X))

    def merge(self, other: "SliceMoments") -> Self:
        """Join the moments of further rows.

        Parameters
        ----------
        other : SliceMoments
            Moments of other rows with the same columns; its groups may be new.

        Returns
        -------
        SliceMoments
            The moments of all rows; both are left as they were.
        """
        labels, codes = np.unique(
            np.concatenate([self.labels, other.labels]), return_inverse=True
        )
        mine, theirs = codes[: len(self.labels)], codes[len(self.labels) :]
        width = self.means.shape[1]
        weights = np.zeros((2, len(labels)))
        means = np.zeros((2, len(labels), width))
        scatters = np.zeros((len(labels), width, width))
        weights[0, mine], means[0, mine] = self.weights, self.means
        weights[1, theirs], means[1, theirs] = other.weights, other.means
        scatters[mine] += self.scatters
        scatters[theirs] += other.scatters
        totals = weights.sum(axis=0)
        share = weights[1] / totals
        gaps = means[1] - means[0]
        for group in np.flatnonzero((weights > 0).all(axis=0)):
            gap = gaps[group]
            scatters[group] += np.outer(gap, gap * (weights[0, group] * share[group]))
        merged = means[0] + gaps * share[:, None]
        merged[weights[0] == 0] = means[1, weights[0] == 0]
        merged[weights[1] == 0] = means[0, weights[1] == 0]
        n_rows = self.n_rows + other.n_rows
        return type(self)(labels, totals, merged, scatters, n_rows)

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
        return Moments(weight, mean, self.scatters.sum(axis=0) + gaps.T @ gaps)


def _measure(
    X: FloatArray, codes: IntArray, weights: FloatArray, totals: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Means of groups, and the scatter of each about its own."""
    n_groups, width = len(totals), X.shape[1]
    pivots, sums = np.zeros((2, n_groups, width))
    scatters = [np.zeros((width, width), order="F") for _ in range(n_groups)]
    even = bool(np.all(weights == 1))
    for gaps, load, ends in grouped_gaps(X, codes, weights, pivots):
        for group in np.flatnonzero(np.diff(ends)):
            part = slice(ends[group], ends[group + 1])
            sums[group] += load[part] @ gaps[part]
            if not even:
                gaps[part] *= np.sqrt(load[part])[:, None]
            scatters[group] = scipy.linalg.blas.dsyrk(
                1.0, gaps[part].T, beta=1.0, c=scatters[group], overwrite_c=1
            )
    offsets = sums / totals[:, None]
    stacked = np.empty((n_groups, width, width))
    for place, upper in enumerate(scatters):
        upper -= np.outer(offsets[place], sums[place])
        stacked[place] = np.triu(upper) + np.triu(upper, 1).T
    return pivots + offsets, stacked
