"""Are ancestors found again from a few columns, how fast, and beside whom?

    python benchmarks/hyperbolic_mammals.py [--rounds 3]
    python benchmarks/hyperbolic_mammals.py --nouns EDGES [--epochs 150]

The closure of WordNet's mammals (1,170 nodes, 6,448 pairs of a node and an ancestor)
ships with skrep. Ranks and MAP are those of `reconstruction_scores`, for all products
alike. Seconds are those of the processor, with one thread; a fit of ours counts whole,
gensim's without its set-up. Everything is the median over as many seeds as there are
rounds, and both products take turns. Some fifteen minutes on an idle core, nearly all
of them gensim's.

EDGES is a CSV file, gzipped or not, with columns "child" and "parent": all nouns of
WordNet, for one. Then one epoch is timed, beside gensim's, and a long fit is scored on
2,000 rows. Memory is what Linux counts for the process at its peak.
"""

import argparse
import csv
import gzip
import resource
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from _gensim import train_gensim
from _index_protocol import Bars
from _report import Report
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from skrep.datasets import load_mammals
from skrep.graph import relations_from_edges
from skrep.hyperbolic import PoincareEmbedding
from skrep.metrics import reconstruction_scores

EPOCHS = 60
"""Burn-in included: gensim's 50 + 10."""

LONG = {"max_epochs": 300, "n_negatives": 20, "learning_rate": 0.5, "burn_in": 20}
N_HELD_OUT = 50
HEAD = ["method", "d", "CPU s", "pairs / CPU s", "mean rank", "MAP"]


class Run(NamedTuple):
    """One training, or the medians of several."""

    seconds: float
    pairs_per_second: float
    mean_rank: float
    map: float


def fitted(
    relations: sp.csr_array, **params: object
) -> tuple[PoincareEmbedding, float]:
    """An embedding and the CPU seconds of its fit."""
    embedding = PoincareEmbedding(affinity="precomputed", **params)
    start = process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        embedding.fit(relations)
    return embedding, process_time() - start


def ours(relations: sp.csr_array, seed: int, **params: object) -> Run:
    embedding, seconds = fitted(relations, random_state=seed, **params)
    metric = "poincare" if embedding.model == "poincare" else "euclidean"
    scores = reconstruction_scores(embedding.embedding_, relations, metric=metric)
    pairs = relations.nnz * embedding.n_iter_
    return Run(seconds, pairs / seconds, scores.mean_rank, scores.map)


def gensim(relations: sp.csr_array, seed: int, **params: object) -> Run:
    trained = train_gensim(relations, seed=seed, **params)
    scores = reconstruction_scores(trained.points, relations)
    return Run(trained.seconds, trained.pairs_per_second, scores.mean_rank, scores.map)


def methods() -> dict[tuple[str, int], Callable[..., Run]]:
    """What is run, by name and dimension, in the order of the table."""
    chosen: dict[tuple[str, int], Callable[..., Run]] = {}
    for d in (2, 5, 10):
        chosen["gensim, defaults", d] = partial(gensim, size=d)
        chosen["gensim, alpha=0.3, no regularization", d] = partial(
            gensim, size=d, alpha=0.3, regularization=0.0
        )
        chosen["PoincareEmbedding, defaults", d] = partial(ours, n_components=d)
        chosen["PoincareEmbedding, init='tree'", d] = partial(
            ours, n_components=d, init="tree"
        )
    chosen["PoincareEmbedding, long schedule", 5] = partial(
        ours, n_components=5, **LONG
    )
    for d in (2, 5, 10, 50):
        chosen["PoincareEmbedding, model='euclidean'", d] = partial(
            ours, n_components=d, model="euclidean"
        )
    return chosen


def reconstruction(report: Report, bars: Bars, rounds: int) -> None:
    relations = relations_from_edges(load_mammals().edges).matrix
    runs: dict[tuple[str, int], list[Run]] = {key: [] for key in methods()}
    for seed in range(rounds):
        for key, call in methods().items():
            runs[key].append(call(relations, seed))
    found = {key: Run(*np.median(part, axis=0)) for key, part in runs.items()}
    report.table(
        f"Closure of the mammals, {relations.nnz:,} pairs, {EPOCHS} epochs, 10 "
        f"negatives; long schedule: {LONG['max_epochs']} epochs, "
        f"{LONG['n_negatives']} negatives, learning rate {LONG['learning_rate']}; "
        f"medians of {rounds} seeds",
        HEAD,
        [
            [
                *(name, str(d), f"{run.seconds:.2f}", f"{run.pairs_per_second:,.0f}"),
                *(f"{run.mean_rank:.3f}", f"{run.map:.4f}"),
            ]
            for (name, d), run in found.items()
        ],
    )
    own = {d: found["PoincareEmbedding, defaults", d] for d in (2, 5, 10)}
    ratios = [
        mine.pairs_per_second / peer.pairs_per_second
        for mine, peer in zip(
            runs["PoincareEmbedding, defaults", 5],
            runs["gensim, defaults", 5],
            strict=True,
        )
    ]
    bars.at_least("pairs per CPU second over gensim's, d = 5", np.median(ratios), 20)
    for what, run, rank, precision in (
        ("d = 5", own[5], 1.5, 0.935),
        ("d = 2, tree start", found["PoincareEmbedding, init='tree'", 2], 1.35, 0.92),
        ("d = 2, random start", own[2], None, 0.67),
        ("d = 10", own[10], 1.3, 0.95),
        ("d = 5, long", found["PoincareEmbedding, long schedule", 5], 1.15, 0.97),
    ):
        if rank is not None:
            bars.at_most(f"mean rank, {what}", run.mean_rank, rank)
        bars.at_least(f"MAP, {what}", run.map, precision)
    long = found["PoincareEmbedding, long schedule", 5].seconds
    bars.at_most("CPU seconds, d = 5, long", long, 15)


def alone(
    points: np.ndarray, new: np.ndarray, nodes: np.ndarray, closure: sp.csr_array
) -> tuple[float, float]:
    """Mean rank and MAP of new nodes, each ranked among the fitted ones alone."""
    ranks, precisions, counts = [], [], []
    for point, node in zip(new, nodes[len(points) :], strict=True):
        kept = np.append(nodes[: len(points)], node)
        relations = closure[kept][:, kept]
        rows = [len(points)]
        scores = reconstruction_scores(np.vstack([points, point]), relations, rows=rows)
        ranks.append(scores.mean_rank)
        precisions.append(scores.map)
        counts.append(relations[rows].nnz)
    return float(np.average(ranks, weights=counts)), float(np.mean(precisions))


def held_out(report: Report, bars: Bars, rounds: int) -> None:
    """Leaves that were not there in the fit, placed by their parents alone."""
    edges = load_mammals().edges
    closure = relations_from_edges(edges).matrix
    direct = relations_from_edges(edges, closure=False).matrix
    leaves = np.setdiff1d(edges[:, 0], edges[:, 1])
    schedules = {"defaults": {}, "long schedule": LONG}
    runs = {name: [] for name in schedules}
    for seed in range(rounds):
        new = np.random.default_rng(seed).choice(leaves, N_HELD_OUT, replace=False)
        known = np.setdiff1d(np.arange(closure.shape[0]), new)
        for name, params in schedules.items():
            embedding, _ = fitted(
                closure[known][:, known], n_components=5, random_state=seed, **params
            )
            start = process_time()
            placed = embedding.transform(direct[new][:, known])
            milliseconds = 1000 * (process_time() - start) / N_HELD_OUT
            nodes = np.append(known, new)
            scores = alone(embedding.embedding_, placed, nodes, closure)
            runs[name].append((milliseconds, *scores))
    found = {name: np.median(part, axis=0) for name, part in runs.items()}
    report.table(
        f"{N_HELD_OUT} leaves held out, d = 5, placed by their parents; all true "
        "ancestors scored, among the fitted nodes",
        ["fit", "CPU ms a node", "mean rank", "MAP"],
        [
            [name, f"{cost:.2f}", f"{rank:.3f}", f"{precision:.4f}"]
            for name, (cost, rank, precision) in found.items()
        ],
    )
    cost, rank, precision = found["long schedule"]
    bars.at_most("mean rank, held-out leaves, long schedule", rank, 1.1)
    bars.at_least("MAP, held-out leaves, long schedule", precision, 0.98)
    bars.at_most("CPU ms a node, held-out leaves", cost, 5)


def read_edges(path: Path) -> list[tuple[str, str]]:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", newline="") as stream:
        return [(row["child"], row["parent"]) for row in csv.DictReader(stream)]


def peak_gib() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def nouns(report: Report, bars: Bars, path: Path, epochs: int) -> None:
    edges = read_edges(path)
    start = process_time()
    relations = relations_from_edges(edges).matrix
    report.write(
        f"\n{relations.shape[0]:,} nodes, {relations.nnz:,} pairs, closed in "
        f"{process_time() - start:.1f} CPU s"
    )
    start = process_time()
    fitted(relations, n_components=10, max_epochs=1, burn_in=0, random_state=0)
    body = [["PoincareEmbedding, fit of one epoch", f"{process_time() - start:.2f}"]]
    embedding, seconds = fitted(
        relations, n_components=10, max_epochs=epochs, random_state=0
    )
    rows = np.random.default_rng(0).choice(relations.shape[0], 2000, False)
    rows = rows[np.diff(relations.indptr)[rows] > 0]
    scores = reconstruction_scores(embedding.embedding_, relations, rows=rows)
    body.append(["PoincareEmbedding, an epoch of all", f"{seconds / epochs:.2f}"])
    body.append([f"PoincareEmbedding, {epochs} epochs", f"{seconds:.0f}"])
    bars.at_most("CPU seconds of an epoch, nouns, d = 10", seconds / epochs, 5)
    bars.at_most("GiB at the peak, nouns", peak_gib(), 1)
    bars.at_most(f"mean rank, nouns, {epochs} epochs", scores.mean_rank, 4)
    bars.at_least(f"MAP, nouns, {epochs} epochs", scores.map, 0.87)
    bars.at_most(f"CPU minutes, nouns, {epochs} epochs", seconds / 60, 15)
    peer = train_gensim(relations, size=10, epochs=1, burn_in=0)
    body.append(["gensim, one epoch", f"{peer.seconds:.1f}"])
    report.table("Nouns, d = 10, 10 negatives", ["training", "CPU s"], body)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--nouns", type=Path)
    parser.add_argument("--epochs", type=int, default=150)
    options = parser.parse_args()
    name = "hyperbolic_nouns" if options.nouns else "hyperbolic_mammals"
    with Report(name) as report, threadpool_limits(1):
        bars = Bars()
        if options.nouns:
            nouns(report, bars, options.nouns, options.epochs)
        else:
            reconstruction(report, bars, options.rounds)
            held_out(report, bars, options.rounds)
        bars.show(report)
