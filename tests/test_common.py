"""Every public estimator passes scikit-learn's checks and skrep's own."""

import inspect

import pytest
from sklearn.decomposition import PCA
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import (
    check_do_not_raise_errors_in_init_or_set_params,
    check_estimator_cloneable,
    check_estimator_repr,
    check_estimator_tags_renamed,
    check_get_params_invariance,
    check_global_output_transform_pandas,
    check_global_set_output_transform_polars,
    check_mixin_order,
    check_no_attributes_set_in_init,
    check_parameters_default_constructible,
    check_set_output_transform,
    check_set_output_transform_pandas,
    check_set_output_transform_polars,
    check_set_params,
    check_valid_tag_types,
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
# What is fitted on triples knows of no matrices, and scikit-learn's data are matrices.
MATRICES = [e for e in ESTIMATORS if get_tags(e).input_tags.two_d_array]
OTHERS = [e for e in ESTIMATORS if e not in MATRICES]


@parametrize_with_checks(MATRICES)
def test_sklearn_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("estimator", OTHERS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize(
    "check",
    [
        check_do_not_raise_errors_in_init_or_set_params,
        check_estimator_cloneable,
        check_estimator_repr,
        check_estimator_tags_renamed,
        check_get_params_invariance,
        check_mixin_order,
        check_no_attributes_set_in_init,
        check_parameters_default_constructible,
        check_set_params,
        check_valid_tag_types,
    ],
    ids=lambda check: check.__name__,
)
def test_sklearn_checks_without_data(estimator, check):
    check(type(estimator).__name__, estimator)


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
