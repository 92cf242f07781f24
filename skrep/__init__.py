"""Better representations inside scikit-learn.

Every family of transformers is a subpackage, loaded when it is first named.
"""

import importlib
from types import ModuleType

__version__ = "0.1.0.dev0"

__all__ = [
    "blockwise",
    "datasets",
    "discriminant",
    "geometry",
    "graph",
    "hyperbolic",
    "index_model",
    "inspection",
    "invariance",
    "linalg",
    "metrics",
    "model_selection",
    "nested",
    "nn",
    "optimize",
    "relative",
    "utils",
]


def __getattr__(name: str) -> ModuleType:
    if name in __all__:
        return importlib.import_module(f"skrep.{name}")
    raise AttributeError(f"module 'skrep' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
