"""What a search is given: the transformers, the head and how they are scored."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.validation import _num_samples

from skrep.metrics import neighbor_overlap, prefix_scores
from skrep.model_selection._cut import as_rows
from skrep.typing import FloatArray, IntArray

__all__ = [
    "check_candidates",
    "check_head",
    "overlap_score",
    "overlaps",
    "resolve_scorer",
]

WHO = "PrefixSearchCV"

NEIGHBORS = 10
"""How many neighbors are compared when nothing else is asked for."""


def check_candidates(estimator: Any, reserved: set[str]) -> list[tuple[str, Any]]:
    """Return the candidates as a list of names and transformers.

    Parameters
    ----------
    estimator : transformer or list of (str, transformer)
        What the search was given.
    reserved : set of str
        Names that no candidate may have.

    Returns
    -------
    list of (str, transformer)
        One pair without a list, named "estimator".

    Raises
    ------
    ValueError
        If the list is empty or a name is taken, no string, or holds "__".
    TypeError
        If a candidate is no transformer.
    """
    if not isinstance(estimator, list):
        return [("estimator", estimator)]
    example = 'estimator=[("cut", Truncate()), ("axes", NestedProjection())]'
    pairs = all(isinstance(c, tuple | list) and len(c) == 2 for c in estimator)
    if not estimator or not pairs:
        raise ValueError(
            f"{WHO}: 'estimator' is a list of {len(estimator)} that are not all pairs "
            f"of a name and a transformer, or none at all. Pass {example}."
        )
    seen: set[str] = set()
    for name, transformer in estimator:
        if not isinstance(name, str) or "__" in name or name in reserved | seen:
            raise ValueError(
                f"{WHO}: 'estimator' holds a candidate named {name!r}. Names must be "
                "strings, each used once, without '__' and unlike the parameters of "
                f"the search. Pass {example}."
            )
        able = hasattr(transformer, "fit") and hasattr(transformer, "transform")
        if isinstance(transformer, type) or not able:
            raise TypeError(
                f"{WHO}: 'estimator' holds the candidate '{name}', {transformer!r}. It "
                f"must be an instance with fit and transform. Pass {example}."
            )
        seen.add(name)
    return [(name, transformer) for name, transformer in estimator]


def check_head(head: Any, y: Any) -> None:
    """Refuse to fit a head without the target that it needs.

    Parameters
    ----------
    head : classifier, regressor or None
        The head.
    y : array-like or None
        The target.

    Raises
    ------
    ValueError
        If the head needs y and there is none.
    """
    if head is not None and y is None and get_tags(head).target_tags.required:
        raise ValueError(
            f"{WHO}: the 'head' {type(head).__name__} requires y to be passed, but the "
            "target y is None. Pass fit(X, y), or head=None to score the "
            "representation itself."
        )


def resolve_scorer(head: Any, scoring: Any) -> Callable[..., Any]:
    """Return the callable that scores a fitted head, or a representation.

    Parameters
    ----------
    head : classifier, regressor or None
        The head.
    scoring : str, callable or None
        What the search was given.

    Returns
    -------
    callable
        Called with the fitted head and cut rows, or the cut transformer and rows,
        and the target.

    Raises
    ------
    ValueError
        If a named score is asked for without a head.
    """
    if head is None:
        if isinstance(scoring, str):
            raise ValueError(
                f"{WHO}: 'scoring' is {scoring!r} and 'head' is None. A named score "
                "needs predictions. Pass a head, such as head=LogisticRegression(), or "
                "a callable scoring(transformer, X, y)."
            )
        return overlap_score if scoring is None else scoring
    from sklearn.metrics import check_scoring

    scorer: Callable[..., Any] = check_scoring(head, scoring)
    return scorer


def overlap_score(transformer: Any, X: Any, y: Any = None) -> float:
    """Score how many neighbors of a row are still its neighbors when transformed.

    Parameters
    ----------
    transformer : fitted transformer
        The representation.
    X : array-like of shape (n_samples, n_features)
        Rows.
    y : object
        Not used.

    Returns
    -------
    float
        The mean overlap of the lists of 10 nearest rows by cosine; of fewer where
        there are fewer than 12 rows, always leaving one row out of a list. Two rows
        are each other's neighbors and score 1.

    Raises
    ------
    ValueError
        If there is one row.
    """
    Z = as_rows(transformer.transform(X))
    return neighbor_overlap(X, Z, n_neighbors=_n_neighbors(Z.shape[0]))


def overlaps(fitted: Any, X: Any, lengths: IntArray) -> FloatArray:
    """Compute the scores of :func:`overlap_score` for many lengths at once.

    Parameters
    ----------
    fitted : fitted transformer
        The representation at full length.
    X : array-like of shape (n_samples, n_features)
        Rows.
    lengths : ndarray of int
        The lengths, rising.

    Returns
    -------
    ndarray of shape (n_lengths,)
        The scores.
    """
    n_neighbors = _n_neighbors(_num_samples(X))
    table = prefix_scores(fitted, X, prefixes=lengths, n_neighbors=n_neighbors)
    own = np.searchsorted(table["prefix"], lengths)
    scores: FloatArray = table["neighbor_overlap"][own]
    return scores


def _n_neighbors(n_rows: int) -> int:
    if n_rows < 2:
        raise ValueError(
            f"{WHO}: a row that is tested alone has no neighbors to compare. Use fewer "
            "splits, such as cv=5, or a scoring of your own."
        )
    return max(1, min(NEIGHBORS, n_rows - 2))
