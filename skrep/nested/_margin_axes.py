"""Axes along which the pairs of rows that lie nearest stay apart."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.linalg import Moments
from skrep.nested._margin_pairs import Pairs, lower_mean
from skrep.typing import FloatArray

__all__ = ["Axis", "greedy_axes"]

# Residual principal axes from which the best is taken as the start of an ascent.
_STARTS = 4


class Axis(NamedTuple):
    """A unit direction, its objective value, and how the ascent went."""

    direction: FloatArray
    value: float
    n_iter: int
    converged: bool


def greedy_axes(
    rows: FloatArray,
    weights: FloatArray,
    pairs: Pairs,
    *,
    share: float,
    alpha: float,
    max_iter: int,
    tol: float,
) -> Iterator[Axis]:
    r"""Find axis after axis, each the best that the ascent finds given the earlier.

    The objective of a unit direction w is the mean of the smallest share of
    :math:`|w^\top (x_i - x_l)|` over the pairs minus
    :math:`\alpha s \sum_j (w_j^\top w)^2` over the earlier axes, with s the standard
    deviation of the rows along their first principal axis. The start is the best of
    four leading principal axes, projected off the earlier axes.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Centered rows, not all zero.
    weights : ndarray of shape (n_rows,)
        Their weights.
    pairs : Pairs
        Positions of rows.
    share, alpha, tol : float
        See `MarginProjection`.
    max_iter : int
        Largest number of steps of one ascent.

    Yields
    ------
    Axis
        Axes of shape (n_features,). Once the span of the rows is used up,
        orthonormal axes off it, of value 0.
    """
    variances, basis = scipy.linalg.eigh(Moments.of(rows, weights).covariance)
    variances, basis = variances[::-1], basis[:, ::-1]
    floor = 10 * max(rows.shape) * np.finfo(np.float64).eps * variances[0]
    rank = int(np.sum(variances > floor))
    unit = float(np.sqrt(variances[0]))
    used, places = np.unique(np.r_[pairs.first, pairs.second], return_inverse=True)
    first, second = np.split(places, 2)
    paired = Pairs(first, second, pairs.weights)
    objective = _Objective(rows[used] @ basis[:, :rank] / unit, paired, share, alpha)
    residual = _Residual(np.eye(rank), np.diag(variances[:rank] / variances[0]), rank)
    earlier = np.zeros((0, rank))
    while residual.dimension:
        axis = _climb(objective, _starts(residual), earlier, max_iter, tol)
        earlier = np.vstack([earlier, axis.direction])
        residual = _without(residual, axis.direction)
        yield axis._replace(
            direction=basis[:, :rank] @ axis.direction, value=axis.value * unit
        )
    for direction in basis[:, rank:].T:
        yield Axis(direction, 0.0, 0, True)


class _Residual(NamedTuple):
    """The projection off the chosen axes, the covariance there, its dimension."""

    off: FloatArray
    covariance: FloatArray
    dimension: int


def _starts(residual: _Residual) -> FloatArray:
    """Coordinate axes projected off the chosen ones, of largest variance, as rows."""
    free = np.diag(residual.off)
    usable = free > 0.25 * residual.dimension / len(free)
    variances = np.full(len(free), -1.0)
    variances[usable] = np.diag(residual.covariance)[usable] / free[usable]
    best = np.argsort(-variances, kind="stable")[: min(_STARTS, int(usable.sum()))]
    starts = residual.off[best]
    return starts / np.linalg.norm(starts, axis=1, keepdims=True)


def _without(residual: _Residual, direction: FloatArray) -> _Residual:
    """Take a chosen axis out; one that adds no dimension changes nothing."""
    off, covariance, dimension = residual
    fresh = off @ direction
    size = np.linalg.norm(fresh)
    if size < 1e-6:
        return residual
    fresh /= size
    image = covariance @ fresh
    crossed = np.outer(fresh, image - (fresh @ image) / 2 * fresh)
    return _Residual(
        off - np.outer(fresh, fresh), covariance - crossed - crossed.T, dimension - 1
    )


class _Objective(NamedTuple):
    rows: FloatArray
    pairs: Pairs
    share: float
    alpha: float


class _Point(NamedTuple):
    """A direction's coordinates of the rows, overlaps with earlier axes, and value."""

    z: FloatArray
    overlaps: FloatArray
    value: float
    pulls: FloatArray


def _at(objective: _Objective, z: FloatArray, overlaps: FloatArray) -> _Point:
    """Evaluate a direction; the pull of a pair is its share of the subgradient."""
    _, pairs, share, alpha = objective
    gaps = z[pairs.first] - z[pairs.second]
    mean, kept = lower_mean(np.abs(gaps), pairs.weights, share)
    value = mean - alpha * float(overlaps @ overlaps)
    return _Point(z, overlaps, value, np.sign(gaps) * kept)


def _subgradient(
    objective: _Objective, w: FloatArray, point: _Point, earlier: FloatArray
) -> FloatArray:
    """Subgradient along the sphere."""
    rows, pairs, _, alpha = objective
    force = np.bincount(pairs.first, point.pulls, len(rows))
    force -= np.bincount(pairs.second, point.pulls, len(rows))
    g: FloatArray = force @ rows - 2 * alpha * (point.overlaps @ earlier)
    return g - (g @ w) * w


def _climb(
    objective: _Objective,
    starts: FloatArray,
    earlier: FloatArray,
    max_iter: int,
    tol: float,
) -> Axis:
    """Ascend by conjugate subgradients from the best start; the value never falls."""
    coordinates = (objective.rows @ starts.T).T
    points = [
        _at(objective, z, earlier @ w) for z, w in zip(coordinates, starts, strict=True)
    ]
    best = int(np.argmax([point.value for point in points]))
    w, point, angle = starts[best], points[best], 0.3
    last = heading = np.zeros_like(w)
    for n_iter in range(1, max_iter + 1):
        g = _subgradient(objective, w, point, earlier)
        turn = max(0.0, float(g @ (g - last)) / max(float(last @ last), 1e-300))
        heading = g + turn * (heading - (heading @ w) * w) if last.any() else g
        if heading @ g <= 0:
            heading = g
        length = float(np.linalg.norm(heading))
        if length <= 1e-12:
            return Axis(w, point.value, n_iter, True)
        u = heading / length
        found = _search(objective, point, objective.rows @ u, earlier @ u, angle)
        if found is None:
            return Axis(w, point.value, n_iter, True)
        angle, reached = found
        w = np.cos(angle) * w + np.sin(angle) * u
        w = w / np.linalg.norm(w)
        gain, point, last = reached.value - point.value, reached, g
        if gain <= tol * reached.value:
            return Axis(w, point.value, n_iter, True)
    return Axis(w, point.value, max_iter, False)


def _search(
    objective: _Objective, start: _Point, zu: FloatArray, ou: FloatArray, angle: float
) -> tuple[float, _Point] | None:
    """Halve the angle of a great circle until the value rises, on while it rises."""
    found = None
    angle = min(2 * angle, 1.0)
    while angle > 1e-6:
        cos, sin = np.cos(angle), np.sin(angle)
        tried = _at(
            objective, cos * start.z + sin * zu, cos * start.overlaps + sin * ou
        )
        if tried.value > (start if found is None else found[1]).value:
            found = angle, tried
        elif found is not None:
            break
        angle /= 2
    return found
