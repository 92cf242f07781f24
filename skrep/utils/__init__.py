"""Helpers that skrep's estimators and their tests share."""

from skrep.utils._chunking import row_blocks
from skrep.utils._optional import require
from skrep.utils._warnings import warn

__all__ = ["require", "row_blocks", "warn"]
