"""Promises about bad input: a right result, or one clear error."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from skrep.typing import AnyArray
from skrep.utils.estimator_checks._data import (
    degenerate_rows,
    fitted,
    has_labels,
    kind_of,
    make_rows,
    make_target,
    output,
    refusal,
    row_method,
    seeded,
)

__all__ = ["check_bad_input", "check_degenerate_rows"]


def _named(name: str, call: Callable[[], Any], what: str) -> str:
    message = refusal(call, f"{name}: {what}")
    assert name in message, f"{name}: the error for {what} does not name it: {message}"
    return message


def check_bad_input(name: str, estimator: Any) -> None:
    """NaN, infinity, no rows and a wrong width are refused by name.

    So are a missing string; a negative number where numbers must be positive, and a
    matrix that is not square where it is pairwise.
    """
    X = make_rows(estimator)
    y = make_target(estimator, X)
    model = fitted(estimator, X, y)
    method = row_method(model)
    for bad, word in _spoiled(estimator, X):
        calls = [partial(seeded(estimator).fit, bad, y)]
        if method is not None:
            calls.append(partial(getattr(model, method), bad))
        for call in calls:
            message = _named(name, call, word or "a missing string")
            assert word in message, f"{name}: no {word} in {message!r}"
    none = None if y is None else y[:0]
    _named(name, lambda: seeded(estimator).fit(X[:0], none), "an empty X")
    if method is not None:
        narrow = X[:, 1:]
        _named(name, lambda: getattr(model, method)(narrow), "a missing column")
    tags = get_tags(estimator).input_tags
    if tags.positive_only:
        negative = X.copy()
        negative[3, 1] = -1
        _named(name, lambda: seeded(estimator).fit(negative, y), "a negative number")
    if tags.pairwise:
        fewer = None if y is None else y[1:]
        _named(name, lambda: seeded(estimator).fit(X[1:], fewer), "a matrix not square")


def _spoiled(estimator: Any, X: AnyArray) -> Iterator[tuple[AnyArray, str]]:
    """Rows with an entry that must be refused, and a word that the error holds."""
    allows_nan = get_tags(estimator).input_tags.allow_nan
    if has_labels(estimator):
        entries: dict[str, Any] = {} if allows_nan else {"": None}
    else:
        entries = {"infinity": np.inf} | ({} if allows_nan else {"NaN": np.nan})
    for word, value in entries.items():
        bad = X.copy()
        bad[3, 1] = value
        yield bad, word


def check_degenerate_rows(name: str, estimator: Any) -> None:
    """Constant columns, zero rows, equal rows and one row: finite, or refused.

    So are nodes without edges, and points in one place.
    """
    served, odd = degenerate_rows(estimator)
    for what, rows in {**served, **odd}.items():
        y = make_target(estimator, rows)
        try:
            model = seeded(estimator).fit(rows, y)
        except ValueError as error:
            message = str(error)
            assert name in message, f"{name}: the error for {what} does not name it"
            assert what not in served, message
            continue
        assert np.isfinite(output(model, rows)).all(), f"{name}: {what} gives NaN"
        if kind_of(estimator) == "rows":
            assert np.isfinite(output(model, np.zeros_like(rows))).all(), what
