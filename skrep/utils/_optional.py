"""Packages that skrep can use but does not need."""

import importlib
from types import ModuleType

__all__ = ["require"]

_EXTRAS = {
    "matplotlib": "skrep[plot]",
    "rich": "skrep[progress]",
    "skorch": "skrep[torch]",
    "torch": "skrep[torch]",
}


def require(module: str, who: str) -> ModuleType:
    """Import an optional package, or say how to install it.

    Parameters
    ----------
    module : str
        Name of the module, dotted or not, such as ``"matplotlib.pyplot"``.
    who : str
        What needs it: the subject of the message.

    Returns
    -------
    module
        The imported module.

    Raises
    ------
    ImportError
        If the package is not installed; the message holds the ``pip`` command.

    Examples
    --------
    >>> from skrep.utils import require
    >>> require("json", "this example").__name__
    'json'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != package:
            raise
        target = _EXTRAS.get(package, package)
        raise ImportError(
            f"{who} needs the optional package '{package}', which is not installed. "
            f"Install it with: pip install '{target}'"
        ) from error
