"""What do training of an encoder and the closed form cost, in time and memory?

    python benchmarks/discriminant_speed.py

Seconds are those of the processor, with one thread, so that other work on the machine
disturbs little. Every ratio is to the named base, timed just before, median over
rounds; beside it that of the fastest round to the fastest of the base. Memory is what
Linux counts for a process of its own: what a fit adds at its peak to what was there
before it, rows included; a small fit beforehand has loaded all libraries. NCA is not
run on 100,000 rows: one float64 per pair of rows is 80 GB.

SupCon needs pytorch-metric-learning (``pip install pytorch-metric-learning``); without
it the report says so. The whole run takes some four minutes on an idle core.
"""

import json
import subprocess
import sys
import warnings
from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time
from typing import NamedTuple

import numpy as np
import torch
from _index_protocol import Bars, Call
from _report import Report
from discriminant_quality import HIDDEN, RATE, SUPCON, layers
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neural_network import MLPClassifier
from sklearn.utils import check_random_state
from skorch import NeuralNetClassifier
from threadpoolctl import threadpool_limits

from skrep.discriminant import DiscriminantEncoder, LinearDiscriminantProjection

EPOCHS, BATCH, N_CLASSES = 20, 128, 10
LOSSES = ("lda", "bhattacharyya", "logdet", "deeplda", "dda")
SIZES = (25_000, 50_000, 100_000)
WIDTH, GROUPS = 64, 50
MANY_ROWS, MANY_WIDTH = 60_000, 400
MANY_CLASSES = (5_000, 10_000, 20_000)
PROJECTION = "LinearDiscriminantProjection"
LDA = "scikit-learn's LDA, svd"
ENCODER = "DiscriminantEncoder, 3 epochs"
MODELS: dict[str, Callable[[], object]] = {
    PROJECTION: partial(LinearDiscriminantProjection, 2, target_type="classes"),
    LDA: partial(LinearDiscriminantAnalysis, n_components=2),
    ENCODER: partial(DiscriminantEncoder, max_epochs=3, random_state=0),
}


class Timing(NamedTuple):
    """Median seconds, median ratio to the base, and ratio of the fastest rounds."""

    seconds: float
    ratio: float
    fastest: float


def seconds(call: Call) -> float:
    start = process_time()
    call()
    return process_time() - start


def timed(base: Call, calls: dict[str, Call], rounds: int) -> dict[str, Timing]:
    """Rounds of every call in turn, each after the base."""
    for call in (base, *calls.values()):
        call()
    pairs = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            pairs[name].append((seconds(base), seconds(call)))
    return {
        name: Timing(
            median(own for _, own in p),
            median(own / b for b, own in p),
            min(own for _, own in p) / min(b for b, _ in p),
        )
        for name, p in pairs.items()
    }


def show(report: Report, title: str, head: str, found: dict[str, Timing]) -> None:
    report.table(
        title,
        [head, "seconds", "ratio", "of the fastest"],
        [
            [name, f"{t.seconds:.3f}", f"{t.ratio:.2f}", f"{t.fastest:.2f}"]
            for name, t in found.items()
        ],
    )


def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X.astype(np.float32), y


def bare_loop(X: np.ndarray, y: np.ndarray) -> None:
    """As many steps of the same size as the encoder makes."""
    torch.manual_seed(0)
    network = layers(X.shape[1], *HIDDEN, N_CLASSES)
    optimizer = torch.optim.Adam(network.parameters(), lr=RATE)
    loss = torch.nn.CrossEntropyLoss()
    rows, codes = torch.from_numpy(X), torch.from_numpy(y)
    for _ in range(EPOCHS):
        order = torch.randperm(len(rows))
        for batch in order.tensor_split(len(rows) // BATCH):
            optimizer.zero_grad()
            loss(network(rows[batch]), codes[batch]).backward()
            optimizer.step()


def own_net(k: int, loss: object) -> DiscriminantEncoder:
    return DiscriminantEncoder(
        k,
        loss=loss,
        hidden=HIDDEN,
        max_epochs=EPOCHS,
        batch_size=BATCH,
        lr=RATE,
        random_state=0,
    )


def skorch_net(n_features: int) -> NeuralNetClassifier:
    return NeuralNetClassifier(
        partial(layers, n_features, *HIDDEN, N_CLASSES),
        criterion=torch.nn.CrossEntropyLoss,
        optimizer=torch.optim.Adam,
        lr=RATE,
        max_epochs=EPOCHS,
        batch_size=BATCH,
        iterator_train__shuffle=True,
        train_split=None,
        verbose=0,
    )


def trainings(report: Report, bars: Bars) -> None:
    X, y = digits()
    encoder = "DiscriminantEncoder, cross-entropy"
    perceptron = MLPClassifier(
        HIDDEN, max_iter=EPOCHS, batch_size=BATCH, learning_rate_init=RATE
    )
    calls: dict[str, Call] = {
        "bare loop again": partial(bare_loop, X, y),
        encoder: lambda: own_net(N_CLASSES, torch.nn.CrossEntropyLoss()).fit(X, y),
        "skorch's NeuralNetClassifier": lambda: skorch_net(X.shape[1]).fit(X, y),
        "scikit-learn's MLPClassifier": lambda: perceptron.fit(X, y),
    }
    found = timed(calls["bare loop again"], calls, 15)
    show(
        report,
        f"Digits, float32, 64-64-64-10, {EPOCHS} epochs of about {BATCH} rows a step; "
        "ratio to a bare torch loop with Adam, 15 rounds",
        "training",
        found,
    )
    bars.at_most("training / bare torch loop", found[encoder].ratio, 1.3)


class CrossEntropy(torch.nn.Module):
    """Cross-entropy of a linear head."""

    def __init__(self, k: int) -> None:
        super().__init__()
        self.head = torch.nn.Linear(k, N_CLASSES)

    def forward(self, embeddings: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.cross_entropy(self.head(embeddings), y)


def losses(report: Report, bars: Bars) -> None:
    X, y = digits()
    chosen: dict[str, object] = {f"{loss!r}": loss for loss in LOSSES}
    if find_spec("pytorch_metric_learning") is None:
        report.write(f"{SUPCON}: absent, needs pytorch-metric-learning")
    else:
        from pytorch_metric_learning.losses import SupConLoss

        chosen["SupConLoss of pytorch-metric-learning"] = SupConLoss()
    k = N_CLASSES - 1
    base = own_net(k, CrossEntropy(k))
    calls: dict[str, Call] = {
        name: partial(own_net(k, loss).fit, X, y)
        for name, loss in {"cross-entropy again": base.loss, **chosen}.items()
    }
    found = timed(partial(base.fit, X, y), calls, 7)
    show(
        report,
        f"DiscriminantEncoder on digits, float32, k = {k}, {EPOCHS} epochs of some "
        f"{BATCH} rows a step; ratio to cross-entropy of a linear head, 7 rounds",
        "loss",
        found,
    )
    for loss in LOSSES:
        ratio = found[f"{loss!r}"].ratio
        bars.at_most(f"digits, k = {k}: {loss!r} / cross-entropy", ratio, 1.3)


def blobs(n: int, d: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Float64 rows of classes of equal size, in turn."""
    rng = np.random.default_rng(0)
    means = rng.standard_normal((n_classes, d))
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, d))
    for start in range(0, n, 1_000):
        X[start : start + 1_000] += means[y[start : start + 1_000]]
    return X, y


def resident(key: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(s.split()[1]) / 1e3 for s in lines if s.startswith(key))


def alone(name: str, n: str, d: str, n_classes: str) -> None:
    """Fit, and print processor seconds, and megabytes added at the peak."""
    torch.set_num_threads(1)
    with threadpool_limits(1):
        MODELS[name]().fit(*blobs(500, 10, 5))
        X, y = blobs(int(n), int(d), int(n_classes))
        Path("/proc/self/clear_refs").write_text("5")
        before = resident("VmRSS")
        taken = seconds(lambda: MODELS[name]().fit(X, y))
        print(json.dumps([taken, resident("VmHWM") - before]))


def in_process(name: str, n: int, d: int, n_classes: int) -> tuple[float, float]:
    code = "import sys, discriminant_speed as s; s.alone(*sys.argv[1:])"
    command = [sys.executable, "-c", code, name, *map(str, (n, d, n_classes))]
    folder = Path(__file__).parent
    return tuple(json.loads(subprocess.check_output(command, text=True, cwd=folder)))


def large(report: Report, bars: Bars) -> None:
    found = {(m, n): in_process(m, n, WIDTH, GROUPS) for m in MODELS for n in SIZES}
    report.table(
        f"Fits of n x {WIDTH} float64 rows, {GROUPS} classes, two columns: processor "
        "seconds, and MB added to the rows at the peak "
        f"(100,000 rows take {SIZES[-1] * WIDTH * 8 / 1e6:.0f} MB)",
        ["fit", *(f"{n:,}: s" for n in SIZES), *(f"{n:,}: MB" for n in SIZES)],
        [
            [
                m,
                *(f"{found[m, n][0]:.3f}" for n in SIZES),
                *(f"{found[m, n][1]:.0f}" for n in SIZES),
            ]
            for m in MODELS
        ],
    )
    X, y = blobs(SIZES[-1], WIDTH, GROUPS)
    fits = {m: lambda m=m: MODELS[m]().fit(X, y) for m in (PROJECTION, LDA)}
    ratios = timed(fits[LDA], {PROJECTION: fits[PROJECTION]}, 5)
    show(
        report,
        f"100,000 x {WIDTH}, {GROUPS} classes; ratio to LDA(solver='svd'), 5 rounds",
        "fit",
        ratios,
    )
    for m in (PROJECTION, ENCODER):
        small, big = (found[m, n] for n in (SIZES[0], SIZES[-1]))
        bars.at_most(f"100,000 x {WIDTH}, {m}: MB over the rows", big[1], 300)
        ratio = big[0] / small[0]
        bars.at_most("... seconds to those of 25,000 rows, a quarter", ratio, 5)


def many_classes(report: Report, bars: Bars) -> None:
    body, units = [], {}
    for n_classes in MANY_CLASSES:
        taken, added = in_process(PROJECTION, MANY_ROWS, MANY_WIDTH, n_classes)
        unit = 8 * MANY_WIDTH * (MANY_WIDTH + n_classes) / 1e6
        units[n_classes] = added / unit
        body.append(
            [
                f"{n_classes:,}",
                f"{taken:.2f}",
                f"{added:.0f}",
                f"{unit:.0f}",
                f"{units[n_classes]:.2f}",
                f"{8 * MANY_WIDTH**2 * n_classes / 1e6:,.0f}",
            ]
        )
    report.table(
        f"{PROJECTION} on {MANY_ROWS:,} x {MANY_WIDTH} float64 rows "
        f"({MANY_ROWS * MANY_WIDTH * 8 / 1e6:.0f} MB): MB added at the peak, beside "
        "d^2 + C d float64 numbers, and beside one covariance per class",
        ["classes", "s", "MB", "d^2 + C d", "MB / that", "d^2 C"],
        body,
    )
    bars.at_most(
        f"20,000 classes x {MANY_WIDTH}: MB / (d^2 + C d)",
        units[MANY_CLASSES[-1]],
        10,
    )


def one_row(report: Report, bars: Bars) -> None:
    X, y = digits()
    models = {
        PROJECTION: LinearDiscriminantProjection(2),
        "DiscriminantEncoder": DiscriminantEncoder(max_epochs=3, random_state=0),
        LDA: LinearDiscriminantAnalysis(n_components=2),
        "scikit-learn's PCA": PCA(2),
    }
    body = []
    for name, model in models.items():
        model.fit(X, y)
        times = [
            seconds(lambda i=i, m=model: m.transform(X[i : i + 1])) for i in range(500)
        ]
        body.append([name, f"{1e3 * median(times):.3f}"])
        if name in (PROJECTION, "DiscriminantEncoder"):
            bars.at_most(f"transform of one row, ms: {name}", 1e3 * median(times), 1)
    report.table("Transform of one row of digits, float32", ["model", "ms"], body)


def global_states() -> list[np.ndarray]:
    """Of numpy and of torch."""
    numpy_state = check_random_state(None).get_state(legacy=False)["state"]
    position = np.array([numpy_state["pos"]])
    return [
        np.concatenate([numpy_state["key"], position]),
        torch.get_rng_state().numpy(),
    ]


def equal_seeds(report: Report, bars: Bars) -> None:
    X, y = digits()
    states = global_states()
    own = [own_net(2, loss).fit(X, y).transform(X) for loss in LOSSES for _ in range(2)]
    touched = [
        not np.array_equal(before, after)
        for before, after in zip(states, global_states(), strict=True)
    ]
    off = max(
        float(np.abs(a - b).max()) for a, b in zip(own[::2], own[1::2], strict=True)
    )
    theirs = [skorch_net(X.shape[1]).fit(X, y).predict_proba(X) for _ in range(2)]
    report.table(
        "Two fits on digits with the same parameters: largest difference of outputs",
        ["model", "difference"],
        [
            ["DiscriminantEncoder, five losses, random_state=0", f"{off:g}"],
            [
                "skorch's NeuralNetClassifier, which has no random_state",
                f"{np.abs(theirs[0] - theirs[1]).max():.2g}",
            ],
        ],
    )
    bars.at_most("equal seed: difference of two fits", off, 0)
    bars.at_most("global random states that a fit has changed", sum(touched), 0)


if __name__ == "__main__":
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore", message="Stochastic Optimizer: Maximum iter")
    with threadpool_limits(1), Report("discriminant_speed") as report:
        bars = Bars()
        for part in (trainings, losses, large, many_classes, one_row, equal_seeds):
            part(report, bars)
        bars.show(report)
