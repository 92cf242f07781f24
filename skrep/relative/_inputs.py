"""What users hand over: anchors, their labels and partners, strata."""

from collections import Counter
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _num_samples, check_consistent_length, column_or_1d

from skrep.relative._kinds import SIMILARITIES
from skrep.relative._similarity import directionless
from skrep.typing import AnyArray, FloatArray, IntArray, Matrix
from skrep.utils import require
from skrep.utils.validation import row_labels

__all__ = [
    "WHO",
    "canonical",
    "check_container",
    "check_directions",
    "check_rank",
    "check_top_k",
    "given_positions",
    "given_vectors",
    "partners",
    "relabel",
    "strata",
    "unique_labels",
]

WHO = "RelativeRepresentation"


def given_positions(anchors: Any, n_rows: int) -> IntArray | None:
    """Read `anchors` as row positions, or return None for vectors.

    Parameters
    ----------
    anchors : array-like of shape (n_anchors,) or (n_anchors, n_features)
        The parameter.
    n_rows : int
        Number of rows of X.

    Returns
    -------
    ndarray of shape (n_anchors,) or None
        The positions.
    """
    if sp.issparse(anchors) or np.ndim(anchors) != 1:
        return None
    positions = np.array(anchors)
    if positions.dtype.kind not in "iu" or not positions.size:
        raise ValueError(
            f"{WHO}: 'anchors' is one-dimensional with dtype {positions.dtype} and "
            f"{positions.size} entries. Row positions must be integers, at least one; "
            "for vectors, pass an array of shape (n_anchors, n_features)."
        )
    wrong = positions[(positions < 0) | (positions >= n_rows)]
    if wrong.size:
        raise ValueError(
            f"{WHO}: 'anchors' holds the row position {wrong[0]}, but X has {n_rows} "
            f"rows. Use positions from 0 to {n_rows - 1}."
        )
    return positions


def given_vectors(anchors: Any, like: Matrix) -> Matrix:
    """Read `anchors` as vectors in the space of X.

    Parameters
    ----------
    anchors : {array-like, CSR} of shape (n_anchors, n_features)
        The parameter.
    like : {ndarray, CSR} of shape (n_rows, n_features)
        The validated X: its width and float type are asked of the anchors.

    Returns
    -------
    {ndarray, CSR} of shape (n_anchors, n_features)
        A new array of vectors, CSR where X is.
    """
    vectors = check_array(
        anchors,
        dtype=like.dtype,
        accept_sparse="csr",
        input_name="anchors",
        estimator=WHO,
        copy=True,
    )
    if vectors.shape[1] != like.shape[1]:
        raise ValueError(
            f"{WHO}: 'anchors' has {vectors.shape[1]} columns and X has "
            f"{like.shape[1]}. Pass anchors from the space of X."
        )
    if sp.issparse(like):
        return sp.csr_array(vectors)
    return vectors.toarray() if sp.issparse(vectors) else vectors


def partners(
    X_other: Any, anchors: Any, positions: IntArray | None, n_rows: int, n_anchors: int
) -> Any:
    """Find the rows of another space that are paired with the anchors.

    Parameters
    ----------
    X_other : {array-like, DataFrame, CSR} of shape (n_rows_other, n_features_other)
        Rows of the other space.
    anchors : array-like of shape (n_anchors, n_features_other) or None
        The partners, if they are given. None takes them from X_other, whose rows are
        then paired with those of the first space.
    positions : ndarray of shape (n_anchors,) or None
        Positions of the anchors in the first space.
    n_rows, n_anchors : int
        Numbers of rows and of anchors of the first space.

    Returns
    -------
    {ndarray, DataFrame, CSR} of shape (n_anchors, n_features_other)
        The partners.
    """
    if anchors is not None:
        if _num_samples(anchors) != n_anchors:
            raise ValueError(
                f"{WHO}: 'anchors' has {_num_samples(anchors)} rows, but there are "
                f"{n_anchors} anchors and pairing is by row. Pass one partner for each "
                "row of anchors_."
            )
        return anchors
    if positions is None:
        raise ValueError(
            f"{WHO}: the anchors were given as vectors, so that their partners are "
            "unknown. Pass them: counterpart(X_other, anchors=...)."
        )
    if _num_samples(X_other) != n_rows:
        raise ValueError(
            f"{WHO}: 'X_other' has {_num_samples(X_other)} rows and the fitted X had "
            f"{n_rows}, but pairing is by row. Pass the partners of the anchors: "
            "counterpart(X_other, anchors=...)."
        )
    return _safe_indexing(X_other, positions)


def relabel(anchors: Any, labels: list[str] | None) -> Any:
    """Give anchor vectors the labels of their partners, or take theirs away.

    Parameters
    ----------
    anchors : {array-like, DataFrame, CSR} of shape (n_anchors, n_features)
        Anchor vectors.
    labels : list of str or None
        Labels they must carry, so that a head finds the column names it knows.

    Returns
    -------
    {ndarray, DataFrame, CSR}
        The vectors, in a DataFrame indexed by the labels where there are any.
    """
    if row_labels(anchors) == labels or sp.issparse(anchors):
        return anchors
    vectors = np.asarray(anchors)
    if labels is None:
        return vectors
    pandas = require("pandas", f"{WHO}.counterpart")
    return pandas.DataFrame(vectors, index=labels)


def unique_labels(labels: list[str]) -> list[str]:
    """Tell equal labels apart by a number.

    Parameters
    ----------
    labels : list of str
        Labels.

    Returns
    -------
    list of str
        Labels, all different; the first of its kind is kept as it is.

    Examples
    --------
    >>> from skrep.relative._inputs import unique_labels
    >>> unique_labels(["cat", "dog", "cat", "cat_2"])
    ['cat', 'dog', 'cat_3', 'cat_2']
    """
    taken = set(labels)
    seen: Counter[str] = Counter()
    result = []
    for label in labels:
        seen[label] += 1
        name, number = label, seen[label]
        while seen[label] > 1 and name in taken:
            name, number = f"{label}_{number}", number + 1
        taken.add(name)
        result.append(name)
    return result


def strata(y: Any, n_rows: int) -> AnyArray:
    """Check the classes that "stratified" draws from.

    Parameters
    ----------
    y : array-like of shape (n_rows,) or None
        Classes.
    n_rows : int
        Number of rows of X.

    Returns
    -------
    ndarray of shape (n_rows,)
        The classes.
    """
    if y is None:
        raise ValueError(
            f"{WHO}: 'selection'='stratified' requires y to be passed, but the target "
            "y is None. Call fit(X, y), or use selection='uniform'."
        )
    classes = column_or_1d(y)
    check_consistent_length(classes, range(n_rows))
    check_classification_targets(classes)
    return classes


def check_top_k(top_k: int, n_anchors: int, similarity: Any) -> None:
    """Refuse a `top_k` that the anchors or the similarity do not allow.

    Parameters
    ----------
    top_k : int
        The parameter.
    n_anchors : int
        Number of anchors.
    similarity : str or callable
        The similarity.
    """
    if top_k > n_anchors:
        raise ValueError(
            f"{WHO}: 'top_k'={top_k} exceeds the number of anchors, {n_anchors}. Use "
            f"top_k={n_anchors} or less."
        )
    if not callable(similarity) and SIMILARITIES[similarity].falls:
        rising = [name for name, entry in SIMILARITIES.items() if not entry.falls]
        raise ValueError(
            f"{WHO}: 'top_k'={top_k} with 'similarity'={similarity!r} would keep the "
            f"anchors that are least alike. Use one of {rising}, or top_k=None."
        )


def check_container(X: Any, similarity: Any) -> bool:
    """Refuse sparse rows for a similarity that would densify them.

    Parameters
    ----------
    X : object
        The input.
    similarity : str or callable
        The similarity.

    Returns
    -------
    bool
        Whether sparse rows are accepted.
    """
    able = [name for name, entry in SIMILARITIES.items() if entry.sparse]
    accepted = not callable(similarity) and similarity in able
    if sp.issparse(X) and not accepted:
        raise TypeError(
            f"{WHO}: 'similarity'={similarity!r} needs dense rows and got a "
            f"{type(X).__name__}. Use X.toarray(), or a similarity that keeps sparse "
            f"rows sparse: {able}."
        )
    return accepted


def canonical(X: Matrix) -> Matrix:
    """Give CSR rows one form: no duplicates, no stored zeros, short indices.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows; dense ones are returned as they are.

    Returns
    -------
    {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows; a copy where anything had to change.
    """
    if not sp.issparse(X):
        return X
    narrow = X.indices.dtype == np.int32
    if narrow and X.has_canonical_format and np.all(X.data != 0):
        return X
    X = X.copy()
    X.sum_duplicates()
    X.eliminate_zeros()
    if max(*X.shape, X.nnz) < np.iinfo(np.int32).max:
        X.indices = X.indices.astype(np.int32)
        X.indptr = X.indptr.astype(np.int32)
    return X


def check_rank(X: Matrix, weights: FloatArray, similarity: Any) -> None:
    """Refuse to whiten by a covariance that fewer rows than columns cannot give.

    Parameters
    ----------
    X : {ndarray, CSR} of shape (n_rows, n_features)
        The fitted rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    similarity : str or callable
        The similarity.
    """
    n_rows = int(np.count_nonzero(weights))
    if similarity == "mahalanobis" and n_rows <= X.shape[1]:
        raise ValueError(
            f"{WHO}: 'similarity'='mahalanobis' needs more rows than columns and got "
            f"{n_rows} rows of positive weight and {X.shape[1]} columns: the "
            "covariance is singular and all fitted rows are equally far apart. Reduce "
            "the columns first, as with PCA(n_components=...), or use "
            "similarity='cosine'."
        )


def check_directions(anchors: Matrix, mean: FloatArray | None, similarity: Any) -> None:
    """Refuse an anchor that has no direction, where directions are compared.

    Parameters
    ----------
    anchors : {ndarray, CSR} of shape (n_anchors, n_features)
        The anchors.
    mean : ndarray of shape (n_features,) or None
        The center.
    similarity : str or callable
        The similarity.
    """
    if callable(similarity) or not SIMILARITIES[similarity].normalizes:
        return
    lost = directionless(anchors, mean)
    if lost.size:
        raise ValueError(
            f"{WHO}: anchor {lost[0]} of 'anchors' equals "
            f"{'zero' if mean is None else 'the mean of X'}, so that it has no "
            f"direction for 'similarity'={similarity!r}. Leave it out: "
            f"np.delete(anchors, {lost[0]}, axis=0)."
        )
