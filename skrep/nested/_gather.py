"""From rows to the statistics that an objective needs."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from skrep.linalg import (
    Moments,
    canonical_directions,
    moment_blocks,
    quantile_edges,
    slice_codes,
    weighted_mean,
)
from skrep.nested._classes import Axes
from skrep.nested._neighbors import (
    draw_sample,
    mutual_nearest,
    neighbor_scatter,
)
from skrep.nested._objectives import Contrast
from skrep.typing import AnyArray, FloatArray, Matrix
from skrep.utils import row_blocks
from skrep.utils.targets import check_target
from skrep.utils.validation import check_overflow, validate_side

__all__ = [
    "Partners",
    "Side",
    "TargetRule",
    "canonical_axes",
    "contrasts",
    "group_labels",
    "partners",
]

N_SLICES = 10
"""Quantile slices of a numeric target."""

LARGEST_ANCHORS = 2500
"""Rows whose neighbors are looked for; more are sampled."""

LARGEST_QUERIES = 20_000
"""Queries that are mined; more are sampled."""


class Side(NamedTuple):
    """Rows of one side, with their weights.

    Parameters
    ----------
    rows : ndarray or CSR of shape (n_rows, n_features)
        Rows of positive weight.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    """

    rows: Matrix
    weights: FloatArray

    @property
    def mean(self) -> FloatArray:
        """Weighted mean of shape (n_features,), float64."""
        return weighted_mean(self.rows, self.weights)

    @property
    def counts(self) -> FloatArray:
        """Weights as numbers of rows: scaled up where they sum to less."""
        return self.weights * max(1.0, len(self.weights) / self.weights.sum())


def _other_side(
    estimator: Any, name: str, rows: Any, n_features: int | None, n_rows: int | None
) -> FloatArray:
    """Validate pairs or queries; None stands for any width or number of rows."""
    who = type(estimator).__name__
    if rows is None:
        raise ValueError(
            f"{who}: 'objective' asks for '{name}', and {name} is None. Pass "
            f"{who}.fit(X, {name}=...), an array of rows; inside a pipeline or a "
            f"search request it with set_fit_request({name}=True)."
        )
    same = n_features is not None
    found = validate_side(estimator, name, rows, same_columns=same)
    if n_features is not None and found.shape[1] != n_features:
        raise ValueError(
            f"{who}: '{name}' has {found.shape[1]} columns, and X has {n_features}. "
            "One map serves both sides, so they need the same columns. Encode both "
            'with one encoder, or use objective="cca".'
        )
    if n_rows is not None and len(found) != n_rows:
        raise ValueError(
            f"{who}: '{name}' has {len(found)} rows, and X has {n_rows}. Row i of "
            f"{name} must be the partner of row i of X. Select the same rows of both."
        )
    return found


class Partners(NamedTuple):
    """What stands on the other side, as far as an objective asks for it.

    Parameters
    ----------
    pairs : ndarray of shape (n_rows, n_other_features) or None
        Partners of the rows.
    queries : ndarray of shape (n_queries, n_features) or None
        Unpaired rows.
    """

    pairs: FloatArray | None
    queries: FloatArray | None


def partners(
    estimator: Any,
    names: tuple[str, ...],
    pairs: Any,
    queries: Any,
    n_features: int,
    kept: AnyArray,
) -> Partners:
    """Validate what the objectives ask for and leave out the rest.

    Parameters
    ----------
    estimator : NestedProjection
        The estimator, which has validated X.
    names : tuple of str
        The objectives.
    pairs, queries : array-like or None
        As passed to fit.
    n_features : int
        Number of columns of X.
    kept : ndarray of shape (n_rows,), bool
        Which rows of X have a positive weight.

    Returns
    -------
    Partners
        Validated arrays.
    """
    paired = unpaired = None
    if "cca" in names or "pairs" in names:
        width = None if "cca" in names else n_features
        paired = _other_side(estimator, "pairs", pairs, width, len(kept))[kept]
    if "mined" in names:
        unpaired = _other_side(estimator, "queries", queries, n_features, None)
    return Partners(paired, unpaired)


class TargetRule(NamedTuple):
    """How a target is read: settled by the first rows, kept for later ones.

    Parameters
    ----------
    kind : {"classes", "numbers"}
        What it holds.
    edges : ndarray of shape (n_edges,) or None
        Where the slices of numbers end.
    """

    kind: str
    edges: FloatArray | None


def group_labels(
    who: str,
    y: Any,
    kept: AnyArray,
    weights: FloatArray,
    rule: TargetRule | None,
    target_type: str,
) -> tuple[TargetRule, AnyArray]:
    """Read a target as the labels of groups: classes, or slices of a number.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    y : array-like of shape (n_rows,)
        The target.
    kept : ndarray of shape (n_rows,), bool
        Which rows have a positive weight.
    weights : ndarray of shape (n_kept,)
        Those weights.
    rule : TargetRule or None
        The rule of earlier rows.
    target_type : {"auto", "classes", "numbers"}
        How to read it where there is no rule yet.

    Returns
    -------
    rule : TargetRule
        The rule.
    labels : ndarray of shape (n_kept,)
        One label for each kept row.
    """
    if y is not None and not kept.all() and _num_samples(y) == len(kept):
        # An absent row has no say in what y is.
        y, kept = _safe_indexing(y, np.flatnonzero(kept)), kept[kept]
    target = check_target(who, y, len(kept), rule.kind if rule else target_type)
    values = target.values
    if target.classes is not None:
        return TargetRule("classes", None), target.classes[values]
    edges = rule.edges if rule else None
    if edges is None:
        edges = quantile_edges(values, N_SLICES, weights)
    return TargetRule("numbers", edges), slice_codes(values, edges)


def contrasts(
    side: Side,
    names: tuple[str, ...],
    others: Partners,
    n_neighbors: int,
    random_state: Any,
) -> dict[str, Contrast]:
    """Measure what belongs together, for "neighbors", "pairs" and "mined".

    Parameters
    ----------
    side : Side
        The rows.
    names : tuple of str
        The objectives.
    others : Partners
        The other side.
    n_neighbors : int
        Neighbors of a row.
    random_state : int, RandomState instance or None
        Randomness of samples.

    Returns
    -------
    dict of str to Contrast
        One for each of the objectives that needs it.
    """
    X, weights = side
    found = {}
    if "neighbors" in names:
        anchors = draw_sample(len(X), LARGEST_ANCHORS, random_state)
        noise = neighbor_scatter(X, side.mean, side.counts, n_neighbors, anchors)
        found["neighbors"] = Contrast((), noise)
    if "pairs" in names and others.pairs is not None:
        sides = (Moments.of(others.pairs, weights).covariance,)
        noise = Moments.of(others.pairs - X, weights).covariance
        if np.trace(noise) <= _rounding(X):
            noise = np.zeros_like(noise)
        found["pairs"] = Contrast(sides, noise)
    if "mined" in names and others.queries is not None:
        total = Moments.of(others.queries)
        sample = draw_sample(len(others.queries), LARGEST_QUERIES, random_state)
        searched = others.queries[sample]
        mean = side.mean
        own, their = mutual_nearest(X, searched, mean, total.mean)
        noise = np.zeros_like(total.scatter)
        for pairs in row_blocks(len(own), 32 * X.shape[1]):
            gaps = (searched[their[pairs]] - total.mean) - (X[own[pairs]] - mean)
            # A pair counts once: copies of a row compete for one query.
            noise += gaps.T @ gaps
        found["mined"] = Contrast((total.covariance,), noise)
    return found


def _rounding(X: FloatArray) -> float:
    """Mean square of differences that are due to rounding alone."""
    size = np.abs(X).max() * np.sqrt(X.shape[1])
    return float((8 * np.finfo(X.dtype).eps * size) ** 2)


def canonical_axes(
    who: str, side: Side, pairs: FloatArray | None, shrinkage: float | None
) -> tuple[Axes, Axes]:
    """Solve for two maps by ridge canonical correlations, scaled by their roots.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    side : Side
        The rows.
    pairs : ndarray of shape (n_rows, n_other_features)
        Their partners.
    shrinkage : float or None
        Ridge of each side, in units of its mean eigenvalue; None is 1.

    Returns
    -------
    own, other : Axes
        Axes of the rows and of the partners, with the canonical correlations.

    Raises
    ------
    ValueError
        If either side is constant.
    """
    assert pairs is not None
    ridge = 1.0 if shrinkage is None else shrinkage
    rows, weights = side
    sides = []
    for name, part in (("X", rows), ("pairs", pairs)):
        moments = Moments.of(part, weights)
        check_overflow(who, moments.covariance)
        values, vectors = np.linalg.eigh(moments.covariance)
        if values[-1] <= (1e-12 * np.abs(part).max()) ** 2:
            raise ValueError(
                f"{who}: '{name}' is constant, and correlates with nothing. Pass rows "
                'that differ, or use objective="variance".'
            )
        kept = values > 10 * len(values) * np.finfo(np.float64).eps * values[-1]
        penalty = ridge * float(np.trace(moments.covariance)) / len(values)
        basis = vectors[:, kept][:, ::-1]
        sides.append((moments.mean, np.sqrt(values[kept][::-1]), basis, penalty))
    (mean, s_x, V_x, x_penalty), (other_mean, s_y, V_y, y_penalty) = sides
    cross = np.zeros((rows.shape[1], pairs.shape[1]))
    for block in moment_blocks(rows):
        gaps = (rows[block] - mean) * (weights[block] / weights.sum())[:, None]
        cross += gaps.T @ (pairs[block] - other_mean)
    overlap = (V_x / s_x).T @ cross @ (V_y / s_y)
    own, other, correlations = canonical_directions(
        s_x, overlap, s_y, x_penalty, y_penalty
    )
    scale = np.sqrt(correlations)
    return (
        Axes(V_x @ own * scale, correlations),
        Axes(V_y @ other * scale, correlations),
    )
