"""What two estimators must have in common for their rows to be joined."""

from typing import Any

import numpy as np

from skrep.typing import AnyArray

__all__ = ["check_same_fit", "check_same_labels"]


def check_same_fit(one: Any, other: Any, *, free: tuple[str, ...] = ()) -> None:
    """Refuse to merge what was not fitted alike.

    Parameters
    ----------
    one, other : estimator
        Fitted estimators of one class.
    free : tuple of str, default=()
        Parameters that may differ.

    Raises
    ------
    ValueError
        If parameters or columns differ.

    Examples
    --------
    >>> from skrep.nested import NestedProjection
    >>> from skrep.utils.merging import check_same_fit
    >>> check_same_fit(NestedProjection(2), NestedProjection(3))
    Traceback (most recent call last):
    ...
    ValueError: NestedProjection.merge: 'n_components' is 2 here and 3 in 'other'. ...
    """
    who = f"{type(one).__name__}.merge"
    mine, theirs = one.get_params(), other.get_params()
    for name in mine:
        if name not in free and repr(mine[name]) != repr(theirs.get(name)):
            raise ValueError(
                f"{who}: '{name}' is {mine[name]!r} here and {theirs.get(name)!r} in "
                "'other'. Both must have the same parameters: fit clones of one "
                "estimator."
            )
    columns = [
        (e.n_features_in_, list(getattr(e, "feature_names_in_", ())))
        for e in (one, other)
    ]
    if columns[0] != columns[1]:
        raise ValueError(
            f"{who}: 'other' was fitted on {columns[1][0]} columns {columns[1][1]}, "
            f"and this one on {columns[0][0]} columns {columns[0][1]}. Fit both on the "
            "same columns in the same order."
        )


def check_same_labels(who: str, one: AnyArray, other: AnyArray) -> None:
    """Refuse to join classes that are numbers with classes that are not.

    Parameters
    ----------
    who : str
        The estimator or method that is named in the error.
    one, other : ndarray of shape (n_classes,)
        Labels so far, and further ones.

    Raises
    ------
    ValueError
        If NumPy would write the numbers of one as the strings of the other, or
        fractions come after integers.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.utils.merging import check_same_labels
    >>> check_same_labels("example", np.array([1, 2]), np.array(["a"]))
    Traceback (most recent call last):
    ...
    ValueError: example: 'y' holds classes such as 'a', and those so far ...
    """
    if (one.dtype.kind in "biuf") != (other.dtype.kind in "biuf"):
        raise ValueError(
            f"{who}: 'y' holds classes such as {other.tolist()[0]!r}, and those so far "
            f"are such as {one.tolist()[0]!r}. They must be of one type: pass "
            "[str(label) for label in y] throughout."
        )
    parts = other[other != np.floor(other)] if other.dtype.kind == "f" else other[:0]
    if len(parts) and one.dtype.kind in "biu":
        raise ValueError(
            f"{who}: 'y' holds numbers such as {parts[0]:g}, and those so far were "
            f"classes such as {one.tolist()[0]!r}. Pass classes in every block."
        )
