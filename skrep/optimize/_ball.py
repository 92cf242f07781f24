"""Riemannian gradient steps in the Poincare ball."""

from typing import Literal

import numpy as np

from skrep.geometry import poincare
from skrep.typing import FloatArray

__all__ = ["ball_step"]


def ball_step(
    points: FloatArray,
    gradient: FloatArray,
    learning_rate: float,
    *,
    clip: float = np.inf,
    max_radius: float | None = None,
    method: Literal["retraction", "exp"] = "retraction",
) -> FloatArray:
    r"""Take one step of Riemannian gradient descent.

    With the conformal factor :math:`\lambda = 2 / (1 - |x|^2)`, the Riemannian
    gradient is the Euclidean one over :math:`\lambda^2`, and the step

    .. math:: s = -\eta\, \nabla f(x) / \lambda^2, \qquad \ell = \lambda |s|,

    has the hyperbolic length :math:`\ell`, which is cut to `clip` [1]_.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball of curvature -1.
    gradient : ndarray of shape (n_points, n_components)
        Euclidean gradient of the loss at the points.
    learning_rate : float
        The rate, positive.
    clip : float, default=inf
        Largest hyperbolic length of a step, positive.
    max_radius : float or None, default=None
        Largest distance from the origin, where farther points are brought back to;
        None is the limit of the data type.
    method : {"retraction", "exp"}, default="retraction"
        The new point: ``x + s``, or the end of the geodesic that sets out along s
        and is :math:`\ell` long. They agree to first order. With `clip` up to 1
        neither leaves the ball.

    Returns
    -------
    ndarray of shape (n_points, n_components)
        The new points, in the type of `points`.

    See Also
    --------
    skrep.geometry.poincare.exp_map : The geodesic step.

    References
    ----------
    .. [1] Bonnabel, S. (2013). "Stochastic gradient descent on Riemannian
       manifolds". IEEE Transactions on Automatic Control 58(9), 2217-2229.

    Examples
    --------
    A long gradient moves a point by the length of `clip`:

    >>> import numpy as np
    >>> from skrep.geometry import poincare
    >>> from skrep.optimize import ball_step
    >>> x = np.array([[0.5, 0.0]])
    >>> moved = ball_step(x, np.array([[0.0, 1e6]]), 1.0, clip=0.25, method="exp")
    >>> poincare.distance(x, moved).round(3)
    array([0.25])
    """
    gap = 1 - np.einsum("nd,nd->n", points, points)
    step = gradient * (-learning_rate / 4 * gap * gap)[:, None]
    length = 2 * np.sqrt(np.einsum("nd,nd->n", step, step)) / gap
    if np.isfinite(clip):
        # No step of length zero is divided by.
        step *= (clip / np.maximum(length, clip))[:, None]
    if method == "exp":
        moved = poincare.exp_map(points, step)
    else:
        moved = np.add(step, points, out=step)
    radius = poincare.max_radius(points.dtype) if max_radius is None else max_radius
    outside = np.einsum("nd,nd->n", moved, moved) > np.tanh(radius / 2) ** 2
    if outside.any():
        far = np.flatnonzero(outside)
        norms = np.linalg.norm(moved[far], axis=1, keepdims=True)
        moved[far] *= np.tanh(radius / 2) / norms
    return moved
