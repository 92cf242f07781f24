"""Whitening of the rows of an estimator, with a ridge where rows are few."""

from typing import Any

import numpy as np

from skrep.index_model._checks import warn_of_constants
from skrep.linalg import Moments, Whitening, whitening
from skrep.utils.validation import check_overflow

__all__ = ["ridge_of", "whitened"]


def whitened(
    estimator: Any,
    moments: Moments,
    n_rows: float,
    dtype: Any,
    shrinkage: float | str = "auto",
) -> Whitening:
    """Whiten, after a look at the columns.

    Parameters
    ----------
    estimator : estimator
        The estimator that is named in errors and warnings.
    moments : Moments
        Moments of the rows.
    n_rows : float
        Number of rows.
    dtype : dtype
        Float type of the rows.
    shrinkage : float or "auto", default="auto"
        The ridge; see `ridge_of`.

    Returns
    -------
    Whitening
        The map.

    Raises
    ------
    ValueError
        If squares overflow, or no column varies.
    """
    check_overflow(type(estimator).__name__, moments.covariance)
    precision = float(np.finfo(dtype).eps)
    white = whitening(moments, precision=precision)
    warn_of_constants(estimator, white)
    ridge = ridge_of(white, n_rows, shrinkage)
    return whitening(moments, ridge, precision=precision) if ridge else white


def ridge_of(white: Whitening, n_rows: float, shrinkage: float | str) -> float:
    """Return the ridge of a whitening, in units of the mean eigenvalue.

    Parameters
    ----------
    white : Whitening
        The map, with or without a ridge.
    n_rows : float
        Number of rows.
    shrinkage : float or "auto"
        A number, or none for more than twice as many rows as dimensions, and the root
        of columns over rows below.

    Returns
    -------
    float
        The ridge.
    """
    if not isinstance(shrinkage, str):
        return float(shrinkage)
    if n_rows > 2 * len(white.spread):
        return 0.0
    return float(np.sqrt(np.count_nonzero(white.scale) / n_rows))
