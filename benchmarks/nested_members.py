"""What are the smaller members of the nested family worth beside the usual way?

    python benchmarks/nested_members.py

Bundled mammals, MiniLM and E5. Three random splits, 702 train and 468 test rows, seeds
0 to 2; whatever is fitted sees train rows only, and scores are means. Definitions
(glosses) are the rows, names (lemmas) the queries. For 10-NN accuracy and recall@10 see
``_nested_protocol.py``. Times are ratios to the named peer, median over rounds: set
``OMP_NUM_THREADS=1`` for one thread. `NestedProjection` and `PrefixRotation` have
scripts of their own, and so has the recall of truncated rows (``nested_prefix.py``).
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from _nested_protocol import Split, neighbor_scores, recall_scores
from _report import Report
from nested_speed import Call, ratio, ratios
from sklearn.decomposition import PCA

from skrep.datasets import load_mammals
from skrep.metrics import neighbor_overlap, recall_at_k
from skrep.nested import (
    MarginProjection,
    NestedProjection,
    NoisePruner,
    ScalarQuantizer,
    Truncate,
)

ENCODERS = ("minilm", "e5")
PREFIXES = (8, 16, 32)
SHORT = 64
COPIES = 20

Pair = tuple[np.ndarray, np.ndarray]
Codes = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Space(NamedTuple):
    """Rows, queries and classes of one encoder, and the splits."""

    encoder: str
    X: np.ndarray
    Q: np.ndarray
    y: np.ndarray
    splits: tuple[Split, ...]


def load() -> tuple[Space, ...]:
    mammals = load_mammals()
    n, splits = len(mammals.target), []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(n)
        splits.append(Split(seed, order[: 6 * n // 10], order[6 * n // 10 :]))
    return tuple(
        Space(
            name, mammals.gloss[name], mammals.lemma[name], mammals.target, (*splits,)
        )
        for name in ENCODERS
    )


def principal(n_components: float | None = None) -> PCA:
    """PCA by the fastest of its exact solvers."""
    return PCA(n_components, svd_solver="covariance_eigh")


def accuracy(
    space: Space, split: Split, Z: np.ndarray, prefixes: Sequence[int] | None = None
) -> list[float]:
    train, test, y = split.train, split.test, space.y
    asked = prefixes or (Z.shape[1],)
    return [*neighbor_scores(Z[train], y[train], Z[test], y[test], asked).values()]


def mean(values: Iterable[Sequence[float]]) -> np.ndarray:
    return np.mean([*values], axis=0)


# --- MarginProjection ------------------------------------------------------------


def margins(report: Report, spaces: Sequence[Space]) -> None:
    ways: dict[str, Callable[[int], object]] = {
        "truncation": lambda seed: Truncate(normalize=False),
        "PCA": lambda seed: principal(),
        "MarginProjection": lambda seed: MarginProjection(
            PREFIXES[-1], random_state=seed
        ),
    }
    body = []
    for space in spaces:
        for name, made in ways.items():
            scores = []
            for split in space.splits:
                Z = made(split.seed).fit(space.X[split.train]).transform(space.X)
                X_test, Z_test = space.X[split.test], Z[split.test]
                overlaps = [neighbor_overlap(X_test, Z_test[:, :k]) for k in PREFIXES]
                scores.append(accuracy(space, split, Z, PREFIXES) + overlaps)
            body.append([f"{space.encoder}, {name}", *decimals(mean(scores))])
    report.table(
        "MarginProjection: 10-NN accuracy of the orders, and share of the ten nearest "
        "test rows that are so at full length, too",
        ["way", *(f"accuracy {k}" for k in PREFIXES), *(f"kept {k}" for k in PREFIXES)],
        body,
    )


def decimals(values: Iterable[float]) -> list[str]:
    return [f"{value:.3f}" for value in values]


# --- NoisePruner -----------------------------------------------------------------


def pruners(report: Report, spaces: Sequence[Space]) -> None:
    body = []
    for space in spaces:
        found: dict[str, list[tuple[float, float]]] = {}
        for split in space.splits:
            rows = space.X[split.train]
            pruner = NoisePruner(random_state=split.seed).fit(rows)
            encoded = {
                "raw vectors": space.X,
                "PCA, all columns": principal().fit(rows).transform(space.X),
                "PCA(0.9)": principal(0.9).fit(rows).transform(space.X),
                "PCA, columns of NoisePruner": principal(pruner.n_signal_)
                .fit(rows)
                .transform(space.X),
                "NoisePruner": pruner.transform(space.X),
            }
            for name, Z in encoded.items():
                score = accuracy(space, split, Z)[0]
                found.setdefault(name, []).append((Z.shape[1], score))
        for name, results in found.items():
            n_columns, score = mean(results)
            body.append(
                [f"{space.encoder}, {name}", f"{n_columns:.0f}", f"{score:.3f}"]
            )
    report.table(
        "NoisePruner: columns kept, and 10-NN accuracy of the orders",
        ["way", "columns", "accuracy"],
        body,
    )


def fits(report: Report, spaces: Sequence[Space]) -> None:
    body = []
    for space in spaces:
        X = space.X[space.splits[0].train]
        base = principal()
        models = (
            base,
            PCA(),
            MarginProjection(PREFIXES[-1], random_state=0),
            NoisePruner(random_state=0),
        )
        calls: dict[str, Call] = {repr(m): lambda m=m, X=X: m.fit(X) for m in models}
        found = ratios(calls[repr(base)], calls, 5)
        for name, value in zip(calls, found, strict=True):
            body.append([f"{space.encoder}, {name}", f"{value:.1f}"])
    X = spaces[0].X[spaces[0].splits[0].train]
    whole = MarginProjection(random_state=0)
    once = ratio(lambda: principal().fit(X), lambda: whole.fit(X), 1)
    body.append([f"{spaces[0].encoder}, {whole!r}, once", f"{once:.1f}"])
    report.table(
        f"Fit of {X.shape[0]} x {X.shape[1]} float32 rows; ratio to "
        "PCA(svd_solver='covariance_eigh')",
        ["fit", "ratio"],
        body,
    )


# --- ScalarQuantizer -------------------------------------------------------------


def decoded(fitted: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Rows that have been bytes."""
    quantizer = ScalarQuantizer(bits=8).fit(fitted)
    return quantizer.inverse_transform(quantizer.transform(rows))


def bits(fitted: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return ScalarQuantizer(bits=1).fit(fitted).transform(rows)


def plain_bits(fitted: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.packbits(rows > 0, axis=1)


def bit_recall(documents: np.ndarray, queries: np.ndarray, own: np.ndarray) -> float:
    """recall@10 by the number of equal bits, ties in random order (its expectation)."""
    signs = [2.0 * np.unpackbits(side, axis=1) - 1 for side in (queries, documents)]
    return recall_at_k(*signs, k=10, relevant=own)


def sides(space: Space, split: Split) -> dict[int, tuple[Pair, Pair]]:
    """Documents and queries at both lengths, each beside its train rows."""
    X, Q, train = space.X, space.Q, split.train
    model = NestedProjection(objective="pairs").fit(X[train], pairs=Q[train])
    short = model.prefix(SHORT)
    Z, W = short.transform(X), short.counterpart(Q[train]).transform(Q)
    return {
        SHORT: ((Z[train], Z), (W[train], W[split.test])),
        X.shape[1]: ((X[train], X), (Q[train], Q[split.test])),
    }


def quantizers(report: Report, spaces: Sequence[Space]) -> None:
    packed: dict[str, Codes] = {
        "packbits(X > 0)": plain_bits,
        "ScalarQuantizer(bits=1)": bits,
    }
    body = []
    for space in spaces:
        found: dict[tuple[int, str], list[tuple[float, float]]] = {}
        for split in space.splits:
            for k, (known, asked) in sides(space, split).items():
                Z, W = known[1], asked[1]
                plain = recall_scores(Z, W, split.test, (k,))[k]
                found.setdefault((k, "float32"), []).append((Z[0].nbytes, plain))
                coded = recall_scores(
                    decoded(*known), decoded(*asked), split.test, (k,)
                )
                found.setdefault((k, "ScalarQuantizer(bits=8)"), []).append(
                    (k, coded[k])
                )
                for name, codes in packed.items():
                    D, E = codes(*known), codes(*asked)
                    score = bit_recall(D, E, split.test)
                    found.setdefault((k, name), []).append((D[0].nbytes, score))
        for k in sorted({k for k, _ in found}, reverse=True):
            for name in ("float32", "ScalarQuantizer(bits=8)", *packed):
                n_bytes, score = mean(found[k, name])
                row = f"{space.encoder}, {k} columns, {name}"
                body.append([row, f"{n_bytes:.0f}", f"{score:.3f}"])
    report.table(
        "ScalarQuantizer: recall@10 of names for their definitions, both sides coded, "
        f"a quantizer per side; {SHORT} columns are NestedProjection(objective='pairs')"
        f".prefix({SHORT}) and its counterpart. Bits by the number that differ, ties "
        "in random order",
        ["stored as", "bytes per row", "recall@10"],
        body,
    )


# --- times of transforms ---------------------------------------------------------


def encodes(report: Report, space: Space) -> None:
    X = np.tile(space.X, (COPIES, 1))
    q8, q1 = ScalarQuantizer(bits=8).fit(X), ScalarQuantizer(bits=1).fit(X)
    split = q1.threshold_
    cut = Truncate(SHORT).fit(X)
    bare = Truncate(SHORT, normalize=False).fit(X)
    drawn = Truncate(SHORT, order="random", random_state=0).fit(X)

    # A constant column has no steps.
    steps = np.where(q8.step_ > 0, q8.step_, 1)

    def levels() -> np.ndarray:
        codes = np.rint((X - q8.lower_) / steps)
        return np.clip(codes, 0, 255).astype(np.uint8)

    def unit(Z: np.ndarray) -> np.ndarray:
        return Z / np.linalg.norm(Z, axis=1, keepdims=True)

    compared: tuple[tuple[object, str, Call], ...] = (
        (q8, "clip(rint((X - l) / s), 0, 255).astype(uint8)", levels),
        (q1, "packbits(X > t)", lambda: np.packbits(np.greater(X, split), axis=1)),
        (cut, "Z = X[:, :64]; Z / norm(Z)", lambda: unit(X[:, :SHORT])),
        (bare, "X[:, :64].copy()", lambda: X[:, :SHORT].copy()),
        (drawn, "Z = X[:, i]; Z / norm(Z)", lambda: unit(X[:, drawn.indices_])),
    )
    body = []
    for model, name, base in compared:
        value = ratios(base, {"own": lambda m=model: m.transform(X)}, 15)[0]
        own, other = model.transform(X).astype(float), base().astype(float)
        off = np.mean(np.abs(own - other) > 1e-6)
        body.append([repr(model), name, f"{value:.2f}", f"{off:.0e}"])
    report.table(
        f"Transform of {X.shape[0]:,} x {X.shape[1]} float32 rows; ratio to the bare "
        "NumPy, and share of the outputs that differ by more than 1e-6",
        ["transform", "NumPy", "ratio", "differ"],
        body,
    )


if __name__ == "__main__":
    with Report("nested_members") as report:
        spaces = load()
        margins(report, spaces)
        pruners(report, spaces)
        fits(report, spaces)
        quantizers(report, spaces)
        encodes(report, spaces[0])
