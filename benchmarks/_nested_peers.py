"""What one would use instead of a nested projection: peers of the prefix benchmark.

Each takes the rows of an encoder and a split, is fitted on the train rows, and gives
the documents and the test queries at its full width.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from _nested_protocol import LENGTHS, Array, Encoded, Labels, Space, Split
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.random_projection import GaussianRandomProjection

__all__ = ["PEERS", "Method"]

Method = Callable[[Space, Split], Encoded]

TWO_MEANS = ", two means"
HEAD_WIDTH = 256
HEAD_EPOCHS = 40
HEAD_BATCH = 128
HEAD_STEP = 1e-3


def truncation(space: Space, split: Split) -> Encoded:
    return Encoded(space.documents, {"": space.queries[split.test]})


def random_columns(space: Space, split: Split) -> Encoded:
    width = space.documents.shape[1]
    order = np.random.default_rng(split.seed).permutation(width)
    return Encoded(space.documents[:, order], {"": space.queries[split.test][:, order]})


def random_projection(space: Space, split: Split) -> Encoded:
    width = space.documents.shape[1]
    model = GaussianRandomProjection(width, random_state=split.seed)
    return _transformed(model.fit(space.documents[split.train]), space, split)


def truncated_svd(space: Space, split: Split) -> Encoded:
    width = space.documents.shape[1]
    model = TruncatedSVD(width, random_state=split.seed)
    return _transformed(model.fit(space.documents[split.train]), space, split)


def lda(space: Space, split: Split) -> Encoded:
    train = split.train
    model = LinearDiscriminantAnalysis()
    model.fit(space.documents[train], space.labels[train])
    return _transformed(model, space, split)


def pca(space: Space, split: Split) -> Encoded:
    return _two_means(PCA(), space, split)


def whitened_pca(space: Space, split: Split) -> Encoded:
    return _two_means(PCA(whiten=True), space, split)


def matryoshka_shared(space: Space, split: Split) -> Encoded:
    return _matryoshka(space, split, shared=True)


def matryoshka_per_size(space: Space, split: Split) -> Encoded:
    return _matryoshka(space, split, shared=False)


PEERS: dict[str, Method] = {
    "truncation (full: raw vectors)": truncation,
    "random columns": random_columns,
    "GaussianRandomProjection": random_projection,
    "TruncatedSVD": truncated_svd,
    "PCA": pca,
    "PCA(whiten=True)": whitened_pca,
    "LinearDiscriminantAnalysis": lda,
    "Matryoshka, shared head": matryoshka_shared,
    "Matryoshka, head per size": matryoshka_per_size,
}


def _transformed(model: object, space: Space, split: Split) -> Encoded:
    return Encoded(
        model.transform(space.documents),
        {"": model.transform(space.queries[split.test])},
    )


def _two_means(model: PCA, space: Space, split: Split) -> Encoded:
    encoded = _transformed(model.fit(space.documents[split.train]), space, split)
    mean = space.queries[split.train].mean(axis=0, keepdims=True)
    encoded.queries[TWO_MEANS] = encoded.queries[""] - model.transform(mean)
    return encoded


def _matryoshka(space: Space, split: Split, *, shared: bool) -> Encoded:
    train = split.train
    rows = space.documents[train]
    mean = rows.mean(axis=0)
    scale = np.sqrt(np.mean((rows - mean) ** 2))
    W = _train_matryoshka(
        (rows - mean) / scale, space.labels[train], split.seed, shared
    )
    return Encoded(
        (space.documents - mean) @ W, {"": (space.queries[split.test] - mean) @ W}
    )


def _train_matryoshka(rows: Array, labels: Labels, seed: int, shared: bool) -> Array:
    """Linear encoder (d, 256): cross-entropies of all prefixes, summed, by Adam."""
    X, y = torch.from_numpy(rows), torch.from_numpy(labels)
    width, n_classes = rows.shape[1], int(labels.max()) + 1
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        encoder = torch.nn.Linear(width, HEAD_WIDTH, bias=False)
        heads = [torch.nn.Linear(HEAD_WIDTH, n_classes)] * len(LENGTHS)
        if not shared:
            heads = [torch.nn.Linear(k, n_classes) for k in LENGTHS]
        weights = {id(p): p for head in heads for p in head.parameters()}
        step = torch.optim.Adam([*encoder.parameters(), *weights.values()], HEAD_STEP)
        for _ in range(HEAD_EPOCHS):
            for batch in torch.randperm(len(X)).split(HEAD_BATCH):
                Z = encoder(X[batch])
                losses = [
                    torch.nn.functional.cross_entropy(
                        Z[:, :k] @ head.weight[:, :k].T + head.bias, y[batch]
                    )
                    for k, head in zip(LENGTHS, heads, strict=True)
                ]
                step.zero_grad()
                sum(losses).backward()
                step.step()
    return encoder.weight.detach().numpy().T.copy()
