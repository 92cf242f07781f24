"""Taxonomies, rows and parameters that TaxonomyEncoder refuses or warns of."""

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from skrep.hyperbolic import HyperbolicMDS, TaxonomyEncoder
from tests.hyperbolic.test_taxonomy_encoder import ANIMALS, X, encoder


@pytest.mark.parametrize(
    ("taxonomy", "message"),
    [
        ([("a", "b"), ("b", "a")], "'taxonomy' has a cycle through 'a' and 'b'"),
        ([(None, "a")], "'taxonomy' has None as the child of edge 0"),
        ({"a": ""}, "'taxonomy' has the empty string.*for child, parent in taxonomy"),
        (nx.Graph([("a", "b")]), r"'taxonomy' is .*bfs_tree\(taxonomy, .*e\(\)\.$"),
        (
            [("a", "b", 2)],
            r"'taxonomy' has the weight 2.*\[:2\] for edge in taxonomy\]\.",
        ),
        (5, "'taxonomy' is 5"),
        (pd.DataFrame({"a": [1], "b": [2]}), "'taxonomy' has columns"),
    ],
)
def test_bad_taxonomies_are_refused_by_name(taxonomy, message):
    with pytest.raises(ValueError, match=f"^TaxonomyEncoder: {message}"):
        encoder(taxonomy=taxonomy).fit(X)


def test_a_sparse_taxonomy_is_refused_by_name():
    with pytest.raises(TypeError, match=r"^TaxonomyEncoder: 'taxonomy' is .*nonzero"):
        encoder(taxonomy=sp.eye_array(2, format="csr")).fit(X)


@pytest.mark.parametrize("kind", [list, nx.DiGraph, pd.DataFrame])
def test_a_taxonomy_read_backwards_is_warned_of(kind):
    turned = [(parent, child) for child, parent in ANIMALS.items()]
    columns = {"columns": ["child", "parent"]} if kind is pd.DataFrame else {}
    with pytest.warns(
        UserWarning,
        match=r"^TaxonomyEncoder: 'taxonomy' looks.*children and parents exchanged.*"
        r"pass .*taxonomy",
    ):
        encoder(taxonomy=kind(turned, **columns)).fit(X)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "TaxonomyEncoder: 'n_components' is 0"),
        ({"n_components": 2.0}, "'n_components' is 2.0"),
        ({"method": "umap"}, "'method'"),
        ({"coordinates": "klein"}, "'coordinates'"),
        ({"handle_unknown": "ignore"}, "'handle_unknown'"),
        ({"method": HyperbolicMDS()}, r"Pass PoincareEmbedding\(affinity='precomputed"),
    ],
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(ValueError, match=message):
        TaxonomyEncoder(ANIMALS, **{"method": "tree", **parameters}).fit(X)


def test_rows_are_checked():
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = ["cat"]
    with pytest.raises(
        ValueError, match=r"row 0, column 0, which cannot be hashed.*pass"
    ):
        encoder().fit(cells)
    with pytest.raises(ValueError, match="infinity, first in row 1, column 0"):
        encoder(taxonomy=None).fit([[1.0], [np.inf]])
    for bad in (pd.DataFrame({"a": []}), np.empty((0, 1), dtype=object), X[:, 0]):
        with pytest.raises(ValueError, match="TaxonomyEncoder"):
            encoder().fit(bad)
    with pytest.raises(ValueError, match="2 features"):
        encoder().fit(X).transform(np.hstack([X, X]))
