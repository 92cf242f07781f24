"""One fit on the training rows of a split, scored at every length."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from numbers import Real
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.parallel import Parallel, delayed

from skrep.model_selection._candidates import overlap_score, overlaps
from skrep.model_selection._cut import as_rows, cut_rows, cut_transformer
from skrep.model_selection._routing import Metadata, take
from skrep.typing import IntArray, Matrix
from skrep.utils.prefixes import normalizes

__all__ = [
    "SplitScores",
    "fit_part",
    "list_splits",
    "score_all",
    "score_split",
    "width_of",
]

WHO = "PrefixSearchCV"

Scored: TypeAlias = tuple[Any, float, float]
"""A score, the seconds of fitting a head, and those of scoring."""


class SplitScores(NamedTuple):
    """Scores of one candidate on one split, one per length."""

    scores: list[float]
    fit_time: float
    head_fit_times: list[float]
    score_times: list[float]


@contextmanager
def named_errors() -> Iterator[None]:
    """Let the errors of a part begin with the name of the search.

    Yields
    ------
    None
        Nothing.

    Raises
    ------
    ValueError, TypeError
        Those of the part.
    """
    try:
        yield
    except (TypeError, ValueError) as error:
        # Subclasses may be made in ways of their own, and say who they are.
        if type(error) not in (TypeError, ValueError) or WHO in str(error):
            raise
        raise type(error)(f"{WHO}: {error}") from error


def fit_part(part: Any, X: Any, y: Any, metadata: dict[str, Any]) -> Any:
    """Fit a clone of a transformer or a head.

    Parameters
    ----------
    part : estimator
        The transformer or head.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,) or None
        Target; left out where it is None.
    metadata : dict
        Keyword arguments of fit.

    Returns
    -------
    estimator
        The fitted clone.
    """
    target = () if y is None else (y,)
    return clone(part).fit(X, *target, **metadata)


def fit_all(
    candidates: Sequence[tuple[str, Any]], X: Any, y: Any, metadata: Metadata
) -> list[Any]:
    """Fit every candidate on all rows.

    Parameters
    ----------
    candidates : sequence of (str, transformer)
        The candidates.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,) or None
        Target.
    metadata : Metadata
        For all parts.

    Returns
    -------
    list of transformer
        The fitted clones.
    """
    with named_errors():
        return [
            fit_part(transformer, X, y, mine)
            for (_, transformer), mine in zip(
                candidates, metadata.transformers, strict=True
            )
        ]


def list_splits(
    cv: Any, X: Any, y: Any, metadata: dict[str, Any], classifier: bool
) -> list[tuple[IntArray, IntArray]]:
    """List the splits, so that all candidates share them.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable
        The splitter.
    X, y : array-like
        Rows and target.
    metadata : dict
        For the splitter.
    classifier : bool
        Whether an integer means stratified splits.

    Returns
    -------
    list of pairs of ndarray of int
        Positions of training and test rows.

    Raises
    ------
    ValueError
        If the rows cannot be split so.
    """
    from sklearn.model_selection import check_cv

    with named_errors():
        splits = list(check_cv(cv, y, classifier=classifier).split(X, y, **metadata))
    if not splits:
        raise ValueError(
            f"{WHO}: 'cv' holds no split. Pass a number of splits, such as cv=5."
        )
    return splits


def width_of(fitted: Any, X: Any) -> int:
    """Count the columns that a fitted transformer gives, by transforming one row.

    Parameters
    ----------
    fitted : transformer
        The transformer.
    X : array-like of shape (n_samples, n_features)
        Rows.

    Returns
    -------
    int
        The number of columns.
    """
    return int(_first_row(fitted, X).shape[1])


def score_all(
    candidates: Sequence[tuple[str, Any]],
    parts: tuple[Any, Callable[..., Any]],
    data: tuple[Any, Any],
    splits: Sequence[tuple[IntArray, IntArray]],
    lengths: Sequence[IntArray],
    metadata: Metadata,
    n_jobs: int | None,
) -> list[list[SplitScores]]:
    """Score every candidate on every split.

    Parameters
    ----------
    candidates : sequence of (str, transformer)
        The candidates.
    parts : head and scorer
        The classifier or regressor, or None, and the callable that scores.
    data : array-like of shape (n_samples, n_features), and target
        All rows, and their target or None.
    splits : sequence of pairs of ndarray of int
        Positions of training and test rows.
    lengths : sequence of ndarray of int
        The lengths of each candidate.
    metadata : Metadata
        For all parts.
    n_jobs : int or None
        Number of splits worked on at once.

    Returns
    -------
    list of list of SplitScores
        For each candidate, the scores on each split.
    """
    tasks = [
        delayed(score_split)(
            transformer,
            *parts,
            *data,
            split,
            own,
            (mine, metadata.head, metadata.score),
        )
        for (_, transformer), own, mine in zip(
            candidates, lengths, metadata.transformers, strict=True
        )
        for split in splits
    ]
    with named_errors():
        scored = Parallel(n_jobs=n_jobs)(tasks)
    n_splits = len(splits)
    return [scored[i : i + n_splits] for i in range(0, len(scored), n_splits)]


def score_split(
    transformer: Any,
    head: Any,
    scorer: Callable[..., Any],
    X: Any,
    y: Any,
    split: tuple[IntArray, IntArray],
    lengths: IntArray,
    metadata: tuple[dict[str, Any], dict[str, Any], dict[str, Any]],
) -> SplitScores:
    """Fit once on the training rows and score every length on the test rows.

    Parameters
    ----------
    transformer : transformer
        The candidate.
    head : classifier, regressor or None
        What is fitted on each prefix.
    scorer : callable
        Scores the fitted head on cut rows, or the cut transformer on rows.
    X : array-like of shape (n_samples, n_features)
        All rows.
    y : array-like of shape (n_samples,) or None
        Their target.
    split : pair of ndarray of int
        Positions of the training rows and of the test rows.
    lengths : ndarray of int
        The lengths. Where the training rows give fewer columns than a length, all of
        them are scored.
    metadata : three dict
        For the fit of the transformer, the fit of the head, and the scorer.

    Returns
    -------
    SplitScores
        The scores and the seconds spent.

    Raises
    ------
    ValueError
        If a score is no finite number.
    """
    (train, test), (to_transformer, to_head, to_scorer) = split, metadata
    X_train, X_test = _safe_indexing(X, train), _safe_indexing(X, test)
    y_train, y_test = (None if y is None else _safe_indexing(y, i) for i in split)
    to_head, to_scorer = take(X, to_head, train), take(X, to_scorer, test)
    start = perf_counter()
    fitted = fit_part(transformer, X_train, y_train, take(X, to_transformer, train))
    result = SplitScores([], perf_counter() - start, [], [])
    if head is None:
        scored = _score_cuts(fitted, scorer, X_test, y_test, lengths, to_scorer)
    else:
        both = as_rows(fitted.transform(X_train)), as_rows(fitted.transform(X_test))
        unit = normalizes(fitted)
        scored = (
            _score_head(
                head,
                scorer,
                [cut_rows(Z, k, normalize=unit) for Z in both],
                (y_train, y_test),
                (to_head, to_scorer),
            )
            for k in lengths.tolist()
        )
    for k, (score, head_fit_time, score_time) in zip(lengths, scored, strict=True):
        result.scores.append(_finite(score, k))
        result.head_fit_times.append(head_fit_time)
        result.score_times.append(score_time)
    return result


def _score_head(
    head: Any,
    scorer: Callable[..., Any],
    rows: list[Matrix],
    targets: tuple[Any, Any],
    metadata: tuple[dict[str, Any], dict[str, Any]],
) -> Scored:
    start = perf_counter()
    model = fit_part(head, rows[0], targets[0], metadata[0])
    middle = perf_counter()
    score = scorer(model, rows[1], targets[1], **metadata[1])
    return score, middle - start, perf_counter() - middle


def _score_cuts(
    fitted: Any,
    scorer: Callable[..., Any],
    X: Any,
    y: Any,
    lengths: IntArray,
    metadata: dict[str, Any],
) -> Iterator[Scored]:
    row = _first_row(fitted, X)
    lengths = np.minimum(lengths, row.shape[1])
    if scorer is overlap_score and not sp.issparse(row):
        start = perf_counter()
        scores = overlaps(fitted, X, lengths)
        each = (perf_counter() - start) / len(lengths)
        yield from ((score, 0.0, each) for score in scores)
        return
    for k in lengths.tolist():
        start = perf_counter()
        score = scorer(cut_transformer(fitted, k), X, y, **metadata)
        yield score, 0.0, perf_counter() - start


def _first_row(fitted: Any, X: Any) -> Matrix:
    return as_rows(fitted.transform(_safe_indexing(X, [0])))


def _finite(score: Any, k: int) -> float:
    value = float(score) if isinstance(score, Real) else np.nan
    if not np.isfinite(value):
        raise ValueError(
            f"{WHO}: 'scoring' gave {score!r} for a prefix of {k} columns. It must be "
            "one finite number on every split. Use another scoring, or splits on which "
            "it is defined, such as fewer of them."
        )
    return value
