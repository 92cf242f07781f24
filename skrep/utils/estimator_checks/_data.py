"""Small data that any estimator can be fitted on."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from skrep.typing import AnyArray, FloatArray

__all__ = ["fitted", "make_rows", "make_target", "output", "refusal", "seeded"]


def make_rows(n_rows: int = 60, n_features: int = 6, seed: int = 0) -> FloatArray:
    """Draw rows of three clusters away from the origin.

    Parameters
    ----------
    n_rows, n_features : int
        The shape.
    seed : int, default=0
        Seed of a generator of its own.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Rows in float64, non-negative.
    """
    rng = np.random.default_rng(seed)
    centers = rng.uniform(2, 6, size=(3, n_features))
    spread = rng.uniform(-1, 1, size=(n_rows, n_features))
    return centers[np.arange(n_rows) % 3] + spread


def make_target(estimator: Any, X: FloatArray) -> AnyArray | None:
    """Make the target that the tags of an estimator ask for, or allow several of.

    Parameters
    ----------
    estimator : estimator
        Any estimator.
    X : ndarray of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    ndarray or None
        Two numeric columns where several outputs are allowed, three classes where
        one is needed, None where no target is.
    """
    tags = get_tags(estimator)
    if not (tags.target_tags.required or tags.target_tags.multi_output):
        return None
    if tags.target_tags.multi_output:
        return np.column_stack([X[:, 0] - X[:, 1], X[:, 1] * 2 + X[:, 2] / 3])
    return np.arange(len(X)) % 3


def seeded(estimator: Any) -> Any:
    """Clone an estimator and fix its ``random_state``.

    Parameters
    ----------
    estimator : estimator
        Any estimator.

    Returns
    -------
    estimator
        An unfitted clone.
    """
    copy = clone(estimator)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=0)
    return copy


def fitted(estimator: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
    """Fit a seeded clone.

    Parameters
    ----------
    estimator : estimator
        Any estimator.
    X, y : array-like
        Rows and target; without y the target is made from X.
    **fit_params : dict
        Passed to fit.

    Returns
    -------
    estimator
        A fitted clone.
    """
    if y is None:
        y = make_target(estimator, np.asarray(X, dtype=np.float64))
    return seeded(estimator).fit(X, y, **fit_params)


def output(estimator: Any, X: Any) -> AnyArray:
    """Transform and densify.

    Parameters
    ----------
    estimator : estimator
        A fitted transformer.
    X : array-like
        Rows.

    Returns
    -------
    ndarray
        The output.
    """
    out = estimator.transform(X)
    return np.asarray(out.toarray() if hasattr(out, "toarray") else out)


def refusal(
    call: Callable[[], Any], what: str, *, error: type[Exception] = ValueError
) -> str:
    """Call something that must be refused and return the message.

    Parameters
    ----------
    call : callable
        Called without arguments.
    what : str
        What must be refused, for the message of the assertion.
    error : type, default=ValueError
        The exception that must be raised.

    Returns
    -------
    str
        The message of the exception.
    """
    try:
        call()
    except error as refused:
        return str(refused)
    raise AssertionError(f"{what}: accepted, and must raise {error.__name__}")
