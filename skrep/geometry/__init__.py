"""Pure functions of points: directions, angles and distances."""

from skrep.geometry._cosine import angles, row_norms, unit_rows
from skrep.geometry._euclidean import euclidean_distances
from skrep.geometry._prefix import prefix_rows

__all__ = ["angles", "euclidean_distances", "prefix_rows", "row_norms", "unit_rows"]
