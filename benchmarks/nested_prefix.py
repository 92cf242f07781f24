"""One fit, every length: what does each prefix keep of classes and retrieval?

    python benchmarks/nested_prefix.py --data FOLDER [--splits 5] [--encoders minilm]

FOLDER holds ``wordnet_glosses_{minilm,e5,wordllama}.npz`` (arrays ``gloss``,
``lemma`` and ``y``). Five stratified splits, 4,723 train and 3,150 test rows of 35
classes; see ``_nested_protocol.py`` for the three scores. Set ``OMP_NUM_THREADS=1``
for one thread: with all encoders it then takes some twenty minutes on an idle core.

- Ours: `NestedProjection`, one fit per objective on the train glosses. Queries go
  through its ``counterpart``, which knows the train lemmas (not which belongs to
  which gloss, save for "pairs" and "cca").
- Peers, in the same run: plain truncation (at full length the raw vectors), random
  columns, Gaussian random projection, scikit-learn's PCA, whitened PCA, TruncatedSVD
  and LDA, and a linear Matryoshka encoder trained with torch, the slow one, on the
  first two splits. "two means": queries are centered by the mean of the train
  lemmas. E5 and WordLlama have the peers that matter most.
"""

import argparse
from functools import partial
from time import perf_counter

import numpy as np
from _data import data_folder
from _nested_bars import OTHER_SIDE, Results, own_name, show_bars
from _nested_peers import PEERS, Method
from _nested_protocol import (
    ENCODERS,
    LENGTHS,
    SCORES,
    Encoded,
    Space,
    Split,
    load_space,
    score_encoded,
    stratified_splits,
)
from _report import Report

from skrep.nested import NestedProjection

Objective = str | dict[str, float]

OBJECTIVES: tuple[Objective, ...] = (
    "variance",
    "classes",
    "neighbors",
    "mined",
    "pairs",
    "cca",
    {"classes": 0.3, "pairs": 1},
    {"classes": 0.2, "pairs": 1},
    {"classes": 0.3, "mined": 1},
    {"classes": 0.3, "neighbors": 1},
)
BLOCKS = (64, 128)
BLOCK_OBJECTIVES: tuple[Objective, ...] = (
    "variance",
    "mined",
    "pairs",
    {"classes": 0.3, "pairs": 1},
)
WHOLE_OBJECTIVES: tuple[Objective, ...] = ("classes", *BLOCK_OBJECTIVES)
SLOW = "Matryoshka"
SLOW_SPLITS = 2
MINILM_ONLY = (
    "random columns",
    "GaussianRandomProjection",
    "TruncatedSVD",
    "head per size",
)


def nested(
    space: Space, split: Split, objective: Objective, blocks: tuple[int, ...] | None
) -> Encoded:
    """Fit on the train rows, with what the objective asks for."""
    X, Q = space.documents[split.train], space.queries[split.train]
    parts = {objective} if isinstance(objective, str) else set(objective)
    asked = {}
    if parts & {"pairs", "cca"}:
        asked["pairs"] = Q
    if "mined" in parts:
        asked["queries"] = Q
    model = NestedProjection(
        objective=objective,
        blocks=blocks,
        target_type="classes",
        random_state=split.seed,
    )
    model.fit(X, space.labels[split.train] if "classes" in parts else None, **asked)
    tests = space.queries[split.test]
    queries = {OTHER_SIDE: model.counterpart(Q).transform(tests)}
    if objective == "variance":
        queries[""] = model.transform(tests)
    return Encoded(model.transform(space.documents), queries)


def methods_of(encoder: str) -> dict[str, Method]:
    """Peers first, then ours."""
    found = {
        name: method
        for name, method in PEERS.items()
        if encoder == "minilm" or not any(part in name for part in MINILM_ONLY)
    }
    fits = [(objective, None) for objective in OBJECTIVES]
    if encoder == "wordllama":
        fits = [(objective, None) for objective in WHOLE_OBJECTIVES]
        fits += [(objective, BLOCKS) for objective in BLOCK_OBJECTIVES]
    for objective, blocks in fits:
        name = own_name(objective, blocks)
        found[name] = partial(nested, objective=objective, blocks=blocks)
    return found


def measure(encoder: str, space: Space, n_splits: int, results: Results) -> None:
    splits = stratified_splits(space.labels, n_splits)
    for name, method in methods_of(encoder).items():
        start = perf_counter()
        for split in splits[: SLOW_SPLITS if SLOW in name else n_splits]:
            scores = score_encoded(method(space, split), space.labels, split)
            for (score, way), values in scores.items():
                results.add(encoder, score, name + way, values)
        print(f"{encoder}: {name}, {perf_counter() - start:.0f} s", flush=True)


def show(encoder: str, width: int, results: Results, report: Report) -> None:
    columns = [k for k in LENGTHS if k < width]
    for score in SCORES:
        body, errors = [], [0.0]
        rows = results.rows(encoder, score)
        n_splits = max(len(results.splits(encoder, score, row, "full")) for row in rows)
        for row in rows:
            lengths = results.cells[encoder, score, row]
            cells = [*(lengths.get(k) for k in columns), lengths[max(lengths)]]
            n = len(cells[-1])
            if n > 1:
                errors += [np.std(c, ddof=1) / np.sqrt(n) for c in cells if c]
            name = row if n == n_splits else f"{row} ({n} splits)"
            body.append([name, *(f"{np.mean(c):.3f}" if c else "-" for c in cells)])
        report.table(
            f"{encoder}, {score}: mean over {n_splits} splits, standard errors at "
            f"most {max(errors):.3f} (full: the method's own last length)",
            ["method", *map(str, columns), "full"],
            body,
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", metavar="FOLDER", help="or the variable SKREP_DATA")
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--encoders", nargs="+", choices=ENCODERS, default=ENCODERS)
    options = parser.parse_args()
    root = data_folder(options.data)
    with Report("nested_prefix") as report:
        results = Results()
        for encoder in options.encoders:
            space = load_space(root, encoder)
            measure(encoder, space, options.splits, results)
            show(encoder, space.documents.shape[1], results, report)
        show_bars(results, report)
