"""scikit-learn's checks on every similarity, selection and method."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from skrep.relative import LatentAlignment, RelativeRepresentation
from skrep.relative._kinds import SIMILARITIES
from skrep.relative._selection import GEOMETRIC

pytestmark = [
    pytest.mark.filterwarnings("ignore::skrep.exceptions.FewerColumnsWarning"),
    pytest.mark.filterwarnings("ignore:LatentAlignment. 'method'='affine'"),
]

# The checks fit fewer rows than columns, which mahalanobis refuses.
SWEPT = sorted(set(SIMILARITIES) - {"cosine", "mahalanobis"})
RELATIVE = [
    *(RelativeRepresentation(4, similarity=name) for name in SWEPT),
    *(RelativeRepresentation(4, selection=name) for name in sorted(GEOMETRIC)),
    RelativeRepresentation(4, selection="uniform"),
    RelativeRepresentation(4, whiten=None, scale=False, center=False),
]
ALIGNED = [
    LatentAlignment(method)
    for method in ("orthogonal", "ridge", "affine", "low_rank", "cca")
]


def reasoned_failures(estimator):
    """A draw among rows that depends on their order cannot survive a shuffle."""
    draws = estimator.get_params().get("selection") in ("uniform", "kmeans")
    check = "check_sample_weight_equivalence_on_{}_data"
    reason = "which rows are drawn depends on the order of the rows"
    return {check.format(kind): reason for kind in ("dense", "sparse") if draws}


@parametrize_with_checks(
    [*RELATIVE, *ALIGNED], expected_failed_checks=reasoned_failures
)
def test_sklearn_checks(estimator, check):
    check(estimator)
