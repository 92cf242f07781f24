"""Nested projections: one ordered basis for every length."""

import copy
from collections.abc import Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._claims import Claim
from skrep.linalg import leading_axes
from skrep.nested import _gather, _inputs
from skrep.nested._claimed import nested_claims
from skrep.nested._classes import Axes
from skrep.nested._streaming import MomentTransformer
from skrep.utils.validation import check_n_components

__all__ = ["NestedProjection"]


class NestedProjection(MomentTransformer):
    r"""Project rows onto an ordered basis of which every prefix is good.

    Long vectors cost memory and time for every dimension. This transformer orders
    directions by what they are worth for an objective, so that one fit serves every
    length: the first k columns are the best k for it, and :meth:`prefix` gives the
    fitted transformer of that length.

    .. math:: x \mapsto (x - m)^\top B_{:k}

    Read more in the :ref:`User Guide <nested>`.

    Parameters
    ----------
    n_components : int or None, default=None
        Length of the output, from 1 to the number of columns; None takes all.
    objective : str or dict of str to float, default="variance"
        What every prefix is good for.

        - "variance": principal axes.
        - "classes": telling the classes of `y` apart, or the quantile slices of a
          numeric `y`: discriminant axes with pairwise class weights [1]_, at most one
          fewer than there are classes, then the principal axes of the rest, damped.
        - "neighbors": staying close to the nearest rows by cosine, relative to all
          rows; the closed form of linear Barlow Twins and TLDR [2]_.
        - "pairs": bringing rows and their partners `pairs` together, as queries and
          documents.
        - "mined": the same from `queries` that are not paired: rows and queries that
          are nearest to each other count as pairs.
        - "cca": one map for the rows and another for their partners `pairs`, by ridge
          canonical correlations; :meth:`counterpart` serves the partners.
        - a dict of weights, such as ``{"classes": 0.3, "pairs": 1}``: the axes of the
          objectives, weighted and stacked, then the principal axes of the stack.
          All but "cca" can be mixed.
    n_neighbors : int, default=5
        Neighbors of a row, for "neighbors".
    shrinkage : float or "auto", default="auto"
        For "classes", the share of the identity in the covariance within classes, from
        0 to 1; "auto" takes the oracle approximating estimate. For the others, the
        ridge that is added to what should not be seen, in units of its mean
        eigenvalue; "auto" takes 3 for "neighbors" and 1 for the rest.
    blocks : tuple of int or None, default=None
        Lengths that Matryoshka vectors were trained for, such as ``(64, 128, 256)``.
        Axes then stay inside the blocks of columns between these lengths, so that
        cutting at one of them is plain truncation of centered rows up to a rotation.
    normalize : bool, default=False
        Whether outputs are brought to norm one, at every length anew.
    solver : {"auto", "full", "randomized"}, default="auto"
        "full" solves the eigenproblem of all columns; "randomized" computes the
        leading axes of "variance" alone, from products with the rows, which stay
        sparse if they are. "auto" is "randomized" for "variance" where more than 2,000
        columns are cut to a tenth or fewer.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        What `y` holds. "auto" takes strings, booleans, categories and up to 20
        distinct integers for classes, other numbers for numbers.
    random_state : int, RandomState instance or None, default=None
        Randomness of the solver "randomized", and of the sample that "neighbors" draws
        from more than 2,500 rows and "mined" from more than 20,000 queries.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The basis, one axis per row; the largest entry of each is positive. Orthonormal
        for "variance" and with `blocks`.
    objective_values_ : ndarray of shape (n_components,)
        What each axis is worth: variance (with divisor n), weighted variance between
        classes, or the eigenvalue of the objective. Non-increasing within each stage
        (class axes, then the rest) and each block.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    full_length_drift_ : float
        Largest relative change of a squared distance between rows at the fitted
        length: 0 for an orthogonal basis of all columns, but for rounding.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    Truncate : Keep the leading columns as they are.
    PrefixRotation : An orthogonal basis whose prefixes have roles.
    skrep.model_selection.PrefixSearchCV : Choose the length.
    sklearn.decomposition.PCA : The objective "variance".

    Notes
    -----
    Queries and documents sit in different places. Fit on the documents, and let
    :meth:`counterpart` center the queries by their own mean. Inside a pipeline wrap
    that twin in :class:`sklearn.frozen.FrozenEstimator`, as a clone would fit again.

    After one fit with the solver "full", "variance" and "classes" can take more rows by
    :meth:`partial_fit`, and the rows of another estimator by :meth:`merge`; the moments
    that this needs stay in the fitted object. :meth:`prefix` leaves them behind. What
    `y` holds, and where a number is cut into slices, is settled by the first rows: say
    `target_type`, and give slices of your own as classes where parts shall merge.

    References
    ----------
    .. [1] Loog, M., Duin, R. P. W. and Haeb-Umbach, R. (2001). Multiclass linear
       dimension reduction by weighted pairwise Fisher criteria. IEEE Transactions on
       Pattern Analysis and Machine Intelligence, 23(7), 762-766.
    .. [2] Kalantidis, Y., Lassance, C., Almazán, J. and Larlus, D. (2022). TLDR: twin
       learning for dimensionality reduction. Transactions on Machine Learning Research.
    .. [3] Kusupati, A. et al. (2022). Matryoshka representation learning. NeurIPS.

    Examples
    --------
    >>> from skrep.datasets import load_mammals
    >>> from skrep.nested import NestedProjection
    >>> mammals = load_mammals()
    >>> X, y = mammals.gloss["minilm"], mammals.target_names[mammals.target]
    >>> nested = NestedProjection(objective="classes").fit(X, y)
    >>> nested.transform(X[:2]).shape
    (2, 384)
    >>> nested.prefix(16).transform(X[:2]).shape
    (2, 16)
    """

    _parameter_constraints = {
        "n_components": "no_validation",
        "objective": "no_validation",
        "n_neighbors": "no_validation",
        "shrinkage": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "blocks": "no_validation",
        "normalize": ["boolean"],
        "solver": [StrOptions({"auto", "full", "randomized"})],
        "target_type": [StrOptions({"auto", "classes", "numbers"})],
        "random_state": ["random_state"],
    }

    _per_component = ("components_", "objective_values_", "_other")

    def __init__(
        self,
        n_components: int | None = None,
        *,
        objective: str | Mapping[str, float] = "variance",
        n_neighbors: int = 5,
        shrinkage: float | str = "auto",
        blocks: Any = None,
        normalize: bool = False,
        solver: str = "auto",
        target_type: str = "auto",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.objective = objective
        self.n_neighbors = n_neighbors
        self.shrinkage = shrinkage
        self.blocks = blocks
        self.normalize = normalize
        self.solver = solver
        self.target_type = target_type
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        pairs: Any = None,
        queries: Any = None,
        sample_weight: Any = None,
    ) -> Self:
        """Learn the basis.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows. "variance" takes a CSR matrix or array, too.
        y : array-like of shape (n_samples,), default=None
            Classes or numbers, for "classes".
        pairs : array-like of shape (n_samples, n_other_features), default=None
            Row i is the partner of row i of X, for "pairs" and "cca". Only "cca"
            takes partners of another width.
        queries : array-like of shape (n_queries, n_features), default=None
            Rows of the other side, in any number and order, for "mined".
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.
            Only their ratios matter where they sum to less than the number of rows.

        Returns
        -------
        NestedProjection
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter does not suit the data, or what the objective needs (`y`,
            `pairs` or `queries`) is missing.
        TypeError
            If CSR rows meet another objective than "variance".
        """
        names = _inputs.objective_names(self.objective)
        side, kept = self._side(X, sample_weight, reset=True)
        who, width = type(self).__name__, side.rows.shape[1]
        others = _gather.partners(self, names, pairs, queries, width, kept)
        _inputs.check_blocks(self.blocks, names, width)
        if names == ("cca",):
            shrinkage = _inputs.check_shrinkage(self.shrinkage, names)
            found = _gather.canonical_axes(who, side, others.pairs, shrinkage)
            return self._store(found[0], side.mean, side.rows.dtype, found[1])
        solver = self.solver, names, self.n_components, self.blocks
        if _inputs.choose_solver(*solver, width) == "randomized":
            return self._store(self._leading(side), side.mean, side.rows.dtype)
        moments, target = self._measure(side, names, y, kept, None)
        if "neighbors" in names:
            _inputs.check_n_neighbors(self.n_neighbors, side.counts.sum())
        contrasts = _gather.contrasts(
            side, names, others, self.n_neighbors, self.random_state
        )
        self._solve(moments, side.rows.dtype, contrasts)
        if names in (("variance",), ("classes",)):
            self._moments, self._target = moments, target
        return self

    def counterpart(self, X_other: Any, sample_weight: Any = None) -> Self:
        """Give the fitted twin for the other side: the same axes, its own mean.

        Parameters
        ----------
        X_other : array-like of shape (n_samples, n_other_features)
            Rows of the other side, such as queries, in any number. With "cca" they
            have the columns of `pairs` and get the axes of their own.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of these rows.

        Returns
        -------
        NestedProjection
            A new fitted estimator; this one is left as it was.

        Raises
        ------
        ValueError
            If the rows have other columns than the axes.
        """
        check_is_fitted(self)
        twin = copy.copy(self)
        twin._moments = None
        if self._other is not None:
            twin.components_, twin._other = self._other, self.components_
        width = twin.components_.shape[1]
        two_maps = self._other is not None
        side, _ = twin._side(X_other, sample_weight, reset=two_maps)
        if side.rows.shape[1] != width:
            raise ValueError(
                f"{type(self).__name__}.counterpart: 'X_other' has "
                f"{side.rows.shape[1]} columns, and its axes have {width}. Pass rows "
                "of the other side from the encoder that made the pairs of fit."
            )
        twin.mean_ = side.mean.astype(self.mean_.dtype)
        return twin

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X and fitting again leaves alone.

        Partners and queries stay where they are meanwhile. A claim about labels holds
        where `y` holds classes.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return nested_claims(
            _inputs.objective_names(self.objective),
            blocks=self.blocks is not None,
            normalize=self.normalize,
            randomized=self.solver == "randomized",
            labels=self.target_type != "numbers",
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        names = _inputs.listed(self.objective)
        tags.input_tags.sparse = names == ("variance",)
        tags.target_tags.required = "classes" in names
        return tags

    def _leading(self, side: _gather.Side) -> Axes:
        X, weights = side
        k = check_n_components(type(self).__name__, self.n_components, X.shape[1])
        values, axes = leading_axes(X, weights, side.mean, k, self.random_state)
        return Axes(axes.T, values)

    def _keep(self, k: int) -> None:
        super()._keep(k)
        self._moments = None
