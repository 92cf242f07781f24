r"""Triangles with a corner at the origin, at any size.

From a point at distance p of the origin an edge of length l leaves at the angle gamma
to the direction of the origin. Its end is at distance q of the origin, and

.. math:: \sinh^2(q / 2) = \sinh^2((p - l) / 2) + \sinh p \sinh l \sin^2(\gamma / 2).

All forms here are scaled by exp(-p - l), so that nothing overflows and nothing cancels.
"""

from typing import NamedTuple

import numpy as np

from skrep.typing import FloatArray

__all__ = ["Triangle", "far_side", "solve_triangle"]


class Triangle(NamedTuple):
    """What follows from two sides and the angle between them.

    Parameters
    ----------
    side : ndarray
        The third side q: how far the end of the edge is from the origin.
    turn : ndarray
        The angle at the origin, times ``exp(p)``: it underflows for itself.
    back : ndarray
        The angle at the end, between the directions of the origin and of the edge.
    """

    side: FloatArray
    turn: FloatArray
    back: FloatArray


def far_side(p: FloatArray, length: FloatArray, log_share: FloatArray) -> FloatArray:
    r"""Compute the third side from two and the angle between them.

    Parameters
    ----------
    p, length : ndarray
        Two sides, 0 or more.
    log_share : ndarray
        :math:`\log \sin^2(\gamma / 2)`; minus infinity where the angle is 0.

    Returns
    -------
    ndarray
        The third side.
    """
    with np.errstate(divide="ignore"):
        near = -2 * np.minimum(p, length) + 2 * np.log(-np.expm1(-np.abs(p - length)))
        wide = log_share + np.log(np.expm1(-2 * p) * np.expm1(-2 * length))
    # The logarithm of sinh(q / 2).
    t = (p + length + np.logaddexp(near, wide)) / 2 - np.log(2)
    high = np.maximum(t, 0)
    large = high + np.log1p(np.sqrt(1 + np.exp(-2 * high)))
    return np.where(t > 0, 2 * large, 2 * np.arcsinh(np.exp(np.minimum(t, 0))))


def solve_triangle(
    p: FloatArray, length: FloatArray, sine: FloatArray, share: FloatArray
) -> Triangle:
    r"""Solve the triangle of the origin, a point and the end of an edge from it.

    Parameters
    ----------
    p : ndarray
        Distance of the point from the origin.
    length : ndarray
        Length of the edge, positive.
    sine : ndarray
        :math:`\sin \gamma \ge 0`.
    share : ndarray
        :math:`\sin^2(\gamma / 2)`.

    Returns
    -------
    Triangle
        The third side and the other two angles.
    """
    with np.errstate(divide="ignore"):
        side = far_side(p, length, np.log(share))
    flat_p, flat_l = np.exp(-2 * p), np.exp(-2 * length)
    turn = np.arctan2(
        np.exp(-p) * (1 - flat_l) * sine,
        flat_l - flat_p + share * (1 + flat_p) * (1 - flat_l),
    )
    far = p > 300
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scaled = np.where(
            far,
            (1 - flat_l) * sine / (flat_l + share * (1 - flat_l)),
            turn * np.exp(np.minimum(p, 300)),
        )
    back = np.arctan2(
        np.exp(-length) * (1 - flat_p) * sine,
        flat_p - flat_l + share * (1 + flat_l) * (1 - flat_p),
    )
    return Triangle(side, scaled, back)
