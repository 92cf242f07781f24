"""Curves out of the scores of prefixes."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from skrep.typing import AnyArray, FloatArray, IntArray

__all__ = ["Curve", "read_curves", "tick_lengths"]

Curve = tuple[IntArray, FloatArray]

MANY = 12
"""More lengths than this would write over each other: powers of two stand for them."""


def read_curves(
    who: str, scores: Any, score: str | None, name: str | None
) -> tuple[dict[str, Curve], str]:
    """Curves by label, and the name of what they show."""
    several = not _is_table(scores)
    tables = dict(scores) if several and isinstance(scores, Mapping) else {name: scores}
    if not tables or not all(map(_is_table, tables.values())):
        raise ValueError(
            f"{who}: 'scores' is no table of scores, nor a dict of them. A table has "
            "'prefix' among its names. Pass the result of prefix_scores, or "
            '{"PCA": prefix_scores(pca, X), ...}.'
        )
    if several and name is not None:
        raise ValueError(
            f"{who}: 'name' is {name!r}, and 'scores' holds several tables. They have "
            "the names of the dict. Leave name out."
        )
    found = {
        (label, column): (np.asarray(table["prefix"]), np.asarray(table[column]))
        for label, table in tables.items()
        for column in _columns(who, table, score)
    }
    columns = list(dict.fromkeys(column for _, column in found))
    curves = {
        _label(label, column, len(columns) == 1): _sorted(curve)
        for (label, column), curve in found.items()
    }
    return curves, columns[0] if len(columns) == 1 else "score"


def tick_lengths(lengths: AnyArray) -> AnyArray:
    """Which lengths the axis is labeled with."""
    lengths = np.unique(lengths)
    if len(lengths) <= MANY:
        return lengths
    powers = 2 ** np.arange(int(np.log2(lengths[-1])) + 1)
    return powers[powers >= lengths[0]]


def _is_table(scores: Any) -> bool:
    return "prefix" in _names(scores)


def _names(table: Any) -> list[Any]:
    """Names of a dict or of the columns of a frame."""
    named = isinstance(table, Mapping) or hasattr(table, "columns")
    return list(getattr(table, "columns", table)) if named else []


def _columns(who: str, table: Any, score: str | None) -> list[str]:
    there = [column for column in _names(table) if column != "prefix"]
    if score is None:
        return there
    if score not in there:
        raise ValueError(
            f"{who}: 'score' is {score!r}, which is not among the scores {there}. "
            "Pass one of them, or score=None for all."
        )
    return [score]


def _label(name: str | None, column: str, single: bool) -> str:
    if name is None:
        return column
    return name if single else f"{name}: {column}"


def _sorted(curve: Curve) -> Curve:
    order = np.argsort(curve[0])
    return curve[0][order], curve[1][order]
