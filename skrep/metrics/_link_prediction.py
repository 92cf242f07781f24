"""How well a model of a knowledge graph finds the missing end of a triple."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from skrep.typing import AnyArray, IntArray
from skrep.utils.triples import (
    SIDES,
    Labels,
    codes_of,
    encode,
    rank_triples,
    read_triples,
)

__all__ = ["LinkPredictionScores", "link_prediction_scores"]


class LinkPredictionScores(NamedTuple):
    """Result of `link_prediction_scores`.

    Parameters
    ----------
    mrr : float
        Mean of one over the rank, in (0, 1].
    hits_at_1, hits_at_3, hits_at_10 : float
        Shares of ranks up to 1, 3 and 10.
    """

    mrr: float
    hits_at_1: float
    hits_at_3: float
    hits_at_10: float


def link_prediction_scores(
    model: Any, X: Any, *, known: Any = None, side: str = "both"
) -> LinkPredictionScores:
    r"""Rank the true ends of triples among all entities, known triples left out.

    For a triple (h, r, t) every entity e is put in the place of the tail, and
    (h, r, e) is scored; then in the place of the head. With :math:`n` the number of
    entities other than the true one whose score is no lower and that make no known
    triple, the rank is :math:`1 + n`: the filtered protocol [1]_. The scores are means
    over triples and sides.

    Parameters
    ----------
    model : object
        A fitted :class:`skrep.hyperbolic.KnowledgeGraphEmbedding`, or anything that has
        `entities_`, an array of labels, and ``candidate_scores(X, side)``, which takes
        some of the triples and "head" or "tail" and gives an array of shape
        (n_triples, n_entities): the scores of the entities in that place, larger is
        better.
    X : array-like or frame of shape (n_triples, 3)
        True triples: head, relation and tail, by position.
    known : array-like or frame of shape (n_known, 3), default=None
        Other triples that are true, such as those of fit. They are in nobody's way.
        Those with an entity that the model does not know play no part.
    side : {"both", "head", "tail"}, default="both"
        What is looked for.

    Returns
    -------
    LinkPredictionScores
        The scores `mrr`, `hits_at_1`, `hits_at_3` and `hits_at_10`.

    Raises
    ------
    ValueError
        If rows are no triples, an entity of X is not known, or scores have another
        shape or are NaN.

    See Also
    --------
    skrep.hyperbolic.KnowledgeGraphEmbedding : A model; its `score` is `mrr` with the
        triples of fit as known ones.
    reconstruction_scores : One relation, told by distances.

    Notes
    -----
    **Ties count against the true entity.** A model that scores all entities alike has
    the worst ranks. Where a model breaks ties by position or at random, or ties are
    given the mean rank, such a model looks good; figures so obtained cannot be compared
    with these.

    Scores are compared as they are given, in blocks of rows of about 64 MiB, so that
    memory does not grow with the number of triples.

    References
    ----------
    .. [1] Bordes, A., Usunier, N., Garcia-Duran, A., Weston, J. and Yakhnenko, O.
       (2013). "Translating embeddings for modeling multi-relational data". NeurIPS 26.
    .. [2] Sun, Z., Vashishth, S., Sanyal, S., Talukdar, P. and Yang, Y. (2020). "A
       re-evaluation of knowledge graph completion methods". ACL.

    Examples
    --------
    A model that knows the number of letters, and asks for ends that have as many:

    >>> import numpy as np
    >>> from skrep.metrics import link_prediction_scores
    >>> class Length:
    ...     entities_ = np.array(["Bern", "Cuba", "Lima", "Norway", "Peru", "Vienna"])
    ...     def candidate_scores(self, X, side):
    ...         given = 0 if side == "tail" else 2
    ...         sizes = np.char.str_len(self.entities_)
    ...         return -np.abs(sizes - [[len(row[given])] for row in X])
    >>> triples = [("Lima", "in", "Peru")]
    >>> link_prediction_scores(Length(), triples).mrr
    0.25
    >>> link_prediction_scores(Length(), triples, known=[("Lima", "in", "Cuba")]).mrr
    0.291...
    """
    who = "link_prediction_scores"
    validate_parameter_constraints(
        {"side": [StrOptions({"both", *SIDES})]}, {"side": side}, caller_name=who
    )
    entities = codes_of(np.asarray(model.entities_).tolist())
    labels = read_triples(who, X)
    true = _known_to(entities, who, known)
    relations = codes_of({*labels.relations, *true.relations})
    triples = encode(who, labels, entities, relations)

    def scores(rows: slice, side: str) -> AnyArray:
        asked = _safe_indexing(X, np.arange(rows.start, rows.stop))
        found = np.asarray(model.candidate_scores(asked, side))
        shape = rows.stop - rows.start, len(entities)
        if found.shape != shape or np.isnan(found).any():
            what = "NaN" if found.shape == shape else f"an array of shape {found.shape}"
            raise ValueError(
                f"{who}: 'model' gives {what} as candidate_scores of {shape[0]} "
                f"triples. Give one number per entity, in the order of entities_: an "
                f"array of shape {shape}."
            )
        return found

    others = encode(who, true, entities, relations, "known")
    sides = tuple(SIDES) if side == "both" else (side,)
    return _summary(rank_triples(scores, triples, others, len(entities), sides))


def _known_to(entities: dict[Any, int], who: str, known: Any) -> Labels:
    if known is None:
        return Labels([], [], [])
    rows = zip(*read_triples(who, known, "known"), strict=True)
    kept = [row for row in rows if row[0] in entities and row[2] in entities]
    return Labels(*([row[j] for row in kept] for j in range(3)))


def _summary(ranks: IntArray) -> LinkPredictionScores:
    return LinkPredictionScores(
        float(np.mean(1 / ranks)),
        *(float(np.mean(ranks <= most)) for most in (1, 3, 10)),
    )
