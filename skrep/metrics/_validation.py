"""Checks that the metrics share."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_array

from skrep.typing import FloatArray
from skrep.utils.validation import is_whole

__all__ = ["check_count", "check_paired", "check_sides", "read_rows"]


def check_count(who: str, name: str, value: Any) -> int:
    """An integer from 1 up, or an error that names it."""
    if not is_whole(value) or value < 1:
        raise ValueError(
            f"{who}: '{name}' is {value!r}. It must be an integer from 1 up. Pass "
            f"{name}=10, say."
        )
    return int(value)


def check_paired(
    first: npt.ArrayLike, second: npt.ArrayLike, names: tuple[str, str], who: str
) -> tuple[FloatArray, FloatArray]:
    """Two finite float64 arrays of one shape (n, d), or an error that names them."""
    rows = read_rows(first, names[0], who), read_rows(second, names[1], who)
    if rows[0].shape != rows[1].shape:
        raise ValueError(
            f"{who}: '{names[0]}' has shape {rows[0].shape} and '{names[1]}' has shape "
            f"{rows[1].shape}. Row i of both must be one thing in one common space, so "
            "the shapes must be equal. Select the same rows of both and map one space "
            "into the other first, as skrep.relative does."
        )
    return rows


def check_sides(
    queries: npt.ArrayLike, documents: npt.ArrayLike, who: str
) -> tuple[FloatArray, FloatArray]:
    """Queries and documents, finite float64 arrays of one width."""
    rows = read_rows(queries, "queries", who), read_rows(documents, "documents", who)
    if rows[0].shape[1] != rows[1].shape[1]:
        raise ValueError(
            f"{who}: 'queries' has {rows[0].shape[1]} columns and 'documents' has "
            f"{rows[1].shape[1]}. Both must lie in one space. Transform both with the "
            "same fitted estimator, or with its counterpart, first."
        )
    return rows


def read_rows(rows: Any, name: str, who: str, **options: Any) -> Any:
    """Finite rows, float64 unless told otherwise, or a line that says what is wrong."""
    options = {"dtype": np.float64, **options}
    try:
        return check_array(rows, input_name=name, estimator=who, **options)
    except (TypeError, ValueError) as error:
        message = str(error).partition("\n")[0]
        if message.startswith(f"Input {name} contains"):
            message += " Drop such rows, or fill them in first."
        raise type(error)(f"{who}: {message}") from error
