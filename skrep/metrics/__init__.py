"""Scores of a representation: arrays and fitted heads in, numbers out."""

from skrep.metrics._area import prefix_area
from skrep.metrics._overlap import neighbor_overlap
from skrep.metrics._prefixes import prefix_scores
from skrep.metrics._ranking import ndcg_at_k, recall_at_k
from skrep.metrics._retrieval import mean_reciprocal_rank
from skrep.metrics._stitching import stitching_scores

__all__ = [
    "mean_reciprocal_rank",
    "ndcg_at_k",
    "neighbor_overlap",
    "prefix_area",
    "prefix_scores",
    "recall_at_k",
    "stitching_scores",
]
