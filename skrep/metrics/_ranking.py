"""Retrieval scores at a cutoff: recall and discounted gain."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from skrep.metrics._relevance import Relevant, check_relevant
from skrep.metrics._retrieval import METRICS, places
from skrep.metrics._validation import check_count, check_sides
from skrep.typing import FloatArray
from skrep.utils.validation import check_sample_weight

__all__ = ["gains", "ndcg_at_k", "recall_at_k", "recalls"]


def recall_at_k(
    queries: npt.ArrayLike,
    documents: npt.ArrayLike,
    *,
    k: int = 10,
    relevant: Any = None,
    metric: str = "cosine",
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    r"""Score which share of the relevant documents is among the k nearest.

    Each query's documents are sorted from most to least alike, and the recall of the
    query is

    .. math::

       \frac{|\text{relevant} \cap \text{first } k|}{|\text{relevant}|},

    which is 0 or 1 where one document is relevant. The score is its mean over the
    queries [1]_.

    Parameters
    ----------
    queries : array-like of shape (n_queries, n_features)
        Rows that search.
    documents : array-like of shape (n_documents, n_features)
        Rows that are searched.
    k : int, default=10
        How many documents are looked at, at least 1.
    relevant : array-like of shape (n_queries,), list of arrays or CSR, default=None
        The row of each query's document; or an array of rows for each query; or a
        sparse matrix of shape (n_queries, n_documents), nonzero where a document is
        relevant. None: row i of `queries` looks for row i of `documents`, of which
        there may be more.
    metric : {"cosine", "euclidean"}, default="cosine"
        Order the documents by cosine or by distance.
    sample_weight : array-like of shape (n_queries,), default=None
        Weights of the queries in the mean.

    Returns
    -------
    float
        Mean recall, between 0 and 1.

    Raises
    ------
    ValueError
        If the widths differ, an entry is NaN or infinite, `k` is no integer from 1
        up, `metric` is unknown, `relevant` does not name rows of `documents` for each
        query, or `sample_weight` is negative, all zero or of another length.

    See Also
    --------
    ndcg_at_k : Tells a first place from a last one.
    mean_reciprocal_rank : Without a cutoff.
    prefix_scores : This score at every length of the vectors.

    Notes
    -----
    Equal documents share their places: the score is the mean over all orders of them.
    So a space collapsed to one point scores ``k / n_documents``, as random order does,
    neither ties nor the order of the rows help, and the score equals what is expected
    of an index that breaks ties at random. Documents count as equal when their scores
    differ by no more than the rounding of a dot product in float64.

    With more than `k` relevant documents the recall stays below 1, as in TREC's
    evaluations; it is not divided by `k` instead.

    All pairs are compared, in tiles of a few MiB.

    References
    ----------
    .. [1] Manning, C. D., Raghavan, P. and Schütze, H. (2008). "Introduction to
       information retrieval". Cambridge University Press, chapter 8.

    Examples
    --------
    >>> from skrep.metrics import recall_at_k
    >>> documents = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> queries = [[2.0, 0.1], [0.0, 1.0], [3.0, 1.0]]
    >>> recall_at_k(queries, documents, k=1)
    0.666...
    >>> recall_at_k(queries, documents, k=2)
    1.0

    Two documents are relevant to the first query:

    >>> recall_at_k(queries, documents, k=1, relevant=[[0, 2], [1], [2]])
    0.5
    """
    who = "recall_at_k"
    return _mean_at_k(
        who, recalls, queries, documents, k, relevant, metric, sample_weight
    )


def ndcg_at_k(
    queries: npt.ArrayLike,
    documents: npt.ArrayLike,
    *,
    k: int = 10,
    relevant: Any = None,
    metric: str = "cosine",
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    r"""Score how near the front of the first k the relevant documents are.

    A relevant document at place r of the first k gains :math:`1 / \log_2(1 + r)`. The
    gains of a query are divided by the most that its relevant documents could gain,
    and averaged over the queries [1]_.

    Parameters
    ----------
    queries : array-like of shape (n_queries, n_features)
        Rows that search.
    documents : array-like of shape (n_documents, n_features)
        Rows that are searched.
    k : int, default=10
        How many documents are looked at, at least 1.
    relevant : array-like of shape (n_queries,), list of arrays or CSR, default=None
        As in :func:`recall_at_k`; relevance is yes or no. None: row i of `queries`
        looks for row i of `documents`.
    metric : {"cosine", "euclidean"}, default="cosine"
        Order the documents by cosine or by distance.
    sample_weight : array-like of shape (n_queries,), default=None
        Weights of the queries in the mean.

    Returns
    -------
    float
        Mean normalized discounted cumulative gain, between 0 and 1.

    Raises
    ------
    ValueError
        As in :func:`recall_at_k`.

    See Also
    --------
    recall_at_k : Whether they are among the first k at all.
    sklearn.metrics.ndcg_score : The same from a dense table of scores.

    Notes
    -----
    Equal documents share their places, as in :func:`recall_at_k` and in
    scikit-learn's score: the gain is the mean over all orders of them.

    References
    ----------
    .. [1] Järvelin, K. and Kekäläinen, J. (2002). "Cumulated gain-based evaluation of
       IR techniques". ACM Transactions on Information Systems 20 (4), 422-446.

    Examples
    --------
    The last query finds its document second, which gains ``1 / log2(3)``:

    >>> from skrep.metrics import ndcg_at_k
    >>> documents = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> queries = [[2.0, 0.1], [0.0, 1.0], [3.0, 1.0]]
    >>> ndcg_at_k(queries, documents)
    0.876...
    """
    who = "ndcg_at_k"
    return _mean_at_k(
        who, gains, queries, documents, k, relevant, metric, sample_weight
    )


def _mean_at_k(
    who: str,
    score: Any,
    queries: npt.ArrayLike,
    documents: npt.ArrayLike,
    k: int,
    relevant: Any,
    metric: str,
    sample_weight: npt.ArrayLike | None,
) -> float:
    validate_parameter_constraints(
        {"metric": [StrOptions(set(METRICS))]}, {"metric": metric}, caller_name=who
    )
    k = check_count(who, "k", k)
    asking, searched = check_sides(queries, documents, who)
    pairs = check_relevant(who, relevant, len(asking), len(searched))
    weights = check_sample_weight(who, sample_weight, len(asking))
    better, tied = places(asking, searched, pairs.owners, pairs.documents, metric)
    return float(np.average(score(better, tied, pairs, k), weights=weights))


def recalls(
    better: FloatArray, tied: FloatArray, relevant: Relevant, k: int
) -> FloatArray:
    """Recall (n_queries,) from the places of the relevant documents."""
    found = np.clip((k - better) / tied, 0, 1)
    return _sums(found, relevant) / relevant.counts


def gains(
    better: FloatArray, tied: FloatArray, relevant: Relevant, k: int
) -> FloatArray:
    """Normalized gain (n_queries,) from the places of the relevant documents."""
    last = (better + tied).astype(np.int64)
    first = better.astype(np.int64)
    depth = min(k, int(max(last.max(), relevant.counts.max())))
    # Entry r is the gain of the first r places together.
    total = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(depth) + 2))])
    shared = total[np.minimum(last, depth)] - total[np.minimum(first, depth)]
    most = total[np.minimum(relevant.counts, depth)]
    return _sums(shared / tied, relevant) / most


def _sums(values: FloatArray, relevant: Relevant) -> FloatArray:
    n_queries = len(relevant.counts)
    sums = np.bincount(relevant.owners, values, minlength=n_queries)
    return np.asarray(sums, dtype=np.float64)
