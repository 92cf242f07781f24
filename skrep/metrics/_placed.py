"""Nodes of a graph that were placed somewhere, and the distances between them."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.geometry import euclidean_distances, poincare
from skrep.metrics._neighbors import neighbor_blocks
from skrep.metrics._validation import read_rows
from skrep.typing import AnyArray, FloatArray, IntArray, SparseMatrix

__all__ = ["Placed", "read_graph", "read_placed", "read_queries", "read_square"]

METRICS = ("poincare", "euclidean", "precomputed")


class Placed(NamedTuple):
    """Where the nodes are.

    Parameters
    ----------
    who : str
        The function that is named in errors.
    rows : ndarray of shape (n_nodes, n_components) or (n_nodes, n_nodes)
        Points; or distances, where nothing is to be measured.
    measure : callable or None
        Gives the distances between two arrays of points. None: they are there.
    """

    who: str
    rows: FloatArray
    measure: Callable[[FloatArray, FloatArray], Any] | None

    def blocks(self, queries: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        """Queries by the block, with their distances to all nodes."""
        n_nodes = len(self.rows)
        size = next(neighbor_blocks(n_nodes)).stop
        for start in range(0, len(queries), size):
            asking = queries[start : start + size]
            yield asking, self._from(asking)

    def _from(self, asking: IntArray) -> FloatArray:
        if self.measure is None:
            return self.rows[asking]
        found = np.asarray(self.measure(self.rows[asking], self.rows), np.float64)
        shape = len(asking), len(self.rows)
        if found.shape != shape or np.isnan(found).any():
            wrong = f"shape {found.shape}" if found.shape != shape else "NaN"
            raise ValueError(
                f"{self.who}: 'metric' gives {wrong} for {shape[0]} and {shape[1]} "
                f"points. It must give numbers of shape {shape}. Pass a function such "
                "as skrep.geometry.hyperboloid.pairwise_distances."
            )
        return found


def read_placed(who: str, X: Any, metric: Any) -> Placed:
    """Check points, or distances that are precomputed."""
    if not callable(metric) and metric not in METRICS:
        raise ValueError(
            f"{who}: 'metric' is {metric!r}. It must be one of {METRICS}, or a "
            "function that gives all distances between two arrays of points. Pass "
            'metric="poincare", say.'
        )
    rows = read_rows(X, "X", who)
    if callable(metric):
        return Placed(who, rows, metric)
    if metric == "precomputed":
        if rows.shape[0] != rows.shape[1] or rows.min() < 0:
            raise ValueError(
                f"{who}: 'X' has shape {rows.shape} and the least entry "
                f"{rows.min():g}. Distances are a square matrix of numbers from 0 up. "
                'For points, pass metric="poincare" or metric="euclidean".'
            )
        return Placed(who, rows, None)
    if metric == "euclidean":
        # Around the origin, so that an offset costs no digits.
        return Placed(who, rows - np.median(rows, axis=0), euclidean_distances)
    norms = np.linalg.norm(rows, axis=1)
    if norms.max() >= 1:
        raise ValueError(
            f"{who}: 'X' has norm {norms.max():g} in row {int(norms.argmax())}. Points "
            "of the ball have norms below 1. Pass skrep.geometry.poincare.project(X), "
            'or metric="euclidean" for points of another space.'
        )
    return Placed(who, rows, poincare.pairwise_distances)


def read_graph(who: str, name: str, graph: Any, n_nodes: int) -> SparseMatrix:
    """Check a square matrix as `read_square` does, and that it relates two nodes."""
    edges = read_square(who, name, graph, n_nodes)
    if not edges.nnz:
        raise ValueError(
            f"{who}: '{name}' relates no two nodes, so there is nothing to score. Pass "
            "a matrix such as skrep.graph.relations_from_edges(edges).matrix."
        )
    return edges


def read_square(who: str, name: str, graph: Any, n_nodes: int) -> SparseMatrix:
    """Check a square matrix; return CSR without loops, zeros and repeated entries."""
    given = read_rows(graph, name, who, accept_sparse="csr")
    if given.shape != (n_nodes, n_nodes):
        raise ValueError(
            f"{who}: '{name}' has shape {given.shape} and 'X' has {n_nodes} rows. It "
            "must be square with one row for each row of X. Select the same nodes of "
            f"both, as in {name}[nodes][:, nodes]."
        )
    edges = sp.coo_array(given)
    if edges.data.min(initial=0) < 0:
        raise ValueError(
            f"{who}: '{name}' holds {edges.data.min():g}. Weights and lengths must not "
            f"be negative. Pass abs({name}), if only the sign is wrong."
        )
    kept = (edges.row != edges.col) & (edges.data > 0)
    triples = edges.data[kept], (edges.row[kept], edges.col[kept])
    return sp.csr_array(triples, shape=edges.shape)


def read_queries(who: str, rows: Any, n_nodes: int) -> IntArray:
    """Nodes that are asked about; all of them where None are named."""
    if rows is None:
        return np.arange(n_nodes)
    queries: AnyArray = np.asarray(rows)
    whole = queries.dtype.kind in "iu" and queries.ndim == 1 and queries.size > 0
    if not whole or queries.min() < 0 or queries.max() >= n_nodes:
        raise ValueError(
            f"{who}: 'rows' must be a list of integers from 0 to {n_nodes - 1}, the "
            f"nodes that are asked about, and is {rows!r}. Pass rows=None for all."
        )
    return queries.astype(np.intp)
