"""Fits and transforms of rows that come in blocks."""

from skrep.blockwise._fit import fit_blocks
from skrep.blockwise._transform import transform_blocks

__all__ = ["fit_blocks", "transform_blocks"]
