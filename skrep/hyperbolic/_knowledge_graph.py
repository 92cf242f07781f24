"""Knowledge graph embedding: entities as vectors, relations as moves of them."""

from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepEstimator
from skrep._claims import Claim
from skrep._neural import TRAINING_CONSTRAINTS, require_torch
from skrep.hyperbolic._knowledge_models import MODELS
from skrep.hyperbolic._knowledge_scores import (
    Learned,
    candidate_scores,
    read_rows,
    triple_scores,
)
from skrep.hyperbolic._knowledge_training import check_even, train_triples
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import require
from skrep.utils.callbacks import CallbackSupport
from skrep.utils.fitting import all_or_nothing
from skrep.utils.labels import label_array, sorted_labels
from skrep.utils.net_params import NetParams
from skrep.utils.triples import SIDES, codes_of, encode, rank_triples

__all__ = ["KnowledgeGraphEmbedding"]


class KnowledgeGraphEmbedding(NetParams, CallbackSupport, SkrepEstimator):
    r"""Embed the entities of a knowledge graph, so that true triples score high.

    A triple (h, r, t) says that head h has relation r to tail t. Entities become
    vectors; a relation moves the head to where its tails should be. With :math:`R_r` a
    rotation and :math:`F_r` a reflection of every plane of two coordinates,
    :math:`\oplus` the addition of the ball of curvature :math:`-c_r`, and :math:`d`
    its distance, the score of a triple is

    - "complex" [1]_ [2]_:
      :math:`\operatorname{Re}\langle h, r, \bar t\rangle`, complex vectors of half as
      many numbers;
    - "rote" [3]_: :math:`-\|R_r h + r - t\|^2 + b_t`;
    - "roth": :math:`-d(R_r h \oplus r, t)^2 + b_t`, and every relation learns its
      curvature;
    - "refh": the same with :math:`F_r`;
    - "atth": the same with a mixture of :math:`R_r h` and :math:`F_r h`, whose share
      is learned.

    Vectors of the last three are tangent vectors at the origin: the exponential map,
    :func:`skrep.geometry.poincare.exp_map_origin`, makes points of them, as far from
    the origin as the vector is long. Where c goes to 0, "roth" becomes "rote". Each
    triple is asked in both directions, with a reciprocal
    relation for the way back, and its true end is set against other entities by
    cross-entropy. Training needs torch and skorch, what is fitted does not.

    Read more in the :ref:`User Guide <knowledge_graph_embedding>`.

    Parameters
    ----------
    n_components : int, default=32
        Numbers of an entity's vector, an even number from 2 on.
    model : {"complex", "rote", "roth", "refh", "atth"}, default="complex"
        The score. Hyperbolic models are for graphs that are hierarchies and for few
        dimensions, see the user guide.
    regularization : float, default=0.01
        Factor of the sum of cubed moduli of head, relation and tail, from 0 on [2]_.
    max_epochs : int, default=50
        Number of passes over the triples.
    batch_size : int or "auto", default="auto"
        About how many triples a step sees. "auto" is a sixteenth of them, at least 64
        and at most 1000.
    lr : float, default=3e-2
        Learning rate of AdamW in the first epoch. It falls linearly to a twentieth in
        the last one.
    weight_decay : float, default=0.0
        Its decoupled weight decay.
    validation_fraction : float or None, default=None
        Share of the triples that is held out. Training then ends when their loss has
        not improved for 10 epochs, and returns to the vectors that were best. None
        trains for `max_epochs` on all triples.
    device : str, default="cpu"
        Where to train, such as "cuda". What was fitted opens on any machine.
    callbacks : list or None, default=None
        Callbacks of skorch. Those of scikit-learn go to `set_callbacks`.
    optimizer_params : dict or None, default=None
        Arguments of AdamW, which are nested parameters as well:
        ``set_params(optimizer__betas=(0.9, 0.99))``.
    random_state : int, RandomState or None, default=None
        Seed of first vectors, batches and samples. The global random states of NumPy
        and torch stay as they are.

    Attributes
    ----------
    entities_ : ndarray of shape (n_entities,)
        Labels of heads and tails, sorted.
    relations_ : ndarray of shape (n_relations,)
        Labels of the relations, sorted.
    entity_embedding_ : ndarray of shape (n_entities, n_components), float32
        Vectors of the entities.
    entity_bias_ : ndarray of shape (n_entities,), float32
        Biases b; 0 for "complex".
    relation_embedding_ : ndarray of shape (2 * n_relations, n_parameters), float32
        What relations do, then what their reciprocals do. "complex": the factor;
        others: an angle per plane, the angles of reflections and the attention
        for "atth", and the translation.
    curvatures_ : ndarray of shape (2 * n_relations,), float32
        c of each relation and reciprocal; 0 for "complex" and "rote", which are flat.
    history_ : list of dict
        Losses of every epoch.
    n_iter_ : int
        Number of epochs.
    best_loss_ : float
        Smallest loss of the held-out triples; None if there were none.
    n_features_in_ : int
        Number of columns of X: 3.
    feature_names_in_ : ndarray of shape (3,)
        Names of these columns, if X had any.

    See Also
    --------
    PoincareEmbedding : One relation, as of a taxonomy.
    skrep.metrics.link_prediction_scores : Ranks of true ends by any model.

    Notes
    -----
    It is no transformer, for its rows are triples. `entity_frame` gives the vectors of
    entities as a table, to be joined to others.

    A triple that repeats counts once, and the order of the triples does not matter. A
    triple may lead from an entity to itself.

    With more than 1000 entities a step sets its triples against 250 of them, drawn anew
    and weighed as if they were all. Further true tails of a head and relation count as
    other entities there: leaving them out made the ranks worse.

    The fitted object keeps the codes of its triples, which `score` leaves out of the
    ranks.

    References
    ----------
    .. [1] Trouillon, T., Welbl, J., Riedel, S., Gaussier, E. and Bouchard, G. (2016).
       "Complex embeddings for simple link prediction". ICML.
    .. [2] Lacroix, T., Usunier, N. and Obozinski, G. (2018). "Canonical tensor
       decomposition for knowledge base completion". ICML.
    .. [3] Chami, I., Wolf, A., Juan, D.-C., Sala, F., Ravi, S. and Ré, C. (2020).
       "Low-dimensional hyperbolic knowledge graph embeddings". ACL.

    Examples
    --------
    >>> from skrep.hyperbolic import KnowledgeGraphEmbedding
    >>> lands = {"Oslo": "Norway", "Rome": "Italy", "Lima": "Peru"}
    >>> words = {"Norway": "Norwegian", "Italy": "Italian", "Peru": "Spanish"}
    >>> triples = [(city, "capital of", land) for city, land in lands.items()]
    >>> triples += [(land, "has language", word) for land, word in words.items()]
    >>> model = KnowledgeGraphEmbedding(8, random_state=0).fit(triples)
    >>> scores = model.candidate_scores([("Rome", "capital of", "Italy")], "tail")
    >>> print(model.entities_[scores.argmax()])
    Italy
    """

    entities_: AnyArray
    relations_: AnyArray
    entity_embedding_: FloatArray
    entity_bias_: FloatArray
    relation_embedding_: FloatArray
    curvatures_: FloatArray
    history_: list[dict[str, float]]
    n_iter_: int
    best_loss_: float | None
    n_features_in_: int
    _codes: tuple[dict[Any, int], dict[Any, int]]
    _triples: IntArray

    _parameter_constraints = {
        "n_components": "no_validation",
        "model": [StrOptions(set(MODELS))],
        "regularization": [Interval(Real, 0, None, closed="left")],
        **TRAINING_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int = 32,
        *,
        model: str = "complex",
        regularization: float = 0.01,
        max_epochs: int = 50,
        batch_size: int | str = "auto",
        lr: float = 3e-2,
        weight_decay: float = 0.0,
        validation_fraction: float | None = None,
        device: str = "cpu",
        callbacks: Any = None,
        optimizer_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.model = model
        self.regularization = regularization
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.device = device
        self.callbacks = callbacks
        self.optimizer_params = optimizer_params
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Self:
        """Train the vectors.

        Parameters
        ----------
        X : array-like or frame of shape (n_triples, 3)
            Head, relation and tail of each triple, by position. Labels are strings or
            numbers, or other things that can be hashed, of one kind for all entities
            and of one for all relations.
        y : None
            Not used.

        Returns
        -------
        KnowledgeGraphEmbedding
            The fitted estimator.

        Raises
        ------
        ImportError
            If torch or skorch is not installed.
        ValueError
            If rows are no triples, there is but one entity, a parameter does not suit,
            or training diverges.
        TypeError
            If X is sparse.
        """
        who = type(self).__name__
        require_torch(who)
        check_even(who, self.n_components)
        labels = read_rows(self, X, reset=True)
        entities = sorted_labels([*labels.heads, *labels.tails])
        relations = sorted_labels(labels.relations)
        if len(entities) < 2:
            raise ValueError(
                f"{who}: 'X' has one entity, {entities[0]!r}, and nothing to tell it "
                "from. Pass triples of two entities at least, such as "
                "[('Oslo', 'in', 'Norway')]."
            )
        self._codes = codes_of(entities), codes_of(relations)
        self._triples = np.unique(encode(who, labels, *self._codes), axis=0)
        self.entities_, self.relations_ = label_array(entities), label_array(relations)
        sizes = len(entities), len(relations)
        told = {"X": X, "y": y, "metadata": {}}
        for name, value in train_triples(self, self._triples, *sizes, told).items():
            setattr(self, name, value)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Score triples: how well the tail suits head and relation.

        Parameters
        ----------
        X : array-like or frame of shape (n_triples, 3)
            Head, relation and tail of each triple, by position.

        Returns
        -------
        ndarray of shape (n_triples,)
            Scores, larger for what is more likely. They compare tails of one head and
            relation; between others there is no common scale.

        Raises
        ------
        ValueError
            If rows are no triples, or a label was not in fit.
        """
        triples = self._encode(X)
        return triple_scores(self._learned, triples)

    def candidate_scores(self, X: Any, side: str = "tail") -> FloatArray:
        """Score every entity in the place of the tail, or of the head.

        Parameters
        ----------
        X : array-like or frame of shape (n_triples, 3)
            Triples, of which the entity on the given side plays no part; it must be a
            known one.
        side : {"tail", "head"}, default="tail"
            Which place. Heads are scored by the reciprocal relation.

        Returns
        -------
        ndarray of shape (n_triples, n_entities)
            Scores, in the order of `entities_`; larger is better. They compare the
            entities of one row.

        Raises
        ------
        ValueError
            If rows are no triples, a label was not in fit, or the side is unknown.
        """
        if side not in SIDES:
            raise ValueError(
                f"{type(self).__name__}: 'side' is {side!r}. It must be 'tail' or "
                "'head': pass side=\"tail\"."
            )
        triples = self._encode(X)
        return candidate_scores(self._learned, triples, side)

    def score(self, X: Any, y: Any = None) -> float:
        """Give the filtered mean reciprocal rank of the ends of triples.

        Parameters
        ----------
        X : array-like or frame of shape (n_triples, 3)
            True triples.
        y : None
            Not used.

        Returns
        -------
        float
            Mean of one over the rank of the true tail and of the true head among all
            entities, but for those that make another triple of X or of fit. Entities of
            the same score come before the true one.

        Raises
        ------
        ValueError
            If rows are no triples, or a label was not in fit.
        """
        triples = self._encode(X)
        ranks = rank_triples(
            lambda rows, side: candidate_scores(self._learned, triples[rows], side),
            triples,
            self._triples,
            len(self.entities_),
            tuple(SIDES),
        )
        return float(np.mean(1 / ranks))

    def entity_frame(self) -> Any:
        """Give the vectors of the entities as a table.

        Returns
        -------
        DataFrame of shape (n_entities, n_components)
            Columns "entity0", "entity1" and so on, with `entities_` as the index:
            ``table.join(model.entity_frame(), on="city")`` adds them to rows that name
            entities in the column "city".
        """
        check_is_fitted(self)
        pandas = require("pandas", f"{type(self).__name__}.entity_frame")
        names = [f"entity{j}" for j in range(self.entity_embedding_.shape[1])]
        return pandas.DataFrame(
            self.entity_embedding_.copy(), index=self.entities_, columns=names
        )

    def invariances(self) -> tuple[Claim, ...]:
        """List the invariances that the current parameters support.

        Returns
        -------
        tuple of Claim
            The claims.
        """
        return (Claim("row_permutation", "same_action"),)

    def _encode(self, X: Any) -> IntArray:
        check_is_fitted(self)
        labels = read_rows(self, X, reset=False)
        return encode(type(self).__name__, labels, *self._codes)

    @property
    def _learned(self) -> Learned:
        return Learned(
            self.model,
            self.entity_embedding_,
            self.entity_bias_,
            self.relation_embedding_,
            self.curvatures_,
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags
