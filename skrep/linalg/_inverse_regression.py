"""Inverse regression: candidate matrices from moments of whitened slices."""

from typing import NamedTuple

import numpy as np

from skrep.linalg._moments import GroupMoments
from skrep.linalg._slice_moments import SliceMoments
from skrep.linalg._whitening import Whitening
from skrep.typing import FloatArray

__all__ = [
    "WhitenedSlices",
    "averaged_variances",
    "directional_regression",
    "inverse_means",
    "slice_features",
    "whiten_slices",
]


class WhitenedSlices(NamedTuple):
    """Moments of the slices of one response, in whitened coordinates.

    Parameters
    ----------
    counts : ndarray of shape (n_slices,)
        Sums of the weights.
    means : ndarray of shape (n_slices, rank)
        Mean of z within each slice.
    seconds : ndarray of shape (n_slices, rank, rank) or None
        Mean of zz' within each slice.
    """

    counts: FloatArray
    means: FloatArray
    seconds: FloatArray | None

    @property
    def shares(self) -> FloatArray:
        """Share of the weight in each slice."""
        return self.counts / self.counts.sum()


def whiten_slices(
    slices: GroupMoments | SliceMoments, white: Whitening
) -> WhitenedSlices:
    """Carry the moments of slices to whitened coordinates; rows are not needed.

    Parameters
    ----------
    slices : GroupMoments or SliceMoments
        Moments in raw columns.
    white : Whitening
        The map.

    Returns
    -------
    WhitenedSlices
        The moments; second ones come from `SliceMoments` alone.
    """
    means = (slices.means - white.mean) @ white.map
    if isinstance(slices, GroupMoments):
        return WhitenedSlices(slices.weights, means, None)
    seconds = white.map.T @ (slices.scatters @ white.map)
    seconds /= slices.weights[:, None, None]
    seconds += means[:, :, None] * means[:, None, :]
    return WhitenedSlices(slices.weights, means, seconds)


def slice_features(slices: WhitenedSlices) -> tuple[FloatArray, FloatArray | None]:
    r"""Stein moments of the slice indicators under the Gaussian score.

    With :math:`g_h = (1[y \in h] - p_h)/\sqrt{p_h}` these are :math:`a_h =
    \sqrt{p_h}\,(m_h - m)` and :math:`A_h = \sqrt{p_h}\,(S_h - S)`.

    Parameters
    ----------
    slices : WhitenedSlices
        Moments of the slices.

    Returns
    -------
    first : ndarray of shape (n_slices, rank)
        Moments of order one.
    second : ndarray of shape (n_slices, rank, rank) or None
        Moments of order two.
    """
    shares = slices.shares
    roots = np.sqrt(shares)
    first = roots[:, None] * (slices.means - shares @ slices.means)
    if slices.seconds is None:
        return first, None
    whole = np.einsum("h,hij->ij", shares, slices.seconds)
    return first, roots[:, None, None] * (slices.seconds - whole)


def inverse_means(slices: WhitenedSlices) -> FloatArray:
    r"""Candidate matrix of sliced inverse regression, :math:`\sum_h p_h m_h m_h^\top`.

    Parameters
    ----------
    slices : WhitenedSlices
        Moments of the slices.

    Returns
    -------
    ndarray of shape (rank, rank)
        The matrix.
    """
    return (slices.means.T * slices.shares) @ slices.means


def averaged_variances(slices: WhitenedSlices) -> FloatArray:
    r"""Candidate matrix of SAVE, :math:`\sum_h p_h (I - \Sigma_h)^2`.

    The covariance within a slice has the divisor :math:`n_h - 1`; slices of less than
    two rows are left out.

    Parameters
    ----------
    slices : WhitenedSlices
        Moments of the slices, with second ones.

    Returns
    -------
    ndarray of shape (rank, rank)
        The matrix.
    """
    assert slices.seconds is not None
    enough = slices.counts >= 2
    counts, means = slices.counts[enough], slices.means[enough]
    within = slices.seconds[enough] - means[:, :, None] * means[:, None, :]
    # The identity, unless the whitening has a ridge.
    whole = np.einsum("h,hij->ij", slices.shares, slices.seconds)
    gaps = whole - within * (counts / (counts - 1))[:, None, None]
    return _sum_of_squares(gaps * np.sqrt(slices.shares[enough])[:, None, None])


def directional_regression(slices: WhitenedSlices) -> FloatArray:
    r"""Candidate matrix of directional regression.

    .. math:: 2 \sum_h p_h S_h^2 + 2 M^2 + 2\,\mathrm{tr}(M)\, M - 2 I,

    with M that of sliced inverse regression and :math:`S_h` the second moments.

    Parameters
    ----------
    slices : WhitenedSlices
        Moments of the slices, with second ones.

    Returns
    -------
    ndarray of shape (rank, rank)
        The matrix.
    """
    first, second = slice_features(slices)
    assert second is not None
    M = first.T @ first
    return 2 * (_sum_of_squares(second) + M @ M + np.trace(M) * M)


def _sum_of_squares(matrices: FloatArray) -> FloatArray:
    """Sum of the squares of symmetric matrices, as one product."""
    wide = matrices.swapaxes(0, 1).reshape(matrices.shape[1], -1)
    return wide @ wide.T
