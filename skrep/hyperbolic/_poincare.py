"""Poincare embedding: nodes as points of the ball, trained by their relations."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.hyperbolic._coordinates import (
    COORDINATES,
    check_coordinates,
    check_dimension,
    coordinate_width,
    in_coordinates,
)
from skrep.hyperbolic._pair_loss import MODELS
from skrep.hyperbolic._pair_training import pairs_of, train_epoch
from skrep.hyperbolic._placement import of_type, place_nodes
from skrep.hyperbolic._radius_cap import check_radius_cap, warn_of_cap
from skrep.hyperbolic._relations import (
    check_n_neighbors,
    distinct_rows,
    given_relations,
    given_rows,
    nearest_relations,
    warn_without_negatives,
)
from skrep.hyperbolic._start import first_points, random_start
from skrep.optimize import NegativeSampler, learning_rates
from skrep.typing import AnyArray, FloatArray
from skrep.utils.callbacks import CallbackSupport, FitSteps

__all__ = ["PoincareEmbedding"]

# Fitted nodes that serve as negatives of new ones; all where there are no more.
_MOST_RIVALS = 1024


class PoincareEmbedding(
    CallbackSupport, ClassNamePrefixFeaturesOutMixin, SkrepTransformer
):
    r"""Embed the nodes of a taxonomy or graph in the Poincare ball.

    Every node becomes a point, such that it is nearer to those it is related to than
    to others. Each pair (u, v) of related nodes is set against drawn nodes N(u) that u
    is not related to [1]_:

    .. math::

        L = -\sum_{(u, v)} \log
        \frac{e^{-d(u, v)}}{\sum_{v' \in \{v\} \cup N(u)} e^{-d(u, v')}},
        \qquad d(u, v) = 2 \operatorname{arsinh}
        \frac{|u - v|}{\sqrt{(1 - |u|^2)(1 - |v|^2)}}.

    The room of the ball grows exponentially with the distance from its center, as
    the number of nodes of a tree does with depth. So a node that many are related to
    moves to the center, and few columns hold a large tree. In many columns Euclidean
    space has the room as well: compare with ``model="euclidean"``.

    Read more in the :ref:`User Guide <poincare_embedding>`.

    Parameters
    ----------
    n_components : int, default=5
        Dimension of the ball, at least 1.
    affinity : {"nearest_neighbors", "precomputed"}, default="nearest_neighbors"
        What X is. "nearest_neighbors": rows of features, each related to those nearest
        to it. "precomputed": the square matrix of relations, in which row i is
        related to the columns of its positive values, as a child to its parents or
        to all its ancestors (:func:`skrep.graph.relations_from_edges`); the values
        are weights of the pairs, up to a common factor.
    n_neighbors : int, default=5
        Number of nearest rows, for "nearest_neighbors".
    max_epochs : int, default=60
        How many times all pairs are gone over, the burn-in included.
    n_negatives : int, default=10
        Negatives drawn for each pair, anew in every epoch.
    learning_rate : float, default=1.2
        Rate of the Riemannian steps, positive. It falls linearly to a twentieth in
        the last epoch.
    burn_in : int, default=10
        The first epochs of a random start, at a tenth of the rate, with negatives
        drawn by how many nodes are related to them. They settle the angles while the
        points are near the center. Other starts have no burn-in.
    init : {"random", "tree"} or array-like of shape (n_nodes, n_components), \
            default="random"
        The start. "random" is near the center. "tree" lays out the tree of each
        node's most specific relation in the first two columns, which in the plane is
        much better than a random start. Given points are trained further, as with
        ``init=other.embedding_``: one for each row of X, or for each distinct one.
    model : {"poincare", "euclidean"}, default="poincare"
        The geometry. "euclidean" takes the same loss with Euclidean distances, to
        compare with.
    radius_cap : float or None, default=None
        Largest distance of a point from the center, positive. None is 21.6 for
        float64 and 9.6 for float32, where distances still have some digits. The
        Euclidean model has none.
    coordinates : {"ball", "lorentz", "tangent"}, default="ball"
        Coordinates of the output: the points of the ball; those of the hyperboloid,
        one column more, with the time-like one first; or tangent vectors at the
        center, whose length is the distance from it, for models that take columns to
        be Euclidean. Only "ball" goes with the Euclidean model, whose points are
        returned as they are.
    random_state : int, RandomState instance or None, default=None
        Randomness of the start, of the order of the pairs, and of the negatives.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_nodes, n_components)
        The points in the ball, whatever the `coordinates` of the output.
    loss_curve_ : list of float
        Mean loss of a pair in each epoch.
    n_iter_ : int
        Number of epochs.
    n_features_in_ : int
        Number of columns seen in fit; for "precomputed" the number of nodes.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    TreeEmbedding : Trees without training, at any precision.
    TaxonomyEncoder : Categories of a table that form a taxonomy.
    skrep.metrics.reconstruction_scores : How well the relations are told.

    Notes
    -----
    `transform` places further nodes, with the fitted ones where they are: rows of
    features by the fitted rows that are nearest to them, and rows of relations to
    the fitted nodes as they are given. A node starts at the Einstein midpoint of what
    it is related to and takes thirty steps down the same loss. A row of features that
    equals a fitted one gets its point; rows of relations are always those of new
    nodes. Rows of features that repeat are one node. To place rows of features, the
    fitted object keeps the fitted rows.

    Negatives are masked where they are related, not drawn anew, so that the time of an
    epoch is linear in the number of pairs and negatives, whatever the degrees.
    Points are in curvature -1.

    Callbacks of scikit-learn 1.9 hear of every epoch, and may end the fit.

    References
    ----------
    .. [1] Nickel, M. and Kiela, D. (2017). "Poincaré embeddings for learning
       hierarchical representations". NeurIPS 30.

    Examples
    --------
    A chain of parents, and a further child of the first node:

    >>> from skrep.geometry import poincare
    >>> from skrep.graph import relations_from_edges
    >>> from skrep.hyperbolic import PoincareEmbedding
    >>> edges = [("cat", "feline"), ("lion", "feline"), ("feline", "mammal"),
    ...          ("dog", "canine"), ("fox", "canine"), ("canine", "mammal")]
    >>> relations = relations_from_edges(edges)
    >>> print(*relations.labels)
    canine cat dog feline fox lion mammal
    >>> embedding = PoincareEmbedding(2, affinity="precomputed", random_state=0)
    >>> points = embedding.fit_transform(relations.matrix)
    >>> new = embedding.transform([[0, 0, 0, 1, 0, 0, 0]])
    >>> distances = poincare.pairwise_distances(new, points)[0]
    >>> str(relations.labels[distances.argmin()])
    'feline'
    """

    _parameter_constraints = {
        "n_components": "no_validation",
        "affinity": [StrOptions({"nearest_neighbors", "precomputed"})],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "n_negatives": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "burn_in": [Interval(Integral, 0, None, closed="left")],
        "init": [StrOptions({"random", "tree"}), "array-like"],
        "model": [StrOptions(set(MODELS))],
        "radius_cap": [Interval(Real, 0, None, closed="neither"), None],
        "coordinates": [StrOptions(set(COORDINATES))],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 5,
        *,
        affinity: str = "nearest_neighbors",
        n_neighbors: int = 5,
        max_epochs: int = 60,
        n_negatives: int = 10,
        learning_rate: float = 1.2,
        burn_in: int = 10,
        init: str | FloatArray = "random",
        model: str = "poincare",
        radius_cap: float | None = None,
        coordinates: str = "ball",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.max_epochs = max_epochs
        self.n_negatives = n_negatives
        self.learning_rate = learning_rate
        self.burn_in = burn_in
        self.init = init
        self.model = model
        self.radius_cap = radius_cap
        self.coordinates = coordinates
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the points.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features) or (n_nodes, n_nodes)
            Rows of features, dense, or the matrix of relations if `affinity` is
            "precomputed".
        y : None
            Not used.

        Returns
        -------
        PoincareEmbedding
            The fitted estimator.

        Raises
        ------
        ValueError
            If relations are negative or not square or there are none; if there are
            no more distinct rows than `n_neighbors`; or if `init`, `radius_cap` or
            `coordinates` do not suit the other parameters.
        TypeError
            If rows of features are sparse, or X is a graph of networkx, or a matrix
            with its labels.

        Warns
        -----
        UserWarning
            If relations of nodes to themselves are dropped, if ``init="tree"`` and the
            relations run in circles, or if all points of `init` are one.
        ThinDataWarning
            If each node is related to all others, or to none: nothing is trained.
        ConvergenceWarning
            If points are held back at `radius_cap`.
        """
        who = type(self).__name__
        dimension = check_dimension(who, self.n_components)
        check_coordinates(who, self.coordinates, self.model)
        relations, node = self._relate(X)
        cap = check_radius_cap(who, self.radius_cap, relations.dtype, self.model)
        rng = np.random.default_rng(
            check_random_state(self.random_state).randint(2**31 - 1)
        )
        space: dict[str, Any] = {"radius_cap": cap, "model": self.model}
        start = first_points(
            who, self.init, relations, dimension, rng, node=node, **space
        )
        burn_in = self.burn_in if start is None else 0
        if start is None:
            start = random_start(rng, relations.shape[0], dimension)
        points: FloatArray = start.astype(relations.dtype, copy=False)
        pairs = pairs_of(relations)
        sampler = NegativeSampler(pairs.nodes, pairs.related, len(points))
        rates = learning_rates(self.learning_rate, self.max_epochs, burn_in=burn_in)
        losses: list[float] = []
        n_rivals = min(len(points), _MOST_RIVALS)
        self._rivals = np.sort(rng.permutation(len(points))[:n_rivals])
        self._cap = cap

        def state() -> dict[str, Any]:
            return {
                "_points": points,
                "embedding_": points if node is None else points[node],
                "loss_curve_": list(losses),
                "n_iter_": len(losses),
            }

        for epoch in FitSteps(self, self.max_epochs, state=state, X=X, y=y):
            points, loss = train_epoch(
                points,
                pairs,
                sampler,
                rng,
                float(rates[epoch]),
                n_negatives=self.n_negatives,
                frequent=epoch < burn_in,
                **space,
            )
            losses.append(loss)
        for name, value in state().items():
            setattr(self, name, value)
        if self.model == "poincare":
            warn_of_cap(who, points, cap, self.learning_rate)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> FloatArray:
        """Train the points and return them.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features) or (n_nodes, n_nodes)
            As in `fit`.
        y : None
            Not used.

        Returns
        -------
        ndarray of shape (n_samples, n_components) or (n_samples, n_components + 1)
            `embedding_` in the `coordinates` asked for.
        """
        return in_coordinates(self.fit(X, y).embedding_, self.coordinates, copy=True)

    def transform(self, X: Any) -> FloatArray:
        """Place further nodes, with the fitted ones where they are.

        Parameters
        ----------
        X : {array-like, CSR} of shape (n_samples, n_features) or (n_samples, n_nodes)
            Rows of features, or rows of relations of new nodes to the fitted ones if
            `affinity` is "precomputed"; at least one is positive in each.

        Returns
        -------
        ndarray of shape (n_samples, n_components) or (n_samples, n_components + 1)
            The points in the `coordinates` asked for, in the type of X.

        Raises
        ------
        ValueError
            If a row of relations has no positive value, or a negative one.
        """
        check_is_fitted(self)
        if self.affinity == "precomputed":
            relations = given_relations(self, X, reset=False)
            known, dtype = np.full(relations.shape[0], -1), relations.dtype
        else:
            rows = given_rows(self, X, reset=False)
            relations, known = nearest_relations(self._rows, self.n_neighbors, rows)
            dtype = rows.dtype
        new = known < 0
        placed = self._points[known]
        placed[new] = place_nodes(
            self._points,
            relations[new],
            self._rivals,
            radius_cap=self._cap,
            model=self.model,
        )
        placed = of_type(placed, dtype, model=self.model)
        return in_coordinates(placed, self.coordinates)

    def invariances(self) -> tuple[Claim, ...]:
        """List the invariances that the current parameters support.

        Returns
        -------
        tuple of Claim
            What the output does when a group acts on X, with one seed, and where no
            two rows are equally near.
        """
        if self.affinity == "precomputed":
            return (Claim("positive_scaling"),)
        groups = ("orthogonal", "column_permutation", "translation", "positive_scaling")
        return tuple(Claim(group) for group in groups)

    def _relate(self, X: Any) -> tuple[sp.csr_array, AnyArray | None]:
        """Give the relations of the nodes, and the node of each row if rows repeat."""
        who, node = type(self).__name__, None
        self._rows: Any = None
        if self.affinity == "precomputed":
            relations = given_relations(self, X, reset=True)
            few = relations.shape[0] == 2
            remedy = "more than two nodes" if few else "relations of fewer pairs"
        else:
            rows, node = distinct_rows(given_rows(self, X, reset=True))
            check_n_neighbors(who, self.n_neighbors, len(rows))
            relations = nearest_relations(rows, self.n_neighbors)[0]
            remedy = f"n_neighbors={max(1, len(rows) // 2)}, or more rows"
            self._rows = rows
        warn_without_negatives(who, relations, remedy)
        return relations, node

    @property
    def _n_features_out(self) -> int:
        return coordinate_width(self._points.shape[1], self.coordinates)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        given = self.affinity == "precomputed"
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        tags.input_tags.sparse = given
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
