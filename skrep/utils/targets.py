"""Whether a target holds classes or numbers: one rule for every estimator."""

from numbers import Integral, Real
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np

from skrep.typing import AnyArray, FloatArray
from skrep.utils._warnings import warn
from skrep.utils.labels import is_missing
from skrep.utils.validation import dtype_names

__all__ = [
    "MAX_INTEGER_CLASSES",
    "Target",
    "check_classes",
    "check_slice_edges",
    "check_target",
    "holds_integers",
    "target_kind",
]

Kind: TypeAlias = Literal["classes", "numbers"]

MAX_INTEGER_CLASSES: Final = 20
"""Integers of more distinct values than this are numbers."""

_TYPES: Final = ("auto", "classes", "numbers")
# Categories may be stored as integers, which an array would forget.
_CATEGORIES: Final = frozenset({"category", "Categorical", "Enum"})
_NUMBERS: Final = frozenset({"integers", "floats"})


class Target(NamedTuple):
    """A checked target.

    Parameters
    ----------
    kind : {"classes", "numbers"}
        What it holds.
    values : ndarray of shape (n_rows,)
        For classes the position of each row's label in `classes`, integers; for
        numbers the numbers, float64.
    classes : ndarray of shape (n_classes,) or None
        The sorted labels; None for numbers.
    """

    kind: Kind
    values: AnyArray
    classes: AnyArray | None


def target_kind(y: Any) -> Kind:
    """Tell whether a target holds classes or numbers.

    Strings, booleans and categories are classes, floats are numbers, and integers are
    classes up to 20 distinct values.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, 1)
        The target: a list, an array, or a column of a frame.

    Returns
    -------
    {"classes", "numbers"}
        What it holds.

    Raises
    ------
    ValueError
        If y has another shape, missing entries, entries of several types, or entries
        that are neither labels nor numbers.

    See Also
    --------
    check_target : The kind, and the target as an array.

    Examples
    --------
    >>> from skrep.utils.targets import target_kind
    >>> target_kind(["cat", "dog"])
    'classes'
    >>> target_kind([0, 1, 1])
    'classes'
    >>> target_kind([0.0, 1.0, 1.0])
    'numbers'
    """
    values, categorical = _read("target_kind", y, "y")
    return _kind_of(values, categorical)


def holds_integers(y: Any) -> bool:
    """Tell whether it takes all rows to decide what a target holds.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or (n_rows, 1)
        The target, or a part of it.

    Returns
    -------
    bool
        Whether it holds integers that are no categories: up to 20 distinct ones are
        classes, and further rows may bring more.

    Examples
    --------
    >>> from skrep.utils.targets import holds_integers
    >>> holds_integers([0, 1]), holds_integers([0.0, 1.0]), holds_integers(["a", "b"])
    (True, False, False)
    """
    values, categorical = _read("holds_integers", y, "y")
    return values.dtype.kind in "iu" and not categorical


def check_target(
    who: str,
    y: Any,
    n_rows: int,
    target_type: str = "auto",
    *,
    parameter: str | None = "target_type",
    numbers: str = "numbers",
    name: str = "y",
) -> Target:
    """Validate a target and say whether it holds classes or numbers.

    Every row counts, so leave out those of weight zero first.

    Parameters
    ----------
    who : str
        The estimator or function that is named in errors.
    y : array-like of shape (n_rows,) or (n_rows, 1)
        The target.
    n_rows : int
        Number of rows.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        "auto" decides by `target_kind`; the others override it. Strings and
        categories that are no numbers cannot be numbers.
    parameter : str or None, default="target_type"
        The parameter of the estimator that overrides "auto", as named in messages;
        None if there is none.
    numbers : str, default="numbers"
        The value of that parameter that stands for numbers.
    name : str, default="y"
        What the target is called, in messages.

    Returns
    -------
    Target
        The kind, the codes or numbers, and the labels of the classes.

    Raises
    ------
    ValueError
        If y is None, has another shape or length, is not finite, or cannot be what
        `target_type` asks for.

    Warns
    -----
    UserWarning
        If "auto" takes integers for numbers, as there are more than 20 of them.

    See Also
    --------
    target_kind : The rule.

    Examples
    --------
    >>> from skrep.utils.targets import check_target
    >>> check_target("example", ["dog", "cat", "dog"], 3)
    Target(kind='classes', values=array([1, 0, 1]), classes=array(['cat', 'dog'], ...))
    >>> check_target("example", [1, 2, 2], 3, "numbers")
    Target(kind='numbers', values=array([1., 2., 2.]), classes=None)
    >>> check_target("example", ["dog", "cat"], 3)
    Traceback (most recent call last):
    ...
    ValueError: example: 'y' has 2 entries, but X has 3 rows. ...
    """
    if target_type not in _TYPES:
        raise ValueError(
            f"{who}: 'target_type' is {target_type!r}. It must be one of {_TYPES}. "
            f'Pass target_type="auto" to have it told from {name}.'
        )
    values, categorical = _read(who, y, name)
    if len(values) != n_rows:
        raise ValueError(
            f"{who}: '{name}' has {len(values)} entries, but X has {n_rows} rows. It "
            "needs one per row: pass those of the same rows, in the order of X."
        )
    found = _kind_of(values, categorical)
    if target_type == "classes" or (target_type == "auto" and found == "classes"):
        classes, codes = np.unique(values, return_inverse=True)
        return Target("classes", codes.astype(np.intp, copy=False), classes)
    if values.dtype.kind not in "iufb":
        remedy = f', or {parameter}="classes"' if parameter else ""
        raise ValueError(
            f"{who}: '{name}' holds labels such as {values[:1].tolist()[0]!r}, and "
            f"numbers are needed. Pass {name}.astype(float){remedy}."
        )
    if target_type == "auto" and values.dtype.kind in "iu":
        remedy = (
            f'{parameter}="classes" or {parameter}="{numbers}"'
            if parameter
            else f"{name}.astype(str) or {name}.astype(float)"
        )
        warn(
            f"{who}: '{name}' holds integers of {len(np.unique(values))} distinct "
            f"values, more than {MAX_INTEGER_CLASSES}, and is taken for numbers. Pass "
            f"{remedy} to say what it is.",
        )
    return Target("numbers", values.astype(np.float64), None)


def check_classes(who: str, y: Any, n_rows: int) -> Target:
    """Validate a target that must hold classes.

    Parameters
    ----------
    who : str
        The estimator or function that is named in errors.
    y : array-like of shape (n_rows,) or (n_rows, 1)
        Labels; numbers that are whole are labels, too.
    n_rows : int
        Number of rows.

    Returns
    -------
    Target
        The codes, and the labels of the classes.

    Raises
    ------
    ValueError
        As `check_target`, and if y holds fractions.

    Examples
    --------
    >>> from skrep.utils.targets import check_classes
    >>> check_classes("example", [0.5, 1.0], 2)
    Traceback (most recent call last):
    ...
    ValueError: example: Unknown label type: continuous. 'y' holds 0.5, ...
    """
    found = check_target(who, y, n_rows, "classes", parameter=None)
    assert found.classes is not None
    if found.classes.dtype.kind == "f":
        parts = found.classes[found.classes != np.floor(found.classes)]
        if len(parts):
            raise ValueError(
                f"{who}: Unknown label type: continuous. 'y' holds {parts[0]:g}, and "
                "classes are needed. Pass labels, such as np.digitize(y, edges), or "
                "y.astype(str) if every number is a class."
            )
    return found


def check_slice_edges(
    who: str, slice_edges: Any, n_outputs: int | None = None
) -> tuple[FloatArray, ...]:
    """Return the edges of slices of every response.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    slice_edges : array-like of shape (n_edges,) or list of array-like
        The parameter; a list of arrays holds those of each response.
    n_outputs : int, default=None
        Number of responses; None is one, whose edges are no list of arrays.

    Returns
    -------
    tuple of ndarray of shape (n_edges,), float64
        Edges of each response.

    Raises
    ------
    ValueError
        If there are none, or they are not finite and rising.

    Examples
    --------
    >>> from skrep.utils.targets import check_slice_edges
    >>> check_slice_edges("example", [1, 2])
    (array([1., 2.]),)
    """
    n_parts = n_outputs or 1
    single = len(slice_edges) == 0 or np.ndim(slice_edges[0]) != 1
    listed = n_parts > 1 or (n_outputs is not None and not single)
    parts = list(slice_edges) if listed else [slice_edges]
    edges = tuple(np.asarray(part, dtype=np.float64) for part in parts)
    good = len(edges) == n_parts and all(
        part.ndim == 1 and np.isfinite(part).all() and (np.diff(part) > 0).all()
        for part in edges
    )
    if not good or not any(part.size for part in edges):
        each = f", one array for each of the {n_parts} responses"
        raise ValueError(
            f"{who}: 'slice_edges' is {slice_edges!r}. It must hold rising finite "
            f"numbers{each if n_parts > 1 else ''}. Pass "
            "slice_edges=np.quantile(y, [0.2, 0.4, 0.6, 0.8]), say, or None."
        )
    return edges


def _kind_of(values: AnyArray, categorical: bool) -> Kind:
    if values.dtype.kind == "f" and not categorical:
        return "numbers"
    whole = values.dtype.kind in "iu" and not categorical
    if whole and len(np.unique(values)) > MAX_INTEGER_CLASSES:
        return "numbers"
    return "classes"


def _read(who: str, y: Any, name: str) -> tuple[AnyArray, bool]:
    """Return the entries, of one dimension and type; are they categories?"""
    if y is None:
        raise ValueError(
            f"{who}: requires {name} to be passed, but the target {name} is None. Pass "
            f"{name} with one class or number per row."
        )
    categorical = bool(dtype_names(y) & _CATEGORIES)
    try:
        values = np.asarray(y)
        if values.dtype.kind in "US" and isinstance(y, (list, tuple)):
            # NumPy writes 1 and NaN as text where they stand beside text.
            values = np.array(y, dtype=object)
    except ValueError as error:
        raise ValueError(
            f"{who}: '{name}' has rows of different lengths. It must be of one "
            "dimension: pass one class or number per row."
        ) from error
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(
            f"{who}: '{name}' has shape {values.shape}. It must be of one dimension: "
            f"pass one column, such as {name}[:, 0]."
        )
    if values.dtype.kind in "OT":
        values = _of_one_type(who, values.astype(object), name)
    if values.dtype.kind == "f" and not (finite := np.isfinite(values)).all():
        row = int(np.argmin(finite))
        what = "NaN" if np.isnan(values[row]) else "infinity"
        raise _not_there(who, what, row, name)
    if values.dtype.kind not in "biufUSO":
        raise _no_target(who, values.dtype, name)
    return values, categorical


def _of_one_type(who: str, values: AnyArray, name: str) -> AnyArray:
    """Give objects the type that they have in common."""
    for row, value in enumerate(values):
        if is_missing(value):
            raise _not_there(who, repr(value), row, name)
    types = {_type_of(value) for value in values}
    if types <= {"integers"} or types <= {"booleans"}:
        return np.array(values.tolist())
    if types <= _NUMBERS:
        return values.astype(np.float64)
    if "others" in types:
        bad = next(v for v in values if _type_of(v) == "others")
        raise _no_target(who, type(bad).__name__, name)
    if len(types) > 1:
        raise ValueError(
            f"{who}: '{name}' mixes {' and '.join(sorted(types))}. Its entries must be "
            f"of one type: pass [str(label) for label in {name}] for classes."
        )
    return values


def _type_of(value: Any) -> str:
    if isinstance(value, str):
        return "strings"
    if isinstance(value, bytes):
        return "bytes"
    if isinstance(value, (bool, np.bool_)):
        return "booleans"
    if isinstance(value, Integral):
        return "integers"
    return "floats" if isinstance(value, Real) else "others"


def _not_there(who: str, what: str, row: int, name: str) -> ValueError:
    return ValueError(
        f"{who}: '{name}' contains {what}, first in row {row}. Every row needs a class "
        f"or a finite number: drop such rows from X and {name}."
    )


def _no_target(who: str, what: Any, name: str) -> ValueError:
    return ValueError(
        f"{who}: '{name}' holds {what}, which is neither labels nor numbers. Pass "
        f"{name}.astype(float) for numbers, or [str(label) for label in {name}] for "
        "classes."
    )
