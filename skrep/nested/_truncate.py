"""Columns as they come: the baseline of every nested projection."""

from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.geometry import unit_rows
from skrep.nested._prefix import PrefixMixin
from skrep.typing import AnyArray, IntArray, Matrix
from skrep.utils.validation import check_n_components, is_whole, validate_rows

__all__ = ["Truncate"]

WHO = "Truncate"


def column_order(
    order: Any, n_features: int, random_state: int | np.random.RandomState | None
) -> IntArray:
    """List the columns in the order in which they are kept.

    Parameters
    ----------
    order : {"leading", "random"} or array-like of int
        As in `Truncate`.
    n_features : int
        Number of columns.
    random_state : int, RandomState instance or None
        Randomness of "random".

    Returns
    -------
    ndarray of shape (n_kept,)
        Positions of columns.

    Raises
    ------
    ValueError
        If an entry is no column of its own.
    """
    if isinstance(order, str):
        if order == "random":
            return check_random_state(random_state).permutation(n_features)
        return np.arange(n_features)
    entries = list(order)
    rule = (
        f"It must hold columns, integers from 0 to {n_features - 1}, each once: pass "
        "such as order=[2, 0, 1]."
    )
    if not entries:
        raise ValueError(f"{WHO}: 'order' is empty. {rule}")
    for entry in entries:
        if not is_whole(entry) or not 0 <= entry < n_features:
            raise ValueError(f"{WHO}: 'order' holds {entry!r}. {rule}")
    columns = np.array(entries, dtype=np.intp)
    values, counts = np.unique(columns, return_counts=True)
    if counts.max() > 1:
        raise ValueError(
            f"{WHO}: 'order' holds {values[counts.argmax()]} more than once. {rule}"
        )
    return columns


def take_columns(X: Matrix, columns: IntArray, *, normalize: bool) -> Matrix:
    """Copy some columns, and bring the rows to norm one if asked.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Floating-point rows.
    columns : ndarray of shape (n_kept,)
        Their positions.
    normalize : bool
        Whether rows are divided by their norm; a zero row stays zero.

    Returns
    -------
    {ndarray, CSR matrix or array} of shape (n_rows, n_kept)
        New rows in the container and float type of X.
    """
    leading = bool((columns == np.arange(len(columns))).all())
    if not sp.issparse(X):
        if not leading:
            kept = np.take(X, columns, axis=1)
        else:
            kept = X[:, : len(columns)]
            if not normalize:
                return np.array(kept, order="C")
        return unit_rows(kept)[0] if normalize else kept
    kept = X[:, columns].copy()
    kept.sum_duplicates()
    if normalize:
        kept.data = _unit_data(kept)
    return kept


def _unit_data(X: Matrix) -> AnyArray:
    """Entries of canonical CSR rows over the norms of the rows."""
    owners = np.repeat(np.arange(X.shape[0]), np.diff(X.indptr))
    largest = np.zeros(X.shape[0], dtype=X.dtype)
    np.maximum.at(largest, owners, np.abs(X.data))
    # Largest entries first: their squares neither overflow nor vanish.
    scaled = X.data / np.where(largest == 0, 1, largest)[owners]
    norms = np.sqrt(np.bincount(owners, scaled**2, minlength=X.shape[0]))
    norms[norms == 0] = 1
    return (scaled / norms[owners]).astype(X.dtype, copy=False)


class Truncate(PrefixMixin, SkrepTransformer):
    r"""Cut rows to some of their columns.

    The first columns of vectors trained to be cut (Matryoshka representations [1]_)
    are good vectors themselves, and this is all they need. On vectors not trained for
    it the cut is the baseline that a projection has to beat; a random half of the
    columns is a strong one [2]_. With `normalize`, dot products of the output are the
    cosines of the cut rows.

    Read more in the :ref:`User Guide <nested>`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of columns to keep, the first of `order`. None keeps all of them.
    order : {"leading", "random"} or array-like of int, default="leading"
        The order in which columns are kept. "leading" is that of X. "random" is an
        order drawn once, the same for every `n_components`. Positions of columns,
        each once, are kept in the order given; the others are dropped.
    normalize : bool, default=True
        Whether every output row is brought to norm one; a zero row stays zero.
    random_state : int, RandomState instance or None, default=None
        Randomness of ``order="random"``. With an int, two lengths see one order.

    Attributes
    ----------
    indices_ : ndarray of shape (n_components,)
        Positions of the kept columns, in the order of the output.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    NestedProjection : Axes ordered so that every prefix is good for a purpose.
    ScalarQuantizer : Fewer bytes per column.
    sklearn.preprocessing.Normalizer : Unit rows without a cut.

    Notes
    -----
    The values of X teach it nothing: fit only learns which columns there are. CSR rows
    stay CSR.

    References
    ----------
    .. [1] Kusupati, A., Bhatt, G., Rege, A., Wallingford, M., Sinha, A., Ramanujan, V.,
       Howard-Snyder, W., Chen, K., Kakade, S., Jain, P. and Farhadi, A. (2022).
       "Matryoshka representation learning". NeurIPS.
    .. [2] Takeshita, S., Takeshita, Y., Ruffinelli, D. and Ponzetto, S. P. (2025).
       "Randomly removing 50% of dimensions in text embeddings has minimal impact on
       retrieval and classification tasks". arXiv:2508.17744.

    Examples
    --------
    >>> from skrep.nested import Truncate
    >>> Truncate(2).fit_transform([[3.0, 4.0, 12.0], [0.0, 0.0, 1.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    >>> Truncate(order=[2, 0], normalize=False).fit_transform([[3.0, 4.0, 12.0]])
    array([[12.,  3.]])
    """

    _parameter_constraints = {
        "n_components": "no_validation",
        "order": [StrOptions({"leading", "random"}), "array-like"],
        "normalize": ["boolean"],
        "random_state": ["random_state"],
    }

    _per_component = ("indices_",)

    def __init__(
        self,
        n_components: int | None = None,
        *,
        order: Any = "leading",
        normalize: bool = True,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.order = order
        self.normalize = normalize
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Settle which columns are kept.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.

        Returns
        -------
        Truncate
            The fitted estimator.

        Raises
        ------
        ValueError
            If `order` holds anything but columns, each once, or `n_components` is no
            number of them.
        """
        rows = validate_rows(self, X, reset=True, accept_sparse="csr")
        columns = column_order(self.order, rows.shape[1], self.random_state)
        k = check_n_components(type(self).__name__, self.n_components, len(columns))
        self.indices_ = columns[:k]
        self._normalize = self.normalize
        return self

    def transform(self, X: Any) -> Matrix:
        """Cut rows to the kept columns.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        {ndarray, CSR matrix or array} of shape (n_samples, n_components)
            New rows, never a view of X, in its container and float type.
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, reset=False, accept_sparse="csr")
        return take_columns(rows, self.indices_, normalize=self._normalize)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the output columns after the input columns that they are.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input columns; None takes those seen in fit, or "x0", "x1",
            ... where there were none.

        Returns
        -------
        ndarray of str
            The names of the kept columns, in the order of the output.
        """
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)[self.indices_]

    def invariances(self) -> tuple[Claim, ...]:
        """List the invariances that the current parameters support.

        Returns
        -------
        tuple of Claim
            What the output does when a group acts on the rows. Nothing is learned
            from them, so that each holds with and without a new fit.
        """
        answers = {"row_permutation": "same_action", "sign_flip": "up_to_sign"}
        if self.normalize:
            answers |= {"row_scaling": "unchanged"}
        else:
            answers |= {"row_scaling": "same_action", "translation": "same_distances"}
        if self.n_components is None and isinstance(self.order, str):
            answers |= {"orthogonal": "up_to_orthogonal"}
        return tuple(
            Claim(group, relation, refit=refit)
            for group, relation in answers.items()
            for refit in (True, False)
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
