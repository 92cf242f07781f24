"""From rows and parameters to the positions of the anchors."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from skrep.exceptions import FewerColumnsWarning
from skrep.relative import _anchors
from skrep.relative._inputs import WHO, strata
from skrep.relative._kinds import SIMILARITIES
from skrep.relative._similarity import SimilarityFunction, directionless
from skrep.typing import FloatArray, IntArray, Matrix
from skrep.utils import warn

__all__ = ["GEOMETRIC", "SELECTIONS", "select_anchors"]

# Selections that see Euclidean distances between rows.
GEOMETRIC = frozenset({"kmeans", "farthest", "leverage"})
SELECTIONS = GEOMETRIC | {"uniform", "stratified"}


def select_anchors(
    X: Matrix,
    y: Any,
    weights: FloatArray,
    *,
    n_anchors: int,
    selection: str,
    similarity: str | SimilarityFunction,
    mean: FloatArray | None,
    random_state: Any,
) -> IntArray:
    """Select anchors among the distinct rows that have a direction.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,) or None
        Classes, for "stratified".
    weights : ndarray of shape (n_rows,)
        Non-negative weights.
    n_anchors : int
        Number of anchors; where there are fewer candidates, all of them serve and a
        warning is sent.
    selection : {"uniform", "stratified", "kmeans", "farthest", "leverage"}
        The way to select.
    similarity : str or callable
        Rows without a direction cannot serve where similarities divide by norms.
    mean : ndarray of shape (n_features,) or None
        The center of the similarity.
    random_state : int, RandomState or None
        Source of randomness.

    Returns
    -------
    ndarray of shape (n_anchors,)
        Row positions.
    """
    classes = strata(y, X.shape[0]) if selection == "stratified" else None
    candidates, totals = _anchors.distinct_rows(X, weights)
    if not callable(similarity) and SIMILARITIES[similarity].normalizes:
        lost = directionless(X[candidates], mean)
        candidates, totals = np.delete(candidates, lost), np.delete(totals, lost)
    if not candidates.size:
        raise ValueError(
            f"{WHO}: all rows are equal (n_samples={X.shape[0]}), so that none has a "
            "direction to compare. Use rows that differ, or similarity='euclidean'."
        )
    if candidates.size < n_anchors:
        warn(
            f"{WHO}: 'n_anchors'={n_anchors} exceeds the number of distinct rows that "
            f"can serve, {candidates.size}. All of them are used; set "
            f"n_anchors={candidates.size} or fewer.",
            FewerColumnsWarning,
        )
        n_anchors = candidates.size
    rng = check_random_state(random_state)
    if selection == "uniform":
        picks = _anchors.uniform(totals, n_anchors, rng)
    elif classes is not None:
        picks = _anchors.stratified(classes[candidates], totals, n_anchors, rng)
    else:
        if selection == "kmeans":
            used, totals = _anchors.thin(totals, n_anchors, rng)
            candidates = candidates[used]
        rows = _anchors.prepare(X[candidates], totals)
        if selection == "kmeans":
            picks = _anchors.kmeans(rows, totals, n_anchors, rng)
        elif selection == "farthest":
            picks = _anchors.farthest(rows, n_anchors)
        else:
            picks = _anchors.leverage(rows, n_anchors)
    return candidates[picks]
