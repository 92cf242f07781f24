"""Many even directions at once: the sphere cut into zones of equal cells."""

import numpy as np
from scipy.special import betainc, betaincinv, gammaln

from skrep.typing import FloatArray

__all__ = ["zonal_code"]


def zonal_code(n_components: int, size: int) -> FloatArray:
    """Spread unit vectors over a sphere, zone by zone.

    The sphere is cut into two caps and zones between them, each as wide as a cell of
    equal area is [1]_. A zone holds a code of one dimension less, of as many vectors
    as its area asks for, down to even angles on circles.

    Parameters
    ----------
    n_components : int
        Dimension, 2 or more. Beyond some 15 random vectors are as far apart.
    size : int
        Number of vectors, 1 or more.

    Returns
    -------
    ndarray of shape (size, n_components), float64
        Unit rows; the first is the first axis, but on a circle.

    References
    ----------
    .. [1] Leopardi, P. (2006). "A partition of the unit sphere into regions of equal
       area and small diameter". Electronic Transactions on Numerical Analysis 25,
       309-327.
    """
    if size <= 2:
        return np.outer([1.0, -1.0][:size], np.eye(1, n_components))
    if n_components == 2:
        angles = 2 * np.pi * (np.arange(size) + 0.5) / size
        return np.column_stack([np.cos(angles), np.sin(angles)])
    half = (n_components - 1) / 2
    cap = float(np.arcsin(np.sqrt(betaincinv(half, 0.5, min(1.0, 2 / size)))))
    log_area = np.log(2) + n_components / 2 * np.log(np.pi) - gammaln(n_components / 2)
    width = np.exp((log_area - np.log(size)) / (n_components - 1))
    n_zones = max(1, round((np.pi - 2 * cap) / width))
    ends = np.linspace(cap, np.pi - cap, n_zones + 1)
    within = betainc(half, 0.5, np.sin(ends) ** 2) / 2
    within = np.where(ends > np.pi / 2, 1 - within, within)
    sizes = np.diff(np.round(size * within - 1)).astype(int)
    parts = [np.eye(1, n_components), -np.eye(1, n_components)]
    for middle, held in zip((ends[:-1] + ends[1:]) / 2, sizes, strict=True):
        if held:
            ring = np.sin(middle) * zonal_code(n_components - 1, int(held))
            parts.append(np.column_stack([np.full(held, np.cos(middle)), ring]))
    return np.concatenate(parts)
