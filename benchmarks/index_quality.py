"""How near to the true directions do index models come, and do they serve real sets?

    python benchmarks/index_quality.py

Needs statsmodels, direpack and sliced (see ``_index_peers.py``, which makes the last
one import). Five seeds unless a title says otherwise, every method on the same
samples, ten slices for all, the number of directions given, nothing tuned; heads of
the real sets choose their parameters on the training fold. A method that fails on a
cell shows the name of its error. Set ``OMP_NUM_THREADS=1`` for one thread: it then
takes some five minutes on an idle core.
"""

import warnings
from functools import partial

import numpy as np
from _index_peers import (
    ALL_PEERS,
    MOMENT_PEERS,
    PROJECTION_PEERS,
    SHARED_PEERS,
    STATSMODELS,
    direpack_fit,
    shimmed_sliced,
    statsmodels_directions,
    versions,
)
from _index_protocol import (
    DESIGNS,
    LINKS,
    N_SLICES,
    SEEDS,
    Bars,
    Directions,
    Sample,
    attempt,
    best,
    cell,
    figure,
    mean,
    sample,
    sine,
)
from _report import Report
from scipy.stats import rankdata
from sklearn.covariance import ledoit_wolf
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.preprocessing import LabelBinarizer, StandardScaler

from skrep.index_model import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
    SteinIndex,
)

SHARED_SEEDS = 2


def own(model: type, **params: object) -> Directions:
    return lambda X, y, r: model(r, **params).fit(X, y).components_


DEFAULT = "SteinIndex"
OWN: dict[str, Directions] = {
    DEFAULT: own(SteinIndex),
    "SlicedInverseRegression": own(SlicedInverseRegression),
    "SlicedAverageVarianceEstimation": own(SlicedAverageVarianceEstimation),
    "DirectionalRegression": own(DirectionalRegression),
    "PrincipalHessianDirections": own(PrincipalHessianDirections),
}


def agreement(report: Report, bars: Bars) -> None:
    """Ours and statsmodels' on the same random samples."""
    models = {
        "SIR": SlicedInverseRegression,
        "SAVE": SlicedAverageVarianceEstimation,
        "pHd": PrincipalHessianDirections,
    }
    found = {name: [] for name in models}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        n_slices, d = int(rng.choice((5, 10))), int(rng.integers(3, 21))
        n = n_slices * int(rng.integers(5 * d, 10 * d))
        link, design = rng.choice(LINKS[:-1]), rng.choice(DESIGNS)
        X, y, components = sample(str(link), str(design), seed, n, d)
        X = (X @ np.linalg.qr(rng.standard_normal((d, d)))[0]) * 10 ** rng.uniform(
            -1, 1, d
        ) + rng.standard_normal(d)
        r = len(components)
        for name, model in models.items():
            theirs = statsmodels_directions(STATSMODELS[name], n_slices)(X, y, r)
            params = {} if name == "pHd" else {"n_slices": n_slices}
            found[name].append(sine(own(model, **params), Sample(X, y, theirs)))
    report.table(
        "Sine between our directions and those of statsmodels, 100 random samples "
        "(3 to 20 columns of any scale, 5 or 10 slices, all links with one response)",
        ["method", "median", "largest"],
        [[k, f"{np.median(v):.1e}", f"{max(v):.1e}"] for k, v in found.items()],
    )
    for name, values in found.items():
        bars.at_most(f"{name} and statsmodels, 100 samples", max(values), 1e-6)


def links(report: Report, bars: Bars) -> None:
    means = {}
    largest = {}
    for design in DESIGNS:
        for name, directions in (OWN | ALL_PEERS).items():
            seeds = range(SHARED_SEEDS if name in SHARED_PEERS else SEEDS)
            for link in LINKS:
                values = [sine(directions, sample(link, design, s)) for s in seeds]
                means[design, link, name] = mean(values)
                if name == DEFAULT:
                    largest[f"{link}, {design}"] = max(map(figure, values))
        report.table(
            f"{design}: sine of the largest angle to the truth, 5,000 x 20, "
            f"{SEEDS} seeds (*: {SHARED_SEEDS})",
            ["method", *LINKS],
            [
                [
                    name + "*" * (name in SHARED_PEERS),
                    *(cell(means[design, link, name]) for link in LINKS),
                ]
                for name in OWN | ALL_PEERS
            ],
        )
    body, ratios, own_sines = [], {}, {}
    for design in DESIGNS:
        row = [design]
        for link in LINKS:
            peers = PROJECTION_PEERS if link == "multi5" else MOMENT_PEERS
            peer, value = best({p: means[design, link, p] for p in peers})
            where = f"{link}, {design}"
            own_sines[where] = figure(means[design, link, DEFAULT])
            ratios[f"{where} ({peer})"] = own_sines[where] / value
            row.append(f"{own_sines[where] / value:.2f} {peer.split()[-1]}")
        body.append(row)
    report.table(
        "SteinIndex: ratio to the best of statsmodels' SIR, SAVE, pHd and direpack's "
        "DR, which is named. They refuse several responses: multi5 is against the "
        "best of PLS, CCA and PCA",
        ["design", *LINKS],
        body,
    )
    where = max(own_sines, key=own_sines.get)
    bars.at_most("largest mean sine, 7 links x 5 designs", own_sines[where], 0.5, where)
    where = max(largest, key=largest.get)
    bars.at_most("largest sine of any seed, same", largest[where], 0.5, where)
    several = [where for where in ratios if where.startswith("multi5")]
    for title, chosen in (
        ("ratio to the best moment peer, 6 links", set(ratios) - set(several)),
        ("ratio to the best of PLS, CCA, PCA, multi5", several),
    ):
        where = max(chosen, key=ratios.get)
        bars.at_most(title, ratios[where], 1.3, where)


def heavy_tails(report: Report, bars: Bars) -> None:
    n_seeds = 20
    raw = partial(own, SteinIndex, response="raw")
    methods = {
        DEFAULT: OWN[DEFAULT],
        "raw, order 1": raw(order=1),
        "raw, orders 1 and 2": raw(),
        "raw, order 1, clip=3": raw(order=1, clip=3),
        "raw, orders 1 and 2, clip=3": raw(clip=3),
        **MOMENT_PEERS,
        **PROJECTION_PEERS,
    }
    cells = [("ar1", "0.5"), ("t5", "0.5"), ("t5", "0.25 sd")]
    found = {}
    for name, directions in methods.items():
        for design, scale in cells:
            values = []
            for seed in range(n_seeds):
                X, signal, components = sample("cubic", design, seed, 2_000, noise=0)
                noise = np.random.default_rng([seed, 1]).standard_cauchy(len(X))
                y = signal + (0.5 if scale == "0.5" else signal.std() / 4) * noise
                values.append(sine(directions, Sample(X, y, components)))
            found[name, design, scale] = mean(values)
    report.table(
        f"Cauchy noise, cubic link, 2,000 x 20, {n_seeds} seeds: sine. Scale of the "
        "noise: 0.5, or a quarter of the sample's sd of the signal, which diverges "
        "under t5",
        ["method", *(f"{design}, {scale}" for design, scale in cells)],
        [[name, *(cell(found[name, *c]) for c in cells)] for name in methods],
    )
    for name in (DEFAULT, "raw, order 1, clip=3"):
        reached = figure(found[name, "t5", "0.5"])
        bars.at_most(f"Cauchy noise, t5: {name}", reached, 0.25)
    base = figure(found["raw, order 1", "t5", "0.5"])
    bars.above("Cauchy noise, t5: raw, order 1, the base", base, 0.7)


def solved(X: np.ndarray, g: np.ndarray, covariance: np.ndarray | None) -> np.ndarray:
    """First-order direction from a covariance of standardized columns."""
    spread = X.std(axis=0)
    slope = ((X - X.mean(axis=0)) / spread).T @ (g - g.mean()) / len(g)
    if covariance is not None:
        slope = np.linalg.solve(covariance, slope)
    return (slope / spread)[None]


def shrunk(X: np.ndarray, g: np.ndarray, r: int) -> np.ndarray:
    return solved(X, g, ledoit_wolf(StandardScaler().fit_transform(X))[0])


def wide(report: Report, bars: Bars) -> None:
    """Few rows for their columns: first order on the ranks of the response."""
    first = partial(own, SteinIndex, order=1, response="raw")
    methods = {
        "SteinIndex, shrinkage='auto'": first(),
        "pseudo-inverse: shrinkage=0": first(shrinkage=0),
        "Ledoit-Wolf": shrunk,
        "identity (PLS with one component)": lambda X, g, r: solved(X, g, None),
    }
    own_name, *rest = methods
    cells = [(design, n) for design in ("iso", "ar1") for n in (200, 400, 800)]
    found = {}
    for design, n in cells:
        drawn = [sample("cubic", design, seed, n, 400) for seed in range(SEEDS)]
        drawn = [Sample(X, rankdata(y), B) for X, y, B in drawn]
        for name, directions in methods.items():
            found[name, design, n] = mean([sine(directions, one) for one in drawn])
    report.table(
        "400 columns, cubic link, first order on the ranks of y: sine",
        ["whitening", *(f"{design} n={n}" for design, n in cells)],
        [[name, *(cell(found[name, *c]) for c in cells)] for name in methods],
    )
    ratios = {}
    for c in cells:
        name, value = best({name: found[name, *c] for name in rest})
        ratios[f"{c[0]}, n={c[1]} ({name})"] = figure(found[own_name, *c]) / value
    where = max(ratios, key=ratios.get)
    bars.at_most("400 columns: ratio to the best of three", ratios[where], 1.05, where)


def n_found(model: object, X: np.ndarray, y: np.ndarray) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return len(model.fit(X, y).components_)


def largest_gap(X: np.ndarray, y: np.ndarray) -> int:
    model = shimmed_sliced().SlicedInverseRegression("auto", n_slices=N_SLICES)
    return len(model.fit(X, y).directions_)


def number_of_directions(report: Report, bars: Bars) -> None:
    n_seeds = 200
    counts = {
        "SlicedInverseRegression": lambda X, y: n_found(
            SlicedInverseRegression("auto"), X, y
        ),
        DEFAULT: lambda X, y: n_found(SteinIndex("auto"), X, y),
        "sliced SIR, largest gap": largest_gap,
    }
    cells = [(k, d) for k in ("none", "linear", "ratio") for d in ("ar1", "t5")]
    found = {}
    for link, design in cells:
        drawn = [sample(link, design, seed, 1_000, 10) for seed in range(n_seeds)]
        for name, count in counts.items():
            hits = [count(X, y) == len(components) for X, y, components in drawn]
            found[name, link, design] = np.mean(hits)
    report.table(
        f"n_components='auto': hit rate, 1,000 x 10, {n_seeds} seeds",
        ["method", *(f"{link} {design}" for link, design in cells)],
        [[name, *(f"{found[name, *c]:.2f}" for c in cells)] for name in counts],
    )
    for name in list(counts)[:2]:
        for r, link in enumerate(("none", "linear", "ratio")):
            rates = {design: found[name, link, design] for design in ("ar1", "t5")}
            where = min(rates, key=rates.get)
            bars.at_least(f"{name}: hit rate, r = {r}", rates[where], 0.9, where)


def lda(X: np.ndarray, y: np.ndarray, k: int, **params: object) -> np.ndarray:
    k = min(k, len(np.unique(y)) - 1)
    return LinearDiscriminantAnalysis(**params).fit(X, y).scalings_[:, :k].T


def pls(X: np.ndarray, y: np.ndarray, k: int, classes: bool) -> np.ndarray:
    Y = LabelBinarizer().fit_transform(y) if classes else y
    return PLSRegression(k).fit(X, Y).x_rotations_.T


def sliced_sir(X: np.ndarray, y: np.ndarray, k: int, classes: bool) -> np.ndarray:
    H = len(np.unique(y)) if classes else N_SLICES
    return shimmed_sliced().SlicedInverseRegression(k, n_slices=H).fit(X, y).directions_


def direpack_sir(X: np.ndarray, y: np.ndarray, k: int, classes: bool) -> np.ndarray:
    params = {"n_slices": len(np.unique(y)), "response_type": "discrete"}
    return direpack_fit("sir", X, y, k, **params if classes else {}).x_loadings_.T


def statsmodels_sir(X: np.ndarray, y: np.ndarray, k: int, classes: bool) -> np.ndarray:
    H = len(np.unique(y)) if classes else N_SLICES
    return statsmodels_directions(STATSMODELS["SIR"], H)(X, y, k)


def own_sir(X: np.ndarray, y: np.ndarray, k: int, classes: bool) -> np.ndarray:
    k = min(k, len(np.unique(y)) - 1) if classes else k
    return SlicedInverseRegression(k).fit(X, y).components_


def reducers(classes: bool) -> dict[str, Directions]:
    """Ours first, then peers."""
    methods = {
        DEFAULT: OWN[DEFAULT],
        "SlicedInverseRegression": partial(own_sir, classes=classes),
        "PCA": PROJECTION_PEERS["PCA"],
        "PLSRegression": partial(pls, classes=classes),
        "statsmodels SIR": partial(statsmodels_sir, classes=classes),
        "sliced SIR": partial(sliced_sir, classes=classes),
        "direpack SIR": partial(direpack_sir, classes=classes),
    }
    if classes:
        shrinkage = {"solver": "eigen", "shrinkage": "auto"}
        methods["LDA"] = lda
        methods["LDA, shrinkage='auto'"] = partial(lda, **shrinkage)
    return methods


def heads(classes: bool) -> dict[str, object]:
    if classes:
        return {"5-NN": KNeighborsClassifier(5)}
    kernel = ConstantKernel() * RBF() + WhiteKernel()
    return {
        "ridge": RidgeCV(np.logspace(-3, 3, 7)),
        "GP": GaussianProcessRegressor(kernel, normalize_y=True, random_state=0),
        "kNN": GridSearchCV(
            KNeighborsRegressor(), {"n_neighbors": (5, 10, 20, 40)}, cv=5
        ),
    }


def score(
    directions: Directions,
    head: object,
    X: np.ndarray,
    y: np.ndarray,
    k: int,
    seed: int,
) -> float | str:
    """Mean over five folds; columns are standardized on the training fold."""
    split = KFold if len(np.unique(y)) > 20 else StratifiedKFold
    scores = []
    for train, test in split(5, shuffle=True, random_state=seed).split(X, y):
        scaler = StandardScaler().fit(X[train])
        rows, tests = scaler.transform(X[train]), scaler.transform(X[test])
        B = attempt(lambda rows=rows, train=train: directions(rows, y[train], k))
        if isinstance(B, str):
            return B
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores.append(head.fit(rows @ B.T, y[train]).score(tests @ B.T, y[test]))
    return float(np.mean(scores))


def real_sets(report: Report, bars: Bars) -> None:
    for name, load, sizes in (
        ("diabetes", load_diabetes, (2,)),
        ("wine", load_wine, (2,)),
        ("cancer", load_breast_cancer, (2,)),
        ("digits", load_digits, (4, 9)),
    ):
        X, y = load(return_X_y=True)
        classes = name != "diabetes"
        columns = [(k, head) for k in sizes for head in heads(classes)]
        found = {}
        for method, directions in reducers(classes).items():
            for k, head in columns:
                found[method, k, head] = mean(
                    [
                        score(directions, heads(classes)[head], X, y, k, seed)
                        for seed in range(SEEDS)
                    ]
                )
        report.table(
            f"{name}: {'accuracy' if classes else 'R2'}, 5 folds, {SEEDS} seeds "
            "(LDA and SlicedInverseRegression: at most one direction less than "
            "classes)",
            ["method", *(f"k={k} {head}" for k, head in columns)],
            [
                [method, *(cell(found[method, *c]) for c in columns)]
                for method in reducers(classes)
            ],
        )
        peers = list(reducers(classes))[2:]
        chosen_peers = {name: [peer for peer in peers if "shrinkage" not in peer]}
        if classes:
            chosen_peers[f"{name}, shrunk LDA too"] = peers
        for title, chosen in chosen_peers.items():
            gaps = {}
            for c in columns:
                peer, value = best({p: found[p, *c] for p in chosen}, largest=True)
                gap = value - figure(found[DEFAULT, *c], -np.inf)
                gaps[f"k={c[0]} {c[1]} ({peer})"] = gap
            where = max(gaps, key=gaps.get)
            bars.at_most(
                f"{title}: best peer minus SteinIndex", gaps[where], 0.01, where
            )


def equivariance(report: Report, bars: Bars) -> None:
    n_seeds = 5
    found = {}
    for design in DESIGNS:
        for link in LINKS:
            for seed in range(n_seeds):
                X, y, components = sample(link, design, seed, 2_000)
                rng = np.random.default_rng([seed, 2])
                A = rng.standard_normal((20, 20)) * 10 ** rng.uniform(-3, 3, 20)
                moved = X @ A + 100 * rng.standard_normal(20)
                r = len(components)
                Z = SteinIndex(r).fit(X, y).transform(X)
                Z_moved = SteinIndex(r).fit(moved, y).transform(moved)
                signs = np.sign(np.sum(Z * Z_moved, axis=0))
                error = np.max(np.abs(Z - signs * Z_moved))
                found.setdefault(design, []).append(error)
    report.table(
        "SteinIndex on X and on X A + b, columns scaled by 1e-3 to 1e3: largest "
        f"difference of the outputs up to sign, 7 links, {n_seeds} seeds",
        ["design", "median", "largest"],
        [[k, f"{np.median(v):.1e}", f"{max(v):.1e}"] for k, v in found.items()],
    )
    worst = max(found, key=lambda k: max(found[k]))
    bars.at_most("X -> X A + b, difference", max(found[worst]), 1e-6, worst)


if __name__ == "__main__":
    with Report("index_quality") as report:
        report.write(versions())
        bars = Bars()
        for part in (
            agreement,
            links,
            heavy_tails,
            wide,
            number_of_directions,
            real_sets,
            equivariance,
        ):
            part(report, bars)
        bars.show(report)
