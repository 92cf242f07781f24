"""From Stein moments to ordered directions, and to how many of them there are."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.index_model._features import Features
from skrep.index_model._noise import first_order_edge, second_order
from skrep.typing import FloatArray

__all__ = ["Axes", "dimensions", "first_order", "index_axes", "matrix_axes"]

# Eigenvalues as near to each other as this, in units of the largest, are equal.
_TIE = 1e-9


class Axes(NamedTuple):
    """Directions in whitened coordinates.

    Parameters
    ----------
    directions : ndarray of shape (rank, n_available)
        Orthonormal columns, the most telling first.
    eigenvalues : ndarray of shape (n_available,)
        What each is worth.
    noise_edge : float
        An eigenvalue of no larger size may be noise.
    """

    directions: FloatArray
    eigenvalues: FloatArray
    noise_edge: float


def matrix_axes(
    M: FloatArray, noise_edge: float, n_available: int, spread: FloatArray
) -> Axes:
    """Eigenvectors of one candidate matrix.

    Parameters
    ----------
    M : ndarray of shape (rank, rank)
        Symmetric matrix; the sizes of its eigenvalues count.
    noise_edge : float
        The edge of noise.
    n_available : int
        Number of directions it can have.
    spread : ndarray of shape (rank, rank)
        Covariance that tells which of equally good directions comes first: that of
        larger variance.

    Returns
    -------
    Axes
        The leading eigenvectors.
    """
    values, vectors = _ordered(M, spread, n_available)
    return Axes(vectors[:, :n_available], values[:n_available], noise_edge)


def index_axes(
    features: list[Features], n_rows: float, order: int | str, spread: FloatArray
) -> Axes:
    r"""Directions that the responses tell apart.

    Of numbers, order one and two are added, :math:`\sum_g a_g a_g^\top + \sum_h C_h^2 /
    (2 \kappa)`, with those eigenvalues of :math:`C_h` set to zero that may be noise and
    its variance :math:`\kappa`. Of classes, order two comes in the complement of what
    order one has beyond its noise edge. Other directions follow by the same sum with
    nothing set to zero.

    Parameters
    ----------
    features : list of Features
        Moments of each response, those of order two included unless `order` is 1.
    n_rows : float
        Number of rows.
    order : {1, 2, "both"}
        Which moments take part.
    spread : ndarray of shape (rank,)
        Which of equally good directions comes first: that of larger spread.

    Returns
    -------
    Axes
        As many directions as there can be.
    """
    first = first_order(features)
    rank = len(first)
    dims = sum(dimensions(one) for one in features)
    # The matrix is a mean over responses, which may be much alike.
    edge = max(first_order_edge(n_rows, rank, dimensions(one)) for one in features)
    if order == 1:
        return matrix_axes(first, edge, min(rank, dims), np.diag(spread))
    second = second_order(features, n_rows)
    cleaned = _squares(second.cleaned(), len(features)) / 2
    raw = _squares(second.matrices, len(features)) / 2
    if order == 2:
        least = float(np.median(second.edges)) ** 2 / 2 / len(features)
        return _staged([(cleaned, 0.0)], raw, cleaned, least, spread)
    M = first + cleaned / second.excess
    # With fewer rows noise of order two would drown order one.
    every = first + raw / second.excess if n_rows > 2 * rank else M
    if features[0].shares is not None and not features[0].ordered:
        return _staged([(first, edge), (cleaned, 0.0)], every, first, edge, spread)
    return _staged([(M, edge)], every, M, edge, spread)


def first_order(features: list[Features]) -> FloatArray:
    r"""Candidate matrix of order one, :math:`\sum_g a_g a_g^\top`.

    Parameters
    ----------
    features : list of Features
        Moments of each response.

    Returns
    -------
    ndarray of shape (rank, rank)
        The mean over the responses.
    """
    matrices = [one.first.T @ one.first for one in features]
    return np.mean(matrices, axis=0)


def dimensions(one: Features) -> int:
    """Count the dimensions of the features of a response.

    Parameters
    ----------
    one : Features
        The features; those of slices sum to zero.

    Returns
    -------
    int
        Their number, less one for slices.
    """
    return len(one.first) - (one.shares is not None)


def _squares(matrices: FloatArray, n_responses: int) -> FloatArray:
    wide = np.concatenate(list(matrices), axis=1)
    return wide @ wide.T / n_responses


def _ordered(
    M: FloatArray, spread: FloatArray, n_needed: int
) -> tuple[FloatArray, FloatArray]:
    """Sizes of eigenvalues, decreasing, and eigenvectors; `spread` settles ties."""
    values, vectors = scipy.linalg.eigh(M)
    order = np.argsort(-np.abs(values), kind="stable")
    sizes, vectors = np.abs(values[order]), vectors[:, order]
    tied = -np.diff(sizes) <= _TIE * sizes.max(initial=0.0)
    ends = np.concatenate([np.flatnonzero(~tied) + 1, [len(sizes)]])
    starts = np.concatenate([[0], ends[:-1]])
    for start, end in zip(starts, ends, strict=True):
        if end > start + 1 and start < n_needed:
            part = vectors[:, start:end]
            _, turn = scipy.linalg.eigh(part.T @ spread @ part)
            vectors[:, start:end] = part @ turn[:, ::-1]
    return sizes, vectors


def _staged(
    stages: list[tuple[FloatArray, float]],
    rest: FloatArray,
    worth: FloatArray,
    noise_edge: float,
    spread: FloatArray,
) -> Axes:
    """Axes beyond the edge of each stage, each in the complement of those before.

    The matrix `rest` orders what is left, noise or not; what that is worth, `worth`
    tells.
    """
    basis = np.eye(len(rest))
    taken, values = [], []
    for M, edge in stages:
        found, vectors = _ordered(basis.T @ M @ basis, _inner(spread, basis), len(rest))
        least = max(edge, _TIE * max(found.max(initial=0.0), 1e-6))
        count = int(np.count_nonzero(found > least))
        taken.append(basis @ vectors[:, :count])
        values.append(found[:count])
        basis = basis @ vectors[:, count:]
    _, vectors = _ordered(basis.T @ rest @ basis, _inner(spread, basis), len(rest))
    taken.append(basis @ vectors)
    left = np.einsum("ij,ij->j", taken[-1], worth @ taken[-1])
    values.append(np.where(left > _TIE * np.abs(worth).max(initial=0.0), left, 0.0))
    return Axes(np.hstack(taken), np.concatenate(values), noise_edge)


def _inner(spread: FloatArray, basis: FloatArray) -> FloatArray:
    product: FloatArray = (basis.T * spread) @ basis
    return product
