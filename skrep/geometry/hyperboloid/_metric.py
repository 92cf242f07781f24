"""The Minkowski product, and distances on the hyperboloid."""

import numpy as np
import numpy.typing as npt

from skrep.geometry._hyperbolic import (
    cast,
    curvature_root,
    doubles,
    norms,
    one_space,
    pairwise,
    ratio,
)
from skrep.typing import FloatArray

__all__ = ["distance", "half_chord", "inner", "pairwise_distances", "times"]


def inner(x: npt.ArrayLike, y: npt.ArrayLike) -> FloatArray:
    r"""Compute Minkowski products.

    .. math:: \langle x, y \rangle = -x_0 y_0 + x_1 y_1 + \dots + x_d y_d

    Parameters
    ----------
    x : array-like of shape (..., n_components + 1)
        Points or tangent vectors, the time-like coordinate first.
    y : array-like of shape (..., n_components + 1)
        Others that broadcast against them.

    Returns
    -------
    ndarray of shape (...)
        The products.

    See Also
    --------
    distance : Does not use them, as they cancel far out.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> print(hyperboloid.inner([1.25, 0.75], [1.25, 0.75]))
    -1.0
    """
    (x, y), dtype = doubles(x, y)
    one_space("hyperboloid.inner", x=x, y=y)
    product = np.einsum("...i,...i->...", x[..., 1:], y[..., 1:])
    return cast(product - x[..., 0] * y[..., 0], dtype)


def distance(
    x: npt.ArrayLike, y: npt.ArrayLike, *, curvature: float = -1.0
) -> FloatArray:
    r"""Compute hyperbolic distances between points.

    The usual :math:`\operatorname{arcosh}(-\langle x, y \rangle)` loses all digits at
    radius 18. This takes the coordinates in space alone, of lengths
    :math:`\sinh r_x` and :math:`\sinh r_y` and angle :math:`\alpha`,

    .. math:: \sinh^2 \frac d 2 = \sinh^2 \frac{r_x - r_y} 2
              + \sinh r_x \sinh r_y \sin^2 \frac \alpha 2,

    with both terms from the difference of the points, so that near points and far
    ones keep what their coordinates know.

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
    ndarray of shape (...)
        The distances; exactly 0 between equal points.

    See Also
    --------
    pairwise_distances : Between all rows of two arrays.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> x = hyperboloid.exp_map_origin([20.0, 0.0])
    >>> y = hyperboloid.exp_map_origin([21.0, 0.0])
    >>> print(hyperboloid.distance(x, x), hyperboloid.distance(x, y).round(12))
    0.0 1.0
    """
    who = "hyperboloid.distance"
    root = curvature_root(who, curvature)
    (x, y), dtype = doubles(x, y)
    one_space(who, x=x, y=y)
    chord = half_chord(root * x[..., 1:], root * y[..., 1:])
    return cast(2 / root * np.arcsinh(chord), dtype)


def pairwise_distances(
    X: npt.ArrayLike, Y: npt.ArrayLike | None = None, *, curvature: float = -1.0
) -> FloatArray:
    """Compute hyperbolic distances between all rows of two arrays.

    Besides the result no more than a few MiB are taken. Distances below 1e-7 of the
    radius have fewer digits than those of `distance`.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_components + 1)
        Points of the hyperboloid.
    Y : array-like of shape (n_others, n_components + 1), default=None
        Other points; None takes X.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (n_rows, n_others)
        The distances. Where Y is None they are symmetric, with zeros on the diagonal.

    See Also
    --------
    distance : Between points that correspond.

    Examples
    --------
    >>> from skrep.geometry import hyperboloid
    >>> X = hyperboloid.exp_map_origin([[0.0], [1.0], [3.0]])
    >>> hyperboloid.pairwise_distances(X).round(12)
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    who = "hyperboloid.pairwise_distances"
    root = curvature_root(who, curvature)
    (rows, others), dtype = doubles(X, X if Y is None else Y)
    one_space(who, X=rows, Y=others)
    out = np.empty((len(rows), len(others)), dtype)
    pairwise(*_in_ball(root * rows), *_in_ball(root * others), out)
    out /= dtype.type(root)
    return out


def times(space: FloatArray) -> FloatArray:
    """The time-like coordinate that goes with those in space, at curvature -1."""
    return np.hypot(1.0, norms(space))


def half_chord(x: FloatArray, y: FloatArray) -> FloatArray:
    """Hyperbolic sine of half the distance, from coordinates in space."""
    x_norms, y_norms = norms(x), norms(y)
    x_times, y_times = np.hypot(1.0, x_norms), np.hypot(1.0, y_norms)
    change, total = x - y, x + y
    both = x_norms + y_norms
    # Their lengths differ by this, and sinh(r_x - r_y) follows.
    longer = ratio(np.einsum("...i,...i->...", change, total), both, 0.0)
    sinh = ratio(longer * both, x_norms * y_times + y_norms * x_times, 0.0)
    radial = sinh / np.sqrt(2 * (np.hypot(1.0, sinh) + 1))
    # Across, the difference serves near points and the directions serve the others.
    scale = np.sqrt(x_norms) * np.sqrt(y_norms)
    turn = x * ratio(1.0, x_norms, 0.0)[..., None]
    turn = turn - y * ratio(1.0, y_norms, 0.0)[..., None]
    part = both[..., None] * change - longer[..., None] * total
    near = norms(change) * both < scale**2
    across = np.where(near, ratio(norms(part), 2 * scale, 0.0), scale * norms(turn))
    return np.hypot(radial, across / 2)


def _in_ball(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points in the ball and 1 - |x|^2, which far out only the hyperboloid tells."""
    shift = 1 + times(X[:, 1:])
    return X[:, 1:] / shift[:, None], 2 / shift
