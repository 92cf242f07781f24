"""The mergeable state of a linear discriminant projection, and its solution."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from skrep.discriminant._labels import LabelMoments
from skrep.discriminant._target import Rule
from skrep.linalg import (
    DiscriminantAxes,
    GroupMoments,
    Moments,
    contrast_axes,
    discriminant_axes,
    slice_codes,
)
from skrep.typing import AnyArray, FloatArray
from skrep.utils.merging import check_same_labels

__all__ = ["State", "joined", "least_squares_map", "measure", "solve"]


class State(NamedTuple):
    """What has been seen of rows and targets.

    Parameters
    ----------
    rule : Rule
        How targets are read.
    moments : GroupMoments or LabelMoments
        Moments of the groups.
    """

    rule: Rule
    moments: GroupMoments | LabelMoments

    @property
    def n_contrasts(self) -> int:
        """One fewer than classes or slices, or the number of labels that vary."""
        if isinstance(self.moments, LabelMoments):
            return len(self.moments.contrasts)
        return len(self.moments.weights) - 1

    @property
    def classes(self) -> AnyArray | None:
        """Classes, or positions of labels; None for numbers."""
        if isinstance(self.moments, LabelMoments):
            return np.arange(self.rule.n_labels)
        return self.moments.labels if self.rule.kind == "classes" else None


def measure(rule: Rule, X: FloatArray, values: AnyArray, weights: FloatArray) -> State:
    """Measure rows and targets.

    Parameters
    ----------
    rule : Rule
        How targets are read.
    X : ndarray of shape (n_rows, n_features)
        Rows.
    values : ndarray of shape (n_rows,) or (n_rows, n_labels)
        Their targets.
    weights : ndarray of shape (n_rows,)
        Positive weights.

    Returns
    -------
    State
        The moments.
    """
    if rule.kind == "labels":
        return State(rule, LabelMoments.of(X, values, weights))
    labels = slice_codes(values, rule.edges) if rule.kind == "numbers" else values
    return State(rule, GroupMoments.of(X, labels, weights))


def joined(who: str, one: State, other: State) -> State:
    """Join the states of two sets of rows that were read by the same rule.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    one, other : State
        The states.

    Returns
    -------
    State
        That of all rows; both are left as they were.

    Raises
    ------
    ValueError
        If NumPy would write the numbers of one as the strings of the other.
    """
    mine: Any = one.moments
    theirs: Any = other.moments
    if one.rule.kind == "classes":
        check_same_labels(who, mine.labels, theirs.labels)
    # What overflows is infinite, and is refused before anything is solved.
    with np.errstate(over="ignore", invalid="ignore"):
        return State(one.rule, mine.merge(theirs))


def solve(
    state: State,
    total: Moments,
    shrinkage: float | None,
    priors: FloatArray | None,
    *,
    standardize: bool,
    precision: float,
) -> tuple[DiscriminantAxes, FloatArray]:
    """Find the directions.

    Parameters
    ----------
    state : State
        Moments of the groups.
    total : Moments
        Moments of all rows.
    shrinkage : float or None
        Intensity of the shrinkage; None has it estimated.
    priors : ndarray of shape (n_groups,) or None
        Shares of the groups; None takes those of the rows.
    standardize : bool
        Whether columns are measured by their deviations within groups.
    precision : float
        Relative rounding of the rows.

    Returns
    -------
    axes : DiscriminantAxes
        The directions.
    mean : ndarray of shape (n_features,)
        Mean of the rows, or of the groups by their priors.
    """
    moments = state.moments
    if isinstance(moments, LabelMoments):
        axes = contrast_axes(
            moments.within,
            moments.contrasts,
            total,
            shrinkage,
            n_rows=max(total.weight, moments.n_rows),
            standardize=standardize,
            precision=precision,
        )
        return axes, total.mean
    axes = discriminant_axes(
        moments, shrinkage, priors, standardize=standardize, precision=precision
    )
    return axes, total.mean if priors is None else priors @ moments.means


def least_squares_map(
    directions: FloatArray, mean: FloatArray, total: Moments
) -> tuple[FloatArray, FloatArray]:
    r"""Find the affine map from coordinates back to rows, by least squares.

    With the covariance T of the rows and directions A, :math:`x \approx o + L^\top z`
    for :math:`z = A^\top (x - m)` and :math:`L = (A^\top T A)^{-1} A^\top T`.

    Parameters
    ----------
    directions : ndarray of shape (n_features, n_components)
        Linearly independent directions A, as columns.
    mean : ndarray of shape (n_features,)
        The origin m of the coordinates.
    total : Moments
        Moments of the rows.

    Returns
    -------
    loadings : ndarray of shape (n_components, n_features)
        The map L.
    origin : ndarray of shape (n_features,)
        What coordinates of zero stand for, o.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.discriminant._moments import least_squares_map
    >>> from skrep.linalg import Moments
    >>> total = Moments.of(np.array([[0.0, 0.0], [4.0, 6.0]]))
    >>> least_squares_map(np.array([[1.0], [0.0]]), np.zeros(2), total)
    (array([[1. , 1.5]]), array([0., 0.]))
    """
    products = directions.T @ total.covariance
    variances = products @ directions
    # Directions differ in variance by orders of magnitude.
    scale = np.sqrt(np.diag(variances))
    inverse = scipy.linalg.pinvh(variances / scale / scale[:, None])
    loadings: FloatArray = inverse @ (products / scale[:, None]) / scale[:, None]
    return loadings, total.mean - (total.mean - mean) @ directions @ loadings
