"""Points of the Poincare ball: distances, maps, means and the polar form.

Points are arrays whose last axis holds the coordinates, inside the ball of radius
1 / sqrt(-curvature), and functions broadcast over the axes before it. float32 and
float64 come back as they came; what happens between is in float64. Points of different
dimensions are refused. What follows from a point that is not strictly inside is NaN,
with a RuntimeWarning; `project` brings such points in.

Tangent vectors at a point x are in the coordinates of the ball, where a vector v has
the length ``conformal_factor(x) * norm(v)``. Those at the origin, of the functions
that have "origin" in their names, are in normal coordinates: their Euclidean length
is the distance that they lead to.
"""

from skrep.geometry.poincare._maps import (
    exp_map,
    exp_map_origin,
    geodesic,
    log_map,
    log_map_origin,
    to_hyperboloid,
    transport_from_origin,
)
from skrep.geometry.poincare._means import frechet_mean, midpoint
from skrep.geometry.poincare._metric import (
    conformal_factor,
    distance,
    max_radius,
    mobius_add,
    pairwise_distances,
    project,
)
from skrep.geometry.poincare._polar import from_polar, polar_distance, to_polar

__all__ = [
    "conformal_factor",
    "distance",
    "exp_map",
    "exp_map_origin",
    "frechet_mean",
    "from_polar",
    "geodesic",
    "log_map",
    "log_map_origin",
    "max_radius",
    "midpoint",
    "mobius_add",
    "pairwise_distances",
    "polar_distance",
    "project",
    "to_hyperboloid",
    "to_polar",
    "transport_from_origin",
]
