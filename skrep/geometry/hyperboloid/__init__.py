"""Points of the hyperboloid: distances, maps, gradients.

Points are arrays whose last axis holds the time-like coordinate first, then those in
space, with :math:`\\langle x, x \\rangle = 1 / \\kappa` at curvature :math:`\\kappa`,
and functions broadcast over the axes before it. The coordinates in space tell the
point: the time-like one follows from them, and `project` sets it anew. Points of
different dimensions are refused. float32 and float64 come back as they came; what
happens between is in float64.
"""

from skrep.geometry.hyperboloid._maps import (
    exp_map,
    exp_map_origin,
    log_map,
    log_map_origin,
    midpoint,
    project,
    riemannian_gradient,
    to_ball,
)
from skrep.geometry.hyperboloid._metric import distance, inner, pairwise_distances

__all__ = [
    "distance",
    "exp_map",
    "exp_map_origin",
    "inner",
    "log_map",
    "log_map_origin",
    "midpoint",
    "pairwise_distances",
    "project",
    "riemannian_gradient",
    "to_ball",
]
