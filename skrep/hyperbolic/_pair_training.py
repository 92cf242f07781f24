"""Training of one point for each node, by pairs and drawn negatives."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.hyperbolic._pair_loss import softmax_loss
from skrep.optimize import NegativeSampler, ball_step
from skrep.typing import FloatArray, IntArray

__all__ = ["Pairs", "pairs_of", "train_epoch"]

# Pairs of a batch: at least so many, and at most so many batches in an epoch, as each
# batch goes over all points once.
_BATCH = 512
_MOST_BATCHES = 100
# Longest step of a point in a batch: a hub has a share in most of its pairs.
_CLIP = 0.5


class Pairs(NamedTuple):
    """Related pairs (u, v), with weights of mean one.

    Parameters
    ----------
    nodes, related : ndarray of shape (n_pairs,), int64
        Every u, and the v it is related to.
    weights : ndarray of shape (n_pairs,)
        Their weights.
    """

    nodes: IntArray
    related: IntArray
    weights: FloatArray


def pairs_of(relations: sp.csr_array) -> Pairs:
    """List the stored values of a matrix of relations as pairs.

    Parameters
    ----------
    relations : csr_array of shape (n_nodes, n_nodes)
        Positive weights, at least one.

    Returns
    -------
    Pairs
        The pairs in the order of rows, then columns.
    """
    entries = relations.tocoo()
    order = np.lexsort((entries.col, entries.row))
    # The sum of large weights may be beyond the type.
    shares = entries.data / entries.data.max()
    weights = (shares / shares.mean())[order]
    return Pairs(
        entries.row[order].astype(np.int64),
        entries.col[order].astype(np.int64),
        weights,
    )


def train_epoch(
    points: FloatArray,
    pairs: Pairs,
    sampler: NegativeSampler,
    rng: np.random.Generator,
    learning_rate: float,
    *,
    n_negatives: int,
    frequent: bool,
    radius_cap: float,
    model: str,
) -> tuple[FloatArray, float]:
    """Go over all pairs once, in random order.

    Parameters
    ----------
    points : ndarray of shape (n_nodes, n_components)
        The points, which are left as they are.
    pairs : Pairs
        The related pairs.
    sampler : NegativeSampler
        Source of negatives.
    rng : numpy.random.Generator
        Source of randomness.
    learning_rate : float
        Rate of this epoch.
    n_negatives : int
        Negatives of a pair.
    frequent : bool
        Whether much related nodes are drawn more often.
    radius_cap : float
        Largest distance from the origin in the ball.
    model : {"poincare", "euclidean"}
        The geometry.

    Returns
    -------
    points : ndarray of shape (n_nodes, n_components)
        The new points.
    loss : float
        Mean loss of a pair, each at the points of its time.
    """
    n_pairs = len(pairs.nodes)
    batch = max(_BATCH, -(-n_pairs // _MOST_BATCHES))
    order = rng.permutation(n_pairs)
    total = 0.0
    for begin in range(0, n_pairs, batch):
        chosen = order[begin : begin + batch]
        nodes, weights = pairs.nodes[chosen], pairs.weights[chosen]
        drawn, barred = sampler.draw(rng, nodes, n_negatives, frequent=frequent)
        candidates = np.vstack([pairs.related[chosen], drawn])
        loss, gradient = softmax_loss(
            points, nodes, candidates, barred, weights, model=model
        )
        total += loss
        if model == "poincare":
            points = ball_step(
                points, gradient, learning_rate, clip=_CLIP, max_radius=radius_cap
            )
        else:
            points = flat_step(points, gradient, learning_rate, clip=_CLIP)
    return points, total / float(pairs.weights.sum())


def flat_step(
    points: FloatArray, gradient: FloatArray, learning_rate: float, *, clip: float
) -> FloatArray:
    """Take one step of gradient descent, no point farther than `clip`."""
    step = gradient * -learning_rate
    step *= (clip / np.maximum(np.linalg.norm(step, axis=1), clip))[:, None]
    return points + step
