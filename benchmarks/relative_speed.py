"""How fast is a relative representation, and how much memory does it take?

    python benchmarks/relative_speed.py

Every time is a ratio to that of the bare matrix product ``X @ A.T`` (or of the named
peer) taken just before it, median over rounds. Run it on an idle machine: set
``OMP_NUM_THREADS=1`` for one thread.
"""

import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
import scipy.sparse as sp
from _report import Report
from scipy.spatial.distance import cdist
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics.pairwise import cosine_similarity, pairwise_distances

from skrep.relative import RelativeRepresentation

ROUNDS = 15


def seconds(call: Callable[[], object]) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def ratios(calls: dict[str, Callable[[], object]], rounds: int = ROUNDS) -> list[float]:
    """Median of each call's time over that of the first, timed just before it."""
    first, *_ = calls.values()
    for call in calls.values():
        call()
    found = []
    for call in calls.values():
        pairs = [(seconds(first), seconds(call)) for _ in range(rounds)]
        found.append(median(own / base for base, own in pairs))
    return found


def rows(n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, d), dtype=np.float32) + np.float32(0.1)


def against_the_product(report: Report) -> None:
    for n, d, k in ((20_000, 384, 128), (20_000, 384, 512), (200_000, 64, 64)):
        X = rows(n, d)
        A = X[:k].copy()
        plain, bare, default = (
            RelativeRepresentation(anchors=np.arange(k), **params).fit(X)
            for params in (
                {"whiten": None},
                {"whiten": None, "scale": False},
                {},
            )
        )
        nystroem = Nystroem("cosine", n_components=k, random_state=0).fit(X)
        calls = {
            "X @ A.T": lambda X=X, A=A: X @ A.T,
            "whiten=None": lambda X=X, m=plain: m.transform(X),
            "whiten=None, scale=False": lambda X=X, m=bare: m.transform(X),
            "default": lambda X=X, m=default: m.transform(X),
            "cosine_similarity": lambda X=X, A=A: cosine_similarity(X, A),
            "Nystroem": lambda X=X, m=nystroem: m.transform(X),
        }
        report.table(
            f"Transform of {n:,} x {d} float32 rows, {k} anchors; ratio to X @ A.T",
            ["way", "ratio"],
            [[name, f"{r:.2f}"] for name, r in zip(calls, ratios(calls), strict=True)],
        )


def metric_distances(report: Report) -> None:
    X = rows(4_000, 384)
    A = X[:128].copy()
    for similarity, metric in (("manhattan", "cityblock"), ("chebyshev",) * 2):
        model = RelativeRepresentation(
            anchors=np.arange(128), similarity=similarity, whiten=None, scale=False
        ).fit(X)
        calls = {
            "scipy cdist": lambda m=metric: cdist(X, A, m),
            "pairwise_distances": lambda s=similarity: pairwise_distances(X, A, s),
            "RelativeRepresentation": lambda m=model: m.transform(X),
        }
        report.table(
            f"{similarity} of 4,000 x 384 float32 rows, 128 anchors; ratio to cdist",
            ["way", "ratio"],
            [
                [name, f"{r:.2f}"]
                for name, r in zip(calls, ratios(calls, 9), strict=True)
            ],
        )


def one_row(report: Report) -> None:
    X = rows(5_000, 384)
    table = []
    for params in ({}, {"similarity": "euclidean"}, {"similarity": "rank"}):
        model = RelativeRepresentation(selection="uniform", random_state=0, **params)
        model.fit(X)
        times = []
        for i in range(500):
            start = perf_counter()
            model.transform(X[i : i + 1])
            times.append(perf_counter() - start)
        table.append([str(params or "default"), f"{1e3 * median(times):.3f}"])
    report.table("One numpy row, 384 columns, 128 anchors", ["similarity", "ms"], table)


def peak(call: Callable[[], object]) -> tuple[float, object]:
    tracemalloc.start()
    result = call()
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return top, result


def memory(report: Report) -> None:
    X = rows(20_000, 384)
    table = []
    for k in (128, 512):
        model = RelativeRepresentation(anchors=np.arange(k)).fit(X)
        top, out = peak(lambda m=model: m.transform(X))
        table.append(
            [
                f"20,000 x 384 float32, {k} anchors: peak / input",
                f"{top / X.nbytes:.2f}",
            ]
        )
        table.append(
            ["... of which beyond the output", f"{(top - out.nbytes) / X.nbytes:.2f}"]
        )
    n, per_row = 100_000, 20
    rng = np.random.default_rng(0)
    S = sp.csr_array(
        (
            rng.standard_normal(n * per_row, dtype=np.float32),
            rng.integers(0, n, n * per_row),
            np.arange(0, n * per_row + 1, per_row),
        ),
        shape=(n, n),
    )
    model = RelativeRepresentation(256, selection="uniform", random_state=0)
    top, out = peak(lambda: model.fit(S).transform(S))
    table.append(
        ["CSR 1e5 x 1e5, 256 anchors: fit and transform, MB", f"{top / 1e6:.0f}"]
    )
    table.append(["... of which output, MB", f"{out.nbytes / 1e6:.0f}"])
    table.append(["... dense rows would take, MB", f"{4 * n * n / 1e6:.0f}"])
    report.table("Memory", ["what", "value"], table)


def imports(report: Report) -> None:
    code = (
        "import sklearn, sklearn.base, time; t = time.perf_counter(); import {}; "
        "print(time.perf_counter() - t)"
    )
    table = []
    for module in ("skrep", "skrep.relative", "skrep.invariance", "skrep.datasets"):
        command = [sys.executable, "-c", code.format(module)]
        times = [float(subprocess.check_output(command)) for _ in range(7)]
        table.append([module, f"{median(times):.3f}"])
    report.table("Import beyond scikit-learn, seconds", ["module", "seconds"], table)


if __name__ == "__main__":
    with Report("relative_speed") as report:
        imports(report)
        against_the_product(report)
        metric_distances(report)
        one_row(report)
        memory(report)
