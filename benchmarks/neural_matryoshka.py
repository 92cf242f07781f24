"""Is a trained Matryoshka head better than the closed form, at any length?

    python benchmarks/neural_matryoshka.py --data FOLDER [--splits 5]

FOLDER holds ``wordnet_glosses_{minilm,e5}.npz`` (arrays ``gloss``, ``lemma`` and
``y``). Five stratified splits, 4,723 train and 3,150 test rows of 35 classes; scores as
in ``_nested_protocol.py``. Set ``OMP_NUM_THREADS=1`` for one thread.

- Ours: `MatryoshkaProjection`, linear (a rotation of the closed form), and with a
  perceptron added to the closed form, whose rate was chosen from 0.0005, 0.001 and
  0.002 on a quarter of the train rows of the first two splits; all else by default.
- Peers, in the same run: `NestedProjection` (closed form), and a linear encoder with a
  tied head trained by Adam from random weights (MRL-E).

The bars are those of the figures in the table beside them. Times are processor
seconds of one fit, over that of scikit-learn's PCA of the same rows in float64, the
least of three of each.
"""

import argparse
from collections.abc import Callable
from time import perf_counter, process_time

import numpy as np
from _data import data_folder
from _nested_peers import matryoshka_shared
from _nested_protocol import (
    LENGTHS,
    Encoded,
    Space,
    Split,
    class_scores,
    load_space,
    neighbor_scores,
    recall_scores,
    stratified_splits,
)
from _report import Report
from sklearn.decomposition import PCA

from skrep.nested import MatryoshkaProjection, NestedProjection

WIDTH = max(LENGTHS)
CLOSED, ADAM = "NestedProjection", "linear, tied head, Adam (MRL-E)"
LINEAR = "MatryoshkaProjection()"
ADAPTOR = "MatryoshkaProjection(hidden=(256,), residual=True, lr=0.002)"
TRAINED = {"classes": (LINEAR, ADAPTOR), "pairs": (LINEAR,)}

LOGISTIC_BARS = {
    CLOSED: (0.585, 0.660, 0.678, 0.680, 0.677, 0.682),
    ADAM: (0.590, 0.626, 0.641, 0.621, 0.602, 0.597),
}
NEIGHBOR_BARS = {8: 0.585, 32: 0.666, 128: 0.666}
PAIR_BARS = {
    "minilm": {8: 0.118, 32: 0.366, 128: 0.494},
    "e5": {8: 0.118, 32: 0.355, 128: 0.476},
}
SLACK = 0.005
MOST_TIMES_PCA = 150

Model = NestedProjection | MatryoshkaProjection
Found = dict[tuple[str, str], dict[int, list[float]]]


def closed_form(split: Split, objective: str) -> Model:
    return NestedProjection(WIDTH, objective=objective, target_type="classes")


def linear(split: Split, objective: str) -> Model:
    return MatryoshkaProjection(WIDTH, objective=objective, random_state=split.seed)


def adaptor(split: Split, objective: str) -> Model:
    added = {"hidden": (256,), "residual": True, "lr": 0.002}
    return linear(split, objective).set_params(**added)


OURS: dict[str, Callable[[Split, str], Model]] = {
    CLOSED: closed_form,
    LINEAR: linear,
    ADAPTOR: adaptor,
}


def fit_classes(name: str, space: Space, split: Split) -> np.ndarray:
    """Encode all documents by what was fitted on the train rows."""
    if name == ADAM:
        encoded: Encoded = matryoshka_shared(space, split)
        return encoded.documents
    train = split.train
    model = OURS[name](split, "classes").fit(
        space.documents[train], space.labels[train]
    )
    return model.transform(space.documents)


def measure_classes(space: Space, splits: list[Split]) -> Found:
    """Logistic and 10-NN accuracy of every method."""
    found: Found = {}
    for split in splits:
        y, train, test = space.labels, split.train, split.test
        for name in (CLOSED, ADAM, *TRAINED["classes"]):
            start = perf_counter()
            Z = fit_classes(name, space, split)
            sides = Z[train], y[train], Z[test], y[test], LENGTHS
            add(found, ("logistic", name), class_scores(*sides, seed=split.seed))
            add(found, ("10-NN", name), neighbor_scores(*sides))
            print(split.seed, name, f"{perf_counter() - start:.0f} s", flush=True)
    return found


def measure_pairs(space: Space, splits: list[Split]) -> Found:
    """Recall of every method."""
    found: Found = {}
    for split in splits:
        X, Q = space.documents[split.train], space.queries[split.train]
        for name in (CLOSED, *TRAINED["pairs"]):
            start = perf_counter()
            model = OURS[name](split, "pairs").fit(X, pairs=Q)
            tests = model.counterpart(Q).transform(space.queries[split.test])
            sides = model.transform(space.documents), tests, split.test, LENGTHS
            add(found, ("recall@10", name), recall_scores(*sides))
            print(split.seed, name, f"{perf_counter() - start:.0f} s", flush=True)
    return found


def add(found: Found, key: tuple[str, str], scores: dict[int, float]) -> None:
    cells = found.setdefault(key, {})
    for k, value in scores.items():
        cells.setdefault(k, []).append(value)


def show(report: Report, title: str, score: str, found: Found) -> None:
    body, errors = [], [0.0]
    for (kind, name), cells in found.items():
        if kind != score:
            continue
        body.append([name, *(f"{np.mean(cells[k]):.4f}" for k in LENGTHS)])
        if len(cells[8]) > 1:
            errors += [np.std(c, ddof=1) / np.sqrt(len(c)) for c in cells.values()]
    head = ["method", *map(str, LENGTHS)]
    report.table(f"{title}, {score}, standard errors to {max(errors):.4f}", head, body)


def show_bars(report: Report, classes: Found, pairs: dict[str, Found]) -> None:
    body = []
    for name in TRAINED["classes"]:
        mean = [np.mean(classes["logistic", name][k]) for k in LENGTHS]
        better = np.max(list(LOGISTIC_BARS.values()), axis=0)
        run = [
            max(np.mean(classes["logistic", peer][k]) for peer in (CLOSED, ADAM))
            for k in LENGTHS
        ]
        for what, against in (("figures", better), ("peers of this run", run)):
            gaps = np.asarray(mean) - against
            met = (gaps[:2] > 0).all() and gaps.min() >= -SLACK
            body.append([f"{name}, logistic, over the {what}", *row_of(gaps, met)])
        gaps = [
            np.mean(classes["10-NN", name][k]) - NEIGHBOR_BARS[k]
            if k in NEIGHBOR_BARS
            else np.nan
            for k in LENGTHS
        ]
        body.append([f"{name}, 10-NN, over the figures", *row_of(gaps)])
    for name in TRAINED["pairs"]:
        for encoder, found in pairs.items():
            for what in ("figures", "closed form of this run"):
                bars = PAIR_BARS[encoder]
                if what != "figures":
                    bars = {
                        k: np.mean(v) for k, v in found["recall@10", CLOSED].items()
                    }
                gaps = [
                    np.mean(found["recall@10", name][k]) - bars.get(k, np.nan)
                    for k in LENGTHS
                ]
                title = f"{name}, pairs, {encoder}, over the {what}"
                body.append([title, *row_of(gaps)])
    report.table("Bars: what lies above them", ["", *map(str, LENGTHS), "met"], body)


def row_of(gaps: np.ndarray | list[float], met: bool | None = None) -> list[str]:
    shown = ["-" if np.isnan(gap) else f"{gap:+.4f}" for gap in gaps]
    if met is None:
        met = np.nanmin(gaps) >= 0
    return [*shown, "yes" if met else "no"]


def show_times(report: Report, space: Space, split: Split) -> None:
    X = space.documents[split.train]
    y, Q = space.labels[split.train], space.queries[split.train]
    wide = X.astype(np.float64)
    fits: dict[str, Callable[[], object]] = {"PCA": lambda: PCA().fit(wide)}
    for name in (CLOSED, *TRAINED["classes"]):
        model = OURS[name](split, "classes")
        fits[f"{name}, classes"] = lambda model=model: model.fit(X, y)
    for name in (CLOSED, *TRAINED["pairs"]):
        model = OURS[name](split, "pairs")
        fits[f"{name}, pairs"] = lambda model=model: model.fit(X, pairs=Q)
    times = dict.fromkeys(fits, np.inf)
    for _ in range(3):
        for name, fit in fits.items():
            start = process_time()
            fit()
            times[name] = min(times[name], process_time() - start)
    body = []
    for name, seconds in times.items():
        ratio = seconds / times["PCA"]
        met = "yes" if ratio <= MOST_TIMES_PCA else "no"
        body.append([name, f"{ratio:.1f}", met])
    report.table(
        f"Processor seconds of a fit over those of PCA ({times['PCA']:.3f} s)",
        ["fit", "ratio", f"at most {MOST_TIMES_PCA}"],
        body,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FOLDER", help="or the variable SKREP_DATA")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    root = data_folder(options.data)
    with Report("neural_matryoshka") as report:
        spaces = {name: load_space(root, name) for name in PAIR_BARS}
        splits = stratified_splits(spaces["minilm"].labels, options.splits)
        classes = measure_classes(spaces["minilm"], splits)
        show(report, "minilm", "logistic", classes)
        show(report, "minilm", "10-NN", classes)
        pairs = {}
        for name, space in spaces.items():
            pairs[name] = measure_pairs(space, splits)
            show(report, name, "recall@10", pairs[name])
        show_bars(report, classes, pairs)
        show_times(report, spaces["minilm"], splits[0])
