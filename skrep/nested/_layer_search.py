"""From rows of several layers to the layer and the length that serve best."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from skrep._claims import Claim
from skrep.linalg import project_rows, weighted_mean
from skrep.nested._claimed import nested_claims
from skrep.nested._inputs import TOO_MANY_COLUMNS
from skrep.nested._layer_input import layer_slices
from skrep.nested._layer_scores import (
    Judge,
    content_folds,
    equal_rows,
    grid_scores,
    shortest_good,
)
from skrep.nested._projection import NestedProjection
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils.prefixes import check_prefixes
from skrep.utils.targets import Target, check_target
from skrep.utils.validation import check_n_components, check_overflow

__all__ = ["Choice", "choose", "layer_claims"]


class Choice(NamedTuple):
    """What was chosen, and from what.

    Parameters
    ----------
    layer : int or None
        Position of the layer; None if layers are fused.
    best_score : float
        Its score at the chosen length.
    scores : ndarray of shape (n_candidates, n_lengths)
        All scores.
    lengths : ndarray of shape (n_lengths,)
        The lengths.
    components : ndarray of shape (n_components, n_columns)
        Axes for the columns used.
    mean : ndarray of shape (n_columns,)
        Mean of these columns.
    columns : slice
        Which they are.
    """

    layer: int | None
    best_score: float
    scores: FloatArray
    lengths: IntArray
    components: FloatArray
    mean: FloatArray
    columns: slice


def choose(
    estimator: Any,
    rows: FloatArray,
    widths: tuple[int, ...],
    y: Any,
    weights: FloatArray,
) -> Choice:
    """Score all layers at all lengths, and fit the choice to all rows.

    Parameters
    ----------
    estimator : LayerGrid
        Whose parameters say how.
    rows : ndarray of shape (n_rows, n_features)
        The layers side by side.
    widths : tuple of int
        Their widths.
    y : array-like of shape (n_rows,) or None
        The target.
    weights : ndarray of shape (n_rows,)
        Positive weights.

    Returns
    -------
    Choice
        What was chosen.

    Raises
    ------
    ValueError
        If a parameter does not suit the data.
    """
    who = type(estimator).__name__
    fused = estimator.fuse != "select"
    _check_fuse(who, estimator.fuse, widths)
    layers = layer_slices(widths)
    target = _target(estimator, y, len(rows))
    if target is None:
        # Which of several equal rows is near another one has no answer.
        first, group = equal_rows(rows)
        rows = rows[first]
        weights = np.bincount(group, weights).astype(np.float64)
    mean, scale = _layer_units(who, rows, weights, layers)
    joined = rows
    if fused or target is None:
        joined = ((rows - mean) / scale).astype(rows.dtype, copy=False)
    candidates = [rows[:, columns] for columns in layers]
    if fused:
        candidates.append(_fused(joined, estimator.fuse, widths))
    lengths = _lengths(estimator, [part.shape[1] for part in candidates], fused)
    folds = content_folds(
        rows, weights, _codes(target), min(estimator.n_splits, len(rows))
    )
    if folds.max() < 1:
        raise ValueError(
            f"{who}: 'X' has one distinct row with a weight, n_samples = 1. There is "
            "nothing to choose by: pass rows that differ, two at least."
        )
    judge = Judge(
        weights * max(1.0, len(weights) / weights.sum()),
        folds,
        int(estimator.n_neighbors),
        "neighbors" if target is None else target.kind,
        joined.astype(np.float64) if target is None else target.values,
    )

    def axes(X: FloatArray, k: int | None, fitted: AnyArray) -> NestedProjection:
        model = NestedProjection(
            k, objective=estimator.objective, solver="full", target_type=_kind(target)
        )
        labels = None if target is None else target.values[fitted]
        return model.fit(X[fitted], labels, sample_weight=weights[fitted])

    def project(X: FloatArray, known: AnyArray) -> FloatArray:
        model = axes(X, None, known)
        return project_rows(X, model.components_, model.mean_)

    scores = grid_scores(candidates, lengths, judge, project)
    shown = scores[-1:] if fused else scores
    at, length = shortest_good(shown, float(estimator.tolerance))
    chosen = candidates[-1] if fused else candidates[at]
    model = axes(chosen, int(lengths[length]), np.ones(len(rows), dtype=bool))
    components, columns = model.components_, layers[at]
    center = model.mean_
    if fused:
        columns, center = slice(None), mean.astype(rows.dtype)
        copies = len(widths) if estimator.fuse == "mean" else 1
        components = np.tile(components, copies) / (scale * copies)
    return Choice(
        None if fused else at,
        float(shown[at, length]),
        scores.astype(rows.dtype),
        lengths,
        components.astype(rows.dtype, copy=False),
        center,
        columns,
    )


def layer_claims(
    objective: str, fuse: str, *, several: bool, labels: bool
) -> tuple[Claim, ...]:
    """List the claims that a set of parameters supports.

    Parameters
    ----------
    objective : {"variance", "classes"}
        What axes are ordered by.
    fuse : {"select", "concatenate", "mean"}
        What becomes of the layers.
    several : bool
        Whether a matrix has several layers.
    labels : bool
        Whether y may hold classes.

    Returns
    -------
    tuple of Claim
        The claims.
    """
    claims = nested_claims(
        (objective,), blocks=False, normalize=False, randomized=False, labels=labels
    )
    kept = [one for one in claims if one.group != "positive_scaling"]
    if several:
        mixing = {"orthogonal", "column_permutation"}
        kept = [one for one in kept if one.group not in mixing]
        if fuse != "mean":
            kept.append(Claim("sign_flip", "up_to_sign"))
    if labels and objective != "classes":
        kept.append(Claim("label_permutation"))
    free = objective == "classes" or fuse != "select"
    answer = "unchanged" if free else "same_action"
    return (*kept, Claim("positive_scaling", answer))


def _check_fuse(who: str, fuse: str, widths: tuple[int, ...]) -> None:
    if fuse == "mean" and len(set(widths)) > 1:
        raise ValueError(
            f"{who}: 'fuse' is \"mean\", and the layers have widths {widths}. Only "
            'layers of one width can be averaged: pass fuse="concatenate".'
        )
    if fuse == "concatenate" and sum(widths) > TOO_MANY_COLUMNS:
        raise ValueError(
            f"{who}: 'fuse' is \"concatenate\", and the layers have {sum(widths)} "
            f"columns together. {TOO_MANY_COLUMNS} is the limit of what axes are found "
            'for: pass fuse="select", or fewer layers.'
        )


def _layer_units(
    who: str, rows: FloatArray, weights: FloatArray, layers: Sequence[slice]
) -> tuple[FloatArray, FloatArray]:
    """Mean of every column, and root mean square of each layer about it."""
    mean = weighted_mean(rows, weights)
    scale = np.ones(rows.shape[1])
    with np.errstate(over="ignore", invalid="ignore"):
        variances = weighted_mean((rows - mean) ** 2, weights)
    check_overflow(who, variances)
    for columns in layers:
        size = float(np.sqrt(variances[columns].mean()))
        # What rounding of the mean leaves of a constant layer is no size.
        if size > 4 * np.finfo(rows.dtype).eps * np.abs(mean[columns]).max():
            scale[columns] = size
    return mean, scale


def _fused(joined: FloatArray, fuse: str, widths: tuple[int, ...]) -> FloatArray:
    if fuse == "concatenate":
        return joined
    mean: FloatArray = joined.reshape(len(joined), len(widths), -1).mean(axis=1)
    return mean


def _lengths(estimator: Any, available: list[int], fused: bool) -> IntArray:
    """Lengths to try: those that one candidate has at least."""
    who, most = type(estimator).__name__, available[-1] if fused else max(available)
    if estimator.n_components is not None:
        return np.array([check_n_components(who, estimator.n_components, most)])
    if not isinstance(estimator.prefixes, str):
        return check_prefixes(who, estimator.prefixes, most)
    each = [check_prefixes(who, estimator.prefixes, width) for width in available]
    return np.unique(np.concatenate(each))


def _target(estimator: Any, y: Any, n_rows: int) -> Target | None:
    who = type(estimator).__name__
    if y is None:
        if estimator.objective == "classes":
            raise ValueError(
                f"{who}: 'objective' is \"classes\", and y is None; it requires y to "
                f'be passed. Call fit(X, y), or use {who}(objective="variance").'
            )
        return None
    return check_target(who, y, n_rows, estimator.target_type)


def _codes(target: Target | None) -> IntArray | None:
    if target is None or target.kind == "numbers":
        return None
    codes: IntArray = target.values
    return codes


def _kind(target: Target | None) -> str:
    return "auto" if target is None else target.kind
