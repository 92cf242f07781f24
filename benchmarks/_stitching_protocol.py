"""The stitching protocol: one head per target space, scored on mapped rows.

Pure functions, imported by the benchmark scripts of the relative family. The
question they answer: a classifier was trained on the rows of a *target* space; how
well does it serve the rows of a *source* space, once a map fitted on a few paired
rows has carried them over?

1. The rows are split, stratified by class, into 60% train and 40% test.
2. The head is a logistic regression fitted on the target's train rows, which are
   centered by their mean and divided by their root-mean-square norm.
3. `n_pairs` train rows, drawn uniformly, are the pairs. An alignment sees these and
   nothing else: the means and scales are the pairs', for every peer alike.
4. The source's test rows are mapped into the target's space and scored: accuracy of
   the head, and the mean reciprocal rank of a row's own counterpart among all test
   rows of the target, by cosine around the pairs' target mean.

No function reads a test row to choose anything.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import train_test_split

from skrep.metrics import mean_reciprocal_rank

Array = NDArray[np.floating]
Mapper = Callable[[Array, Array, Array], Array]
"""``mapper(x_pairs, y_pairs, x_test)`` returns ``x_test`` in the target's space."""

DIRECTIONS: tuple[tuple[str, str], ...] = (
    ("minilm", "e5"),
    ("e5", "minilm"),
    ("minilm", "wordllama"),
)
"""(target, source): the alignments run from the source to the target."""

PAIR_COUNTS: tuple[int, ...] = (64, 128, 256, 512)

TEST_SIZE = 3150

RIDGE_ALPHAS = np.logspace(-4, 3, 29)
"""Penalties of the ridge peers, for rows of root-mean-square norm one."""


@dataclass(frozen=True)
class Split:
    """Row indices of one stratified split."""

    seed: int
    train: NDArray[np.intp]
    test: NDArray[np.intp]


@dataclass(frozen=True)
class Head:
    """A classifier of one space and the center and scale that its input needs."""

    mean: Array
    rms: float
    classifier: LogisticRegression

    def score(self, rows: Array, labels: NDArray[np.integer]) -> float:
        """Accuracy on rows that live in the head's space."""
        scaled = (rows - self.mean) / self.rms
        return float(self.classifier.score(scaled, labels))


@dataclass(frozen=True)
class Score:
    """What one map scored on one split."""

    accuracy: float
    mrr: float


def load_space(folder: Path, name: str) -> tuple[Array, NDArray[np.integer]]:
    """Rows (n, d), float32, and class labels (n,) of one encoder."""
    with np.load(folder / f"wordnet_glosses_{name}.npz") as stored:
        return stored["gloss"].astype(np.float32), stored["y"].astype(np.intp)


def stratified_splits(
    labels: NDArray[np.integer], n_splits: int = 5, test_size: int = TEST_SIZE
) -> list[Split]:
    """Splits with seeds 0, 1, ...; every encoder shares them, rows being parallel."""
    splits = []
    for seed in range(n_splits):
        train, test = train_test_split(
            np.arange(labels.shape[0]),
            test_size=test_size,
            stratify=labels,
            random_state=seed,
        )
        splits.append(Split(seed, train, test))
    return splits


def fit_head(rows: Array, labels: NDArray[np.integer], C: float = 1.0) -> Head:
    """Logistic regression on rows (n, d), centered and divided by their RMS norm."""
    mean = rows.mean(axis=0)
    centered = rows - mean
    rms = float(np.sqrt(np.mean(np.sum(centered**2, axis=1))))
    classifier = LogisticRegression(C=C, max_iter=2000)
    classifier.fit(centered / rms, labels)
    return Head(mean, rms, classifier)


def draw_pairs(split: Split, n_pairs: int) -> NDArray[np.intp]:
    """Uniform train rows, without replacement; they depend on the split alone."""
    rng = np.random.default_rng(1000 + split.seed)
    return rng.permutation(split.train)[:n_pairs]


def score_mapper(
    mapper: Mapper,
    source: Array,
    target: Array,
    labels: NDArray[np.integer],
    split: Split,
    head: Head,
    pairs: NDArray[np.intp],
) -> Score:
    """Fit on pairs of the split's train rows, score on its test rows."""
    center = target[pairs].mean(axis=0)
    mapped = mapper(source[pairs], target[pairs], source[split.test])
    return Score(
        head.score(mapped, labels[split.test]),
        mean_reciprocal_rank(mapped - center, target[split.test] - center),
    )


def aligned_mappers() -> dict[str, Mapper]:
    """The aligned route: skrep's default and its peers, by name.

    Every peer gets the pairs centered by their own means and divided by their own
    root-mean-square norms, as the default does. Ridge chooses its penalty by
    scikit-learn's efficient leave-one-out.
    """
    return {
        "LatentAlignment()": map_by_default,
        "ridge": map_by_ridge,
        "ridge, norm restored": map_by_restored_ridge,
        "completed Procrustes": map_by_procrustes,
        "completed Procrustes, norm restored": map_by_restored_procrustes,
    }


def map_by_default(x_pairs: Array, y_pairs: Array, x_test: Array) -> Array:
    """The default `LatentAlignment`, nothing tuned."""
    from skrep.relative import LatentAlignment

    return LatentAlignment().fit(x_pairs, y_pairs).transform(x_test)


def map_by_ridge(x_pairs: Array, y_pairs: Array, x_test: Array) -> Array:
    """`sklearn.linear_model.RidgeCV` on centered and scaled pairs."""
    return _map_scaled(_ridge, x_pairs, y_pairs, x_test, restore=False)


def map_by_restored_ridge(x_pairs: Array, y_pairs: Array, x_test: Array) -> Array:
    """The ridge, each row scaled to the root-mean-square norm of the partners."""
    return _map_scaled(_ridge, x_pairs, y_pairs, x_test, restore=True)


def map_by_procrustes(x_pairs: Array, y_pairs: Array, x_test: Array) -> Array:
    """`scipy.linalg.orthogonal_procrustes` and its least-squares scale."""
    return _map_scaled(_procrustes, x_pairs, y_pairs, x_test, restore=False)


def map_by_restored_procrustes(x_pairs: Array, y_pairs: Array, x_test: Array) -> Array:
    """The completed rotation, each row scaled as in the restored ridge."""
    return _map_scaled(_procrustes, x_pairs, y_pairs, x_test, restore=True)


def paired_summary(
    ours: Sequence[float], theirs: Sequence[float]
) -> tuple[float, float]:
    """Mean of the differences over splits and its standard error."""
    difference = np.asarray(ours) - np.asarray(theirs)
    return (
        float(difference.mean()),
        float(difference.std(ddof=1) / np.sqrt(difference.size)),
    )


def _unit(rows: Array) -> Array:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms == 0, 1, norms)


def _map_scaled(
    fit: Callable[[Array, Array], Array],
    x_pairs: Array,
    y_pairs: Array,
    x_test: Array,
    restore: bool,
) -> Array:
    x_mean, y_mean = x_pairs.mean(axis=0), y_pairs.mean(axis=0)
    P, Q = x_pairs - x_mean, y_pairs - y_mean
    x_rms, y_rms = _rms(P), _rms(Q)
    mapped = ((x_test - x_mean) / x_rms) @ fit(P / x_rms, Q / y_rms)
    return (_unit(mapped) if restore else mapped) * y_rms + y_mean


def _ridge(P: Array, Q: Array) -> Array:
    return RidgeCV(alphas=RIDGE_ALPHAS).fit(P, Q).coef_.T


def _procrustes(P: Array, Q: Array) -> Array:
    # SciPy wants equal widths: the narrower side is padded with zeros.
    width = max(P.shape[1], Q.shape[1])
    padded = [np.pad(M, ((0, 0), (0, width - M.shape[1]))) for M in (P, Q)]
    rotation, total = scipy.linalg.orthogonal_procrustes(*padded)
    rotation = rotation[: P.shape[1], : Q.shape[1]]
    return rotation * (total / np.sum((P @ rotation) ** 2))


def _rms(rows: Array) -> float:
    return float(np.sqrt(np.mean(np.sum(rows**2, axis=1))))
