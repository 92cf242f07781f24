"""What distances in a spanning tree lose against those of the graph."""

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import dijkstra

from skrep.typing import FloatArray, IntArray, SparseMatrix

__all__ = ["GraphLoss", "graph_loss", "sampled_nodes"]


class GraphLoss(NamedTuple):
    """How far distances are from the lengths of the shortest paths.

    Parameters
    ----------
    average : float
        Mean relative error; 0 at best.
    worst : float
        Largest expansion times largest contraction; 1 at best.
    """

    average: float
    worst: float


def sampled_nodes(edges: SparseMatrix, n_pairs: int = 1_000_000) -> IntArray:
    """Take as many nodes with edges as give a number of pairs with all nodes.

    Parameters
    ----------
    edges : csr_array of shape (n_nodes, n_nodes)
        Edges, in both directions.
    n_pairs : int, default=1_000_000
        Number of pairs that is not to be exceeded, if one node allows.

    Returns
    -------
    ndarray of int
        The nodes, evenly spaced; all that have edges where these are few.
    """
    joined = np.flatnonzero(np.diff(edges.indptr))
    n_rows = min(len(joined), max(1, n_pairs // edges.shape[0]))
    return joined[np.linspace(0, len(joined) - 1, n_rows).astype(np.intp)]


def graph_loss(
    edges: SparseMatrix, nodes: IntArray, distances: FloatArray
) -> GraphLoss:
    """Compare distances with the shortest paths of a graph.

    Parameters
    ----------
    edges : csr_array of shape (n_nodes, n_nodes)
        Lengths of the edges, in both directions.
    nodes : ndarray of int of shape (n_rows,)
        Nodes from which distances were measured.
    distances : ndarray of shape (n_rows, n_nodes)
        The distances, in units of the edges.

    Returns
    -------
    GraphLoss
        Average and worst, over all pairs that a path joins.
    """
    lengths = dijkstra(edges, indices=nodes)
    lengths[np.arange(len(nodes)), nodes] = np.inf
    reached = np.isfinite(lengths)
    ratios = distances[reached] / lengths[reached]
    least = ratios.min()
    worst = float(ratios.max() / least) if least > 0 else np.inf
    return GraphLoss(float(np.abs(ratios - 1).mean()), worst)
