"""What y holds: classes, numbers in slices, or several labels for each row."""

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from skrep.linalg import filled_slices, quantile_edges
from skrep.typing import AnyArray, FloatArray
from skrep.utils import warn
from skrep.utils.targets import (
    MAX_INTEGER_CLASSES,
    check_slice_edges,
    check_target,
)

__all__ = ["Rule", "check_same_rule", "make_rule", "read_target"]

_LIGHTEST = 0.5
"""Least weight of a slice, in units of an even share; lighter ones join a neighbor."""

Kind: TypeAlias = Literal["classes", "numbers", "labels"]


class Rule(NamedTuple):
    """How targets are read, settled by the first rows.

    Parameters
    ----------
    kind : {"classes", "numbers", "labels"}
        What they hold.
    edges : ndarray of shape (n_edges,)
        For "numbers", the edges of the slices; else empty.
    n_labels : int
        For "labels", their number; else 1.
    """

    kind: Kind
    edges: FloatArray
    n_labels: int


def read_target(
    who: str, y: Any, kept: AnyArray, target_type: str, rule: Rule | None
) -> tuple[Kind, AnyArray]:
    """Validate a target.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    y : array-like of shape (n_rows,) or (n_rows, n_labels)
        Classes or numbers; two or more columns hold labels, 0 or 1.
    kept : ndarray of bool of shape (n_rows,)
        The rows of positive weight.
    target_type : {"auto", "classes", "numbers"}
        What one column holds.
    rule : Rule or None
        What the first rows have settled.

    Returns
    -------
    kind : {"classes", "numbers", "labels"}
        What it holds.
    values : ndarray of shape (n_kept,) or (n_kept, n_labels)
        Labels of classes; numbers, or 0 and 1, in float64.

    Raises
    ------
    ValueError
        If it has another length, is not finite, or holds something else than the rule
        says.
    """
    width = _n_columns(y)
    if rule is not None and (rule.kind == "labels") != (width > 1):
        raise ValueError(
            f"{who}: 'y' has {width} columns, and the first rows had {rule.n_labels}. "
            "Pass the same classes, numbers or labels in every block."
        )
    if y is not None and not kept.all() and _num_samples(y) == len(kept):
        y, kept = _safe_indexing(y, np.flatnonzero(kept)), kept[kept]
    if width > 1:
        return "labels", _indicators(who, y, len(kept), rule)
    if rule is not None:
        target_type = rule.kind
    found = check_target(who, y, len(kept), target_type)
    if found.classes is not None:
        return "classes", found.classes[found.values]
    first = found.values[:10_000]
    few = np.unique(first)
    # A few rows have few values in any case, and classes several rows each.
    likely = len(first) > MAX_INTEGER_CLASSES and 2 * len(few) <= len(first)
    if target_type == "auto" and len(few) <= MAX_INTEGER_CLASSES and likely:
        warn(
            f"{who}: 'y' holds floats of {len(few)} distinct values, and is taken for "
            'numbers. Pass target_type="classes" or target_type="numbers" to say what '
            "it is.",
        )
    return "numbers", found.values


def _n_columns(y: Any) -> int:
    """Number of columns; anything that is no table counts as one."""
    shape = getattr(y, "shape", None)
    if shape is None and isinstance(y, (list, tuple)) and len(y):
        shape = (len(y), *np.shape(y[0]))
    return int(shape[1]) if shape is not None and len(shape) == 2 else 1


def _indicators(who: str, y: Any, n_rows: int, rule: Rule | None) -> FloatArray:
    remedy = "Pass one column, such as y[:, 0], for classes or numbers."
    try:
        Y: FloatArray = check_array(y, dtype=np.float64, input_name="y")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{who}: 'y' has several columns, which must hold labels 0 or 1: {error} "
            f"{remedy}"
        ) from error
    if len(Y) != n_rows:
        raise ValueError(
            f"{who}: 'y' has {len(Y)} entries, but X has {n_rows} rows. It needs one "
            "per row: pass those of the same rows, in the order of X."
        )
    other = Y[(Y != 0) & (Y != 1)]
    if other.size:
        raise ValueError(
            f"{who}: 'y' has {Y.shape[1]} columns, which must hold labels 0 or 1, and "
            f"holds {other[0]:g}. {remedy}"
        )
    if rule is not None and Y.shape[1] != rule.n_labels:
        raise ValueError(
            f"{who}: 'y' has {Y.shape[1]} columns, and the first rows had "
            f"{rule.n_labels}. Pass the same labels in every block."
        )
    return Y


def make_rule(
    who: str,
    kind: Kind,
    values: AnyArray,
    weights: FloatArray,
    *,
    n_slices: int,
    slice_edges: Any,
) -> Rule:
    """Settle how targets are read from those of the first rows.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    kind : {"classes", "numbers", "labels"}
        What they hold.
    values : ndarray of shape (n_rows,) or (n_rows, n_labels)
        Targets.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    n_slices : int
        Largest number of slices; there is at most one for every four rows.
    slice_edges : array-like of shape (n_edges,) or None
        Edges to use instead.

    Returns
    -------
    Rule
        The rule.

    Raises
    ------
    ValueError
        If the edges are no edges, or numbers are all one.
    """
    if kind != "numbers":
        return Rule(kind, np.zeros(0), values.shape[1] if kind == "labels" else 1)
    if slice_edges is None:
        n_rows = max(float(weights.sum()), float(len(weights)))
        n_slices = filled_slices(n_slices, n_rows)
        edges = quantile_edges(values, n_slices, weights, lightest=_LIGHTEST)
        if not len(edges):
            raise ValueError(
                f"{who}: 'y' is taken for numbers, and nearly all of them are "
                f"{np.median(values):g}: no two slices are there. Pass rows of several "
                'values, or target_type="classes" if these are classes.'
            )
        return Rule(kind, edges, 1)
    return Rule(kind, check_slice_edges(who, slice_edges)[0], 1)


def check_same_rule(who: str, one: Rule, other: Rule) -> None:
    """Refuse to join what was read in different ways.

    Parameters
    ----------
    who : str
        The method that is named in errors.
    one, other : Rule
        The rules.

    Raises
    ------
    ValueError
        If they differ.
    """
    for part, what in ((0, "kinds of y"), (2, "numbers of labels")):
        if one[part] != other[part]:
            raise ValueError(
                f"{who}: 'other' has {other[part]!r}, and this one {one[part]!r}, as "
                f"{what}. Fit both with the same target_type, on the same labels."
            )
    if not np.array_equal(one.edges, other.edges):
        raise ValueError(
            f"{who}: 'other' has cut y into other slices, as their edges are settled "
            "by the first rows. Give them to both: slice_edges=first.slice_edges_."
        )
