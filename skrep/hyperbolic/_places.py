"""The nodes of categories, and what stands for those that are unknown."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from difflib import get_close_matches
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from skrep.exceptions import ThinDataWarning
from skrep.hyperbolic._categories import Column
from skrep.typing import AnyArray, IntArray
from skrep.utils import warn
from skrep.utils.labels import is_missing

__all__ = [
    "FIT",
    "TAXONOMY",
    "Places",
    "find_places",
    "names_missing",
    "warn_of_idle_keys",
    "warn_of_strangers",
]

HandleUnknown: TypeAlias = str | Mapping[Any, Any] | Callable[[Any], Any]

TAXONOMY: Final = "in the taxonomy"
FIT: Final = "among the categories of fit"

_UNNAMED: Final = object()
_N_NAMED: Final = 3


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


def find_places(
    who: str,
    column: Column,
    nodes: Mapping[Any, int],
    handle_unknown: HandleUnknown,
    home: str = TAXONOMY,
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
        gives; the latter see None for a missing category. A mapping with a default,
        such as a defaultdict, is asked for it, and left as it is.
    home : {"in the taxonomy", "among the categories of fit"}
        Where labels are, in messages.

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
    refused = []
    named = _naming(handle_unknown)
    # A missing category is spoken of before any that is unknown.
    missing = [value is None for value in column.values]
    for position in np.argsort(np.logical_not(missing), kind="stable").tolist():
        value = column.values[position]
        if value is not None and value in nodes:
            found[position], known[position] = nodes[value], True
        elif handle_unknown != "nan":
            label = named(value)
            if label is _UNNAMED:
                refused.append(position)
                continue
            if is_missing(label) or label not in nodes:
                raise ValueError(
                    f"{who}: 'handle_unknown' gives {label!r} for {value!r}, which is "
                    f"not {home}. It must give a label to place the category under, "
                    f"such as {next(iter(nodes))!r}."
                )
            found[position] = nodes[label]
    if refused:
        raise ValueError(_refusal(who, column, refused, nodes, home))
    return Places(found, known)


def _naming(handle_unknown: HandleUnknown) -> Callable[[Any], Any]:
    """Make the function that names the label to place a category under."""
    if callable(handle_unknown):
        return handle_unknown
    if not isinstance(handle_unknown, Mapping):
        return lambda value: _UNNAMED
    # A defaultdict keeps what it is asked for.
    asked = copy(handle_unknown) if _has_default(handle_unknown) else handle_unknown

    def name(value: Any) -> Any:
        try:
            return asked[value]
        except KeyError:
            return _UNNAMED

    return name


def _has_default(mapping: Mapping[Any, Any]) -> bool:
    if isinstance(mapping, defaultdict):
        return mapping.default_factory is not None
    return hasattr(mapping, "__missing__")


def names_missing(handle_unknown: HandleUnknown) -> bool:
    """Tell whether missing categories are not refused.

    Parameters
    ----------
    handle_unknown : {"error", "nan"}, mapping or callable
        As in `find_places`.

    Returns
    -------
    bool
        True if they have a place, or are left without.
    """
    if isinstance(handle_unknown, Mapping):
        return None in handle_unknown or _has_default(handle_unknown)
    return handle_unknown != "error"


def _refusal(
    who: str,
    column: Column,
    refused: Sequence[int],
    nodes: Mapping[Any, int],
    home: str,
) -> str:
    """Say which categories have no place, and how they get one."""
    positions, rows = np.unique(column.codes, return_index=True)
    first_rows = dict(zip(positions.tolist(), rows.tolist(), strict=True))
    strangers = sorted(refused, key=first_rows.__getitem__)
    values = [column.values[position] for position in strangers]
    if None in values:
        row = first_rows[strangers[values.index(None)]]
        return (
            f"{who}: 'X' contains NaN or None, first in row {row}, column "
            f"{column.name}. Every row needs a category: fill such rows in, or pass "
            "handle_unknown='nan', or a mapping that has None."
        )
    where = f"first in row {first_rows[strangers[0]]}, column {column.name}"
    if len(values) == 1:
        what = f"{values[0]!r}, {where}, which is not {home}"
    else:
        what = (
            f"{len(values)} categories that are not {home}, {_listed(values)}, {where}"
        )
    return (
        f"{who}: 'X' contains {what}. {_likeness(values, nodes, home)}Pass "
        f"handle_unknown={{{values[0]!r}: parent}} to place it under a known label, or "
        "handle_unknown='nan'."
    )


def _listed(values: Sequence[Any]) -> str:
    """Name up to three values and the number of the others."""
    named = ", ".join(map(repr, values[:_N_NAMED]))
    more = len(values) - _N_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _likeness(values: Sequence[Any], nodes: Mapping[Any, int], home: str) -> str:
    """Suggest what unknown categories may stand for, if anything is like one."""
    for value in values[:_N_NAMED]:
        twin = _twin(value, nodes)
        if twin is not None:
            return f"{twin[0]!r} is {home}: pass {twin[1]} if that is meant. "
    labels = [label for label in nodes if isinstance(label, str)]
    for value in values[:_N_NAMED]:
        near = get_close_matches(value, labels, 1) if isinstance(value, str) else []
        if near:
            return f"Is {near[0]!r} meant by {value!r}? "
    return ""


def _twin(value: Any, nodes: Mapping[Any, int]) -> tuple[Any, str] | None:
    """The label that is the same in another type, and the code that turns X to it."""
    if isinstance(value, str):
        for number, code in ((int, "X.astype(int)"), (float, "X.astype(float)")):
            try:
                turned = number(value)
            except ValueError:
                continue
            if turned in nodes:
                return turned, code
        return None
    if str(value) in nodes:
        return str(value), "X.astype(str)"
    if isinstance(value, float) and value.is_integer() and str(int(value)) in nodes:
        return str(int(value)), "X.astype(int).astype(str)"
    return None


def warn_of_strangers(
    who: str,
    column: Column,
    places: Places,
    nodes: Mapping[Any, int],
    home: str = TAXONOMY,
    *,
    fitting: bool,
) -> None:
    """Warn if no category of a column is a label, so that all of it becomes NaN.

    Parameters
    ----------
    who : str
        The estimator that is named.
    column : Column
        The categories.
    places : Places
        Where they belong.
    nodes : mapping of label to int
        The nodes by label.
    home : {"in the taxonomy", "among the categories of fit"}
        Where labels are, in messages.
    fitting : bool
        False to warn only if labels are the same in another type: a few rows may be
        all of new categories.
    """
    strangers = [value for value in column.values if value is not None]
    if (places.nodes >= 0).any() or not strangers:
        return
    twins = any(_twin(value, nodes) is not None for value in strangers[:_N_NAMED])
    if fitting or twins:
        warn(
            f"{who}: none of the {len(strangers)} categories of column {column.name} "
            f"of 'X' is {home}, {_listed(strangers)}, and all rows become NaN. "
            f"{_likeness(strangers, nodes, home)}Compare with encoder.labels_.",
            ThinDataWarning,
        )


def warn_of_idle_keys(
    who: str, nodes: Mapping[Any, int], handle_unknown: HandleUnknown, home: str
) -> None:
    """Warn of keys of `handle_unknown` that are labels, and are never looked up.

    Parameters
    ----------
    who : str
        The estimator that is named.
    nodes : mapping of label to int
        The nodes by label.
    handle_unknown : {"error", "nan"}, mapping or callable
        As in `find_places`.
    home : {"in the taxonomy", "among the categories of fit"}
        Where labels are, in messages.
    """
    if not isinstance(handle_unknown, Mapping):
        return
    idle = [key for key in handle_unknown if key in nodes]
    if idle:
        warn(
            f"{who}: 'handle_unknown' has the keys {_listed(idle)}, which are {home} "
            "and keep their own places. Leave such keys out: {key: label for key, "
            "label in handle_unknown.items() if key not in encoder.labels_.tolist()}."
        )
