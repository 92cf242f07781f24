"""Checks that the metrics share."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from skrep.typing import FloatArray

__all__ = ["check_paired"]


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
