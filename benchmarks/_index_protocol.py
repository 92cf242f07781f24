"""Samples and scores that the measurements of index models share.

Links and designs are those of `skrep.datasets.make_index_model`. The score of a set
of directions is the sine of the largest angle between their span and the true one:
0 at best, 1 where a whole direction is missed. Nothing is tuned: every method with
slices has ten of them, and is given the number of directions.
"""

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple

import numpy as np

from skrep.datasets import make_index_model
from skrep.index_model import SteinIndex
from skrep.metrics import subspace_distance

Call = Callable[[], object]
Directions = Callable[[np.ndarray, np.ndarray, int], np.ndarray]

DESIGNS = ("iso", "ar1", "gmm", "t5", "unif")
LINKS = ("linear", "cubic", "sine", "even", "product", "ratio", "multi5")
N_SLICES = 10
SEEDS = 5
EDGES = np.linspace(-0.8, 1.6, 9)


class Sample(NamedTuple):
    """Rows, responses, and the true directions as rows, (r, d)."""

    X: np.ndarray
    y: np.ndarray
    components: np.ndarray


def sample(
    link: str, design: str, seed: int, n: int = 5_000, d: int = 20, noise: float = 0.25
) -> Sample:
    return Sample(
        *make_index_model(
            n, d, links=link, design=design, noise=noise, random_state=seed
        )
    )


def attempt(call: Call) -> object:
    """What the call answers, or the name of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return call()
        except Exception as error:
            return type(error).__name__


def sine(directions: Directions, drawn: Sample) -> float | str:
    """Sine of the largest angle to the truth, or the name of the method's error."""
    X, y, components = drawn
    return attempt(
        lambda: subspace_distance(
            directions(X.copy(), y.copy(), len(components)), components
        )
    )


def mean(values: list[float | str]) -> float | str:
    """Mean over seeds, or the first error among them."""
    errors = [value for value in values if isinstance(value, str)]
    return errors[0] if errors else float(np.mean(values))


def cell(value: float | str, digits: int = 3) -> str:
    return value if isinstance(value, str) else f"{value:.{digits}f}"


def figure(value: float | str, failure: float = np.inf) -> float:
    """The value, or what an error counts for."""
    return failure if isinstance(value, str) else value


def best(
    values: dict[str, float | str], largest: bool = False
) -> tuple[str, float | str]:
    """The method with the smallest or largest score, errors last."""
    if largest:
        return max(values.items(), key=lambda item: figure(item[1], -np.inf))
    return min(values.items(), key=lambda item: figure(item[1]))


def seconds(call: Call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


class Timing(NamedTuple):
    """Median and least seconds, and median ratio to the base, timed just before."""

    seconds: float
    least: float
    ratio: float


def timed(
    base: Call, calls: dict[str, Call], rounds: int, shared: bool = False
) -> dict[str, Timing]:
    """Every call in turn, each after the base, or a shared base first in each round."""
    for call in (base, *calls.values()):
        call()
    pairs = {name: [] for name in calls}
    for _ in range(rounds):
        before = seconds(base)
        for k, (name, call) in enumerate(calls.items()):
            if k and not shared:
                before = seconds(base)
            pairs[name].append((before, seconds(call)))
    return {
        name: Timing(
            median(own for _, own in p),
            min(own for _, own in p),
            median(own / b for b, own in p),
        )
        for name, p in pairs.items()
    }


def block(seed: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of a stream, and a noisy ratio of their first two columns."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 1
    y = 4 * X[:, 0] / (0.5 + (X[:, 1] + 1.5) ** 2) + 0.25 * rng.standard_normal(n)
    return X, y


def stream(n_blocks: int, n: int, d: int) -> None:
    """Fit block by block in a process of its own, and print its peak megabytes.

    The peak is that of Linux for the running program: ``getrusage`` would count the
    program that started it too.
    """
    peaks = [_peak()]
    model = SteinIndex(2, slice_edges=EDGES)
    for seed in range(n_blocks):
        model.partial_fit(*block(seed, n, d))
    print(json.dumps([*peaks, _peak()]))


def _peak() -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(s.split()[1]) / 1e3 for s in lines if s.startswith("VmHWM"))


class Bars:
    """What was to be reached, what was, and pass or miss."""

    def __init__(self) -> None:
        self.body: list[list[str]] = []

    def at_most(self, what: str, reached: float, bar: float, detail: str = "") -> None:
        self._add(what, reached, f"<= {bar:g}", reached <= bar, detail)

    def at_least(self, what: str, reached: float, bar: float, detail: str = "") -> None:
        self._add(what, reached, f">= {bar:g}", reached >= bar, detail)

    def above(self, what: str, reached: float, bar: float, detail: str = "") -> None:
        self._add(what, reached, f"> {bar:g}", reached > bar, detail)

    def _add(self, what: str, reached: float, bar: str, met: bool, detail: str) -> None:
        verdict = "pass" if met else "miss"
        self.body.append([what, bar, f"{reached:.3g}", verdict, detail])

    def show(self, report) -> None:
        report.table("Bars", ["what", "bar", "reached", "met", "where"], self.body)
