"""Rows that are vectors, or sets of token vectors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import _num_samples

from skrep.relative._alignment_inputs import check_pairs
from skrep.relative._similarity import norms_in_place
from skrep.typing import FloatArray, IntArray
from skrep.utils.validation import validate_rows, validate_side

__all__ = ["RowSets", "are_sets", "joined", "pooled", "read_pairs", "read_rows"]


@dataclass(frozen=True)
class RowSets:
    """Rows of one space, each a set of one token or several.

    Parameters
    ----------
    tokens : ndarray of shape (n_tokens, n_features)
        The tokens of all rows, row by row.
    counts : ndarray of shape (n_rows,)
        How many each row has, at least one.
    """

    tokens: FloatArray
    counts: IntArray

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def plain(self) -> bool:
        """Whether every row is one vector."""
        return len(self.tokens) == len(self.counts)

    @property
    def starts(self) -> IntArray:
        """First token of every row."""
        return np.cumsum(self.counts) - self.counts

    def at(self, rows: IntArray) -> "RowSets":
        """Give some of the rows.

        Parameters
        ----------
        rows : ndarray of int
            Their positions.

        Returns
        -------
        RowSets
            The rows, in this order.
        """
        counts = self.counts[rows]
        ends = np.cumsum(counts)
        first = np.repeat(self.starts[rows] - (ends - counts), counts)
        return RowSets(self.tokens[first + np.arange(counts.sum())], counts)

    def means(self) -> FloatArray:
        """Average the tokens of every row.

        Returns
        -------
        ndarray of shape (n_rows, n_features), float64
            The means.
        """
        return pooled(self.tokens.astype(np.float64), self, "mean")

    def directions(self, mean: FloatArray) -> "RowSets":
        """Center tokens and divide them by their norms.

        Parameters
        ----------
        mean : ndarray of shape (n_features,)
            The center.

        Returns
        -------
        RowSets
            Rows of unit tokens in float64; a token at the center, up to rounding, is
            zero.
        """
        centered = self.tokens.astype(np.float64) - mean
        norms, lost = norms_in_place(centered, mean)
        centered /= norms[:, None]
        centered[lost] = 0
        return RowSets(centered, self.counts)


def joined(*parts: RowSets) -> RowSets:
    """Put rows below each other.

    Parameters
    ----------
    *parts : RowSets
        Rows of one space.

    Returns
    -------
    RowSets
        All rows.
    """
    return RowSets(
        np.concatenate([part.tokens for part in parts]),
        np.concatenate([part.counts for part in parts]),
    )


def pooled(values: FloatArray, rows: RowSets, pooling: str) -> FloatArray:
    """Reduce what belongs to tokens to one line for each row.

    Parameters
    ----------
    values : ndarray of shape (n_tokens, n_columns)
        One line for each token.
    rows : RowSets
        The rows that they belong to.
    pooling : {"max", "mean"}
        What to take over the tokens of a row.

    Returns
    -------
    ndarray of shape (n_rows, n_columns)
        The maxima or means.
    """
    if rows.plain:
        return values
    if pooling == "max":
        return np.maximum.reduceat(values, rows.starts, axis=0)
    counts = rows.counts.astype(values.dtype)
    return np.add.reduceat(values, rows.starts, axis=0) / counts[:, None]


def are_sets(X: Any) -> bool:
    """Tell whether rows are sets of tokens.

    Parameters
    ----------
    X : object
        Rows as they are given.

    Returns
    -------
    bool
        True for an array of three dimensions, and for a list, tuple or array of objects
        one of whose rows has two.
    """
    if isinstance(X, np.ndarray) and X.dtype != object:
        return X.ndim == 3
    if not isinstance(X, (list, tuple, np.ndarray)) or np.ndim(X[:0]) > 1:
        return False
    return any(getattr(row, "ndim", 0) == 2 for row in X)


def read_rows(estimator: Any, X: Any, *, reset: bool, name: str = "X") -> RowSets:
    """Validate rows or sets.

    Parameters
    ----------
    estimator : estimator
        Takes the number of columns, or has it.
    X : array-like of shape (n_rows, n_features), or list of arrays
        Vectors, or one array of shape (n_tokens, n_features) for each row.
    reset : bool
        True in ``fit``.
    name : str, default="X"
        The argument, as named in errors.

    Returns
    -------
    RowSets
        The rows.

    Raises
    ------
    ValueError
        If a set is empty, has tokens of another width, or a number that is not finite.
    """
    if not are_sets(X):
        rows = _vectors(estimator, X, reset, name)
        return RowSets(rows, np.ones(len(rows), dtype=np.intp))
    who = type(estimator).__name__
    sets = [_tokens(who, name, i, row) for i, row in enumerate(X)]
    width = sets[0].shape[1]
    for i, tokens in enumerate(sets):
        if tokens.shape[1] != width:
            raise ValueError(
                f"{who}: row {i} of '{name}' has tokens of {tokens.shape[1]} columns, "
                f"and row 0 of {width}. All tokens must come from one encoder: pass "
                f"[row for row in {name} if row.shape[1] == {width}]."
            )
    flat = np.concatenate(sets)
    counts = np.array([len(tokens) for tokens in sets], dtype=np.intp)
    wrong = ~np.isfinite(flat).all(axis=1) if flat.dtype.kind == "f" else np.zeros(1)
    if wrong.any():
        token = int(np.argmax(wrong))
        i = int(np.searchsorted(np.cumsum(counts), token, side="right"))
        what = "NaN" if np.isnan(flat[token]).any() else "infinity"
        raise ValueError(
            f"{who}: '{name}' contains {what}, first in a token of row {i}. Drop such "
            "tokens: row[np.isfinite(row).all(axis=1)]."
        )
    return RowSets(_vectors(estimator, flat, reset, name), counts)


def _vectors(estimator: Any, X: Any, reset: bool, name: str) -> FloatArray:
    if name == "X":
        rows: FloatArray = validate_rows(estimator, X, reset=reset)
        return rows
    X = np.reshape(X, (-1, 1)) if np.ndim(X) == 1 else X
    rows = validate_side(estimator, name, X)
    if reset:
        return validate_rows(estimator, X, reset=True)
    width = estimator.n_features_in_
    if rows.shape[1] != width:
        raise ValueError(
            f"{type(estimator).__name__}: '{name}' has {rows.shape[1]} columns, and "
            f"the pairs have {width} on this side. Pass rows of the same encoder."
        )
    return rows


def _tokens(who: str, name: str, i: int, row: Any) -> Any:
    tokens = np.asarray(row)
    if tokens.ndim != 2:
        raise ValueError(
            f"{who}: row {i} of '{name}' has shape {tokens.shape}, and others are sets "
            "of tokens. Sets have the shape (n_tokens, n_features): pass a single "
            "vector as row[np.newaxis]."
        )
    if not len(tokens):
        raise ValueError(
            f"{who}: row {i} of '{name}' has no tokens. Leave it out, and its partner: "
            f"kept = [len(row) > 0 for row in {name}]."
        )
    return tokens


def read_pairs(estimator: Any, other: Any, X: Any, y: Any) -> tuple[RowSets, RowSets]:
    """Validate paired rows of two spaces, either of which may hold sets.

    Parameters
    ----------
    estimator, other : estimator
        Take the numbers and names of the columns of X and of y.
    X, y : array-like or list of arrays
        Rows and their partners.

    Returns
    -------
    X, y : RowSets
        The rows and their partners.

    Raises
    ------
    ValueError
        If the lengths differ or a side is not valid.
    TypeError
        If a side is sparse.
    """
    if not are_sets(X) and not are_sets(y):
        rows, partners = check_pairs(estimator, X, y)
        y = y if hasattr(y, "columns") else partners
        return (
            RowSets(rows, np.ones(len(rows), dtype=np.intp)),
            read_rows(other, y, reset=True, name="y"),
        )
    who = type(estimator).__name__
    if y is None or _num_samples(X) != _num_samples(y):
        n = "None" if y is None else f"{_num_samples(y)} rows"
        raise ValueError(
            f"{who}: 'X' and 'y' must pair row by row, and X has {_num_samples(X)} "
            f"rows and y is {n}. Pass the partners in the order of X, such as "
            "[y[i] for i in index_of_pairs]."
        )
    return (
        read_rows(estimator, X, reset=True),
        read_rows(other, y, reset=True, name="y"),
    )
