"""Pure linear algebra that several families need."""

from skrep.linalg._cca import canonical_directions, ridge_cca
from skrep.linalg._moments import weighted_covariance, weighted_mean
from skrep.linalg._procrustes import (
    compact_svd,
    partial_isometry,
    procrustes,
    softened,
)
from skrep.linalg._ridge import gcv_scores, ridge_coefficients, ridge_gcv
from skrep.linalg._symmetric import symmetric_power

__all__ = [
    "canonical_directions",
    "compact_svd",
    "gcv_scores",
    "partial_isometry",
    "procrustes",
    "ridge_cca",
    "ridge_coefficients",
    "ridge_gcv",
    "softened",
    "symmetric_power",
    "weighted_covariance",
    "weighted_mean",
]
