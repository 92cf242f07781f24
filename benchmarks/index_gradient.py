"""Are the directions of gradient outer products sharper than those of xrfm?

    python benchmarks/index_gradient.py [--seeds 5] [--wide-seeds 2]

Needs xrfm and torch: ``pip install xrfm torch``. Without them `GradientOuterProduct`
stands alone. Both methods see the same rows, are told the number of directions, and
run on one thread. A score is the sine of the largest angle between their span and the
true one, as mean over the seeds; times are those of the processor for one fit, so that
other work on the machine does not count.

- `GradientOuterProduct` is at its default parameters, but for `n_components`.
- xrfm takes a fifth of the rows for validation, as it must, and its columns are
  standardized. For every design and link its exponent and ridge, and after them the
  bandwidth, are chosen among 11 settings by its own validation error, on 2,000 rows of
  a draw of their own (4,000 where columns are 100), whose time does not count. Of four
  passes it keeps the best by validation. The directions are those of the outer product
  of gradients of that model.
- `SteinIndex`, where `GradientOuterProduct` starts, stands beside them.

Nearly all of the time is xrfm's: on an idle core some 45 minutes, and half of it with
``--seeds 2 --wide-seeds 1``.
"""

import argparse
from collections.abc import Iterable
from itertools import product
from statistics import geometric_mean
from time import process_time
from typing import NamedTuple

import numpy as np
from _report import Report
from threadpoolctl import threadpool_limits

from skrep.datasets import make_index_model
from skrep.index_model import GradientOuterProduct, SteinIndex
from skrep.metrics import subspace_distance

try:
    import torch
    from xrfm.rfm_src import RFM
except ImportError:
    RFM = None

LINKS = ("linear", "cubic", "sine", "even", "product", "ratio")
BARS = {20: (0.75, 0.5), 100: (0.45, None)}
TUNING_SEED = 1_000


class Setting(NamedTuple):
    """Of xrfm: kernel ``exp(-(r / bandwidth) ** exponent)``, and the ridge."""

    exponent: float = 1.0
    reg: float = 1e-2
    bandwidth: float = 10.0


class Peer(NamedTuple):
    """A fitted recursive feature machine."""

    components: np.ndarray
    error: float
    seconds: float


def xrfm_fit(X: np.ndarray, y: np.ndarray, r: int, setting: Setting, seed: int) -> Peer:
    order = np.random.default_rng(seed).permutation(len(X))
    cut = int(0.8 * len(X))
    train, judge = order[:cut], order[cut:]
    center, scale = X[train].mean(axis=0), X[train].std(axis=0)
    rows = torch.tensor((X - center) / scale, dtype=torch.float32)
    response = (y - y[train].mean()) / y[train].std()
    target = torch.tensor(response, dtype=torch.float32)[:, None]
    model = RFM(
        kernel="l2",
        bandwidth=setting.bandwidth,
        exponent=setting.exponent,
        device="cpu",
        tuning_metric="mse",
        verbose=False,
    )
    start = process_time()
    model.fit(
        (rows[train], target[train]),
        (rows[judge], target[judge]),
        reg=setting.reg,
        iters=4,
        solver="cholesky",
        get_agop_best_model=True,
    )
    seconds = process_time() - start
    error = float(((model.predict(rows[judge]) - target[judge]) ** 2).mean())
    _, vectors = np.linalg.eigh(model.agop_best_model.numpy().astype(np.float64))
    components = (vectors[:, ::-1][:, :r] / scale[:, None]).T
    return Peer(components, error, seconds)


def tuned(link: str, design: str, d: int) -> Setting:
    n = 2_000 if d == 20 else 4_000
    X, y, components = make_index_model(
        n, d, links=link, design=design, random_state=TUNING_SEED
    )

    def error(setting: Setting) -> float:
        return xrfm_fit(X, y, len(components), setting, TUNING_SEED).error

    grid = [Setting(*pair) for pair in product((1.0, 1.2, 1.4), (1e-3, 1e-2, 1e-1))]
    errors = {setting: error(setting) for setting in grid}
    best = min(errors, key=errors.__getitem__)
    for bandwidth in (5.0, 20.0):
        setting = best._replace(bandwidth=bandwidth)
        errors[setting] = error(setting)
    return min(errors, key=errors.__getitem__)


def compare(report: Report, design: str, n: int, d: int, seeds: Iterable[int]) -> None:
    body, ratios, times = [], [], []
    for link in LINKS:
        setting = None if RFM is None else tuned(link, design, d)
        scores, seconds = [], []
        for seed in seeds:
            X, y, components = make_index_model(
                n, d, links=link, design=design, random_state=seed
            )
            r = len(components)
            stein = SteinIndex(r).fit(X, y)
            start = process_time()
            ours = GradientOuterProduct(r, random_state=0).fit(X, y)
            spent = [process_time() - start]
            found = [stein.components_, ours.components_]
            if setting is not None:
                peer = xrfm_fit(X, y, r, setting, seed)
                found.append(peer.components)
                spent.append(peer.seconds)
            scores.append([subspace_distance(one, components) for one in found])
            seconds.append(spent)
        means, cost = np.mean(scores, axis=0), np.mean(seconds, axis=0)
        cells = [link, *(f"{score:.3f}" for score in means)]
        if setting is not None:
            ratios.append(means[1] / means[2])
            times.append(cost[0] / cost[1])
            cells += [f"{ratios[-1]:.2f}", "/".join(f"{part:g}" for part in setting)]
        body.append([*cells, " / ".join(f"{one:.2f}" for one in cost)])
    head = ["link", "SteinIndex", "ours"]
    if ratios:
        head += ["xrfm", "ours / xrfm", "exponent/reg/bandwidth"]
    title = f"{design}, n = {n:,}, d = {d}: sine, mean of {len(list(seeds))} seeds"
    report.table(title, [*head, "seconds"], body)
    if ratios:
        sine, time = geometric_mean(ratios), geometric_mean(times)
        bar, time_bar = BARS[d]
        report.write(
            f"  geometric means, ours / xrfm: sine {sine:.2f} (bar {bar}), "
            f"time {time:.2f}" + ("" if time_bar is None else f" (bar {time_bar})")
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--wide-seeds", type=int, default=2)
    options = parser.parse_args()
    with Report("index_gradient") as report, threadpool_limits(1):
        if RFM is None:
            report.write("xrfm is missing: pip install xrfm torch, and run again.")
        else:
            torch.set_num_threads(1)
        for design in ("iso", "ar1", "t5", "gmm"):
            compare(report, design, 5_000, 20, range(options.seeds))
        compare(report, "ar1", 10_000, 100, range(options.wide_seeds))


if __name__ == "__main__":
    main()
