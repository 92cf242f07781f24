"""A test for each claim of each estimator."""

from collections.abc import Iterable, Sequence
from typing import Any

from skrep.invariance._declared import declared

__all__ = ["parametrize_with_invariances"]


def parametrize_with_invariances(
    estimators: Iterable[Any], *, ids: Sequence[str] | None = None
) -> Any:
    """Decorate a test with every claim of every estimator.

    The test takes two arguments, ``estimator`` and ``claim``, and brings the data.

    Parameters
    ----------
    estimators : iterable of estimator objects or of tuples (estimator, claims)
        Estimators with a method ``invariances()``, or any estimators and their
        claims.
    ids : sequence of str, default=None
        One name per estimator, for the names of the tests. None takes its repr.

    Returns
    -------
    pytest.MarkDecorator
        Decorator of a test function.

    Raises
    ------
    TypeError
        If an estimator declares nothing and comes without claims.
    ValueError
        If there is no claim at all, or the number of ids is not that of estimators.

    See Also
    --------
    check_invariance : What such a test calls.
    sklearn.utils.estimator_checks.parametrize_with_checks : Scikit-learn's own
        battery.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import StandardScaler
    >>> from skrep.invariance import (
    ...     Claim, check_invariance, parametrize_with_invariances
    ... )
    >>> @parametrize_with_invariances([(StandardScaler(), [Claim("translation")])])
    ... def test_claims(estimator, claim):
    ...     report = check_invariance(estimator, claim, load_iris().data)
    ...     assert report.holds, report
    """
    import pytest

    pairs = [declared(item) for item in estimators]
    names = [repr(estimator) for estimator, _ in pairs] if ids is None else list(ids)
    if len(names) != len(pairs):
        raise ValueError(
            f"parametrize_with_invariances: 'ids' has {len(names)} entries for "
            f"{len(pairs)} estimators. Give one name per estimator."
        )
    cases = [
        pytest.param(estimator, claim, id=f"{' '.join(name.split())}-{claim}")
        for name, (estimator, claims) in zip(names, pairs, strict=True)
        for claim in claims
    ]
    if not cases:
        # pytest would skip in silence, and nothing would be tested.
        raise ValueError(
            "parametrize_with_invariances: 'estimators' make no claim, so there is "
            "nothing to test."
        )
    return pytest.mark.parametrize(("estimator", "claim"), cases)
