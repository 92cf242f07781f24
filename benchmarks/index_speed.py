"""How fast is an index model, and how much memory does a long stream take?

    python benchmarks/index_speed.py

Needs statsmodels and direpack; sliced with the shim of ``_index_peers.py``. Every
ratio is to the named base, timed just before it (dsyrk) or at the head of each round
(the fits), median over rounds. A fit of statsmodels counts its model and its ``fit``;
the floor is one ``dsyrk`` of the same rows. Run it on an idle machine and set
``OMP_NUM_THREADS=1`` for one thread: it then takes some five minutes.
"""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
from _index_peers import (
    STATSMODELS,
    direpack_fit,
    sliced_directions,
    statsmodels_fit,
    versions,
)
from _index_protocol import (
    EDGES,
    N_SLICES,
    Bars,
    Call,
    Timing,
    attempt,
    block,
    sample,
    seconds,
    timed,
)
from _report import Report
from scipy.linalg.blas import dsyrk
from sklearn.cross_decomposition import PLSRegression
from sklearn.decomposition import PCA

from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)

OWN = {
    "SIR": SlicedInverseRegression,
    "SAVE": SlicedAverageVarianceEstimation,
    "DR": DirectionalRegression,
    "pHd": PrincipalHessianDirections,
    "SteinIndex": SteinIndex,
}
BARRED = ("SIR", "SAVE", "DR")
N_STREAMED = 10_000_000
BLOCK = 50_000
WIDTH = 50


def own_fits(X: np.ndarray, y: np.ndarray) -> dict[str, Call]:
    return {name: lambda m=m: m(2).fit(X, y) for name, m in OWN.items()}


def peer_fits(X: np.ndarray, y: np.ndarray, names: tuple[str, ...]) -> dict[str, Call]:
    """Fits of two directions, by name."""
    every: dict[str, Call] = {
        f"statsmodels {name}": partial(statsmodels_fit, method, X, y, N_SLICES)
        for name, method in STATSMODELS.items()
    } | {
        f"sliced {name}": partial(sliced_directions(method), X, y, 2)
        for name, method in (
            ("SIR", "SlicedInverseRegression"),
            ("SAVE", "SlicedAverageVarianceEstimation"),
        )
    }
    every |= {
        f"direpack {name}": partial(direpack_fit, name.lower(), X, y, 2)
        for name in ("SIR", "SAVE", "DR", "PHD")
    }
    every |= {
        "PCA(2)": lambda: PCA(2).fit(X),
        "PLSRegression(2)": lambda: PLSRegression(2).fit(X, y),
    }
    return {name: every[name] for name in names}


def show(
    report: Report,
    title: str,
    bases: dict[str, Call],
    calls: dict[str, Call],
    rounds: int,
) -> dict[tuple[str, str], Timing]:
    """One column of ratios to each base; a call that fails shows its error."""
    errors = {k: e for k, call in calls.items() if isinstance(e := attempt(call), str)}
    running = {k: call for k, call in calls.items() if k not in errors}
    found = {}
    for base, call in bases.items():
        slow = base != "dsyrk"
        for name, timing in timed(call, running, rounds, shared=slow).items():
            found[name, base] = timing
    first = next(iter(bases))
    report.table(
        f"{title}; median of {rounds} rounds",
        ["fit", "ms", "fastest", *(f"/ {base}" for base in bases)],
        [
            [name, errors[name], "-", *["-"] * len(bases)]
            if name in errors
            else [
                name,
                f"{1e3 * found[name, first].seconds:.2f}",
                f"{1e3 * found[name, first].least:.2f}",
                *(f"{found[name, base].ratio:.3f}" for base in bases),
            ]
            for name in calls
        ],
    )
    return found


def large(report: Report, bars: Bars) -> None:
    for d, bar, rounds in ((100, 0.06, 5), (400, 0.09, 3)):
        X, y, _ = sample("ratio", "ar1", 0, 100_000, d)
        bases = {
            "dsyrk": lambda X=X: dsyrk(1.0, X.T),
            "statsmodels SIR": partial(
                statsmodels_fit, STATSMODELS["SIR"], X, y, N_SLICES
            ),
        }
        own = own_fits(X, y)
        title = f"100,000 x {d}"
        found = show(report, f"{title}: ours", bases, own, rounds)
        peers = peer_fits(
            X,
            y,
            (
                "statsmodels SIR",
                "statsmodels SAVE",
                "sliced SIR",
                "sliced SAVE",
                "PCA(2)",
                "PLSRegression(2)",
            ),
        )
        show(report, f"{title}: peers", {"dsyrk": bases["dsyrk"]}, peers, 2)
        for name in BARRED:
            reached = found[name, "statsmodels SIR"].ratio
            bars.at_most(f"{title}: {name} / statsmodels SIR", reached, bar)
        if d == 400:
            for name in BARRED:
                reached = found[name, "dsyrk"].ratio
                bars.at_most(f"{title}: {name} / dsyrk", reached, 2)


def small(report: Report, bars: Bars) -> None:
    X, y, _ = sample("ratio", "ar1", 0)
    bases = {
        "statsmodels SIR": partial(statsmodels_fit, STATSMODELS["SIR"], X, y, N_SLICES),
        "direpack SIR": partial(direpack_fit, "sir", X, y, 2),
    }
    names = (
        *(f"statsmodels {name}" for name in STATSMODELS),
        *(f"direpack {name}" for name in ("SIR", "SAVE", "DR", "PHD")),
        "sliced SIR",
        "sliced SAVE",
        "PCA(2)",
        "PLSRegression(2)",
    )
    title = "5,000 x 20"
    found = show(report, f"{title}: ours", bases, own_fits(X, y), 25)
    first = {"statsmodels SIR": bases["statsmodels SIR"]}
    show(report, f"{title}: peers", first, peer_fits(X, y, names), 9)
    for name in BARRED:
        timing = found[name, "statsmodels SIR"]
        bars.at_most(f"{title}: {name}, ms", 1e3 * timing.seconds, 2)
        bars.at_most(f"{title}: {name} / statsmodels SIR", timing.ratio, 0.5)
        reached = found[name, "direpack SIR"].ratio
        bars.at_most(f"{title}: {name} / direpack SIR", reached, 0.05)


def deviation(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference up to signs of columns, in units of the largest entry."""
    signs = np.sign(np.sum(ours * theirs, axis=0))
    return float(np.abs(ours - signs * theirs).max() / np.abs(ours).max())


def streaming(report: Report, bars: Bars) -> None:
    code = "import sys, _index_protocol as p; p.stream(*map(int, sys.argv[1:]))"
    sizes = [str(k) for k in (N_STREAMED // BLOCK, BLOCK, WIDTH)]
    command = [sys.executable, "-c", code, *sizes]
    found = []
    taken = seconds(
        lambda: found.extend(
            json.loads(
                subprocess.check_output(command, text=True, cwd=Path(__file__).parent)
            )
        )
    )
    before, peak = found
    parts = [50_000, 21, 999, 7_000, 41_980, 60_000, 40_000]
    blocks = [block(seed, n, WIDTH) for seed, n in enumerate(parts)]
    streamed = SteinIndex(2, slice_edges=EDGES)
    for X, y in blocks:
        streamed.partial_fit(X, y)
    X, y = (np.concatenate(part) for part in zip(*blocks, strict=True))
    whole = SteinIndex(2, slice_edges=EDGES).fit(X, y)
    difference = max(
        deviation(whole.components_.T, streamed.components_.T),
        deviation(whole.transform(X), streamed.transform(X)),
    )
    report.table(
        f"SteinIndex(2) by partial_fit: 10 million x {WIDTH} rows, drawn and fitted in "
        f"blocks of {BLOCK:,}, in a process of its own",
        ["what", "value"],
        [
            ["peak resident set, MB", f"{peak:.0f}"],
            ["... before the first block", f"{before:.0f}"],
            ["all rows would take, MB", f"{N_STREAMED * WIDTH * 8 / 1e6:.0f}"],
            ["seconds, drawing included", f"{taken:.0f}"],
            [
                f"{len(X):,} rows in 7 blocks against fit: difference",
                f"{difference:.0e}",
            ],
        ],
    )
    bars.at_most("10 million x 50 streamed: peak MB", peak, 600)
    bars.at_most(f"{len(X):,} rows, partial_fit and fit", difference, 1e-8)


if __name__ == "__main__":
    with Report("index_speed") as report:
        report.write(versions())
        bars = Bars()
        for part in (streaming, small, large):
            part(report, bars)
        bars.show(report)
