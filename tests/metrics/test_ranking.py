"""Recall and gain at a cutoff against second implementations, and their laws."""

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.testing import assert_allclose
from sklearn.metrics import ndcg_score
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances

from skrep.metrics import _retrieval, ndcg_at_k, recall_at_k

METRICS = ("cosine", "euclidean")
SCORES = (recall_at_k, ndcg_at_k)


def spaces(seed, n_queries=20, n_documents=30, n_features=5, noise=0.7):
    rng = np.random.default_rng(seed)
    documents = rng.standard_normal((n_documents, n_features)) + 0.5
    queries = documents[:n_queries] + noise * rng.standard_normal(
        (n_queries, n_features)
    )
    return queries, documents


def similarity(queries, documents, metric):
    if metric == "cosine":
        return cosine_similarity(queries, documents)
    return -euclidean_distances(queries, documents)


def relevance(seed, n_queries=20, n_documents=30):
    """A table with one to five relevant documents per query."""
    rng = np.random.default_rng(seed)
    table = np.zeros((n_queries, n_documents))
    for row in table:
        row[rng.choice(n_documents, rng.integers(1, 6), replace=False)] = 1
    return table


def naive(order, wanted, k):
    """Recall and gain of one query from a plain list of documents, best first."""
    first = list(order)[:k]
    recall = len(set(first) & set(wanted)) / len(wanted)
    gain = sum(1 / np.log2(r + 2) for r, doc in enumerate(first) if doc in wanted)
    most = sum(1 / np.log2(r + 2) for r in range(min(k, len(wanted))))
    return recall, gain / most


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("k", [1, 3, 10, 30, 100])
def test_equal_naive_loops_and_scikit_learn(metric, k):
    queries, documents = spaces(0)
    table = relevance(1)
    nearness = similarity(queries, documents, metric)
    loops = [
        naive(np.argsort(-row), np.flatnonzero(wanted), k)
        for row, wanted in zip(nearness, table, strict=True)
    ]
    options = {"k": k, "metric": metric, "relevant": sp.csr_array(table)}
    recall = recall_at_k(queries, documents, **options)
    gain = ndcg_at_k(queries, documents, **options)
    assert_allclose([recall, gain], np.mean(loops, axis=0), rtol=1e-12)
    assert_allclose(gain, ndcg_score(table, nearness, k=k), rtol=1e-12)


@given(rows=arrays(np.int64, (7, 2), elements=st.integers(0, 2)), k=st.integers(1, 6))
def test_equal_documents_score_the_mean_over_their_orders(rows, k):
    query, documents = rows[:1], rows[1:]
    nearness = -np.sum((documents - query) ** 2, axis=1)
    orders = [
        order
        for order in permutations(range(6))
        if (np.diff(nearness[list(order)]) <= 0).all()
    ]
    expected = np.mean([naive(order, [0, 1], k) for order in orders], axis=0)
    options = {"k": k, "relevant": [[0, 1]], "metric": "euclidean"}
    found = [score(query, documents, **options) for score in SCORES]
    assert_allclose(found, expected, rtol=1e-12)
    # scikit-learn shares the places of ties, too.
    table = np.array([[1, 1, 0, 0, 0, 0]])
    assert_allclose(found[1], ndcg_score(table, nearness[None], k=k))


@pytest.mark.parametrize("metric", METRICS)
def test_a_collapsed_space_is_no_better_than_chance(metric):
    queries = spaces(2)[0]
    documents = np.full((30, 5), 0.1)
    assert_allclose(recall_at_k(queries, documents, metric=metric), 10 / 30)
    gain = np.sum(1 / np.log2(np.arange(10) + 2)) / 30
    assert_allclose(ndcg_at_k(queries, documents, metric=metric), gain)


@given(seed=st.integers(0, 2**32 - 1), metric=st.sampled_from(METRICS))
def test_order_of_documents_and_queries_does_not_matter(seed, metric):
    rng = np.random.default_rng(seed)
    documents = rng.integers(-1, 2, (12, 2))
    queries = rng.integers(-1, 2, (8, 2))
    relevant = rng.integers(0, 12, 8)
    by_query, by_document = rng.permutation(8), rng.permutation(12)
    moved = np.argsort(by_document)[relevant[by_query]]
    for score in SCORES:
        assert_allclose(
            score(
                queries[by_query],
                documents[by_document],
                k=3,
                relevant=moved,
                metric=metric,
            ),
            score(queries, documents, k=3, relevant=relevant, metric=metric),
            rtol=1e-12,
        )


def test_one_document_each_gains_by_its_rank():
    documents = np.eye(4)
    query = np.array([[4.0, 3.0, 2.0, 1.0]])
    for rank in range(1, 5):
        relevant = [rank - 1]
        gain = 1 / np.log2(1 + rank)
        assert_allclose(ndcg_at_k(query, documents, relevant=relevant), gain)
        assert ndcg_at_k(query, documents, k=3, relevant=relevant) == (
            pytest.approx(gain) if rank <= 3 else 0
        )
        found = recall_at_k(query, documents, k=3, relevant=relevant)
        assert found == (rank <= 3)


@pytest.mark.parametrize("score", SCORES)
def test_forms_of_relevance_agree(score):
    queries, documents = spaces(3)
    table = relevance(4)
    lists = [np.flatnonzero(row) for row in table]
    expected = score(queries, documents, k=3, relevant=lists)
    assert 0 < expected < 1
    for form in (
        sp.csr_array(table),
        sp.csr_matrix(table),
        sp.coo_array(table[:, ::-1])[:, ::-1],
        [row.tolist()[::-1] for row in lists],
    ):
        found = score(queries, documents, k=3, relevant=form)
        assert_allclose(found, expected, rtol=1e-12)
    own = np.arange(20)
    expected = score(queries, documents, k=3)
    for form in (own, own.tolist(), own[:, None], own.astype(np.uint8), sp.eye(20, 30)):
        assert score(queries, documents, k=3, relevant=form) == expected


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("metric", METRICS)
def test_weights_weigh_the_queries(score, metric):
    queries, documents = spaces(5, n_queries=6, noise=3.0)
    weights = [0, 1, 2, 3, 0, 1]
    relevant = np.repeat(np.arange(6), weights)
    assert_allclose(
        score(queries, documents, k=3, metric=metric, sample_weight=weights),
        score(queries[relevant], documents, k=3, relevant=relevant, metric=metric),
    )


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("metric", METRICS)
def test_blocks_change_nothing(score, metric, monkeypatch):
    queries, documents = spaces(6)
    relevant = sp.csr_array(relevance(7))
    whole = score(queries, documents, k=3, relevant=relevant, metric=metric)

    def small_blocks(n_rows, row_bytes, *, budget=None):
        return [slice(i, min(i + 7, n_rows)) for i in range(0, n_rows, 7)]

    monkeypatch.setattr(_retrieval, "row_blocks", small_blocks)
    found = score(queries, documents, k=3, relevant=relevant, metric=metric)
    assert_allclose(found, whole, rtol=1e-12)


@pytest.mark.parametrize("score", SCORES)
def test_types_and_untouched_inputs(score):
    pair = [np.round(4 * rows) for rows in spaces(8)]
    expected = score(*pair, k=3)
    for dtype in (np.float16, np.float32, np.int64):
        typed = [rows.astype(dtype) for rows in pair]
        for rows in typed:
            rows.flags.writeable = False
        assert score(*typed, k=3) == expected


@pytest.mark.parametrize("score", SCORES)
def test_errors_name_parameter_rule_and_remedy(score):
    queries, documents = spaces(9)
    n = score.__name__

    def fails(match, *args, **options):
        with pytest.raises(ValueError, match=match) as error:
            score(*args, **options)
        assert "\n" not in str(error.value)
        assert n in str(error.value)

    for k in (0, -1, 2.5, True, None):
        fails("'k' is .*an integer from 1 up. Pass k=10", queries, documents, k=k)
    fails(
        "'queries' has 5 columns and 'documents' has 3.*Transform both",
        queries,
        documents[:, :3],
    )
    fails("'queries' has 20 .* has 7.*relevant=", queries, documents[:7])
    fails("contains NaN.*Drop such rows", np.full((2, 5), np.nan), documents)
    for relevant in ([0, 1], np.arange(21), 3, [[0]] * 19):
        fails(
            "'relevant' has .* for 20 queries.*pass the row",
            queries,
            documents,
            relevant=relevant,
        )
    fails(
        r"'relevant' has shape \(2, 2\).*pass one of shape \(20, 30\)",
        queries,
        documents,
        relevant=sp.eye_array(2).tocsr(),
    )
    for bad in (30, -1):
        fails(
            f"'relevant' holds {bad}.* from 0 to 29. Pass their positions",
            queries,
            documents,
            relevant=[bad] * 20,
        )
    for bad in (1.0, "a", True, np.nan):
        fails(
            "'relevant' holds .*pass integers, or a CSR matrix",
            queries,
            documents,
            relevant=[bad] * 20,
        )
    fails(
        "no document for query 4.*Drop such queries",
        queries,
        documents,
        relevant=[[1]] * 4 + [[]] * 16,
    )
    empty = sp.csr_array((20, 30))
    fails("no document for query 0", queries, documents, relevant=empty)
    table = relevance(10).astype(int)
    fails("a document twice.*Pass a CSR matrix", queries, documents, relevant=table)
    fails("Pass sample_weight=None", queries, documents, sample_weight=np.zeros(20))
    with pytest.raises(ValueError, match=f"'metric' parameter of {n}"):
        score(queries, documents, metric="manhattan")
