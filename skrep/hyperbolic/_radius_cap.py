"""How far out points of the ball may lie."""

from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from skrep.geometry import poincare
from skrep.typing import FloatArray
from skrep.utils import warn

__all__ = ["check_radius_cap", "warn_of_cap"]

# Share of the largest radius of a data type that points may reach by default, so that
# distances between them keep some digits.
_SHARE = 0.6


def check_radius_cap(
    who: str, radius_cap: float | None, dtype: Any, model: str
) -> float:
    """Return the largest distance from the origin; None means what the type allows.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    radius_cap : float or None
        The distance asked for, positive.
    dtype : dtype
        Type of the points.
    model : {"poincare", "euclidean"}
        The geometry.

    Returns
    -------
    float
        The distance.

    Raises
    ------
    ValueError
        If no point of that type lies so far out, or the model is Euclidean and the
        distance is not None.
    """
    if model == "euclidean" and radius_cap is not None:
        raise ValueError(
            f"{who}: 'radius_cap' is {radius_cap:g} and model is 'euclidean', whose "
            "points may lie anywhere. Pass radius_cap=None."
        )
    largest = poincare.max_radius(dtype)
    if radius_cap is None:
        return _SHARE * largest
    if radius_cap > largest:
        raise ValueError(
            f"{who}: 'radius_cap' is {radius_cap:g}. In {dtype} no point of the ball "
            f"lies farther out than {largest:.4g}. Pass "
            f"radius_cap={_SHARE * largest:.3g}, or None."
        )
    return float(radius_cap)


def warn_of_cap(who: str, points: FloatArray, cap: float, learning_rate: float) -> None:
    """Warn if points lie as far out as they may.

    Parameters
    ----------
    who : str
        The estimator that is named.
    points : ndarray of shape (n_points, n_components)
        Points of the ball.
    cap : float
        The largest distance from the origin.
    learning_rate : float
        What to lower.

    Warns
    -----
    ConvergenceWarning
        With the share of points that are held back.
    """
    usual = _SHARE * poincare.max_radius(points.dtype)
    if cap < usual:
        way = f"Pass a larger radius_cap, such as {usual:.3g}, or lower"
        other = ""
    else:
        way, other = "Lower", ", or give them room by more n_components"
    edge = np.tanh(cap / 2) * (1 - 4 * np.finfo(points.dtype).eps)
    held = float(np.mean(np.linalg.norm(points, axis=1) >= edge))
    if held:
        warn(
            f"{who}: {held:.1%} of the points are held back at 'radius_cap'={cap:.3g}. "
            f"{way} learning_rate={learning_rate:g}{other}.",
            ConvergenceWarning,
        )
