"""Stein moments of response features, in whitened coordinates."""

from typing import NamedTuple

import numpy as np

from skrep.index_model._cross import CrossMoments
from skrep.linalg import (
    Moments,
    WhitenedSlices,
    Whitening,
    slice_features,
    whitening,
)
from skrep.typing import FloatArray

__all__ = ["Features", "of_responses", "of_slices"]


class Features(NamedTuple):
    r"""Moments :math:`a_g = E[g(y) s(z)]` and :math:`A_g = E[g(y) T(z)]` of centered
    response features g of unit variance.

    Parameters
    ----------
    first : ndarray of shape (n_features, rank)
        The moments :math:`a_g`.
    second : ndarray of shape (n_features, rank, rank) or None
        The moments :math:`A_g`, where order two was asked for.
    shares : ndarray of shape (n_features,) or None
        Shares of the weight, for indicators of slices; None for numbers.
    ordered : bool
        Whether neighbors among the slices are alike.
    """

    first: FloatArray
    second: FloatArray | None
    shares: FloatArray | None
    ordered: bool


def of_slices(slices: WhitenedSlices, *, ordered: bool) -> Features:
    """Take the indicators of slices, under the Gaussian score.

    Parameters
    ----------
    slices : WhitenedSlices
        Moments of the slices.
    ordered : bool
        False for classes.

    Returns
    -------
    Features
        Their moments.
    """
    first, second = slice_features(slices)
    return Features(first, second, slices.shares, ordered)


def of_responses(moments: CrossMoments, white: Whitening) -> Features:
    r"""Take numeric responses, whitened, under the Gaussian score.

    Order one is then canonical correlation analysis, order two that of principal
    Hessian directions.

    Parameters
    ----------
    moments : CrossMoments
        Moments of rows and responses.
    white : Whitening
        The map of the rows.

    Returns
    -------
    Features
        Moments of as many features as the responses have dimensions.
    """
    d = moments.n_features
    joint = moments.joint
    responses = response_map(moments)
    cross = joint.scatter[:d, d:] / joint.weight
    first = responses.T @ cross.T @ white.map
    if moments.thirds is None:
        return Features(first, None, None, False)
    mixed = np.einsum("jg,jab->gab", responses, moments.thirds / joint.weight)
    second = white.map.T @ (mixed @ white.map)
    return Features(first, second, None, False)


def response_map(moments: CrossMoments) -> FloatArray:
    """Map responses to uncorrelated ones of unit variance.

    Parameters
    ----------
    moments : CrossMoments
        Moments of rows and responses.

    Returns
    -------
    ndarray of shape (n_outputs, rank)
        The map; constant responses have rows of zeros.
    """
    d, joint = moments.n_features, moments.joint
    own = Moments(joint.weight, joint.mean[d:], joint.scatter[d:, d:])
    return whitening(own).map
