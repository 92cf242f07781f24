"""Labels of categories and nodes: missing ones, and the order of all."""

from collections.abc import Iterable
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from skrep.typing import AnyArray

__all__ = ["is_missing", "label_array", "sorted_labels"]


def is_missing(value: Any) -> bool:
    """Tell whether a label is None, NaN, NaT or the NA of pandas.

    Parameters
    ----------
    value : object
        A label.

    Returns
    -------
    bool
        True if it stands for no label.

    Examples
    --------
    >>> from skrep.utils.labels import is_missing
    >>> is_missing(None), is_missing(float("nan")), is_missing("nan")
    (True, True, False)
    """
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, Real) and bool(value != value)


def label_array(labels: Iterable[Any]) -> AnyArray:
    """Hold labels in an array that changes none of them.

    Parameters
    ----------
    labels : iterable of object
        Labels.

    Returns
    -------
    ndarray of shape (n_labels,)
        Of strings, integers or floats where all labels are, otherwise of objects.

    Examples
    --------
    >>> from skrep.utils.labels import label_array
    >>> label_array(["b", "a"])
    array(['b', 'a'], dtype='<U1')
    >>> label_array(["b", 1])
    array(['b', 1], dtype=object)
    """
    values = list(labels)
    kinds = {_kind(value) for value in values}
    if len(kinds) == 1 and kinds <= {"string", "integer", "float"}:
        array = np.array(values)
        if array.dtype.kind in "Uiuf" and array.tolist() == values:
            return array
    held = np.empty(len(values), dtype=object)
    held[:] = values
    return held


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Sort labels, also those that cannot be compared.

    Parameters
    ----------
    labels : iterable of hashable
        Labels, in any number.

    Returns
    -------
    list of hashable
        The distinct labels in their own order. Where two cannot be compared, as a
        number and a string, in the order of the names of their types, and of their
        text within a type.

    Examples
    --------
    >>> from skrep.utils.labels import sorted_labels
    >>> sorted_labels(["b", "a", "b"]), sorted_labels(["b", 10, 9, "a"])
    (['a', 'b'], [9, 10, 'a', 'b'])
    """
    distinct = list(dict.fromkeys(labels))
    ordered = _ordered(distinct)
    if ordered is not None:
        return ordered
    groups: dict[str, list[Any]] = {}
    for label in distinct:
        groups.setdefault(type(label).__name__, []).append(label)
    return [
        label
        for name in sorted(groups)
        for label in _ordered(groups[name]) or sorted(groups[name], key=_text)
    ]


def _ordered(labels: list[Any]) -> list[Any] | None:
    """Sort labels that have one order; sets, which contain each other, need not."""
    try:
        ordered = sorted(labels)
        one = all(low < high for low, high in pairwise(ordered))
    except TypeError:
        return None
    return ordered if one else None


def _text(label: Any) -> str:
    """Write a label in one way, whatever the order of the members of a set is."""
    if isinstance(label, frozenset):
        return repr(sorted_labels(label))
    return repr(label)


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "string"
    if isinstance(value, bool | np.bool_):
        return "boolean"
    if isinstance(value, Integral):
        return "integer"
    return "float" if isinstance(value, Real) else "other"
