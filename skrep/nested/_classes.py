"""Axes that tell classes apart, the most telling first."""

from typing import NamedTuple

import numpy as np
import scipy.linalg
import scipy.special

from skrep.linalg import GroupMoments, oas_shrinkage, settle_null
from skrep.typing import FloatArray
from skrep.utils import row_blocks

__all__ = [
    "Axes",
    "class_axes",
    "pair_weights",
    "residual_axes",
]


class Axes(NamedTuple):
    """Ordered directions and what each is worth.

    Parameters
    ----------
    directions : ndarray of shape (n_features, n_axes)
        The directions, as columns; their lengths matter.
    values : ndarray of shape (n_axes,)
        The objective along each, non-increasing.
    """

    directions: FloatArray
    values: FloatArray


def pair_weights(
    means: FloatArray, shares: FloatArray, chosen: slice = slice(None)
) -> FloatArray:
    r"""Weights of the pairs of classes, :math:`p_a p_b \,
    \mathrm{erf}(D_{ab} / 2\sqrt 2) / 2 D_{ab}^2`.

    With them the weighted between-class scatter approximates the mean accuracy of
    telling two classes apart [1]_: pairs that are far apart anyhow do not rule the
    first axes.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_features)
        Class means in coordinates where the covariance within classes is the identity.
    shares : ndarray of shape (n_classes,)
        Shares of the classes, with sum one.
    chosen : slice, default=slice(None)
        The classes a whose pairs with all classes b are wanted.

    Returns
    -------
    ndarray of shape (n_chosen, n_classes)
        The weights, 0 for a class and itself.

    References
    ----------
    .. [1] Loog, M., Duin, R. P. W. and Haeb-Umbach, R. (2001). Multiclass linear
       dimension reduction by weighted pairwise Fisher criteria. IEEE Transactions on
       Pattern Analysis and Machine Intelligence, 23(7), 762-766.
    """
    squares = np.einsum("ij,ij->i", means, means)
    distances = squares[chosen, None] + squares - 2 * means[chosen] @ means.T
    own = np.arange(len(means))[chosen]
    # Equal means differ along no axis: their weight is of no consequence.
    distances[np.arange(len(own)), own] = 1
    distances[distances <= 0] = 1
    weights: FloatArray = scipy.special.erf(np.sqrt(distances / 8)) / (2 * distances)
    weights *= shares[chosen, None] * shares
    weights[np.arange(len(own)), own] = 0
    return weights


def class_axes(groups: GroupMoments, shrinkage: float | None = None) -> Axes:
    r"""Discriminant axes by the pairwise weighted Fisher criterion.

    Coordinates are whitened by the shrunk covariance within classes. There the axes are
    the eigenvectors of the weighted scatter of the pairs of class means, and each is
    scaled by :math:`\sqrt{\lambda / (1 + \lambda)}`, with :math:`\lambda` the variance
    between classes along it.

    Parameters
    ----------
    groups : GroupMoments
        Moments of the classes.
    shrinkage : float or None, default=None
        Intensity of the shrinkage of the covariance within classes, from 0 to 1; None
        takes that of the oracle approximating estimator.

    Returns
    -------
    Axes
        At most ``n_classes - 1`` axes: none for one class, or equal means.
    """
    weight = groups.weights.sum()
    shares = groups.weights / weight
    gaps = groups.means - shares @ groups.means
    whitening = _whitening(groups, gaps, shares, shrinkage)
    means = gaps @ whitening
    between = means * np.sqrt(shares)[:, None]
    span, lengths, _ = scipy.linalg.svd(between.T, full_matrices=False)
    rank = min(len(means) - 1, int(np.sum(lengths > 1e-9 * lengths[0])))
    if not lengths[0] > 0:
        rank = 0
    span = span[:, :rank]
    inside = means @ span
    pulled = np.empty_like(inside)
    for chosen in row_blocks(len(means), 32 * len(means)):
        pairs = pair_weights(means, shares, chosen)
        pulled[chosen] = pairs.sum(axis=1)[:, None] * inside[chosen] - pairs @ inside
    values, axes = np.linalg.eigh(inside.T @ pulled)
    values, axes = np.maximum(values[::-1], 0), axes[:, ::-1]
    variances = shares @ (inside @ axes) ** 2
    scaled = axes * np.sqrt(variances / (1 + variances))
    return Axes(whitening @ span @ scaled, values)


def _whitening(
    groups: GroupMoments,
    gaps: FloatArray,
    shares: FloatArray,
    shrinkage: float | None,
) -> FloatArray:
    weight = groups.weights.sum()
    within = groups.scatter / weight
    if shrinkage is None:
        # Weights count rows; where they sum to less, as shares do, rows count.
        shrinkage = oas_shrinkage(within, max(weight, groups.n_rows))
    level = np.trace(within) / len(within)
    spread = float(shares @ np.einsum("ij,ij->i", gaps, gaps)) / len(within)
    # Rows that equal their class's mean tell nothing about the noise.
    if level <= 1e-12 * spread:
        return np.eye(len(within)) / np.sqrt(spread or 1.0)
    values, vectors = np.linalg.eigh(within)
    shrunk = (1 - shrinkage) * np.maximum(values, 0) + shrinkage * level
    kept = shrunk > 1e-12 * shrunk[-1] if level > 0 else shrunk > 0
    return vectors[:, kept] / np.sqrt(shrunk[kept])


def residual_axes(covariance: FloatArray, directions: FloatArray) -> Axes:
    """Principal axes of what is orthogonal to given directions.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        Covariance of all rows.
    directions : ndarray of shape (n_features, n_directions)
        Linearly independent directions, possibly none.

    Returns
    -------
    Axes
        ``n_features - n_directions`` orthonormal axes and the variances along them.
    """
    n_directions = directions.shape[1]
    complement = np.eye(len(covariance))
    if n_directions:
        complement = scipy.linalg.qr(directions)[0][:, n_directions:]
    values, axes = np.linalg.eigh(complement.T @ covariance @ complement)
    return Axes(*settle_null(complement @ axes[:, ::-1], values[::-1]))
