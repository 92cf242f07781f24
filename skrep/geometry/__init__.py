"""Pure functions of points: directions, angles and distances."""

from skrep.geometry._cosine import angles, unit_rows
from skrep.geometry._euclidean import euclidean_distances

__all__ = ["angles", "euclidean_distances", "unit_rows"]
