"""How many directions of the rows tell the target."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array, check_random_state
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)

from skrep.linalg import (
    Moments,
    SliceMoments,
    averaged_variances,
    bartlett_test,
    inverse_means,
    quantile_edges,
    slice_codes,
    whiten_slices,
    whitening,
)
from skrep.typing import AnyArray, FloatArray
from skrep.utils.targets import check_target

__all__ = ["OrderTest", "order_test"]

_CONSTRAINTS: dict[str, list[Any]] = {
    "method": [StrOptions({"chi2", "permutation"})],
    "n_slices": [Interval(Integral, 2, None, closed="left")],
    "level": [Interval(Real, 0, 1, closed="neither")],
    "n_permutations": [Interval(Integral, 1, None, closed="left")],
    "target_type": [StrOptions({"auto", "classes", "numbers"})],
    "random_state": ["random_state"],
}


class OrderTest(NamedTuple):
    """Result of `order_test`.

    Parameters
    ----------
    n_components : int
        Number of directions that are more than noise; it may be 0.
    p_values : ndarray of shape (n_tests,)
        Entry r is the chance of what was seen if r directions were all; the last one
        exceeds the level, unless all directions count.
    """

    n_components: int
    p_values: FloatArray


def order_test(
    X: Any,
    y: Any,
    *,
    method: str = "chi2",
    n_slices: int = 10,
    level: float = 0.05,
    n_permutations: int = 99,
    target_type: str = "auto",
    random_state: Any = None,
) -> OrderTest:
    r"""Test how many directions of X tell y, whatever the links.

    For r = 0, 1, ... it is tested whether r directions are all there are; the first r
    that is not rejected is the answer.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, or what a transformer makes of them; invertible affine maps change
        nothing. There must be twice as many as columns, or more.
    y : array-like of shape (n_samples,)
        Numbers, which are cut into slices, or classes.
    method : {"chi2", "permutation"}, default="chi2"
        "chi2" is Li's sequential test of sliced inverse regression [1]_: free, and
        blind for even links and products. "permutation" looks at variances within
        slices as well: with the r leading directions kept, the other coordinates of the
        rows change places, and the trailing eigenvalues are compared [2]_. For r > 0
        this takes them to be independent, as whitened Gaussian rows are; of other rows
        it may find too many.
    n_slices : int, default=10
        Largest number of slices of a numeric `y`.
    level : float, default=0.05
        Chance of rejecting too much at each step, between 0 and 1.
    n_permutations : int, default=99
        Draws for each step of "permutation"; with fewer than ``1 / level`` of them
        nothing can be rejected.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        What `y` holds. "auto" takes strings, booleans, categories and up to 20
        distinct integers for classes, other numbers for numbers.
    random_state : int, RandomState instance or None, default=None
        Randomness of the permutations.

    Returns
    -------
    OrderTest
        The number `n_components`, and the `p_values`.

    Raises
    ------
    ValueError
        If rows are too few, all alike, or y has one value.

    See Also
    --------
    skrep.index_model.SteinIndex : Counts by edges of noise with n_components="auto".
    subspace_distance : How far the directions are from known ones.

    References
    ----------
    .. [1] Li, K.-C. (1991). Sliced inverse regression for dimension reduction. Journal
       of the American Statistical Association, 86(414), 316-327.
    .. [2] Cook, R. D. and Yin, X. (2001). Dimension reduction and visualization in
       discriminant analysis. Australian & New Zealand Journal of Statistics, 43(2),
       147-199.

    Examples
    --------
    >>> from skrep.datasets import make_index_model
    >>> from skrep.metrics import order_test
    >>> X, y, _ = make_index_model(1000, 8, links="ratio", random_state=0)
    >>> order_test(X, y).n_components
    2
    >>> X, y, _ = make_index_model(1000, 8, links="even", random_state=0)
    >>> order_test(X, y).n_components
    0
    >>> order_test(X, y, method="permutation", random_state=0).n_components
    1
    """
    options = {
        "method": method,
        "n_slices": n_slices,
        "level": level,
        "n_permutations": n_permutations,
        "target_type": target_type,
        "random_state": random_state,
    }
    validate_parameter_constraints(_CONSTRAINTS, options, "order_test")
    Z, codes = _slices(X, y, n_slices, target_type)
    if method == "chi2":
        p_values = _by_chi2(Z, codes, level)
    else:
        draws = check_random_state(random_state)
        p_values = _by_permutation(Z, codes, level, n_permutations, draws)
    passed = bool(p_values[-1] >= level)
    return OrderTest(len(p_values) - passed, p_values)


def _slices(
    X: Any, y: Any, n_slices: int, target_type: str
) -> tuple[FloatArray, AnyArray]:
    """Whitened rows, and the slice or class of each."""
    rows = check_array(
        X, dtype=np.float64, ensure_min_samples=2, estimator="order_test"
    )
    target = check_target("order_test", y, len(rows), target_type)
    codes = target.values
    if target.kind == "numbers":
        codes = slice_codes(codes, quantile_edges(codes, n_slices, lightest=0.5))
    if codes.min() == codes.max():
        raise ValueError(
            "order_test: 'y' has one value in all rows. Directions that tell it need "
            "at least two: pass rows of several values."
        )
    white = whitening(Moments.of(rows))
    rank = white.map.shape[1]
    if not rank:
        raise ValueError(
            "order_test: 'X' is constant in every column, so no direction tells "
            "anything. Pass rows that differ."
        )
    if len(rows) < 2 * rank:
        raise ValueError(
            f"order_test: 'X' has {len(rows)} rows of {rows.shape[1]} columns. The "
            "tests need twice as many rows as columns: pass the output of a "
            "transformer with fewer columns, such as PCA(n_components=10)."
        )
    return (rows - white.mean) @ white.map, codes


def _by_chi2(Z: FloatArray, codes: AnyArray, level: float) -> FloatArray:
    M = _matrix(Z, codes, second=False)
    values = np.linalg.eigvalsh(M)[::-1]
    p, q = Z.shape[1], len(np.unique(codes)) - 1
    found: list[float] = []
    for r in range(min(p, q)):
        found.append(bartlett_test(values[r:], len(Z), p - r, q - r)[1])
        if found[-1] >= level:
            break
    return np.array(found)


def _by_permutation(
    Z: FloatArray,
    codes: AnyArray,
    level: float,
    n_permutations: int,
    draws: np.random.RandomState,
) -> FloatArray:
    M = _matrix(Z, codes, second=True)
    values, vectors = np.linalg.eigh(M)
    turned = Z @ vectors[:, ::-1]
    found: list[float] = []
    for r in range(Z.shape[1]):
        seen = values[::-1][r:].sum()
        larger = 0
        for _ in range(n_permutations):
            moved = turned.copy()
            moved[:, r:] = turned[draws.permutation(len(Z)), r:]
            trailing = np.linalg.eigvalsh(_matrix(moved, codes, second=True))
            larger += trailing[::-1][r:].sum() >= seen
        found.append((1 + larger) / (1 + n_permutations))
        if found[-1] >= level:
            break
    return np.array(found)


def _matrix(Z: FloatArray, codes: AnyArray, *, second: bool) -> FloatArray:
    """Candidate matrix, of means alone or of means and variances within slices."""
    moments = SliceMoments.of(Z, codes)
    slices = whiten_slices(moments, whitening(moments.total()))
    means = inverse_means(slices)
    return means + averaged_variances(slices) / 2 if second else means
