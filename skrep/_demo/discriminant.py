"""The question of the discriminant family."""

import importlib.util
from typing import Any, Final

import numpy as np
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from skrep._demo import Answer
from skrep.datasets import load_mammals
from skrep.discriminant import DiscriminantEncoder, LinearDiscriminantProjection
from skrep.typing import AnyArray, FloatArray

__all__ = ["answer"]

_MIN_CLASS: Final = 40
_NETWORK: Final = "DiscriminantEncoder"


def answer() -> Answer:
    """Bring the vectors of an encoder to two columns in which classes come apart.

    Returns
    -------
    Answer
        Accuracy of nearest neighbors among held-out rows, and their places.
    """
    mammals = load_mammals()
    rows = np.flatnonzero(np.bincount(mammals.target)[mammals.target] >= _MIN_CLASS)
    X, y = mammals.gloss["minilm"][rows], mammals.target[rows]
    n_classes = len(np.unique(y))
    X, held_out, y, asked = train_test_split(
        X, y, test_size=0.4, stratify=y, random_state=0
    )
    methods: dict[str, Any] = {
        "PCA": PCA(2),
        "LinearDiscriminantProjection": LinearDiscriminantProjection(2),
    }
    missing = [name for name in ("torch", "skorch") if not _is_there(name)]
    if not missing:
        methods[_NETWORK] = DiscriminantEncoder(2, max_epochs=60, random_state=0)
    scores, places = {}, {}
    for name, method in methods.items():
        Z = method.fit(X, y).transform(X)
        places[name] = method.transform(held_out)
        # Both columns are to count, also those of PCA.
        neighbors = make_pipeline(StandardScaler(), KNeighborsClassifier(5))
        scores[name] = neighbors.fit(Z, y).score(places[name], asked)
    best = max(scores, key=lambda name: scores[name])
    conclusion = (
        f"{best} keeps {n_classes} classes apart in the plane: neighbors tell "
        f"{100 * scores[best]:.0f} % of the held-out rows, against "
        f"{100 * scores['PCA']:.0f} % with PCA."
    )
    if missing:
        conclusion += (
            f" {_NETWORK} would be here, too, but needs {' and '.join(missing)}: "
            "pip install 'skrep[torch]'."
        )
    return Answer(
        question="Which two columns tell the classes apart?",
        setting=(
            f"{len(X) + len(held_out)} WordNet mammals of the {n_classes} largest "
            f"orders, vectors of MiniLM. Five nearest neighbors in two columns, "
            f"{len(held_out)} held-out definitions."
        ),
        table=[
            ["two columns of", "accuracy"],
            *([name, f"{100 * score:.0f} %"] for name, score in scores.items()),
        ],
        conclusion=conclusion,
        draw=lambda axes: _draw(axes, places[best], mammals.target_names, asked, best),
    )


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _draw(axes: Any, Z: FloatArray, names: AnyArray, y: AnyArray, method: str) -> None:
    for label in np.unique(y):
        shown = y == label
        axes.scatter(*Z[shown].T, s=12, label=names[label])
    axes.set_title(f"Held-out definitions in the plane of {method}")
    axes.set_xlabel("column 0")
    axes.set_ylabel("column 1")
    axes.legend(fontsize="small")
