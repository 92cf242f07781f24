"""Fitting with a fixed seed, and reading an output whatever the estimator offers."""

import numbers
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from sklearn.base import clone

from skrep.invariance._containers import copy_of, is_sparse
from skrep.typing import AnyArray

__all__ = ["choose_method", "output_of", "seeded_clone", "seeded_fit"]

# Numbers before decisions: a claim on labels alone misses small changes.
_METHODS: Final = (
    "transform",
    "predict_proba",
    "decision_function",
    "predict",
    "embedding_",
)


def seeded_clone(estimator: Any, seed: int) -> Any:
    """Clone, with every ``random_state`` that is no integer yet set to the seed."""
    copy = clone(estimator)
    open_states = [
        name
        for name, value in sorted(copy.get_params(deep=True).items())
        if name.rpartition("__")[2] == "random_state"
        and not isinstance(value, numbers.Integral)
    ]
    return copy.set_params(**dict.fromkeys(open_states, seed))


def seeded_fit(
    estimator: Any, seed: int, X: Any, y: Any, fit_params: Mapping[str, Any]
) -> Any:
    """Fit a seeded clone on a copy of X."""
    targets = () if y is None else (y,)
    return seeded_clone(estimator, seed).fit(copy_of(X), *targets, **fit_params)


def choose_method(fitted: Any, method: str | None) -> str:
    """Return the output to compare: the one asked for, or the first there is."""
    names = _METHODS if method is None else (method,)
    for name in names:
        if hasattr(fitted, name):
            return name
    raise TypeError(
        f"{type(fitted).__name__}: has no {' or '.join(names)} after fit, so there "
        "is no output to compare. Name a method of X or a fitted attribute, as in "
        "check_invariance(..., method='score_samples')."
    )


def output_of(fitted: Any, method: str, X: Any) -> AnyArray:
    """Return the output as a dense array of one or two dimensions."""
    source = getattr(fitted, method)
    output = source(copy_of(X)) if callable(source) else source
    dense = np.asarray(output.toarray() if is_sparse(output) else output)
    if dense.ndim not in (1, 2):
        raise ValueError(
            f"{type(fitted).__name__}: the output of '{method}' has {dense.ndim} "
            "dimensions. check_invariance compares outputs with 1 or 2. Choose "
            "another output with method=."
        )
    return dense
