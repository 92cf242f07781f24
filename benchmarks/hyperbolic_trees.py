"""How good are trees that are placed and not trained, and how fast are they placed?

    python benchmarks/hyperbolic_trees.py /folder/with/wordnet_noun_edges.csv.gz

The mammals are bundled. Their tree and that of the WordNet nouns are spanning trees of
the direct hypernym edges: each synset keeps the first hypernym that is listed. The
neighbor MAP ranks all nodes by distance and looks for the direct neighbors; distortion
is over all pairs, or over the sampled rows of the nouns. Seconds are those of the
processor, in one thread with ``OMP_NUM_THREADS=1``; the codes of directions are counted
where it says so, and else are there from an earlier fit. It takes some two minutes.
"""

import argparse
import csv
import gzip
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
import scipy.sparse as sp
from _data import data_folder
from _index_protocol import Bars
from _report import Report
from scipy.stats import spearmanr

from skrep.datasets import load_mammals
from skrep.graph import (
    relations_from_edges,
    rooted_order,
    tree_distances,
    undirected_edges,
)
from skrep.hyperbolic import TreeEmbedding
from skrep.hyperbolic._codes import spherical_code
from skrep.metrics import distortion, neighbor_map

N_ROWS = 300
N_REPEATS = 51
PLACED = (2, False), (2, True), (3, False), (5, False), (10, False), (20, False)
BARS = {3: 2.5, 10: 1.3}


def matrix_of(parents: np.ndarray) -> sp.csr_array:
    below = np.flatnonzero(parents >= 0)
    entries = np.ones(len(below)), (below, parents[below])
    return sp.csr_array(entries, shape=(len(parents),) * 2)


def first_parents(edges: np.ndarray, n_nodes: int) -> np.ndarray:
    """The first parent that is listed of every child."""
    parents = np.full(n_nodes, -1)
    parents[edges[::-1, 0]] = edges[::-1, 1]
    return parents


def mammals() -> sp.csr_array:
    bundle = load_mammals()
    return matrix_of(first_parents(bundle.edges, len(bundle.names)))


def nouns(folder: Path) -> sp.csr_array:
    with gzip.open(folder / "wordnet_noun_edges.csv.gz", "rt") as lines:
        pairs = [(child, parent) for child, parent, _ in csv.reader(lines)][1:]
    labels = relations_from_edges(pairs, closure=False).labels
    numbers = {label: number for number, label in enumerate(labels)}
    edges = np.array([[numbers[end] for end in pair] for pair in pairs])
    return matrix_of(first_parents(edges, len(labels)))


def seconds(call: Callable[[], object]) -> float:
    start = process_time()
    call()
    return process_time() - start


def cells(found, tau: float, score: float) -> list[str]:
    return [f"{tau:.2f}", f"{score:.4f}", f"{found.average:.3f}", f"{found.worst:.3f}"]


def measure_mammals(report: Report, bars: Bars) -> None:
    tree = mammals()
    body = []
    for n_components, exact in PLACED:
        model = TreeEmbedding(n_components, exact=exact).fit(tree)
        cost = median(seconds(lambda m=model: m.fit(tree)) for _ in range(N_REPEATS))
        if exact:
            placed, metric = model.distances() * model.tau_, "precomputed"
        else:
            placed, metric = model.embedding_, "poincare"
        found = distortion(placed, tree, metric=metric, scale=model.tau_)
        score = neighbor_map(placed, tree, metric=metric)
        name = f"{n_components}, exact" if exact else f"{n_components}"
        body.append([name, *cells(found, model.tau_, score), f"{1e3 * cost:.1f}"])
        where = f"mammals, {name}"
        if n_components in BARS:
            bars.at_least("neighbor MAP", score, 1.0, where)
            bars.at_most("worst distortion", found.worst, BARS[n_components], where)
        if n_components == 2:
            bars.at_least("neighbor MAP", score, 0.99, where)
            bars.at_most("fit, ms", 1e3 * cost, 10, where)
            lost = np.count_nonzero(~np.isfinite(placed).all(axis=1))
            bars.at_most("nodes lost", lost, 0, where)
    head = ["dimensions", "tau", "MAP", "average", "worst", "fit, ms"]
    report.table("Mammals, 1,170 nodes, float64", head, body)


def measure_nouns(report: Report, bars: Bars, folder: Path) -> None:
    tree = nouns(folder)
    n_nodes = tree.shape[0]
    rows = np.random.default_rng(0).choice(n_nodes, N_ROWS, replace=False)
    body = []
    for n_components in (2, 3, 5, 10):
        spherical_code.cache_clear()
        model = TreeEmbedding(n_components)
        first = seconds(lambda m=model: m.fit(tree))
        again = seconds(lambda m=model: m.fit(tree))
        score = neighbor_map(model.embedding_, tree, rows=rows)
        found = distortion(model.embedding_, tree, scale=model.tau_, rows=rows[:30])
        name = f"{n_components}"
        costs = f"{1e3 * first:.0f}", f"{1e3 * again:.0f}"
        body.append([name, *cells(found, model.tau_, score), *costs])
        if n_components == 10:
            where = f"nouns, {name}, codes included"
            bars.at_most("fit, s", first, 4, where)
            bars.at_least("neighbor MAP", score, 0.995, f"nouns, {N_ROWS} rows")
            lost = np.count_nonzero(~np.isfinite(model.embedding_).all(axis=1))
            bars.at_most("nodes lost", lost, 0, "nouns")
    head = ["dimensions", "tau", "MAP", "average", "worst", "first fit, ms", "again"]
    report.table(f"Nouns, {n_nodes:,} nodes, float64, {N_ROWS} rows", head, body)


def deep_trees() -> dict[str, np.ndarray]:
    """Trees of depth 500: a complete binary one would have 2**501 nodes."""
    depth = 500
    spine = np.arange(depth + 1) - 1
    rng = np.random.default_rng(0)
    parents, free = spine.tolist(), [*range(depth), depth, depth]
    for node in range(depth + 1, 1500):
        parents.append(free.pop(rng.integers(len(free))))
        free += [node, node]
    return {
        "path": spine,
        "caterpillar (a leaf at each node of a path)": np.append(spine, spine[1:]),
        "random binary, 1,500 nodes": np.array(parents),
    }


def measure_deep(report: Report, bars: Bars) -> None:
    body = []
    for name, parents in deep_trees().items():
        tree = matrix_of(parents)
        model = TreeEmbedding(2, exact=True, root=0)
        cost = seconds(lambda m=model, t=tree: m.fit(t))
        order = rooted_order(undirected_edges(tree), model.roots_)
        upper = np.triu_indices(len(parents), 1)
        paths = tree_distances(order, np.arange(len(parents)))[upper]
        start = process_time()
        ratios = model.distances()[upper] / paths
        asked = process_time() - start
        worst = ratios.max() / ratios.min()
        off = np.abs(ratios - 1).mean()
        row = [f"{model.tau_:.2f}", f"{model.n_bits_}", f"{off:.4f}", f"{worst:.4f}"]
        body.append([name, *row, f"{1e3 * cost:.0f}", f"{asked:.2f}"])
        bars.at_most("worst distortion", worst, 1.1, f"depth 500: {name}")
    head = ["tree", "tau", "bits", "average", "worst", "fit, ms", "all distances, s"]
    report.table("Trees of depth 500, root at an end, exact", head, body)


def measure_root(report: Report, bars: Bars) -> None:
    body = []
    for arity, n_levels in ((2, 12), (3, 9)):
        sizes = arity ** np.arange(n_levels)
        parents = (np.arange(sizes.sum()) - 1) // arity
        norms = np.linalg.norm(
            TreeEmbedding(2).fit_transform(matrix_of(parents)), axis=1
        )
        depth = np.repeat(np.arange(n_levels), sizes)
        reached = spearmanr(depth, norms).statistic
        highest = np.sqrt(1 - ((sizes / sizes.sum()) ** 3).sum())
        name = f"complete, {arity} children, {n_levels} levels"
        nearest = str(bool(norms.argmin() == 0))
        body.append([name, nearest, f"{reached:.4f}", f"{highest:.4f}"])
        bars.at_least("Spearman (depth, norm)", reached, 0.9, name)
    head = ["tree in the plane", "root nearest 0", "Spearman", "highest there can be"]
    report.table("Root and depth; norms that all differ have a highest", head, body)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", nargs="?", help="folder of the WordNet files")
    folder = data_folder(parser.parse_args().data)
    bars = Bars()
    with Report("hyperbolic_trees") as report:
        measure_mammals(report, bars)
        measure_nouns(report, bars, folder)
        measure_deep(report, bars)
        measure_root(report, bars)
        bars.show(report)


if __name__ == "__main__":
    main()
