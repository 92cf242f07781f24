"""Generators and bundled data sets; nothing here opens a connection."""

from skrep.datasets._index_model import make_index_model
from skrep.datasets._mammals import load_mammals
from skrep.datasets._parallel_spaces import make_parallel_spaces
from skrep.datasets._region_images import make_region_images
from skrep.datasets._taxonomy import make_taxonomy_regression

__all__ = [
    "load_mammals",
    "make_index_model",
    "make_parallel_spaces",
    "make_region_images",
    "make_taxonomy_regression",
]
