"""What a space gives to its relative representation: directions, whitening, scale."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from skrep.geometry import unit_rows
from skrep.linalg import Moments, symmetric_power
from skrep.relative._kinds import SIMILARITIES
from skrep.relative._similarity import (
    SimilarityFunction,
    anchor_constant,
    center_rows,
    mean_norm,
    similarities,
)
from skrep.relative._space import Space
from skrep.typing import FloatArray, Matrix
from skrep.utils import row_blocks

__all__ = [
    "anchor_directions",
    "blocks",
    "coordinate_moments",
    "gram_whitening",
    "keep_largest",
    "measure",
    "metric_root",
    "relate",
    "relate_all",
]


def relate(
    X: Matrix,
    space: Space,
    similarity: str | SimilarityFunction,
    out: FloatArray | None = None,
) -> FloatArray:
    """Relative representation of a block of rows.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    space : Space
        The measured space.
    similarity : str or callable
        The similarity it was measured with.
    out : ndarray of shape (n_rows, n_anchors) or None
        Where the result of a linear similarity may be written.

    Returns
    -------
    ndarray of shape (n_rows, n_anchors)
        The representation, dense.
    """
    R = similarities(X, space, similarity, out)
    if space.mix is not None:
        R = R @ space.mix if space.mix.ndim == 2 else np.multiply(R, space.mix, out=R)
    if space.bias is not None:
        R -= space.bias
    return R


def relate_all(
    X: Matrix, space: Space, similarity: str | SimilarityFunction
) -> FloatArray:
    """Relative representation of all rows, block by block.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    space : Space
        The measured space.
    similarity : str or callable
        The similarity it was measured with.

    Returns
    -------
    ndarray of shape (n_rows, n_anchors)
        The representation, in the float type of X.
    """
    result = np.empty((X.shape[0], space.anchors.shape[0]), dtype=X.dtype)
    # CSR rows keep directions of their own float type.
    in_place = not sp.issparse(X) and space.anchors.dtype == X.dtype
    for rows in blocks(X, result.shape[1]):
        out = result[rows] if in_place else None
        R = relate(X[rows], space, similarity, out)
        if R is not out:
            result[rows] = R
    return result


def blocks(X: Matrix, n_anchors: int) -> Iterable[slice]:
    """Row blocks in which a transform stays in cache.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        All rows.
    n_anchors : int
        Number of output columns.

    Returns
    -------
    iterable of slice
        Slices that cover the rows.
    """
    width = 0 if sp.issparse(X) else X.shape[1]
    return row_blocks(X.shape[0], X.dtype.itemsize * (width + n_anchors))


def measure(
    X: Matrix,
    weights: FloatArray,
    anchors: Matrix,
    *,
    similarity: str | SimilarityFunction,
    mean: FloatArray | None,
    whiten: bool,
    scale: bool,
) -> Space:
    """Measure a space: constants from its anchors, moments from its rows.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        The rows of the space.
    weights : ndarray of shape (n_rows,)
        Non-negative weights.
    anchors : {ndarray, CSR matrix or array} of shape (n_anchors, n_features)
        The anchors.
    similarity : str or callable
        The similarity.
    mean : ndarray of shape (n_features,) or None
        The center.
    whiten : bool
        Whether to whiten by the anchors.
    scale : bool
        Whether to standardize coordinates by the rows.

    Returns
    -------
    Space
        The state that :func:`relate` needs, in the float type of X.
    """
    entry = None if callable(similarity) else SIMILARITIES[similarity]
    space = Space(anchors, mean, None, 1.0, 1.0, *[None] * 6)
    # Algebra of the size of the anchors is done in float64 and rounded at the end.
    wide = anchors.astype(np.float64)
    if similarity == "mahalanobis":
        covariance = Moments.of(X, weights).covariance
        space = space._replace(root=metric_root(covariance, X.dtype))
    if entry and entry.directional:
        directions, constant = anchor_directions(
            wide.toarray() if sp.issparse(wide) else wide,
            mean=mean,
            normalize=entry.normalizes,
            root=space.root,
        )
        space = space._replace(directions=directions, constant=constant)
    elif entry:
        space = space._replace(
            constant=anchor_constant(
                relate(wide, space._replace(anchors=wide), similarity)
            )
        )
    if entry and entry.normalizes and entry.decodes:
        space = space._replace(length=mean_norm(X, weights, mean, space.root))
    linear = entry is not None and entry.linear
    if whiten:
        K = relate(wide, space._replace(anchors=wide), similarity)
        whitening = gram_whitening(K)
        space = _fold(space._replace(whitening=whitening), linear, whitening)
    if scale:
        rough = _round(space, X.dtype)
        offset, deviation = coordinate_moments(
            (relate(X[rows], rough, similarity), weights[rows])
            for rows in blocks(X, anchors.shape[0])
        )
        space = _fold(space, linear, 1 / deviation)
        space = space._replace(offset=offset, scale=deviation, bias=offset / deviation)
    return _round(space, X.dtype)


def metric_root(covariance: FloatArray, dtype: Any) -> FloatArray:
    r"""Square root L of the inverse of a covariance, :math:`L L^\top \propto S^{-1}`.

    Columns are brought to unit variance first, so that their units do not decide which
    directions count as lost to rounding; those are left out, as constant columns are.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        The covariance S.
    dtype : dtype
        Float type of the rows: it sets what rounding is.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        The root L.
    """
    deviations = np.sqrt(np.diag(covariance))
    inverse = np.divide(1, deviations, where=deviations > 0, out=0 * deviations)
    correlation = covariance * inverse[:, None] * inverse
    eps = max(float(np.finfo(dtype).eps) ** 2, float(np.finfo(np.float64).eps))
    rtol = 10 * len(covariance) * eps
    root = inverse[:, None] * symmetric_power(correlation, -0.5, rtol=rtol)
    # Its unit cancels in cosines; without one it cannot overflow.
    return root / np.abs(root).max()


def _fold(space: Space, linear: bool, factor: FloatArray) -> Space:
    def by_factor(M: FloatArray) -> FloatArray:
        return M @ factor if factor.ndim == 2 else M * factor

    if linear and space.directions is not None:
        return space._replace(directions=by_factor(space.directions))
    return space._replace(mix=factor if space.mix is None else by_factor(space.mix))


def _round(space: Space, dtype: Any) -> Space:
    # CSR rows are centered after the product, which asks for the digits of float64.
    kept = {"directions"} if sp.issparse(space.anchors) else set()
    rounded: dict[str, Any] = {
        name: part.astype(dtype, copy=False)
        for name, part in space._asdict().items()
        if hasattr(part, "astype") and name not in kept
    }
    return space._replace(**rounded)


def anchor_directions(
    anchors: FloatArray,
    *,
    mean: FloatArray | None,
    normalize: bool,
    root: FloatArray | None,
) -> tuple[FloatArray, float]:
    r"""Directions whose products with centered rows are the similarities.

    Normalized, column j is :math:`(a_j - m) / \|a_j - m\|`; with a metric root L it
    is :math:`L\,u(L^\top (a_j - m))`. Else it is :math:`(a_j - m) / c`, c the mean
    squared norm of the centered anchors, which makes the products free of units.

    Parameters
    ----------
    anchors : ndarray of shape (n_anchors, n_features)
        The anchors, dense.
    mean : ndarray of shape (n_features,) or None
        The center m.
    normalize : bool
        Whether anchors are divided by their norms.
    root : ndarray of shape (n_features, n_features) or None
        The metric root L.

    Returns
    -------
    directions : ndarray of shape (n_features, n_anchors)
        The directions.
    constant : float
        The divisor c; 1 when normalized or when all anchors are zero.
    """
    centered = center_rows(anchors, mean)
    if root is not None:
        return (unit_rows(centered @ root)[0] @ root.T).T, 1.0
    if normalize:
        return unit_rows(centered)[0].T, 1.0
    constant = float(np.mean(unit_rows(centered)[1].astype(np.float64) ** 2)) or 1.0
    return centered.T / constant, constant


def gram_whitening(K: FloatArray) -> FloatArray:
    r"""Matrix that evens out the directions in which the anchors crowd.

    .. math:: W = (|K| + \lambda I)^{-1/2}

    with lambda the mean absolute eigenvalue of K (1 for cosines). The symmetric root
    matters: another one would turn the coordinates differently in every space.

    Parameters
    ----------
    K : ndarray of shape (n_anchors, n_anchors)
        Similarities between the anchors; its symmetric part is used.

    Returns
    -------
    ndarray of shape (n_anchors, n_anchors)
        The matrix W.
    """
    if not K.any():
        return np.eye(len(K), dtype=K.dtype)
    return symmetric_power((K + K.T) / 2, -0.5, ridge=1.0)


def coordinate_moments(
    blocks: Iterable[tuple[FloatArray, FloatArray]],
) -> tuple[FloatArray, FloatArray]:
    """Weighted mean and standard deviation of each column, block by block.

    Parameters
    ----------
    blocks : iterable of (ndarray of shape (n_rows, n_columns), ndarray of (n_rows,))
        Blocks of rows and their weights; blocks are merged exactly (Chan, Golub and
        LeVeque, 1983).

    Returns
    -------
    mean, deviation : ndarray of shape (n_columns,), float64
        A column that is constant to rounding gets the deviation 1.
    """
    total, mean, scatter = 0.0, np.zeros(1), np.zeros(1)
    eps = 0.0
    for values, weights in blocks:
        weight = float(weights.sum())
        if weight == 0:
            continue
        eps = float(np.finfo(values.dtype).eps)
        wide = values.astype(np.float64)
        block_mean = weights @ wide / weight
        gap = block_mean - mean
        total += weight
        mean = mean + gap * (weight / total)
        scatter = scatter + weights @ (wide - block_mean) ** 2
        scatter += gap**2 * (weight * (total - weight) / total)
    deviation = np.sqrt(scatter / total)
    deviation[deviation <= 16 * eps * np.maximum(np.abs(mean), deviation.max())] = 1.0
    return mean, deviation


def keep_largest(R: FloatArray, k: int) -> "sp.csr_array[np.floating]":
    """Keep the k largest entries of every row.

    Parameters
    ----------
    R : ndarray of shape (n_rows, n_columns)
        Dense rows.
    k : int
        At most ``n_columns``.

    Returns
    -------
    csr_array of shape (n_rows, n_columns)
        Exactly k stored entries a row, columns ascending.
    """
    columns = np.sort(np.argpartition(R, -k, axis=1)[:, -k:], axis=1)
    data = np.take_along_axis(R, columns, axis=1).ravel()
    starts = np.arange(0, data.size + 1, k)
    return sp.csr_array((data, columns.ravel(), starts), shape=R.shape)
