"""What a nuisance adds to rows, what a target adds, and the map that removes one."""

from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from skrep.linalg import (
    Moments,
    Whitening,
    fix_signs,
    moment_blocks,
    quantile_edges,
    slice_codes,
)
from skrep.typing import FloatArray
from skrep.utils.targets import Target, check_target

__all__ = [
    "Labels",
    "Removal",
    "Shifts",
    "label_columns",
    "nothing_left",
    "part_shifts",
    "plan_removal",
    "read_labels",
    "shared_covariances",
    "spare",
    "what_stays",
]

N_SLICES = 10
"""Quantile slices of a numeric nuisance."""

LEAST_LEFT = 0.25
"""Share of a squared distance between classes that a removal must leave."""

# A correlation under this one is rounding, and a share of variance under that one.
_NONE = 1e-6
_TOLD = 1e-20


class Labels(NamedTuple):
    """Labels as centered columns, alike in size.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_columns), float64
        One row per row.
    corners : ndarray of shape (n_corners, n_columns), float64
        One row per class; for a number, its mean and one standard deviation above.
    """

    columns: FloatArray
    corners: FloatArray


class Shifts(NamedTuple):
    r"""What one set of columns adds to whitened rows, beyond what another set tells.

    Parameters
    ----------
    standard : ndarray of shape (rank, n_shifts)
        Covariances with standardized columns, after regression on the other set; there
        are none where the other set tells the columns.
    effects : ndarray of shape (rank, n_columns)
        Coefficients of the columns where rows are regressed on both sets; those of
        least norm.
    """

    standard: FloatArray
    effects: FloatArray


class Removal(NamedTuple):
    r"""The map :math:`x \mapsto x - \sum_j (x - m)^\top f_j \, b_j`, and its figures.

    Parameters
    ----------
    directions : ndarray of shape (n_removed, n_features)
        The unit vectors b, the one that told most of the nuisance first; the largest
        entry of each is positive.
    detectors : ndarray of shape (n_removed, n_features)
        The vectors f.
    leak : tuple of float
        Mean squared partial canonical correlations of rows and nuisance, before and
        after.
    target_kept : float
        Share of the Fisher criterion of the target that is left; NaN where that is 0.
    n_spared : int
        Directions that stay for the sake of the target.
    """

    directions: FloatArray
    detectors: FloatArray
    leak: tuple[float, float]
    target_kept: float
    n_spared: int


def read_labels(
    who: str, name: str, values: Any, weights: FloatArray
) -> tuple[Target, FloatArray]:
    """Read labels or numbers of the rows that count.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    name : str
        The argument.
    values : array-like of shape (n_rows,)
        Its value.
    weights : ndarray of shape (n_rows,)
        Weights of the rows; those of weight zero have no say.

    Returns
    -------
    target : Target
        The kind, and the codes or numbers of the rows that count.
    weights : ndarray of shape (n_kept,)
        Their weights.
    """
    kept = weights > 0
    if not kept.all() and _num_samples(values) == len(kept):
        values = _safe_indexing(values, np.flatnonzero(kept))
        weights = weights[kept]
    target = check_target(who, values, len(weights), parameter=None, name=name)
    return target, weights


def label_columns(target: Target, weights: FloatArray, *, slices: bool) -> Labels:
    r"""Make centered columns of labels, alike in size.

    Parameters
    ----------
    target : Target
        Classes or numbers.
    weights : ndarray of shape (n_rows,)
        Positive weights of the rows.
    slices : bool
        Whether numbers are cut into quantile slices, which are classes then. Else they
        are one column of variance 1, or of zeros.

    Returns
    -------
    Labels
        For classes of shares p the columns are :math:`(1[\text{class } c] - p_c) /
        \sqrt{p_c}`. Their covariance is a projection of rank n_classes - 1.
    """
    codes = target.values
    shares = weights / weights.sum()
    if target.classes is None and not slices:
        corners = np.array([[0.0], [1.0]])
        gaps = codes - shares @ codes
        size = np.abs(gaps).max()
        if size <= 16 * 2.0**-52 * np.abs(codes).max():
            return Labels(np.zeros((len(codes), 1)), corners)
        gaps = gaps / size
        return Labels((gaps / np.sqrt(shares @ gaps**2))[:, None], corners)
    if target.classes is None:
        codes = slice_codes(codes, quantile_edges(codes, N_SLICES, weights))
    roots = np.sqrt(np.bincount(codes, shares))
    corners = np.diag(1 / roots) - roots
    return Labels(corners[codes], corners)


def shared_covariances(
    X: FloatArray, moments: Moments, columns: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Covariances of the rows with centered columns, and of those with each other.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    moments : Moments
        Their moments.
    columns : ndarray of shape (n_rows, n_columns)
        Centered columns.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.

    Returns
    -------
    cross : ndarray of shape (n_features, n_columns)
        Covariances with the rows.
    inner : ndarray of shape (n_columns, n_columns)
        Covariances of the columns.
    """
    loads = columns * (weights / moments.weight)[:, None]
    cross = np.zeros((X.shape[1], columns.shape[1]))
    for rows in moment_blocks(X):
        cross += (X[rows] - moments.mean).T @ loads[rows]
    return cross, columns.T @ loads


def moments_within(
    X: FloatArray,
    moments: Moments,
    columns: FloatArray,
    weights: FloatArray,
    effects: FloatArray,
) -> Moments:
    """Measure rows about their linear regression on columns.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    moments : Moments
        Their moments.
    columns : ndarray of shape (n_rows, n_columns)
        Centered columns; none leave the moments as they are.
    weights : ndarray of shape (n_rows,)
        Weights of the rows.
    effects : ndarray of shape (n_features, n_columns)
        Coefficients of the regression.

    Returns
    -------
    Moments
        The mean of the rows, and the scatter of what the columns do not tell. It is
        zero for features that they tell but for rounding.
    """
    if not columns.shape[1]:
        return moments
    scatter = np.zeros_like(moments.scatter)
    for rows in moment_blocks(X):
        gaps = X[rows] - moments.mean - columns[rows] @ effects.T
        gaps *= np.sqrt(weights[rows])[:, None]
        scatter += gaps.T @ gaps
    told = np.diag(scatter) <= _TOLD * np.diag(moments.scatter)
    scatter[told] = scatter[:, told] = 0
    return Moments(moments.weight, moments.mean, scatter)


def part_shifts(
    cross: FloatArray, inner: FloatArray, own: slice, other: slice
) -> Shifts:
    r"""Shift whitened rows by one set of columns, beyond what another set tells.

    With N the columns of one set and Y those of the other, and dots for N less its
    linear regression on Y,

    .. math:: G = \operatorname{cov}(z, \dot N) \operatorname{cov}(\dot N)^{-1/2},
        \qquad B = \operatorname{cov}(z, \dot N) \operatorname{cov}(\dot N)^{-1},

    of one span.

    Parameters
    ----------
    cross : ndarray of shape (rank, n_columns)
        Covariances of whitened rows with all columns.
    inner : ndarray of shape (n_columns, n_columns)
        Covariances of the columns.
    own, other : slice
        The two sets.

    Returns
    -------
    Shifts
        G and B.
    """
    root = _inverse_root(inner[other, other])
    told = inner[own, other] @ root
    left = _inverse_root(inner[own, own] - told @ told.T)
    standard = (cross[:, own] - cross[:, other] @ root @ told.T) @ left
    return Shifts(standard, standard @ left.T)


def plan_removal(
    nuisance: Shifts,
    target: Shifts,
    corners: FloatArray,
    n_components: int,
    white: Whitening,
) -> Removal:
    r"""Plan the least change that removes the shifts of a nuisance.

    In coordinates z of identity covariance about their regression on the target this is
    :math:`z - K K^\top z`, with K the leading left singular vectors of the shifts, but
    for those that the target needs.

    Parameters
    ----------
    nuisance, target : Shifts
        Shifts of whitened rows.
    corners : ndarray of shape (n_corners, n_columns)
        Those of the target.
    n_components : int
        Number of directions to remove; fewer are where there are no more.
    white : Whitening
        The whitening.

    Returns
    -------
    Removal
        The map in the coordinates of the rows.
    """
    vectors, sizes, _ = np.linalg.svd(nuisance.standard, full_matrices=False)
    leading = vectors[:, sizes > _NONE][:, :n_components]
    kernel = spare(leading, corners @ target.effects.T)
    order = np.linalg.svd(kernel.T @ nuisance.standard, full_matrices=False)[0]
    kernel = kernel @ order
    directions, detectors = kernel.T @ white.inverse, kernel.T @ white.map.T
    lengths = np.linalg.norm(directions, axis=1)[:, None]
    signed = fix_signs(directions / lengths)
    turned = np.sign(np.sum(signed * directions, axis=1))[:, None]
    n_shifts = max(nuisance.standard.shape[1], 1)
    share = _squares(nuisance.standard) / n_shifts
    lost = _squares(kernel.T @ nuisance.standard) / n_shifts
    told = _squares(target.standard)
    kept = 1 - _squares(kernel.T @ target.standard) / told if told > _NONE**2 else None
    return Removal(
        signed,
        detectors * lengths * turned,
        (share, max(share - lost, 0.0)),
        float("nan") if kept is None else kept,
        leading.shape[1] - kernel.shape[1],
    )


def spare(kernel: FloatArray, points: FloatArray) -> FloatArray:
    """Take out of a kernel what would bring two points too near to each other.

    While the projection along the kernel leaves a pair less than `LEAST_LEFT` of its
    squared distance, the direction of the kernel nearest to that of the worst such pair
    is taken out.

    Parameters
    ----------
    kernel : ndarray of shape (rank, n_directions)
        Orthonormal columns.
    points : ndarray of shape (n_points, rank)
        The points.

    Returns
    -------
    ndarray of shape (rank, n_kept)
        Orthonormal columns of a part of their span.
    """
    whole = _square_distances(points)
    apart = whole > _NONE**2 * max(1.0, whole.max(initial=0.0))
    whole[~apart] = 1
    while kernel.shape[1]:
        lost = np.where(apart, _square_distances(points @ kernel) / whole, 0)
        worst = np.unravel_index(np.argmax(lost), lost.shape) if lost.size else (0, 0)
        if not lost.size or lost[worst] <= 1 - LEAST_LEFT:
            break
        along = (points[worst[0]] - points[worst[1]]) @ kernel
        kernel = kernel @ scipy.linalg.null_space(along[None])
    return kernel


def _square_distances(points: FloatArray) -> FloatArray:
    squares = np.sum(points**2, axis=1)
    found: FloatArray = squares[:, None] + squares - 2 * points @ points.T
    return found


def nothing_left(who: str, n_labels: int, rank: int) -> str:
    """Say that a removal would take everything.

    Parameters
    ----------
    who : str
        The estimator.
    n_labels : int
        Number of classes or slices of the nuisance.
    rank : int
        Number of dimensions of the rows.

    Returns
    -------
    str
        The text of an error.
    """
    fewer = f"n_components={rank - 1}, or " if rank > 1 else ""
    return (
        f"{who}: 'nuisance' has {n_labels} classes or slices, and X has {rank} "
        f"dimensions beside 'y': nothing would be left. Pass {fewer}rows of more "
        "columns."
    )


def what_stays(who: str, removal: Removal) -> str:
    """Say why nuisance directions stay.

    Parameters
    ----------
    who : str
        The estimator.
    removal : Removal
        What was planned.

    Returns
    -------
    str
        The text of a warning.
    """
    n_removed, n_spared = len(removal.directions), removal.n_spared
    if n_spared:
        return (
            f"{who}: {n_spared} of {n_removed + n_spared} directions that tell "
            "'nuisance' stay, as 'y' needs them: without them less than "
            f"{LEAST_LEFT:.0%} of a squared distance between classes of 'y' would be "
            "left. Pass y=None to remove them all the same."
        )
    return (
        f"{who}: 'nuisance' cannot be told from the rows, or is told by 'y', and "
        "nothing is removed. Pass a nuisance of two classes or more, which differ in X "
        "among rows of the same y."
    )


def _squares(M: FloatArray) -> float:
    return float(np.sum(M**2))


def _inverse_root(K: FloatArray) -> FloatArray:
    """Tall matrix M with M M' the pseudo-inverse of K, whose values are up to one."""
    values, vectors = np.linalg.eigh(K)
    kept = values > _NONE
    root: FloatArray = vectors[:, kept] / np.sqrt(values[kept])
    return root
