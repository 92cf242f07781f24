"""Graphs and matrices with labels, passed in place of a matrix."""

import re

import networkx as nx
import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from skrep.graph import relations_from_edges
from skrep.hyperbolic import (
    HyperbolicMDS,
    PoincareEmbedding,
    PoincareKMeans,
    PoincareNearestCentroid,
    TreeEmbedding,
)

GRAPH = nx.balanced_tree(2, 2)
RELATIONS = relations_from_edges(GRAPH, closure=False)
PATHS = "scipy.sparse.csgraph.shortest_path({}, directed=False)"
POINTS = "skrep.hyperbolic.TreeEmbedding().fit_transform({}), with input='ball'"
ESTIMATORS = [
    (TreeEmbedding(), "{}"),
    (PoincareEmbedding(affinity="precomputed"), "{}"),
    (PoincareEmbedding(), "{}, with affinity='precomputed'"),
    (HyperbolicMDS(metric="precomputed"), PATHS),
    (HyperbolicMDS(), f"{PATHS}, with metric='precomputed'"),
    (PoincareNearestCentroid(), POINTS),
    (PoincareKMeans(2), POINTS),
]


@pytest.mark.parametrize(("estimator", "use"), ESTIMATORS, ids=str)
@pytest.mark.parametrize(
    ("X", "matrix"),
    [
        (RELATIONS, "X.matrix"),
        (GRAPH, "skrep.graph.relations_from_edges(X, closure=False).matrix"),
        (
            nx.bfs_tree(GRAPH, 0),
            "skrep.graph.relations_from_edges(X, closure=False).matrix",
        ),
    ],
    ids=["relations", "graph", "directed"],
)
def test_a_graph_in_place_of_a_matrix(estimator, use, X, matrix):
    who = type(estimator).__name__
    remedy = re.escape(f"Pass {use.format(matrix)}.")
    with pytest.raises(TypeError, match=rf"^{who}: 'X' is .*{remedy}$"):
        estimator.fit(X, np.arange(7) % 2)


def test_the_remedies_work():
    matrix, y = RELATIONS.matrix, np.arange(7) % 2
    TreeEmbedding().fit(matrix)
    PoincareEmbedding(affinity="precomputed", max_epochs=2).fit(matrix)
    HyperbolicMDS(metric="precomputed").fit(shortest_path(matrix, directed=False))
    points = TreeEmbedding().fit_transform(matrix)
    model = PoincareNearestCentroid(input="ball").fit(points, y)
    with pytest.raises(TypeError, match=r"Pass skrep\.hyperbolic\.TreeEmb"):
        model.predict(RELATIONS)
    with pytest.raises(TypeError, match=r"Pass X\.matrix"):
        PoincareEmbedding(affinity="precomputed", max_epochs=2).fit(matrix).transform(
            RELATIONS
        )
