"""Pure linear algebra that several families need."""

from skrep.linalg._cca import canonical_directions, ridge_cca
from skrep.linalg._gcv import gcv_scores
from skrep.linalg._moments import weighted_covariance, weighted_mean
from skrep.linalg._svd import compact_svd, softened
from skrep.linalg._symmetric import symmetric_power

__all__ = [
    "canonical_directions",
    "compact_svd",
    "gcv_scores",
    "ridge_cca",
    "softened",
    "symmetric_power",
    "weighted_covariance",
    "weighted_mean",
]
