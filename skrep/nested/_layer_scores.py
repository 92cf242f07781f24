"""What every layer is worth at every length: cross-validated scores of neighbors."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import row_blocks

__all__ = ["Judge", "content_folds", "equal_rows", "grid_scores", "shortest_good"]


class Judge(NamedTuple):
    """What neighbors are asked for.

    Parameters
    ----------
    weights : ndarray of shape (n_rows,)
        Positive weights of the rows, as numbers of rows.
    folds : ndarray of shape (n_rows,)
        The fold that each row is tested in, from 0 on.
    n_neighbors : int
        How many neighbors are asked, in units of weight.
    kind : {"classes", "numbers", "neighbors"}
        Whether they tell a class, a number, or who else is near.
    values : ndarray of shape (n_rows,) or (n_rows, n_features)
        Codes of the classes, numbers, or rows whose neighbors are the right ones.
    """

    weights: FloatArray
    folds: IntArray
    n_neighbors: int
    kind: str
    values: AnyArray


def equal_rows(X: FloatArray) -> tuple[IntArray, IntArray]:
    """Find the rows that are equal.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.

    Returns
    -------
    first : ndarray of shape (n_distinct,)
        Position of the first row of each kind.
    group : ndarray of shape (n_rows,)
        The kind of every row.
    """
    # Adding zero turns -0.0 into 0.0, which is the same number.
    _, first, group = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)
    return first, group.ravel()


def content_folds(
    X: FloatArray, weights: FloatArray, codes: IntArray | None, n_splits: int
) -> IntArray:
    """Deal rows into folds by what they hold.

    Equal rows share a fold. The others are dealt in order of their distance from the
    mean, class by class: neither the order of the rows, nor a rotation, nor the names
    of the classes matter.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    codes : ndarray of shape (n_rows,) or None
        Their classes, from 0 on.
    n_splits : int
        The largest number of folds; one row in each at least.

    Returns
    -------
    ndarray of shape (n_rows,)
        Number of each row's fold.
    """
    _, first, group = np.unique(X + 0.0, axis=0, return_index=True, return_inverse=True)
    distinct, group = X[first].astype(np.float64), group.ravel()
    mass = np.bincount(group, weights)
    gaps = distinct - (mass / mass.sum()) @ distinct
    norms = np.sqrt(np.einsum("ij,ij->i", gaps, gaps))
    norms = np.round(norms / (norms.max() or 1.0), 9)
    if codes is None:
        order = np.argsort(norms, kind="stable")
    else:
        own = np.full(len(first), codes.max())
        np.minimum.at(own, group, codes)
        nearest = np.full(codes.max() + 1, np.inf)
        np.minimum.at(nearest, own, norms)
        order = np.lexsort((norms, nearest[own]))
    folds = np.empty(len(first), dtype=np.intp)
    folds[order] = np.arange(len(first)) % n_splits
    return folds[group]


def grid_scores(
    candidates: Sequence[FloatArray],
    lengths: IntArray,
    judge: Judge,
    project: Callable[[FloatArray, AnyArray], FloatArray],
) -> FloatArray:
    """Score every candidate at every length.

    Parameters
    ----------
    candidates : sequence of ndarray of shape (n_rows, width)
        Rows as each candidate has them.
    lengths : ndarray of shape (n_lengths,)
        Rising lengths.
    judge : Judge
        How they are judged.
    project : callable
        Takes rows and a mask of those that may be fitted; gives all rows in ordered
        columns.

    Returns
    -------
    ndarray of shape (n_candidates, n_lengths)
        Share of right classes, share of the variance that is explained, or share of
        common neighbors; NaN for more columns than a candidate has.
    """
    found = np.full((len(candidates), len(lengths)), np.nan)
    for row, X in enumerate(candidates):
        possible = lengths[lengths <= X.shape[1]]
        credit = np.zeros(len(possible))
        for fold in np.unique(judge.folds):
            known = judge.folds != fold
            Z = project(X, known)[:, : lengths[-1]].astype(np.float64)
            credit += _fold_credit(Z, known, possible, judge)
        found[row, : len(possible)] = credit
    return _as_score(found, judge)


def shortest_good(scores: FloatArray, tolerance: float) -> tuple[int, int]:
    """Choose the shortest length that is good enough, and the candidate best there.

    Parameters
    ----------
    scores : ndarray of shape (n_candidates, n_lengths)
        Scores; NaN where there is none.
    tolerance : float
        Share of the best score that may be lost.

    Returns
    -------
    candidate, length : int
        Positions; the first of equally good candidates.
    """
    best = np.nanmax(scores)
    enough = best - tolerance * abs(best) - 1e-12
    length = int(np.flatnonzero((scores >= enough).any(axis=0))[0])
    return int(np.nanargmax(scores[:, length])), length


def _fold_credit(
    Z: FloatArray, known: AnyArray, lengths: IntArray, judge: Judge
) -> FloatArray:
    """Sum, over the rows of a fold, what each length earns them.

    The product of two rows less half the square of the second sorts by distance.
    """
    train, test = np.flatnonzero(known), np.flatnonzero(~known)
    credit = np.zeros(len(lengths))
    starts = np.concatenate([[0], lengths[:-1]])
    for rows in row_blocks(len(test), 48 * len(train), budget=2**26):
        asked = test[rows]
        products = np.zeros((len(asked), len(train)))
        squares = np.zeros(len(train))
        for at, (start, stop) in enumerate(zip(starts, lengths, strict=True)):
            part = Z[:, start:stop]
            products += part[asked] @ part[train].T
            squares += np.einsum("ij,ij->i", part[train], part[train])
            near, shares = _nearest(products - squares / 2, judge.weights[train], judge)
            credit[at] += _earned(asked, train, near, shares, judge)
    return credit


def _nearest(
    scores: FloatArray, weights: FloatArray, judge: Judge
) -> tuple[IntArray, FloatArray]:
    """Rows of largest score, and which part of the wanted weight each fills."""
    reached = np.sort(weights).cumsum()
    k = min(len(reached), int(np.searchsorted(reached, judge.n_neighbors)) + 1)
    near = np.argpartition(scores, -k, axis=1)[:, -k:]
    order = np.argsort(-np.take_along_axis(scores, near, axis=1), axis=1)
    near = np.take_along_axis(near, order, axis=1)
    capacity = weights[near]
    before = np.cumsum(capacity, axis=1) - capacity
    return near, np.clip(judge.n_neighbors - before, 0, capacity)


def _earned(
    asked: IntArray, train: IntArray, near: IntArray, shares: FloatArray, judge: Judge
) -> float:
    each = np.arange(len(asked))[:, None]
    weights, values = judge.weights[asked], judge.values
    if judge.kind == "numbers":
        told = (shares * values[train][near]).sum(axis=1) / shares.sum(axis=1)
        return -float(weights @ (values[asked] - told) ** 2)
    if judge.kind == "classes":
        votes = np.zeros((len(asked), int(values.max()) + 1))
        np.add.at(votes, (each, values[train][near]), shares)
        # Of several majorities each is right in its share.
        winners = votes >= votes.max(axis=1, keepdims=True) - 1e-9
        right = winners[each[:, 0], values[asked]] / winners.sum(axis=1)
        return float(weights @ right)
    known = values[train]
    whole = values[asked] @ known.T - np.einsum("ij,ij->i", known, known) / 2
    true, parts = _nearest(whole, judge.weights[train], judge)
    table = np.zeros((len(asked), len(train)))
    table[each, true] = parts
    common = np.minimum(table[each, near], shares).sum(axis=1)
    return float(weights @ (common / parts.sum(axis=1)))


def _as_score(credit: FloatArray, judge: Judge) -> FloatArray:
    total = judge.weights.sum()
    if judge.kind != "numbers":
        return credit / total
    gaps = judge.values - judge.weights @ judge.values / total
    spread = float(judge.weights @ gaps**2)
    # Of a constant number nothing is left to explain.
    return 1 + credit / spread if spread > 0 else 1 + 0 * credit
