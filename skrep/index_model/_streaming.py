"""Fitting from moments that merge: all rows at once, block by block, or from parts."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skrep.index_model._axes import Axes
from skrep.index_model._checks import (
    available_axes,
    can_merge,
    check_countable,
    check_labels,
    check_order_of,
    check_same,
)
from skrep.index_model._frame import ridge_of, whitened
from skrep.index_model._linear import IndexTransformer
from skrep.index_model._response import Rule, make_rule, read_response
from skrep.index_model._state import State, measure
from skrep.linalg import Moments, Whitening
from skrep.typing import AnyArray, FloatArray
from skrep.utils import warn
from skrep.utils.targets import holds_integers
from skrep.utils.validation import check_overflow, check_sample_weight, validate_rows

__all__ = ["MomentIndex", "Rows", "Use"]


class Rows(NamedTuple):
    """Validated rows of positive weight.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    kept : ndarray of bool of shape (n_given,)
        Which of the given rows they are.
    """

    X: FloatArray
    weights: FloatArray
    kept: AnyArray

    @property
    def n_rows(self) -> float:
        """Sum of the weights, or the number of rows where that is less."""
        return max(float(self.weights.sum()), float(len(self.X)))


class Use(NamedTuple):
    """What an estimator makes of a response.

    Parameters
    ----------
    response : {"auto", "raw", "slices", "classes"}
        What y is taken for.
    order : {1, 2, "both"}
        Which moments take part.
    clip : float or None
        Bounds of raw responses.
    parameter : {"response", "target_type"} or None
        The parameter that says what y is taken for, if there is one.
    """

    response: str
    order: int | str
    clip: float | None
    parameter: str | None


class MomentIndex(IndexTransformer, ABC):
    """Directions that follow from moments of rows within slices of the response.

    A subclass declares the parameters that are read here, and says what it makes of
    the response and the moments.
    """

    n_components: int | str | None
    slice_edges: Any
    shrinkage: float | str
    eigenvalues_: FloatArray
    noise_edge_: float
    slice_edges_: Any
    _state: State | None

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers or classes; several columns hold numbers. It is required.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter does not suit the data, or y has one value.
        """
        rows = self._rows(X, sample_weight, reset=True)
        return self._settle(self._measure(rows, y), rows.X.dtype)

    @available_if(can_merge)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take further rows into account: the result is that of all rows at once.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Their numbers or classes. What y holds, and where numbers are cut, is
            settled by the first rows; new classes may come at any time.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        estimator
            The fitted estimator.

        Raises
        ------
        ValueError
            If the rows do not go with those before.
        """
        before = getattr(self, "_state", None)
        fresh = not hasattr(self, "components_")
        if not fresh and before is None:
            raise ValueError(
                f"{type(self).__name__}: holds no moments to add to, as it was fitted "
                "without y or with another score model. Call clone(estimator)"
                ".partial_fit on the first rows."
            )
        rows = self._rows(X, sample_weight, reset=fresh, least=2 if fresh else 1)
        if before is None:
            return self._settle(self._measure(rows, y), rows.X.dtype)
        check_order_of(self, before, self._use().order)
        state = self._measure(rows, y, before.rule, second=before.has_second)
        return self._settle(self._join_states(before, state), rows.X.dtype)

    @available_if(can_merge)
    def merge(self, other: "MomentIndex") -> Self:
        """Take the rows of another fitted estimator into account.

        Parameters
        ----------
        other : estimator
            Fitted with the same parameters on other rows of the same columns; left as
            it was. Slices of a number must have had the same edges.

        Returns
        -------
        estimator
            This estimator, as if it had been fitted on the rows of both.

        Raises
        ------
        ValueError
            If the two cannot be merged.
        """
        check_is_fitted(self)
        mine, theirs = check_same(self, other)
        return self._settle(mine.merge(theirs), self.components_.dtype)

    def _rows(self, X: Any, sample_weight: Any, *, reset: bool, least: int = 2) -> Rows:
        X = validate_rows(self, X, reset=reset, ensure_min_samples=least)
        weights = check_sample_weight(type(self).__name__, sample_weight, len(X))
        kept = weights > 0
        if not kept.all():
            X, weights = X[kept], weights[kept]
        return Rows(X, weights, kept)

    def _read(self, rows: Rows, y: Any, rule: Rule | None) -> tuple[Rule, AnyArray]:
        who = type(self).__name__
        use = self._use()
        kind, values = read_response(
            who, y, rows.kept, use.response, rule, use.parameter
        )
        if rule is not None:
            return rule, values
        made = make_rule(
            who,
            kind,
            values,
            rows.weights,
            n_slices=self._n_slices(rows),
            slice_edges=self.slice_edges,
            clip=use.clip,
        )
        return made, values

    def _measure(
        self, rows: Rows, y: Any, rule: Rule | None = None, second: bool | None = None
    ) -> State:
        rule, values = self._read(rows, y, rule)
        if second is None:
            second = self._use().order != 1
        # What overflows is infinite, and is refused before anything is solved.
        with np.errstate(over="ignore", invalid="ignore"):
            return measure(rule, rows.X, values, rows.weights, second=second)

    def _block_rule(self, y: Any, sample_weight: Any, n_rows: int) -> Rule:
        weights = check_sample_weight(type(self).__name__, sample_weight, n_rows)
        kept = weights > 0
        # The number of slices depends on the shape of the rows alone.
        X = np.broadcast_to(0.0, (int(kept.sum()), self.n_features_in_))
        return self._read(Rows(X, weights[kept], kept), y, None)[0]

    def _rule_is_settled(self, rule: Rule, y: Any) -> bool:
        use = self._use()
        if rule.kind == "classes":
            return use.response == "classes" or not holds_integers(y)
        if rule.kind == "slices":
            return self.slice_edges is not None
        return use.clip is None

    def _block_state(
        self, X: Any, y: Any, sample_weight: Any, rule: Rule
    ) -> tuple[State, Any]:
        rows = self._rows(X, sample_weight, reset=False, least=1)
        return self._measure(rows, y, rule), rows.X.dtype

    def _join_states(self, one: State, other: State) -> State:
        check_labels(type(self).__name__, one, other)
        with np.errstate(over="ignore", invalid="ignore"):
            return one.merge(other)

    def _settle_states(self, state: State, rule: Rule, dtype: Any) -> Self:
        return self._settle(state, dtype)

    def _settle(self, state: State, dtype: Any) -> Self:
        """Solve, and only then keep anything."""
        with np.errstate(over="ignore", invalid="ignore"):
            moments = state.total()
        thirds = getattr(state.parts[0], "thirds", None)
        check_overflow(type(self).__name__, *(() if thirds is None else (thirds,)))
        white = self._whitened(moments, state.n_rows, dtype)
        axes, count = self._axes(state, white)
        self._keep_axes(axes, count, white, moments, dtype)
        self._keep_rule(state.rule)
        self._state = state
        return self

    def _whitened(self, moments: Moments, n_rows: float, dtype: Any) -> Whitening:
        white = whitened(self, moments, n_rows, dtype, self.shrinkage)
        check_countable(self, ridge_of(white, n_rows, self.shrinkage))
        return white

    def _keep_axes(
        self,
        axes: Axes,
        count: int | None,
        white: Whitening,
        moments: Moments,
        dtype: Any,
    ) -> None:
        who = type(self).__name__
        if count is None:
            k = available_axes(who, self.n_components, axes, len(white.spread))
        else:
            k = count
        if k == 0:
            warn(
                f"{who}: 'n_components' is \"auto\", and no direction is more than "
                "noise: transform gives no columns, which the next step of a pipeline "
                f"will refuse. Pass {who}(n_components=1) to force a column.",
            )
        self._store(white.map @ axes.directions[:, :k], moments, white.scale, dtype)
        self.eigenvalues_ = axes.eigenvalues.astype(dtype)
        self.noise_edge_ = axes.noise_edge
        self._state = None

    def _keep_rule(self, rule: Rule) -> None:
        edges = rule.edges
        self.slice_edges_ = edges[0] if len(edges) == 1 else (list(edges) or None)

    @abstractmethod
    def _use(self) -> Use:
        """What is made of the response."""

    @abstractmethod
    def _n_slices(self, rows: Rows) -> int:
        """Number of slices of a number, settled by the first rows."""

    @abstractmethod
    def _axes(self, state: State, white: Whitening) -> tuple[Axes, int | None]:
        """Directions, and their number if it is to be told from the data."""
