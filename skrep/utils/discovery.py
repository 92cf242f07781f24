"""Find every public estimator of skrep by walking the package."""

import importlib
import inspect
import pkgutil
from typing import Any

from sklearn.base import BaseEstimator

import skrep

__all__ = ["all_estimators"]

# `nn` is the only subpackage that imports torch, and it holds no estimator.
_NOT_WALKED = {"nn"}


def all_estimators() -> list[tuple[str, type[Any]]]:
    """List the public estimators of skrep.

    An estimator is found when the ``__all__`` of a public subpackage names it;
    nothing is registered by hand.

    Returns
    -------
    list of (str, type)
        Name and class, sorted by name.

    Examples
    --------
    >>> from skrep.utils.discovery import all_estimators
    >>> "RelativeRepresentation" in dict(all_estimators())
    True
    """
    found = {}
    for info in pkgutil.iter_modules(skrep.__path__):
        if not info.ispkg or info.name.startswith("_") or info.name in _NOT_WALKED:
            continue
        family = importlib.import_module(f"skrep.{info.name}")
        for name in family.__all__:
            thing = getattr(family, name)
            if inspect.isclass(thing) and issubclass(thing, BaseEstimator):
                found[name] = thing
    return sorted(found.items())
