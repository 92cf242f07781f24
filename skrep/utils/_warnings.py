"""Warnings that point at the line of the caller."""

import sys
import warnings

__all__ = ["warn"]

_INSIDE = ("skrep", "sklearn", "joblib")


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line that is not of skrep, scikit-learn or joblib.

    Parameters
    ----------
    message : str
        The text.
    category : type of Warning, default=UserWarning
        The class.

    Examples
    --------
    >>> import warnings
    >>> from skrep.utils import warn
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("example: 'X' is thin.")
    >>> caught[0].message.args
    ("example: 'X' is thin.",)
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_inside(frame.f_globals):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


def _is_inside(names: dict[str, object]) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] in _INSIDE
