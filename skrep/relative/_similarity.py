"""Similarities of rows to anchors: the mathematics of relative representations.

A similarity is either *linear*, a function of the products of centered rows with the
anchors, or a distance. Linear ones cost one matrix product per block of rows.
"""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from skrep.geometry import angles, euclidean_distances, row_norms, unit_rows
from skrep.relative._kinds import SIMILARITIES
from skrep.relative._space import Space
from skrep.typing import FloatArray, IntArray, Matrix, SparseMatrix
from skrep.utils import row_blocks

__all__ = [
    "SimilarityFunction",
    "anchor_constant",
    "center_rows",
    "directionless",
    "mean_norm",
    "norms_in_place",
    "project",
    "similarities",
]

SimilarityFunction = Callable[[FloatArray, FloatArray], FloatArray]


def center_rows(X: FloatArray, mean: FloatArray | None) -> FloatArray:
    """Subtract the mean from a block of rows, in the dtype of the rows.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows; never written to.
    mean : ndarray of shape (n_features,) or None
        The mean; None leaves the rows as they are.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        A new array.
    """
    return X.copy() if mean is None else X - mean.astype(X.dtype, copy=False)


def project(
    X: Matrix,
    *,
    mean: FloatArray | None,
    projection: FloatArray,
    normalize: bool,
    root: FloatArray | None = None,
    out: FloatArray | None = None,
) -> FloatArray:
    r"""Products of centered rows with anchors, :math:`P^\top (x - m) / \|x - m\|`.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        A block of rows. CSR rows stay sparse.
    mean : ndarray of shape (n_features,) or None
        The center m; None stands for zero.
    projection : ndarray of shape (n_features, n_anchors)
        The matrix P.
    normalize : bool
        Whether to divide by the norm; a row of norm zero gives zeros.
    root : ndarray of shape (n_features, n_whitened) or None
        Square root L of a metric: the norm is :math:`\|L^\top (x - m)\|`.
    out : ndarray of shape (n_rows, n_anchors) or None
        Where dense products may be written.

    Returns
    -------
    ndarray of shape (n_rows, n_anchors)
        The products.

    Raises
    ------
    FloatingPointError
        If a dense row that is normalized is not finite.
    """
    if sp.issparse(X):
        return _project_sparse(X, mean, projection, normalize)
    centered = center_rows(X, mean)
    if not normalize:
        return np.matmul(centered, projection, out=out)
    norms, lost = norms_in_place(centered, mean)
    if root is not None:
        norms = row_norms(centered @ root)
        norms[norms == 0] = 1
    products: FloatArray = np.matmul(centered, projection, out=out)
    products *= (1 / norms)[:, None]
    if lost.size:
        products[lost] = 0
    return products


def norms_in_place(
    centered: FloatArray, mean: FloatArray | None
) -> tuple[FloatArray, IntArray]:
    """Norms to divide centered rows by, and the rows that have no direction.

    Parameters
    ----------
    centered : ndarray of shape (n_rows, n_features)
        Centered rows. Those whose squared norm leaves the range of the float type
        are replaced by unit rows.
    mean : ndarray of shape (n_features,) or None
        The mean that was subtracted.

    Returns
    -------
    norms : ndarray of shape (n_rows,)
        Positive divisors.
    lost : ndarray of int
        Positions of rows that are zero, or equal to the mean up to rounding.

    Raises
    ------
    FloatingPointError
        If a row is not finite: its norm tells for free.
    """
    squares = np.einsum("ij,ij->i", centered, centered)
    norms = np.sqrt(squares)
    info = np.finfo(squares.dtype)
    low, high = info.tiny / info.eps, info.max
    reach = 0.0 if mean is None else float(np.abs(mean).max()) * mean.size**0.5
    floor = 8 * float(info.eps) * reach
    # Comparisons with NaN are false: such rows go on to be looked at.
    if squares.min() > low and norms.min() > floor and squares.max() < high:
        return norms, np.empty(0, dtype=int)
    unsafe = ~((squares > low) & (squares < high))
    sizes = norms.copy()
    if unsafe.any():
        if not np.isfinite(centered[unsafe]).all():
            raise FloatingPointError("a row is not finite")
        centered[unsafe], sizes[unsafe] = unit_rows(centered[unsafe])
        norms[unsafe] = 1
    lost = np.flatnonzero(sizes <= floor)
    norms[lost] = 1
    return norms, lost


def _project_sparse(
    X: SparseMatrix, mean: FloatArray | None, projection: FloatArray, normalize: bool
) -> FloatArray:
    products: FloatArray = X @ projection
    if mean is not None:
        products -= mean.astype(np.float64) @ projection
    if normalize:
        norms, lost = _sparse_norms(X, mean)
        products /= norms[:, None]
        products[lost] = 0
    return products


def _sparse_norms(
    X: SparseMatrix, mean: FloatArray | None
) -> tuple[FloatArray, IntArray]:
    X = X.astype(np.float64)
    squares = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    total = squares.copy()
    if mean is not None:
        mean = mean.astype(np.float64)
        total += mean @ mean
        squares += mean @ mean - 2 * (X @ mean)
    # What is left of the norm of a row equal to the mean is rounding.
    lost = np.flatnonzero(squares <= 16 * np.finfo(np.float64).eps * total)
    squares[lost] = 1
    return np.sqrt(squares), lost


def similarities(
    X: Matrix,
    space: Space,
    similarity: str | SimilarityFunction,
    out: FloatArray | None = None,
) -> FloatArray:
    r"""Similarities of a block of rows to the anchors, before whitening.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        A block of rows.
    space : Space
        The anchors, the center, and what else the similarity needs of its space.
    similarity : str or callable
        A key of ``SIMILARITIES`` or a function of (rows, anchors).
    out : ndarray of shape (n_rows, n_anchors) or None
        Where the result may be written.

    Returns
    -------
    ndarray of shape (n_rows, n_anchors)
        The similarities.
    """
    if callable(similarity):
        return _called(similarity, X, space.anchors)
    if space.directions is None:
        distances = _distances(X, space.anchors, similarity, space.mean)
        if out is None:
            out = np.empty(distances.shape, dtype=X.dtype)
        return np.divide(distances, space.constant, out=out, casting="same_kind")
    products = project(
        X,
        mean=space.mean,
        projection=space.directions,
        normalize=SIMILARITIES[similarity].normalizes,
        root=space.root,
        out=out,
    )
    if similarity == "angular":
        units = unit_rows(center_rows(X, space.mean))[0]
        return angles(products, units, space.directions.T) / np.pi
    if similarity == "rank":
        # Cosines that are equal but for rounding share a rank.
        digits = int(-np.log10(np.finfo(X.dtype).eps)) - 3
        ranks = rankdata(products.round(digits), axis=1)
        return ranks.astype(X.dtype) / products.shape[1]
    return products


def _called(
    similarity: SimilarityFunction, X: FloatArray, anchors: FloatArray
) -> FloatArray:
    R = np.asarray(similarity(X, anchors))
    shape = (X.shape[0], anchors.shape[0])
    real = R.dtype.kind in "fiub"
    if R.shape != shape or not real or not np.isfinite(R).all():
        got = f"shape {R.shape} and dtype {R.dtype}"
        if R.shape == shape and real:
            got = "NaN or infinity"
        raise ValueError(
            f"RelativeRepresentation: 'similarity' returned {got} for {shape[0]} rows "
            f"and {shape[1]} anchors. It must return finite numbers of shape {shape}, "
            "as lambda X, A: X @ A.T does."
        )
    return R.astype(X.dtype)


def _distances(
    X: Matrix, anchors: Matrix, metric: str, mean: FloatArray | None
) -> FloatArray:
    if sp.issparse(X) != sp.issparse(anchors):
        # Rows of the other container than the fitted ones.
        anchors = sp.csr_array(anchors) if sp.issparse(X) else anchors.toarray()
    if metric == "euclidean":
        if sp.issparse(X):
            return euclidean_distances(X, anchors)
        wide = None if mean is None else mean.astype(np.float64)
        return euclidean_distances(
            center_rows(X.astype(np.float64, copy=False), wide),
            center_rows(anchors.astype(np.float64, copy=False), wide),
        )
    if sp.issparse(X):
        # sklearn.metrics costs a third of a second to import.
        from sklearn.metrics.pairwise import manhattan_distances

        return manhattan_distances(X, anchors)
    return cdist(X, anchors, {"manhattan": "cityblock"}.get(metric, metric))


def anchor_constant(distances: FloatArray) -> float:
    r"""Mean distance between different anchors, the unit of length of a space.

    Parameters
    ----------
    distances : ndarray of shape (n_anchors, n_anchors)
        Distances between the anchors, zero on the diagonal.

    Returns
    -------
    float
        The mean of the off-diagonal entries; 1 where it would be 0 or there is one
        anchor.
    """
    n = len(distances)
    mean = float(distances.sum(dtype=np.float64)) / max(1, n * (n - 1))
    return mean if mean > 0 else 1.0


def mean_norm(
    X: Matrix, weights: FloatArray, mean: FloatArray | None, root: FloatArray | None
) -> float:
    """Weighted mean of the norms of the centered rows.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights, not all zero.
    mean : ndarray of shape (n_features,) or None
        The center.
    root : ndarray of shape (n_features, n_features) or None
        Metric root in whose coordinates norms are taken.

    Returns
    -------
    float
        The mean norm.
    """
    if sp.issparse(X):
        norms, lost = _sparse_norms(X, mean)
        norms[lost] = 0
        return float(weights @ norms / weights.sum())
    total = 0.0
    for rows in row_blocks(X.shape[0], 16 * X.shape[1]):
        centered = center_rows(X[rows], mean)
        norms = unit_rows(centered if root is None else centered @ root)[1]
        total += float(weights[rows] @ norms)
    return total / float(weights.sum())


def directionless(X: Matrix, mean: FloatArray | None) -> IntArray:
    """Positions of the rows that are zero, or equal to the mean up to rounding.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    mean : ndarray of shape (n_features,) or None
        The center.

    Returns
    -------
    ndarray of int
        Row positions.
    """
    if sp.issparse(X):
        return _sparse_norms(X, mean)[1]
    lost = [np.empty(0, dtype=int)]
    for rows in row_blocks(X.shape[0], 8 * X.shape[1]):
        centered = center_rows(X[rows], mean)
        lost.append(rows.start + norms_in_place(centered, mean)[1])
    return np.concatenate(lost)
