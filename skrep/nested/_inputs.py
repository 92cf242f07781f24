"""Checks of the parameters of a nested projection."""

import itertools
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

import numpy as np

from skrep.linalg import GroupMoments, Moments
from skrep.nested._objectives import OBJECTIVES
from skrep.utils import warn
from skrep.utils.merging import check_same_fit, check_same_labels
from skrep.utils.targets import MAX_INTEGER_CLASSES
from skrep.utils.validation import is_whole

__all__ = [
    "can_merge",
    "check_blocks",
    "check_labels",
    "check_moments",
    "check_n_neighbors",
    "check_same",
    "check_shrinkage",
    "choose_solver",
    "listed",
    "objective_names",
    "warn_of_integers",
]

WHO = "NestedProjection"

_SINGLE = (*OBJECTIVES, "cca")

MANY_COLUMNS = 2000
"""Beyond this the leading axes are cheaper to have than all."""

TOO_MANY_COLUMNS = 30_000
"""Beyond this the matrix of all columns takes more than 7 GB."""


def listed(objective: Any) -> tuple[Any, ...]:
    """List the objectives of a parameter, whether they are allowed or not.

    Parameters
    ----------
    objective : str or dict of str to float
        The parameter.

    Returns
    -------
    tuple
        The keys of a dict, or the one objective.
    """
    return tuple(objective) if isinstance(objective, Mapping) else (objective,)


def objective_names(objective: Any) -> tuple[str, ...]:
    """List the objectives that take part.

    Parameters
    ----------
    objective : str or dict of str to float
        One objective, or the weights of several.

    Returns
    -------
    tuple of str
        Their names.

    Raises
    ------
    ValueError
        If a name is unknown, or a weight is not a positive number.
    """
    if isinstance(objective, str) and objective in _SINGLE:
        return (objective,)
    if not isinstance(objective, Mapping):
        raise ValueError(
            f"{WHO}: 'objective' is {objective!r}. It must be one of {_SINGLE}, or a "
            'dict of weights such as {"classes": 0.3, "pairs": 1}.'
        )
    for name, weight in objective.items():
        if name not in OBJECTIVES:
            raise ValueError(
                f"{WHO}: 'objective' mixes {name!r}. A mixture is made of "
                f'{OBJECTIVES}. Pass {{"classes": 0.3, "pairs": 1}}, say.'
            )
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not number or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"{WHO}: 'objective' gives {name!r} the weight {weight!r}. Weights "
                "must be positive, finite numbers. Leave out what shall not count."
            )
    if not objective:
        raise ValueError(
            f"{WHO}: 'objective' is an empty dict. It needs at least one objective: "
            'pass objective="variance".'
        )
    return tuple(objective)


def check_blocks(blocks: Any, names: tuple[str, ...], n_features: int) -> Any:
    """Return where blocks of columns end, the last at the number of columns.

    Parameters
    ----------
    blocks : iterable of int or None
        Ends of the blocks.
    names : tuple of str
        The objectives.
    n_features : int
        Number of columns.

    Returns
    -------
    tuple of int or None
        The ends; None where there are no blocks.

    Raises
    ------
    ValueError
        If they do not rise, exceed the columns, or the objective has two maps.
    """
    if blocks is None:
        return None
    ends = tuple(blocks) if isinstance(blocks, Iterable) else (blocks,)
    whole = all(map(is_whole, ends))
    if not whole or not ends or not _rises((0, *ends)) or ends[-1] > n_features:
        raise ValueError(
            f"{WHO}: 'blocks' is {blocks!r}. It must hold rising integers from 1 to "
            f"{n_features}, the lengths that the vectors were trained for. Pass "
            "blocks=(64, 128), say, or None."
        )
    if "cca" in names:
        raise ValueError(
            f"{WHO}: 'blocks' is {blocks!r} with objective=\"cca\". Its two maps have "
            'no common columns to stay inside. Use objective="pairs" or blocks=None.'
        )
    edges = tuple(int(b) for b in ends)
    return edges if edges[-1] == n_features else (*edges, n_features)


def _rises(values: tuple[Any, ...]) -> bool:
    return all(a < b for a, b in itertools.pairwise(values))


def check_shrinkage(shrinkage: Any, names: tuple[str, ...]) -> float | None:
    """Return the shrinkage as a number, None for each objective's own.

    Parameters
    ----------
    shrinkage : float or "auto"
        The parameter.
    names : tuple of str
        The objectives.

    Returns
    -------
    float or None
        The number.

    Raises
    ------
    ValueError
        If it exceeds 1 where classes take part.
    """
    if isinstance(shrinkage, str):
        return None
    if "classes" in names and shrinkage > 1:
        raise ValueError(
            f"{WHO}: 'shrinkage' is {shrinkage!r} with the objective \"classes\". "
            'There it is a share from 0 to 1. Pass shrinkage=0.1, say, or "auto".'
        )
    return float(shrinkage)


def choose_solver(
    solver: str, names: tuple[str, ...], n_components: Any, blocks: Any, n_features: int
) -> str:
    """Choose how axes are computed.

    Parameters
    ----------
    solver : {"auto", "full", "randomized"}
        The parameter.
    names : tuple of str
        The objectives.
    n_components : int or None
        The length asked for.
    blocks : iterable of int or None
        The parameter.
    n_features : int
        Number of columns.

    Returns
    -------
    {"full", "randomized"}
        The solver.

    Raises
    ------
    ValueError
        If the solver cannot serve the objective, or the columns are too many.
    """
    leading = names == ("variance",) and blocks is None
    if solver == "randomized" and not leading:
        raise ValueError(
            f"{WHO}: 'solver' is \"randomized\" with 'objective' {names} and 'blocks' "
            f'{blocks!r}. It serves objective="variance" without blocks alone. Use '
            'solver="auto".'
        )
    few = is_whole(n_components) and 10 * int(n_components) <= n_features
    if solver == "auto" and leading and few and n_features > MANY_COLUMNS:
        solver = "randomized"
    if solver != "randomized" and n_features > TOO_MANY_COLUMNS:
        size = 8 * n_features**2 / 1e9
        raise ValueError(
            f"{WHO}: 'X' has {n_features} columns, and their covariance would take "
            f'{size:.0f} GB. Pass n_components=100, say, with objective="variance" and '
            'solver="randomized", which never forms it.'
        )
    return "randomized" if solver == "randomized" else "full"


def check_n_neighbors(n_neighbors: Any, n_rows: float) -> int:
    """Return the number of neighbors.

    Parameters
    ----------
    n_neighbors : int
        The parameter.
    n_rows : float
        Number of rows, each as often as it weighs.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If it is no integer from 1 to ``n_rows - 1``.
    """
    n_rows = int(n_rows + 1e-9)
    if not is_whole(n_neighbors) or not 1 <= n_neighbors < n_rows:
        raise ValueError(
            f"{WHO}: 'n_neighbors' is {n_neighbors!r} and X has n_samples={n_rows}. It "
            f"must be an integer from 1 to {n_rows - 1}: a row is no neighbor of its "
            "own. Pass fewer neighbors or more rows."
        )
    return int(n_neighbors)


def can_merge(estimator: Any) -> bool:
    """Tell whether moments of blocks of rows tell all that the objective asks for.

    Parameters
    ----------
    estimator : NestedProjection
        The estimator.

    Returns
    -------
    bool
        True.

    Raises
    ------
    AttributeError
        If the objective or the solver asks for the rows themselves.
    """
    single = listed(estimator.objective) in (("variance",), ("classes",))
    if single and estimator.solver != "randomized":
        return True
    raise AttributeError(
        f"{WHO}: 'objective' is {estimator.objective!r} and 'solver' "
        f'{estimator.solver!r}. Rows can be added to "variance" and "classes" with '
        'solver="auto" or "full" alone. Fit all rows at once with fit.'
    )


def check_moments(estimator: Any, names: tuple[str, ...]) -> None:
    """Refuse to add rows to a fitted estimator that lacks the moments for it.

    Parameters
    ----------
    estimator : NestedProjection
        A fitted estimator.
    names : tuple of str
        Its objectives.

    Raises
    ------
    ValueError
        If there are no moments, or those of another objective.
    """
    if not _has_moments(estimator, names):
        raise ValueError(
            f"{WHO}: holds no moments of {names} to add to, as it came from prefix or "
            "counterpart, or was fitted with another 'objective' or 'solver'. Call "
            "partial_fit on the estimator it was made from, or "
            "clone(estimator).partial_fit on the first rows."
        )


def _has_moments(estimator: Any, names: tuple[str, ...]) -> bool:
    kind = GroupMoments if names == ("classes",) else Moments
    return isinstance(getattr(estimator, "_moments", None), kind)


def check_labels(one: Any, other: Any) -> None:
    """Refuse to join classes that are numbers with classes that are not.

    Parameters
    ----------
    one, other : Moments or GroupMoments
        Moments of the same kind.

    Raises
    ------
    ValueError
        If NumPy would write the numbers of one as the strings of the other.
    """
    if isinstance(one, GroupMoments):
        check_same_labels(WHO, one.labels, other.labels)


def check_same(one: Any, other: Any, names: tuple[str, ...]) -> None:
    """Refuse to merge what was not fitted alike.

    Parameters
    ----------
    one, other : NestedProjection
        Fitted estimators.
    names : tuple of str
        The objectives of the first.

    Raises
    ------
    ValueError
        If moments are missing, or parameters, columns or slices differ.
    """
    if getattr(other, "_moments", None) is None:
        raise ValueError(
            f"{WHO}.merge: 'other' is a {type(other).__name__} that holds no moments. "
            f"Pass a {WHO} fitted by fit or partial_fit, not its prefix or counterpart."
        )
    check_same_fit(one, other, free=("random_state",))
    if not _has_moments(other, names):
        raise ValueError(
            f"{WHO}.merge: 'other' was fitted with another objective than {names}. Fit "
            "both as they are set now."
        )
    mine, theirs = one._target, other._target
    if mine and not (
        mine.kind == theirs.kind and np.array_equal(mine.edges, theirs.edges)
    ):
        raise ValueError(
            f"{WHO}.merge: 'other' has cut its numeric y into other slices, as slices "
            "are frozen at the first rows. Cut y alike for all parts and pass classes: "
            'fit(X, np.digitize(y, edges)) with target_type="classes".'
        )


def warn_of_integers(before: Any, after: Any, target_type: str) -> None:
    """Warn when blocks of rows bring more integers than "auto" takes for classes.

    Parameters
    ----------
    before, after : Moments or GroupMoments
        Moments without and with the last rows.
    target_type : {"auto", "classes", "numbers"}
        The parameter.
    """
    if target_type != "auto" or not isinstance(after, GroupMoments):
        return
    crossed = len(before.labels) <= MAX_INTEGER_CLASSES < len(after.labels)
    if crossed and after.labels.dtype.kind in "iu":
        warn(
            f"{WHO}: 'y' holds {len(after.labels)} distinct integers by now, and was "
            f"taken for classes when it held {len(before.labels)}. All rows at once "
            f"would be taken for numbers: more than {MAX_INTEGER_CLASSES}. Pass "
            'target_type="classes" or target_type="numbers" to say what it is.',
        )
