"""Pure functions of points: directions, angles and distances."""

from skrep.geometry import hyperboloid, poincare
from skrep.geometry._cosine import angles, row_norms, unit_rows
from skrep.geometry._euclidean import euclidean_distances
from skrep.geometry._prefix import prefix_rows
from skrep.geometry._simplex import simplex_vertices
from skrep.geometry._tree import spanning_tree

__all__ = [
    "angles",
    "euclidean_distances",
    "hyperboloid",
    "poincare",
    "prefix_rows",
    "row_norms",
    "simplex_vertices",
    "spanning_tree",
    "unit_rows",
]
