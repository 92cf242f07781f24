"""Fitted transformers, cut to the first columns of their output."""

import copy
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep.geometry import prefix_rows
from skrep.typing import AnyArray, Matrix
from skrep.utils.prefixes import normalizes

__all__ = ["FirstColumns", "as_rows", "cut_rows", "cut_transformer"]


def as_rows(Z: Any) -> Matrix:
    """Take the output of a transformer out of its data frame.

    Parameters
    ----------
    Z : {array-like, sparse matrix} of shape (n_rows, n_columns)
        What a transformer returned.

    Returns
    -------
    {ndarray, sparse matrix} of shape (n_rows, n_columns)
        The same rows; what can be sliced is not copied.
    """
    return sp.csr_array(Z) if sp.issparse(Z) else np.asarray(Z)


def cut_rows(Z: Matrix, k: int, *, normalize: bool) -> Matrix:
    """Cut rows, dense or CSR, to their first columns.

    Parameters
    ----------
    Z : {ndarray, CSR array} of shape (n_rows, n_columns)
        Rows.
    k : int
        How many columns to keep; more than there are keep all.
    normalize : bool
        Whether the cut rows are brought to norm one.

    Returns
    -------
    {ndarray, CSR array} of shape (n_rows, min(k, n_columns))
        The cut rows.
    """
    if sp.issparse(Z) and normalize:
        from sklearn.preprocessing import normalize as unit

        return unit(Z[:, :k])
    return prefix_rows(Z, k, normalize=normalize)


def cut_transformer(fitted: Any, k: int) -> Any:
    """Give the fitted transformer of length k that a fitted transformer holds.

    Parameters
    ----------
    fitted : transformer
        A fitted transformer; it is left as it was.
    k : int
        The length, at most the number of columns that it gives.

    Returns
    -------
    transformer
        ``fitted.prefix(k)`` where there is one; a pipeline with its last step cut;
        else a :class:`FirstColumns` round the transformer.
    """
    from sklearn.pipeline import Pipeline

    if isinstance(fitted, Pipeline) and hasattr(fitted.steps[-1][1], "transform"):
        *before, (name, last) = fitted.steps
        shorter = copy.copy(fitted)
        shorter.steps = [*before, (name, cut_transformer(last, k))]
        return shorter
    if callable(getattr(fitted, "prefix", None)):
        return fitted.prefix(k)
    shorter = FirstColumns(fitted, k)
    shorter.estimator_ = fitted
    shorter.n_components_ = k
    return shorter


class FirstColumns(SkrepTransformer):
    """Keep the first columns of what a transformer gives.

    Parameters
    ----------
    estimator : transformer
        Any transformer whose columns come in order of importance.
    n_components : int
        How many columns to keep.

    Attributes
    ----------
    estimator_ : transformer
        The fitted transformer.
    n_components_ : int
        How many columns are kept since fit.
    """

    def __init__(self, estimator: Any, n_components: int) -> None:
        self.estimator = estimator
        self.n_components = n_components

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Fit a clone of the transformer.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Target.
        **params : dict
            Passed to the transformer's fit.

        Returns
        -------
        FirstColumns
            The fitted estimator.
        """
        self.estimator_ = clone(self.estimator).fit(X, y, **params)
        self.n_components_ = self.n_components
        return self

    def transform(self, X: Any) -> Matrix:
        """Transform rows and keep the first columns.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        {ndarray, CSR array} of shape (n_samples, n_components)
            The first columns, of norm one where the transformer was fitted with a true
            `normalize`.
        """
        check_is_fitted(self)
        Z = as_rows(self.estimator_.transform(X))
        return cut_rows(Z, self.n_components_, normalize=normalizes(self.estimator_))

    @property
    def n_features_in_(self) -> int:
        """Number of columns seen in fit."""
        return self.estimator_.n_features_in_

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the output columns.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Passed to the transformer.

        Returns
        -------
        ndarray of str
            The first names that the transformer gives.
        """
        check_is_fitted(self)
        names = self.estimator_.get_feature_names_out(input_features)
        first: AnyArray = names[: self.n_components_]
        return first

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.input_tags = copy.deepcopy(inner.input_tags)
        tags.target_tags = copy.deepcopy(inner.target_tags)
        tags.transformer_tags = copy.deepcopy(inner.transformer_tags)
        return tags
