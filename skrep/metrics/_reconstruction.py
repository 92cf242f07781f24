"""How well the distances between placed nodes tell which ones are related."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.metrics._placed import Placed, read_graph, read_placed, read_queries
from skrep.typing import FloatArray, IntArray, SparseMatrix

__all__ = ["ReconstructionScores", "neighbor_map", "reconstruction_scores"]


class ReconstructionScores(NamedTuple):
    """Result of `reconstruction_scores`.

    Parameters
    ----------
    mean_rank : float
        Mean rank of what a node is related to; 1 at best.
    map : float
        Mean average precision, in (0, 1].
    """

    mean_rank: float
    map: float


def reconstruction_scores(
    X: Any, relations: Any, *, metric: Any = "poincare", rows: Any = None
) -> ReconstructionScores:
    r"""Rank what each node is related to by its distance, among what it is not.

    The filtered protocol of Nickel and Kiela [1]_. Node u is related to the nodes
    :math:`P_u`, its stored columns, and not related to :math:`N_u`, all others but u
    itself. With :math:`n_u(v)` the number of nodes of :math:`N_u` that are no farther
    from u than v is, the rank of v is :math:`1 + n_u(v)`: the other nodes of
    :math:`P_u` are not in its way. Sorted by their distance, these have the average
    precision

    .. math::

       \frac{1}{|P_u|} \sum_{i=1}^{|P_u|} \frac{i}{i + n_u(v_i)} .

    The mean rank is over all pairs (u, v), the MAP over all nodes u that are related to
    any.

    Parameters
    ----------
    X : array-like of shape (n_nodes, n_components) or (n_nodes, n_nodes)
        Points of the nodes, or the distances between them if `metric` is
        "precomputed".
    relations : {array-like, CSR} of shape (n_nodes, n_nodes)
        Row u is related to the columns in which it is not zero: its ancestors, for
        a taxonomy and all that follows from it. How large an entry is, and the
        diagonal, have no part in it.
    metric : {"poincare", "euclidean", "precomputed"} or callable, \
            default="poincare"
        Distance: of the Poincare ball, the usual one, that of X as it is, or what a
        function of two arrays of points gives for all pairs of them, such as
        :func:`skrep.geometry.hyperboloid.pairwise_distances`.
    rows : array-like of int, default=None
        Nodes u to rank for; a sample of them estimates the scores of large graphs.
        All nodes stay among those that are ranked. None: all nodes.

    Returns
    -------
    ReconstructionScores
        The scores `mean_rank` and `map`.

    Raises
    ------
    ValueError
        If the shapes do not match, an entry is NaN, infinite or negative where it must
        not be, a point lies outside of the ball, or no node of `rows` is related to
        any.

    See Also
    --------
    neighbor_map : The other MAP: on direct neighbors in either direction.
    distortion : Whether the distances are those of the graph.

    Notes
    -----
    **Two scores go by the name of MAP.** They differ in what a node asks for. Here
    it is what the matrix relates it to, in this direction alone. With a transitive
    closure these are all ancestors, and a node has to be nearer to its
    great-grandparent than to its siblings: the exact distances of a tree, with edges of
    length 1, score low. In `neighbor_map` a node asks for its direct neighbors, its
    children among them, and the exact distances of a tree score 1. Numbers of the two
    cannot be compared.

    Ties count against what is related: of nodes equally far, those that are not
    related come first. So an embedding collapsed to one point has the worst rank.

    Some implementations leave u among the nodes that are ranked; a perfect
    embedding then has the mean rank 2 and a MAP of 0.5 where nodes have one parent.

    Time grows with ``len(rows) * n_nodes``, and memory does not: distances are
    computed in blocks of rows of about 32 MiB.

    References
    ----------
    .. [1] Nickel, M. and Kiela, D. (2017). "Poincaré embeddings for learning
       hierarchical representations". Advances in Neural Information Processing
       Systems 30.

    Examples
    --------
    A root between two children, each related to it:

    >>> from skrep.metrics import reconstruction_scores
    >>> X = [[0.0, 0.0], [0.5, 0.0], [-0.5, 0.0]]
    >>> relations = [[0, 0, 0], [1, 0, 0], [1, 0, 0]]
    >>> reconstruction_scores(X, relations)
    ReconstructionScores(mean_rank=1.0, map=1.0)

    One child too near to the other:

    >>> X = [[0.0, 0.0], [0.5, 0.0], [0.4, 0.3]]
    >>> reconstruction_scores(X, relations).mean_rank
    2.0
    """
    who = "reconstruction_scores"
    placed = read_placed(who, X, metric)
    matrix = read_graph(who, "relations", relations, len(placed.rows))
    queries = read_queries(who, rows, len(placed.rows))
    in_the_way = list(nodes_in_the_way(placed, matrix, queries))
    if not in_the_way:
        raise ValueError(
            f"{who}: none of the nodes in 'rows' is related to any. Pass rows=None "
            "for all nodes."
        )
    return ReconstructionScores(
        mean_rank=1 + float(np.concatenate(in_the_way).mean()),
        map=float(np.mean([_average_precision(n) for n in in_the_way])),
    )


def neighbor_map(
    X: Any, adjacency: Any, *, metric: Any = "poincare", rows: Any = None
) -> float:
    r"""Score how early each node finds its neighbors, in order of distance.

    The MAP of Sala, De Sa, Gu and Ré [1]_. Let node u have the neighbors
    :math:`v_1, v_2, ...` in order of their distance from it, and let :math:`n_u(v)` be
    the number of nodes, neither u nor its neighbors, that are no farther from u than v
    is:

    .. math::

       \frac{1}{n} \sum_{u=1}^{n} \frac{1}{\deg u} \sum_{i=1}^{\deg u}
       \frac{i}{i + n_u(v_i)} .

    It is 1 if no node is nearer than a neighbor, for every node; how long the edges
    are has no part in it.

    Parameters
    ----------
    X : array-like of shape (n_nodes, n_components) or (n_nodes, n_nodes)
        Points of the nodes, or the distances between them if `metric` is
        "precomputed".
    adjacency : {array-like, CSR} of shape (n_nodes, n_nodes)
        Two nodes are neighbors if the entry is not zero, in either direction. How large
        it is, and the diagonal, have no part in it.
    metric : {"poincare", "euclidean", "precomputed"} or callable, \
            default="poincare"
        Distance: of the Poincare ball, the usual one, that of X as it is, or what a
        function of two arrays of points gives for all pairs of them.
    rows : array-like of int, default=None
        Nodes u to average over; a sample of them estimates the score of large
        graphs. None: all nodes.

    Returns
    -------
    float
        Mean average precision, in (0, 1], over the nodes that have neighbors.

    Raises
    ------
    ValueError
        If the shapes do not match, an entry is NaN, infinite or negative where it must
        not be, a point lies outside of the ball, or no node of `rows` has a neighbor.

    See Also
    --------
    reconstruction_scores : The other MAP: on the relations of a closure, one way.
    distortion : Whether the distances are those of the graph, not the order alone.

    Notes
    -----
    **Two scores go by the name of MAP.** This one judges edges: pass those of the tree,
    not its closure. Parents and children alike must be nearer than grandparents and
    siblings, which is what the distances of the tree say; they score 1.
    `reconstruction_scores` judges relations in one direction, and with a closure wants
    all ancestors nearer than anything else, which those distances do not say. Numbers
    of the two cannot be compared.

    Ties count against the neighbors. Distances are computed in blocks of rows of about
    32 MiB.

    References
    ----------
    .. [1] Sala, F., De Sa, C., Gu, A. and Ré, C. (2018). "Representation tradeoffs for
       hyperbolic embeddings". International Conference on Machine Learning.

    Examples
    --------
    A path of four nodes on a line, and with the last one misplaced:

    >>> from skrep.metrics import neighbor_map
    >>> path = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]]
    >>> neighbor_map([[0.0], [1.0], [2.0], [3.0]], path, metric="euclidean")
    1.0
    >>> neighbor_map([[0.0], [1.0], [2.0], [0.5]], path, metric="euclidean")
    0.604...
    """
    who = "neighbor_map"
    placed = read_placed(who, X, metric)
    matrix = read_graph(who, "adjacency", adjacency, len(placed.rows))
    queries = read_queries(who, rows, len(placed.rows))
    either_way = sp.csr_array(matrix + matrix.T)
    precisions = [
        _average_precision(n) for n in nodes_in_the_way(placed, either_way, queries)
    ]
    if not precisions:
        raise ValueError(
            f"{who}: none of the nodes in 'rows' has a neighbor. Pass rows=None for "
            "all nodes."
        )
    return float(np.mean(precisions))


def nodes_in_the_way(
    placed: Placed, matrix: SparseMatrix, queries: IntArray
) -> Iterator[IntArray]:
    """Count for every query and each node it asks for, the nearest one first.

    What is counted are the nodes that it does not ask for and that are no farther.
    Queries that ask for nothing are left out.
    """
    asks = np.diff(matrix.indptr) > 0
    for asking, distances in placed.blocks(queries[asks[queries]]):
        for query, row in zip(asking, distances, strict=True):
            wanted = matrix.indices[matrix.indptr[query] : matrix.indptr[query + 1]]
            yield _others_no_farther(row, int(query), wanted)


def _others_no_farther(row: FloatArray, query: int, wanted: IntArray) -> IntArray:
    sought = np.sort(row[wanted])
    # A node comes before all wanted ones from this place on.
    place = np.searchsorted(sought, row)
    n_places = len(sought) + 1
    counts = np.bincount(place, minlength=n_places)
    counts -= np.bincount(place[wanted], minlength=n_places)
    counts[place[query]] -= 1
    return np.cumsum(counts)[:-1]


def _average_precision(in_the_way: IntArray) -> float:
    found = np.arange(1, len(in_the_way) + 1)
    return float(np.mean(found / (found + in_the_way)))
