"""Every public estimator passes scikit-learn's checks and skrep's own."""

import inspect

import pytest
from sklearn.decomposition import PCA
from sklearn.utils.estimator_checks import (
    check_global_output_transform_pandas,
    check_global_set_output_transform_polars,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    parametrize_with_checks,
)

from skrep.utils.discovery import all_estimators
from skrep.utils.estimator_checks import parametrize_with_skrep_checks

# Tiny data sets of the checks have few rows, and constant columns.
pytestmark = [
    pytest.mark.filterwarnings("ignore::skrep.exceptions.FewerColumnsWarning"),
    pytest.mark.filterwarnings("ignore::skrep.exceptions.ThinDataWarning"),
    # They know of no nuisance.
    pytest.mark.filterwarnings("ignore::skrep.exceptions.NotRemovedWarning"),
]


def instance(cls):
    """Make a default instance.

    A search has nothing to search without an estimator. Networks are trained for a few
    epochs: at the end of all of theirs they know the 50 rows of
    check_class_weight_classifiers by heart, whose classes overlap, and no weight of a
    class changes what is known by heart.
    """
    parameters = inspect.signature(cls).parameters
    if any(p.default is p.empty for p in parameters.values()):
        return cls(PCA())
    return cls(max_epochs=15) if "max_epochs" in parameters else cls()


ESTIMATORS = [instance(cls) for _, cls in all_estimators()]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_checks(estimator, check):
    check(estimator)


# The checks themselves mix frames and arrays.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "check",
    [
        check_set_output_transform,
        check_set_output_transform_pandas,
        check_set_output_transform_polars,
        check_global_output_transform_pandas,
        check_global_set_output_transform_polars,
    ],
    ids=lambda check: check.__name__,
)
def test_set_output(estimator, check):
    check(type(estimator).__name__, estimator)


@parametrize_with_skrep_checks(ESTIMATORS)
def test_skrep_checks(estimator, check):
    check(type(estimator).__name__, estimator)
