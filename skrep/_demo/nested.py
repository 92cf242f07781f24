"""The question of the nested family."""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from skrep._demo import Answer
from skrep.datasets import load_mammals
from skrep.metrics import recall_at_k
from skrep.model_selection import PrefixSearchCV
from skrep.nested import NestedProjection, Truncate
from skrep.typing import FloatArray, IntArray

__all__ = ["answer"]

_LENGTHS = (8, 16, 32, 64, 384)
_TOLERANCE = 0.02
_MIN_CLASS = 20
_CUT, _PCA, _NESTED = "truncation", "PCA", "nested"
_TASKS = ("tell the order", "find the definition")

Scores = dict[tuple[str, str], list[float]]


def answer() -> Answer:
    """Cut the vectors of one encoder and see what is lost.

    Returns
    -------
    Answer
        Accuracy and recall of held-out rows at five lengths.
    """
    mammals = load_mammals()
    rows = np.flatnonzero(np.bincount(mammals.target)[mammals.target] >= _MIN_CLASS)
    X, queries = mammals.gloss["minilm"][rows], mammals.lemma["minilm"][rows]
    y = mammals.target[rows]
    train, test = train_test_split(
        np.arange(rows.size), test_size=0.4, stratify=y, random_state=0
    )
    nested = NestedProjection(objective={"classes": 0.3, "pairs": 1})
    chosen = _choose(nested, X[train], y[train], queries[train])
    nested.fit(X[train], y[train], pairs=queries[train])
    scores = _scores(nested, X, y, queries, train, test)
    return Answer(
        question="How short may the vectors be, and with what loss?",
        setting=(
            f"{rows.size} WordNet mammals, vectors of MiniLM. Tell the order of "
            f"{test.size} held-out definitions ({np.unique(y).size} orders, accuracy); "
            "find the definition of a held-out name among all of them (recall@10). One "
            "nested projection, fitted on the other rows, serves both."
        ),
        table=[
            ["task", "vectors", *(str(k) for k in _LENGTHS)],
            *(
                [*row, *(f"{100 * value:.0f} %" for value in values)]
                for row, values in scores.items()
            ),
        ],
        conclusion=_conclude(scores, chosen),
        draw=lambda axes: _draw(axes, scores, chosen),
    )


def _choose(
    nested: NestedProjection, X: FloatArray, y: IntArray, queries: FloatArray
) -> dict[str, int]:
    """The shortest good length for either task, by folds of the training rows."""

    def recall(
        prefix: NestedProjection, _: Any, y: Any, pairs: Any, place: Any
    ) -> float:
        asking = prefix.counterpart(pairs).transform(pairs)
        return recall_at_k(asking, prefix.transform(X), relevant=place)

    options = {
        "prefixes": _LENGTHS,
        "tolerance": _TOLERANCE,
        "cv": StratifiedKFold(5),
    }
    order = PrefixSearchCV(nested, _head(), **options).fit(X, y, pairs=queries)
    definition = PrefixSearchCV(nested, scoring=recall, **options).fit(
        X, y, pairs=queries, place=np.arange(len(X))
    )
    lengths = order.best_prefix_, definition.best_prefix_
    return dict(zip(_TASKS, lengths, strict=True))


def _scores(
    nested: NestedProjection,
    X: FloatArray,
    y: IntArray,
    queries: FloatArray,
    train: IntArray,
    test: IntArray,
) -> Scores:
    pca = PCA(X.shape[1], svd_solver="covariance_eigh").fit(X[train])
    centered = NestedProjection().fit(X[train])
    twins = centered.counterpart(queries[train]), nested.counterpart(queries[train])
    cut = Truncate().fit(X[train])
    documents = {
        _CUT: cut.transform(X),
        _PCA: pca.transform(X),
        _NESTED: nested.transform(X),
    }
    asking = {
        _CUT: (cut.transform(queries), documents[_CUT]),
        _PCA: (pca.transform(queries), documents[_PCA]),
        f"{_PCA}, two means": (twins[0].transform(queries), centered.transform(X)),
        _NESTED: (twins[1].transform(queries), documents[_NESTED]),
    }
    scores = {
        (_TASKS[0], way): [
            _head().fit(Z[train, :k], y[train]).score(Z[test, :k], y[test])
            for k in _LENGTHS
        ]
        for way, Z in documents.items()
    }
    for way, (Q, Z) in asking.items():
        scores[_TASKS[1], way] = [
            recall_at_k(Q[test, :k], Z[:, :k], relevant=test) for k in _LENGTHS
        ]
    return scores


def _head() -> Any:
    return make_pipeline(Normalizer(), LogisticRegression(C=10, max_iter=1000))


def _conclude(scores: Scores, chosen: dict[str, int]) -> str:
    kept = []
    for task, k in chosen.items():
        whole, at = scores[task, _CUT][-1], _LENGTHS.index(k)
        left = {
            way: f"{100 * values[at] / whole:.0f} %"
            for (which, way), values in scores.items()
            if which == task
        }
        ours = left.pop(_NESTED)
        others = ", ".join(f"{way} {share}" for way, share in left.items())
        kept.append(f"{k} numbers {task} with {ours} of that score ({others})")
    behind = [
        f"{task} at {k} ({way})"
        for (task, way), values in scores.items()
        for k, value, ours in zip(_LENGTHS, values, scores[task, _NESTED], strict=True)
        if value > ours
    ]
    cells = len(_LENGTHS) * (len(scores) - len(_TASKS))
    return (
        f"Measured by the score of the uncut vectors, {'; '.join(kept)}. These lengths "
        f"are the shortest within {100 * _TOLERANCE:.0f} % of the best, by "
        "cross-validation on the fitted rows. The nested projection is behind in "
        f"{len(behind)} of {cells} comparisons{': ' if behind else ''}"
        f"{'; '.join(behind)}."
    )


def _draw(axes: Any, scores: Scores, chosen: dict[str, int]) -> None:
    styles = {
        _CUT: ("#c8553d", "-"),
        _PCA: ("#8fa3b5", "-"),
        f"{_PCA}, two means": ("#8fa3b5", ":"),
        _NESTED: ("#1f6f8b", "-"),
    }
    for (task, way), values in scores.items():
        color, line = styles[way]
        heights = [100 * value for value in values]
        label = way if task == _TASKS[1] else None
        axes.plot(_LENGTHS, heights, line, marker="o", ms=4, color=color, label=label)
    for task, k in chosen.items():
        height = 100 * scores[task, _NESTED][_LENGTHS.index(k)]
        axes.plot(k, height, "o", ms=11, fillstyle="none", color=styles[_NESTED][0])
        axes.text(k, height + 5, task, ha="center", fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_xticks(_LENGTHS, [str(k) for k in _LENGTHS])
    axes.set_xlabel("numbers kept; a ring marks the length that was chosen")
    axes.set_ylabel("score of held-out rows, %")
    axes.set_title("How short may the vectors be?")
    axes.legend(fontsize=8, frameon=False, loc="lower right")
    axes.set_ylim(0, 100)
