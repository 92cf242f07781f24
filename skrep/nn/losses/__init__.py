"""Losses that bring the classes of a batch apart: ordinary torch modules."""

from skrep.nn.losses._bhattacharyya import BhattacharyyaLoss
from skrep.nn.losses._combined import CombinedLoss
from skrep.nn.losses._dda import DDALoss
from skrep.nn.losses._deep_lda import DeepLDALoss
from skrep.nn.losses._fisher_trace import FisherTraceLoss
from skrep.nn.losses._flops import FlopsRegularizer
from skrep.nn.losses._lda_cross_entropy import LDACrossEntropy
from skrep.nn.losses._local_dimension import LocalDimension
from skrep.nn.losses._log_det import LogDetLoss
from skrep.nn.losses._matryoshka import MatryoshkaLoss
from skrep.nn.losses._redundancy import RedundancyReductionLoss
from skrep.nn.losses._separability import LinearSeparability
from skrep.nn.losses._simplex import SimplexLoss
from skrep.nn.losses._spanning_tree import SpanningTreeSpread
from skrep.nn.losses._trace_ratio import TraceRatioLoss

__all__ = [
    "BhattacharyyaLoss",
    "CombinedLoss",
    "DDALoss",
    "DeepLDALoss",
    "FisherTraceLoss",
    "FlopsRegularizer",
    "LDACrossEntropy",
    "LinearSeparability",
    "LocalDimension",
    "LogDetLoss",
    "MatryoshkaLoss",
    "RedundancyReductionLoss",
    "SimplexLoss",
    "SpanningTreeSpread",
    "TraceRatioLoss",
]
