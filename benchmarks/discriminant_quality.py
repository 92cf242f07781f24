"""How well do few discriminant dimensions serve neighbors and linear models?

    python benchmarks/discriminant_quality.py [--splits 10] [--first-seed 400]

Eight settings: scikit-learn's digits, wine and breast cancer, two moons and three rings
turned into 50 dimensions with 48 axes of noise. One stratified 70/30 split per seed,
which also seeds the drawn sets and the models; float32. Score: accuracy on the test
rows, in %, of 5 nearest neighbors and of logistic regression on the embedding as it
comes. Nothing is tuned: every method has one setting for all cells. Losses were chosen
and defaults set on splits of seeds 200 to 309.

Estimators of skrep have their default parameters, but for `loss`. Peers get columns
standardized on the training rows; their networks have hidden layers of 64 and 64 too,
and 150 epochs of Adam at 5e-3, as ours, on stratified batches of some 128 rows. LDA and
the losses "logdet" and "deeplda" give one column less than there are classes at most:
one where k = 2 is asked of two classes. SimplexClassifier has that number always, and
is fitted where it is k.

SupCon needs pytorch-metric-learning (``pip install pytorch-metric-learning``); without
it the report says so. With ``OMP_NUM_THREADS=1`` the whole run takes some 25 minutes on
an idle core; with `--methods` or `--settings`, the scores of these alone.
"""

import argparse
import warnings
from collections.abc import Callable, Iterable
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from _report import Report
from scipy.stats import ortho_group
from sklearn.datasets import load_breast_cancer, load_digits, load_wine, make_moons
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.preprocessing import StandardScaler, scale

from skrep.discriminant import (
    DiscriminantEncoder,
    LinearDiscriminantProjection,
    SimplexClassifier,
)
from skrep.metrics import principal_angles
from skrep.nn._batches import spread_classes
from skrep.nn.losses import FisherTraceLoss, LogDetLoss

Rows = tuple[np.ndarray, np.ndarray]
Encode = Callable[[np.ndarray], np.ndarray]
Method = Callable[[np.ndarray, np.ndarray, int, int], Encode]

HIDDEN, RATE, EPOCHS, BATCH = (64, 64), 5e-3, 150, 128
N_PLANE, N_AXES, NOISE = 800, 50, 0.1
SCORES = ("5-NN", "logistic")
BOUNDED = ("logdet", "deeplda")
DEFAULT_LOSS = DiscriminantEncoder().loss
LOSSES = sorted({"bhattacharyya", "lda", "logdet", "dda", "deeplda"} - {DEFAULT_LOSS})
DEFAULT = f"DiscriminantEncoder, loss={DEFAULT_LOSS!r}"
SUPCON = "MLP, SupCon"
LDA_ROWS = ("LDA, svd", "LDA, shrinkage='auto'")
FAILED = 10.0
MODEL_SEEDS = 50


class Setting(NamedTuple):
    """A set of rows and a number of columns."""

    data: Callable[[int], Rows]
    k: int
    n_classes: int


def among_noise(plane: np.ndarray, seed: int) -> np.ndarray:
    """Rows of a plane beside axes of noise, all turned by a random rotation."""
    rng = np.random.default_rng([seed, 1])
    noise = NOISE * rng.standard_normal((len(plane), N_AXES - 2))
    turn = ortho_group.rvs(N_AXES, random_state=rng)
    return np.hstack([plane, noise]) @ turn.T


def moons50(seed: int) -> Rows:
    plane, y = make_moons(N_PLANE, noise=NOISE, random_state=seed)
    return among_noise(plane, seed), y


def rings50(seed: int) -> Rows:
    rng = np.random.default_rng(seed)
    y = np.arange(N_PLANE) % 3
    radius = y + 1 + NOISE * rng.standard_normal(N_PLANE)
    angle = rng.uniform(0, 2 * np.pi, N_PLANE)
    plane = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return among_noise(plane, seed), y


def bundled(load: Callable[..., Rows]) -> Callable[[int], Rows]:
    return lambda _: load(return_X_y=True)


SETTINGS = {
    "digits k=2": Setting(bundled(load_digits), 2, 10),
    "digits k=9": Setting(bundled(load_digits), 9, 10),
    "wine k=2": Setting(bundled(load_wine), 2, 3),
    "cancer k=1": Setting(bundled(load_breast_cancer), 1, 2),
    "cancer k=2": Setting(bundled(load_breast_cancer), 2, 2),
    "moons50 k=1": Setting(moons50, 1, 2),
    "moons50 k=2": Setting(moons50, 2, 2),
    "rings50 k=2": Setting(rings50, 2, 3),
}


def split(name: str, seed: int) -> list[np.ndarray]:
    """Training rows, test rows, and the classes of both."""
    X, y = SETTINGS[name].data(seed)
    return train_test_split(
        X.astype(np.float32), y, test_size=0.3, stratify=y, random_state=seed
    )


def most(y: np.ndarray, k: int) -> int:
    """Number of columns, at most one less than there are classes."""
    return min(k, len(np.unique(y)) - 1)


def own_encoder(
    X: np.ndarray, y: np.ndarray, k: int, seed: int, loss: str = DEFAULT_LOSS
) -> Encode:
    width = most(y, k) if loss in BOUNDED else k
    return DiscriminantEncoder(width, loss=loss, random_state=seed).fit(X, y).transform


def own_projection(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Encode:
    return LinearDiscriminantProjection(k).fit(X, y).transform


def own_simplex(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Encode:
    return SimplexClassifier(random_state=seed).fit(X, y).transform


def standardized(method: Method) -> Method:
    """The method on columns standardized by the training rows."""

    def fitted(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Encode:
        scaler = StandardScaler().fit(X)
        encode = method(scaler.transform(X), y, k, seed)
        return lambda rows: encode(scaler.transform(rows))

    return fitted


def pca(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Encode:
    return PCA(k, random_state=seed).fit(X).transform


def lda(X: np.ndarray, y: np.ndarray, k: int, seed: int, **params: object) -> Encode:
    model = LinearDiscriminantAnalysis(n_components=most(y, k), **params)
    return model.fit(X, y).transform


def nca(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Encode:
    return NeighborhoodComponentsAnalysis(k, random_state=seed).fit(X, y).transform


def layers(*widths: int) -> torch.nn.Sequential:
    """A perceptron with rectified hidden layers."""
    parts: list[torch.nn.Module] = []
    for inputs, outputs in pairwise(widths):
        parts += [torch.nn.Linear(inputs, outputs), torch.nn.ReLU()]
    return torch.nn.Sequential(*parts[:-1])


def trained(
    X: np.ndarray,
    y: np.ndarray,
    k: int,
    seed: int,
    loss: torch.nn.Module,
    head: torch.nn.Module,
) -> Encode:
    """Outputs of a perceptron trained in a bare loop, before the head."""
    network = layers(X.shape[1], *HIDDEN, k)
    parameters = [*network.parameters(), *head.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=RATE)
    rows, codes = torch.from_numpy(X), torch.from_numpy(y)
    rng = np.random.default_rng(seed)
    for _ in range(EPOCHS):
        order = spread_classes(y, rng)
        for batch in np.array_split(order, max(1, len(y) // BATCH)):
            optimizer.zero_grad()
            loss(head(network(rows[batch])), codes[batch]).backward()
            optimizer.step()

    @torch.no_grad()
    def encode(new: np.ndarray) -> np.ndarray:
        return network(torch.from_numpy(new)).numpy()

    return encode


def cross_entropy(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Encode:
    torch.manual_seed(seed)
    head = torch.nn.Linear(k, len(np.unique(y)))
    return trained(X, y, k, seed, torch.nn.CrossEntropyLoss(), head)


def supcon(X: np.ndarray, y: np.ndarray, k: int, seed: int) -> Encode:
    from pytorch_metric_learning.losses import SupConLoss

    torch.manual_seed(seed)
    return trained(X, y, k, seed, SupConLoss(), torch.nn.Identity())


METHODS: dict[str, Method] = {
    DEFAULT: own_encoder,
    **{f"... loss={loss!r}": partial(own_encoder, loss=loss) for loss in LOSSES},
    "SimplexClassifier": own_simplex,
    "LinearDiscriminantProjection": own_projection,
    "PCA": standardized(pca),
    LDA_ROWS[0]: standardized(lda),
    LDA_ROWS[1]: standardized(partial(lda, solver="eigen", shrinkage="auto")),
    "NCA": standardized(nca),
    "MLP, cross-entropy": standardized(cross_entropy),
    SUPCON: standardized(supcon),
}
OWN = tuple(METHODS)[:7]


def scores(
    fit: Callable[[], Encode], parts: list[np.ndarray], names: Iterable[str] = SCORES
) -> dict[str, float]:
    """Accuracy of each head in %; nan where training diverged."""
    X, X_test, y, y_test = parts
    heads = KNeighborsClassifier(5), LogisticRegression(max_iter=1_000)
    found = dict.fromkeys(names, np.nan)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            encode = fit()
        except ValueError as error:
            if "diverged" in str(error):
                return found
            raise
        Z, Z_test = encode(X), encode(X_test)
        if np.isfinite(Z).all() and np.isfinite(Z_test).all():
            for name, head in zip(SCORES, heads, strict=True):
                if name in found:
                    found[name] = 100 * head.fit(Z, y).score(Z_test, y_test)
    return found


def applies(method: str, setting: Setting) -> bool:
    return method != "SimplexClassifier" or setting.k == setting.n_classes - 1


class Cells:
    """Scores of one run by method, setting and head, one per split."""

    def __init__(self) -> None:
        self.values: dict[tuple[str, str, str], list[float]] = {}

    def add(self, method: str, setting: str, found: dict[str, float]) -> None:
        for head, value in found.items():
            self.values.setdefault((method, setting, head), []).append(value)

    def has(self, method: str, setting: str) -> bool:
        return (method, setting, SCORES[0]) in self.values

    def mean(self, method: str, setting: str, head: str) -> float:
        return float(np.mean(self.values[method, setting, head]))

    def spread(self, method: str, setting: str, head: str) -> float:
        values = self.values[method, setting, head]
        return float(np.std(values, ddof=1)) if len(values) > 1 else np.nan

    def shown(self, method: str, setting: str, head: str) -> str:
        asked = method, setting, head
        mean, spread = self.mean(*asked), self.spread(*asked)
        return f"{mean:.1f}" if np.isnan(spread) else f"{mean:.1f} ({spread:.1f})"

    def worst(self, method: str, settings: Iterable[str]) -> float:
        """Least mean accuracy of logistic regression."""
        found = [
            self.mean(method, s, SCORES[1]) for s in settings if self.has(method, s)
        ]
        return float(np.min(found)) if found else np.nan


def measure(methods: list[str], settings: list[str], seeds: range) -> Cells:
    cells = Cells()
    for name in settings:
        for seed in seeds:
            parts = split(name, seed)
            X, _, y, _ = parts
            for method in methods:
                if applies(method, SETTINGS[name]):
                    k = SETTINGS[name].k
                    found = scores(partial(METHODS[method], X, y, k, seed), parts)
                    cells.add(method, name, found)
    return cells


def show(cells: Cells, methods: list[str], settings: list[str], report: Report) -> None:
    for head in SCORES:
        last = head == SCORES[1]
        body = []
        for method in methods:
            row = [
                cells.shown(method, s, head) if cells.has(method, s) else "-"
                for s in settings
            ]
            if last:
                part = not all(cells.has(method, s) for s in settings)
                row.append(f"{cells.worst(method, settings):.1f}" + "*" * part)
            body.append([method, *row])
        report.table(
            f"{head}: accuracy in %, mean (sd) over splits"
            + "; worst cell: the least mean of a row (*: of the settings it has)"
            * last,
            ["method", *settings, *["worst cell"] * last],
            body,
        )


class Bars:
    """What was to be reached, what the default and the best of skrep reached."""

    def __init__(self) -> None:
        self.body: list[list[str]] = []

    def add(
        self, what: str, bar: float, reached: dict[str, float], at_least: bool = True
    ) -> None:
        """One bar, from a figure per method of skrep."""
        finite = {m: v for m, v in reached.items() if np.isfinite(v)}
        if not finite:
            return
        best = (max if at_least else min)(finite, key=finite.__getitem__)
        verdict = {True: "yes", False: "no"}

        def shown(method: str) -> list[str]:
            if method not in reached:
                return ["-", "-"]
            value = reached[method]
            met = value >= bar if at_least else value <= bar
            return [f"{value:.3g}" if value < 1 else f"{value:.2f}", verdict[met]]

        sign = ">=" if at_least else "<="
        self.body.append([what, f"{sign} {bar:g}", *shown(DEFAULT), *shown(best), best])

    def show(self, report: Report) -> None:
        head = ["what", "bar", "default", "met", "best of skrep", "met", "which"]
        title = f"Bars. Default: {DEFAULT}; best: by the very figure of the bar"
        report.table(title, head, self.body)


def quality_bars(cells: Cells, settings: list[str], bars: Bars) -> None:
    def reached(setting: str, head: str, figure=cells.mean) -> dict[str, float]:
        return {m: figure(m, setting, head) for m in OWN if cells.has(m, setting)}

    for setting, head, bar in (
        ("digits k=2", "5-NN", 95.0),
        ("digits k=9", "5-NN", 98.0),
        ("digits k=9", "logistic", 98.0),
        ("rings50 k=2", "logistic", 99.5),
        ("moons50 k=1", "logistic", 95.0),
        ("cancer k=1", "logistic", 96.4),
    ):
        bars.add(f"{setting}, {head}", bar, reached(setting, head))
        if setting.startswith("rings"):
            spreads = reached(setting, head, cells.spread)
            bars.add(f"{setting}, {head}: sd", 0.5, spreads, at_least=False)
    for setting in ("wine k=2", "cancer k=1"):
        peers = [m for m in LDA_ROWS if cells.has(m, setting)]
        if peers:
            peer = max(cells.mean(m, setting, "logistic") for m in peers)
            gaps = {m: v - peer for m, v in reached(setting, "logistic").items()}
            bars.add(f"{setting}, logistic: minus the better LDA", -1.0, gaps)
    if set(settings) == set(SETTINGS):
        whole = [m for m in OWN if all(cells.has(m, s) for s in settings)]
        worst = {m: cells.worst(m, settings) for m in whole}
        bars.add("worst cell of the eight settings, logistic", 93.5, worst)


def bad_seeds(seed: int, report: Report, bars: Bars) -> None:
    """Fits of one split each that diverge, or fall far under their median."""
    counts = {}
    body = []
    for method in (DEFAULT, "... loss='deeplda'"):
        bad = 0
        for name in ("moons50 k=1", "wine k=2"):
            parts = split(name, seed)
            fits = [
                partial(METHODS[method], parts[0], parts[2], SETTINGS[name].k, model)
                for model in range(MODEL_SEEDS)
            ]
            found = [scores(fit, parts, SCORES[1:])[SCORES[1]] for fit in fits]
            median = np.nanmedian(found)
            failed = int(np.sum(~(np.array(found) > median - FAILED)))
            bad += failed
            body.append(
                [
                    f"{method}, {name}",
                    f"{median:.1f}",
                    f"{np.nanmin(found):.1f}",
                    f"{failed} of {len(found)}",
                ]
            )
        counts[method] = bad
    report.table(
        f"Logistic regression over {MODEL_SEEDS} seeds of the model, split {seed}; "
        f"bad: not finite, or {FAILED:g} points and more under the median",
        ["method", "median", "least", "bad"],
        body,
    )
    reached = {DEFAULT: counts[DEFAULT]}
    bars.add("bad seeds in 100 fits", 0, reached, at_least=False)


def linear_optimum(
    loss: torch.nn.Module, X: np.ndarray, y: np.ndarray, k: int
) -> np.ndarray:
    """Columns of the linear map of least loss, from a random start."""
    rows, codes = torch.tensor(X), torch.tensor(y)
    start = np.random.default_rng(0).normal(size=(X.shape[1], k))
    axes = torch.tensor(start, requires_grad=True)
    optimizer = torch.optim.LBFGS(
        [axes],
        max_iter=1_500,
        max_eval=3_000,
        history_size=50,
        tolerance_grad=1e-11,
        tolerance_change=1e-16,
        line_search_fn="strong_wolfe",
    )

    def closure() -> torch.Tensor:
        optimizer.zero_grad()
        value = loss(rows @ axes, codes)
        value.backward()
        return value

    optimizer.step(closure)
    return axes.detach().numpy()


def linear_limit(report: Report, bars: Bars) -> None:
    X, y = load_digits(return_X_y=True)
    components = PCA(30, svd_solver="full").fit_transform(X), y
    angles = {}
    for loss in (LogDetLoss, FisherTraceLoss):
        for name, (X, y), k in (
            ("wine, k=2", load_wine(return_X_y=True), 2),
            ("digits, 30 principal components, k=9", components, 9),
        ):
            X = scale(X)
            axes = linear_optimum(loss(ridge=0.0), X, y, k)
            reference = LinearDiscriminantAnalysis().fit(X, y).scalings_[:, :k]
            angle = principal_angles(axes.T, reference.T)[-1]
            angles[f"{loss.__name__}, {name}"] = float(np.rad2deg(angle))
    report.table(
        "A linear map by L-BFGS, without ridge: largest angle to scikit-learn's LDA",
        ["loss", "degrees"],
        [[name, f"{angle:.1e}"] for name, angle in angles.items()],
    )
    where = max(angles, key=angles.__getitem__)
    bars.add(
        "linear limit: largest angle, degrees",
        1e-3,
        {where: angles[where]},
        at_least=False,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=400)
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=[*METHODS])
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=[*SETTINGS])
    options = parser.parse_args()
    methods = list(options.methods)
    whole = set(methods) == set(METHODS) and set(options.settings) == set(SETTINGS)
    seeds = range(options.first_seed, options.first_seed + options.splits)
    with Report("discriminant_quality") as report:
        report.write(f"{options.splits} splits, seeds {seeds[0]} to {seeds[-1]}")
        if SUPCON in methods and find_spec("pytorch_metric_learning") is None:
            methods.remove(SUPCON)
            report.write(f"{SUPCON}: absent, needs pytorch-metric-learning")
        cells = measure(methods, options.settings, seeds)
        show(cells, methods, options.settings, report)
        bars = Bars()
        quality_bars(cells, options.settings, bars)
        if whole:
            bad_seeds(options.first_seed, report, bars)
            linear_limit(report, bars)
        bars.show(report)
