"""Promises about bad input: a right result, or one clear error."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from skrep.utils.estimator_checks._data import (
    fitted,
    make_rows,
    make_target,
    output,
    refusal,
    seeded,
)

__all__ = ["check_bad_input", "check_degenerate_rows"]


def _named(name: str, call: Callable[[], Any], what: str) -> str:
    message = refusal(call, f"{name}: {what}")
    assert name in message, f"{name}: the error for {what} does not name it: {message}"
    return message


def check_bad_input(name: str, estimator: Any) -> None:
    """NaN, infinity, no rows and a wrong width are refused by name."""
    X = make_rows()
    y = make_target(estimator, X)
    model = fitted(estimator, X, y)
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        bad = X.copy()
        bad[3, 1] = value
        for call in (
            partial(seeded(estimator).fit, bad, y),
            partial(model.transform, bad),
        ):
            assert word in _named(name, call, word)
    none = None if y is None else y[:0]
    _named(name, lambda: seeded(estimator).fit(X[:0], none), "an empty X")
    _named(name, lambda: model.transform(X[:, 1:]), "a missing column")


def check_degenerate_rows(name: str, estimator: Any) -> None:
    """Constant columns, zero rows, equal rows and one row: finite, or refused."""
    X = make_rows()
    constant = X.copy()
    constant[:, 2] = 5.0
    zero = X.copy()
    zero[:4] = 0
    cases = {
        "a constant column": constant,
        "zero rows": zero,
        "equal rows": np.repeat(X[:1], 8, axis=0),
        "one row": X[:1],
        "two rows": X[:2],
        "a tiny unit": X * 1e-150,
        "a huge unit": X * 1e150,
    }
    for what, rows in cases.items():
        y = make_target(estimator, rows)
        try:
            model = seeded(estimator).fit(rows, y)
        except ValueError as error:
            message = str(error)
            assert name in message, f"{name}: the error for {what} does not name it"
            assert what not in ("a constant column", "zero rows"), message
            continue
        assert np.isfinite(output(model, rows)).all(), f"{name}: {what} gives NaN"
        assert np.isfinite(output(model, np.zeros_like(rows))).all(), what
