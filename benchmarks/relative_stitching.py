"""One classifier, another encoder: which way of joining two spaces keeps most?

    python benchmarks/relative_stitching.py FOLDER [--splits 5]

FOLDER holds ``wordnet_glosses_{minilm,e5,wordllama}.npz`` (arrays ``gloss`` and
``y``). Five stratified splits, 4,723 train and 3,150 test rows of 35 classes. A head
is trained on the train rows of one encoder and scored on the test rows of another.

- *relative*: k anchors chosen in the head's space, their partners in the other. The
  peer is scikit-learn's Nystroem with the cosine kernel, whose anchors are the same
  row positions in both spaces for one seed.
- *aligned*: a map from the other space to the head's, fitted on k paired rows. The
  peers are RidgeCV and SciPy's orthogonal_procrustes.

The C of every head is chosen per split on a quarter of the train rows: for the
relative route by the stitched accuracy there, for the aligned one at home. No test
row is read to choose anything.
"""

import argparse
from collections.abc import Callable

import numpy as np
from _data import data_folder
from _report import Report
from _stitching_protocol import (
    DIRECTIONS,
    PAIR_COUNTS,
    Split,
    aligned_mappers,
    draw_pairs,
    fit_head,
    load_space,
    paired_summary,
    score_mapper,
    stratified_splits,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from skrep.metrics import mean_reciprocal_rank
from skrep.relative import RelativeRepresentation

Transform = Callable[[np.ndarray], np.ndarray]
Maker = Callable[[np.ndarray, np.ndarray, int, int], tuple[Transform, Transform]]

RELATIVE_C = (0.001, 0.003, 0.01, 0.03, 0.1)
HEAD_C = (0.1, 0.3, 1.0, 3.0)
TUNED_AT = 128
DEFAULT = "RelativeRepresentation()"


def twins(**params: object) -> Maker:
    def make(A: np.ndarray, B: np.ndarray, k: int, seed: int) -> tuple:
        model = RelativeRepresentation(k, random_state=seed, **params).fit(A)
        return model.transform, model.counterpart(B).transform

    return make


def nystroem(A: np.ndarray, B: np.ndarray, k: int, seed: int) -> tuple:
    models = [Nystroem("cosine", n_components=k, random_state=seed) for _ in range(2)]
    return tuple(m.fit(Z).transform for m, Z in zip(models, (A, B), strict=True))


RELATIVE: dict[str, Maker] = {
    DEFAULT: twins(),
    "... selection='uniform'": twins(selection="uniform"),
    "... published recipe": twins(
        selection="uniform", center=False, whiten=None, scale=False
    ),
    "Nystroem": nystroem,
}


def logistic(C: float) -> LogisticRegression:
    return LogisticRegression(C=C, max_iter=2000)


def inner(split: Split, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return train_test_split(
        split.train, test_size=0.25, stratify=y[split.train], random_state=split.seed
    )


def choose_relative_C(
    make: Maker, A: np.ndarray, B: np.ndarray, y: np.ndarray, split: Split
) -> float:
    fit, judge = inner(split, y)
    own, other = make(A[fit], B[fit], TUNED_AT, split.seed)
    scores = [
        logistic(C).fit(own(A[fit]), y[fit]).score(other(B[judge]), y[judge])
        for C in RELATIVE_C
    ]
    return RELATIVE_C[int(np.argmax(scores))]


def choose_head_C(A: np.ndarray, y: np.ndarray, split: Split) -> float:
    fit, judge = inner(split, y)
    scores = [fit_head(A[fit], y[fit], C).score(A[judge], y[judge]) for C in HEAD_C]
    return HEAD_C[int(np.argmax(scores))]


def relative_scores(
    make: Maker,
    A: np.ndarray,
    B: np.ndarray,
    y: np.ndarray,
    split: Split,
    C: float,
    k: int,
) -> tuple[float, float]:
    train, test = split.train, split.test
    own, other = make(A[train], B[train], k, split.seed)
    head = logistic(C).fit(own(A[train]), y[train])
    seen = other(B[test])
    return head.score(seen, y[test]), mean_reciprocal_rank(seen, own(A[test]))


def kmeans_pairs(A: np.ndarray, split: Split, k: int) -> np.ndarray:
    model = RelativeRepresentation(k, random_state=split.seed).fit(A[split.train])
    return split.train[model.anchor_indices_]


def measure(folder: str, n_splits: int, report: Report) -> None:
    root = data_folder(folder)
    labels = load_space(root, "minilm")[1]
    spaces = {name: load_space(root, name)[0] for pair in DIRECTIONS for name in pair}
    splits = stratified_splits(labels, n_splits)
    for target, source in DIRECTIONS:
        A, B = spaces[target], spaces[source]
        cells: dict[tuple[str, int], list[tuple[float, float]]] = {}
        ceilings, chosen = [], []
        for split in splits:
            C_A, C_B = (choose_head_C(Z, labels, split) for Z in (A, B))
            head = fit_head(A[split.train], labels[split.train], C_A)
            retrained = fit_head(B[split.train], labels[split.train], C_B)
            ceilings.append(retrained.score(B[split.test], labels[split.test]))
            for name, make in RELATIVE.items():
                C = choose_relative_C(make, A, B, labels, split)
                chosen.append(f"{name} {C}")
                for k in PAIR_COUNTS:
                    scores = relative_scores(make, A, B, labels, split, C, k)
                    cells.setdefault((name, k), []).append(scores)
            for k in PAIR_COUNTS:
                for pairs, suffix in (
                    (draw_pairs(split, k), ""),
                    (kmeans_pairs(A, split, k), ", k-means pairs"),
                ):
                    for name, mapper in aligned_mappers().items():
                        if suffix and "restored" not in name and "Latent" not in name:
                            continue
                        score = score_mapper(mapper, B, A, labels, split, head, pairs)
                        cells.setdefault((name + suffix, k), []).append(
                            (score.accuracy, score.mrr)
                        )
        show(report, f"{target} head, {source} rows", cells, ceilings)
        report.write(f"  C chosen: {sorted(set(chosen))}")


def show(
    report: Report,
    title: str,
    cells: dict[tuple[str, int], list[tuple[float, float]]],
    ceilings: list[float],
) -> None:
    names = list(dict.fromkeys(name for name, _ in cells))
    for j, what in enumerate(("accuracy", "MRR")):
        body = []
        for name in names:
            row = [name]
            for k in PAIR_COUNTS:
                values = np.array([scores[j] for scores in cells[name, k]])
                error = values.std(ddof=1) / np.sqrt(values.size)
                row.append(f"{values.mean():.3f} ({error:.3f})")
            body.append(row)
        report.table(
            f"{title}: {what}, mean (standard error) over {len(ceilings)} splits; "
            f"retrained on the new encoder {np.mean(ceilings):.3f}",
            ["way", *(f"k = {k}" for k in PAIR_COUNTS)],
            body,
        )
    rivals = ["ridge", "ridge, norm restored", "completed Procrustes"]
    rivals.append("completed Procrustes, norm restored")
    body = []
    for rival in rivals:
        for j, what in enumerate(("accuracy", "MRR")):
            row = [f"{rival}: {what}"]
            for k in PAIR_COUNTS:
                ours = [scores[j] for scores in cells["LatentAlignment()", k]]
                theirs = [scores[j] for scores in cells[rival, k]]
                difference, error = paired_summary(ours, theirs)
                row.append(f"{difference:+.3f} ({error:.3f})")
            body.append(row)
    report.table(
        f"{title}: LatentAlignment() minus each peer, uniform pairs",
        ["peer", *(f"k = {k}" for k in PAIR_COUNTS)],
        body,
    )
    row = [DEFAULT]
    for k in PAIR_COUNTS:
        ours = np.mean(cells[DEFAULT, k], axis=0)[0]
        aligned = np.mean(cells["LatentAlignment(), k-means pairs", k], axis=0)[0]
        row.append(f"{ours / max(ours, aligned):.2f}")
    report.table(
        f"{title}: default relative accuracy over the better of the two routes, "
        "k-means anchors and pairs",
        ["way", *(f"k = {k}" for k in PAIR_COUNTS)],
        [row],
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", help="or the variable SKREP_DATA")
    parser.add_argument("--splits", type=int, default=5)
    options = parser.parse_args()
    with Report("relative_stitching") as report:
        measure(options.folder, options.splits, report)
