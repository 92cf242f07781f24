"""What a tree embedding is given: edges, a root, and how long an edge shall be."""

import math
from typing import Any, Final

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import DataConversionWarning

from skrep.graph import (
    RootedForest,
    rooted_order,
    spanning_forest,
    tree_centers,
    undirected_edges,
)
from skrep.hyperbolic._coordinates import check_dimension
from skrep.hyperbolic._matrices import validate_matrix
from skrep.typing import FloatArray, IntArray, Matrix, SparseMatrix
from skrep.utils import warn

__all__ = [
    "check_tree_dimension",
    "long_tau",
    "reach",
    "read_edges",
    "read_nodes",
    "rooted_tree",
    "short_tau",
    "warn_of_meetings",
]

_LONGEST: Final = 2**33
"""Bits that the angles of all nodes may take together: a gibibyte."""

_PADDED: Final = ("bsr", "dia")
"""Sparse formats that store zeros where there is nothing."""


def check_tree_dimension(who: str, n_components: Any, *, exact: bool) -> int:
    """Return the dimension, which has no upper bound; exact trees lie in the plane."""
    if exact and n_components != 2:
        raise ValueError(
            f"{who}: 'n_components' is {n_components!r}. It must be 2 with exact=True. "
            "Pass n_components=2, or exact=False."
        )
    return check_dimension(who, n_components)


def read_edges(estimator: Any, X: Any) -> tuple[SparseMatrix, np.dtype[Any]]:
    """Check the matrix of edges; give them in both directions, and the type of X.

    Raises
    ------
    TypeError
        If X is a graph, or a matrix with its labels.
    ValueError
        If X is not square, or holds a negative length, or a stored 0.

    Warns
    -----
    DataConversionWarning
        If a node has an edge to itself, or an edge two lengths.
    """
    who = type(estimator).__name__
    rows = validate_matrix(estimator, X, reset=True, accept_sparse="csr")
    if rows.shape[0] != rows.shape[1]:
        raise ValueError(
            f"{who}: 'X' has shape {rows.shape}. It must be square, with the length of "
            "the edge between nodes i and j in row i and column j. Pass "
            "skrep.graph.relations_from_edges(edges, closure=False).matrix, say."
        )
    if sp.issparse(rows):
        rows = rows.copy()
        rows.sum_duplicates()
    _refuse_negative(who, rows)
    if getattr(X, "format", "") in _PADDED:
        rows.eliminate_zeros()
    _refuse_stored_zeros(who, rows)
    n_loops = int(np.count_nonzero(rows.diagonal()))
    if n_loops:
        warn(
            f"{who}: 'X' joins {n_loops} nodes to themselves. These edges are left "
            "out. Set the diagonal to 0 to say so.",
            DataConversionWarning,
        )
    _warn_of_two_lengths(who, rows)
    return undirected_edges(rows), rows.dtype


def _refuse_negative(who: str, rows: Matrix) -> None:
    stored = sp.coo_array(rows)
    if stored.data.min(initial=0) < 0:
        least = int(stored.data.argmin())
        raise ValueError(
            f"{who}: Negative values in data: 'X' is {stored.data[least]:g} in row "
            f"{stored.row[least]}, column {stored.col[least]}. Lengths must be "
            "positive. Pass abs(X), if only the sign is wrong."
        )


def _warn_of_two_lengths(who: str, rows: Matrix) -> None:
    there, back = sp.csr_array(rows), sp.csr_array(rows.T)
    short, long = there.minimum(back), there.maximum(back)
    rounding = float(np.sqrt(np.finfo(rows.dtype).eps))
    unlike = sp.coo_array(long.multiply(short > 0) > short * (1 + rounding))
    if unlike.nnz:
        i, j = unlike.row[0], unlike.col[0]
        warn(
            f"{who}: 'X' has two lengths for {unlike.nnz // 2} edges, such as "
            f"{there[i, j]:g} in row {i}, column {j} and {there[j, i]:g} in row {j}, "
            f"column {i}. The shorter ones count. Pass "
            "skrep.graph.undirected_edges(X) to agree.",
            DataConversionWarning,
        )


def _refuse_stored_zeros(who: str, rows: Matrix) -> None:
    if not sp.issparse(rows) or rows.data.all():
        return
    stored = sp.coo_array(rows)
    zero = (stored.data == 0) & (stored.row != stored.col)
    if zero.any():
        first = np.flatnonzero(zero)[0]
        raise ValueError(
            f"{who}: 'X' stores a length of 0, first in row {stored.row[first]}, "
            f"column {stored.col[first]}. Lengths must be positive. Merge the two "
            "nodes, or call X.eliminate_zeros() if there is no edge."
        )


def rooted_tree(who: str, edges: SparseMatrix, root: Any) -> tuple[RootedForest, bool]:
    """Root a spanning forest, and say whether all edges are in it.

    Raises
    ------
    ValueError
        If the root is no node.
    """
    forest = spanning_forest(edges)
    n_nodes = edges.shape[0]
    roots = tree_centers(forest)
    if root != "center":
        if root >= n_nodes:
            raise ValueError(
                f"{who}: 'root' is {root} and 'X' has {n_nodes} nodes. It must be from "
                f'0 to {n_nodes - 1}, or "center". Pass root="center".'
            )
        roots = _moved(forest, roots, int(root))
    return rooted_order(forest, roots), forest.nnz == edges.nnz


def _moved(forest: SparseMatrix, roots: IntArray, root: int) -> IntArray:
    """Let one node be the root of its tree."""
    tree = rooted_order(forest, roots)
    top = root
    while tree.parents[top] >= 0:
        top = int(tree.parents[top])
    return np.sort(np.where(roots == top, root, roots))


def reach(tree: RootedForest) -> tuple[float, float]:
    """How far the farthest node is from the origin, and the roots of several trees.

    Both are in units of the edges. Several trees stand around the origin, at the mean
    length of an edge.
    """
    depths = _depths(tree)
    n_roots = int(tree.levels[1])
    n_edges = len(depths) - n_roots
    spoke = 0.0
    if n_roots > 1:
        spoke = tree.lengths.sum() / n_edges if n_edges else 1.0
    return float(depths.max() + spoke), float(spoke)


def _depths(tree: RootedForest) -> FloatArray:
    """Lengths of the paths to the roots."""
    depths = np.zeros(len(tree.parents))
    for start, stop in zip(tree.levels[1:-1], tree.levels[2:], strict=True):
        level = tree.order[start:stop]
        with np.errstate(over="ignore"):
            depths[level] = depths[tree.parents[level]] + tree.lengths[level]
    return depths


def read_nodes(who: str, rows: Any, n_nodes: int) -> IntArray:
    """Check numbers of nodes; None names all of them.

    Raises
    ------
    ValueError
        If one is no node.
    """
    if rows is None:
        return np.arange(n_nodes)
    nodes = np.asarray(rows)
    whole = nodes.ndim == 1 and nodes.size and nodes.dtype.kind in "iu"
    strange = nodes[(nodes < 0) | (nodes >= n_nodes)] if whole else nodes
    if strange.size or not whole:
        got = f"holds {strange[0]}" if whole else f"has the shape {nodes.shape}"
        raise ValueError(
            f"{who}: 'rows' {got} and type {nodes.dtype}. It must be a list of "
            f"integers from 0 to {n_nodes - 1}, the nodes to measure from. Pass "
            "rows=[0], say."
        )
    return nodes.astype(np.intp)


def short_tau(
    who: str, tau: Any, farthest: float, limit: float, *, plane: bool
) -> float:
    """Choose or check the scale under which the ball holds the farthest node.

    Raises
    ------
    ValueError
        If the scale takes a node beyond the limit.
    """
    largest = limit / farthest if farthest else 1.0
    if not np.isfinite(largest * farthest) or not 0 < largest < np.inf:
        raise ValueError(
            f"{who}: 'X' holds lengths whose sums are beyond float64, or below it. "
            "Divide all lengths by one number first, such as X.max()."
        )
    if isinstance(tau, str):
        return largest
    if tau * farthest > limit * (1 + 1e-12):
        exact = " or exact=True," if plane else ""
        raise ValueError(
            f"{who}: 'tau' is {tau:g}, which takes the farthest node to radius "
            f"{tau * farthest:.4g}, and numbers of this type hold {limit:.4g}. Pass "
            f'tau="auto",{exact} or at most tau={_rounded_down(largest)}.'
        )
    return float(tau)


def warn_of_meetings(
    who: str, tree: RootedForest, points: FloatArray, tau: float
) -> None:
    """Warn if nodes have got the points of their parents.

    Far out the points of a float type lie so far apart that a short edge is none.

    Warns
    -----
    DataConversionWarning
        With the number of such nodes, and a scale at which there are none.
    """
    below = np.flatnonzero(tree.parents >= 0)
    meets = (points[below] == points[tree.parents[below]]).all(axis=1)
    if not meets.any():
        return
    node = below[np.argmax(meets)]
    told = _told_tau(tree, tau, float(np.finfo(points.dtype).eps))
    other = ""
    if told:
        other = f", or tau={_rounded_down(told)}, at which neighbors are apart"
    warn(
        f"{who}: 'tau' is {tau:.4g}, and {np.count_nonzero(meets)} of {len(below)} "
        f"edges are shorter than {points.dtype} can tell so far out: node {node} and "
        f"node {tree.parents[node]} have one point. Pass n_components=2 and "
        f"exact=True, for distances() that are right{other}.",
        DataConversionWarning,
    )


def _told_tau(tree: RootedForest, tau: float, eps: float) -> float:
    """Largest scale at which no edge is shorter than 20 steps of floats; or 0.

    At radius R a step of the norm by half an eps is one of ``eps * exp(R) / 4``.
    """
    below = tree.parents >= 0
    depths = _depths(tree)[below] + reach(tree)[1]
    logs = np.log(tree.lengths[below])
    for smaller in tau * 0.95 ** np.arange(1, 200):
        if (logs + math.log(smaller) >= math.log(5 * eps) + smaller * depths).all():
            return float(smaller)
    return 0.0


def _rounded_down(value: float) -> str:
    digits = 3 - math.floor(math.log10(value))
    return f"{math.floor(value * 10.0**digits) / 10.0**digits:.4g}"


def long_tau(
    who: str, tau: Any, tree: RootedForest, farthest: float
) -> tuple[float, int]:
    r"""Choose the scale of an exact tree, and how many bits its angles need.

    A path that turns by half the gap between two of k even directions loses
    :math:`2 \log(1 / \sin(\pi / k))` at a node. "auto" makes the shortest edge 21
    times as long, and at least 6.

    Raises
    ------
    ValueError
        If the angles would take more than a gibibyte.
    """
    below = tree.parents >= 0
    if isinstance(tau, str):
        degree = np.bincount(tree.parents[below], minlength=len(below)) + below
        lost = -2 * math.log(math.sin(math.pi / max(2, int(degree.max()))))
        shortest = tree.lengths[below].min(initial=np.inf)
        tau = 1.0 if np.isinf(shortest) else max(21 * lost, 6.0) / shortest
    n_bits = math.ceil(tau * farthest / math.log(2)) + 48
    if n_bits * len(below) > _LONGEST:
        raise ValueError(
            f"{who}: 'tau' {tau:.4g} takes the farthest node to radius "
            f"{tau * farthest:.4g}, and the angles of all nodes to "
            f"{n_bits * len(below) / 2**33:.3g} GiB, of which 1 is allowed. Pass "
            f"tau={tau * _LONGEST / (n_bits * len(below)) / 2:.2g}, say."
        )
    return float(tau), n_bits
