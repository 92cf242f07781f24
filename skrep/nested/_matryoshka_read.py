"""What a Matryoshka projection is fitted on, and for."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from skrep.nested._gather import partners
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils.prefixes import check_prefixes
from skrep.utils.targets import check_target
from skrep.utils.validation import (
    check_n_components,
    check_overflow,
    check_sample_weight,
    is_whole,
    validate_rows,
)

__all__ = [
    "OBJECTIVES",
    "Sample",
    "read_hidden",
    "read_lengths",
    "read_sample",
]

OBJECTIVES = ("classes", "regression", "pairs", "teacher")


class Sample(NamedTuple):
    """Rows of positive weight and what stands beside them.

    Parameters
    ----------
    objective : str
        One of `OBJECTIVES`.
    rows : ndarray of shape (n_rows, n_features)
        The rows.
    weights : ndarray of shape (n_rows,)
        Their weights, of a mean of one or more.
    codes : ndarray of shape (n_rows,)
        Classes, numbered as they come; zero where there are none.
    numbers : ndarray of shape (n_rows,) or None
        The numbers of "regression".
    pairs : ndarray of shape (n_rows, n_features) or None
        The partners of "pairs".
    """

    objective: str
    rows: FloatArray
    weights: FloatArray
    codes: IntArray
    numbers: FloatArray | None
    pairs: FloatArray | None

    def at(self, positions: IntArray) -> "Sample":
        """Give some of the rows."""
        parts = (None if part is None else part[positions] for part in self[1:])
        return Sample(self.objective, *parts)  # type: ignore[arg-type]


def read_sample(
    estimator: Any, X: Any, y: Any, pairs: Any, sample_weight: Any
) -> Sample:
    """Validate what was passed to fit.

    Parameters
    ----------
    estimator : MatryoshkaProjection
        The estimator.
    X, y, pairs, sample_weight : array-like or None
        As passed to fit.

    Returns
    -------
    Sample
        What the objective asks for.

    Raises
    ------
    ValueError
        If something does not suit, or what the objective needs is missing.
    """
    who = type(estimator).__name__
    X = validate_rows(estimator, X, reset=True)
    _check_size(who, X)
    weights = check_sample_weight(who, sample_weight, len(X))
    kept = weights > 0
    numbers, others = None, None
    codes: IntArray = np.zeros(int(kept.sum()), dtype=np.intp)
    objective = estimator.objective
    if objective == "auto" and pairs is not None:
        objective = "pairs"
    elif objective == "auto" and y is None:
        objective = "teacher"
    if objective == "pairs":
        asked = pairs, None, X.shape[1], kept
        others = partners(estimator, ("pairs",), *asked).pairs
        assert others is not None
        others = others.astype(X.dtype, copy=False)
        _check_size(who, others)
    elif objective != "teacher":
        codes, numbers = _read_target(who, objective, y, kept)
        objective = "classes" if numbers is None else "regression"
    weights = weights[kept]
    weights *= max(1.0, len(weights) / weights.sum())
    return Sample(objective, X[kept], weights, codes, numbers, others)


def read_hidden(estimator: Any) -> tuple[int, ...]:
    """List the widths of the hidden layers; there are none in a linear encoder.

    Parameters
    ----------
    estimator : MatryoshkaProjection
        The estimator.

    Returns
    -------
    tuple of int
        The widths.
    """
    return () if estimator.hidden is None else tuple(estimator.hidden)


def read_lengths(
    estimator: Any, n_features: int
) -> tuple[int, tuple[int, ...], tuple[float, ...]]:
    """Check the length of the output, and the prefixes and their weights.

    Parameters
    ----------
    estimator : MatryoshkaProjection
        The estimator.
    n_features : int
        Number of columns of X.

    Returns
    -------
    n_components : int
        The length.
    prefixes : tuple of int
        Rising.
    weights : tuple of float
        One for each.

    Raises
    ------
    ValueError
        If one does not suit.
    """
    from skrep.nn.losses._matryoshka import check_lengths

    who, k, prefixes = type(estimator).__name__, *_asked(estimator)
    free = read_hidden(estimator) and not estimator.residual
    if free and is_whole(k):
        # A perceptron of its own may be wider than the rows.
        k = check_n_components(who, k, max(int(k), 1))
    else:
        k = check_n_components(who, k, n_features)
    rising = check_prefixes(who, prefixes, k)
    given = rising if isinstance(prefixes, str) else prefixes
    lengths, weights = check_lengths(
        who, given, estimator.prefix_weights, "prefix_weights"
    )
    order = np.argsort(lengths)
    return k, tuple(lengths[i] for i in order), tuple(weights[i] for i in order)


def _check_size(who: str, rows: FloatArray) -> None:
    """Refuse rows whose squares overflow."""
    with np.errstate(over="ignore"):
        check_overflow(who, np.square(np.abs(rows).max(), dtype=np.float64) * rows.size)


def _asked(estimator: Any) -> tuple[Any, Any]:
    """The parameters `n_components`, which may be told by `prefixes`, and those."""
    k, prefixes = estimator.n_components, estimator.prefixes
    if not isinstance(prefixes, str) and isinstance(prefixes, Iterable):
        prefixes = list(prefixes)
        if k is None and prefixes and all(map(is_whole, prefixes)):
            k = max(prefixes)
    return k, prefixes


def _read_target(
    who: str, objective: str, y: Any, kept: AnyArray
) -> tuple[IntArray, FloatArray | None]:
    """Codes of classes, or numbers; an absent row has no say in what y is."""
    if y is not None and not kept.all() and _num_samples(y) == len(kept):
        y, kept = _safe_indexing(y, np.flatnonzero(kept)), kept[kept]
    kinds = {"classes": "classes", "regression": "numbers"}
    target = check_target(
        who,
        y,
        len(kept),
        kinds.get(objective, "auto"),
        parameter="objective",
        numbers="regression",
    )
    if target.classes is None:
        return np.zeros(len(target.values), dtype=np.intp), target.values
    if len(target.classes) < 2:
        raise ValueError(
            f"{who}: 'y' holds 1 class, {target.classes.tolist()[0]!r}, and there is "
            "nothing to tell it from. Pass rows of two classes or more, or y=None."
        )
    _, first, codes = np.unique(target.values, return_index=True, return_inverse=True)
    # Numbered as they come, classes train alike whatever they are called.
    return np.argsort(np.argsort(first))[codes], None
