"""What estimators claim, and what they leave unclaimed."""

from collections.abc import Iterable
from typing import Any, Final

from sklearn.base import is_regressor
from sklearn.utils import get_tags

from skrep._claims import GROUPS, Claim, strict_relation

__all__ = ["declared", "unclaimed"]

_PAIRWISE: Final = frozenset({"tree_relabelling", "positive_scaling"})
_LEAVE_POSITIVE: Final = frozenset(
    {
        "orthogonal",
        "rotation",
        "translation",
        "sign_flip",
        "invertible_linear",
        "invertible_affine",
    }
)


def declared(item: Any) -> tuple[Any, tuple[Claim, ...]]:
    """Split an estimator, or a pair of estimator and claims, into the two."""
    if isinstance(item, tuple) and len(item) == 2:
        return item[0], tuple(item[1])
    if not hasattr(item, "invariances"):
        raise TypeError(
            f"{type(item).__name__}: has no method 'invariances'. Pass a pair, such "
            f"as ({type(item).__name__}(), [Claim('translation')])."
        )
    return item, tuple(item.invariances())


def _groups_for(estimator: Any) -> list[str]:
    """List the groups that can act on what this estimator takes."""
    tags = get_tags(estimator)
    if tags.input_tags.pairwise:
        return [group for group in GROUPS if group in _PAIRWISE]
    left_out = {"tree_relabelling"}
    # Where y is not used, or is a number, there are no class names to exchange.
    if not tags.target_tags.required or is_regressor(estimator):
        left_out.add("label_permutation")
    if tags.input_tags.positive_only:
        left_out |= _LEAVE_POSITIVE
    return [group for group in GROUPS if group not in left_out]


def unclaimed(estimator: Any, *, groups: Iterable[str] | None = None) -> list[Claim]:
    """List the strict claims that an estimator neither makes nor implies.

    A test can hold that each is in fact broken: then the estimator claims all that
    is true of it, and its claims say something.

    Parameters
    ----------
    estimator : estimator object or tuple of (estimator, claims)
        Estimator with a method ``invariances()``, or any estimator and its claims.
    groups : iterable of str, default=None
        The groups to look at. None takes those that can act on what the estimator
        takes, by its tags: no relabelling unless X is pairwise, no renaming of
        classes unless y is required and is no number, and only groups that keep X
        positive if it must be.

    Returns
    -------
    list of Claim
        One claim per group, with ``refit=True``: "unchanged", or "same_action" where
        the group moves samples.

    See Also
    --------
    check_invariance : Try a claim on an estimator and data.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skrep.invariance import Claim, unclaimed
    >>> claims = [
    ...     Claim("translation"),
    ...     Claim("column_scaling"),
    ...     Claim("row_permutation", "same_action"),
    ... ]
    >>> for claim in unclaimed((StandardScaler(), claims), groups=["rotation"]):
    ...     print(claim)
    unchanged under rotation
    """
    estimator, claims = declared(estimator)
    names = _groups_for(estimator) if groups is None else groups
    strict = [Claim(group, strict_relation(group)) for group in names]
    return [
        candidate
        for candidate in strict
        if not any(claim.implies(candidate) for claim in claims)
    ]
