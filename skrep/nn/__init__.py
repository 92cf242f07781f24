"""Losses and networks: the one place of skrep that needs torch and skorch.

Install them with ``pip install 'skrep[torch]'``. A subpackage is loaded when it is
first named.
"""

import importlib
from types import ModuleType

from skrep.utils import require

__all__ = ["losses"]

require("torch", "skrep.nn")


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"skrep.nn.{name}")
    raise AttributeError(f"module 'skrep.nn' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__]
