"""Nested projections: vectors of which every prefix is good."""

from skrep.nested._margin import MarginProjection
from skrep.nested._noise import NoisePruner
from skrep.nested._projection import NestedProjection
from skrep.nested._quantizer import ScalarQuantizer
from skrep.nested._rotation import PrefixRotation
from skrep.nested._truncate import Truncate

__all__ = [
    "MarginProjection",
    "NestedProjection",
    "NoisePruner",
    "PrefixRotation",
    "ScalarQuantizer",
    "Truncate",
]
