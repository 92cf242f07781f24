"""How fast is a nested projection, and how much memory does it take?

    python benchmarks/nested_speed.py

Every time is a ratio to that of the named peer taken just before it, median over
rounds. Run it on an idle machine: set ``OMP_NUM_THREADS=1`` for one thread. Bars are
printed beside the ratios.
"""

import tracemalloc
from collections.abc import Callable
from statistics import median
from time import perf_counter

import numpy as np
from _report import Report
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from skrep.model_selection import PrefixSearchCV
from skrep.nested import NestedProjection

Objective = str | dict[str, float]
Call = Callable[[], object]

ROUNDS = 9
N_CLASSES = 20
MIXTURE = {"classes": 0.3, "pairs": 1}
FIT_BARS: tuple[tuple[Objective, float | None], ...] = (
    ("variance", 1.2),
    ("classes", 4.0),
    ("pairs", 4.0),
    (MIXTURE, 10.0),
    ("neighbors", 10.0),
    ("mined", None),
    ("cca", None),
    ({"classes": 0.3, "neighbors": 1}, None),
    ({"classes": 0.3, "mined": 1}, None),
)
POWERS = (2, 4, 8, 16, 32, 64, 128, 256)


def seconds(call: Call) -> float:
    start = perf_counter()
    call()
    return perf_counter() - start


def ratio(base: Call, call: Call, rounds: int = ROUNDS) -> float:
    """Median of the call's time over that of the base, timed just before it."""
    pairs = [(seconds(base), seconds(call)) for _ in range(rounds)]
    return median(own / other for other, own in pairs)


def ratios(base: Call, calls: dict[str, Call], rounds: int = ROUNDS) -> list[float]:
    for call in (base, *calls.values()):
        call()
    return [ratio(base, call, rounds) for call in calls.values()]


def data(n: int, d: int, dtype: type = np.float64) -> tuple[np.ndarray, ...]:
    """Rows with a falling spectrum, their classes, and noisy partners."""
    rng = np.random.default_rng(0)
    spread = np.arange(1, d + 1) ** -0.5
    means = 0.5 * rng.standard_normal((N_CLASSES, d)) * spread
    y = rng.integers(0, N_CLASSES, n)
    X = means[y] + rng.standard_normal((n, d)) * spread + 0.1
    pairs = X + rng.standard_normal((n, d)) * 0.5 * spread.mean() - 0.2
    return X.astype(dtype), y, pairs.astype(dtype)


def fitted_by(
    objective: Objective, X: np.ndarray, y: np.ndarray, pairs: np.ndarray
) -> Call:
    parts = {objective} if isinstance(objective, str) else set(objective)
    asked = {"y": y} if "classes" in parts else {}
    asked |= {"pairs": pairs} if parts & {"pairs", "cca"} else {}
    asked |= {"queries": pairs} if "mined" in parts else {}
    model = NestedProjection(objective=objective, random_state=0)
    return lambda: model.fit(X, **asked)


def verdict(reached: float, bar: float | None) -> list[str]:
    if bar is None:
        return ["-", "-"]
    return [f"{bar:g}", "yes" if reached <= bar else "no"]


def fits(report: Report) -> None:
    for dtype in (np.float64, np.float32):
        X, y, pairs = data(5_000, 384, dtype)
        bars: dict[str, float | None] = {"PCA()": None}
        calls: dict[str, Call] = {"PCA()": lambda X=X: PCA().fit(X)}
        for objective, bar in FIT_BARS:
            calls[f"{objective!r}"] = fitted_by(objective, X, y, pairs)
            bars[f"{objective!r}"] = bar if dtype is np.float64 else None
        calls["PCA(svd_solver='full')"] = lambda X=X: PCA(svd_solver="full").fit(X)
        calls["TruncatedSVD(64)"] = lambda X=X: TruncatedSVD(64).fit(X)
        for name, lda in (
            ("LDA()", LinearDiscriminantAnalysis()),
            (
                "LDA(eigen, shrinkage='auto')",
                LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"),
            ),
        ):
            calls[name] = lambda X=X, y=y, lda=lda: lda.fit(X, y)
        found = zip(calls, ratios(calls["PCA()"], calls), strict=True)
        report.table(
            f"Fit of 5,000 x 384 {dtype.__name__} rows, {N_CLASSES} classes, 5,000 "
            "partners; ratio to scikit-learn's PCA()",
            ["fit", "ratio", "bar", "met"],
            [[name, f"{r:.2f}", *verdict(r, bars.get(name))] for name, r in found],
        )


def transforms(report: Report) -> None:
    X = data(20_000, 384, np.float32)[0]
    body = []
    for k in (64, 384):
        W = np.ascontiguousarray(NestedProjection().fit(X).components_[:k].T)
        model = NestedProjection(k).fit(X)
        normed = NestedProjection(k, normalize=True).fit(X)
        pca = PCA(k).fit(X)
        calls = {
            "X @ W": lambda W=W: X @ W,
            "NestedProjection": lambda m=model: m.transform(X),
            "... normalize=True": lambda m=normed: m.transform(X),
            "PCA": lambda m=pca: m.transform(X),
        }
        for name, r in zip(calls, ratios(calls["X @ W"], calls, 15), strict=True):
            bar = 1.1 if name == "NestedProjection" else None
            body.append([f"{k} columns, {name}", f"{r:.2f}", *verdict(r, bar)])
    report.table(
        "Transform of 20,000 x 384 float32 rows; ratio to X @ W",
        ["way", "ratio", "bar", "met"],
        body,
    )


def one_row(report: Report) -> None:
    X = data(5_000, 384, np.float32)[0]
    body = []
    for model in (NestedProjection(64), NestedProjection(64, normalize=True), PCA(64)):
        model.fit(X)
        times = [
            seconds(lambda i=i, m=model: m.transform(X[i : i + 1])) for i in range(500)
        ]
        body.append([repr(model), f"{1e3 * median(times):.3f}"])
    report.table("One numpy row, 384 columns", ["model", "ms"], body)


def constant(estimator: object, X: object, y: object = None) -> float:
    """A score that costs nothing, so that what is left is the projection."""
    return 0.0


def searches(report: Report) -> None:
    X, y, _ = data(5_000, 384)
    body = []
    for objective in ("variance", "classes"):
        model = NestedProjection(objective=objective)
        lengths = {"n_components": list(POWERS)}
        full = GridSearchCV(
            model, {"n_components": [None]}, cv=5, scoring=constant, error_score="raise"
        )
        grid = GridSearchCV(model, lengths, cv=5, scoring=constant)
        search = PrefixSearchCV(model, prefixes=POWERS, cv=5, scoring=constant)
        calls = {
            "PrefixSearchCV, 8 lengths": lambda s=search: s.fit(X, y),
            "GridSearchCV, 8 lengths": lambda g=grid: g.fit(X, y),
        }
        found = ratios(lambda f=full: f.fit(X, y), calls, 5)
        for name, r in zip(calls, found, strict=True):
            bar = 1.3 if "Prefix" in name else None
            body.append([f"'{objective}', {name}", f"{r:.2f}", *verdict(r, bar)])
    report.table(
        "Choosing a length, 5,000 x 384, 5 folds and a last fit on all rows, scores "
        "that cost nothing; ratio to GridSearchCV of the full length alone",
        ["search", "ratio", "bar", "met"],
        body,
    )
    head = LogisticRegression(max_iter=200)
    lengths = {"nestedprojection__n_components": list(POWERS)}
    X, y = X[:2_000], y[:2_000]
    pipeline = make_pipeline(NestedProjection(), head)
    calls = {
        "PrefixSearchCV, 8 lengths": lambda: PrefixSearchCV(
            NestedProjection(), head, prefixes=POWERS
        ).fit(X, y),
        "GridSearchCV, 8 lengths": lambda: GridSearchCV(pipeline, lengths).fit(X, y),
    }
    full = GridSearchCV(pipeline, {"nestedprojection__n_components": [None]})
    found = ratios(lambda: full.fit(X, y), calls, 3)
    report.table(
        "The same with a LogisticRegression fitted on every length, 2,000 x 384",
        ["search", "ratio"],
        [[name, f"{r:.2f}"] for name, r in zip(calls, found, strict=True)],
    )


def peak(call: Call) -> tuple[float, object]:
    tracemalloc.start()
    result = call()
    top = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return top, result


def memory(report: Report) -> None:
    X, y, pairs = data(20_000, 384, np.float32)
    body = []
    for objective, _ in FIT_BARS:
        top, _ = peak(fitted_by(objective, X, y, pairs))
        body.append([f"fit, {objective!r}: peak / rows", f"{top / X.nbytes:.2f}"])
    top, _ = peak(lambda: PCA().fit(X))
    body.append(["fit, PCA(): peak / rows", f"{top / X.nbytes:.2f}"])
    model = NestedProjection().fit(X)
    top, out = peak(lambda: model.transform(X))
    beyond = (top - out.nbytes) / X.nbytes
    body.append(["transform: peak beyond the output / rows", f"{beyond:.2f}"])
    report.table("Memory, 20,000 x 384 float32 rows", ["what", "value"], body)


def deviation(ours: np.ndarray, theirs: np.ndarray) -> float:
    """Largest difference up to signs of columns, in units of the largest entry."""
    signs = np.sign(np.sum(ours * theirs, axis=0))
    return float(np.abs(ours * signs - theirs).max() / np.abs(theirs).max())


def agreement(report: Report) -> None:
    X, y, _ = data(5_000, 384)
    reference = PCA().fit(X)
    ours = NestedProjection().fit(X)
    body = []
    for what, a, b in (
        ("transform", ours.transform(X), reference.transform(X)),
        ("components_", ours.components_.T, reference.components_.T),
    ):
        off = deviation(a, b)
        body.append([f"'variance' and PCA: {what}", f"{off:.0e}", *verdict(off, 1e-6)])
    for objective in ("variance", "classes"):
        one_shot = NestedProjection(objective=objective).fit(X, y)
        blocks = NestedProjection(objective=objective)
        for start in range(0, len(X), 700):
            rows = slice(start, start + 700)
            blocks.partial_fit(X[rows], y[rows])
        off = deviation(blocks.transform(X), one_shot.transform(X))
        body.append(
            [
                f"'{objective}', partial_fit and fit: transform",
                f"{off:.0e}",
                *verdict(off, 1e-8),
            ]
        )
    report.table(
        "Agreement on 5,000 x 384 float64 rows: largest deviation, up to signs, over "
        "the largest entry",
        ["what", "deviation", "bar", "met"],
        body,
    )


if __name__ == "__main__":
    with Report("nested_speed") as report:
        agreement(report)
        fits(report)
        transforms(report)
        one_row(report)
        searches(report)
        memory(report)
