"""Checks of the parameters of a nested projection."""

import itertools
from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from skrep.nested._objectives import OBJECTIVES

__all__ = [
    "can_merge",
    "check_blocks",
    "check_moments",
    "check_n_neighbors",
    "check_same",
    "check_shrinkage",
    "choose_solver",
    "objective_names",
]

WHO = "NestedProjection"

_SINGLE = (*OBJECTIVES, "cca")

MANY_COLUMNS = 2000
"""Beyond this the leading axes are cheaper to have than all."""

TOO_MANY_COLUMNS = 30_000
"""Beyond this the matrix of all columns takes more than 7 GB."""


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
    whole = all(isinstance(b, Integral) and not isinstance(b, bool) for b in ends)
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
    few = isinstance(n_components, Integral) and 10 * int(n_components) <= n_features
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


def check_n_neighbors(n_neighbors: Any, n_rows: int) -> int:
    """Return the number of neighbors.

    Parameters
    ----------
    n_neighbors : int
        The parameter.
    n_rows : int
        Number of rows of positive weight.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If it is no integer from 1 to ``n_rows - 1``.
    """
    whole = isinstance(n_neighbors, Integral) and not isinstance(n_neighbors, bool)
    if not whole or not 1 <= n_neighbors < n_rows:
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
    single = estimator.objective in ("variance", "classes")
    if single and estimator.solver != "randomized":
        return True
    raise AttributeError(
        f"{WHO}: 'objective' is {estimator.objective!r} and 'solver' "
        f'{estimator.solver!r}. Rows can be added to "variance" and "classes" with '
        'solver="auto" or "full" alone. Fit all rows at once with fit.'
    )


def check_moments(estimator: Any) -> None:
    """Refuse to add rows to a fitted estimator that holds no moments.

    Parameters
    ----------
    estimator : NestedProjection
        The estimator.

    Raises
    ------
    ValueError
        If it is fitted and the moments are gone.
    """
    if hasattr(estimator, "components_") and estimator._moments is None:
        raise ValueError(
            f"{WHO}: holds no moments to add to, as it came from prefix, counterpart "
            'or solver="randomized". Call partial_fit on the estimator it was made '
            "from, or clone(estimator).partial_fit on the first rows."
        )


def check_same(one: Any, other: Any) -> None:
    """Refuse to merge what was not fitted alike.

    Parameters
    ----------
    one, other : NestedProjection
        Fitted estimators.

    Raises
    ------
    ValueError
        If moments are missing, or parameters, columns or slices differ.
    """
    if getattr(other, "_moments", None) is None:
        raise ValueError(
            f"{WHO}.merge: 'other' is {type(other).__name__} without moments. Pass a "
            f"{WHO} fitted by fit or partial_fit, not its prefix or counterpart."
        )
    mine, theirs = one.get_params(), other.get_params()
    differ = [
        name
        for name in mine
        if name != "random_state" and repr(mine[name]) != repr(theirs.get(name))
    ]
    if differ:
        name = differ[0]
        raise ValueError(
            f"{WHO}.merge: '{name}' is {mine[name]!r} here and {theirs.get(name)!r} in "
            "'other'. Both must have the same parameters: fit clones of one estimator."
        )
    if one.n_features_in_ != other.n_features_in_:
        raise ValueError(
            f"{WHO}.merge: 'other' was fitted on {other.n_features_in_} columns and "
            f"this one on {one.n_features_in_}. Fit both on the same columns."
        )
    names = [list(getattr(e, "feature_names_in_", ())) for e in (one, other)]
    if names[0] != names[1]:
        raise ValueError(
            f"{WHO}.merge: 'other' was fitted on columns {names[1]} and this one on "
            f"{names[0]}. Fit both on the same columns in the same order."
        )
    mine, theirs = one._target, other._target
    if mine and not (
        mine.kind == theirs.kind and np.array_equal(mine.edges, theirs.edges)
    ):
        raise ValueError(
            f"{WHO}.merge: 'other' has cut its numeric y into other slices. Slices are "
            "frozen at the first rows: copy one estimator after its first partial_fit "
            "and add the rest of the rows to the copies."
        )
