"""How exactly does hyperbolic scaling find points again, and what does it do to trees?

    python benchmarks/hyperbolic_mds.py

No peer in Python has it. Recovery: 200 points of five dimensions, their distances from
the origin uniform up to a radius, and 50 new ones placed by their distances; worst
relative error of a distance. Trees: steps along the taxonomy of the mammals, with
scikit-learn's classical scaling beside, whose distances are multiplied by the factor
that suits them best. Seconds are those of the processor, with one thread. Some two
minutes on an idle core.
"""

from time import process_time

import numpy as np
from _index_protocol import Bars
from _report import Report
from scipy.sparse.csgraph import shortest_path
from sklearn.manifold import ClassicalMDS
from sklearn.metrics import pairwise_distances
from threadpoolctl import threadpool_limits

from skrep.datasets import load_mammals
from skrep.geometry import poincare
from skrep.graph import relations_from_edges
from skrep.hyperbolic import HyperbolicMDS
from skrep.metrics import distortion, neighbor_map

N_POINTS, N_NEW, DIMENSION, SEEDS = 200, 50, 5, 10


def distances(radius: float, seed: int) -> np.ndarray:
    """Mutual distances of random points, from their polar coordinates."""
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((N_POINTS + N_NEW, DIMENSION))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rho = radius * rng.uniform(size=len(directions))
    D = poincare.polar_distance(rho[:, None], directions[:, None], rho, directions)
    np.fill_diagonal(D, 0)
    return (D + D.T) / 2


def worst(found: np.ndarray, true: np.ndarray) -> float:
    apart = true > 0
    return float(np.abs(found[apart] / true[apart] - 1).max())


def recovery(report: Report, bars: Bars) -> None:
    body = []
    for radius in (2, 8, 12, 16, 18):
        errors = []
        for seed in range(SEEDS):
            D = distances(radius, seed)
            fitted, new = D[:N_POINTS, :N_POINTS], D[N_POINTS:, :N_POINTS]
            mds = HyperbolicMDS(DIMENSION, metric="precomputed", scale=1).fit(fitted)
            points, placed = mds.embedding_, mds.transform(new)
            errors.append(
                (
                    worst(poincare.pairwise_distances(points), fitted),
                    worst(poincare.pairwise_distances(placed, points), new),
                    HyperbolicMDS(DIMENSION, metric="precomputed").fit(fitted).scale_,
                )
            )
        inner, outer, _ = np.max(errors, axis=0)
        scale = np.median([scale for _, _, scale in errors])
        body.append([str(radius), f"{inner:.1e}", f"{outer:.1e}", f"{scale:.3f}"])
    report.table(
        f"{N_POINTS} points of {DIMENSION} dimensions, worst relative error of "
        f"{SEEDS} draws, and the scale that 'auto' finds (at most 30 over the largest "
        "distance)",
        ["radius", "fitted", "new", "scale, median"],
        body,
    )
    bars.at_most("recovery, radius 18", inner, 1e-9)
    bars.at_most("new points, radius 18", outer, 1e-9)


def trees(report: Report) -> None:
    edges = relations_from_edges(load_mammals().edges, closure=False).matrix
    D = shortest_path(edges, directed=False, unweighted=True)
    body = []
    for d in (2, 5, 10, 50):
        for scale in (1, "auto"):
            start = process_time()
            mds = HyperbolicMDS(d, metric="precomputed", scale=scale).fit(D)
            seconds = process_time() - start
            points = mds.embedding_
            error = distortion(points, edges, scale=mds.scale_).average
            body.append(
                [
                    *(f"HyperbolicMDS, scale={scale!r}", str(d), f"{seconds:.2f}"),
                    *(f"{error:.4f}", f"{neighbor_map(points, edges):.3f}"),
                ]
            )
        start = process_time()
        flat = ClassicalMDS(d, metric="precomputed").fit_transform(D)
        seconds = process_time() - start
        found = pairwise_distances(flat)
        factor = np.sum(found * D) / np.sum(found**2)
        apart = D > 0
        error = np.mean(np.abs(factor * found[apart] / D[apart] - 1))
        precision = neighbor_map(flat, edges, metric="euclidean")
        body.append(
            [
                *("ClassicalMDS", str(d), f"{seconds:.2f}"),
                *(f"{error:.4f}", f"{precision:.3f}"),
            ]
        )
    report.table(
        f"Tree of the mammals, {len(D):,} nodes: mean relative error of a "
        "distance, and MAP of direct neighbors",
        ["method", "d", "CPU s", "error", "MAP"],
        body,
    )


if __name__ == "__main__":
    with Report("hyperbolic_mds") as report, threadpool_limits(1):
        bars = Bars()
        recovery(report, bars)
        trees(report)
        bars.show(report)
