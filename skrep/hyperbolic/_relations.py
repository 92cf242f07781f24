"""Relations of rows: given as a matrix, or to the nearest rows."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.exceptions import ThinDataWarning
from skrep.hyperbolic._matrices import refuse_graph, validate_matrix
from skrep.typing import FloatArray, IntArray
from skrep.utils import warn
from skrep.utils.validation import validate_rows

__all__ = [
    "Given",
    "check_n_neighbors",
    "distinct_rows",
    "equal_rows",
    "given_relations",
    "given_rows",
    "nearest_relations",
    "warn_without_negatives",
]


class Given(NamedTuple):
    """Rows of features without repeats.

    Parameters
    ----------
    rows : ndarray of shape (n_nodes, n_features)
        The distinct rows, in the order of their first appearance.
    node : ndarray of shape (n_samples,), int
        Which of them each row is.
    """

    rows: FloatArray
    node: IntArray


def given_relations(estimator: Any, X: Any, *, reset: bool) -> sp.csr_array:
    """Validate a matrix of relations.

    Parameters
    ----------
    estimator : estimator
        The estimator, which is named in errors.
    X : {array-like, sparse matrix} of shape (n_rows, n_nodes)
        Row i is related to the columns of its positive values.
    reset : bool
        True in ``fit``, where X is square; False for rows of new nodes.

    Returns
    -------
    csr_array of shape (n_rows, n_nodes)
        The positive values; in ``fit`` without those of the diagonal.

    Raises
    ------
    TypeError
        If X is a graph, or a matrix with its labels.
    ValueError
        If a value is negative or not finite; in ``fit`` also if X is not square or
        relates no two nodes, later if a row has no relation.
    """
    who = type(estimator).__name__
    checked = validate_matrix(estimator, X, reset=reset, accept_sparse="csr")
    if reset and checked.shape[0] != checked.shape[1]:
        raise ValueError(
            f"{who}: 'X' has the shape {checked.shape}, and affinity is 'precomputed'. "
            "Relations are a square matrix, one row and one column for each node. Pass "
            "affinity='nearest_neighbors' for rows of features, or take the matrix "
            "from skrep.graph.relations_from_edges(edges)."
        )
    relations = sp.csr_array(checked, copy=True)
    relations.sum_duplicates()
    if relations.nnz and relations.data.min() < 0:
        at = int(relations.data.argmin())
        row = int(np.searchsorted(relations.indptr, at, side="right")) - 1
        raise ValueError(
            f"{who}: 'X' is {relations.data[at]:g} in row {row}, column "
            f"{relations.indices[at]}. Relations have positive weights, and 0 is no "
            "relation. Pass abs(X), or drop such pairs."
        )
    if reset:
        loops = int(np.count_nonzero(relations.diagonal()))
        if loops:
            warn(
                f"{who}: 'X' relates {loops} nodes to themselves; these relations are "
                "dropped. Set the diagonal to 0.",
                UserWarning,
            )
            relations.setdiag(0)
    relations.eliminate_zeros()
    if reset and not relations.nnz:
        raise ValueError(
            f"{who}: 'X' relates no two nodes. At least one value off the diagonal "
            "must be positive: take the matrix from "
            "skrep.graph.relations_from_edges(edges)."
        )
    empty = np.flatnonzero(np.diff(relations.indptr) == 0)
    if not reset and len(empty):
        raise ValueError(
            f"{who}: 'X' has no positive value in row {empty[0]}. A new node is placed "
            "by its relations to the fitted ones. Drop such rows: "
            "X[np.asarray(X.sum(axis=1)).ravel() > 0]."
        )
    return relations


def given_rows(estimator: Any, X: Any, *, reset: bool) -> FloatArray:
    """Validate rows of features.

    Parameters
    ----------
    estimator : estimator
        The estimator, which is named in errors.
    X : array-like of shape (n_samples, n_features)
        Rows.
    reset : bool
        True in ``fit``, which takes two rows or more.

    Returns
    -------
    ndarray of shape (n_samples, n_features)
        The rows.

    Raises
    ------
    TypeError
        If X is sparse, a graph, or a matrix with its labels.
    ValueError
        If a value is not finite, or there are too few rows.
    """
    who = type(estimator).__name__
    refuse_graph(who, X, "{}, with affinity='precomputed'")
    if reset and sp.issparse(X) and X.shape[0] == X.shape[1]:
        raise TypeError(
            f"{who}: 'X' is sparse and square, as relations are, and affinity is "
            "'nearest_neighbors', which takes dense rows of features. Pass "
            "affinity='precomputed'."
        )
    least = 2 if reset else 1
    rows: FloatArray = validate_rows(
        estimator, X, reset=reset, ensure_min_samples=least
    )
    return rows


def warn_without_negatives(who: str, relations: sp.csr_array, remedy: str) -> None:
    """Warn if no node has another that it is not related to.

    Parameters
    ----------
    who : str
        The estimator that is named.
    relations : csr_array of shape (n_nodes, n_nodes)
        Row i is related to the columns of its stored values, i not among them.
    remedy : str
        What to pass, where the rows of others would not do.

    Warns
    -----
    ThinDataWarning
        If each node is related to all others, or to none.
    """
    n_others = relations.shape[0] - 1
    if _leaves_some(relations, n_others):
        return
    if _leaves_some(sp.csr_array(relations.T), n_others):
        remedy = "X.T, if rows are to be those of children"
    warn(
        f"{who}: each node of 'X' that has relations is related to all others, which "
        "leaves none as negatives, and the points stay where they start. "
        f"Pass {remedy}.",
        ThinDataWarning,
    )


def _leaves_some(relations: sp.csr_array, n_others: int) -> bool:
    degrees = np.diff(relations.indptr)
    return bool(((degrees > 0) & (degrees < n_others)).any())


def distinct_rows(X: FloatArray) -> Given:
    """Find the distinct rows.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    Given
        The rows, each once.
    """
    _, first, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return Given(X[first[order]], place[inverse.ravel()])


def equal_rows(rows: FloatArray, queries: FloatArray) -> IntArray:
    """Find the rows that queries equal, in all their digits.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Distinct rows.
    queries : ndarray of shape (n_queries, n_features)
        Other rows.

    Returns
    -------
    ndarray of shape (n_queries,), int64
        The row that a query equals, -1 where there is none.
    """
    dtype = np.result_type(rows, queries)
    near = np.flatnonzero(np.isin(rows[:, 0], queries[:, 0]))
    # Zeros have two signs.
    held = {(rows[i].astype(dtype) + 0.0).tobytes(): int(i) for i in near}
    return np.array(
        [held.get((query.astype(dtype) + 0.0).tobytes(), -1) for query in queries],
        dtype=np.int64,
    )


def check_n_neighbors(who: str, n_neighbors: int, n_rows: int) -> None:
    """Refuse to relate rows to all others, or to more than there are.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    n_neighbors : int
        How many rows each is related to.
    n_rows : int
        Number of distinct rows.

    Raises
    ------
    ValueError
        If it is not smaller than their number.
    """
    if n_neighbors >= n_rows:
        rows = f"only {n_rows} distinct rows" if n_rows > 1 else "only one distinct row"
        remedy = f"n_neighbors={n_rows // 2}" if n_rows > 1 else "rows that differ"
        raise ValueError(
            f"{who}: 'n_neighbors' is {n_neighbors}, but 'X' has {rows}. It must be "
            f"smaller than their number: pass {remedy}."
        )


def nearest_relations(
    rows: FloatArray, n_neighbors: int, queries: FloatArray | None = None
) -> tuple[sp.csr_array, IntArray]:
    """Relate rows to the fitted rows that are nearest to them.

    Parameters
    ----------
    rows : ndarray of shape (n_nodes, n_features)
        The fitted rows, distinct.
    n_neighbors : int
        How many rows each is related to.
    queries : ndarray of shape (n_queries, n_features) or None, default=None
        Other rows; None relates the fitted rows to each other.

    Returns
    -------
    relations : csr_array of shape (n_queries or n_nodes, n_nodes)
        Ones.
    equal : ndarray of shape (n_queries or n_nodes,), int64
        The fitted row that a query equals, -1 where there is none.
    """
    from sklearn.neighbors import NearestNeighbors

    # Squares of numbers far from zero leave no digits to their differences.
    center = rows.mean(axis=0, dtype=np.float64).astype(rows.dtype)
    index = NearestNeighbors(n_neighbors=n_neighbors, algorithm="brute")
    index.fit(rows - center)
    around = None if queries is None else queries - center
    nearest = index.kneighbors(around, return_distance=False)
    n_rows = len(nearest)
    relations = sp.csr_array(
        (
            np.ones(nearest.size, dtype=rows.dtype),
            nearest.ravel(),
            np.arange(0, nearest.size + 1, n_neighbors),
        ),
        shape=(n_rows, len(rows)),
    )
    equal = np.full(n_rows, -1) if queries is None else equal_rows(rows, queries)
    return relations, equal
