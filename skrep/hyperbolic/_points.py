"""Rows of a table as points of the Poincare ball, and back."""

from typing import Any

import numpy as np

from skrep.exceptions import ThinDataWarning
from skrep.geometry import poincare, row_norms
from skrep.geometry._hyperbolic import gaps
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks, warn

__all__ = [
    "as_rows",
    "check_in_ball",
    "distances_to",
    "distinct_points",
    "in_ball",
    "warn_of_far",
]


def check_in_ball(who: str, X: FloatArray) -> None:
    """Refuse rows that are not inside the unit ball.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    X : ndarray of shape (n_rows, n_components)
        Rows.

    Raises
    ------
    ValueError
        If there is one; the message names the first.
    """
    for rows in _blocks(X):
        outside = np.isnan(gaps(X[rows].astype(np.float64, copy=False)))
        if outside.any():
            row = rows.start + int(np.argmax(outside))
            raise ValueError(
                f"{who}: 'X' has a row that is not inside the unit ball: row {row}, of "
                f"norm {row_norms(X[row : row + 1])[0]:g}. Pass "
                'skrep.geometry.poincare.project(X), or input="tangent" if rows are '
                "tangent vectors."
            )


def in_ball(X: FloatArray, kind: str) -> FloatArray:
    """Map rows to points of the ball.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_components)
        Rows.
    kind : {"tangent", "ball"}
        What they are: tangent vectors at the origin, or points.

    Returns
    -------
    ndarray of shape (n_rows, n_components), float64
        Points; those beyond what float64 can hold are pulled in.
    """
    rows = X.astype(np.float64, copy=False)
    return poincare.exp_map_origin(rows) if kind == "tangent" else rows


def as_rows(points: FloatArray, kind: str, dtype: Any) -> FloatArray:
    """Give points of the ball the form that rows of the table have.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball.
    kind : {"tangent", "ball"}
        What rows are.
    dtype : dtype
        Type of the rows.

    Returns
    -------
    ndarray of shape (n_points, n_components)
        Rows, such that `in_ball` gives the points, but for rounding.
    """
    if kind == "tangent":
        return poincare.log_map_origin(points).astype(dtype, copy=False)
    return poincare.project(points.astype(dtype, copy=False))


def distances_to(X: FloatArray, points: FloatArray, kind: str) -> FloatArray:
    """Compute distances from rows to some points of the ball, block by block.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_components)
        Rows.
    points : ndarray of shape (n_points, n_components)
        Points of the ball, float64.
    kind : {"tangent", "ball"}
        What rows are.

    Returns
    -------
    ndarray of shape (n_rows, n_points)
        Hyperbolic distances, in the type of X.
    """
    out = np.empty((len(X), len(points)), X.dtype)
    for rows in _blocks(X):
        out[rows] = poincare.pairwise_distances(in_ball(X[rows], kind), points)
    return out


def warn_of_far(who: str, X: FloatArray, kind: str) -> None:
    """Warn of tangent vectors that are longer than the radius of float64.

    Parameters
    ----------
    who : str
        The estimator that is named.
    X : ndarray of shape (n_rows, n_components)
        Rows.
    kind : {"tangent", "ball"}
        What they are.

    Warns
    -----
    ThinDataWarning
        If there are such rows; the message tells how many.
    """
    if kind == "ball":
        return
    limit = poincare.max_radius(np.float64)
    lengths = np.concatenate([row_norms(X[rows]) for rows in _blocks(X)])
    n_far = np.count_nonzero(lengths > limit)
    if n_far:
        warn(
            f"{who}: {n_far} of {len(X)} rows of 'X' are longer than {limit:.4g}, the "
            "largest hyperbolic radius of float64, and are pulled in to it. Divide all "
            f"rows by one number first, such as {lengths.max() / 5:.3g}.",
            ThinDataWarning,
        )


def distinct_points(
    points: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Merge equal points, and sort them from the origin outwards.

    So what is drawn from them does not depend on the order of rows, nor on a rotation
    about the origin, and a weight of 2 is a point twice.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball.
    weights : ndarray of shape (n_points,)
        Their weights; points of weight 0 are left out.

    Returns
    -------
    points : ndarray of shape (n_distinct, n_components)
        Points that differ.
    weights : ndarray of shape (n_distinct,)
        Sums of their weights.
    """
    kept = weights > 0
    distinct, places = np.unique(points[kept], axis=0, return_inverse=True)
    sums: FloatArray = np.asarray(np.bincount(places.ravel(), weights[kept]), float)
    order: IntArray = np.argsort(row_norms(distinct), kind="stable")
    return distinct[order], sums[order]


def _blocks(X: FloatArray) -> Any:
    return row_blocks(len(X), row_bytes=8 * 8 * X.shape[1])
