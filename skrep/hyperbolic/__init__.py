"""Trees, taxonomies and graphs as a few columns: points of hyperbolic space."""

from skrep.hyperbolic._kmeans import PoincareKMeans
from skrep.hyperbolic._knowledge_graph import KnowledgeGraphEmbedding
from skrep.hyperbolic._mds import HyperbolicMDS
from skrep.hyperbolic._nearest_centroid import PoincareNearestCentroid
from skrep.hyperbolic._poincare import PoincareEmbedding
from skrep.hyperbolic._taxonomy_encoder import TaxonomyEncoder
from skrep.hyperbolic._tree import TreeEmbedding

__all__ = [
    "HyperbolicMDS",
    "KnowledgeGraphEmbedding",
    "PoincareEmbedding",
    "PoincareKMeans",
    "PoincareNearestCentroid",
    "TaxonomyEncoder",
    "TreeEmbedding",
]
