"""What the linear discriminant projection refuses, and what it warns of."""

from numbers import Real
from typing import Any

import numpy as np

from skrep.discriminant._moments import State
from skrep.discriminant._target import check_same_rule
from skrep.exceptions import ThinDataWarning
from skrep.linalg import GroupMoments, Moments
from skrep.typing import FloatArray
from skrep.utils import warn
from skrep.utils.merging import check_same_fit
from skrep.utils.targets import MAX_INTEGER_CLASSES
from skrep.utils.validation import is_whole

__all__ = [
    "awaits_groups",
    "awaits_rank",
    "check_groups",
    "check_priors",
    "check_same",
    "check_shrinkage",
    "check_width",
    "check_within",
    "warn_of_integers",
]


def check_shrinkage(who: str, shrinkage: Any) -> float | None:
    """Return the intensity of the shrinkage, None where it is to be estimated.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    shrinkage : float or "auto"
        The parameter.

    Returns
    -------
    float or None
        The intensity.

    Raises
    ------
    ValueError
        If it is neither "auto" nor a number from 0 to 1.
    """
    if isinstance(shrinkage, str) and shrinkage == "auto":
        return None
    number = isinstance(shrinkage, Real) and not isinstance(shrinkage, bool)
    if not number or not 0 <= shrinkage <= 1:
        raise ValueError(
            f"{who}: 'shrinkage' is {shrinkage!r}. It must be a number from 0 to 1, or "
            '"auto". Pass shrinkage=0 for no shrinkage.'
        )
    return float(shrinkage)


def check_groups(who: str, state: State) -> None:
    """Refuse what cannot come apart.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    state : State
        What has been seen.

    Raises
    ------
    ValueError
        If there is one class or slice, or no label varies.
    """
    if state.n_contrasts:
        return
    if state.rule.kind == "labels":
        raise ValueError(
            f"{who}: 'y' has {state.rule.n_labels} labels, and each is the same in all "
            "rows. One at least must vary: pass rows with and without it."
        )
    moments = state.moments
    assert isinstance(moments, GroupMoments)
    if state.rule.kind == "numbers":
        raise ValueError(
            f"{who}: 'slice_edges' leaves all of y in one slice. Pass edges between "
            "its values, such as np.quantile(y, [0.2, 0.4, 0.6, 0.8]), or None."
        )
    raise ValueError(
        f"{who}: 'y' has 1 class, {moments.labels.tolist()[0]!r}, in all rows. At "
        "least 2 are needed: pass rows of several classes."
    )


def awaits_groups(priors: Any, state: State) -> bool:
    """Tell whether there are shares for more groups than have been seen.

    Parameters
    ----------
    priors : "uniform", array-like or None
        The parameter.
    state : State
        What has been seen.

    Returns
    -------
    bool
        True if further rows may bring the other groups.
    """
    if priors is None or isinstance(priors, str) or state.rule.kind == "labels":
        return False
    assert isinstance(state.moments, GroupMoments)
    shares = np.asarray(priors, dtype=np.float64)
    n_slices = len(state.rule.edges) + 1
    possible = state.rule.kind == "classes" or shares.size <= n_slices
    return _are_shares(shares) and possible and len(shares) > len(state.moments.weights)


def awaits_rank(n_components: Any, rank: int, n_features: int) -> bool:
    """Tell whether more components are meant than rows so far have dimensions.

    Parameters
    ----------
    n_components : int or None
        The parameter.
    rank : int
        Number of dimensions of the rows so far.
    n_features : int
        Number of columns.

    Returns
    -------
    bool
        True if further rows may bring the other dimensions.
    """
    least = 1 if n_components is None else n_components
    return is_whole(least) and rank < least <= n_features


def _are_shares(shares: FloatArray) -> bool:
    good = shares.ndim == 1 and bool(((shares >= 0) & (shares < 1)).all())
    return good and bool(abs(shares.sum() - 1) < 1e-5)


def check_priors(who: str, priors: Any, state: State) -> FloatArray | None:
    """Return the shares that groups shall have, None for those of the rows.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    priors : "uniform", array-like or None
        The parameter.
    state : State
        What has been seen.

    Returns
    -------
    ndarray of shape (n_groups,) or None
        Shares of sum one.

    Raises
    ------
    ValueError
        If they are no shares of these groups.
    """
    if priors is None:
        return None
    if not isinstance(state.moments, GroupMoments):
        raise ValueError(
            f"{who}: 'priors' is {priors!r}, and y holds {state.rule.n_labels} labels. "
            "Priors are shares of classes. Pass priors=None."
        )
    n_groups = len(state.moments.weights)
    if isinstance(priors, str):
        return np.full(n_groups, 1 / n_groups)
    shares = np.asarray(priors, dtype=np.float64)
    if shares.shape != (n_groups,) or not _are_shares(shares):
        raise ValueError(
            f"{who}: 'priors' is {priors!r}. It must hold {n_groups} shares from 0 to "
            "1, one for each class or slice seen, of sum 1, and more than one of them "
            'positive. Pass priors="uniform", or None for the shares of the rows.'
        )
    return shares / shares.sum()


def check_width(who: str, n_components: Any, n_contrasts: int, rank: int) -> int:
    """Return how many components are meant; None means one for each contrast.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    n_components : int or None
        The number asked for.
    n_contrasts : int
        Number of contrasts of group means.
    rank : int
        Number of dimensions of the rows.

    Returns
    -------
    int
        Between 1 and `rank`.

    Raises
    ------
    ValueError
        If no column varies, or the number is not between 1 and `rank`.
    """
    if rank == 0:
        raise ValueError(
            f"{who}: 'X' is constant in every column, so no direction tells anything. "
            "Pass rows that differ."
        )
    if n_components is None:
        return min(n_contrasts, rank)
    if not is_whole(n_components) or not 1 <= n_components <= rank:
        raise ValueError(
            f"{who}: 'n_components' is {n_components!r}. It must be an integer from 1 "
            f"to {rank}, the dimensions of X, or None for one fewer than there are "
            f"classes. Pass n_components={rank}, say."
        )
    return int(n_components)


def check_within(who: str, state: State, total: Moments) -> None:
    """Warn where rows equal the means of their groups.

    Parameters
    ----------
    who : str
        The estimator that is named in warnings.
    state : State
        What has been seen.
    total : Moments
        Moments of all rows.
    """
    moments = state.moments
    if isinstance(moments, GroupMoments):
        scatter = np.diag(moments.scatter)
    else:
        scatter = np.diag(moments.within) * total.weight
    if (scatter <= 1e-10 * np.diag(total.scatter)).all():
        warn(
            f"{who}: 'X' does not vary within classes, so directions are those of the "
            "class means alone, and their lengths stand for nothing. Pass several "
            "different rows of a class.",
            ThinDataWarning,
        )


def check_same(one: Any, other: Any) -> None:
    """Refuse to merge what was not fitted alike.

    Parameters
    ----------
    one, other : estimator
        Fitted estimators, or such as wait for a second class.

    Raises
    ------
    ValueError
        If moments are missing, or parameters, columns or slices differ.
    """
    who = type(one).__name__
    if type(other) is not type(one):
        raise ValueError(
            f"{who}.merge: 'other' is a {type(other).__name__}. Pass a {who} after fit "
            "or partial_fit."
        )
    states = [getattr(e, "_state", None) for e in (one, other)]
    if states[1] is None:
        raise ValueError(
            f"{who}.merge: 'other' has seen no rows. Pass a {who} after fit or "
            "partial_fit."
        )
    if states[0] is None:
        raise ValueError(
            f"{who}.merge: this estimator has seen no rows. Call fit or partial_fit "
            "first, or use 'other' itself."
        )
    check_same_fit(one, other, free=("slice_edges",))
    check_same_rule(f"{who}.merge", states[0].rule, states[1].rule)


def warn_of_integers(who: str, before: State, after: State, target_type: str) -> None:
    """Warn when blocks of rows bring more integers than "auto" takes for classes.

    Parameters
    ----------
    who : str
        The estimator that is named in warnings.
    before, after : State
        What has been seen without and with the last rows.
    target_type : {"auto", "classes", "numbers"}
        The parameter.
    """
    old, new = before.classes, after.classes
    if target_type != "auto" or after.rule.kind != "classes":
        return
    assert old is not None
    assert new is not None
    if new.dtype.kind in "iu" and len(old) <= MAX_INTEGER_CLASSES < len(new):
        warn(
            f"{who}: 'y' holds {len(new)} distinct integers by now, and was taken for "
            f"classes when it held {len(old)}. All rows at once would be taken for "
            f"numbers: more than {MAX_INTEGER_CLASSES}. Pass "
            'target_type="classes" or target_type="numbers" to say what it is.',
        )
