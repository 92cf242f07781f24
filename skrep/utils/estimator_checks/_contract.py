"""Promises about parameters, state and randomness."""

import contextlib
import inspect
import io
import sys
from typing import Any

import joblib
import numpy as np

from skrep.utils.estimator_checks._data import (
    fitted,
    make_rows,
    make_target,
    output,
    row_method,
    seeded,
    taken,
)

__all__ = [
    "check_constructor",
    "check_invariances_are_declared",
    "check_parameters_stay",
    "check_randomness",
    "check_rows_are_independent",
    "check_sample_weight",
    "check_silent",
    "check_state_stays",
]


def check_constructor(name: str, estimator: Any) -> None:
    """Every parameter has a default, a declared constraint and a name of its own.

    The first one of a search, `estimator`, needs no default.
    """
    cls = type(estimator)
    for parameter in inspect.signature(cls).parameters.values():
        label = f"{name}: parameter '{parameter.name}'"
        assert parameter.kind is not parameter.VAR_KEYWORD, f"{label} is a **kwargs"
        searched = parameter.name == "estimator"
        assert searched or parameter.default is not parameter.empty, (
            f"{label} has no default"
        )
        assert not callable(getattr(cls, parameter.name, None)), (
            f"{label} hides the method of the same name"
        )
        assert parameter.name in cls._parameter_constraints, (
            f"{label} is not in _parameter_constraints"
        )


def check_parameters_stay(name: str, estimator: Any) -> None:
    """The constructor stores its arguments, and fit leaves them, object by object."""
    given = seeded(estimator).get_params(deep=False)
    made = type(estimator)(**given)
    for when in ("the constructor", "fit"):
        for key, value in made.get_params(deep=False).items():
            assert value is given[key], f"{name}: {when} replaced parameter '{key}'"
        X = make_rows(made)
        made.fit(X, make_target(made, X))


def check_state_stays(name: str, estimator: Any) -> None:
    """Transforming or predicting leaves the fitted state as it was."""
    X = make_rows(estimator)
    model = fitted(estimator, X)
    if row_method(model) is None:
        return
    before = joblib.hash(vars(model))
    output(model, X)
    output(model, X[:1])
    if hasattr(model, "get_feature_names_out"):
        model.get_feature_names_out()
    assert joblib.hash(vars(model)) == before, (
        f"{name}: {row_method(model)} changed the state"
    )


def check_rows_are_independent(name: str, estimator: Any) -> None:
    """A row's output depends on that row alone, where new rows are answered to."""
    X = make_rows(estimator)
    model = fitted(estimator, X)
    if row_method(model) is None:
        return
    whole = output(model, X)
    parts = np.concatenate([output(model, X[i : i + 1]) for i in range(len(X))])
    message = f"{name}: a row's output depends on the other rows"
    np.testing.assert_allclose(parts, whole, rtol=1e-9, atol=1e-9, err_msg=message)
    flipped = output(model, X[::-1])[::-1]
    np.testing.assert_allclose(flipped, whole, rtol=1e-9, atol=1e-9, err_msg=message)


def check_randomness(name: str, estimator: Any) -> None:
    """An int seed repeats a fit to the bit; the global random states stay."""
    torch = sys.modules.get("torch")
    before = np.random.get_state()  # noqa: NPY002 - it is the global state we watch
    torch_before = None if torch is None else torch.get_rng_state()
    X = make_rows(estimator)
    first, second = (output(fitted(estimator, X), X) for _ in range(2))
    np.testing.assert_array_equal(
        first, second, f"{name}: two fits with one seed differ"
    )
    after = np.random.get_state()  # noqa: NPY002
    same = all(np.array_equal(a, b) for a, b in zip(before, after, strict=True))
    assert same, f"{name}: fit moved NumPy's global random state"
    if torch is not None:
        assert torch.equal(torch_before, torch.get_rng_state()), (
            f"{name}: fit moved torch's global random state"
        )


def check_sample_weight(name: str, estimator: Any) -> None:
    """A weight of 2 is a row twice, a weight of 0 an absent row."""
    if "sample_weight" not in inspect.signature(estimator.fit).parameters:
        return
    X = make_rows(estimator)
    y = make_target(estimator, X)
    weights = np.random.default_rng(1).integers(0, 3, size=len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    one = fitted(estimator, X, y, sample_weight=weights)
    other = fitted(estimator, taken(estimator, X, rows), None if y is None else y[rows])
    np.testing.assert_allclose(
        output(one, X),
        output(other, X),
        rtol=1e-7,
        atol=1e-7,
        err_msg=f"{name}: weights and repeated rows give different fits",
    )


def check_silent(name: str, estimator: Any) -> None:
    """Nothing is printed by default."""
    X = make_rows(estimator)
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        output(fitted(estimator, X), X)
    assert not stream.getvalue(), f"{name}: printed {stream.getvalue()!r}"


def check_invariances_are_declared(name: str, estimator: Any) -> None:
    """The estimator says what it is invariant to."""
    assert callable(getattr(estimator, "invariances", None)), (
        f"{name}: there is no method 'invariances'. Return a tuple of "
        "skrep.invariance.Claim, empty if there is nothing to claim."
    )
    assert isinstance(estimator.invariances(), tuple), (
        f"{name}: invariances() must return a tuple of Claim"
    )
