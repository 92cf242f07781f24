"""Pure linear algebra that several families need."""

from skrep.linalg._axes import fix_signs, settle_null
from skrep.linalg._bartlett import bartlett_test
from skrep.linalg._blocks import moment_blocks
from skrep.linalg._cca import canonical_directions, ridge_cca
from skrep.linalg._discriminant import (
    DiscriminantAxes,
    contrast_axes,
    discriminant_axes,
)
from skrep.linalg._gcv import gcv_scores
from skrep.linalg._inverse_regression import (
    WhitenedSlices,
    averaged_variances,
    directional_regression,
    inverse_means,
    slice_features,
    whiten_slices,
)
from skrep.linalg._leading import leading_axes
from skrep.linalg._marchenko_pastur import (
    marchenko_pastur_cdf,
    marchenko_pastur_edges,
    marchenko_pastur_median,
)
from skrep.linalg._moments import GroupMoments, Moments, weighted_mean
from skrep.linalg._projection import project_rows
from skrep.linalg._shrinkage import oas_shrinkage
from skrep.linalg._slice_moments import SliceMoments
from skrep.linalg._slices import filled_slices, quantile_edges, slice_codes
from skrep.linalg._svd import compact_svd, softened
from skrep.linalg._symmetric import symmetric_power
from skrep.linalg._whitening import Whitening, whitening

__all__ = [
    "DiscriminantAxes",
    "GroupMoments",
    "Moments",
    "SliceMoments",
    "WhitenedSlices",
    "Whitening",
    "averaged_variances",
    "bartlett_test",
    "canonical_directions",
    "compact_svd",
    "contrast_axes",
    "directional_regression",
    "discriminant_axes",
    "filled_slices",
    "fix_signs",
    "gcv_scores",
    "inverse_means",
    "leading_axes",
    "marchenko_pastur_cdf",
    "marchenko_pastur_edges",
    "marchenko_pastur_median",
    "moment_blocks",
    "oas_shrinkage",
    "project_rows",
    "quantile_edges",
    "ridge_cca",
    "settle_null",
    "slice_codes",
    "slice_features",
    "softened",
    "symmetric_power",
    "weighted_mean",
    "whiten_slices",
    "whitening",
]
