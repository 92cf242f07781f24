"""The table of a search over lengths, and the choice from it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata

from skrep.model_selection._evaluation import SplitScores
from skrep.typing import FloatArray, IntArray
from skrep.utils.prefixes import check_prefixes

__all__ = ["choose", "lengths_within", "make_table"]


def lengths_within(who: str, prefixes: Any, widths: Sequence[int]) -> list[IntArray]:
    """Return the lengths of each candidate.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    prefixes : "powers", int or iterable of int
        Lengths.
    widths : sequence of int
        The number of columns that each candidate gives.

    Returns
    -------
    list of ndarray of int
        Rising; those that the candidate can serve.

    Raises
    ------
    ValueError
        If the widest candidate cannot serve a length.
    """
    if isinstance(prefixes, str):
        return [check_prefixes(who, prefixes, width) for width in widths]
    lengths = check_prefixes(who, prefixes, max(widths))
    return [lengths[lengths <= width] for width in widths]


def make_table(
    candidates: Sequence[tuple[str, Any]],
    lengths: Sequence[IntArray],
    splits: Sequence[Sequence[SplitScores]],
    *,
    named: bool,
) -> tuple[dict[str, Any], list[int]]:
    """Collect scores and times, one row per candidate and length.

    Parameters
    ----------
    candidates : sequence of (str, transformer)
        The candidates.
    lengths : sequence of ndarray of int
        The lengths of each candidate.
    splits : sequence of sequence of SplitScores
        For each candidate, the scores on each split.
    named : bool
        Whether the table says which candidate a row belongs to.

    Returns
    -------
    dict of str to ndarray or list
        The table, in the form of ``GridSearchCV.cv_results_``.
    list of int
        The position of each row's candidate.
    """
    rows = [(c, int(k)) for c, group in enumerate(lengths) for k in group]
    table: dict[str, Any] = {}
    fit = np.array(
        [[split.fit_time for split in splits[c]] for c, _ in rows], dtype=np.float64
    )
    _add_moments(table, "fit_time", fit)
    _add_moments(table, "head_fit_time", _per_length(splits, "head_fit_times"))
    _add_moments(table, "score_time", _per_length(splits, "score_times"))
    table["param_prefix"] = np.array([k for _, k in rows])
    table["params"] = [{"prefix": k} for _, k in rows]
    if named:
        own = [candidates[c][0] for c, _ in rows]
        table["param_candidate"] = np.array(own, dtype=object)
        table["params"] = [
            {"candidate": name, "prefix": k}
            for name, (_, k) in zip(own, rows, strict=True)
        ]
    scores = _per_length(splits, "scores")
    for i, column in enumerate(scores.T):
        table[f"split{i}_test_score"] = column
    _add_moments(table, "test_score", scores)
    ranks = rankdata(-table["mean_test_score"], method="min")
    table["rank_test_score"] = ranks.astype(np.int32)
    return table, [c for c, _ in rows]


def choose(means: npt.ArrayLike, lengths: npt.ArrayLike, tolerance: float) -> int:
    """Choose the shortest length that is good enough.

    Parameters
    ----------
    means : array-like of shape (n_rows,)
        Mean scores, higher is better.
    lengths : array-like of shape (n_rows,)
        The length of each row.
    tolerance : float
        Good enough is ``best - tolerance * abs(best)`` and more.

    Returns
    -------
    int
        The row: of those good enough the shortest, of these the best, of these the
        first.
    """
    means, lengths = np.asarray(means), np.asarray(lengths)
    best = means.max()
    enough = np.flatnonzero(means >= best - tolerance * abs(best))
    return int(min(enough, key=lambda row: (lengths[row], -means[row], row)))


def _per_length(splits: Sequence[Sequence[SplitScores]], field: str) -> FloatArray:
    """Stack one field to an array of shape (n_rows, n_splits)."""
    return np.vstack(
        [np.array([getattr(split, field) for split in group]).T for group in splits]
    )


def _add_moments(table: dict[str, Any], name: str, values: FloatArray) -> None:
    table[f"mean_{name}"] = values.mean(axis=1)
    table[f"std_{name}"] = values.std(axis=1)
