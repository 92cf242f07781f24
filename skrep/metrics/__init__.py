"""Scores of a representation: arrays and fitted heads in, numbers out."""

from skrep.metrics._retrieval import mean_reciprocal_rank
from skrep.metrics._stitching import stitching_scores

__all__ = ["mean_reciprocal_rank", "stitching_scores"]
