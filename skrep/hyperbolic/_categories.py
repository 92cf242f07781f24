"""Columns of categories: how they are read, and what stands for what is unknown."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils.validation import validate_data

from skrep.typing import AnyArray, IntArray
from skrep.utils.labels import is_missing

__all__ = ["Column", "Places", "find_places", "read_columns"]

HandleUnknown: TypeAlias = str | Mapping[Any, Any] | Callable[[Any], Any]


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


class Places(NamedTuple):
    """Where categories belong.

    Parameters
    ----------
    nodes : ndarray of shape (n_categories,)
        The node of each category, or the one that it is placed under; -1 for none.
    known : ndarray of shape (n_categories,), bool
        Whether the node is that of the category itself.
    """

    nodes: IntArray
    known: AnyArray


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


def find_places(
    who: str,
    column: Column,
    nodes: Mapping[Any, int],
    handle_unknown: HandleUnknown,
) -> Places:
    """Find the node of every category of a column.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    column : Column
        The categories.
    nodes : mapping of label to int
        The nodes by label.
    handle_unknown : {"error", "nan"}, mapping or callable
        What becomes of a category that is no label, and of a missing one: refused,
        left without a node, or placed under the label that a mapping or a function
        gives; the latter see None for a missing category.

    Returns
    -------
    Places
        One node for each distinct category.

    Raises
    ------
    ValueError
        If a category is unknown or missing and is to be refused, or if what the
        mapping or the function gives is no label.
    """
    found = np.full(len(column.values), -1, dtype=np.intp)
    known = np.zeros(len(column.values), dtype=bool)
    # A missing category is spoken of before any that is unknown.
    missing = [value is None for value in column.values]
    for position in np.argsort(np.logical_not(missing), kind="stable"):
        value = column.values[position]
        if value is not None and value in nodes:
            found[position], known[position] = nodes[value], True
        elif handle_unknown != "nan":
            label = _named_label(who, column, position, handle_unknown)
            if is_missing(label) or label not in nodes:
                raise ValueError(
                    f"{who}: 'handle_unknown' gives {label!r} for {value!r}, and the "
                    "taxonomy has no such label. It must give one to place the "
                    f"category under, such as {next(iter(nodes))!r}."
                )
            found[position] = nodes[label]
    return Places(found, known)


def _named_label(
    who: str, column: Column, position: int, handle_unknown: HandleUnknown
) -> Any:
    value = column.values[position]
    if callable(handle_unknown):
        return handle_unknown(value)
    if isinstance(handle_unknown, Mapping) and value in handle_unknown:
        return handle_unknown[value]
    row = int(np.argmax(column.codes == position))
    where = f"first in row {row}, column {column.name}"
    if value is None:
        raise ValueError(
            f"{who}: 'X' contains NaN or None, {where}. Every row needs a category: "
            "fill such rows in, or pass handle_unknown='nan', or a mapping that has "
            "None."
        )
    raise ValueError(
        f"{who}: 'X' contains {value!r}, {where}, which is not in the taxonomy. Pass "
        f"handle_unknown={{{value!r}: parent}} to place it under a known label, or "
        "handle_unknown='nan'."
    )


def distinct_values(columns: Iterable[Column]) -> list[Any]:
    """List the categories of several columns once, but for missing ones."""
    seen = dict.fromkeys(value for column in columns for value in column.values)
    return [value for value in seen if value is not None]
