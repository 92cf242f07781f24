"""What the nearest rows tell of a row that is left out itself."""

import numpy as np
from sklearn.metrics import r2_score

from skrep.metrics._neighbors import Neighbors
from skrep.typing import FloatArray
from skrep.utils.targets import Target

__all__ = ["grade", "tell"]

SAME_VOTES = 1e-9
"""Votes are sums of shares; those of equally many rows differ by rounding."""


def tell(found: Neighbors, target: Target, block: slice) -> FloatArray:
    """For each row the credit of the vote for classes, the mean of numbers."""
    own = target.values[block]
    n_block = len(own)
    near = target.values[found.rows]
    if target.classes is None:
        total = np.bincount(found.owners, found.shares, minlength=n_block)
        return np.bincount(found.owners, found.shares * near, minlength=n_block) / total
    n_classes = len(target.classes)
    cells = found.owners * n_classes + near
    votes = np.bincount(cells, found.shares, minlength=n_block * n_classes)
    votes = votes.reshape(n_block, n_classes)
    front = votes >= votes.max(axis=1, keepdims=True) - SAME_VOTES
    return front[np.arange(n_block), own] / front.sum(axis=1)


def grade(told: FloatArray, target: Target) -> float:
    """Accuracy for classes, coefficient of determination for numbers."""
    if target.classes is None:
        return float(r2_score(target.values, told))
    return float(told.mean())
