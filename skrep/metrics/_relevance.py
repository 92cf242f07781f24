"""Which documents are relevant to which query."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from skrep.typing import AnyArray, IntArray

__all__ = ["Relevant", "check_relevant"]


class Relevant(NamedTuple):
    """Pairs of a query and a document relevant to it.

    Parameters
    ----------
    owners : ndarray of shape (n_pairs,)
        Row of the query.
    documents : ndarray of shape (n_pairs,)
        Row of the document.
    counts : ndarray of shape (n_queries,)
        How many documents are relevant to each query, at least one.
    """

    owners: IntArray
    documents: IntArray
    counts: IntArray


def check_relevant(
    who: str, relevant: Any, n_queries: int, n_documents: int
) -> Relevant:
    """Read the forms in which relevance is told; None pairs the rows."""
    if relevant is None:
        if n_queries > n_documents:
            raise ValueError(
                f"{who}: 'queries' has {n_queries} rows and 'documents' has "
                f"{n_documents}. Row i of the queries looks for row i of the "
                "documents, so there cannot be more queries. Pass relevant= with the "
                "row of each query's document."
            )
        rows = np.arange(n_queries)
        return Relevant(rows, rows, np.ones(n_queries, dtype=np.int64))
    if sp.issparse(relevant):
        return _from_matrix(who, relevant, n_queries, n_documents)
    lists = [_indices(who, entry) for entry in _per_query(who, relevant, n_queries)]
    counts = np.array([len(entry) for entry in lists], dtype=np.int64)
    _check_counts(who, counts)
    documents = np.concatenate(lists)
    if documents.min() < 0 or documents.max() >= n_documents:
        bad = documents[(documents < 0) | (documents >= n_documents)][0]
        raise ValueError(
            f"{who}: 'relevant' holds {bad}. It must hold rows of 'documents', from 0 "
            f"to {n_documents - 1}. Pass their positions, not their names or ids."
        )
    owners = np.repeat(np.arange(n_queries), counts)
    pairs = owners * n_documents + documents
    if len(np.unique(pairs)) < len(pairs):
        raise ValueError(
            f"{who}: 'relevant' names a document twice for one query. Each counts "
            "once. Pass a CSR matrix for a table of zeros and ones, or np.unique of "
            "each query's rows."
        )
    return Relevant(owners, documents, counts)


def _from_matrix(who: str, relevant: Any, n_queries: int, n_documents: int) -> Relevant:
    if relevant.shape != (n_queries, n_documents):
        raise ValueError(
            f"{who}: 'relevant' has shape {relevant.shape}. A sparse one needs a row "
            "per query and a column per document: pass one of shape "
            f"({n_queries}, {n_documents})."
        )
    owners, documents = sp.csr_array(relevant).nonzero()
    counts = np.bincount(owners, minlength=n_queries)
    _check_counts(who, counts)
    return Relevant(owners, documents, counts)


def _per_query(who: str, relevant: Any, n_queries: int) -> Any:
    listed = isinstance(relevant, (list, tuple))
    entries: Any = relevant if listed else np.atleast_1d(np.asarray(relevant))
    if len(entries) != n_queries:
        raise ValueError(
            f"{who}: 'relevant' has {len(entries)} entries, for {n_queries} queries. "
            "It needs one per query: pass the row of its document, or an array of rows."
        )
    return entries


def _indices(who: str, entry: Any) -> AnyArray:
    rows = np.atleast_1d(np.asarray(entry))
    if rows.size == 0:
        return rows.astype(np.int64)
    if rows.ndim != 1 or rows.dtype.kind not in "iu":
        raise ValueError(
            f"{who}: 'relevant' holds {entry!r}. It must hold rows of 'documents': "
            "pass integers, or a CSR matrix that is nonzero where a document is "
            "relevant."
        )
    return rows.astype(np.int64)


def _check_counts(who: str, counts: IntArray) -> None:
    if not counts.all():
        empty = int(np.argmin(counts))
        raise ValueError(
            f"{who}: 'relevant' holds no document for query {empty}, so that it has no "
            "score. Each query needs one or more. Drop such queries."
        )
