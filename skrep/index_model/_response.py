"""What y holds, and how it is cut: settled by the first rows, then frozen."""

from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import _num_samples

from skrep.exceptions import ThinDataWarning
from skrep.linalg import quantile_edges
from skrep.typing import AnyArray, FloatArray
from skrep.utils import warn
from skrep.utils.targets import Target, check_slice_edges, check_target

__all__ = ["Rule", "clipped", "make_rule", "read_response", "slice_response"]

_LIGHTEST = 0.5
"""Least weight of a slice, in units of an even share; lighter ones join a neighbor."""

Kind: TypeAlias = Literal["classes", "slices", "raw"]


class Rule(NamedTuple):
    """How responses are read.

    Parameters
    ----------
    kind : {"classes", "slices", "raw"}
        What they are taken for.
    n_outputs : int
        Number of responses.
    edges : tuple of ndarray
        For "slices", the edges of each response.
    bounds : ndarray of shape (2, n_outputs) or None
        For "raw", the bounds that responses are clipped to.
    unit : ndarray of shape (n_outputs,) or None
        For "raw", the power of two that responses are divided by.
    """

    kind: Kind
    n_outputs: int
    edges: tuple[FloatArray, ...]
    bounds: FloatArray | None
    unit: FloatArray | None = None


def read_response(
    who: str,
    y: Any,
    kept: AnyArray,
    response: str,
    rule: Rule | None = None,
    parameter: str | None = "target_type",
) -> tuple[Kind, AnyArray]:
    """Validate a response.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        The response; several columns hold numbers.
    kept : ndarray of bool of shape (n_rows,)
        The rows of positive weight.
    response : {"auto", "raw", "slices", "classes"}
        What it is taken for; "auto" tells classes from numbers.
    rule : Rule or None
        What the first rows have settled.
    parameter : {"response", "target_type"} or None
        The parameter that says what y is taken for, as named in errors.

    Returns
    -------
    kind : {"classes", "slices", "raw"}
        What it is taken for.
    values : ndarray of shape (n_kept,) or (n_kept, n_outputs)
        Labels of classes, or numbers in float64.

    Raises
    ------
    ValueError
        If it has another length, is not finite, or cannot be taken so.
    """
    if rule is not None:
        response = rule.kind
    if _n_columns(y) > 1:
        values = _several(who, y, len(kept), response)
        kind: Kind = "raw" if response == "raw" else "slices"
        numbers = values[kept]
    else:
        if y is not None and _num_samples(y) == len(kept) and not kept.all():
            y = _safe_indexing(y, np.flatnonzero(kept))
        wanted = {"auto": "auto", "classes": "classes"}.get(response, "numbers")
        numbers_are = "slices" if parameter == "response" else "numbers"
        found = check_target(
            who, y, int(kept.sum()), wanted, parameter=parameter, numbers=numbers_are
        )
        if found.kind == "classes":
            assert found.classes is not None
            _check_classes(who, found, parameter)
            return "classes", found.classes[found.values]
        kind = "raw" if response == "raw" else "slices"
        numbers = found.values[:, None]
    if rule is not None and numbers.shape[1] != rule.n_outputs:
        raise ValueError(
            f"{who}: 'y' has {numbers.shape[1]} columns, and the first rows had "
            f"{rule.n_outputs}. Pass the same responses in every block."
        )
    return kind, numbers


def make_rule(
    who: str,
    kind: Kind,
    values: AnyArray,
    weights: FloatArray,
    *,
    n_slices: int,
    slice_edges: Any,
    clip: float | None,
) -> Rule:
    """Settle slices and bounds from the first rows.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    kind : {"classes", "slices", "raw"}
        What the response is taken for.
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels or numbers.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    n_slices : int
        Number of slices.
    slice_edges : array-like, list of array-like, or None
        Edges to use instead.
    clip : float or None
        Bounds of "raw", in median absolute deviations about the median.

    Returns
    -------
    Rule
        The rule.

    Raises
    ------
    ValueError
        If y is constant, or the edges are no edges.
    """
    if kind == "classes":
        if len(np.unique(values)) < 2:
            raise _one_value(who, values[0])
        return Rule(kind, 1, (), None)
    n_outputs = values.shape[1]
    constant = values.min(axis=0) == values.max(axis=0)
    if constant.all():
        raise _one_value(who, values[0] if n_outputs > 1 else values[0, 0])
    if constant.any():
        columns = ", ".join(str(j) for j in np.flatnonzero(constant))
        warn(
            f"{who}: 'y' is constant in column {columns}, which tells no direction. "
            "Leave it out of y.",
            ThinDataWarning,
        )
    if kind == "raw":
        bounds = None if clip is None else _bounds(values, weights, clip)
        # Products with the rows would overflow, or vanish, long before numbers do.
        unit = np.exp2(np.frexp(np.abs(values).max(axis=0))[1].astype(np.float64) - 1)
        return Rule(kind, n_outputs, (), bounds, unit)
    if slice_edges is not None:
        edges = check_slice_edges(who, slice_edges, n_outputs)
        _check_reach(who, edges, values)
        return Rule(kind, n_outputs, edges, None)
    edges = tuple(
        quantile_edges(column, n_slices, weights, lightest=_LIGHTEST)
        for column in values.T
    )
    return Rule(kind, n_outputs, edges, None)


def slice_response(values: FloatArray, rule: Rule) -> list[AnyArray]:
    """Tell the slice of every number, response by response.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Numbers.
    rule : Rule
        The edges.

    Returns
    -------
    list of ndarray of shape (n_rows,)
        Slices of each response.
    """
    return [
        np.searchsorted(edges, column, side="left")
        for column, edges in zip(values.T, rule.edges, strict=True)
    ]


def clipped(values: FloatArray, rule: Rule) -> FloatArray:
    """Bring numbers within the bounds, and into their unit.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_outputs)
        Numbers.
    rule : Rule
        The bounds and the unit.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        The numbers.
    """
    inside = values if rule.bounds is None else np.clip(values, *rule.bounds)
    return inside if rule.unit is None else inside / rule.unit


def _bounds(values: FloatArray, weights: FloatArray, clip: float) -> FloatArray:
    def median(numbers: FloatArray) -> Any:
        heavy = np.broadcast_to(weights[:, None], numbers.shape)
        return np.quantile(numbers, 0.5, axis=0, weights=heavy, method="inverted_cdf")

    center = median(values)
    spread = median(np.abs(values - center))
    # More than half of a response may be one number: no deviation is then the median.
    spread = np.where(spread > 0, spread, np.inf)
    return np.stack([center - clip * spread, center + clip * spread])


def _n_columns(y: Any) -> int:
    """Number of columns; anything that is no table counts as one."""
    try:
        shape = getattr(y, "shape", None) or np.asarray(y).shape
    except ValueError:
        return 1
    return int(shape[1]) if len(shape) == 2 else 1


def _several(who: str, y: Any, n_rows: int, response: str) -> FloatArray:
    if response == "classes":
        raise ValueError(
            f"{who}: 'response' is \"classes\" and 'y' has {_n_columns(y)} columns. "
            "Classes come in one column: pass y[:, 0]."
        )
    try:
        values: FloatArray = check_array(y, dtype=np.float64, input_name="y")
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{who}: 'y' has several columns, which must hold finite numbers: "
            f"{error} Pass classes as one column."
        ) from error
    if len(values) != n_rows:
        raise ValueError(
            f"{who}: 'y' has {len(values)} entries, but X has {n_rows} rows. It needs "
            "one per row: pass those of the same rows, in the order of X."
        )
    return values


def _check_reach(who: str, edges: tuple[FloatArray, ...], values: FloatArray) -> None:
    reached = [
        part.size and column.min() <= part[-1] and column.max() > part[0]
        for part, column in zip(edges, values.T, strict=True)
    ]
    if not any(reached):
        raise ValueError(
            f"{who}: 'slice_edges' leaves all of y in one slice, as y lies between "
            f"{values.min():g} and {values.max():g}. Pass edges between these, such as "
            "np.quantile(y, [0.2, 0.4, 0.6, 0.8]), or None."
        )


def _check_classes(who: str, found: Target, parameter: str | None) -> None:
    assert found.classes is not None
    n_classes, n_rows = len(found.classes), len(found.values)
    if found.classes.dtype.kind == "f" and 2 * n_classes > n_rows:
        numbers = "slices" if parameter == "response" else "numbers"
        raise ValueError(
            f"{who}: 'y' holds {n_classes} distinct numbers in {n_rows} rows, which "
            f'are no classes. Pass {parameter}="{numbers}".'
        )


def _one_value(who: str, value: Any) -> ValueError:
    return ValueError(
        f"{who}: 'y' has one value, {np.asarray(value).tolist()!r}, in all rows. "
        "Directions that drive it need at least two: pass rows of several values."
    )
