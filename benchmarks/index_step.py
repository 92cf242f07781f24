"""What are one and two large gradient steps worth, and does a network take the same?

    python benchmarks/index_step.py

Rows of `make_index_model`, 20 columns, 1,000 to fit and 2,000 to test, seeds 0 to 4.
Every way makes 512 columns of standardized rows, and a ridge regression reads them, its
penalty chosen by its leave-one-out error on the train rows. The same score chooses
the bandwidth of the Gaussian kernel out of three, and the learning rate of the network
out of four; `GradientStepFeatures` is at its defaults. Scores are R2 on the test rows.
"stairs" is the sum of the links "linear" and "product": its spike has both directions
after two steps.

- *network, 1 step* and *2 steps*: a network of torch on the same whitened rows, whose
  first layer takes full-batch gradient steps of squared error by autograd. Readouts are
  left as they are, and biases drawn afterwards. Its own outputs are in the residual.
- *half the rows*: features fitted on one half of the rows, the head on the other.

The table of penalties has few rows to a column and no less noise than signal, where the
spike fits noise: the penalty is chosen by the ridge regression on the rows that made
the features, by that on the other half, or by a search over the whole pipeline.

Times are those of the processor for the fit of the features at one learning rate, as a
ratio to the network's.
"""

import time
from collections.abc import Callable

import numpy as np
import torch
from _report import Report
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep.datasets import make_index_model
from skrep.index_model import GradientStepFeatures
from skrep.linalg import Moments, whitening

N_FEATURES = 512
N_TRAIN, N_TEST, N_COLUMNS = 1000, 2000, 20
SEEDS = range(5)
ALPHAS = np.logspace(-4, 7, 34)
RATES = (0.5, 1, 2, 4)
LINKS = ("linear", "cubic", "sine", "even", "product", "ratio", "stairs")
DESIGNS = ("iso", "t5")
NOISES = {"linear": 2, "sine": 1}
PLAIN, ONE, TWO = "random features", "1 step", "2 steps"
NETWORKS = ("network, 1 step", "network, 2 steps")

Map = Callable[[np.ndarray], np.ndarray]


def data(link: str, design: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    links = ["linear", "product"] if link == "stairs" else link
    X, y, _ = make_index_model(
        N_TRAIN + N_TEST, N_COLUMNS, links=links, design=design, random_state=seed
    )
    X = StandardScaler().fit(X[:N_TRAIN]).transform(X)
    return X, y.sum(axis=1) if y.ndim == 2 else y


def network(n_steps: int, rate: float, seed: int, X: np.ndarray, y: np.ndarray) -> Map:
    """Hidden layer of a network after gradient steps."""
    white = whitening(Moments.of(X))
    Z = torch.from_numpy((X - white.mean) @ white.map)
    target = torch.from_numpy((y - y.mean()) / y.std())
    draws = torch.Generator().manual_seed(seed)
    double = {"dtype": torch.float64, "generator": draws}
    W = torch.randn(Z.shape[1], N_FEATURES, **double) / Z.shape[1] ** 0.5
    a = torch.randn(N_FEATURES, **double) / N_FEATURES**0.5
    bias = torch.randn(N_FEATURES, **double).numpy()
    W.requires_grad_(True)
    descent = torch.optim.SGD([W], lr=rate * N_FEATURES**0.5)
    for _ in range(n_steps):
        descent.zero_grad()
        loss = torch.mean((torch.relu(Z @ W) @ a - target) ** 2) / 2
        loss.backward()
        descent.step()
    weights = white.map @ W.detach().numpy()
    return lambda rows: np.maximum((rows - white.mean) @ weights + bias, 0)


def ours(seed: int, X: np.ndarray, y: np.ndarray, **params: object) -> Map:
    features = GradientStepFeatures(N_FEATURES, random_state=seed, **params)
    return features.fit(X, y).transform


def kernel_map(kind: type, gamma: float, seed: int, X: np.ndarray) -> Map:
    features = kind(gamma=gamma, n_components=N_FEATURES, random_state=seed)
    return features.fit(X).transform


def ways(seed: int) -> dict[str, Callable[[np.ndarray, np.ndarray], list[Map]]]:
    """What makes the columns; of several candidates the train rows choose."""
    gammas = [size / N_COLUMNS for size in (0.125, 0.25, 0.5)]
    return {
        "the columns": lambda X, y: [lambda rows: rows],
        "RBFSampler": lambda X, y: [kernel_map(RBFSampler, g, seed, X) for g in gammas],
        "Nystroem": lambda X, y: [kernel_map(Nystroem, g, seed, X) for g in gammas],
        PLAIN: lambda X, y: [ours(seed, X, y, step=0)],
        ONE: lambda X, y: [ours(seed, X, y)],
        TWO: lambda X, y: [ours(seed, X, y, n_steps=2)],
        "1 step, erf": lambda X, y: [ours(seed, X, y, activation="erf")],
        "1 step, half the rows": lambda X, y: [ours(seed, X[::2], y[::2])],
        NETWORKS[0]: lambda X, y: [network(1, r, seed, X, y) for r in RATES],
        NETWORKS[1]: lambda X, y: [network(2, r, seed, X, y) for r in RATES],
    }


def ridge(F: np.ndarray, y: np.ndarray) -> tuple[float, Map]:
    """Leave-one-out error, and predictions, of the best ridge regression."""
    mean, level = F.mean(axis=0), y.mean()
    gaps = F - mean
    values, axes = np.linalg.eigh(gaps.T @ gaps)
    kept = values > 1e-10 * values[-1]
    values, axes = values[kept], axes[:, kept]
    U = gaps @ axes / np.sqrt(values)
    shrink = values[:, None] / (values[:, None] + ALPHAS)
    residuals = (y - level)[:, None] - U @ (shrink * (U.T @ (y - level))[:, None])
    errors = np.mean((residuals / (1 - 1 / len(y) - U**2 @ shrink)) ** 2, axis=0)
    k = np.argmin(errors)
    coefficients = axes @ (shrink[:, k] * (U.T @ (y - level)) / np.sqrt(values))
    return errors[k], lambda rows: level + (rows - mean) @ coefficients


def score(maps: list[Map], X: np.ndarray, y: np.ndarray, rows: slice) -> float:
    """R2 on the test rows of the map that cross-validates best."""
    best = np.inf, 0.0
    for columns in maps:
        error, predict = ridge(columns(X[rows]), y[rows])
        found = r2_score(y[N_TRAIN:], predict(columns(X[N_TRAIN:])))
        best = min(best, (error, found))
    return best[1]


def quality(report: Report) -> dict[tuple[str, str, str], np.ndarray]:
    found: dict[tuple[str, str, str], np.ndarray] = {}
    for design in DESIGNS:
        for link in LINKS:
            for seed in SEEDS:
                X, y = data(link, design, seed)
                for name, made in ways(seed).items():
                    rows = slice(
                        1 if "half" in name else 0, N_TRAIN, 1 + ("half" in name)
                    )
                    value = score(made(X[:N_TRAIN], y[:N_TRAIN]), X, y, rows)
                    key = design, link, name
                    found[key] = np.append(found.get(key, []), value)
        body = [
            [name, *(f"{found[design, link, name].mean():.3f}" for link in LINKS)]
            for name in ways(0)
        ]
        report.table(f"R2 on test rows, design {design}", ["columns", *LINKS], body)
    return found


def gaps(report: Report, found: dict[tuple[str, str, str], np.ndarray]) -> None:
    pairs = ((ONE, PLAIN), (TWO, ONE), (ONE, NETWORKS[0]), (TWO, NETWORKS[1]))
    body = []
    for design in DESIGNS:
        for one, other in pairs:
            cells = []
            for link in LINKS:
                gap = found[design, link, one] - found[design, link, other]
                cells.append(f"{gap.mean():+.3f} ± {gap.std(ddof=1) / 5**0.5:.3f}")
            body.append([f"{design}: {one} less {other}", *cells])
    report.table("Gaps of R2, mean and standard error", ["gap", *LINKS], body)


def penalties(report: Report) -> None:
    names = [PLAIN, "same rows", "half the rows", "whole pipeline"]
    cases = [(link, d, n) for link in NOISES for d, n in ((20, 200), (100, 400))]
    found = np.zeros((len(names), len(cases), len(SEEDS)))
    for column, (link, d, n) in enumerate(cases):
        for seed in SEEDS:
            X, y, _ = make_index_model(
                n + N_TEST, d, links=link, noise=NOISES[link], random_state=seed
            )
            train, test = slice(n), slice(n, None)
            halves = slice(0, n, 2), slice(1, n, 2)
            for row, (made, read, step) in enumerate(
                ((train, train, 0), (train, train, "giant"), (*halves, "giant"))
            ):
                columns = ours(seed, X[made], y[made], step=step)
                predict = ridge(columns(X[read]), y[read])[1]
                found[row, column, seed] = r2_score(y[test], predict(columns(X[test])))
            model = make_pipeline(GradientStepFeatures(random_state=seed), Ridge())
            search = GridSearchCV(model, {"ridge__alpha": np.logspace(0, 7, 8)}, cv=5)
            search.fit(X[train], y[train])
            found[-1, column, seed] = search.score(X[test], y[test])
    body = [
        [name, *(f"{value:.3f}" for value in line.mean(axis=1))]
        for name, line in zip(names, found, strict=True)
    ]
    report.table(
        "Who chooses the penalty: R2 on test rows, 1 step, design iso",
        ["chosen on", *(f"{link} x{NOISES[link]}, {n} x {d}" for link, d, n in cases)],
        body,
    )


def seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def times(report: Report) -> None:
    body = []
    for n_rows in (1000, 20_000):
        X, y, _ = make_index_model(n_rows, N_COLUMNS, random_state=0)
        for n_steps in (1, 2):
            rounds = [
                seconds(lambda k=n_steps, X=X, y=y: ours(0, X, y, n_steps=k))
                / seconds(lambda k=n_steps, X=X, y=y: network(k, 4, 0, X, y))
                for _ in range(7)
            ]
            body.append(
                [f"{n_rows:,} rows, {n_steps} steps", f"{np.median(rounds):.2f}"]
            )
    report.table("Time of the fit; ratio to the network", ["fit", "ratio"], body)


if __name__ == "__main__":
    torch.set_num_threads(1)
    with Report("index_step") as report:
        gaps(report, quality(report))
        penalties(report)
        times(report)
