"""Checks of input that scikit-learn does not have."""

from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, validate_data

from skrep.typing import FloatArray

__all__ = [
    "check_n_components",
    "check_overflow",
    "check_sample_weight",
    "dtype_names",
    "is_whole",
    "row_labels",
    "validate_encoded",
    "validate_rows",
    "validate_side",
]


def validate_rows(estimator: Any, X: Any, *, reset: bool, **checks: Any) -> Any:
    """Validate X as scikit-learn does, with errors that say who and where.

    Parameters
    ----------
    estimator : estimator
        The estimator; ``n_features_in_`` and ``feature_names_in_`` are set on it.
    X : {array-like, sparse matrix} of shape (n_rows, n_features)
        Rows.
    reset : bool
        True in ``fit``, False where a fitted width is to be met.
    **checks : dict
        Parameters of :func:`sklearn.utils.check_array`.

    Returns
    -------
    {ndarray, sparse matrix} of shape (n_rows, n_features)
        float32 stays, float16 becomes float32, all other numbers float64.

    Raises
    ------
    ValueError
        If X is not finite (the message tells row and column), too small, or of
        another width than the fitted one.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from skrep.utils.validation import validate_rows
    >>> validate_rows(BaseEstimator(), [[1, 2], [3, float("nan")]], reset=True)
    Traceback (most recent call last):
    ...
    ValueError: BaseEstimator: 'X' contains NaN, first in row 1, column 1. ...
    """
    name = type(estimator).__name__
    try:
        return validate_data(estimator, X, reset=reset, dtype=_float_types(X), **checks)
    except (TypeError, ValueError) as error:
        message = str(error)
        if message.startswith(("Input X contains NaN", "Input X contains inf")):
            message = _where_not_finite(X)
        if name not in message:
            message = f"{name}: {message}"
        raise type(error)(message) from error


def validate_encoded(estimator: Any, X: Any, n_columns: int) -> FloatArray:
    """Validate what a transformer is to invert: rows as its `transform` gives them.

    Parameters
    ----------
    estimator : estimator
        The estimator that is named in errors.
    X : array-like of shape (n_rows, n_columns)
        Rows.
    n_columns : int
        Number of columns that `transform` gives.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        float32 stays, float16 becomes float32, all other numbers float64.

    Raises
    ------
    ValueError
        If X has another width or is not finite.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from skrep.utils.validation import validate_encoded
    >>> validate_encoded(BaseEstimator(), [[1, 2]], 3)
    Traceback (most recent call last):
    ...
    ValueError: BaseEstimator: 'X' has 2 columns, but transform gives 3. ...
    """
    name = type(estimator).__name__
    try:
        rows: FloatArray = check_array(X, dtype=_float_types(X))
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}.inverse_transform: {error}") from error
    if rows.shape[1] != n_columns:
        raise ValueError(
            f"{name}: 'X' has {rows.shape[1]} columns, but transform gives "
            f"{n_columns}. Pass the output of transform."
        )
    return rows


def dtype_names(X: Any) -> set[str]:
    """Name the data types of an array, a column, or the columns of a frame.

    Parameters
    ----------
    X : object
        Anything; only what has a ``dtype`` or ``dtypes`` has names.

    Returns
    -------
    set of str
        The names, without what follows them in parentheses.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.utils.validation import dtype_names
    >>> dtype_names(np.ones(3))
    {'float64'}
    >>> dtype_names([1.0])
    set()
    """
    types = getattr(X, "dtypes", getattr(X, "dtype", None))
    if types is None:
        return set()
    several = types if isinstance(types, list) else np.ravel(np.asarray(types, object))
    return {str(one).partition("(")[0] for one in set(several)}


def _float_types(X: Any) -> list[type]:
    """Types to keep, the one that all others become first."""
    if {name.lower() for name in dtype_names(X)} == {"float16"}:
        return [np.float32, np.float64]
    return [np.float64, np.float32]


def validate_side(
    estimator: Any, name: str, X: Any, *, same_columns: bool = True
) -> FloatArray:
    """Validate rows of another side that go into `fit` beside X.

    Parameters
    ----------
    estimator : estimator
        The estimator, which has validated X.
    name : str
        The argument, as named in errors.
    X : array-like of shape (n_rows, n_features)
        Its value.
    same_columns : bool, default=True
        Whether names of columns, where both sides have them, must be those of X.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        float32 stays, float16 becomes float32, all other numbers float64.

    Raises
    ------
    ValueError
        If X is not finite, or its columns have other names.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> from skrep.utils.validation import validate_side
    >>> validate_side(BaseEstimator(), "pairs", [[1.0, float("nan")]])
    Traceback (most recent call last):
    ...
    ValueError: BaseEstimator: 'pairs' contains NaN, first in row 0, column 1. ...
    """
    who = type(estimator).__name__
    options: dict[str, Any] = {"input_name": name, "estimator": who}
    try:
        rows: FloatArray = check_array(X, dtype=_float_types(X), **options)
    except (TypeError, ValueError) as error:
        message = str(error)
        if f"Input {name} contains" in message:
            message = _where_not_finite(X, name)
        raise type(error)(f"{who}: {message}") from error
    known = list(getattr(estimator, "feature_names_in_", ()))
    found = _get_feature_names(X)
    names = [] if found is None else list(found)
    if known and names and same_columns and known != names:
        raise ValueError(
            f"{who}: '{name}' has columns {names}, and X has {known}. Both "
            f"need the same columns in the same order: pass {name}[X.columns]."
        )
    return rows


def check_overflow(who: str, *moments: FloatArray) -> None:
    """Refuse moments that are not finite, as those of huge rows.

    Parameters
    ----------
    who : str
        The estimator that is named in the error.
    *moments : ndarray
        What was computed from squares of finite rows.

    Raises
    ------
    ValueError
        If an entry is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.utils.validation import check_overflow
    >>> check_overflow("example", np.array([np.inf]))
    Traceback (most recent call last):
    ...
    ValueError: example: 'X' holds numbers so large that their squares overflow. ...
    """
    if not all(np.isfinite(part).all() for part in moments):
        raise ValueError(
            f"{who}: 'X' holds numbers so large that their squares overflow. Divide "
            "all rows by one number first, such as np.abs(X).max()."
        )


def _where_not_finite(X: Any, argument: str = "X") -> str:
    names = _get_feature_names(X)
    if sp.issparse(X):
        values = sp.coo_array(X)
        k = np.flatnonzero(~np.isfinite(values.data))[0]
        row, column, value = values.row[k], values.col[k], values.data[k]
    else:
        dense = check_array(X, dtype=np.float64, ensure_all_finite=False)
        row, column = np.argwhere(~np.isfinite(dense))[0]
        value = dense[row, column]
    what = "NaN" if np.isnan(value) else "infinity"
    label = int(column) if names is None else f"'{names[column]}'"
    return (
        f"'{argument}' contains {what}, first in row {row}, column {label}. Drop such "
        "rows or fill them in first, as with sklearn.impute.SimpleImputer()."
    )


def check_sample_weight(who: str, sample_weight: Any, n_rows: int) -> FloatArray:
    """Return one non-negative float64 weight per row, ones when none are given.

    Parameters
    ----------
    who : str
        The estimator or function that is named in errors.
    sample_weight : array-like of shape (n_rows,), float or None
        The weights; a number weighs all rows alike.
    n_rows : int
        Number of rows.

    Returns
    -------
    ndarray of shape (n_rows,), float64
        The weights.

    Raises
    ------
    ValueError
        If the shape is wrong, a weight is negative or not finite, or all are zero.

    Examples
    --------
    >>> from skrep.utils.validation import check_sample_weight
    >>> check_sample_weight("example", None, 2)
    array([1., 1.])
    """
    if sample_weight is None:
        return np.ones(n_rows)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n_rows, float(sample_weight))
    options: dict[str, Any] = {"input_name": "sample_weight", "estimator": who}
    try:
        weights = check_array(
            sample_weight, dtype=np.float64, ensure_2d=False, **options
        )
    except (TypeError, ValueError) as error:
        raise type(error)(f"{who}: 'sample_weight': {error}") from error
    if weights.shape != (n_rows,):
        raise ValueError(
            f"{who}: 'sample_weight' has shape {weights.shape}. It needs one weight "
            f"per row: pass an array of shape ({n_rows},)."
        )
    if weights.min() < 0 or weights.max() == 0:
        raise ValueError(
            f"{who}: 'sample_weight' lies between {weights.min():g} and "
            f"{weights.max():g}. Weights must not be negative, nor all zero. Pass "
            "sample_weight=None to weigh all rows alike."
        )
    return np.asarray(weights)


def check_n_components(who: str, n_components: Any, n_available: int) -> int:
    """Return how many components are meant; None means all.

    Parameters
    ----------
    who : str
        The estimator or function that is named in errors.
    n_components : int or None
        The number asked for.
    n_available : int
        The largest number there can be.

    Returns
    -------
    int
        Between 1 and `n_available`.

    Raises
    ------
    ValueError
        If it is no integer, a boolean, below 1 or above `n_available`.

    Examples
    --------
    >>> from skrep.utils.validation import check_n_components
    >>> check_n_components("example", None, 8)
    8
    >>> check_n_components("example", 20, 8)
    Traceback (most recent call last):
    ...
    ValueError: example: 'n_components' is 20. It must be an integer from 1 to 8, or \
None for all 8. ...
    """
    if n_components is None:
        return n_available
    if not is_whole(n_components) or not 1 <= n_components <= n_available:
        raise ValueError(
            f"{who}: 'n_components' is {n_components!r}. It must be an integer from 1 "
            f"to {n_available}, or None for all {n_available}. Pass "
            f"n_components={n_available}, say."
        )
    return int(n_components)


def is_whole(value: Any) -> bool:
    """Tell whether something is an integer, and no boolean.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    bool
        Whether it is one.

    Examples
    --------
    >>> from skrep.utils.validation import is_whole
    >>> is_whole(3), is_whole(3.0), is_whole(True)
    (True, False, False)
    """
    return isinstance(value, Integral) and not isinstance(value, bool)


def row_labels(X: Any) -> list[str] | None:
    """Take the labels of the rows from the string index of a DataFrame.

    Parameters
    ----------
    X : object
        Anything; only an object with an ``index`` of strings has labels.

    Returns
    -------
    list of str or None
        One label per row; None where there are none.

    Examples
    --------
    >>> from skrep.utils.validation import row_labels
    >>> row_labels([[0.0]]) is None
    True
    """
    index = getattr(X, "index", None)
    if index is None or callable(index):
        return None
    labels = list(index)
    return labels if labels and all(isinstance(v, str) for v in labels) else None
