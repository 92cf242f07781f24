"""Distances in the ball, Mobius addition, and the largest radius of a type."""

import math
from typing import Any

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
    pairwise,
    ratio,
)
from skrep.typing import FloatArray

__all__ = [
    "conformal_factor",
    "distance",
    "max_radius",
    "mobius_add",
    "mobius_sum",
    "pairwise_distances",
    "project",
]


def distance(
    x: npt.ArrayLike, y: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Compute hyperbolic distances between points.

    At curvature -1,

    .. math:: d(x, y) = 2 \operatorname{arsinh}
              \frac{\|x - y\|}{\sqrt{(1 - \|x\|^2)(1 - \|y\|^2)}}.

    The difference is taken first, so that near points keep their digits, and
    :math:`1 - \|x\|^2` is summed without loss, so that far ones do: what is lost far
    out is lost when coordinates are rounded, about 1e-8 of a distance of 1 at radius
    20 in float64, and 1e-3 at radius 30.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Points of the ball.
    y : array-like of shape (..., n_components)
        Points that broadcast against them.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (...)
        The distances; exactly 0 between equal points, NaN where a point is not inside
        the ball.

    Raises
    ------
    ValueError
        If the points have not as many coordinates.

    Warns
    -----
    RuntimeWarning
        If a point is not inside the ball.

    See Also
    --------
    pairwise_distances : Between all rows of two arrays.
    polar_distance : Between points farther out than coordinates can tell.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> x = np.array([0.5, 0.1])
    >>> print(f"{poincare.distance(x, x + [1e-9, 0.0]):.3g}")
    2.7e-09
    """
    who = "poincare.distance"
    root = curvature_root(who, curvature)
    (x, y), dtype = doubles(x, y)
    one_space(who, x=x, y=y)
    x, y = root * x, root * y
    scales = np.sqrt(gaps(x, who, "x")) * np.sqrt(gaps(y, who, "y"))
    return cast(2 / root * np.arcsinh(norms(x - y) / scales), dtype)


def pairwise_distances(
    X: npt.ArrayLike, Y: npt.ArrayLike | None = None, *, curvature: float = -1.0
) -> FloatArray:
    """Compute hyperbolic distances between all rows of two arrays.

    Besides the result no more than a few MiB are taken.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_components)
        Points of the ball.
    Y : array-like of shape (n_others, n_components), default=None
        Other points; None takes X.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (n_rows, n_others)
        The distances, as `distance` defines them. Where Y is None they are symmetric,
        with zeros on the diagonal.

    See Also
    --------
    distance : Between points that correspond.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> X = np.array([[0.0, 0.0], [0.5, 0.0], [0.0, -0.5]])
    >>> poincare.pairwise_distances(X).round(3)
    array([[0.   , 1.099, 1.099],
           [1.099, 0.   , 1.681],
           [1.099, 1.681, 0.   ]])
    """
    who = "poincare.pairwise_distances"
    root = curvature_root(who, curvature)
    (rows, others), dtype = doubles(X, X if Y is None else Y)
    one_space(who, X=rows, Y=others)
    rows, others = root * rows, root * others
    row_gaps = gaps(rows, who, "X")
    other_gaps = row_gaps if Y is None else gaps(others, who, "Y")
    out = np.empty((len(rows), len(others)), dtype)
    pairwise(rows, row_gaps, others, other_gaps, out)
    out /= dtype.type(root)
    return out


def conformal_factor(x: npt.ArrayLike, *, curvature: float = -1.0) -> FloatArray:
    r"""Compute how much longer a tangent vector is than its coordinates say.

    .. math:: \lambda_x = \frac{2}{1 + \kappa \|x\|^2}

    with the curvature :math:`\kappa`.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Points of the ball.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (...)
        The factors, from 2 at the origin up.

    See Also
    --------
    exp_map : Where a tangent vector leads.

    Examples
    --------
    >>> from skrep.geometry import poincare
    >>> print(poincare.conformal_factor([0.6, 0.0]))
    3.125
    """
    who = "poincare.conformal_factor"
    root = curvature_root(who, curvature)
    (x,), dtype = doubles(x)
    return cast(2 / gaps(root * x, who), dtype)


def mobius_add(
    x: npt.ArrayLike, y: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Translate points y by the isometry that takes the origin to x.

    With :math:`s = x + y`, at curvature -1,

    .. math:: x \oplus y = \frac{\|s\|^2 x + (1 - \|x\|^2) s}
              {\|s\|^2 + (1 - \|x\|^2)(1 - \|y\|^2)},

    which is the usual quotient [1]_, arranged so that nothing cancels.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Points of the ball.
    y : array-like of shape (..., n_components)
        Points that broadcast against them.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Points strictly inside the ball. ``mobius_add(-x, mobius_add(x, y))`` is y.

    See Also
    --------
    exp_map : Go from x along a tangent vector.

    References
    ----------
    .. [1] Ungar, A. A. (2008). A gyrovector space approach to hyperbolic geometry.
       Morgan & Claypool.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> poincare.mobius_add(np.array([0.5, 0.0]), np.array([0.5, 0.0]))
    array([0.8, 0. ])
    """
    who = "poincare.mobius_add"
    root = curvature_root(who, curvature)
    (x, y), dtype = doubles(x, y)
    one_space(who, x=x, y=y)
    x, y = root * x, root * y
    total = mobius_sum(x, gaps(x, who, "x"), y, gaps(y, who, "y"))
    return cast(inside(total, dtype) / dtype.type(root), dtype)


def mobius_sum(
    x: FloatArray, x_gaps: FloatArray, y: FloatArray, y_gaps: FloatArray
) -> FloatArray:
    """Mobius addition in float64, at curvature -1, of points whose gaps are known."""
    total = x + y
    square = np.einsum("...i,...i->...", total, total)
    numerator = square[..., None] * x + x_gaps[..., None] * total
    return numerator / (square + x_gaps * y_gaps)[..., None]


def max_radius(dtype: npt.DTypeLike, *, curvature: float = -1.0) -> float:
    """Give the largest distance from the origin that points of a type can have.

    Their norm is then two units of rounding below that of the boundary. Distances out
    there are good to a digit at best: see `distance`.

    Parameters
    ----------
    dtype : dtype
        A floating-point type.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    float
        ``log(1 / eps)`` at curvature -1: 36.04 for float64, 15.94 for float32.

    See Also
    --------
    project : Bring points within it.

    Examples
    --------
    >>> from skrep.geometry import poincare
    >>> round(poincare.max_radius("float64"), 2)
    36.04
    """
    root = curvature_root("poincare.max_radius", curvature)
    return -math.log(float(np.finfo(np.dtype(dtype)).eps)) / root


def project(
    x: npt.ArrayLike, *, max_radius: float | None = None, curvature: float = -1.0
) -> FloatArray:
    """Pull points that are too far out towards the origin.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Finite points, inside the ball or not.
    max_radius : float or None, default=None
        The largest hyperbolic distance from the origin; None, and any above it, is
        that of :func:`max_radius` for the type of `x`. Not negative.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Points within that distance, but for rounding, and strictly inside the ball.
        Those that were keep their coordinates.

    Raises
    ------
    ValueError
        If `max_radius` is negative or NaN.

    See Also
    --------
    max_radius : The limit of a type.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> inner = poincare.project(np.array([[0.3, 0.4], [3.0, 4.0]]), max_radius=2.0)
    >>> poincare.distance(inner, np.zeros(2)).round(3)
    array([1.099, 2.   ])
    """
    root = curvature_root("poincare.project", curvature)
    (x,), dtype = doubles(x)
    if max_radius is not None and not max_radius >= 0:
        raise ValueError(
            f"poincare.project: 'max_radius' is {max_radius}. A distance is 0 or more. "
            "Pass None for the largest."
        )
    limit = _limit(dtype)
    radius = limit if max_radius is None else min(root * max_radius, limit)
    x = root * x
    length = norms(x)
    edge = math.tanh(radius / 2)
    beyond = length > edge * (1 + 4 * float(np.finfo(dtype).eps))
    factor = np.where(beyond, ratio(edge, length, 1.0), 1.0)
    return cast(inside(x * factor[..., None], dtype) / dtype.type(root), dtype)


def _limit(dtype: Any) -> float:
    return max_radius(dtype)
