"""Pure functions of graphs: closures, parents, trees and their centers."""

from skrep.graph._closure import primary_parents, transitive_closure
from skrep.graph._edges import Relations, relations_from_edges
from skrep.graph._trees import (
    RootedForest,
    rooted_order,
    spanning_forest,
    tree_centers,
    tree_distances,
    undirected_edges,
)

__all__ = [
    "Relations",
    "RootedForest",
    "primary_parents",
    "relations_from_edges",
    "rooted_order",
    "spanning_forest",
    "transitive_closure",
    "tree_centers",
    "tree_distances",
    "undirected_edges",
]
