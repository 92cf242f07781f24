"""Trees as points of hyperbolic space, placed node by node."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.geometry import poincare
from skrep.graph import RootedForest
from skrep.hyperbolic import _plane, _tree_input
from skrep.hyperbolic._sarkar import ball_points, place_tree
from skrep.hyperbolic._tree_loss import GraphLoss, graph_loss, sampled_nodes
from skrep.typing import FloatArray, SparseMatrix
from skrep.utils import warn

__all__ = ["TreeEmbedding"]


class TreeEmbedding(ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    r"""Place the nodes of a tree in the Poincaré ball, without training.

    Hyperbolic space has room for trees: as much comes with every step outwards as a
    tree needs for its branches. The root is put at the origin, and the children of a
    node around it, beside its own parent, each at the length of its edge times tau
    and in directions as far apart as can be [1]_ [2]_. Every edge is then exact, and

    .. math:: d(x_u, x_v) \approx \tau \, D(u, v)

    for the length D of any path, the better the larger tau is. What bounds tau is the
    arithmetic: a point at distance R has the norm :math:`1 - 2 e^{-R}`, about, and
    float64 tells it from the boundary up to R = 36. So the farthest node gets there,
    and the root should be the center.

    Read more in the :ref:`User Guide <hyperbolic_trees>`.

    Parameters
    ----------
    n_components : int, default=10
        Dimension of the ball, from 1 up. More than 10 seldom helps; 2 is for pictures
        and for `exact`, and 1 for paths: a line has no room for branches.
    metric : {"precomputed"}, default="precomputed"
        X holds lengths.
    tau : float or "auto", default="auto"
        Hyperbolic length of an edge of length 1. "auto" takes the largest that the
        float type of X holds; with `exact`, what keeps all distances within about 5
        percent.
    root : int or "center", default="center"
        The node at the origin. "center" takes the node whose farthest node is nearest,
        which allows the largest tau. Further trees are rooted at their centers.
    exact : bool, default=False
        Place the nodes in the plane once more, with angles as integers of as many bits
        as it takes: `radius_` and `angle_`, from which :meth:`distances` are right to
        rounding, however deep the tree is.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components)
        Points of the Poincaré ball, in the float type of X. With `exact`, those of
        ``tau="auto"`` without it: a picture of the tree.
    tau_ : float
        The scale used: hyperbolic distances over `tau_` are those in the tree. With
        `exact`, that of `radius_` and `angle_`.
    parents_ : ndarray of int of shape (n_nodes,)
        Parent of each node; -1 for a root.
    lengths_ : ndarray of shape (n_nodes,)
        Length of the edge to the parent; 0 for a root.
    roots_ : ndarray of int of shape (n_trees,)
        Roots, in increasing order.
    distortion_ : GraphLoss or None
        Where edges had to be left out, the ``average`` relative error of the distances
        to those of the graph, and the ``worst``: the largest expansion times the
        largest contraction. From all pairs of up to 1,000 nodes, and from a sample of
        a million above. None for trees.
    radius_ : ndarray of shape (n_nodes,), float64
        Hyperbolic distance from the origin. Only with `exact`.
    angle_ : ndarray of shape (n_nodes,), object
        Angles as integers; ``2**n_bits_`` is a full turn. Only with `exact`.
    n_bits_ : int
        Bits of an angle. Only with `exact`.
    n_features_in_ : int
        Number of nodes.
    feature_names_in_ : ndarray of shape (n_nodes,)
        Names of the columns of X, where they are all strings.

    See Also
    --------
    skrep.geometry.poincare : Distances between the points.
    skrep.graph.relations_from_edges : Make X from a list of edges.
    skrep.metrics.distortion : Measure what a tree has lost.
    sklearn.manifold.TSNE : Another embedding without `transform`.

    Notes
    -----
    There is no `transform`: a matrix of edges is fitted as a whole.

    Several trees stand around the origin at the mean length of an edge. Distances
    between different trees mean nothing.

    In the plane a node with k neighbors needs :math:`\tau > 2 \log(1 / \sin(\pi / k))`
    for siblings to be farther apart than parent and child, which for deep trees is
    more than float64 holds. Take 3 dimensions or more, or `exact`.

    Placing takes time and memory in the number of nodes, and a step for each level.
    The directions at a node of k neighbors are computed once for each k, from a fixed
    seed: no fit is random. Children keep the order of their numbers, so that other
    numbers give another embedding of the same edge lengths.

    References
    ----------
    .. [1] Sarkar, R. (2011). "Low distortion Delaunay embedding of trees in hyperbolic
       plane". International Symposium on Graph Drawing.
    .. [2] Sala, F., De Sa, C., Gu, A. and Ré, C. (2018). "Representation tradeoffs for
       hyperbolic embeddings". International Conference on Machine Learning.

    Examples
    --------
    >>> from skrep.datasets import load_mammals
    >>> from skrep.graph import relations_from_edges, spanning_forest
    >>> from skrep.hyperbolic import TreeEmbedding
    >>> mammals = load_mammals()
    >>> relations = relations_from_edges(mammals.edges, closure=False)
    >>> tree = TreeEmbedding(n_components=3).fit(spanning_forest(relations.matrix))
    >>> tree.embedding_.shape
    (1170, 3)

    Nearest to the wolf are what it is a kind of and its kinds:

    >>> wolf = list(mammals.names).index("wolf.n.01")
    >>> nearest = tree.distances([wolf])[0].argsort()
    >>> near = mammals.names[nearest[1:7]]
    >>> "canine.n.02" in near, "coyote.n.01" in near, "dog.n.01" in near
    (True, True, False)
    """

    _parameter_constraints = {
        "n_components": "no_validation",
        "metric": [StrOptions({"precomputed"})],
        "tau": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "root": [Interval(Integral, 0, None, closed="left"), StrOptions({"center"})],
        "exact": ["boolean"],
    }

    def __init__(
        self,
        n_components: int = 10,
        *,
        metric: str = "precomputed",
        tau: float | str = "auto",
        root: int | str = "center",
        exact: bool = False,
    ) -> None:
        self.n_components = n_components
        self.metric = metric
        self.tau = tau
        self.root = root
        self.exact = exact

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Place the nodes.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_nodes, n_nodes)
            The length of the edge between nodes i and j in row i, column j, or in row
            j, column i, or in both; the shorter counts then. 0 is no edge.
        y : None
            Not used.

        Returns
        -------
        TreeEmbedding
            The fitted estimator.

        Raises
        ------
        TypeError
            If X is a graph of networkx, or a matrix with its labels.
        ValueError
            If X is not square, a length is NaN, infinite, negative or a stored 0, or
            `tau` takes a node farther out than numbers reach.

        Warns
        -----
        DataConversionWarning
            If edges are left out: those of a node to itself, and those that close a
            circle, for which the shortest spanning tree is taken. If an edge has
            another length in the other direction. If a node has got the point of its
            parent, far out. If a node has more than two edges and the dimension is 1.
        """
        who = type(self).__name__
        n_components = _tree_input.check_tree_dimension(
            who, self.n_components, exact=self.exact
        )
        edges, dtype = _tree_input.read_edges(self, X)
        tree, whole = _tree_input.rooted_tree(who, edges, self.root)
        limit = poincare.max_radius(dtype)
        self._place(tree, n_components, limit)
        placed = self._placement
        points = ball_points(placed.radius, placed.direction, limit)
        self.embedding_ = poincare.project(points.astype(dtype))
        self.parents_ = tree.parents
        self.lengths_ = tree.lengths.astype(dtype)
        self.roots_ = tree.order[: tree.levels[1]]
        self.distortion_ = None if whole else self._lost(edges)
        if not self.exact:
            _tree_input.warn_of_meetings(who, tree, self.embedding_, self.tau_)
        if n_components == 1 and placed.degree.max() > 2:
            warn(
                f"{who}: 'n_components' is 1 and a node has {placed.degree.max()} "
                "edges. A line has two directions, so that branches fall upon each "
                "other. Pass n_components=2 or more.",
                DataConversionWarning,
            )
        return self

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Place the nodes and return their points.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_nodes, n_nodes)
            Lengths of edges, as in `fit`.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_nodes, n_components)
            `embedding_`.
        """
        return self.fit(X, y).embedding_.copy()

    def distances(self, rows: Any = None) -> FloatArray:
        """Measure distances between fitted nodes, in units of the edges.

        Parameters
        ----------
        rows : array-like of int, default=None
            Nodes to measure from; None for all.

        Returns
        -------
        ndarray of shape (n_rows, n_nodes)
            Hyperbolic distances over `tau_`. After an `exact` fit they come from
            `radius_` and `angle_`, else from `embedding_`.

        Raises
        ------
        ValueError
            If a row is no node.
        """
        check_is_fitted(self)
        nodes = _tree_input.read_nodes(type(self).__name__, rows, len(self.parents_))
        if hasattr(self, "radius_"):
            exact = self.radius_, self.angle_, self.n_bits_
            return _plane.ray_distances(*exact, nodes) / self.tau_
        points = self.embedding_
        found = poincare.pairwise_distances(points[nodes], points)
        found[np.arange(len(nodes)), nodes] = 0
        return found / found.dtype.type(self.tau_)

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return (Claim("positive_scaling"),) if self.tau == "auto" else ()

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _place(self, tree: RootedForest, n_components: int, limit: float) -> None:
        who, tau = type(self).__name__, self.tau
        farthest, spoke = _tree_input.reach(tree)
        for name in ("radius_", "angle_", "n_bits_"):
            self.__dict__.pop(name, None)
        if self.exact:
            self.tau_, self.n_bits_ = _tree_input.long_tau(who, tau, tree, farthest)
            rays = _plane.draw_rays(tree, self.tau_, spoke)
            self.radius_ = rays.radius
            self.angle_ = _plane.long_angles(tree, rays, self.n_bits_)
            tau = "auto"
        plane = n_components == 2
        used = _tree_input.short_tau(who, tau, farthest, limit, plane=plane)
        if not self.exact:
            self.tau_ = used
        place = _plane.place_in_plane if plane else place_tree
        self._placement = place(tree, n_components, used, spoke, limit)

    def _lost(self, edges: SparseMatrix) -> GraphLoss:
        nodes = sampled_nodes(edges)
        loss = graph_loss(edges, nodes, self.distances(nodes))
        n_left = edges.nnz // 2 - np.count_nonzero(self.parents_ >= 0)
        warn(
            f"{type(self).__name__}: 'X' is no tree: {n_left} of {edges.nnz // 2} "
            "edges close circles and are left out. Against the graph, distances are "
            f"{100 * loss.average:.3g} % off on average, and the worst distortion is "
            f"{loss.worst:.3g}. Pass skrep.graph.spanning_forest(X) to agree.",
            DataConversionWarning,
        )
        return loss
