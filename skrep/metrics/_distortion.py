"""How far the distances between placed nodes are from those of their graph."""

from collections.abc import Iterator
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.csgraph import dijkstra

from skrep.metrics._placed import Placed, read_graph, read_placed, read_queries
from skrep.typing import FloatArray, IntArray, SparseMatrix

__all__ = ["Distortion", "distortion"]


class Distortion(NamedTuple):
    """Result of `distortion`.

    Parameters
    ----------
    average : float
        Mean relative error of a distance; 0 at best.
    worst : float
        Largest expansion times largest contraction; 1 at best.
    scale : float
        What the distances were divided by.
    """

    average: float
    worst: float
    scale: float


def distortion(
    X: Any,
    adjacency: Any,
    *,
    metric: Any = "poincare",
    scale: Any = "auto",
    rows: Any = None,
) -> Distortion:
    r"""Compare the distances between placed nodes with those of their graph.

    With d(u, v) the distance between the points of two nodes, D(u, v) the length of the
    shortest path between them and s the scale, the average [1]_ is

    .. math::

       \operatorname{mean}_{u \ne v} \frac{|d(u, v) / s - D(u, v)|}{D(u, v)}

    and the worst is the largest ratio d / D over the smallest one, whatever the scale.

    Parameters
    ----------
    X : array-like of shape (n_nodes, n_components) or (n_nodes, n_nodes)
        Points of the nodes, or the distances between them if `metric` is
        "precomputed".
    adjacency : {array-like, CSR} of shape (n_nodes, n_nodes)
        Edges of the graph, in either direction: the lengths of those that there are,
        and zeros. The diagonal has no part in it.
    metric : {"poincare", "euclidean", "precomputed"} or callable, \
            default="poincare"
        Distance: of the Poincare ball, the usual one, that of X as it is, or what a
        function of two arrays of points gives for all pairs of them.
    scale : float or "auto", default="auto"
        What a length of 1 has become, such as `tau_` of a
        :class:`skrep.hyperbolic.TreeEmbedding`. "auto" takes what makes the average
        least.
    rows : array-like of int, default=None
        Nodes u to compare; a sample of them estimates the average of large graphs,
        and bounds the worst from below. None: all nodes.

    Returns
    -------
    Distortion
        The numbers `average`, `worst` and `scale`.

    Raises
    ------
    ValueError
        If the shapes do not match, an entry is NaN, infinite or negative where it must
        not be, a point lies outside of the ball, `scale` is no number above 0, or no
        path leads from a node of `rows` to another.

    See Also
    --------
    neighbor_map : Looks at the order of the distances alone.
    reconstruction_scores : Whether distances tell what is related.

    Notes
    -----
    Pairs between which there is no path are left out: their distance says nothing.
    If all points of two nodes coincide the worst is infinite.

    The best scale is the median of the ratios d / D, weighted by themselves: the
    average, as a function of 1 / s, has its corners at their inverses.

    Distances are computed in blocks of rows. One number is kept for each pair, and two
    more while the scale is looked for: 24 bytes a pair.

    References
    ----------
    .. [1] Sala, F., De Sa, C., Gu, A. and Ré, C. (2018). "Representation tradeoffs for
       hyperbolic embeddings". International Conference on Machine Learning.

    Examples
    --------
    A path of three nodes, placed on a line with another unit:

    >>> from skrep.metrics import distortion
    >>> path = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> distortion([[0.0], [2.0], [4.0]], path, metric="euclidean")
    Distortion(average=0.0, worst=1.0, scale=2.0)

    One edge twice as long as the other:

    >>> distortion([[0.0], [1.0], [3.0]], path, metric="euclidean", scale=1.0)
    Distortion(average=0.5, worst=2.0, scale=1.0)
    """
    who = "distortion"
    number = isinstance(scale, Real) and not isinstance(scale, bool)
    if scale != "auto" and not (number and 0 < scale < np.inf):
        raise ValueError(
            f"{who}: 'scale' is {scale!r}. It must be a number above 0, or "
            '"auto" for the one that fits best. Pass scale=1.0, say.'
        )
    placed = read_placed(who, X, metric)
    matrix = read_graph(who, "adjacency", adjacency, len(placed.rows))
    queries = read_queries(who, rows, len(placed.rows))
    ratios = np.concatenate(list(ratio_blocks(placed, matrix, queries)))
    if not ratios.size:
        raise ValueError(
            f"{who}: no path leads from the nodes in 'rows' to another. Pass rows=None "
            "for all nodes."
        )
    used = best_scale(ratios) if scale == "auto" else float(scale)
    least = ratios.min()
    return Distortion(
        average=float(np.abs(ratios / used - 1).mean()),
        worst=float(ratios.max() / least) if least > 0 else np.inf,
        scale=used,
    )


def ratio_blocks(
    placed: Placed, matrix: SparseMatrix, queries: IntArray
) -> Iterator[FloatArray]:
    """Ratios of distance and length of path, of the queries to all they reach."""
    for asking, distances in placed.blocks(queries):
        lengths = dijkstra(matrix, directed=False, indices=asking)
        lengths[np.arange(len(asking)), asking] = np.inf
        reached = np.isfinite(lengths)
        yield distances[reached] / lengths[reached]


def best_scale(ratios: FloatArray) -> float:
    """Number s for which the mean of ``abs(ratios / s - 1)`` is least."""
    order = np.sort(ratios)
    weights = np.cumsum(order)
    if weights[-1] == 0:
        return 1.0
    return float(order[np.searchsorted(weights, weights[-1] / 2)])
