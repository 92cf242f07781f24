"""The question of the hyperbolic family."""

from typing import Any, Final, NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep._demo import Answer
from skrep.datasets import load_mammals
from skrep.graph import relations_from_edges
from skrep.hyperbolic import PoincareEmbedding
from skrep.metrics import reconstruction_scores
from skrep.typing import AnyArray, FloatArray, IntArray

__all__ = ["answer"]

_DIMENSIONS: Final = (2, 5)
_N_LEAVES: Final = 50
_METRICS: Final = {"poincare": "hyperbolic", "euclidean": "Euclidean"}


class _Split(NamedTuple):
    """A taxonomy without some of its leaves.

    Parameters
    ----------
    known : csr_array of shape (n_known, n_known)
        Relations of the others to their ancestors.
    unseen : csr_array of shape (n_leaves, n_known)
        Relations of those leaves to theirs.
    edges : csr_array of shape (n_known, n_known)
        The edges between the others.
    labels : ndarray of shape (n_known,)
        Names of the others.
    """

    known: sp.csr_array
    unseen: sp.csr_array
    edges: sp.csr_array
    labels: AnyArray


def answer() -> Answer:
    """Embed a taxonomy, and place leaves that come later.

    Returns
    -------
    Answer
        Mean average precision of the ancestors, in both geometries.
    """
    split = _split()
    maps, points = {}, {}
    for model in _METRICS:
        for dimension in _DIMENSIONS:
            embedding = PoincareEmbedding(
                dimension,
                affinity="precomputed",
                init="tree" if dimension == 2 else "random",
                model=model,
                random_state=0,
            ).fit(split.known)
            points[model, dimension] = embedding.embedding_
            scores = reconstruction_scores(
                embedding.embedding_, split.known, metric=model
            )
            placed = _map_of_new(embedding, split.unseen)
            maps[model, dimension] = scores.map, placed
    nodes, pairs = split.known.shape[0], split.known.nnz
    flat = points["poincare", 2]
    return Answer(
        question="A taxonomy in a few columns: are ancestors found again?",
        setting=(
            f"{nodes:,} WordNet mammals, {pairs:,} pairs of a mammal and a kind above "
            "it, one point for each, trained with one loss in both geometries (MAP of "
            f"the ancestors among all nodes, by distance); and {_N_LEAVES} leaves that "
            "were not there, placed by the kinds above them."
        ),
        table=[
            ["space", "columns", "MAP", "MAP of unseen leaves"],
            *(
                [_METRICS[model], str(dimension), f"{known:.2f}", f"{new:.2f}"]
                for (model, dimension), (known, new) in maps.items()
            ),
        ],
        conclusion=_conclude(maps),
        draw=lambda axes: _draw(axes, flat, split),
    )


def _split() -> _Split:
    mammals = load_mammals()
    pairs = mammals.names[mammals.edges]
    relations, labels = relations_from_edges(pairs)
    direct = relations_from_edges(pairs, closure=False).matrix
    leaves = np.flatnonzero(np.bincount(relations.indices, minlength=len(labels)) == 0)
    unseen = np.random.default_rng(0).choice(leaves, _N_LEAVES, replace=False)
    known: IntArray = np.setdiff1d(np.arange(len(labels)), unseen)
    return _Split(
        known=relations[known][:, known],
        unseen=relations[unseen][:, known],
        edges=direct[known][:, known],
        labels=labels[known],
    )


def _map_of_new(embedding: PoincareEmbedding, relations: sp.csr_array) -> float:
    """MAP of each new node by itself, among the fitted ones."""
    fitted, n_nodes = embedding.embedding_, len(embedding.embedding_)
    precisions = []
    for node, point in enumerate(embedding.transform(relations)):
        related = relations[[node]].indices
        above = sp.csr_array(
            (np.ones(len(related)), (np.full(len(related), n_nodes), related)),
            shape=(n_nodes + 1, n_nodes + 1),
        )
        together = np.vstack([fitted, point])
        scores = reconstruction_scores(
            together, above, metric=embedding.model, rows=[n_nodes]
        )
        precisions.append(scores.map)
    return float(np.mean(precisions))


def _conclude(maps: dict[tuple[str, int], tuple[float, float]]) -> str:
    parts = [
        f"{maps['poincare', k][0]:.2f} in {k} columns (Euclidean "
        f"{maps['euclidean', k][0]:.2f})"
        for k in _DIMENSIONS
    ]
    return (
        f"PoincareEmbedding tells the ancestors with a MAP of {' and '.join(parts)}, "
        f"those of leaves that came later with {maps['poincare', 5][1]:.2f} in 5 "
        "columns. With many columns Euclidean space has the room as well."
    )


def _draw(axes: Any, points: FloatArray, split: _Split) -> None:
    from skrep.inspection import PoincareDiskDisplay

    names = [label.split(".")[0] for label in split.labels]
    shown = ("mammal", "carnivore", "dog", "cat", "rodent", "whale", "bat", "primate")
    PoincareDiskDisplay.from_points(
        points,
        edges=split.edges,
        names={names.index(name): name for name in shown if name in names},
        ax=axes,
    )
    axes.set_title("Mammals on the disk")
