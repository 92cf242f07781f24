"""Loss of related pairs against drawn negatives, and its gradient."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.typing import AnyArray, FloatArray, IntArray

__all__ = ["MODELS", "PairTerms", "pair_terms", "softmax_loss"]

MODELS = ("poincare", "euclidean")


def softmax_loss(
    points: FloatArray,
    nodes: IntArray,
    candidates: IntArray,
    barred: AnyArray,
    weights: FloatArray,
    *,
    model: str,
) -> tuple[float, FloatArray]:
    r"""Return the loss of a batch and its Euclidean gradient.

    A node u is to be nearer to v, which it is related to, than to the negatives
    N(u):

    .. math::

        L(u, v) = -\log \frac{e^{-d(u, v)}}{\sum_{v' \in \{v\} \cup N(u)} e^{-d(u, v')}}

    In the ball, with :math:`z = |u - v|^2 / ((1 - |u|^2)(1 - |v|^2))`, the distance is
    :math:`2 \operatorname{arsinh} \sqrt z`, so that
    :math:`e^{-d} = (\sqrt z + \sqrt{1 + z})^{-2}` takes no logarithm.

    Parameters
    ----------
    points : ndarray of shape (n_nodes, n_components)
        Points of the ball of curvature -1, or of Euclidean space.
    nodes : ndarray of shape (n_pairs,), int
        The node u of each pair.
    candidates : ndarray of shape (1 + n_negatives, n_pairs), int
        First row: the node v of each pair. Others: the negatives.
    barred : ndarray of shape (n_negatives, n_pairs), bool
        Negatives that do not count.
    weights : ndarray of shape (n_pairs,)
        Weights of the pairs.
    model : {"poincare", "euclidean"}
        Distance: hyperbolic or Euclidean.

    Returns
    -------
    loss : float
        Weighted sum over the pairs.
    gradient : ndarray of shape (n_nodes, n_components)
        Euclidean gradient of that sum.
    """
    start = points.take(nodes, axis=0)
    terms = pair_terms(start, points.take(candidates, axis=0), model=model)
    share = terms.likelihood
    share[1:][barred] = 0
    share /= share.sum(axis=0)
    loss = -float(weights @ np.log(share[0]))
    slope = np.negative(share, out=share)
    slope[0] += 1
    slope *= weights
    pull = slope * terms.pull
    own = (slope * terms.node).sum(axis=0)
    return loss, _gather(
        points, start, nodes, candidates, pull, own, slope * terms.other
    )


class PairTerms(NamedTuple):
    """What a geometry makes of pairs (u, v) at a distance d.

    The derivative of d is ``pull * (u - v) + node * u`` by u and
    ``pull * (v - u) + other * v`` by v.

    Parameters
    ----------
    likelihood : ndarray
        exp(-d).
    pull : ndarray
        Factor of the difference.
    node, other : ndarray or float
        Factors of u and v, 0 in Euclidean space.
    """

    likelihood: FloatArray
    pull: FloatArray
    node: FloatArray | float
    other: FloatArray | float


def pair_terms(u: FloatArray, v: FloatArray, *, model: str) -> PairTerms:
    """Compute the distance of pairs and its derivative.

    Parameters
    ----------
    u, v : ndarray, the last axis of length n_components
        Points, in shapes that broadcast.
    model : {"poincare", "euclidean"}
        The geometry.

    Returns
    -------
    PairTerms
        Arrays in the shape of the pairs, to be written to by the caller.
    """
    gaps = v - u
    squares: FloatArray = np.einsum("...d,...d->...", gaps, gaps)
    if model == "euclidean":
        distances = np.sqrt(squares)
        pull = 1 / np.maximum(distances, _least(distances))
        # Never 0: a logarithm is taken of it.
        likelihood = np.maximum(np.exp(-distances), np.finfo(squares.dtype).tiny)
        return PairTerms(likelihood, pull, 0.0, 0.0)
    a = 1 - np.einsum("...d,...d->...", u, u)
    b = 1 - np.einsum("...d,...d->...", v, v)
    product = a * b
    root = np.sqrt(squares / product)
    larger = np.sqrt(1 + root * root)
    likelihood = 1 / (root + larger)
    likelihood *= likelihood
    pull = 2 / (np.maximum(root * larger, _least(root)) * product)
    root /= larger
    root *= 2
    return PairTerms(likelihood, pull, root / a, root / b)


def _least(values: FloatArray) -> float:
    """Cut the slope of a pair of equal points, which has no direction."""
    return float(np.finfo(values.dtype).eps ** 0.75)


def _gather(
    points: FloatArray,
    start: FloatArray,
    nodes: IntArray,
    candidates: IntArray,
    pull: FloatArray,
    own: FloatArray,
    other: FloatArray | float,
) -> FloatArray:
    """Sum the derivatives of all pairs into one row for each node."""
    n_candidates, n_pairs = candidates.shape
    n_nodes = len(points)
    pairs = sp.csr_array(
        (
            np.ascontiguousarray(pull.T).ravel(),
            np.ascontiguousarray(candidates.T).ravel(),
            np.arange(0, n_pairs * n_candidates + 1, n_candidates),
        ),
        shape=(n_pairs, n_nodes),
    )
    of_node = sp.csr_array(
        (np.ones_like(own), nodes, np.arange(n_pairs + 1)), shape=(n_pairs, n_nodes)
    )
    scale = np.bincount(candidates.ravel(), (pull + other).ravel(), n_nodes)
    gradient: FloatArray = scale.astype(points.dtype, copy=False)[:, None] * points
    gradient += of_node.T @ ((pull.sum(axis=0) + own)[:, None] * start - pairs @ points)
    gradient -= pairs.T @ start
    return gradient
