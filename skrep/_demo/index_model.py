"""The question of the index model family."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.decomposition import PCA
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold
from sklearn.neighbors import KNeighborsRegressor
from sklearn.preprocessing import StandardScaler

from skrep._demo import Answer
from skrep.index_model import SteinIndex
from skrep.typing import FloatArray

__all__ = ["answer"]

_ALL, _OURS = "all columns", "SteinIndex"
_WAYS: dict[str, Callable[[int], Any]] = {
    "PCA": PCA,
    "PLS": PLSRegression,
    _OURS: SteinIndex,
}
_DIRECTIONS = (1, 2)
_HEADS: dict[str, Callable[[], Any]] = {
    "neighbors": lambda: KNeighborsRegressor(15),
    "ridge": lambda: RidgeCV(np.logspace(-2, 3, 6)),
}
_REPEATS = 2

Scores = dict[tuple[str, str], dict[tuple[str, int], float]]


def answer() -> Answer:
    """Predict two targets from one or two directions of their tables.

    Returns
    -------
    Answer
        Shares of variance explained on held-out rows.
    """
    scores = {
        (target, head): values
        for target, X, y in _tables()
        for head, values in _scores(X, y).items()
    }
    ways = list(next(iter(scores.values())))
    return Answer(
        question=(
            "Which few directions of my table drive the target, whatever the shape of "
            "the curve?"
        ),
        setting=(
            "442 patients, ten columns: the progression of diabetes within a year. 569 "
            "tumors: how compact one is, from nine other measurements. Neighbors or a "
            "ridge regression see one or two directions of the columns; variance "
            f"explained on held-out rows (5 folds, {_REPEATS} times)."
        ),
        table=[
            ["target", "head", *(_name(*way) for way in ways)],
            *(
                [*row, *(f"{100 * value:.0f} %" for value in values.values())]
                for row, values in scores.items()
            ),
        ],
        conclusion=_conclude(scores),
        draw=lambda axes: _draw(axes, scores),
    )


def _tables() -> list[tuple[str, FloatArray, FloatArray]]:
    diabetes, cancer = load_diabetes(), load_breast_cancer()
    names = list(cancer.feature_names)
    means = [j for j, name in enumerate(names) if name.startswith("mean")]
    target = names.index("mean compactness")
    others = [j for j in means if j != target]
    return [
        ("progression", diabetes.data, diabetes.target),
        ("compactness", cancer.data[:, others], cancer.data[:, target]),
    ]


def _scores(X: FloatArray, y: FloatArray) -> dict[str, dict[tuple[str, int], float]]:
    found: dict[str, dict[tuple[str, int], list[float]]] = {head: {} for head in _HEADS}
    for seed in range(_REPEATS):
        for train, test in KFold(5, shuffle=True, random_state=seed).split(X):
            rows = StandardScaler().fit(X[train]).transform(X)
            views = {(_ALL, 0): rows}
            for k in _DIRECTIONS:
                for name, way in _WAYS.items():
                    fitted = way(k).fit(rows[train], y[train])
                    Z = fitted.transform(rows)
                    views[name, k] = Z / Z[train].std(axis=0)
            for head, make in _HEADS.items():
                for view, Z in views.items():
                    score = make().fit(Z[train], y[train]).score(Z[test], y[test])
                    found[head].setdefault(view, []).append(score)
    return {
        head: {view: float(np.mean(values)) for view, values in views.items()}
        for head, views in found.items()
    }


def _name(way: str, k: int) -> str:
    return f"{way} {k}" if k else way


def _conclude(scores: Scores) -> str:
    one = {
        head: "; ".join(
            f"{target} {100 * values[_OURS, 1]:.0f} % (all columns "
            f"{100 * values[_ALL, 0]:.0f} %, one of PLS {100 * values['PLS', 1]:.0f} %)"
            for (target, which), values in scores.items()
            if which == head
        )
        for head in _HEADS
    }
    ahead = [
        f"{target}, {head} ({_name(way, k)})"
        for (target, head), values in scores.items()
        for (way, k), value in values.items()
        if k and way != _OURS and round(value, 2) > round(values[_OURS, k], 2)
    ]
    compared = len(scores) * len(_DIRECTIONS) * (len(_WAYS) - 1)
    return (
        f"One direction that {_OURS} finds explains, by ridge regression, "
        f"{one['ridge']}; by neighbors, {one['neighbors']}. Both curves are gentle "
        "here; the gallery has valleys and products, of which straight lines see "
        f"nothing. By whole percents {_OURS} is behind in {len(ahead)} of {compared} "
        f"comparisons with as many directions{': ' if ahead else ''}"
        f"{'; '.join(ahead)}."
    )


def _draw(axes: Any, scores: Scores) -> None:
    colors = {
        "progression": ("#b9d4de", "#1f6f8b"),
        "compactness": ("#efc9bf", "#c8553d"),
    }
    ways = [_ALL, *_WAYS]
    targets = list(dict.fromkeys(target for target, _ in scores))
    for j, target in enumerate(targets):
        values = scores[target, "neighbors"]
        light, dark = colors[target]
        left = np.arange(len(ways)) + 0.42 * (j - 0.5)
        axes.bar(left[0], 100 * values[_ALL, 0], 0.38, color=dark, label=target)
        for k, color, shift in zip(
            _DIRECTIONS, (light, dark), (-0.1, 0.1), strict=True
        ):
            heights = [100 * values[way, k] for way in _WAYS]
            axes.bar(left[1:] + shift, heights, 0.18, color=color)
    axes.set_xticks(range(len(ways)), ways)
    axes.set_xlabel("one direction (light) or two (dark)")
    axes.set_ylabel("variance explained by neighbors, %")
    axes.set_title("Which few directions drive the target?")
    axes.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    axes.set_ylim(0, 119)
    axes.set_yticks(range(0, 101, 20))
