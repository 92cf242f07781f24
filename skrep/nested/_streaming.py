"""Fitting from moments that merge: all rows at once, block by block, or from parts."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skrep.linalg import GroupMoments, Moments, fix_signs
from skrep.nested import _gather, _inputs
from skrep.nested._classes import Axes
from skrep.nested._linear import NestedTransformer
from skrep.nested._objectives import Contrast, Statistics, block_axes
from skrep.typing import AnyArray, FloatArray
from skrep.utils.targets import holds_integers
from skrep.utils.validation import (
    check_n_components,
    check_overflow,
    check_sample_weight,
    validate_rows,
)

__all__ = ["MomentTransformer"]


class MomentTransformer(NestedTransformer):
    """Ordered axes that follow from moments of the rows.

    A subclass declares the parameters that are read here.
    """

    n_components: int | None
    objective: str | Mapping[str, float]
    shrinkage: float | str
    blocks: Any
    normalize: bool
    solver: str
    target_type: str
    mean_: FloatArray
    objective_values_: FloatArray
    _moments: Any
    _other: FloatArray | None
    _target: _gather.TargetRule | None

    @available_if(_inputs.can_merge)
    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any = None, *, sample_weight: Any = None) -> Self:
        """Take further rows into account: the result is that of all rows at once.

        For "variance" and "classes". Slices of a numeric y keep the edges that the
        first rows gave them; new classes may come at any time.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further rows.
        y : array-like of shape (n_samples,), default=None
            Their classes or numbers, for "classes".
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        NestedProjection
            The fitted estimator.

        Raises
        ------
        ValueError
            If this estimator is fitted and holds no moments to add to.
        """
        names = _inputs.objective_names(self.objective)
        fresh = not hasattr(self, "components_")
        if not fresh:
            _inputs.check_moments(self, names)
        side, kept = self._side(X, sample_weight, reset=fresh)
        rule = None if fresh else self._target
        moments, target = self._measure(side, names, y, kept, rule)
        if not fresh:
            joined = self._join_states(self._moments, moments)
            _inputs.warn_of_integers(self._moments, joined, self.target_type)
            moments = joined
        return self._settle_states(moments, target, side.rows.dtype)

    @available_if(_inputs.can_merge)
    def merge(self, other: "MomentTransformer") -> Self:
        """Take the rows of another fitted estimator into account.

        Parameters
        ----------
        other : NestedProjection
            Fitted with the same parameters on other rows of the same columns; left as
            it was.

        Returns
        -------
        NestedProjection
            This estimator, as if it had been fitted on the rows of both. Slices of a
            numeric y must have had the same edges.

        Raises
        ------
        ValueError
            If the two cannot be merged.
        """
        check_is_fitted(self)
        names = _inputs.objective_names(self.objective)
        _inputs.check_moments(self, names)
        _inputs.check_same(self, other, names)
        moments = self._join_states(self._moments, other._moments)
        return self._settle_states(moments, self._target, self.components_.dtype)

    def _block_rule(
        self, y: Any, sample_weight: Any, n_rows: int
    ) -> _gather.TargetRule | None:
        if "classes" not in _inputs.objective_names(self.objective):
            return None
        who = type(self).__name__
        weights = check_sample_weight(who, sample_weight, n_rows)
        kept = weights > 0
        return _gather.group_labels(
            who, y, kept, weights[kept], None, self.target_type
        )[0]

    def _rule_is_settled(self, rule: _gather.TargetRule | None, y: Any) -> bool:
        if rule is None:
            return True
        if rule.kind == "numbers":
            return False
        return self.target_type == "classes" or not holds_integers(y)

    def _block_state(
        self, X: Any, y: Any, sample_weight: Any, rule: _gather.TargetRule | None
    ) -> tuple[Moments | GroupMoments, Any]:
        side, kept = self._side(X, sample_weight, reset=False)
        names = _inputs.objective_names(self.objective)
        return self._measure(side, names, y, kept, rule)[0], side.rows.dtype

    def _join_states(self, one: Any, other: Any) -> Any:
        _inputs.check_labels(one, other)
        return one.merge(other)

    def _settle_states(
        self,
        moments: Moments | GroupMoments,
        rule: _gather.TargetRule | None,
        dtype: Any,
    ) -> Self:
        self._solve(moments, dtype)
        self._moments, self._target = moments, rule
        return self

    def _side(
        self, X: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[_gather.Side, AnyArray]:
        who = type(self).__name__
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        X = validate_rows(self, X, reset=reset, accept_sparse=sparse)
        weights = check_sample_weight(who, sample_weight, X.shape[0])
        kept = weights > 0
        if not kept.all():
            X, weights = X[kept], weights[kept]
        return _gather.Side(X, weights), kept

    def _measure(
        self,
        side: _gather.Side,
        names: tuple[str, ...],
        y: Any,
        kept: AnyArray,
        rule: _gather.TargetRule | None,
    ) -> tuple[Moments | GroupMoments, _gather.TargetRule | None]:
        if "classes" not in names:
            return Moments.of(side.rows, side.weights), None
        rule, labels = _gather.group_labels(
            type(self).__name__, y, kept, side.weights, rule, self.target_type
        )
        return GroupMoments.of(side.rows, labels, side.weights), rule

    def _solve(
        self,
        moments: Moments | GroupMoments,
        dtype: Any,
        contrasts: Mapping[str, Contrast] = MappingProxyType({}),
    ) -> None:
        groups = moments if isinstance(moments, GroupMoments) else None
        total = moments if isinstance(moments, Moments) else moments.total()
        names = _inputs.objective_names(self.objective)
        width = len(total.mean)
        shrinkage = _inputs.check_shrinkage(self.shrinkage, names)
        edges = _inputs.check_blocks(self.blocks, names, width)
        check_n_components(type(self).__name__, self.n_components, width)
        who = type(self).__name__
        noises = [contrast.noise for contrast in contrasts.values()]
        check_overflow(who, total.covariance, *noises)
        data = Statistics(total.covariance, groups, contrasts)
        try:
            axes = block_axes(data, self.objective, shrinkage, edges)
        except np.linalg.LinAlgError as error:
            raise ValueError(
                f"{type(self).__name__}: 'shrinkage' is {self.shrinkage!r}, which "
                "leaves an eigenproblem of 'objective' singular: rows are too few, or "
                'columns repeat each other. Pass shrinkage="auto".'
            ) from error
        self._store(axes, total.mean, dtype)

    def _store(
        self, axes: Axes, mean: FloatArray, dtype: Any, other: Axes | None = None
    ) -> Self:
        available = len(axes.values)
        k = check_n_components(type(self).__name__, self.n_components, available)
        components = axes.directions.T[:k]
        fixed = fix_signs(components)
        with np.errstate(over="ignore"):
            values = axes.values[:k].astype(dtype)
        check_overflow(type(self).__name__, values)
        self.components_ = fixed.astype(dtype)
        self.objective_values_ = values
        self.mean_ = mean.astype(dtype)
        self._normalize = self.normalize
        self._moments = self._target = self._other = None
        if other is not None:
            turned = np.sign(np.einsum("ij,ij->i", fixed, components))
            self._other = (other.directions.T[:k] * turned[:, None]).astype(dtype)
        return self
