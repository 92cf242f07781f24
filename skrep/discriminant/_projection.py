"""Linear discriminant analysis without its limits."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from skrep._claims import Claim
from skrep._linear import LinearTransformer
from skrep.discriminant._checks import (
    awaits_groups,
    awaits_rank,
    check_groups,
    check_priors,
    check_same,
    check_shrinkage,
    check_width,
    check_within,
    warn_of_integers,
)
from skrep.discriminant._claimed import projection_claims
from skrep.discriminant._moments import (
    State,
    joined,
    least_squares_map,
    measure,
    solve,
)
from skrep.discriminant._target import Rule, make_rule, read_target
from skrep.typing import AnyArray, FloatArray
from skrep.utils.fitting import all_or_nothing
from skrep.utils.targets import holds_integers
from skrep.utils.validation import check_overflow, check_sample_weight, validate_rows

__all__ = ["LinearDiscriminantProjection"]


class LinearDiscriminantProjection(LinearTransformer):
    r"""Project rows onto the directions in which classes come apart.

    .. math:: x \mapsto A^\top (x - m), \qquad S_b A = S_w A\,\mathrm{diag}(\lambda),
        \quad A^\top S_w A = I,

    with the covariance within classes :math:`S_w`, shrunk or not, and that of the class
    means :math:`S_b` [1]_. Euclidean distance of the outputs is Mahalanobis distance
    along what tells classes apart. One fewer than there are classes tell all; with more
    `n_components` the directions of the largest variance among the rest follow, also of
    variance one within classes, so that there are always as many as asked for.

    Read more in the :ref:`User Guide <linear_discriminant>`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions, from 1 to the number of dimensions of the rows. None takes
        one fewer than there are classes or slices, or as many as labels that vary.
    shrinkage : float or "auto", default="auto"
        How far the covariance within classes is shrunk, from 0 to 1: 0 is plain linear
        discriminant analysis. A number draws it towards a multiple of the identity.
        "auto" draws the correlations within classes towards zero and leaves variances
        alone, so that units of columns decide nothing, by the intensity of the oracle
        approximating estimate [2]_.
    priors : "uniform", array-like of shape (n_classes,) or None, default=None
        Shares of the classes in :math:`m` and :math:`S_b`: equal ones, those given in
        the order of `classes_`, or those of the rows. :math:`S_w` is pooled over the
        rows in any case.
    n_slices : int, default=10
        Largest number of slices of a numeric `y`, of about equal weight; there is at
        most one for every four rows.
    slice_edges : array-like of shape (n_edges,) or None, default=None
        Edges of the slices; None takes quantiles of the first rows.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        What one column of `y` holds. "auto" takes strings, booleans, categories and up
        to 20 distinct integers for classes, other numbers for numbers. Two or more
        columns always hold labels, 1 where a row has the label and 0 where not.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The directions, one per row; the largest coefficient of each on standardized
        columns is positive.
    eigenvalues_ : ndarray of shape (n_components,)
        Variance between classes along each, in units of the (shrunk) variance within:
        non-increasing, at most 1e10, and 0 along the directions that tell nothing.
    explained_variance_ratio_ : ndarray of shape (n_components,)
        `eigenvalues_` over the sum of all of them; zeros where class means are equal.
    mean_ : ndarray of shape (n_features_in_,)
        The origin m: mean of the rows, or of the class means by `priors`.
    classes_ : ndarray of shape (n_classes,) or None
        The classes, sorted, or the positions of the labels; None for numbers.
    slice_edges_ : ndarray of shape (n_edges,) or None
        Edges of the slices; None for classes and labels.
    n_components_ : int
        Number of directions.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : At most one fewer
        directions than classes, and a classifier.
    skrep.index_model.SlicedInverseRegression : Directions of unit variance instead.
    skrep.nested.NestedProjection : The objective "classes" weighs pairs of classes.

    Notes
    -----
    Without shrinkage the output is that of `LinearDiscriminantAnalysis` with the solver
    "svd", and that of "eigen" less its mean, up to signs of columns. With shrinkage the
    distances to class means, and so the classification, are those of its solvers "lsqr"
    and "eigen" for the same number. The directions of "eigen" are others: it
    shrinks the covariance of all rows as well, so that variance along which the class
    means do not differ counts as variance between classes.

    For several labels, :math:`S_w` and :math:`S_b` are the means, over the labels that
    vary, of what each gives as a problem of two classes.

    After `fit` or `partial_fit` further rows may come by `partial_fit`, in any order,
    with new classes, and :meth:`merge` takes the rows of another estimator: the result
    is that of all rows at once, to rounding. Slices stay as the first rows gave them.
    While there is but one class, while `priors` are for more classes, or `n_components`
    exceeds the dimensions of the rows, these wait, and the estimator is not fitted yet.
    Memory is that of one matrix of the columns and one row per class.

    Along a direction in which the rows of every class coincide the ratio is infinite.
    Without shrinkage it is bounded at 1e10, by variance within classes of 1e-10 of all
    variance.

    References
    ----------
    .. [1] Fisher, R. A. (1936). The use of multiple measurements in taxonomic problems.
       Annals of Eugenics, 7(2), 179-188.
    .. [2] Chen, Y., Wiesel, A., Eldar, Y. C. and Hero, A. O. (2010). Shrinkage
       algorithms for MMSE covariance estimation. IEEE Transactions on Signal
       Processing, 58(10), 5016-5029.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from skrep.discriminant import LinearDiscriminantProjection
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> LinearDiscriminantProjection(n_components=2).fit(X, y).transform(X).shape
    (569, 2)
    """

    _parameter_constraints = {
        "n_components": "no_validation",
        "shrinkage": "no_validation",
        "priors": ["array-like", StrOptions({"uniform"}), None],
        "n_slices": [Interval(Integral, 2, None, closed="left")],
        "slice_edges": ["array-like", None],
        "target_type": [StrOptions({"auto", "classes", "numbers"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        shrinkage: float | str = "auto",
        priors: Any = None,
        n_slices: int = 10,
        slice_edges: Any = None,
        target_type: str = "auto",
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_slices = n_slices
        self.slice_edges = slice_edges
        self.target_type = target_type

    @_fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Classes or numbers; two or more columns of 0 and 1 hold labels. It is
            required.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row. Where
            they sum to less than the number of rows, shrinkage="auto" counts rows.

        Returns
        -------
        LinearDiscriminantProjection
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter does not suit the data, or y has one class.
        """
        state, dtype = self._measure(X, y, sample_weight, None)
        check_groups(type(self).__name__, state)
        return self._settle(state, dtype, wait=False)

    @_fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Take further rows into account: the result is that of all rows at once.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Further rows.
        y : array-like of shape (n_samples,) or (n_samples, n_labels)
            Their classes, numbers or labels. Which of these, and where numbers are cut,
            is settled by the first rows; new classes may come at any time.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        LinearDiscriminantProjection
            The estimator, fitted as soon as the rows allow it.

        Raises
        ------
        ValueError
            If the rows do not go with those before.
        """
        before: State | None = getattr(self, "_state", None)
        rule = None if before is None else before.rule
        state, dtype = self._measure(X, y, sample_weight, rule)
        if before is not None:
            state = self._joined(type(self).__name__, state)
            dtype = np.promote_types(self._dtype, dtype)
        return self._settle(state, dtype, wait=True)

    def merge(self, other: "LinearDiscriminantProjection") -> Self:
        """Take the rows of another estimator into account.

        Parameters
        ----------
        other : LinearDiscriminantProjection
            After fit or partial_fit with the same parameters on other rows of the same
            columns; left as it was. Slices of a number must have had the same edges.

        Returns
        -------
        LinearDiscriminantProjection
            This estimator, as if it had seen the rows of both.

        Raises
        ------
        ValueError
            If the two cannot be merged.
        """
        check_same(self, other)
        state = self._joined(f"{type(self).__name__}.merge", other._state)
        dtype = np.promote_types(self._dtype, other._dtype)
        return self._settle(state, dtype, wait=True)

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X, or on the names of classes, leaves alone.

        A claim about labels holds where `y` holds classes.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return projection_claims(
            self.shrinkage,
            between=self.n_components is None,
            labels=self.target_type != "numbers"
            and (self.priors is None or isinstance(self.priors, str)),
        )

    def _measure(
        self, X: Any, y: Any, sample_weight: Any, rule: Rule | None
    ) -> tuple[State, Any]:
        check_shrinkage(type(self).__name__, self.shrinkage)
        X = validate_rows(self, X, reset=rule is None)
        rule, values, weights, kept = self._read(y, sample_weight, len(X), rule)
        if not kept.all():
            X = X[kept]
        # What overflows is infinite, and is refused before anything is solved.
        with np.errstate(over="ignore", invalid="ignore"):
            return measure(rule, X, values, weights), X.dtype

    def _read(
        self, y: Any, sample_weight: Any, n_rows: int, rule: Rule | None
    ) -> tuple[Rule, AnyArray, FloatArray, AnyArray]:
        """Rule, targets and weights of the rows that count, and which these are."""
        who = type(self).__name__
        weights = check_sample_weight(who, sample_weight, n_rows)
        kept = weights > 0
        kind, values = read_target(who, y, kept, self.target_type, rule)
        weights = weights[kept]
        if rule is None:
            rule = make_rule(
                who,
                kind,
                values,
                weights,
                n_slices=self.n_slices,
                slice_edges=self.slice_edges,
            )
        return rule, values, weights, kept

    def _block_rule(self, y: Any, sample_weight: Any, n_rows: int) -> Rule:
        return self._read(y, sample_weight, n_rows, None)[0]

    def _rule_is_settled(self, rule: Rule, y: Any) -> bool:
        if rule.kind == "numbers":
            return self.slice_edges is not None
        sure = rule.kind == "labels" or self.target_type == "classes"
        return sure or not holds_integers(y)

    def _block_state(
        self, X: Any, y: Any, sample_weight: Any, rule: Rule
    ) -> tuple[State, Any]:
        return self._measure(X, y, sample_weight, rule)

    def _join_states(self, one: State, other: State) -> State:
        return joined(type(self).__name__, one, other)

    def _settle_states(self, state: State, rule: Rule, dtype: Any) -> Self:
        check_groups(type(self).__name__, state)
        return self._settle(state, dtype, wait=False)

    def _joined(self, who: str, state: State) -> State:
        both = joined(who, self._state, state)
        warn_of_integers(who, self._state, both, self.target_type)
        return both

    def _settle(self, state: State, dtype: Any, *, wait: bool) -> Self:
        """Solve, if there are classes to tell apart, and only then keep anything."""
        wait = wait and not hasattr(self, "components_")
        if state.n_contrasts and not (wait and awaits_groups(self.priors, state)):
            self._solve(state, dtype, wait)
        self._state, self._dtype = state, dtype
        return self

    def _solve(self, state: State, dtype: Any, wait: bool) -> None:
        who = type(self).__name__
        priors = check_priors(who, self.priors, state)
        with np.errstate(over="ignore", invalid="ignore"):
            total = state.moments.total()
        check_overflow(who, total.covariance)
        axes, mean = solve(
            state,
            total,
            check_shrinkage(who, self.shrinkage),
            priors,
            standardize=isinstance(self.shrinkage, str),
            precision=float(np.finfo(dtype).eps),
        )
        n_features, rank = axes.directions.shape
        if wait and awaits_rank(self.n_components, rank, n_features):
            return
        k = check_width(who, self.n_components, state.n_contrasts, rank)
        check_within(who, state, total)
        directions, values = axes.directions[:, :k], axes.values[:k]
        loadings, origin = least_squares_map(directions, mean, total)
        self._store_map(directions.T, mean, loadings, origin, dtype)
        self.eigenvalues_ = values.astype(dtype)
        whole = axes.values.sum()
        self.explained_variance_ratio_ = (values / (whole or 1.0)).astype(dtype)
        self.classes_ = state.classes
        self.slice_edges_ = state.rule.edges if state.rule.kind == "numbers" else None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "components_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
