"""Means of points of the ball."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from skrep.geometry._hyperbolic import (
    cast,
    curvature_root,
    doubles,
    gaps,
    inside,
    norms,
    ratio,
)
from skrep.geometry.poincare._maps import ball_exp, ball_log
from skrep.geometry.poincare._metric import mobius_sum
from skrep.typing import FloatArray
from skrep.utils.validation import check_sample_weight

__all__ = ["frechet_mean", "midpoint"]

# The mean stands when its gradient is this share of the mean distance, or when no
# shorter step along Newton's direction helps: rounding ends it there.
_STATIONARY = 1e-12
_LEAST_DAMPING = 2.0**-12
# Smaller changes of the objective are rounding.
_FLAT = 1e-14
_STEPS = 500


class _Slope(NamedTuple):
    """Half the weighted mean of squared distances to a point, and its descent.

    Parameters
    ----------
    objective : float
        Twice that mean.
    distance : float
        Mean distance.
    gradient : float
        Length of the gradient.
    step : ndarray of shape (n_components,)
        Newton's step, a tangent vector.
    """

    objective: float
    distance: float
    gradient: float
    step: FloatArray


def midpoint(
    X: npt.ArrayLike, weights: npt.ArrayLike | None = None, *, curvature: float = -1.0
) -> FloatArray:
    r"""Compute the Einstein midpoint of rows.

    It is the mean :math:`S = \sum_i w_i x_i` of the points on the hyperboloid, brought
    back to it along the ray from 0. That is no Frechet mean, but for two points of
    equal weight: far points pull harder. It needs no iterations.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_components)
        Points of the ball.
    weights : array-like of shape (n_rows,), default=None
        Weights that are not negative; None weighs all alike.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (n_components,)
        The midpoint.

    Raises
    ------
    ValueError
        If a row is not inside the ball, or weights are negative or all zero.

    See Also
    --------
    frechet_mean : Minimize the squared distances.

    Notes
    -----
    The point of the ball is :math:`S_s / (S_0 + \sqrt{S_0^2 - \|S_s\|^2})`, and the
    root cancels far out. So it is computed twice, the second time where the first
    result is the origin.

    References
    ----------
    .. [1] Ungar, A. A. (2008). A gyrovector space approach to hyperbolic geometry.
       Morgan & Claypool.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> poincare.midpoint(np.array([[0.0, 0.0], [0.8, 0.0]])).round(12)
    array([0.5, 0. ])
    """
    who = "poincare.midpoint"
    root = curvature_root(who, curvature)
    points, shares, dtype = _rows(who, X, weights, root)
    point = ball_midpoint(points, shares)
    return cast(inside(point, dtype) / dtype.type(root), dtype)


def frechet_mean(
    X: npt.ArrayLike, weights: npt.ArrayLike | None = None, *, curvature: float = -1.0
) -> FloatArray:
    r"""Find the point of least weighted sum of squared distances to rows.

    The mean [1]_ is unique. It is found by Newton's method, since in a space of
    constant curvature the Hessian is known: at distance d the half of a squared
    distance bends by 1 along the geodesic and by :math:`d \coth d` across [2]_. Steps
    that do not help are halved.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_components)
        Points of the ball.
    weights : array-like of shape (n_rows,), default=None
        Weights that are not negative; None weighs all alike.
    curvature : float, default=-1.0
        A negative number.

    Returns
    -------
    ndarray of shape (n_components,)
        The mean.

    Raises
    ------
    ValueError
        If a row is not inside the ball, or weights are negative or all zero.

    See Also
    --------
    midpoint : A mean without iterations.

    References
    ----------
    .. [1] Karcher, H. (1977). Riemannian center of mass and mollifier smoothing.
       Communications on Pure and Applied Mathematics, 30(5), 509-541.
    .. [2] Afsari, B., Tron, R. and Vidal, R. (2013). On the convergence of gradient
       descent for finding the Riemannian center of mass. SIAM Journal on Control and
       Optimization, 51(3), 2230-2260.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> X = poincare.exp_map_origin(np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 0.0]]))
    >>> poincare.log_map_origin(poincare.frechet_mean(X)).round(9)
    array([2., 0.])
    """
    who = "poincare.frechet_mean"
    root = curvature_root(who, curvature)
    points, shares, dtype = _rows(who, X, weights, root)
    point = ball_mean(points, shares)
    return cast(inside(point, dtype) / dtype.type(root), dtype)


def ball_midpoint(X: FloatArray, shares: FloatArray) -> FloatArray:
    """`midpoint` in float64 at curvature -1; shares have sum 1."""
    first = _hyperboloid_mean(X, gaps(X), shares)
    X_gaps, gap = gaps(X), gaps(first)
    moved = mobius_sum(-first, gap, X, X_gaps)
    squares = np.sum((X - first) ** 2, axis=-1)
    moved_gaps = gap * X_gaps / (squares + gap * X_gaps)
    second = _hyperboloid_mean(moved, moved_gaps, shares)
    return inside(mobius_sum(first, gap, second, gaps(second)), np.float64)


def ball_mean(X: FloatArray, shares: FloatArray) -> FloatArray:
    """`frechet_mean` in float64 at curvature -1; shares have sum 1."""
    mean: FloatArray = np.zeros(X.shape[1])
    slope = _slope(mean, X, shares)
    damping = 1.0
    for _ in range(_STEPS):
        if slope.gradient <= _STATIONARY * slope.distance or damping < _LEAST_DAMPING:
            break
        moved = inside(ball_exp(mean, damping * slope.step), np.float64)
        found = _slope(moved, X, shares)
        change = found.objective - slope.objective
        rounding = _FLAT * slope.objective
        flat = change <= rounding and found.gradient < slope.gradient
        if change < -rounding or flat:
            mean, slope, damping = moved, found, 1.0
        else:
            damping /= 2
    return mean


def _slope(mean: FloatArray, X: FloatArray, shares: FloatArray) -> _Slope:
    toward, lengths = ball_log(mean, X)
    descent = shares @ toward
    units = toward * ratio(1.0, norms(toward), 0.0)[:, None]
    bends = ratio(lengths, np.tanh(lengths), 1.0)
    hessian = np.diag(np.full(len(mean), shares @ bends))
    hessian -= (units.T * (shares * (bends - 1))) @ units
    return _Slope(
        float(shares @ lengths**2),
        float(shares @ lengths),
        float(2 / gaps(mean) * norms(descent)),
        np.linalg.solve(hessian, descent),
    )


def _hyperboloid_mean(
    X: FloatArray, X_gaps: FloatArray, shares: FloatArray
) -> FloatArray:
    time = shares @ (2 / X_gaps - 1)
    space = (shares * 2 / X_gaps) @ X
    length = norms(space)
    # A mean of unit time-like vectors is at least as long as one.
    root = np.sqrt(np.maximum((time - length) * (time + length), 1.0))
    return inside(space / (time + root), np.float64)


def _rows(
    who: str, X: npt.ArrayLike, weights: npt.ArrayLike | None, root: float
) -> tuple[FloatArray, FloatArray, Any]:
    """Rows of positive weight at curvature -1, their shares, and the type."""
    (rows,), dtype = doubles(X)
    found = check_sample_weight(who, weights, len(rows))
    kept = found > 0
    outside = np.flatnonzero(kept & np.isnan(gaps(root * rows)))
    if len(outside):
        raise ValueError(
            f"{who}: 'X' has a row that is not inside the ball of radius "
            f"{1 / root:g}: row {outside[0]}, of norm {norms(rows)[outside[0]]:g}. "
            "Pass poincare.project(X)."
        )
    return root * rows[kept], found[kept] / found.sum(), dtype
