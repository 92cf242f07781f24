"""Within over between variance of rows, and its derivative in closed form."""

import numpy as np

from skrep.nn.losses._scatter import Scatters, class_scatters
from skrep.typing import AnyArray, FloatArray

__all__ = ["TINY", "slope_of_rows"]

# Keeps identical features at the origin off the division by zero.
TINY = 1e-300


def slope_of_rows(
    rows: FloatArray,
    y: AnyArray,
    weight: FloatArray | None,
    ridge: float,
    precision: float,
) -> tuple[float, FloatArray]:
    """Compute the loss of rows, and its derivative by them.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_columns), float64
        One row or more.
    y : ndarray of shape (n_rows,)
        Classes.
    weight : ndarray of shape (n_rows,) or None
        Weights, 0 or more; None weighs all rows alike.
    ridge : float
        Share of both variances that is added to each.
    precision : float
        Share of a row under which differences are rounding.

    Returns
    -------
    value : float
        Mean over the pairs of classes; 0 where there is no pair.
    slope : ndarray of shape (n_rows, n_columns)
        Derivative by the rows.
    """
    if weight is None:
        return _kept_slope(rows, y, None, ridge, precision)
    slope = np.zeros_like(rows)
    kept = weight > 0
    if not kept.any():
        return 0.0, slope
    value, slope[kept] = _kept_slope(
        rows[kept], y[kept], weight[kept], ridge, precision
    )
    return value, slope


def _kept_slope(
    rows: FloatArray,
    y: AnyArray,
    weight: FloatArray | None,
    ridge: float,
    precision: float,
) -> tuple[float, FloatArray]:
    s = class_scatters(rows, y, weight)
    n_classes = len(s.totals)
    if n_classes == 1:
        return 0.0, np.zeros_like(rows)
    origin = precision * rows[0]
    value, of_squares, of_means = _pairs(s, ridge, float(origin @ origin) + TINY)
    # The residuals of a class sum to 0: how the rows enter its mean makes no
    # difference to them.
    slope = s.residuals * (s.member @ (2 * of_squares))[:, None]
    slope += s.member @ (of_means / s.totals[:, None])
    return value, slope if weight is None else slope * weight[:, None]


def _pairs(
    s: Scatters, ridge: float, smallest: float
) -> tuple[float, FloatArray, FloatArray]:
    """Mean loss, derivatives by the sums of squares and by the means of classes."""
    distances = (s.residuals * s.residuals).sum(1) * s.weight
    squares, totals, means = distances @ s.member, s.totals, s.means
    sizes = totals[:, None] + totals
    within = (squares[:, None] + squares) / sizes
    norms = (means * means).sum(1)
    between = np.maximum(norms[:, None] + norms - 2 * (means @ means.T), 0)
    added = ridge * (within + between) + smallest
    inner, outer = within + added, between + added
    n_ordered = len(totals) * (len(totals) - 1)
    values = np.log(inner / outer)
    of_within = ((1 + ridge) / inner - ridge / outer) / sizes
    of_between = ridge / inner - (1 + ridge) / outer
    # A class is no pair with itself.
    for matrix in (values, of_within, of_between):
        matrix.ravel()[:: len(totals) + 1] = 0
    pulled = of_between.sum(1)[:, None] * means - of_between @ means
    return (
        float(values.sum() / n_ordered),
        of_within.sum(1) * (2 / n_ordered),
        pulled * (4 / n_ordered),
    )
