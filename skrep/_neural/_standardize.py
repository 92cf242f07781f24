"""Standardized rows for a network, dense whatever X is."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.typing import FloatArray, IntArray, Matrix
from skrep.utils.validation import check_overflow

__all__ = ["Standardization", "standardization"]


class Standardization(NamedTuple):
    """Means and scales of the columns that vary.

    Parameters
    ----------
    kept : ndarray of shape (n_kept,)
        Positions of the columns that vary.
    mean : ndarray of shape (n_kept,)
        Their means.
    scale : ndarray of shape (n_kept,)
        Their standard deviations.
    """

    kept: IntArray
    mean: FloatArray
    scale: FloatArray

    def apply(self, X: Matrix) -> FloatArray:
        """Standardize rows.

        Parameters
        ----------
        X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_rows, n_kept)
            Rows of mean 0 and variance 1 where they were fitted, in the type of X.
        """
        whole = len(self.kept) == X.shape[1]
        if sp.issparse(X):
            X = X.toarray()
        rows: FloatArray = X if whole else X.take(self.kept, axis=1)
        rows = rows - self.mean.astype(rows.dtype, copy=False)
        rows /= self.scale.astype(rows.dtype, copy=False)
        return rows


def standardization(
    who: str, X: Matrix, weights: FloatArray, *, whole: bool = False
) -> Standardization:
    """Measure the columns.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Positive weights of the rows.

    whole : bool, default=False
        Whether to keep constant columns, as zeros.

    Returns
    -------
    Standardization
        Means and scales, in the type of X. A column counts as constant, and is left
        out, if its deviations are no larger than the rounding of its mean.

    Raises
    ------
    ValueError
        If every column is constant, or numbers are so large that squares overflow.
    """
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler(with_mean=not sp.issparse(X))
    # What overflows is infinite, and refused below.
    with np.errstate(over="ignore", invalid="ignore"):
        scaler.fit(X, sample_weight=weights)
    # Rounding may make the variance of a constant column negative.
    mean, scale = np.asarray(scaler.mean_), np.sqrt(np.maximum(scaler.var_, 0))
    kept = np.flatnonzero(scale > 4 * np.finfo(X.dtype).eps * np.abs(mean))
    check_overflow(who, mean, scale)
    if not len(kept):
        raise ValueError(
            f"{who}: 'X' has {X.shape[1]} columns and all are constant, so that rows "
            "differ in nothing. Pass columns that vary."
        )
    if whole:
        scale[np.setdiff1d(np.arange(len(scale)), kept)] = 1.0
        kept = np.arange(len(scale))
    return Standardization(
        kept, mean[kept].astype(X.dtype), scale[kept].astype(X.dtype)
    )
