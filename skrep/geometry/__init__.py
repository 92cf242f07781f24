"""Pure functions of points: directions, angles and distances."""

from skrep.geometry._cosine import angles, row_norms, unit_rows
from skrep.geometry._euclidean import euclidean_distances

__all__ = ["angles", "euclidean_distances", "row_norms", "unit_rows"]
