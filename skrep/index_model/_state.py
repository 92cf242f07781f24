"""The mergeable state of a moment form: moments of each response."""

from typing import Any, NamedTuple

import numpy as np

from skrep.index_model._cross import CrossMoments
from skrep.index_model._features import Features, of_responses, of_slices
from skrep.index_model._response import Rule, clipped, slice_response
from skrep.linalg import (
    GroupMoments,
    Moments,
    SliceMoments,
    WhitenedSlices,
    Whitening,
    whiten_slices,
)
from skrep.typing import AnyArray, FloatArray

__all__ = ["State", "measure", "same_rule"]


class State(NamedTuple):
    """What has been seen of rows and responses.

    Parameters
    ----------
    rule : Rule
        How responses are read.
    parts : tuple of GroupMoments, SliceMoments or CrossMoments
        Moments for each response; of raw responses, one for all.
    """

    rule: Rule
    parts: tuple[Any, ...]

    def merge(self, other: "State") -> "State":
        """Join the moments of further rows, read by the same rule.

        Parameters
        ----------
        other : State
            Their state.

        Returns
        -------
        State
            The state of all rows; both are left as they were.
        """
        theirs = other.parts
        mine, unit = self.rule.unit, other.rule.unit
        if mine is not None and unit is not None:
            theirs = tuple(part.scaled(unit / mine) for part in theirs)
        parts = zip(self.parts, theirs, strict=True)
        return State(self.rule, tuple(a.merge(b) for a, b in parts))

    def total(self) -> Moments:
        """Give the moments of all rows.

        Returns
        -------
        Moments
            Those of X.
        """
        moments: Moments = self.parts[0].total()
        return moments

    @property
    def n_rows(self) -> float:
        """Sum of the weights, or the number of rows where that is less."""
        return max(self.weight, float(self.parts[0].n_rows))

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        part = self.parts[0]
        if isinstance(part, CrossMoments):
            return part.joint.weight
        return float(part.weights.sum())

    def slices(self, white: Whitening) -> list[WhitenedSlices]:
        """Give the moments of the slices of every response that varies.

        Parameters
        ----------
        white : Whitening
            The map of the rows.

        Returns
        -------
        list of WhitenedSlices
            Moments in whitened coordinates, weights in numbers of rows.
        """
        factor = self.n_rows / self.weight
        found = [whiten_slices(part, white) for part in self.parts]
        return [
            one._replace(counts=one.counts * factor)
            for one in found
            if len(one.counts) > 1
        ]

    def features(self, white: Whitening) -> list[Features]:
        """Give the Stein moments of every response, under the Gaussian score.

        Parameters
        ----------
        white : Whitening
            The map of the rows.

        Returns
        -------
        list of Features
            The moments.
        """
        if self.rule.kind == "raw":
            return [of_responses(self.parts[0], white)]
        return self.of_slices(self.slices(white))

    def of_slices(self, slices: list[WhitenedSlices]) -> list[Features]:
        """Give the Stein moments of slices that have been whitened.

        Parameters
        ----------
        slices : list of WhitenedSlices
            What `slices` gives.

        Returns
        -------
        list of Features
            The moments.
        """
        ordered = self.rule.kind == "slices"
        return [of_slices(one, ordered=ordered) for one in slices]

    @property
    def has_second(self) -> bool:
        """Whether there are moments of order two."""
        part = self.parts[0]
        if isinstance(part, CrossMoments):
            return part.thirds is not None
        return isinstance(part, SliceMoments)


def measure(
    rule: Rule, X: FloatArray, values: AnyArray, weights: FloatArray, *, second: bool
) -> State:
    """Measure rows and responses.

    Parameters
    ----------
    rule : Rule
        How responses are read.
    X : ndarray of shape (n_rows, n_features)
        Rows.
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels or numbers.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    second : bool
        Whether moments of order two are needed.

    Returns
    -------
    State
        Their state.
    """
    if rule.kind == "raw":
        y = clipped(values, rule)
        return State(rule, (CrossMoments.of(X, y, weights, third=second),))
    labels = [values] if rule.kind == "classes" else slice_response(values, rule)
    kind = SliceMoments if second else GroupMoments
    return State(rule, tuple(kind.of(X, one, weights) for one in labels))


def same_rule(one: Rule, other: Rule) -> bool:
    """Tell whether two rules read responses alike.

    Parameters
    ----------
    one, other : Rule
        The rules.

    Returns
    -------
    bool
        Whether kinds, outputs, edges and bounds are equal.
    """
    edges = len(one.edges) == len(other.edges) and all(
        np.array_equal(a, b) for a, b in zip(one.edges, other.edges, strict=True)
    )
    if one.bounds is None or other.bounds is None:
        bounds = one.bounds is other.bounds
    else:
        bounds = np.array_equal(one.bounds, other.bounds)
    return one[:2] == other[:2] and edges and bounds
