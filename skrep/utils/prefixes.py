"""Which prefixes of a vector are meant."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from skrep.typing import IntArray
from skrep.utils.validation import is_whole

__all__ = ["check_prefixes", "normalizes"]

SHORTEST = 8
"""Powers of two start here, unless the rows are no wider."""


def check_prefixes(who: str, prefixes: Any, n_available: int) -> IntArray:
    """Return the lengths that are meant, sorted, each once.

    Parameters
    ----------
    who : str
        The estimator or function that is named in errors.
    prefixes : "powers", int or iterable of int
        Lengths, in any order. "powers" means the powers of two below `n_available`,
        from 8, and `n_available` itself; up to a width of 8 they start at 1.
    n_available : int
        Number of columns that can be cut.

    Returns
    -------
    ndarray of shape (n_prefixes,), int64
        Rising, between 1 and `n_available`.

    Raises
    ------
    ValueError
        If a length is no integer, a boolean, below 1 or above `n_available`, or if
        there is none.

    Examples
    --------
    >>> from skrep.utils.prefixes import check_prefixes
    >>> check_prefixes("example", "powers", 48)
    array([ 8, 16, 32, 48])
    >>> check_prefixes("example", [4, 2, 4], 8)
    array([2, 4])
    >>> check_prefixes("example", [2, 20], 8)
    Traceback (most recent call last):
    ...
    ValueError: example: 'prefixes' holds 20. Each must be an integer from 1 to 8. ...
    """
    if isinstance(prefixes, str) and prefixes == "powers":
        first = SHORTEST if n_available > SHORTEST else 1
        powers = [2**e for e in range(n_available.bit_length())]
        prefixes = [k for k in powers if k >= first] + [n_available]
    elif isinstance(prefixes, str) or not isinstance(prefixes, Iterable):
        prefixes = [prefixes]
    lengths = set()
    for k in prefixes:
        if not is_whole(k) or not 1 <= k <= n_available:
            raise ValueError(
                f"{who}: 'prefixes' holds {k!r}. Each must be an integer from 1 to "
                f'{n_available}. Pass prefixes="powers", or integers up to '
                f"{n_available}."
            )
        lengths.add(int(k))
    if not lengths:
        raise ValueError(
            f"{who}: 'prefixes' is empty. It must hold an integer from 1 to "
            f'{n_available}. Pass prefixes="powers".'
        )
    return np.array(sorted(lengths), dtype=np.int64)


def normalizes(transformer: Any) -> bool:
    """Tell whether a transformer brings its output to norm one.

    Parameters
    ----------
    transformer : estimator
        A transformer, or a pipeline whose last step counts.

    Returns
    -------
    bool
        Whether `normalize` was true in fit, which some keep as `_normalize`; else
        whether the parameter `normalize` is. scikit-learn's Normalizer with
        ``norm="l2"`` does nothing else.

    Examples
    --------
    >>> from skrep.nested import Truncate
    >>> from skrep.utils.prefixes import normalizes
    >>> cut = Truncate(2, normalize=True).fit([[3.0, 4.0, 12.0]])
    >>> normalizes(cut.set_params(normalize=False))
    True
    """
    while hasattr(transformer, "named_steps"):
        transformer = transformer.steps[-1][1]
    for name in ("_normalize", "normalize"):
        value = getattr(transformer, name, None)
        if isinstance(value, bool | np.bool_):
            return bool(value)
    normalizer = type(transformer).__name__ == "Normalizer"
    return normalizer and getattr(transformer, "norm", None) == "l2"
