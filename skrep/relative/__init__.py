"""Relative representations and latent alignment: make two spaces comparable."""

from skrep.relative._alignment import LatentAlignment
from skrep.relative._learned import LearnedAnchors
from skrep.relative._representation import RelativeRepresentation
from skrep.relative._stitch import stitch

__all__ = ["LatentAlignment", "LearnedAnchors", "RelativeRepresentation", "stitch"]
