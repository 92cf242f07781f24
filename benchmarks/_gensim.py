"""Poincare embeddings by gensim, the peer that can be installed (LGPL, pure Python)."""

import logging
from time import process_time
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

__all__ = ["Trained", "train_gensim"]


class Trained(NamedTuple):
    """Points of a training and what it cost."""

    points: np.ndarray
    seconds: float
    """CPU seconds of all epochs, burn-in included, without the set-up."""
    pairs_per_second: float
    """Pairs of all epochs over these seconds."""


def train_gensim(
    relations: sp.csr_array,
    *,
    size: int,
    negatives: int = 10,
    epochs: int = 50,
    burn_in: int = 10,
    alpha: float = 0.1,
    regularization: float = 1.0,
    seed: int = 0,
) -> Trained:
    """Train gensim's PoincareModel on the stored pairs (row, column).

    The defaults are gensim's own, but for the size. Row i of the points is node i.
    """
    from gensim.models.poincare import PoincareModel

    logging.getLogger("gensim").setLevel(logging.WARNING)
    pairs = relations.tocoo()
    named = [(str(u), str(v)) for u, v in zip(pairs.row, pairs.col, strict=True)]
    model = PoincareModel(
        named,
        size=size,
        alpha=alpha,
        negative=negatives,
        regularization_coeff=regularization,
        burn_in=burn_in,
        seed=seed,
    )
    start = process_time()
    model.train(epochs=epochs)
    seconds = process_time() - start
    names = [str(i) for i in range(relations.shape[0])]
    points = np.array([model.kv[name] for name in names], dtype=np.float64)
    return Trained(points, seconds, len(named) * (epochs + burn_in) / seconds)
