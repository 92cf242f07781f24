"""Scores of a representation: arrays and fitted heads in, numbers out."""

from skrep.metrics._area import prefix_area
from skrep.metrics._order import OrderTest, order_test
from skrep.metrics._overlap import neighbor_overlap
from skrep.metrics._prefixes import prefix_scores
from skrep.metrics._ranking import ndcg_at_k, recall_at_k
from skrep.metrics._retrieval import mean_reciprocal_rank
from skrep.metrics._stitching import stitching_scores
from skrep.metrics._subspace import principal_angles, subspace_distance

__all__ = [
    "OrderTest",
    "mean_reciprocal_rank",
    "ndcg_at_k",
    "neighbor_overlap",
    "order_test",
    "prefix_area",
    "prefix_scores",
    "principal_angles",
    "recall_at_k",
    "stitching_scores",
    "subspace_distance",
]
