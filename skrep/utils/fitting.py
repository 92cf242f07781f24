"""Fits that end, or leave nothing behind."""

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["all_or_nothing"]

P = ParamSpec("P")
T = TypeVar("T")


def all_or_nothing(fit: Callable[P, T]) -> Callable[P, T]:
    """Make a method leave its estimator as it was where it does not end.

    Parameters
    ----------
    fit : callable
        The method, whose first argument is the estimator.

    Returns
    -------
    callable
        The same method; after an error or an interruption the attributes are those from
        before.
    """

    @functools.wraps(fit)
    def whole(*args: P.args, **kwargs: P.kwargs) -> T:
        attributes = vars(args[0])
        before = dict(attributes)
        try:
            return fit(*args, **kwargs)
        except BaseException:
            attributes.clear()
            attributes.update(before)
            raise

    return whole
