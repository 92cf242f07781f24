"""The question of the relative family."""

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep._demo import Answer
from skrep.datasets import load_mammals
from skrep.metrics import stitching_scores
from skrep.relative import LatentAlignment, RelativeRepresentation, stitch

__all__ = ["answer"]

_ENCODERS = {"minilm": "MiniLM", "e5": "E5", "wordllama": "WordLlama"}
_PAIRS = 128
_MIN_CLASS = 20


def answer() -> Answer:
    """Use a classifier of one encoder on the vectors of another.

    Returns
    -------
    Answer
        Accuracies on held-out rows for three changes of encoder.
    """
    mammals = load_mammals()
    sizes = np.bincount(mammals.target)
    rows = np.flatnonzero(sizes[mammals.target] >= _MIN_CLASS)
    y = mammals.target[rows]
    train, test = train_test_split(
        np.arange(rows.size), test_size=0.4, stratify=y, random_state=0
    )
    head = ["trained on", "used on", "largest order", "as it is", "aligned", "relative"]
    table = [[*head, "retrained"]]
    bars = []
    for old, new in (("minilm", "e5"), ("e5", "minilm"), ("minilm", "wordllama")):
        A, B = mammals.gloss[old][rows], mammals.gloss[new][rows]
        bars.append(_scores(A, B, y, train, test))
        table.append(
            [
                _ENCODERS[old],
                _ENCODERS[new],
                *(f"{100 * score:.0f} %" for score in bars[-1]),
            ]
        )
    kept = {
        way: f"{100 * min(share):.0f} to {100 * max(share):.0f} %"
        for way, share in (
            ("aligned", [bar[2] / bar[4] for bar in bars]),
            ("relative", [bar[3] / bar[4] for bar in bars]),
        )
    }
    return Answer(
        question=(
            "Can a classifier trained on one encoder's vectors be used on another "
            "encoder's vectors, without retraining?"
        ),
        setting=(
            f"{rows.size} WordNet mammals, {np.unique(y).size} orders, accuracy on "
            f"{test.size} held-out definitions; {_PAIRS} definitions were seen by "
            "both encoders."
        ),
        table=table,
        conclusion=(
            "Yes. The old classifier keeps this much of what retraining would give: "
            f"{kept['aligned']} when the shared definitions are pairs that align the "
            f"spaces, {kept['relative']} when they are anchors of relative "
            "representations, which serve any number of encoders at once."
        ),
        draw=lambda axes: _draw(axes, table, bars),
    )


def _scores(
    A: Any, B: Any, y: Any, train: Any, test: Any
) -> tuple[float, float, float, float, float]:
    absolute = _head().fit(A[train], y[train])
    retrained = _head().fit(B[train], y[train])
    relative = make_pipeline(
        RelativeRepresentation(n_anchors=_PAIRS, random_state=0),
        LogisticRegression(C=0.01, max_iter=1000),
    ).fit(A[train], y[train])
    stitched = stitch(relative, B[train])
    pairs = train[relative[0].anchor_indices_]
    width = min(A.shape[1], B.shape[1])
    cut = np.zeros_like(A[test])
    cut[:, :width] = B[test][:, :width]
    scores = stitching_scores(
        relative[-1],
        relative[:-1].transform(A[test]),
        stitched[:-1].transform(B[test]),
        y[test],
        other_head=retrained,
        X_other=B[test],
    )
    alignment = LatentAlignment().fit(B[pairs], A[pairs])
    return (
        scores["floor"],
        absolute.score(cut, y[test]),
        absolute.score(alignment.transform(B[test]), y[test]),
        scores["stitched"],
        scores["ceiling"],
    )


def _head() -> Any:
    return make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))


def _draw(axes: Any, table: list[list[str]], bars: list[Any]) -> None:
    names = table[0][2:]
    width = 0.8 / len(names)
    for j, name in enumerate(names):
        left = np.arange(len(bars)) + (j - (len(names) - 1) / 2) * width
        drawn = axes.bar(left, [100 * scores[j] for scores in bars], width, label=name)
        axes.bar_label(drawn, fmt="%.0f", fontsize=7)
    axes.set_xticks(range(len(bars)), [f"{row[0]} to {row[1]}" for row in table[1:]])
    axes.set_ylabel("accuracy on held-out rows, %")
    axes.set_title("One classifier, another encoder")
    axes.legend(ncols=len(names), loc="upper center", frameon=False, fontsize=8)
    axes.set_ylim(0, 100)
