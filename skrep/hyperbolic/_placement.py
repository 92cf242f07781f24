"""Points of further nodes, while the fitted ones stay where they are."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from skrep.geometry import poincare
from skrep.hyperbolic._pair_loss import pair_terms
from skrep.hyperbolic._pair_training import flat_step
from skrep.optimize import ball_step
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks

__all__ = ["of_type", "place_nodes"]

_STEPS = 30
_RATE = 0.1
_CLIP = 0.25


def place_nodes(
    points: FloatArray,
    relations: sp.csr_array,
    rivals: IntArray,
    *,
    radius_cap: float,
    model: str,
) -> FloatArray:
    """Place nodes by their relations to fitted ones.

    A node starts at the Einstein midpoint of the points that it is related to, and
    takes thirty steps along geodesics down the loss of training, averaged over its
    relations. All `rivals` that it is not related to are its negatives, so that
    nothing is random, and each node is placed as if it were alone.

    Parameters
    ----------
    points : ndarray of shape (n_nodes, n_components)
        The fitted points.
    relations : csr_array of shape (n_new, n_nodes)
        Positive weights, at least one in each row.
    rivals : ndarray of shape (n_rivals,), int
        Fitted nodes that serve as negatives.
    radius_cap : float
        Largest distance from the origin in the ball.
    model : {"poincare", "euclidean"}
        The geometry.

    Returns
    -------
    ndarray of shape (n_new, n_components)
        The new points, in the type of `points`.
    """
    placed = np.empty((relations.shape[0], points.shape[1]), points.dtype)
    row_bytes = points.itemsize * len(rivals) * (points.shape[1] + 6)
    for block in row_blocks(len(placed), row_bytes):
        placed[block] = _place(
            points, relations[block], rivals, radius_cap=radius_cap, model=model
        )
    return placed


def of_type(points: FloatArray, dtype: np.dtype[Any], *, model: str) -> FloatArray:
    """Give points in another type, in which the rim of the ball may be nearer.

    Parameters
    ----------
    points : ndarray of shape (n_points, n_components)
        The points.
    dtype : dtype
        The type.
    model : {"poincare", "euclidean"}
        The geometry.

    Returns
    -------
    ndarray of shape (n_points, n_components)
        The points, in the ball.
    """
    points = points.astype(dtype, copy=False)
    return poincare.project(points) if model == "poincare" else points


def _place(
    points: FloatArray,
    relations: sp.csr_array,
    rivals: IntArray,
    *,
    radius_cap: float,
    model: str,
) -> FloatArray:
    entries = relations.tocoo()
    owner, others = entries.row, points[entries.col]
    start = relations.indptr[:-1]
    # The sum of large weights may be beyond the type.
    shares = entries.data / np.maximum.reduceat(relations.data, start)[owner]
    sums = np.bincount(owner, shares, relations.shape[0])
    weights = (shares / sums[owner]).astype(points.dtype)
    parts = [slice(*ends) for ends in np.stack([start, relations.indptr[1:]], axis=1)]
    if model == "poincare":
        found = [poincare.midpoint(others[part], weights[part]) for part in parts]
    else:
        found = [weights[part] @ others[part] for part in parts]
    at = np.asarray(found, dtype=points.dtype)
    foes = points[rivals]
    barred = relations[:, rivals].toarray() > 0
    for _ in range(_STEPS):
        near = pair_terms(at[owner], others, model=model)
        far = pair_terms(at[:, None], foes, model=model)
        away = np.where(barred, 0, far.likelihood)
        total = away.sum(axis=1)
        # One relation against all rivals: the share of its node, and of a rival.
        strength = weights / (near.likelihood + total[owner])
        attraction = strength * total[owner]
        repulsion = -np.add.reduceat(strength, start)[:, None] * away
        gradient = np.add.reduceat(
            _slope(at[owner], others, attraction, near.pull, near.node), start
        )
        pull = repulsion * far.pull
        own = pull.sum(axis=1) + (repulsion * far.node).sum(axis=1)
        gradient += own[:, None] * at - pull @ foes
        if model == "poincare":
            at = ball_step(
                at, gradient, _RATE, clip=_CLIP, max_radius=radius_cap, method="exp"
            )
        else:
            at = flat_step(at, gradient, _RATE, clip=_CLIP)
    return at


def _slope(
    at: FloatArray,
    others: FloatArray,
    strength: FloatArray,
    pull: FloatArray,
    node: FloatArray | float,
) -> FloatArray:
    """Give the derivatives of distances by the first of their points."""
    slope: FloatArray = (strength * pull)[:, None] * (at - others)
    slope += (strength * node)[:, None] * at
    return slope
