"""Columns of categories, and how they are read."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from skrep.typing import AnyArray, IntArray
from skrep.utils.labels import is_missing

__all__ = ["Column", "distinct_values", "read_columns"]


class Column(NamedTuple):
    """The categories of one column.

    Parameters
    ----------
    name : str
        How messages call it.
    values : list of object
        Its distinct categories, each once; None stands for missing ones, which may
        have several kinds.
    codes : ndarray of shape (n_rows,)
        The position of each row's category among these.
    """

    name: str
    values: list[Any]
    codes: IntArray


def read_columns(estimator: Any, X: Any, *, reset: bool) -> list[Column]:
    """Validate a table of categories and read its columns.

    Parameters
    ----------
    estimator : estimator
        The estimator; ``n_features_in_`` and ``feature_names_in_`` are set on it.
    X : array-like or frame of shape (n_rows, n_columns)
        Categories: strings, numbers or objects. Columns of a frame keep their types.
    reset : bool
        True in ``fit``, False where fitted columns are to be met.

    Returns
    -------
    list of Column
        One for each column.

    Raises
    ------
    ValueError
        If X has no rows or no columns, is not of two dimensions, has other columns than
        the fitted ones, or holds infinity or what cannot be hashed.
    TypeError
        If X is sparse.
    """
    who = type(estimator).__name__
    frame = hasattr(X, "columns") and len(X.columns) and len(X)
    try:
        if frame:
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            names = [repr(name) for name in X.columns]
            columns = [_column_of(X, j) for j in range(len(names))]
        else:
            if not hasattr(X, "dtype") and _turns_to_text(X):
                X = np.array(X, dtype=object)
            X = validate_data(
                estimator, X, reset=reset, dtype=None, ensure_all_finite=False
            )
            names = [str(j) for j in range(X.shape[1])]
            columns = list(X.T)
    except (TypeError, ValueError) as error:
        message = str(error)
        raise type(error)(message if who in message else f"{who}: {message}") from error
    return [
        _read_column(who, name, values)
        for name, values in zip(names, columns, strict=True)
    ]


def _column_of(frame: Any, j: int) -> AnyArray:
    return np.asarray(frame.iloc[:, j] if hasattr(frame, "iloc") else frame[:, j])


def _turns_to_text(X: Any) -> bool:
    """Tell whether NumPy would write numbers as text that stand beside text."""
    try:
        return np.asarray(X).dtype.kind in "US"
    except ValueError:
        return False


def _read_column(who: str, name: str, values: AnyArray) -> Column:
    if values.dtype.kind == "f" and np.isinf(values).any():
        row = int(np.argmax(np.isinf(values)))
        raise ValueError(
            f"{who}: 'X' contains infinity, first in row {row}, column {name}. A "
            "category is a finite number or a string: replace it, as with X.clip(...)."
        )
    if values.dtype == object:
        distinct, codes = _distinct_objects(who, name, values.tolist())
    else:
        sorted_values, codes = np.unique(values, return_inverse=True)
        distinct = sorted_values.tolist()
    found = [None if is_missing(value) else value for value in distinct]
    return Column(name, found, codes)


def _distinct_objects(
    who: str, name: str, values: list[Any]
) -> tuple[list[Any], IntArray]:
    positions: dict[Any, int] = {}
    codes = np.empty(len(values), dtype=np.intp)
    for row, value in enumerate(values):
        try:
            codes[row] = positions.setdefault(value, len(positions))
        except TypeError as error:
            raise ValueError(
                f"{who}: 'X' holds {value!r} in row {row}, column {name}, which cannot "
                "be hashed. A category is a string, a number or a tuple: pass "
                "tuple(value), say."
            ) from error
    return list(positions), codes


def distinct_values(columns: Iterable[Column]) -> list[Any]:
    """List the categories of several columns once, but for missing ones."""
    seen = dict.fromkeys(value for column in columns for value in column.values)
    return [value for value in seen if value is not None]
