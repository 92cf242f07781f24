"""What an alignment accepts: rows that pair by position."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils import check_array, check_consistent_length

from skrep.typing import FloatArray
from skrep.utils import warn
from skrep.utils.validation import validate_rows

__all__ = ["check_alpha", "check_count", "check_pairs", "column_names"]


def check_pairs(
    estimator: BaseEstimator, X: Any, y: Any
) -> tuple[FloatArray, FloatArray]:
    """Validate paired rows of two spaces.

    Parameters
    ----------
    estimator : estimator object
        Takes the column names and the number of columns of X.
    X, y : array-like
        Rows and their partners.

    Returns
    -------
    X : ndarray of shape (n_pairs, n_features), float64 or float32
        Rows.
    y : ndarray of shape (n_pairs, n_outputs)
        Partners.

    Raises
    ------
    ValueError
        If the lengths differ or y does not hold finite numbers.
    TypeError
        If X or y is sparse.
    """
    name = type(estimator).__name__
    if y is None:
        raise ValueError(
            f"{name} requires y to be passed, but the target y is None. Pass the rows "
            "of the other space: fit(X, y)."
        )
    if sp.issparse(y):
        raise TypeError(
            f"{name}: 'y' is sparse, but its rows are centered, which would fill it. "
            "Pass y.toarray(), or reduce it with TruncatedSVD first."
        )
    try:
        check_consistent_length(X, y)
    except ValueError as error:
        raise ValueError(
            f"{name}: 'X' and 'y' must pair row by row. {error}. Pass the partners in "
            "the order of X, such as y[index_of_pairs]."
        ) from None
    X = validate_rows(estimator, X, reset=True)
    return X, _check_partners(name, y)


def _check_partners(name: str, y: Any) -> FloatArray:
    y = check_array(
        y, dtype=None, ensure_2d=False, ensure_all_finite=False, input_name="y"
    )
    if y.dtype.kind != "f":
        try:
            y = y.astype(np.float64)
        except (TypeError, ValueError):
            raise ValueError(
                f"{name}: 'y' has dtype {y.dtype}, but must hold numbers, the rows of "
                "the target space. Encode categories first, such as "
                "OneHotEncoder(sparse_output=False).fit_transform(y)."
            ) from None
    y = y.reshape(len(y), -1)
    finite = np.isfinite(y)
    if not finite.all():
        row, column = np.argwhere(~finite)[0]
        what = "NaN" if np.isnan(y[row, column]) else "infinity"
        raise ValueError(
            f"{name}: 'y' contains {what}, first in row {row}, column {column}. Drop "
            "such pairs: keep = np.isfinite(y).all(axis=1); fit(X[keep], y[keep])."
        )
    return y


def check_count(
    rows: FloatArray, weights: FloatArray, method: str, center: bool
) -> None:
    """Refuse a single pair to center; warn where least squares fits noise.

    Parameters
    ----------
    rows : ndarray of shape (n_distinct_pairs, n_features)
        Distinct source rows.
    weights : ndarray of shape (n_distinct_pairs,)
        Their weights.
    method : str
        The method.
    center : bool
        Whether the rows are to be centered.

    Raises
    ------
    ValueError
        If one pair is to be centered.

    Warns
    -----
    UserWarning
        If "affine" meets about as many pairs as columns.
    """
    n, d = rows.shape
    if n > 1 and center and not (rows != rows[0]).any():
        raise ValueError(
            f"LatentAlignment: all {n} distinct pairs have the same row of 'X', so "
            "that nothing can be aligned. Pass pairs whose rows differ."
        )
    if n < 2 and weights.sum() < 2 and center:
        raise ValueError(
            "LatentAlignment: 'X' has 1 sample (of positive weight), but centered "
            "pairs need at least 2. Pass more pairs, or use center=False."
        )
    if method == "affine" and d / 2 < n < 2 * d:
        warn(
            f"LatentAlignment: 'method'='affine' with {n} pairs and {d} columns "
            "fits noise, worst where both are equal. Use method='shrunk' or "
            "method='ridge', or pass more pairs.",
        )


def check_alpha(alpha: float | str, method: str) -> None:
    """Refuse an infinite penalty where it would send every row to the mean.

    Parameters
    ----------
    alpha : float or "cv"
        The penalty.
    method : str
        The method.

    Raises
    ------
    ValueError
        If a method that shrinks towards zero gets an infinite penalty.
    """
    if alpha == np.inf and method in ("ridge", "low_rank", "cca"):
        raise ValueError(
            f"LatentAlignment: 'alpha'=inf with 'method'={method!r} would send every "
            "row to the mean. Use a finite alpha, alpha='cv', or method='shrunk'."
        )


def column_names(y: Any) -> list[str] | None:
    """Take the names of a target's columns, where they are strings.

    Parameters
    ----------
    y : object
        A DataFrame or Series has names, anything else has none.

    Returns
    -------
    list of str or None
        One name per column; None where a name is missing or repeats.
    """
    columns = getattr(y, "columns", None)
    if columns is None and isinstance(getattr(y, "name", None), str):
        columns = [y.name]
    names = [] if columns is None else list(columns)
    named = all(isinstance(name, str) and name for name in names)
    return names if names and named and len(set(names)) == len(names) else None
