"""Between points and tangent vectors, gradients, and the way to the ball."""

from typing import Any

import numpy as np
import numpy.typing as npt

from skrep.geometry._hyperbolic import (
    cast,
    curvature_root,
    doubles,
    inside,
    norms,
    one_space,
    ratio,
)
from skrep.geometry.hyperboloid._metric import half_chord, inner, times
from skrep.geometry.poincare._maps import to_hyperboloid
from skrep.geometry.poincare._means import midpoint as ball_midpoint
from skrep.typing import FloatArray

__all__ = [
    "exp_map",
    "exp_map_origin",
    "log_map",
    "log_map_origin",
    "midpoint",
    "project",
    "riemannian_gradient",
    "to_ball",
]


def exp_map(
    x: npt.ArrayLike, v: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Go from points along tangent vectors, as far as the vectors are long.

    At curvature -1, :math:`\exp_x(v) = \cosh \|v\|\, x + \sinh \|v\|\, v / \|v\|` with
    the Minkowski length :math:`\|v\|`; then the time-like coordinate is set anew.

    Parameters
    ----------
    x : array-like of shape (..., n_components + 1)
        Points of the hyperboloid.
    v : array-like of shape (..., n_components + 1)
        Tangent vectors at these points. Their coordinates in space tell them.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components + 1)
        Points of the hyperboloid. Vectors so long that the result would overflow are
        shortened.

    See Also
    --------
    log_map : The inverse.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> y = hyperboloid.exp_map([1.0, 0.0], [0.0, 1.0])
    >>> y.round(4)
    array([1.5431, 1.1752])
    >>> hyperboloid.log_map([1.0, 0.0], y).round(12)
    array([0., 1.])
    """
    who = "hyperboloid.exp_map"
    root = curvature_root(who, curvature)
    (x, v), dtype = doubles(x, v)
    one_space(who, x=x, v=v)
    space, vector = root * x[..., 1:], root * v[..., 1:]
    length = norms(space)
    outward: FloatArray = space * ratio(1.0, length, 0.0)[..., None]
    along = np.einsum("...i,...i->...", outward, vector)
    across = norms(vector - along[..., None] * outward)
    whole = np.hypot(across, along / np.hypot(1.0, length))
    way = np.minimum(whole, _longest(dtype))
    vector = vector * ratio(np.sinh(way), whole, 1.0)[..., None]
    point = np.cosh(way)[..., None] * space + vector
    return cast(_with_time(point) / root, dtype)


def log_map(
    x: npt.ArrayLike, y: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Find the tangent vectors that lead from points to others.

    At curvature -1, with the distance d,

    .. math:: \log_x(y) = \frac d {\sinh d}
              \Bigl(y - x - 2 \sinh^2 \frac d 2\, x\Bigr),

    and the time-like coordinate is set so that the vector is tangent.

    Parameters
    ----------
    x : array-like of shape (..., n_components + 1)
        Points of the hyperboloid.
    y : array-like of shape (..., n_components + 1)
        Points that broadcast against them.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components + 1)
        Tangent vectors at `x`; 0 where `y` is `x`.

    See Also
    --------
    exp_map : The inverse.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> x, y = hyperboloid.exp_map_origin([[1.0, 0.0], [3.0, 0.0]])
    >>> v = hyperboloid.log_map(x, y)
    >>> print(hyperboloid.inner(v, v).round(12))
    4.0
    """
    who = "hyperboloid.log_map"
    root = curvature_root(who, curvature)
    (x, y), dtype = doubles(x, y)
    one_space(who, x=x, y=y)
    space, other = root * x[..., 1:], root * y[..., 1:]
    half = half_chord(space, other)
    sinh = 2 * half * np.hypot(1.0, half)
    factor = ratio(2 * np.arcsinh(half), sinh, 1.0)
    change = other - space - (2 * half**2)[..., None] * space
    vector = factor[..., None] * change
    time = np.einsum("...i,...i->...", space, vector) / times(space)
    out = np.concatenate([time[..., None], vector], axis=-1)
    return cast(out / root, dtype)


def exp_map_origin(v: npt.ArrayLike, *, curvature: float = -1.0) -> FloatArray:
    r"""Map tangent vectors at the origin to points, each at its length as distance.

    The origin is (1, 0, ..., 0), and its tangent vectors need no time-like
    coordinate: :math:`v \mapsto (\cosh \|v\|, \sinh \|v\|\, v / \|v\|)`.

    Parameters
    ----------
    v : array-like of shape (..., n_components)
        Tangent vectors, without the time-like coordinate.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components + 1)
        Points of the hyperboloid.

    See Also
    --------
    log_map_origin : The inverse.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> hyperboloid.exp_map_origin([0.0, 1.0]).round(4)
    array([1.5431, 0.    , 1.1752])
    """
    root = curvature_root("hyperboloid.exp_map_origin", curvature)
    (v,), dtype = doubles(v)
    v = root * v
    whole = norms(v)
    way = np.minimum(whole, _longest(dtype))
    return cast(
        _with_time(v * ratio(np.sinh(way), whole, 1.0)[..., None]) / root, dtype
    )


def log_map_origin(x: npt.ArrayLike, *, curvature: float = -1.0) -> FloatArray:
    """Map points to the tangent vectors at the origin that lead to them.

    Parameters
    ----------
    x : array-like of shape (..., n_components + 1)
        Points of the hyperboloid.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Tangent vectors, without the time-like coordinate, whose length is the
        distance from the origin.

    See Also
    --------
    exp_map_origin : The inverse.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> hyperboloid.log_map_origin([1.25, 0.75]).round(4)
    array([0.6931])
    """
    root = curvature_root("hyperboloid.log_map_origin", curvature)
    (x,), dtype = doubles(x)
    space = root * x[..., 1:]
    length = norms(space)
    factor = ratio(np.arcsinh(length), length, 1.0) / root
    return cast(space * factor[..., None], dtype)


def project(x: npt.ArrayLike, *, curvature: float = -1.0) -> FloatArray:
    r"""Set the time-like coordinate to what those in space ask for.

    At curvature -1, :math:`x_0 = \sqrt{1 + x_1^2 + \dots + x_d^2}`.

    Parameters
    ----------
    x : array-like of shape (..., n_components + 1)
        Points near the hyperboloid.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components + 1)
        Points of the hyperboloid.

    See Also
    --------
    riemannian_gradient : The same for gradients.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> hyperboloid.project([0.0, 0.75])
    array([1.25, 0.75])
    """
    root = curvature_root("hyperboloid.project", curvature)
    (x,), dtype = doubles(x)
    space = x[..., 1:]
    time = np.hypot(1 / root, norms(space))
    return cast(np.concatenate([time[..., None], space], axis=-1), dtype)


def to_ball(x: npt.ArrayLike, *, curvature: float = -1.0) -> FloatArray:
    r"""Map points of the hyperboloid to the Poincare ball.

    At curvature -1, :math:`x \mapsto (x_1, \dots, x_d) / (1 + x_0)`.

    Parameters
    ----------
    x : array-like of shape (..., n_components + 1)
        Points of the hyperboloid.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components)
        Points strictly inside the ball. Those farther out than the ball can hold are
        pulled in, see :func:`skrep.geometry.poincare.max_radius`.

    See Also
    --------
    skrep.geometry.poincare.to_hyperboloid : The inverse.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> hyperboloid.to_ball([1.25, 0.75]).round(4)
    array([0.3333])
    """
    root = curvature_root("hyperboloid.to_ball", curvature)
    (x,), dtype = doubles(x)
    space = root * x[..., 1:]
    point = space / (1 + times(space))[..., None]
    return cast(inside(point, dtype) / dtype.type(root), dtype)


def riemannian_gradient(
    x: npt.ArrayLike, g: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Turn gradients by coordinates into tangent vectors.

    At curvature -1, with :math:`h = (-g_0, g_1, \dots, g_d)`,

    .. math:: h + \langle x, h \rangle x.

    Parameters
    ----------
    x : array-like of shape (..., n_components + 1)
        Points of the hyperboloid.
    g : array-like of shape (..., n_components + 1)
        Partial derivatives by the coordinates, at these points.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (..., n_components + 1)
        Tangent vectors; the negative one is the way of steepest descent.

    See Also
    --------
    exp_map : Go along a tangent vector.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> hyperboloid.riemannian_gradient([1.0, 0.0], [5.0, 2.0])
    array([0., 2.])
    """
    who = "hyperboloid.riemannian_gradient"
    root = curvature_root(who, curvature)
    (x, g), dtype = doubles(x, g)
    one_space(who, x=x, g=g)
    h = np.concatenate([-g[..., :1], g[..., 1:]], axis=-1)
    return cast(h + root**2 * np.asarray(inner(x, h))[..., None] * x, dtype)


def midpoint(
    X: npt.ArrayLike, weights: npt.ArrayLike | None = None, *, curvature: float = -1.0
) -> FloatArray:
    r"""Compute the mean of rows, brought back to the hyperboloid.

    At curvature -1, :math:`S / \sqrt{-\langle S, S \rangle}` with
    :math:`S = \sum_i w_i x_i`: the Einstein midpoint.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_components + 1)
        Points of the hyperboloid.
    weights : array-like of shape (n_rows,), default=None
        Weights that are not negative; None weighs all alike.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (n_components + 1,)
        The midpoint. It is computed in the ball, so that it is no farther out than
        that holds.

    See Also
    --------
    skrep.geometry.poincare.midpoint : The same in the ball.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> X = hyperboloid.exp_map_origin([[1.0], [3.0]])
    >>> hyperboloid.log_map_origin(hyperboloid.midpoint(X)).round(9)
    array([2.])
    """
    points = to_ball(X, curvature=curvature)
    middle = ball_midpoint(points, weights, curvature=curvature)
    return to_hyperboloid(middle, curvature=curvature)


def _with_time(space: FloatArray) -> FloatArray:
    return np.concatenate([times(space)[..., None], space], axis=-1)


def _longest(dtype: np.dtype[Any]) -> float:
    """Length beyond which squares of coordinates overflow."""
    return float(np.log(np.finfo(dtype).max)) / 2
