"""What is choosing or fusing layers, and their length, worth in one fit?

    python benchmarks/neural_layers.py --data FOLDER [--splits 5]

FOLDER holds ``wordnet_glosses_{minilm,e5,wordllama}.npz``: three encoders of the same
glosses stand for three layers, of widths 384, 384 and 256. `LayerGrid` sees the train
rows and their classes; scored is the accuracy of the ten nearest train rows on the test
rows, by Euclidean distance and majority. Beside it: every encoder as it is, and its PCA
at the length that is best on the test rows (an oracle that no fit can be); and the same
choice by scikit-learn's GridSearchCV over PCA and 10-NN. Time is CPU seconds, over
those of that search. ``OMP_NUM_THREADS=1`` for one thread.
"""

import argparse
from time import process_time

import numpy as np
from _data import data_folder
from _nested_protocol import ENCODERS, load_space, stratified_splits
from _report import Report
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from skrep.nested import LayerGrid

LENGTHS = (8, 16, 32, 64, 128, 256)
FITS = {
    "LayerGrid(tolerance=0.02)": {"tolerance": 0.02},
    "LayerGrid(objective='classes', tolerance=0.02)": {
        "objective": "classes",
        "tolerance": 0.02,
    },
    "LayerGrid(objective='classes', fuse='concatenate', tolerance=0.02)": {
        "objective": "classes",
        "fuse": "concatenate",
        "tolerance": 0.02,
    },
}


def accuracy(Z: np.ndarray, y: np.ndarray, Z_test: np.ndarray, y_test: np.ndarray):
    head = KNeighborsClassifier(10, algorithm="brute").fit(Z, y)
    return head.score(Z_test, y_test)


class Columns:
    """Columns of one encoder, as a step that pickles."""

    def __init__(self, start: int, stop: int) -> None:
        self.start, self.stop = start, stop

    def __call__(self, X: np.ndarray) -> np.ndarray:
        return X[:, self.start : self.stop]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--data")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    spaces = [load_space(data_folder(options.data), name) for name in ENCODERS]
    widths = tuple(space.documents.shape[1] for space in spaces)
    X, y = np.hstack([space.documents for space in spaces]), spaces[0].labels
    ends = np.cumsum(widths)
    columns = [Columns(int(e - w), int(e)) for e, w in zip(ends, widths, strict=True)]
    found: dict[str, list[tuple[float, float, str, float]]] = {}

    def add(name: str, score: float, k: int, chosen: str, seconds: float) -> None:
        found.setdefault(name, []).append((score, k, chosen, seconds))
        print(name, *found[name][-1], flush=True)

    for split in stratified_splits(y, options.splits):
        train, test = split.train, split.test
        for name, one in zip(ENCODERS, columns, strict=True):
            A, B = one(X[train]), one(X[test])
            add(
                f"{name}, all columns",
                accuracy(A, y[train], B, y[test]),
                len(A.T),
                name,
                0,
            )
            pca = PCA(256, svd_solver="covariance_eigh").fit(A)
            A, B = pca.transform(A), pca.transform(B)
            scores = [accuracy(A[:, :k], y[train], B[:, :k], y[test]) for k in LENGTHS]
            best = int(np.argmax(scores))
            add(f"{name}, PCA, test oracle", scores[best], LENGTHS[best], name, 0)
        start = process_time()
        pipeline = make_pipeline(
            FunctionTransformer(columns[0]),
            PCA(svd_solver="covariance_eigh"),
            KNeighborsClassifier(10, algorithm="brute"),
        )
        grid = {"functiontransformer__func": columns, "pca__n_components": LENGTHS}
        search = GridSearchCV(pipeline, grid).fit(X[train], y[train])
        seconds = process_time() - start
        chosen = search.best_params_
        add(
            "GridSearchCV over PCA and 10-NN",
            search.score(X[test], y[test]),
            chosen["pca__n_components"],
            ENCODERS[columns.index(chosen["functiontransformer__func"])],
            seconds,
        )
        for name, params in FITS.items():
            start = process_time()
            model = LayerGrid(widths, target_type="classes", **params)
            model.fit(X[train], y[train])
            seconds = process_time() - start
            Z, Z_test = model.transform(X[train]), model.transform(X[test])
            layer = "all" if model.layer_ is None else ENCODERS[model.layer_]
            score = accuracy(Z, y[train], Z_test, y[test])
            add(name, score, model.n_components_, layer, seconds)

    unit = np.mean([row[3] for row in found["GridSearchCV over PCA and 10-NN"]])
    with Report("neural_layers") as report:
        body = []
        for name, results in found.items():
            scores = [row[0] for row in results]
            seconds = np.mean([row[3] for row in results]) / unit
            body.append(
                [
                    name,
                    f"{np.mean(scores):.3f}",
                    f"{np.std(scores, ddof=1) / np.sqrt(len(scores)):.3f}",
                    f"{np.mean([row[1] for row in results]):.0f}",
                    ", ".join(sorted({row[2] for row in results})),
                    f"{seconds:.2f}" if seconds else "-",
                ]
            )
        report.table(
            f"10-NN accuracy on test rows, mean of {len(results)} splits; the columns "
            "kept, the layers chosen, and time, GridSearchCV = 1",
            ["way", "accuracy", "error", "columns", "layers", "time"],
            body,
        )


if __name__ == "__main__":
    main()
