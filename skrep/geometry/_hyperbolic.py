"""What the Poincare ball and the hyperboloid have in common, at curvature -1."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from skrep.geometry._cosine import row_norms
from skrep.typing import FloatArray
from skrep.utils import row_blocks, warn

__all__ = [
    "cast",
    "curvature_root",
    "doubles",
    "gaps",
    "inside",
    "norms",
    "one_space",
    "pairwise",
    "ratio",
    "signed_gaps",
]

# 1 - |x|^2 above this is as good from the plain sum.
_RIM = 0.125
# Squares are cut here, so that up to eight of size one add up without rounding.
_CUT = 2.0**50
# Splits the 53 bits of a number into two halves (Dekker, 1971).
_SPLIT = 2.0**27 + 1
# A point within this many units of rounding of the sphere is pulled in.
_MARGIN = 3


def curvature_root(who: str, curvature: Any) -> float:
    """Return sqrt(-curvature), the factor that brings points to curvature -1."""
    try:
        root = math.sqrt(-curvature)
    except (TypeError, ValueError):
        root = math.nan
    if not 0 < root < math.inf:
        raise ValueError(
            f"{who}: 'curvature' is {curvature!r}. It must be a negative number. Pass "
            "curvature=-1.0, say."
        )
    return root


def doubles(*arrays: npt.ArrayLike) -> tuple[list[FloatArray], np.dtype[Any]]:
    """Give arrays in float64, and the type of the results: float32 if all had it."""
    given = [np.asarray(array) for array in arrays]
    types = {a.dtype for a in given if a.ndim}
    single = bool(types) and types <= {np.dtype(np.float16), np.dtype(np.float32)}
    dtype = np.dtype(np.float32 if single else np.float64)
    return [a.astype(np.float64, copy=False) for a in given], dtype


def one_space(who: str, **points: FloatArray) -> None:
    """Refuse two arrays of points of different dimensions, which would broadcast."""
    (first, x), (second, y) = points.items()
    width, other = (a.shape[-1] if a.ndim else 0 for a in (x, y))
    if width != other or not width:
        raise ValueError(
            f"{who}: '{first}' has the shape {x.shape} and '{second}' {y.shape}. The "
            "last axis holds the coordinates, and points of one space have as many. "
            f"Pass {second} of shape (..., {width or 'n_components'})."
        )


def cast(values: FloatArray, dtype: Any) -> FloatArray:
    """Give values in another type; those of no dimension as a number of NumPy."""
    out: FloatArray = np.asarray(values).astype(dtype, copy=False)[()]
    return out


def norms(x: FloatArray) -> FloatArray:
    """Euclidean norms along the last axis, whatever their range."""
    return row_norms(x.reshape(-1, x.shape[-1])).reshape(x.shape[:-1])


def ratio(numerator: Any, denominator: FloatArray, limit: Any) -> FloatArray:
    """Divide, and take the limit where the denominator is 0."""
    top, bottom, out = np.broadcast_arrays(numerator, denominator, limit)
    return np.divide(top, bottom, out=out.copy(), where=bottom != 0)


def signed_gaps(x: FloatArray) -> FloatArray:
    """1 - |x|^2 with all its digits, though |x| be nearly one; x is float64."""
    gap = np.asarray(1 - np.einsum("...i,...i->...", x, x))
    rim = np.abs(gap) < _RIM
    if rim.any():
        part = x[rim]
        square = part * part
        high = part * _SPLIT
        high -= high - part
        low = part - high
        lost = ((high * high - square) + 2 * high * low) + low * low
        coarse = np.rint(square * _CUT) / _CUT
        lost += square - coarse
        gap[rim] = (1 - coarse.sum(axis=-1)) - lost.sum(axis=-1)
    return gap


def gaps(x: FloatArray, who: str | None = None, name: str = "x") -> FloatArray:
    """1 - |x|^2, and NaN for points that are not inside the ball.

    Where there are such points, it is warned in the name of a public function.
    """
    gap = signed_gaps(x)
    outside = gap <= 0
    if outside.any():
        gap[outside] = np.nan
        if who is not None:
            warn(
                f"{who}: '{name}' has {np.count_nonzero(outside)} of {gap.size} points "
                "that are not inside the ball. Their results are NaN. Pass "
                f"poincare.project({name}).",
                RuntimeWarning,
            )
    return gap


def inside(x: FloatArray, dtype: Any) -> FloatArray:
    """Round points to a type, such that they stay strictly inside the ball."""
    eps = float(np.finfo(dtype).eps)
    points = np.asarray(x).astype(dtype)
    over = np.asarray(signed_gaps(points.astype(np.float64)) < _MARGIN * eps)
    if over.any():
        part = x[over]
        part = (part * ((1 - 2 * eps) / norms(part))[:, None]).astype(dtype)
        while (out := signed_gaps(part.astype(np.float64)) < _MARGIN * eps).any():
            part[out] *= part.dtype.type(1 - eps)
        points[over] = part
    return points


def pairwise(
    X: FloatArray, X_gaps: FloatArray, Y: FloatArray, Y_gaps: FloatArray, out: Any
) -> FloatArray:
    """Distances in the ball between all rows of X and of Y, block by block."""
    from scipy.spatial.distance import cdist

    x_scales, y_scales = 1 / np.sqrt(X_gaps), 1 / np.sqrt(Y_gaps)
    for rows in row_blocks(len(X), row_bytes=2 * 8 * len(Y)):
        sinh = cdist(X[rows], Y)
        sinh *= x_scales[rows, None] * y_scales
        np.arcsinh(sinh, out=sinh)
        np.multiply(sinh, 2, out=out[rows], casting="same_kind")
    return np.asarray(out)
