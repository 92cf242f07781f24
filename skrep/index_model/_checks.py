"""What the estimators refuse, and what they warn of."""

from typing import Any

import numpy as np

from skrep.exceptions import ThinDataWarning
from skrep.index_model._axes import Axes
from skrep.index_model._state import State, same_rule
from skrep.linalg import Whitening
from skrep.utils import warn
from skrep.utils.merging import check_same_fit, check_same_labels
from skrep.utils.validation import check_n_components, is_whole

__all__ = [
    "available_axes",
    "can_merge",
    "check_alone",
    "check_countable",
    "check_labels",
    "check_order",
    "check_order_of",
    "check_same",
    "check_score_rows",
    "fewer_slices",
    "warn_of_constants",
]


def can_merge(estimator: Any) -> bool:
    """Tell whether moments of blocks of rows tell all that the estimator asks for.

    Parameters
    ----------
    estimator : estimator
        The estimator.

    Returns
    -------
    bool
        True.

    Raises
    ------
    AttributeError
        If its score model asks for the rows themselves.
    """
    model = getattr(estimator, "score_model", "gaussian")
    if isinstance(model, str) and model == "gaussian":
        return True
    raise AttributeError(
        f"{type(estimator).__name__}: 'score_model' is {model!r}, which needs all rows "
        'at once. Rows can be added with score_model="gaussian" alone; call fit.'
    )


def available_axes(who: str, n_components: Any, axes: Axes, rank: int) -> int:
    """Return how many directions are meant; None means all.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    n_components : int or None
        The number asked for.
    axes : Axes
        What there is.
    rank : int
        Number of dimensions of the rows.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        If it is no integer, below 1, or more than there are.
    """
    available = axes.directions.shape[1]
    if isinstance(n_components, str):
        raise ValueError(
            f"{who}: 'n_components' is {n_components!r}. It must be an integer from 1 "
            f'to {available}, "auto" to count directions, or None for all. Pass '
            'n_components="auto", say.'
        )
    if is_whole(n_components) and available < int(n_components) <= rank:
        raise ValueError(
            f"{who}: 'n_components' is {n_components}, but responses tell at most "
            f"{available} directions here: first moments have one fewer than there are "
            f"classes or slices, or as many as responses. Pass n_components={available}"
            ', or a model with second moments, such as SteinIndex(order="both").'
        )
    return check_n_components(who, n_components, available)


def check_countable(estimator: Any, ridge: float) -> None:
    """Refuse to count directions where the tests do not hold.

    Parameters
    ----------
    estimator : estimator
        The estimator.
    ridge : float
        Ridge of its whitening.

    Raises
    ------
    ValueError
        If the number of directions is to be tested with a ridge.
    """
    if ridge and isinstance(estimator.n_components, str):
        raise ValueError(
            f"{type(estimator).__name__}: 'n_components' is \"auto\" with "
            f"shrinkage={estimator.shrinkage!r}, which is {ridge:.2g} here. The tests "
            "hold for more than twice as many rows as columns and no shrinkage. Pass "
            "n_components=1, say."
        )


def warn_of_constants(estimator: Any, white: Whitening) -> None:
    """Warn of constant columns, and refuse rows of no others.

    Parameters
    ----------
    estimator : estimator
        The estimator, which knows the names of the columns.
    white : Whitening
        The map.

    Raises
    ------
    ValueError
        If no column varies.
    """
    who = type(estimator).__name__
    constant = np.flatnonzero(white.scale == 0)
    if len(constant) == len(white.scale):
        raise ValueError(
            f"{who}: 'X' is constant in every column, so no direction tells anything. "
            "Pass rows that differ."
        )
    if len(constant):
        names = getattr(estimator, "feature_names_in_", None)
        shown = [str(j) if names is None else f"'{names[j]}'" for j in constant[:5]]
        more = f" and {len(constant) - 5} more" if len(constant) > 5 else ""
        warn(
            f"{who}: 'X' is constant in column {', '.join(shown)}{more}: the "
            "coefficient is 0. Drop such columns, as with "
            "sklearn.feature_selection.VarianceThreshold().",
            ThinDataWarning,
        )


def check_labels(who: str, one: State, other: State) -> None:
    """Refuse to join classes that are numbers with classes that are not.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    one, other : State
        States read by the same rule.

    Raises
    ------
    ValueError
        If NumPy would write the numbers of one as the strings of the other.
    """
    if one.rule.kind != "classes":
        return
    check_same_labels(who, one.parts[0].labels, other.parts[0].labels)


def check_alone(estimator: Any) -> str:
    """Return the score model of a fit without y.

    Parameters
    ----------
    estimator : SteinIndex
        The estimator.

    Returns
    -------
    {"gaussian", "mixture"}
        The model of the rows.

    Raises
    ------
    ValueError
        If there is none, or directions are to be counted.
    """
    model = estimator.score_model
    if isinstance(estimator.n_components, str):
        raise ValueError(
            f"{type(estimator).__name__}: 'n_components' is "
            f"{estimator.n_components!r} and y is None. Directions are counted by what "
            "they tell of y. Pass y, or n_components=2, say."
        )
    if callable(model) or model == "student":
        raise ValueError(
            f"{type(estimator).__name__}: 'score_model' is {model!r} and y is None. "
            "Without y the rows with noise need a density: pass y, or score_model="
            '"gaussian" or "mixture".'
        )
    return "gaussian" if model == "gaussian" else "mixture"


def check_order(who: str, order: Any) -> None:
    """Refuse what is no order.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    order : {1, 2, "both"}
        The parameter.

    Raises
    ------
    ValueError
        If it is something else.
    """
    if isinstance(order, bool) or order not in (1, 2, "both"):
        raise ValueError(
            f"{who}: 'order' is {order!r}. It must be 1, 2 or \"both\". Pass "
            'order="both" unless you know the links.'
        )


def check_order_of(estimator: Any, state: State, order: int | str) -> None:
    """Refuse to add rows for an order that the rows so far were not measured for.

    Parameters
    ----------
    estimator : estimator
        A fitted estimator.
    state : State
        What it has seen.
    order : {1, 2, "both"}
        The order that it asks for now.

    Raises
    ------
    ValueError
        If moments of order two are missing.
    """
    if order != 1 and not state.has_second:
        raise ValueError(
            f"{type(estimator).__name__}: 'order' is {order!r}, and the rows so far "
            "were measured for order=1. Call clone(estimator).partial_fit on the first "
            "rows."
        )


def check_score_rows(estimator: Any, ridge: float) -> None:
    """Refuse to fit a density to fewer rows than whitening needs.

    Parameters
    ----------
    estimator : SteinIndex
        The estimator; scores of a callable are taken as they are.
    ridge : float
        Ridge of its whitening.

    Raises
    ------
    ValueError
        If there is one.
    """
    model = estimator.score_model
    if ridge and not callable(model):
        raise ValueError(
            f"{type(estimator).__name__}: 'score_model' is {model!r} with "
            f"shrinkage={estimator.shrinkage!r}, which is {ridge:.2g} here. A density "
            "of whitened rows needs more than twice as many rows as columns, and no "
            'shrinkage. Pass score_model="gaussian".'
        )


def check_same(one: Any, other: Any) -> tuple[State, State]:
    """Refuse to merge what was not fitted alike.

    Parameters
    ----------
    one, other : estimator
        Fitted estimators.

    Returns
    -------
    tuple of State
        Their states.

    Raises
    ------
    ValueError
        If moments are missing, or parameters, columns or slices differ.
    """
    who = type(one).__name__
    states = [e._state for e in (one, other) if getattr(e, "_state", None) is not None]
    if type(other) is not type(one) or len(states) < 2:
        raise ValueError(
            f"{who}.merge: 'other' is a {type(other).__name__}, or one of the two "
            f"holds no moments. Pass a {who} fitted by fit or partial_fit with y."
        )
    check_same_fit(one, other, free=("random_state", "slice_edges"))
    if not same_rule(states[0].rule, states[1].rule):
        raise ValueError(
            f"{who}.merge: 'other' reads y in another way, or has other slice edges, "
            "as these are settled by the first rows. Give them to both: "
            "slice_edges=first.slice_edges_."
        )
    check_labels(f"{who}.merge", *states)
    return states[0], states[1]


def fewer_slices(who: Any, n_rows: float, n_columns: int, n_slices: int) -> int:
    """Lower the number of slices until each has four rows per column.

    Parameters
    ----------
    who : estimator
        The estimator that is named in warnings.
    n_rows : float
        Number of rows, each as often as it weighs.
    n_columns : int
        Number of columns.
    n_slices : int
        Number of slices asked for.

    Returns
    -------
    int
        At least 2, with a warning if that is too many.
    """
    enough = int(n_rows // (4 * n_columns))
    if enough < 2:
        warn(
            f"{type(who).__name__}: 'X' has {n_rows:g} rows of {n_columns} columns. "
            f"Variances within slices need at least {8 * n_columns} rows; directions "
            "may be noise. Use SlicedInverseRegression, or fewer columns.",
            ThinDataWarning,
        )
    return min(n_slices, max(enough, 2))
