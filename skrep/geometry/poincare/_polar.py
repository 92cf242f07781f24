"""Points as a distance from the origin and a direction: for those far out."""

import numpy as np
import numpy.typing as npt

from skrep.geometry._hyperbolic import (
    cast,
    curvature_root,
    doubles,
    gaps,
    inside,
    norms,
    one_space,
    ratio,
)
from skrep.typing import FloatArray

__all__ = ["from_polar", "polar_distance", "to_polar"]

# Beyond this radius products of hyperbolic sines are taken in logarithms.
_FAR = 350.0


def to_polar(
    x: npt.ArrayLike, *, curvature: float = -1.0
) -> tuple[FloatArray, FloatArray]:
    """Split points into their distance from the origin and their direction.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Points of the ball.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    rho : ndarray of shape (...)
        Hyperbolic distances from the origin.
    direction : ndarray of shape (..., n_components)
        Unit vectors; 0 for the origin, which has no direction.

    See Also
    --------
    from_polar : The inverse.
    polar_distance : Distances in this form, for points of any radius.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> rho, direction = poincare.to_polar(np.array([0.3, 0.4]))
    >>> print(rho.round(3), direction)
    1.099 [0.6 0.8]
    """
    who = "poincare.to_polar"
    root = curvature_root(who, curvature)
    (x,), dtype = doubles(x)
    x = root * x
    length = norms(x)
    rho = 2 / root * np.arcsinh(length / np.sqrt(gaps(x, who)))
    direction: FloatArray = x * ratio(1.0, length, 0.0)[..., None]
    return cast(rho, dtype), cast(direction, dtype)


def from_polar(
    rho: npt.ArrayLike, direction: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    """Place points at a distance from the origin in a direction.

    Parameters
    ----------
    rho : array-like of shape (...)
        Hyperbolic distances from the origin. Beyond `max_radius` points are placed
        there.
    direction : array-like of shape (..., n_components)
        Unit vectors; for distance 0 any.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Points strictly inside the ball.

    See Also
    --------
    to_polar : The inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> poincare.from_polar(np.log(3), np.array([0.6, 0.8])).round(12)
    array([0.3, 0.4])
    """
    root = curvature_root("poincare.from_polar", curvature)
    (direction, rho), dtype = doubles(direction, rho)
    point = np.tanh(root * rho / 2)[..., None] * direction
    return cast(inside(point, dtype) / dtype.type(root), dtype)


def polar_distance(
    rho_x: npt.ArrayLike,
    u_x: npt.ArrayLike,
    rho_y: npt.ArrayLike,
    u_y: npt.ArrayLike,
    *,
    curvature: float = -1.0,
) -> FloatArray:
    r"""Compute distances between points in polar form, however far out.

    At curvature -1,

    .. math:: \sinh^2 \frac d 2 = \sinh^2 \frac{\rho_x - \rho_y} 2
              + \sinh \rho_x \sinh \rho_y \frac{\|u_x - u_y\|^2} 4,

    in logarithms where the sines would overflow.

    Parameters
    ----------
    rho_x : array-like of shape (...)
        Distances from the origin.
    u_x : array-like of shape (..., n_components)
        Their directions, unit vectors.
    rho_y : array-like of shape (...)
        Distances that broadcast against the others.
    u_y : array-like of shape (..., n_components)
        Their directions.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (...)
        The distances.

    See Also
    --------
    distance : From coordinates.
    to_polar : The polar form of points.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> u, w = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    >>> print(poincare.polar_distance(500.0, u, 500.0, w).round(4))
    999.3069
    """
    who = "poincare.polar_distance"
    root = curvature_root(who, curvature)
    (rho_x, u_x, rho_y, u_y), dtype = doubles(rho_x, u_x, rho_y, u_y)
    one_space(who, u_x=u_x, u_y=u_y)
    rho_x, rho_y = root * rho_x, root * rho_y
    chord = norms(u_x - u_y) / 2
    gap = np.abs(rho_x - rho_y) / 2
    far = np.maximum(rho_x, rho_y) > _FAR
    near_x, near_y = np.minimum(rho_x, _FAR), np.minimum(rho_y, _FAR)
    cross = np.sqrt(np.sinh(near_x)) * np.sqrt(np.sinh(near_y)) * chord
    near = 2 * np.arcsinh(np.hypot(np.sinh(np.minimum(gap, _FAR)), cross))
    if far.any():
        with np.errstate(divide="ignore"):
            logs = _log_sinh(rho_x) / 2 + _log_sinh(rho_y) / 2 + np.log(chord)
            half = np.logaddexp(2 * _log_sinh(gap), 2 * logs) / 2
        small = np.arcsinh(np.exp(np.minimum(half, _FAR)))
        near = np.where(far, 2 * np.where(half > _FAR, half + np.log(2), small), near)
    return cast(near / root, dtype)


def _log_sinh(x: FloatArray) -> FloatArray:
    """Logarithm of the hyperbolic sine of numbers that are not negative."""
    return np.asarray(x + np.log(-np.expm1(-2 * x) / 2))
