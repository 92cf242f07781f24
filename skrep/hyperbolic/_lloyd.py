"""Lloyd's iteration in the Poincare ball, and where it starts."""

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skrep.geometry import poincare
from skrep.typing import FloatArray, IntArray

__all__ = ["Clusters", "lloyd", "search", "spread_out"]

# A later start replaces an earlier one if it is better by more than rounding.
_BETTER = 1 - 1e-9


class Clusters(NamedTuple):
    """Centers after some steps.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_components)
        Points of the ball.
    inertia : float
        Weighted sum of the squared distances of points to their nearest centers.
    n_iter : int
        Steps so far.
    converged : bool
        Whether no more are needed.
    """

    centers: FloatArray
    inertia: float
    n_iter: int
    converged: bool


def spread_out(
    points: FloatArray,
    weights: FloatArray,
    n_clusters: int,
    random_state: np.random.RandomState,
) -> FloatArray:
    """Draw first centers that are far apart: k-means++ by hyperbolic distances.

    Every next one is drawn in proportion to the weighted squared distance from those
    before; of some candidates the one that leaves the least inertia stays.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball that differ.
    weights : ndarray of shape (n_points,)
        Positive weights.
    n_clusters : int
        How many to draw.
    random_state : RandomState
        Where uniform numbers come from.

    Returns
    -------
    ndarray of shape (n_clusters, n_components)
        Some of the points.
    """
    n_candidates = 2 + int(math.log(n_clusters))
    drawn = _draw(weights, random_state.uniform(size=1))
    squares = poincare.pairwise_distances(points[drawn], points)[0] ** 2
    chosen = [int(drawn[0])]
    for _ in range(1, n_clusters):
        drawn = _draw(weights * squares, random_state.uniform(size=n_candidates))
        left = poincare.pairwise_distances(points[drawn], points) ** 2
        np.minimum(left, squares, out=left)
        best = int(np.argmin(left @ weights))
        chosen.append(int(drawn[best]))
        squares = left[best]
    return points[chosen]


def lloyd(
    points: FloatArray,
    weights: FloatArray,
    centers: FloatArray,
    max_iter: int,
    least_move: float,
) -> Iterator[Clusters]:
    """Move centers to the Frechet means of the points that are nearest to them.

    A center without points moves to the point that is farthest from its own.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball.
    weights : ndarray of shape (n_points,)
        Positive weights.
    centers : ndarray of shape (n_clusters, n_components)
        First centers.
    max_iter : int
        The largest number of steps.
    least_move : float
        Centers whose squared moves sum to no more than this stand still.

    Yields
    ------
    Clusters
        The clusters after each step.
    """
    labels, squares = _nearest(points, centers)
    for step in range(1, max_iter + 1):
        _fill(labels, squares, len(centers))
        moved = _means(points, weights, labels, centers)
        move = float(np.sum(poincare.distance(moved, centers) ** 2))
        before, centers = labels, moved
        labels, squares = _nearest(points, centers)
        converged = move <= least_move or bool(np.array_equal(before, labels))
        yield Clusters(centers, float(weights @ squares), step, converged)
        if converged:
            return


def search(
    points: FloatArray,
    weights: FloatArray,
    n_clusters: int,
    *,
    n_init: int,
    max_iter: int,
    tol: float,
    random_state: np.random.RandomState,
) -> Iterator[tuple[Clusters, bool]]:
    """Run from several starts.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball that differ.
    weights : ndarray of shape (n_points,)
        Positive weights.
    n_clusters : int
        Number of centers.
    n_init : int
        Number of starts.
    max_iter : int
        Number of steps from each, at most.
    tol : float
        Share of the mean squared distance of the points from their mean, that centers
        may move when they stand still.
    random_state : RandomState
        Randomness of the starts.

    Yields
    ------
    best : Clusters
        The best so far.
    last : bool
        Whether this was the last step.
    """
    mean = poincare.frechet_mean(points, weights)
    variance = np.average(poincare.distance(points, mean) ** 2, weights=weights)
    best = None
    for start in range(n_init):
        centers = spread_out(points, weights, n_clusters, random_state)
        found = best
        for run in lloyd(points, weights, centers, max_iter, tol * float(variance)):
            better = best is None or run.inertia < _BETTER * best.inertia
            found = run if better else best
            done = run.converged or run.n_iter == max_iter
            assert found is not None
            yield found, done and start == n_init - 1
        best = found


def _draw(shares: FloatArray, uniform: FloatArray) -> IntArray:
    """Positions drawn in proportion to shares."""
    sums = np.cumsum(shares)
    drawn = np.searchsorted(sums, uniform * sums[-1], side="right")
    return np.minimum(drawn, len(shares) - 1)


def _nearest(points: FloatArray, centers: FloatArray) -> tuple[IntArray, FloatArray]:
    """The nearest center of every point, and the squared distance."""
    distances = poincare.pairwise_distances(points, centers)
    labels = np.argmin(distances, axis=1)
    return labels, distances[np.arange(len(points)), labels] ** 2


def _fill(labels: IntArray, squares: FloatArray, n_clusters: int) -> None:
    """Give empty clusters the points that are farthest from their centers, in place."""
    empty = np.flatnonzero(np.bincount(labels, minlength=n_clusters) == 0)
    if len(empty):
        farthest = np.argsort(-squares, kind="stable")[: len(empty)]
        labels[farthest] = empty


def _means(
    points: FloatArray, weights: FloatArray, labels: IntArray, centers: FloatArray
) -> FloatArray:
    moved = centers.copy()
    for cluster in range(len(centers)):
        members = labels == cluster
        if members.any():
            moved[cluster] = poincare.frechet_mean(points[members], weights[members])
    return moved
