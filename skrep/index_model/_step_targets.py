"""Responses of a network: standardized columns, of numbers or of classes."""

from typing import Any

import numpy as np

from skrep.exceptions import ThinDataWarning
from skrep.index_model._response import read_response
from skrep.typing import AnyArray, FloatArray
from skrep.utils import warn

__all__ = ["standardized_responses"]


def standardized_responses(
    who: str, y: Any, kept: AnyArray, shares: FloatArray
) -> FloatArray:
    """Give responses mean 0 and variance 1; a class becomes a column of its own.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        Numbers or classes; several columns hold numbers.
    kept : ndarray of bool of shape (n_rows,)
        The rows of positive weight.
    shares : ndarray of shape (n_kept,)
        Their weights, which sum to one.

    Returns
    -------
    ndarray of shape (n_kept, n_responses)
        The columns; constant ones are left out.

    Raises
    ------
    ValueError
        If y has one value.

    Warns
    -----
    ThinDataWarning
        If some of several columns are constant.
    """
    kind, values = read_response(who, y, kept, "auto")
    if kind == "classes":
        labels, codes = np.unique(values, return_inverse=True)
        columns = np.eye(len(labels))[codes]
    else:
        columns = np.asarray(values, np.float64)
    constant = columns.min(axis=0) == columns.max(axis=0)
    if constant.all():
        raise ValueError(
            f"{who}: 'y' has one value, {values[0]}, in all rows, so there is no "
            "gradient. Pass rows of several values."
        )
    if constant.any():
        listed = ", ".join(str(j) for j in np.flatnonzero(constant))
        warn(
            f"{who}: 'y' is constant in column {listed}, which adds no gradient. Leave "
            "it out of y.",
            ThinDataWarning,
        )
        columns = columns[:, ~constant]
    # Halves first: the gap of two finite numbers may not be finite.
    scaled = columns / 2 / np.abs(columns / 2).max(axis=0)
    centered = scaled - shares @ scaled
    return centered / np.sqrt(shares @ centered**2)
