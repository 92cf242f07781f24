"""What every prefix of a representation is worth."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from skrep.geometry import prefix_rows, unit_rows
from skrep.metrics._leave_one_out import grade, tell
from skrep.metrics._neighbors import (
    check_neighbors,
    neighbor_blocks,
    prefix_neighbors,
    space_of,
)
from skrep.metrics._ranking import gains, recalls
from skrep.metrics._relevance import check_relevant
from skrep.metrics._retrieval import places
from skrep.metrics._validation import check_count, check_sides, read_rows
from skrep.typing import AnyArray, FloatArray, IntArray, Matrix
from skrep.utils.prefixes import check_prefixes, normalizes
from skrep.utils.targets import Target, check_target

__all__ = ["prefix_scores"]

WHO = "prefix_scores"

COLUMNS = ("prefix", "neighbor_overlap", "knn", "recall_at_k", "ndcg_at_k")


def prefix_scores(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    queries: Any = None,
    query_estimator: Any = None,
    relevant: Any = None,
    prefixes: str | Iterable[int] = "powers",
    scoring: Callable[..., float] | Mapping[str, Callable[..., float]] | None = None,
    n_neighbors: int = 10,
    k: int = 10,
    target_type: str = "auto",
) -> dict[str, AnyArray]:
    """Score every prefix of what a fitted transformer gives.

    X is transformed once. Each prefix is the first columns of that, brought to norm
    one if the estimator, or the last step of a pipeline, was fitted with a true
    `normalize`. The result goes straight into ``pandas.DataFrame``.

    Parameters
    ----------
    estimator : fitted transformer
        One whose columns are ordered, such as a PCA, or a pipeline that ends in one.
    X : {array-like, CSR} of shape (n_samples, n_features)
        Rows to score on, better not those it was fitted on; the documents, where
        there are queries.
    y : array-like of shape (n_samples,), default=None
        Classes or numbers of the rows.
    queries : {array-like, CSR} of shape (n_queries, n_query_features), default=None
        Rows that search X.
    query_estimator : fitted transformer, default=None
        What transforms the queries, such as a counterpart of `estimator`. None:
        `estimator` does.
    relevant : array-like of shape (n_queries,), list of arrays or CSR, default=None
        The row of X that each query looks for, as in :func:`recall_at_k`. None: row
        i of the queries looks for row i of X.
    prefixes : "powers" or iterable of int, default="powers"
        Lengths, in any order. "powers" means the powers of two below the full width,
        from 8, and the full width; up to a width of 8 they start at 1.
    scoring : callable or dict of callables, default=None
        Scores of one's own, each called as ``f(Z, y)`` with the prefix of every row
        and the y given here, that return a number.
    n_neighbors : int, default=10
        Number of nearest rows, for the overlap and for y.
    k : int, default=10
        How many documents are looked at.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        What y holds. "auto": strings, booleans and categories are classes, floats
        are numbers, integers are classes up to 20 distinct values.

    Returns
    -------
    dict of str to ndarray of shape (n_prefixes,)
        In this order:

        - ``"prefix"``: the lengths, rising, each once;
        - ``"neighbor_overlap"``: share of nearest rows in common with X as given;
        - ``"knn"``, with y: how well the nearest rows tell the y of a row that is
          left out itself, as the accuracy of a vote for classes and as the
          coefficient of determination of the mean for numbers;
        - ``"recall_at_k"`` and ``"ndcg_at_k"``, with queries;
        - ``"score"`` for a callable, or the names of a dict.

        Nearest is by cosine in all of them.

    Raises
    ------
    ValueError
        If a length is no integer from 1 to the full width, `n_neighbors` is no
        integer below the number of rows, the lengths of X and y differ, a name in
        `scoring` is taken, or `relevant` or `query_estimator` come without queries.
    TypeError
        If the estimator has no `transform`, gives sparse rows, or `scoring` cannot be
        called.

    See Also
    --------
    prefix_area : One number for a curve.
    skrep.inspection.PrefixCurveDisplay : The picture.

    Notes
    -----
    Classes that are equally near share the vote: a row counts for one over the number
    of classes in front, if its own is among them.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from skrep.datasets import load_mammals
    >>> from skrep.metrics import prefix_area, prefix_scores
    >>> mammals = load_mammals()
    >>> pca = PCA().fit(mammals.data[::2])
    >>> scores = prefix_scores(
    ...     pca, mammals.data[1::2], mammals.target[1::2], target_type="classes"
    ... )
    >>> scores["prefix"]
    array([  8,  16,  32,  64, 128, 256, 384])
    >>> list(scores)
    ['prefix', 'neighbor_overlap', 'knn']
    >>> overlap = scores["neighbor_overlap"]
    >>> bool(overlap[0] < prefix_area(scores["prefix"], overlap) < overlap[-1])
    True
    """
    Z = _encode(estimator, X, "X")
    lengths = check_prefixes(WHO, prefixes, Z.shape[1])
    own = _named(scoring)
    original = read_rows(X, "X", WHO, accept_sparse="csr")
    n_neighbors = check_neighbors(WHO, n_neighbors, len(Z))
    target = None if y is None else check_target(WHO, y, len(Z), target_type)
    k = check_count(WHO, "k", k)

    scores: dict[str, AnyArray] = {"prefix": lengths}
    scores |= neighbor_scores(original, Z, lengths, n_neighbors, target)
    if queries is not None:
        encoder = estimator if query_estimator is None else query_estimator
        asking, searched = check_sides(_encode(encoder, queries, "queries"), Z, WHO)
        scores |= _retrieval_scores(asking, searched, lengths, relevant, k)
    elif relevant is not None or query_estimator is not None:
        given = "query_estimator" if relevant is None else "relevant"
        raise ValueError(
            f"{WHO}: '{given}' is given and 'queries' is None. It says how queries are "
            "to be scored. Pass queries= too, or leave it out."
        )
    normalize = normalizes(estimator)
    for name, score in own.items():
        cuts = (prefix_rows(Z, int(n), normalize=normalize) for n in lengths)
        scores[name] = np.array([float(score(cut, y)) for cut in cuts])
    return scores


def neighbor_scores(
    X: Matrix, Z: FloatArray, lengths: IntArray, n_neighbors: int, target: Target | None
) -> dict[str, FloatArray]:
    """Overlap with X, and what the nearest rows tell of a target, for each length."""
    n_rows = len(Z)
    original = space_of(X, "cosine")
    units = unit_rows(Z.astype(np.float64, copy=False))[0]
    common = np.zeros(len(lengths))
    told = np.zeros((len(lengths), n_rows))
    for block in neighbor_blocks(n_rows):
        table = original.nearest(block, n_neighbors).table(n_rows)
        cuts = prefix_neighbors(units, lengths, block, n_neighbors)
        for i, found in enumerate(cuts):
            common[i] += found.common(table)
            if target is not None:
                told[i, block] = tell(found, target, block)
    scores: dict[str, FloatArray] = {
        "neighbor_overlap": common / (n_neighbors * n_rows)
    }
    if target is not None:
        scores["knn"] = np.array([grade(row, target) for row in told])
    return scores


def _retrieval_scores(
    queries: FloatArray, documents: FloatArray, lengths: IntArray, relevant: Any, k: int
) -> dict[str, FloatArray]:
    pairs = check_relevant(WHO, relevant, len(queries), len(documents))
    recall, gain = [], []
    for n in lengths:
        asking, searched = queries[:, :n], documents[:, :n]
        found = places(asking, searched, pairs.owners, pairs.documents, "cosine")
        recall.append(recalls(*found, pairs, k).mean())
        gain.append(gains(*found, pairs, k).mean())
    return {"recall_at_k": np.array(recall), "ndcg_at_k": np.array(gain)}


def _encode(estimator: Any, rows: Any, name: str) -> FloatArray:
    """What the estimator makes of the rows, dense, in its own float type."""
    if not hasattr(estimator, "transform"):
        raise TypeError(
            f"{WHO}: a {type(estimator).__name__} is to transform '{name}', and has no "
            "transform. Prefixes are those of its output. Pass a fitted transformer, "
            "such as PCA().fit(X_train)."
        )
    Z = estimator.transform(rows)
    if sp.issparse(Z):
        raise TypeError(
            f"{WHO}: {type(estimator).__name__} makes sparse rows of '{name}'. Their "
            "columns have no order, so that no prefix tells more than another. Put "
            "TruncatedSVD() behind it in a pipeline."
        )
    encoded: FloatArray = read_rows(Z, name, WHO, dtype=[np.float64, np.float32])
    return encoded


def _named(scoring: Any) -> dict[str, Callable[..., float]]:
    if scoring is None:
        return {}
    named = dict(scoring) if isinstance(scoring, Mapping) else {"score": scoring}
    for name, score in named.items():
        if not callable(score):
            raise TypeError(
                f"{WHO}: 'scoring' holds {score!r}. It is called as f(Z, y) with the "
                "prefix of every row. Pass a function, or a dict of functions."
            )
        if name in COLUMNS:
            raise ValueError(
                f"{WHO}: 'scoring' names a score {name!r}, as one that is there "
                "anyway. Pass it under another name."
            )
    return named
