"""The promises of skrep's estimators as checks that anyone can run.

They stand beside scikit-learn's own ``check_estimator``, which every estimator passes
too.
"""

from collections.abc import Callable, Iterable
from typing import Any

from skrep.utils._optional import require
from skrep.utils.estimator_checks._containers import (
    check_float32_stays,
    check_frames,
    check_input_is_left_alone,
    check_number_types,
    check_sparse,
)
from skrep.utils.estimator_checks._contract import (
    check_constructor,
    check_invariances_are_declared,
    check_parameters_stay,
    check_randomness,
    check_rows_are_independent,
    check_sample_weight,
    check_silent,
    check_state_stays,
)
from skrep.utils.estimator_checks._input import check_bad_input, check_degenerate_rows
from skrep.utils.estimator_checks._resources import (
    check_memory,
    check_pickle_holds_the_model,
    check_round_trips,
)

__all__ = ["check_skrep_estimator", "parametrize_with_skrep_checks"]

Check = Callable[[str, Any], None]

_CHECKS: tuple[Check, ...] = (
    check_constructor,
    check_parameters_stay,
    check_float32_stays,
    check_number_types,
    check_input_is_left_alone,
    check_frames,
    check_bad_input,
    check_degenerate_rows,
    check_sparse,
    check_rows_are_independent,
    check_state_stays,
    check_randomness,
    check_memory,
    check_pickle_holds_the_model,
    check_sample_weight,
    check_silent,
    check_round_trips,
    check_invariances_are_declared,
)


def check_skrep_estimator(estimator: Any) -> None:
    """Check that a transformer keeps skrep's promises.

    Parameters
    ----------
    estimator : transformer
        An instance; it is cloned and never fitted itself.

    Raises
    ------
    AssertionError
        At the first broken promise, in words.

    See Also
    --------
    parametrize_with_skrep_checks : The same as single tests.
    sklearn.utils.estimator_checks.check_estimator : What scikit-learn asks.

    Examples
    --------
    >>> from sklearn.decomposition import PCA
    >>> from skrep.utils.estimator_checks import check_skrep_estimator
    >>> check_skrep_estimator(PCA())
    Traceback (most recent call last):
    ...
    AssertionError: PCA: ...
    """
    for check in _CHECKS:
        check(type(estimator).__name__, estimator)


def parametrize_with_skrep_checks(estimators: Iterable[Any]) -> Any:
    """Make one test of every promise of every estimator.

    Parameters
    ----------
    estimators : iterable of transformers
        Instances.

    Returns
    -------
    decorator
        A ``pytest.mark.parametrize`` of a test function with the arguments
        ``estimator`` and ``check``, which calls ``check(name, estimator)``.

    See Also
    --------
    check_skrep_estimator : All checks in one call.

    Examples
    --------
    >>> from skrep.relative import RelativeRepresentation
    >>> from skrep.utils.estimator_checks import parametrize_with_skrep_checks
    >>> @parametrize_with_skrep_checks([RelativeRepresentation()])
    ... def test_promises(estimator, check):
    ...     check(type(estimator).__name__, estimator)
    """
    pytest = require("pytest", "parametrize_with_skrep_checks")
    return pytest.mark.parametrize(
        ("estimator", "check"),
        [
            pytest.param(
                estimator, check, id=f"{type(estimator).__name__}-{check.__name__}"
            )
            for estimator in estimators
            for check in _CHECKS
        ],
    )
