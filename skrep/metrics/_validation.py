"""Checks that the metrics share."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from skrep.typing import FloatArray

__all__ = ["check_paired", "check_weights"]


def check_paired(
    first: npt.ArrayLike, second: npt.ArrayLike, names: tuple[str, str], who: str
) -> tuple[FloatArray, FloatArray]:
    """Two finite float64 arrays of one shape (n, d), or an error that names them."""
    rows = []
    for array, name in zip((first, second), names, strict=True):
        options: dict[str, Any] = {"input_name": name, "estimator": who}
        rows.append(check_array(array, dtype=np.float64, **options))
    if rows[0].shape != rows[1].shape:
        raise ValueError(
            f"{who}: '{names[0]}' has shape {rows[0].shape} and '{names[1]}' has shape "
            f"{rows[1].shape}. Row i of both must be one thing in one common space, so "
            "the shapes must be equal. Select the same rows of both and map one space "
            "into the other first, as skrep.relative does."
        )
    return rows[0], rows[1]


def check_weights(
    sample_weight: npt.ArrayLike | None, n_rows: int, who: str
) -> FloatArray:
    """Weights (n_rows,) float64, not negative and not all zero; None gives ones."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = check_array(
        sample_weight,
        dtype=np.float64,
        ensure_2d=False,
        input_name="sample_weight",
        estimator=who,
    )
    if weights.shape != (n_rows,):
        raise ValueError(
            f"{who}: 'sample_weight' has shape {weights.shape}. It needs one weight "
            f"per row: pass an array of shape ({n_rows},)."
        )
    if weights.min() < 0 or weights.max() == 0:
        raise ValueError(
            f"{who}: 'sample_weight' lies between {weights.min():g} and "
            f"{weights.max():g}. Weights must not be negative, and one must be "
            "positive. Pass sample_weight=None to weigh all rows alike."
        )
    return np.asarray(weights)
