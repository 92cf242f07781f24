"""Triples of an estimator read, and scored by what it has learned."""

from typing import Any, Final, NamedTuple

import numpy as np
from sklearn.utils.validation import validate_data

from skrep.hyperbolic._knowledge_models import pair_scores, queries, scores_of
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks
from skrep.utils.triples import SIDES, Labels, read_triples

__all__ = ["Learned", "candidate_scores", "read_rows", "triple_scores"]

_TRIPLES_BUDGET: Final = 2**18
_CANDIDATES_BUDGET: Final = 2**26


class Learned(NamedTuple):
    """What a `KnowledgeGraphEmbedding` has learned.

    Parameters
    ----------
    model : str
        Its score.
    entity : ndarray of shape (n_entities, width)
        Vectors of the entities.
    bias : ndarray of shape (n_entities,)
        Their biases.
    relation : ndarray of shape (2 * n_relations, relation_width)
        Vectors of the relations, then of their reciprocals.
    curvature : ndarray of shape (2 * n_relations,)
        c of these.
    """

    model: str
    entity: FloatArray
    bias: FloatArray
    relation: FloatArray
    curvature: FloatArray

    def at(self, heads: IntArray, relations: IntArray) -> tuple[FloatArray, ...]:
        """Give vectors of heads, vectors of relations, and c, in float64."""
        found = (
            self.entity[heads],
            self.relation[relations],
            self.curvature[relations, None],
        )
        return tuple(part.astype(np.float64) for part in found)


def read_rows(estimator: Any, X: Any, *, reset: bool) -> Labels:
    """Read the triples that go into an estimator, and look at names of columns.

    Parameters
    ----------
    estimator : estimator
        The estimator; ``n_features_in_`` and ``feature_names_in_`` are set on it.
    X : array-like or frame of shape (n_triples, 3)
        Head, relation and tail of each triple.
    reset : bool
        True in ``fit``, False where fitted columns are to be met.

    Returns
    -------
    Labels
        The labels.

    Raises
    ------
    ValueError
        If rows are no triples, or columns have other names than in fit.
    TypeError
        If X is sparse.
    """
    who = type(estimator).__name__
    if reset or not hasattr(X, "columns"):
        labels = read_triples(who, X)
    try:
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{who}: {error}") from error
    return labels if reset or not hasattr(X, "columns") else read_triples(who, X)


def triple_scores(learned: Learned, triples: IntArray) -> FloatArray:
    """Score triples.

    Parameters
    ----------
    learned : Learned
        What scores.
    triples : ndarray of shape (n_triples, 3)
        Codes of head, relation and tail.

    Returns
    -------
    ndarray of shape (n_triples,)
        The scores.
    """
    scores = np.empty(len(triples))
    row_bytes = 128 * learned.relation.shape[1]
    for rows in row_blocks(len(triples), row_bytes, budget=_TRIPLES_BUDGET):
        heads, relations, tails = triples[rows].T
        head, relation, curvature = learned.at(heads, relations)
        tail = learned.entity[tails].astype(np.float64)
        scores[rows] = pair_scores(
            np, learned.model, head, relation, tail, learned.bias[tails], curvature
        )
    return scores


def candidate_scores(learned: Learned, triples: IntArray, side: str) -> FloatArray:
    """Score all entities in one place of triples.

    Parameters
    ----------
    learned : Learned
        What scores.
    triples : ndarray of shape (n_triples, 3)
        Codes of head, relation and tail.
    side : {"tail", "head"}
        The place.

    Returns
    -------
    ndarray of shape (n_triples, n_entities)
        The scores.
    """
    model, bias = learned.model, learned.bias
    back = len(learned.relation) // 2 * (side == "head")
    tails = learned.entity.astype(np.float64)
    squares = np.square(tails).sum(axis=1)
    scores = np.empty((len(triples), len(tails)))
    for rows in row_blocks(len(triples), 48 * len(tails), budget=_CANDIDATES_BUDGET):
        part = triples[rows]
        head, relation, curvature = learned.at(
            part[:, SIDES[side][0]], part[:, 1] + back
        )
        query = queries(np, model, head, relation, curvature)
        products = query.vector @ tails.T
        scores[rows] = scores_of(np, model, query, products, squares, bias, curvature)
    return scores
