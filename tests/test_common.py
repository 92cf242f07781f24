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
    # They take distances for the edges of a tree, and ask for one dimension.
    pytest.mark.filterwarnings("ignore:.*is no tree"),
    pytest.mark.filterwarnings("ignore:.*joins . nodes to themselves"),
    pytest.mark.filterwarnings("ignore:.*n_components. is 1 and a node has"),
    # They know of no nuisance.
    pytest.mark.filterwarnings("ignore::skrep.exceptions.NotRemovedWarning"),
]


def instance(cls):
    """Make a default instance.

    A search has nothing to search without an estimator. What takes epochs takes few: at
    the end of all of theirs networks know the 50 rows of
    check_class_weight_classifiers by heart, whose classes overlap, and no weight of a
    class changes what is known by heart.
    """
    parameters = inspect.signature(cls).parameters
    if any(p.default is p.empty for p in parameters.values()):
        return cls(PCA())
    return cls(max_epochs=15) if "max_epochs" in parameters else cls()


ESTIMATORS = [instance(cls) for _, cls in all_estimators()]
TRANSFORMERS = [e for e in ESTIMATORS if hasattr(e, "set_output")]


@parametrize_with_checks(ESTIMATORS)
def test_sklearn_checks(estimator, check):
    check(estimator)


# The checks themselves mix frames and arrays.
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
@pytest.mark.parametrize("estimator", TRANSFORMERS, ids=lambda e: type(e).__name__)
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
