"""Exact hyperbolic scaling: from distances to points, and its closed form for more."""

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from skrep.geometry import poincare
from skrep.linalg import fix_signs
from skrep.typing import FloatArray

__all__ = [
    "Solution",
    "choose_scale",
    "effective_rank",
    "place",
    "solve",
    "stress",
]

LIMIT = float(np.log(2 / np.finfo(np.float64).eps))
"""Largest distance after scaling: there a hyperbolic cosine ends in units of 1."""

# Largest distances, after scaling, that the choice of a scale looks at first.
_REACHES = 30 / 2.5 ** np.arange(6)
# Relative width of the bracket in which the choice ends.
_WIDTH = 0.01
_STEPS = 12
# Mean relative errors that differ by less are equal.
_TIE = 1e-6
# Rows whose largest distance is below this are all equal.
_NOTHING = 1e-300
# Pairs nearer than this share of the largest distance are copies.
_COPIES = 1e-6
_RESTARTS = 300


class Solution(NamedTuple):
    """Points that stand for distances, and what places others beside them.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball, the pseudo-Euclidean center of the points at the origin.
    values : ndarray of shape (n_components,)
        Leading eigenvalues, decreasing; 0 for a column of zeros.
    weights : ndarray of shape (n_points, n_components)
        What turns the hyperbolic cosines of distances into coordinates.
    """

    points: FloatArray
    values: FloatArray
    weights: FloatArray


def solve(distances: FloatArray, n_components: int) -> Solution:
    r"""Find the points whose inner products are nearest to those of the distances.

    With :math:`Y = \cosh D` and the leading positive eigenpairs
    :math:`-Y u_k = \lambda_k u_k`, the space-like coordinates are
    :math:`X = (\sqrt{\lambda_k}\, u_k)_k`, the time-like one is
    :math:`\sqrt{1 + |x|^2}`.

    Parameters
    ----------
    distances : ndarray of shape (n_points, n_points)
        Symmetric, at most `LIMIT`, zero on the diagonal.
    n_components : int
        Dimension of the ball.

    Returns
    -------
    Solution
        The points. Columns beyond the positive eigenvalues are zero.
    """
    products = np.cosh(distances)
    np.negative(products, out=products)
    size = -products.sum(axis=1).min()
    found, vectors = _leading(products, n_components)
    smallest = 10 * len(products) * np.finfo(np.float64).eps * size
    rank = int(np.count_nonzero(found > smallest))
    roots = np.sqrt(found[:rank])
    axes = fix_signs(vectors[:, :rank].T).T
    padding = (0, n_components - rank)
    return Solution(
        _to_ball(np.pad(axes * roots, ((0, 0), padding)), np.ones(len(axes))),
        np.pad(found[:rank], padding),
        np.pad(-axes / roots, ((0, 0), padding)),
    )


def place(distances: FloatArray, weights: FloatArray) -> FloatArray:
    r"""Place points by their distances to those of a solution.

    :math:`x = -\Lambda^{-1} X^\top \cosh d`, with :math:`e^{\max d}` taken out, so
    that nothing overflows.

    Parameters
    ----------
    distances : ndarray of shape (n_others, n_points)
        Non-negative.
    weights : ndarray of shape (n_points, n_components)
        Those of the solution.

    Returns
    -------
    ndarray of shape (n_others, n_components)
        Points of the ball.
    """
    largest = distances.max(axis=1)
    cosines = np.exp(distances - largest[:, None])
    cosines += np.exp(-distances - largest[:, None])
    return _to_ball(cosines @ weights / 2, np.exp(-largest))


def stress(points: FloatArray, distances: FloatArray) -> float:
    """Root of the squared errors of all distances, relative to the distances.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        Points of the ball.
    distances : ndarray of shape (n_points, n_points)
        What the distances between them should be.

    Returns
    -------
    float
        Kruskal's first stress; 0 where all distances are 0.
    """
    total = np.linalg.norm(distances)
    error = np.linalg.norm(poincare.pairwise_distances(points) - distances)
    return float(error / total) if total else 0.0


def effective_rank(values: FloatArray) -> float:
    """Count the columns that are spread alike.

    Parameters
    ----------
    values : ndarray of shape (n_components,)
        Eigenvalues, not negative; their roots are the spreads.

    Returns
    -------
    float
        The exponential of the entropy of the roots; 0 if all are 0.
    """
    spreads = np.sqrt(values[values > 0])
    if not spreads.size:
        return 0.0
    shares = spreads / spreads.sum()
    return float(np.exp(-shares @ np.log(shares)))


def choose_scale(
    who: str, scale: float | str, distances: FloatArray, n_components: int
) -> float:
    """Check a given scale, or find that of least mean relative error.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    scale : float or "auto"
        The factor of the distances, or "auto".
    distances : ndarray of shape (n_points, n_points)
        Symmetric, zero on the diagonal.
    n_components : int
        Dimension of the ball.

    Returns
    -------
    float
        The factor; "auto" is 1 where all distances are 0.

    Raises
    ------
    ValueError
        If it is so large that float64 cannot hold the hyperbolic cosines.
    """
    largest = float(distances.max())
    if isinstance(scale, str):
        if largest <= _NOTHING:
            return 1.0
        return _choose_reach(distances / largest, n_components) / largest
    if scale * largest > LIMIT:
        raise ValueError(
            f"{who}: 'scale' is {scale:g}, and the largest distance {largest:g}. Their "
            f"product must not exceed {LIMIT:.1f}, where float64 loses small "
            f"distances. Pass scale='auto', or scale={_REACHES[0] / largest:.3g}."
        )
    return float(scale)


def _choose_reach(distances: FloatArray, n_components: int) -> float:
    """Find the largest scaled distance of least error; the largest given is 1.

    Six values are tried, and the best is refined between its neighbors.
    """
    apart = distances > _COPIES
    inverse = np.divide(1, distances, out=np.zeros_like(distances), where=apart)
    count = np.count_nonzero(apart)

    def error(reach: float) -> float:
        points = solve(reach * distances, n_components).points
        ratios = poincare.pairwise_distances(points)
        ratios *= inverse / reach
        ratios -= apart
        return float(np.abs(ratios, out=ratios).sum() / count)

    errors = np.array([error(reach) for reach in _REACHES])
    best = np.flatnonzero(errors <= errors.min() + _TIE)[-1]
    if errors[best] <= _TIE:
        return float(_REACHES[best])
    sides = _REACHES[max(best - 1, 0)], _REACHES[min(best + 1, len(_REACHES) - 1)]
    return _refined(error, (float(_REACHES[best]), float(errors[best])), sides)


def _refined(
    error: Callable[[float], float], best: tuple[float, float], sides: tuple[Any, Any]
) -> float:
    """Golden section and parabolas on a logarithmic scale."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(
        lambda log: error(float(np.exp(log))),
        bounds=np.log(sides[::-1]),
        method="bounded",
        options={"xatol": _WIDTH, "maxiter": _STEPS},
    )
    better = found.fun < best[1] - _TIE
    return float(np.exp(found.x)) if better else best[0]


def _leading(A: FloatArray, n_pairs: int) -> tuple[FloatArray, FloatArray]:
    """Leading eigenpairs of a symmetric matrix, decreasing; fewer if it is small.

    Lanczos iterations keep the digits of entries of very different size better than
    reducing the whole matrix does.
    """
    n = len(A)
    if 2 * n_pairs + 1 < n:
        from scipy.sparse.linalg import ArpackNoConvergence, eigsh

        start = np.random.default_rng(0).standard_normal(n)
        options: dict[str, Any] = {"v0": start, "maxiter": _RESTARTS}
        if "rng" in inspect.signature(eigsh).parameters:
            options["rng"] = np.random.default_rng(0)
        try:
            values, vectors = eigsh(A, k=n_pairs, which="LA", **options)
        except ArpackNoConvergence:
            pass
        else:
            order = np.argsort(-values)
            return values[order], vectors[:, order]
    first = max(n - n_pairs, 0)
    values, vectors = scipy.linalg.eigh(A, subset_by_index=(first, n - 1))
    return values[::-1], vectors[:, ::-1]


def _to_ball(space: FloatArray, unit: FloatArray) -> FloatArray:
    """Points of the ball from space-like coordinates and what stands for 1 in them."""
    length = np.hypot(unit, np.linalg.norm(space, axis=1))
    divisor = np.maximum(unit + length, np.finfo(np.float64).tiny)
    return poincare.project(space / divisor[:, None])
