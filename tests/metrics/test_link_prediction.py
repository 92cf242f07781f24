"""Ranks of the true ends of triples, against a loop that takes them one by one."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from skrep.metrics import LinkPredictionScores, link_prediction_scores
from skrep.utils.triples import rank_triples
from tests.strategies import seeds

ENTITIES = np.array([f"e{i}" for i in range(7)])
RELATIONS = ("r0", "r1", "r2")


class Table:
    """A model that has the score of every triple in a table."""

    def __init__(self, scores, entities=ENTITIES):
        self.scores = np.asarray(scores)
        self.entities_ = entities

    def candidate_scores(self, X, side):
        rows = X.to_numpy() if hasattr(X, "to_numpy") else X
        places = {e: i for i, e in enumerate(self.entities_.tolist())}
        codes = [(places[h], RELATIONS.index(r), places[t]) for h, r, t in rows]
        if side == "tail":
            return np.array([self.scores[h, r] for h, r, _ in codes])
        return np.array([self.scores[:, r, t] for _, r, t in codes])


def draw(seed, n_triples=20, n_values=5):
    """A table of few values, so that many scores are equal, and triples."""
    rng = np.random.default_rng(seed)
    size = len(ENTITIES), len(RELATIONS), len(ENTITIES)
    model = Table(rng.integers(0, n_values, size).astype(float))
    codes = rng.integers(0, size, (n_triples, 3))
    named = np.column_stack(
        [ENTITIES[codes[:, 0]], np.array(RELATIONS)[codes[:, 1]], ENTITIES[codes[:, 2]]]
    )
    return model, named


def ranks_one_by_one(model, X, known, sides):
    true = {tuple(row) for row in [*X, *known]}
    found = []
    for side in sides:
        for head, relation, tail in X:
            asked = np.array([[head, relation, tail]])
            row = model.candidate_scores(asked, side)[0]
            scores = dict(zip(model.entities_.tolist(), row, strict=True))
            own = tail if side == "tail" else head
            rank = 1
            for entity, score in scores.items():
                other = (head, relation, entity)
                if side == "head":
                    other = (entity, relation, tail)
                if entity != own and other not in true and score >= scores[own]:
                    rank += 1
            found.append(rank)
    return np.array(found)


@given(seeds, st.sampled_from(["both", "head", "tail"]), st.booleans())
@settings(max_examples=40, deadline=None)
def test_equals_a_loop(seed, side, with_known):
    model, triples = draw(seed)
    X, known = triples[:12], triples[12:] if with_known else triples[:0]
    sides = ("tail", "head") if side == "both" else (side,)
    ranks = ranks_one_by_one(model, X, known, sides)
    found = link_prediction_scores(
        model, X, known=known if with_known else None, side=side
    )
    expected = [np.mean(1 / ranks), *(np.mean(ranks <= k) for k in (1, 3, 10))]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_ties_count_against_the_true_entity():
    model = Table(np.zeros((7, 3, 7)))
    found = link_prediction_scores(model, [("e0", "r0", "e1")])
    assert found == LinkPredictionScores(1 / 7, 0.0, 0.0, 1.0)


def test_known_triples_are_in_nobodys_way():
    scores = np.zeros((7, 3, 7))
    scores[0, 0] = [0, 1, 5, 5, 5, 5, 5]
    model, X = Table(scores), [("e0", "r0", "e1")]
    known = [("e0", "r0", f"e{i}") for i in range(2, 6)]
    assert link_prediction_scores(model, X, side="tail").mrr == 1 / 6
    assert link_prediction_scores(model, X, side="tail", known=known).mrr == 1 / 2
    other = [("e0", "r1", "e2"), ("e2", "r0", "e0")]
    assert link_prediction_scores(model, X, side="tail", known=other).mrr == 1 / 6


def test_the_true_entity_stays_though_it_is_known():
    scores = np.zeros((7, 3, 7))
    model, X = Table(scores), [("e0", "r0", "e1")]
    found = link_prediction_scores(model, X, known=X)
    assert found == link_prediction_scores(model, X)


def test_known_triples_of_other_entities_play_no_part():
    model, X = draw(0)
    known = [("e1", "r0", "elsewhere"), ("e0", "r9", "e2")]
    assert link_prediction_scores(model, X, known=known) == link_prediction_scores(
        model, X
    )


@pytest.mark.parametrize("kind", [list, pd.DataFrame, "polars"])
def test_containers(kind):
    model, X = draw(1)
    if kind == "polars":
        rows = pl.DataFrame(X, schema=["a", "b", "c"], orient="row")
    else:
        rows = kind(X.tolist() if kind is list else X)
    expected = link_prediction_scores(model, X)
    assert link_prediction_scores(model, rows, known=rows) == expected


def test_blocks_give_what_the_whole_gives(monkeypatch):
    model, X = draw(2)
    expected = link_prediction_scores(model, X)
    sizes = []
    ask = model.candidate_scores

    def counted(X, side):
        sizes.append(len(X))
        return ask(X, side)

    model.candidate_scores = counted
    monkeypatch.setattr("skrep.utils.triples._BUDGET", 8 * 8 * 7 * 3)
    assert link_prediction_scores(model, X) == expected
    assert max(sizes) == 3
    assert sum(sizes) == 2 * len(X)


def test_codes_do_not_overflow():
    n = 3_000_000
    wanted = np.array([[n - 1, 900, n - 2]], dtype=np.int32)
    scores = np.zeros((1, n), dtype=np.float32)
    scores[0, -3:] = [2, 1, 1]
    others = np.array([[n - 1, 900, n - 3], [n - 1, 1, n - 1]], dtype=np.int32)
    assert rank_triples(lambda *_: scores, wanted, others, n, ("tail",)) == [[2]]


def test_bad_input():
    model, X = draw(3)
    with pytest.raises(ValueError, match=r"'side' parameter .* must be a str among"):
        link_prediction_scores(model, X, side="tails")
    with pytest.raises(ValueError, match=r"'X' has the tail 'new' in row 0, .*np.isin"):
        link_prediction_scores(model, [("e0", "r0", "new")])
    with pytest.raises(ValueError, match=r"'X' has 2 columns.*X\[:, :3\]"):
        link_prediction_scores(model, X[:, :2])
    with pytest.raises(ValueError, match=r"'known' has 2 columns.*known\[:, :3\]"):
        link_prediction_scores(model, X, known=X[:, :2])
    nan = Table(np.full((7, 3, 7), np.nan))
    with pytest.raises(ValueError, match=r"gives NaN .* Give one number per entity"):
        link_prediction_scores(nan, X)
    short = Table(np.zeros((7, 3, 6)))
    with pytest.raises(ValueError, match=r"shape \(20, 6\) .* an array of shape"):
        link_prediction_scores(short, X)
