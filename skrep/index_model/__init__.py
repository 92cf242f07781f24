"""Index models: the few directions that drive the response, whatever the link."""

from skrep.index_model._classical import (
    DirectionalRegression,
    PrincipalHessianDirections,
    SlicedAverageVarianceEstimation,
    SlicedInverseRegression,
)
from skrep.index_model._gradient import GradientOuterProduct
from skrep.index_model._stein import SteinIndex
from skrep.index_model._step import GradientStepFeatures

__all__ = [
    "DirectionalRegression",
    "GradientOuterProduct",
    "GradientStepFeatures",
    "PrincipalHessianDirections",
    "SlicedAverageVarianceEstimation",
    "SlicedInverseRegression",
    "SteinIndex",
]
