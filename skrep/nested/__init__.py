"""Nested projections: vectors of which every prefix is good."""

from skrep.nested._layer_grid import LayerGrid
from skrep.nested._margin import MarginProjection
from skrep.nested._matryoshka import MatryoshkaProjection
from skrep.nested._neighbor_encoder import NeighborEncoder
from skrep.nested._noise import NoisePruner
from skrep.nested._projection import NestedProjection
from skrep.nested._quantizer import ScalarQuantizer
from skrep.nested._rotation import PrefixRotation
from skrep.nested._sparse_code import SparseCode
from skrep.nested._truncate import Truncate

__all__ = [
    "LayerGrid",
    "MarginProjection",
    "MatryoshkaProjection",
    "NeighborEncoder",
    "NestedProjection",
    "NoisePruner",
    "PrefixRotation",
    "ScalarQuantizer",
    "SparseCode",
    "Truncate",
]
