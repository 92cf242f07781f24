"""The prefix protocol: what is a projection worth at every length?

Pure functions, imported by the benchmark scripts of the nested family. A method turns
7,873 glosses and 3,150 test lemmas into two arrays, once; every prefix of the arrays
is scored as if it had been computed for that length.

1. The rows are split, stratified by class, into 60% train and 40% test. A projection
   is fitted on train glosses, their labels, and train lemmas where it uses queries.
2. Classes, logistic: the prefix is centered by the train mean and divided by one
   number, the root mean square of its train entries. C is chosen from 0.01, 0.1, 1 on
   a quarter of the train rows, then the head is refitted on all of them. The values
   are tried in rising order until the score falls; each fit starts at the one before.
3. Classes, 10-NN: majority of the ten train rows of largest cosine, of several
   majorities the lowest class.
4. Retrieval: a test lemma searches all glosses by cosine; one is relevant. recall@10
   is the share of lemmas for which fewer than ten others come before it.

No function reads a test row to choose anything.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from _stitching_protocol import Split, stratified_splits
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

__all__ = [
    "ENCODERS",
    "LENGTHS",
    "SCORES",
    "Encoded",
    "Space",
    "Split",
    "class_scores",
    "load_space",
    "neighbor_scores",
    "prefixes_of",
    "recall_scores",
    "score_encoded",
    "stratified_splits",
]

Array = NDArray[np.floating]
Labels = NDArray[np.integer]

ENCODERS: tuple[str, ...] = ("minilm", "e5", "wordllama")
LENGTHS: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
SCORES: tuple[str, ...] = ("logistic", "10-NN", "recall@10")
C_GRID: tuple[float, ...] = (0.01, 0.1, 1.0)
N_NEIGHBORS = 10
ROWS_AT_ONCE = 512


@dataclass(frozen=True)
class Space:
    """The rows of one encoder; `queries[i]` searches for `documents[i]`."""

    documents: Array
    queries: Array
    labels: Labels


@dataclass(frozen=True)
class Encoded:
    """What a method made of the documents, and of the test queries in each way.

    `queries` is keyed by what is appended to the method's name: "" or, say,
    ", two means".
    """

    documents: Array
    queries: dict[str, Array]


def load_space(folder: Path, name: str) -> Space:
    """Glosses and lemmas (n, d), float32, and class labels (n,) of one encoder."""
    with np.load(folder / f"wordnet_glosses_{name}.npz") as stored:
        return Space(
            stored["gloss"].astype(np.float32),
            stored["lemma"].astype(np.float32),
            stored["y"].astype(np.intp),
        )


def prefixes_of(width: int) -> tuple[int, ...]:
    """The lengths up to the width, and the width."""
    return tuple(sorted({k for k in LENGTHS if k < width} | {width}))


def score_encoded(
    encoded: Encoded, labels: Labels, split: Split
) -> dict[tuple[str, str], dict[int, float]]:
    """Every score at every prefix, keyed by (score, way of the queries)."""
    Z, train, test = encoded.documents, split.train, split.test
    prefixes = prefixes_of(Z.shape[1])
    sides = (Z[train], labels[train], Z[test], labels[test], prefixes)
    found = {
        ("logistic", ""): class_scores(*sides, seed=split.seed),
        ("10-NN", ""): neighbor_scores(*sides),
    }
    for way, queries in encoded.queries.items():
        found["recall@10", way] = recall_scores(Z, queries, test, prefixes)
    return found


def class_scores(
    Z_train: Array,
    y_train: Labels,
    Z_test: Array,
    y_test: Labels,
    prefixes: Sequence[int],
    *,
    seed: int = 0,
) -> dict[int, float]:
    """Accuracy of a logistic regression on every prefix."""
    chosen_on, judge = train_test_split(
        np.arange(len(y_train)), test_size=0.25, stratify=y_train, random_state=seed
    )
    mean = Z_train.mean(axis=0, dtype=np.float64)
    train, test = Z_train - mean, Z_test - mean
    scores = {}
    for k in prefixes:
        rms = np.sqrt(np.mean(train[:, :k] ** 2))
        A, B = train[:, :k] / rms, test[:, :k] / rms
        head = _chosen_head(A, y_train, chosen_on, judge)
        scores[k] = float(head.fit(A, y_train).score(B, y_test))
    return scores


def neighbor_scores(
    Z_train: Array,
    y_train: Labels,
    Z_test: Array,
    y_test: Labels,
    prefixes: Sequence[int],
) -> dict[int, float]:
    """Accuracy of the ten nearest train rows by cosine on every prefix."""
    right = dict.fromkeys(prefixes, 0)
    n_classes = int(y_train.max()) + 1
    for rows, k, scaled in _prefix_products(Z_test, Z_train, prefixes):
        nearest = np.argpartition(scaled, -N_NEIGHBORS, axis=1)[:, -N_NEIGHBORS:]
        votes = np.zeros((len(scaled), n_classes), dtype=np.intp)
        np.add.at(votes, (np.arange(len(scaled))[:, None], y_train[nearest]), 1)
        right[k] += int(np.sum(votes.argmax(axis=1) == y_test[rows]))
    return {k: n / len(Z_test) for k, n in right.items()}


def recall_scores(
    documents: Array,
    queries: Array,
    relevant: NDArray[np.intp],
    prefixes: Sequence[int],
    *,
    at: int = 10,
) -> dict[int, float]:
    """Share of queries whose one relevant document is among the first, by cosine."""
    found = dict.fromkeys(prefixes, 0)
    for rows, k, scaled in _prefix_products(queries, documents, prefixes):
        own = np.take_along_axis(scaled, relevant[rows][:, None], axis=1)
        found[k] += int(np.sum(np.count_nonzero(scaled > own, axis=1) < at))
    return {k: n / len(queries) for k, n in found.items()}


def _chosen_head(
    A: Array, y: Labels, chosen_on: NDArray[np.intp], judge: NDArray[np.intp]
) -> LogisticRegression:
    head = LogisticRegression(tol=1e-3, max_iter=2000, warm_start=True)
    best, C, coef, intercept = -1.0, C_GRID[0], None, None
    for candidate in C_GRID:
        head.set_params(C=candidate).fit(A[chosen_on], y[chosen_on])
        score = head.score(A[judge], y[judge])
        if score < best:
            break
        best, C = score, candidate
        coef, intercept = head.coef_.copy(), head.intercept_.copy()
    head.coef_, head.intercept_ = coef, intercept
    return head.set_params(C=C)


def _prefix_products(
    queries: Array, documents: Array, prefixes: Sequence[int]
) -> Iterator[tuple[slice, int, Array]]:
    """Cosines up to a positive factor per query, which no ranking sees.

    The product of a prefix is that of the shorter one plus the columns between.
    """
    steps = list(zip((0, *prefixes[:-1]), prefixes, strict=True))
    inverse = {}
    for k in prefixes:
        norms = np.linalg.norm(documents[:, :k], axis=1)
        inverse[k] = 1 / np.where(norms == 0, 1, norms)
    for start in range(0, len(queries), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        block = queries[rows]
        products = np.zeros((len(block), len(documents)), dtype=documents.dtype)
        for low, k in steps:
            products += block[:, low:k] @ documents[:, low:k].T
            yield rows, k, products * inverse[k]
