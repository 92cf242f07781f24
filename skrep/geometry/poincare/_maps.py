"""Between points and tangent vectors, between origin and points, between models."""

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
    ratio,
)
from skrep.geometry.poincare._metric import mobius_sum
from skrep.typing import FloatArray

__all__ = [
    "ball_exp",
    "ball_log",
    "exp_map",
    "exp_map_origin",
    "geodesic",
    "log_map",
    "log_map_origin",
    "to_hyperboloid",
    "transport_from_origin",
]

# Its squared hyperbolic cosine is finite, and its tangent is 1.
_FAR = 300.0


def exp_map(
    x: npt.ArrayLike, v: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Go from points along tangent vectors, as far as the vectors are long.

    At curvature -1,

    .. math:: \exp_x(v) = x \oplus \tanh\Bigl(\frac{\lambda_x \|v\|}{2}\Bigr)
              \frac{v}{\|v\|}.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Points of the ball.
    v : array-like of shape (..., n_components)
        Tangent vectors at these points, in the coordinates of the ball, of length
        :math:`\lambda_x \|v\|`.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Points strictly inside the ball, however long the vectors.

    See Also
    --------
    log_map : The inverse.
    exp_map_origin : The same from the origin, in normal coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> x, v = np.array([0.5, 0.0]), np.array([0.0, 0.375])
    >>> y = poincare.exp_map(x, v)
    >>> print(poincare.distance(x, y).round(12))
    1.0
    >>> poincare.log_map(x, y).round(12)
    array([0.   , 0.375])
    """
    who = "poincare.exp_map"
    root = curvature_root(who, curvature)
    (x, v), dtype = doubles(x, v)
    one_space(who, x=x, v=v)
    point = ball_exp(root * x, root * v, who)
    return cast(inside(point, dtype) / dtype.type(root), dtype)


def log_map(
    x: npt.ArrayLike, y: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Find the tangent vectors that lead from points to others.

    At curvature -1, with :math:`w = (-x) \oplus y`,

    .. math:: \log_x(y) = \frac{d(x, y)}{\lambda_x} \frac{w}{\|w\|}.

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
        Tangent vectors at `x`, in the coordinates of the ball; 0 where `y` is `x`.

    See Also
    --------
    exp_map : The inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> x, y = np.array([0.5, 0.0]), np.array([0.0, 0.5])
    >>> v = poincare.log_map(x, y)
    >>> print(poincare.distance(poincare.exp_map(x, v), y).round(12))
    0.0
    """
    who = "poincare.log_map"
    root = curvature_root(who, curvature)
    (x, y), dtype = doubles(x, y)
    one_space(who, x=x, y=y)
    return cast(ball_log(root * x, root * y, who)[0] / root, dtype)


def exp_map_origin(v: npt.ArrayLike, *, curvature: float = -1.0) -> FloatArray:
    r"""Map tangent vectors at the origin to points, each at its length as distance.

    The vectors are in normal coordinates: :math:`\tanh(\|v\| / 2)\, v / \|v\|` at
    curvature -1.

    Parameters
    ----------
    v : array-like of shape (..., n_components)
        Tangent vectors whose Euclidean length is the distance from the origin.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Points strictly inside the ball, however long the vectors.

    See Also
    --------
    log_map_origin : The inverse.
    exp_map : From any point, in the coordinates of the ball; at the origin those are
        half the normal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> x = poincare.exp_map_origin(np.array([0.0, 3.0]))
    >>> print(poincare.distance(np.zeros(2), x).round(12))
    3.0
    """
    root = curvature_root("poincare.exp_map_origin", curvature)
    (v,), dtype = doubles(v)
    v = root * v
    length = norms(v)
    point = v * ratio(np.tanh(length / 2), length, 0.5)[..., None]
    return cast(inside(point, dtype) / dtype.type(root), dtype)


def log_map_origin(x: npt.ArrayLike, *, curvature: float = -1.0) -> FloatArray:
    r"""Map points to the tangent vectors at the origin that lead to them.

    The vectors are in normal coordinates: :math:`2 \operatorname{artanh}(\|x\|)\,
    x / \|x\|` at curvature -1.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Points of the ball.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Tangent vectors whose Euclidean length is the distance from the origin.

    See Also
    --------
    exp_map_origin : The inverse.
    to_polar : Length and direction apart.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> poincare.log_map_origin(np.array([0.0, 0.5])).round(3)
    array([0.   , 1.099])
    """
    who = "poincare.log_map_origin"
    root = curvature_root(who, curvature)
    (x,), dtype = doubles(x)
    x = root * x
    length = norms(x)
    radius = 2 * np.arcsinh(length / np.sqrt(gaps(x, who)))
    return cast(x * (ratio(radius, length, 2.0) / root)[..., None], dtype)


def transport_from_origin(
    x: npt.ArrayLike, v: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Carry tangent vectors from the origin to points along geodesics.

    .. math:: v \mapsto v / \lambda_x

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Points of the ball.
    v : array-like of shape (..., n_components)
        Tangent vectors at the origin in normal coordinates: their Euclidean lengths
        and angles are the hyperbolic ones.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Tangent vectors at `x` in the coordinates of the ball, of the same lengths and
        angles: ``exp_map(x, transport_from_origin(x, v))`` is at distance ``norm(v)``
        from `x`.

    See Also
    --------
    exp_map : Where they lead.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> x = np.array([0.6, 0.0])
    >>> v = poincare.transport_from_origin(x, np.array([3.0, 4.0]))
    >>> print(poincare.distance(x, poincare.exp_map(x, v)).round(12))
    5.0
    """
    who = "poincare.transport_from_origin"
    root = curvature_root(who, curvature)
    (x, v), dtype = doubles(x, v)
    one_space(who, x=x, v=v)
    return cast(v * (gaps(root * x, who) / 2)[..., None], dtype)


def geodesic(
    x: npt.ArrayLike, y: npt.ArrayLike, t: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    """Give points of the geodesics between points.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Where geodesics start.
    y : array-like of shape (..., n_components)
        Where they end.
    t : array-like of shape (...)
        Shares of the way, 0 at `x` and 1 at `y`; they broadcast against the axes of
        the points before the last.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        The points.

    See Also
    --------
    midpoint : The middle of many points.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> x, y = np.array([0.8, 0.0]), np.array([0.0, 0.0])
    >>> poincare.geodesic(x, y, [0.0, 0.5, 1.0]).round(12)
    array([[0.8, 0. ],
           [0.5, 0. ],
           [0. , 0. ]])
    """
    who = "poincare.geodesic"
    root = curvature_root(who, curvature)
    (x, y), dtype = doubles(x, y)
    one_space(who, x=x, y=y)
    x, y = root * x, root * y
    t = np.asarray(t, np.float64)[..., None]
    there = ball_exp(x, t * ball_log(x, y, who)[0])
    back = ball_exp(y, (1 - t) * ball_log(y, x)[0])
    point = np.where(t <= 0.5, there, back)
    return cast(inside(point, dtype) / dtype.type(root), dtype)


def to_hyperboloid(x: npt.ArrayLike, *, curvature: float = -1.0) -> FloatArray:
    r"""Map points of the ball to the hyperboloid.

    At curvature -1,

    .. math:: x \mapsto \frac{(1 + \|x\|^2, 2 x)}{1 - \|x\|^2}.

    Parameters
    ----------
    x : array-like of shape (..., n_components)
        Points of the ball.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components + 1)
        Points of the hyperboloid, the time-like coordinate first.

    See Also
    --------
    skrep.geometry.hyperboloid.to_ball : The inverse.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> poincare.to_hyperboloid(np.array([0.5, 0.0]))
    array([1.66666667, 1.33333333, 0.        ])
    """
    who = "poincare.to_hyperboloid"
    root = curvature_root(who, curvature)
    (x,), dtype = doubles(x)
    x = root * x
    gap = gaps(x, who)[..., None]
    point = np.concatenate([2 - gap, 2 * x], axis=-1) / gap
    return cast(point / root, dtype)


def ball_exp(x: FloatArray, v: FloatArray, who: str | None = None) -> FloatArray:
    """`exp_map` in float64 at curvature -1; a result may round to the boundary."""
    length = norms(v)
    gap = gaps(x, who)
    half = length / gap
    step = v * ratio(np.tanh(half), length, 1 / gap)[..., None]
    return mobius_sum(x, gap, step, 1 / np.cosh(np.minimum(half, _FAR)) ** 2)


def ball_log(
    x: FloatArray, y: FloatArray, who: str | None = None
) -> tuple[FloatArray, Any]:
    """`log_map` in float64 at curvature -1, and the distances."""
    change = y - x
    x_gap, y_gap = gaps(x, who, "x"), gaps(y, who, "y")
    length = norms(change)
    lengths = 2 * np.arcsinh(length / (np.sqrt(x_gap) * np.sqrt(y_gap)))
    # Of unit scale, so that no square underflows.
    unit = change * ratio(1.0, length, 0.0)[..., None]
    toward = x_gap[..., None] * unit - length[..., None] * x
    factor = ratio(x_gap * lengths / 2, norms(toward), 0.0)
    return toward * factor[..., None] * (length > 0)[..., None], lengths
