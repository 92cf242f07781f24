"""Scores of a representation: arrays and fitted heads in, numbers out."""

from skrep.metrics._area import prefix_area
from skrep.metrics._collapse import (
    CollapseCertificate,
    TeacherMargin,
    collapse_certificate,
    teacher_margin,
)
from skrep.metrics._dimension import (
    effective_rank,
    local_intrinsic_dimension,
    two_nn_dimension,
)
from skrep.metrics._distortion import Distortion, distortion
from skrep.metrics._link_prediction import (
    LinkPredictionScores,
    link_prediction_scores,
)
from skrep.metrics._neural_collapse import NeuralCollapse, neural_collapse
from skrep.metrics._order import OrderTest, order_test
from skrep.metrics._overlap import neighbor_overlap
from skrep.metrics._prefixes import prefix_scores
from skrep.metrics._ranking import ndcg_at_k, recall_at_k
from skrep.metrics._reconstruction import (
    ReconstructionScores,
    neighbor_map,
    reconstruction_scores,
)
from skrep.metrics._retrieval import mean_reciprocal_rank
from skrep.metrics._separation import fisher_criterion, log_det_ratio
from skrep.metrics._spanning_tree import spanning_tree_length
from skrep.metrics._stitching import stitching_scores
from skrep.metrics._subspace import principal_angles, subspace_distance

__all__ = [
    "CollapseCertificate",
    "Distortion",
    "LinkPredictionScores",
    "NeuralCollapse",
    "OrderTest",
    "ReconstructionScores",
    "TeacherMargin",
    "collapse_certificate",
    "distortion",
    "effective_rank",
    "fisher_criterion",
    "link_prediction_scores",
    "local_intrinsic_dimension",
    "log_det_ratio",
    "mean_reciprocal_rank",
    "ndcg_at_k",
    "neighbor_map",
    "neighbor_overlap",
    "neural_collapse",
    "order_test",
    "prefix_area",
    "prefix_scores",
    "principal_angles",
    "recall_at_k",
    "reconstruction_scores",
    "spanning_tree_length",
    "stitching_scores",
    "subspace_distance",
    "teacher_margin",
    "two_nn_dimension",
]
