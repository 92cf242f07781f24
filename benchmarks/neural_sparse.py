"""A sparse code beside dense vectors of as many numbers: classes and retrieval.

    python benchmarks/neural_sparse.py --data FOLDER [--splits 5] [--encoders minilm e5]

FOLDER holds ``wordnet_glosses_{minilm,e5}.npz``; splits, scores and queries are those
of ``_nested_protocol.py``. Set ``OMP_NUM_THREADS=1`` for one thread.

- Ours: `SparseCode` with its defaults, one fit for 32 active atoms without labels
  ("rows"), and one with ("classes"); `with_active` gives 8 and 16.
- Peers, in the same run: PCA (it sees no labels), `NestedProjection` and
  `MatryoshkaProjection` with the objective "classes".

A code of k entries holds k values and k positions. The tables have it beside the k
values of a dense vector (positions free, as in an inverted file, where a position is
the list an entry stands in), and beside 2k (positions paid as if they were values).
"two means": queries are centered by the mean of the train lemmas. Equal similarities
count against the code: a document that shares no atom with the query is not found.
"""

import argparse
from time import perf_counter
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from _data import data_folder
from _index_protocol import Bars
from _nested_protocol import (
    Space,
    Split,
    load_space,
    neighbor_scores,
    recall_scores,
    stratified_splits,
)
from _report import Report
from sklearn.decomposition import PCA
from sklearn.preprocessing import normalize

from skrep.nested import MatryoshkaProjection, NestedProjection, SparseCode

ACTIVE = (8, 16, 32)
LENGTHS = (8, 16, 32, 64)
N_NEIGHBORS = 10
ROWS_AT_ONCE = 256
PLAIN, OWN_MEAN = "", ", two means"
SCORES = ("10-NN", "recall@10", "recall@10" + OWN_MEAN)
PEERS = ("PCA", "NestedProjection classes", "MatryoshkaProjection classes")
OURS = ("SparseCode rows", "SparseCode classes")


class Rows(NamedTuple):
    """Train and test rows, and the test queries in both ways."""

    train: np.ndarray
    test: np.ndarray
    queries: dict[str, np.ndarray]


def measure(space: Space, split: Split) -> tuple[dict, dict, dict]:
    """Scores by (method, score) and length, seconds of fit, and what codes are like."""
    X, y = space.documents[split.train], space.labels[split.train]
    gap = space.queries[split.train].mean(axis=0) - X.mean(axis=0)
    lemmas = space.queries[split.test]
    ways = {PLAIN: lemmas, OWN_MEAN: lemmas - gap}
    seed = split.seed
    fits = {
        "PCA": (PCA(max(LENGTHS), random_state=seed), None),
        "NestedProjection classes": (
            NestedProjection(objective="classes", target_type="classes"),
            y,
        ),
        "MatryoshkaProjection classes": (
            MatryoshkaProjection(objective="classes", random_state=seed),
            y,
        ),
        "SparseCode rows": (SparseCode(objective="rows", random_state=seed), y),
        "SparseCode classes": (SparseCode(objective="classes", random_state=seed), y),
    }
    scores, seconds, facts = {}, {}, {}
    for name, (model, target) in fits.items():
        start = perf_counter()
        model.fit(X, target)
        seconds[name] = perf_counter() - start
        if name in PEERS:
            found = dense_scores(model, space, split, ways)
        else:
            found = code_scores(model, space, split, ways)
            facts[name] = len(model.dead_atoms_), kept_variance(model, space, split)
        for score, values in found.items():
            scores[name, score] = values
    return scores, seconds, facts


def dense_scores(model, space: Space, split: Split, ways: dict) -> dict:
    Z, y = model.transform(space.documents), space.labels
    train, test = split.train, split.test
    found = {
        "10-NN": neighbor_scores(Z[train], y[train], Z[test], y[test], LENGTHS),
    }
    for way, lemmas in ways.items():
        found["recall@10" + way] = recall_scores(
            Z, model.transform(lemmas), test, LENGTHS
        )
    return found


def code_scores(model: SparseCode, space: Space, split: Split, ways: dict) -> dict:
    found = {score: {} for score in SCORES}
    y, train, test = space.labels, split.train, split.test
    for k in ACTIVE:
        code = model.with_active(k)
        Z = normalize(code.transform(space.documents))
        right = 0
        for rows, cosines in blocks(Z[test], Z[train]):
            near = np.argpartition(cosines, -N_NEIGHBORS, axis=1)[:, -N_NEIGHBORS:]
            votes = np.zeros((len(near), int(y.max()) + 1), dtype=np.intp)
            np.add.at(votes, (np.arange(len(near))[:, None], y[train][near]), 1)
            right += int(np.sum(votes.argmax(axis=1) == y[test][rows]))
        found["10-NN"][k] = right / len(test)
        for way, lemmas in ways.items():
            hits = 0
            for rows, cosines in blocks(code.transform(lemmas), Z):
                own = np.take_along_axis(cosines, test[rows][:, None], axis=1)
                before = np.count_nonzero(cosines >= own, axis=1) - 1
                hits += int(np.sum(before < N_NEIGHBORS))
            found["recall@10" + way][k] = hits / len(test)
    return found


def blocks(A: sp.csr_array, B: sp.csr_array):
    """Products of sparse rows, a dense block at a time."""
    other = B.T.tocsr()
    for start in range(0, A.shape[0], ROWS_AT_ONCE):
        rows = slice(start, min(start + ROWS_AT_ONCE, A.shape[0]))
        yield rows, (A[rows] @ other).toarray()


def kept_variance(model: SparseCode, space: Space, split: Split) -> float:
    """Share of the variance of test rows that 32 atoms reconstruct."""
    X = space.documents[split.test].astype(np.float64)
    gaps = X - model.inverse_transform(model.transform(X))
    return 1 - np.sum(gaps**2) / np.sum((X - model.mean_) ** 2)


def show(encoder: str, runs: list, report: Report, bars: Bars) -> None:
    """Tables of means over splits, and the bars."""

    def mean(name: str, score: str, k: int) -> float:
        return float(np.mean([scores[name, score][k] for scores, _, _ in runs]))

    for score in SCORES:
        body = []
        for name in PEERS:
            cells = [f"{mean(name, score, k):.3f}" for k in LENGTHS]
            body.append([name, *cells])
        for name in OURS:
            cells = [f"{mean(name, score, k):.3f}" for k in ACTIVE]
            body.append([f"{name}, k values", *cells, "-"])
            body.append([f"{name}, k values and k positions", "-", *cells])
        spread = np.std(
            [[s[OURS[0], score][k] for k in ACTIVE] for s, _, _ in runs],
            axis=0,
            ddof=min(1, len(runs) - 1),
        )
        error = spread.max() / np.sqrt(len(runs))
        report.table(
            f"{encoder}, {score} by stored numbers: mean over {len(runs)} splits, "
            f"standard errors of the code without labels at most {error:.3f}",
            ["method", *map(str, LENGTHS)],
            body,
        )
    for score, ours, peers in (
        ("10-NN", OURS[0], PEERS[:1]),
        ("10-NN", OURS[1], (PEERS[0], PEERS[2])),
        ("recall@10", OURS[0], PEERS[:1]),
        ("recall@10" + OWN_MEAN, OURS[0], PEERS[:1]),
    ):
        for peer in peers:
            for k in ACTIVE:
                lead = [s[ours, score][k] - s[peer, score][k] for s, _, _ in runs]
                what = f"{encoder} {score} at {k}: {ours} less {peer}"
                ahead = sum(x > 0 for x in lead)
                detail = f"ahead in {ahead} of {len(runs)} splits"
                add = bars.above if score == "10-NN" else bars.at_least
                add(what, float(np.mean(lead)), 0, detail)


def show_costs(encoder: str, runs: list, report: Report) -> None:
    body = []
    for name in (*PEERS, *OURS):
        ratio = np.median([s[name] / s["PCA"] for _, s, _ in runs])
        facts = [f[name] for _, _, f in runs if name in f]
        dead, kept = np.mean(facts, axis=0) if facts else (None, None)
        body.append(
            [
                name,
                f"{np.median([s[name] for _, s, _ in runs]):.1f}",
                f"{ratio:.0f}",
                "-" if dead is None else f"{dead:.0f}",
                "-" if kept is None else f"{kept:.3f}",
            ]
        )
    report.table(
        f"{encoder}: seconds of fit (medians), dead atoms of 2,048, share of the "
        "variance of test rows that 32 atoms reconstruct",
        ["method", "seconds", "PCA = 1", "dead", "variance"],
        body,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FOLDER", help="or the variable SKREP_DATA")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument(
        "--encoders", nargs="+", choices=("minilm", "e5"), default=("minilm", "e5")
    )
    options = parser.parse_args()
    root = data_folder(options.data)
    bars = Bars()
    with Report("neural_sparse") as report:
        for encoder in options.encoders:
            space = load_space(root, encoder)
            splits = stratified_splits(space.labels, options.splits)
            runs = []
            for split in splits:
                runs.append(measure(space, split))
                print(f"{encoder}: split {split.seed}", flush=True)
            show(encoder, runs, report, bars)
            show_costs(encoder, runs, report)
        bars.show(report)
