"""The distances that hyperbolic scaling starts from."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import scipy.sparse as sp

from skrep._claims import Claim
from skrep.exceptions import ThinDataWarning
from skrep.geometry import euclidean_distances, row_norms, unit_rows
from skrep.typing import AnyArray, FloatArray, Matrix
from skrep.utils import warn

__all__ = [
    "COMPLETED",
    "INCOMPLETE",
    "METRICS",
    "SMALL_SPARSE",
    "SPARSE",
    "check_known",
    "check_square",
    "claims",
    "measure",
    "warn_of_zeros",
]

_EUCLIDEAN: Final = ("euclidean", "l2", "minkowski", "sqeuclidean")
_MANHATTAN: Final = ("cityblock", "l1", "manhattan")
_ANGULAR: Final = ("correlation", "cosine")
_BOOLEAN: Final = ("dice", "jaccard", "rogerstanimoto", "sokalsneath", "yule")

METRICS: Final = (
    *("precomputed", "braycurtis", "canberra", "chebyshev", "hamming", "haversine"),
    *(*_EUCLIDEAN, *_MANHATTAN, *_ANGULAR, *_BOOLEAN),
)
"""Those of scikit-learn that depend on two rows alone and are 0 between equal ones."""

SPARSE: Final = (*_EUCLIDEAN, *_MANHATTAN)
"""Metrics that take CSR rows."""

SMALL_SPARSE: Final = _MANHATTAN
"""Those of them that take indices of 32 bits alone."""

COMPLETED: Final = "scipy.sparse.csgraph.shortest_path({}, directed=False)"
"""The distances along a graph, as code."""

INCOMPLETE: Final = (
    "All distances must be known. Complete those of the fitted rows by shortest paths: "
    f"{COMPLETED.format('X')}."
)
"""What to do about given distances that are not finite."""

_GROUPS: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys(_EUCLIDEAN, ("orthogonal", "translation")),
    **dict.fromkeys(
        (*_MANHATTAN, "chebyshev"), ("translation", "column_permutation", "sign_flip")
    ),
    "cosine": ("orthogonal", "row_scaling"),
    "correlation": ("row_scaling", "column_permutation"),
    "canberra": ("column_scaling", "column_permutation", "sign_flip"),
    "braycurtis": ("positive_scaling", "column_permutation", "sign_flip"),
}
# Share of the norm of a row below which its deviations are rounding.
_ROUNDING: Final = 1e-13
_HOMOGENEOUS: Final = (*_EUCLIDEAN, *_MANHATTAN, "chebyshev", "precomputed")


def measure(
    who: str,
    metric: str | Callable[[AnyArray, AnyArray], float],
    X: Matrix,
    Y: Matrix,
) -> FloatArray:
    """Compute the distances between rows.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    metric : str or callable
        One of `METRICS` but "precomputed", or a function of two rows.
    X : {ndarray, CSR} of shape (n_rows, n_features)
        Rows.
    Y : {ndarray, CSR} of shape (n_others, n_features)
        Other rows.

    Returns
    -------
    ndarray of shape (n_rows, n_others), float64
        The distances.

    Raises
    ------
    ValueError
        If the rows do not suit the metric.
    """
    if metric in _EUCLIDEAN:
        distances = _euclidean(X, Y)
        return distances**2 if metric == "sqeuclidean" else distances
    if metric in _ANGULAR:
        return _angular(metric, X, Y)
    from sklearn.metrics import pairwise_distances

    if metric in _BOOLEAN:
        X, Y = X != 0, Y != 0
    elif not callable(metric):
        X, Y = X.astype(np.float64), Y.astype(np.float64)
    try:
        found = pairwise_distances(X, Y, metric=metric)
    except ValueError as error:
        raise ValueError(f"{who}: 'metric' is {metric!r}: {error}") from error
    return np.asarray(found, dtype=np.float64)


def _euclidean(X: Matrix, Y: Matrix) -> FloatArray:
    """Euclidean distances that do not depend on unit and origin of the rows."""
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    if sp.issparse(X):
        return euclidean_distances(X, Y)
    center = Y.mean(axis=0)
    Y -= center
    X -= center
    exponent = np.frexp(np.abs(Y).max())[1]
    distances = euclidean_distances(np.ldexp(X, -exponent), np.ldexp(Y, -exponent))
    return np.ldexp(distances, exponent)


def _angular(metric: Any, X: FloatArray, Y: FloatArray) -> FloatArray:
    """One less the cosine; a row without direction is at 1 from all that have one."""
    X, Y = X.astype(np.float64), Y.astype(np.float64)
    if metric == "correlation":
        X, Y = _varying(X), _varying(Y)
    (U, x_norms), (V, y_norms) = unit_rows(X), unit_rows(Y)
    distances = euclidean_distances(U, V) ** 2 / 2
    distances[(x_norms > 0)[:, None] != (y_norms > 0)] = 1
    return distances


def _varying(X: FloatArray) -> FloatArray:
    """Rows less their means; those that are constant but for rounding become zero."""
    varying = X - X.mean(axis=1, keepdims=True)
    varying[row_norms(varying) <= _ROUNDING * row_norms(X)] = 0
    return varying


def check_known(who: str, distances: FloatArray, *, given: bool) -> None:
    """Refuse distances that are not all known and non-negative.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    distances : ndarray of shape (n_rows, n_others)
        The distances.
    given : bool
        Whether they are X itself, and not computed from it.

    Raises
    ------
    ValueError
        If one is NaN, infinite or negative.
    """
    bad = ~(np.isfinite(distances) & (distances >= 0))
    if not bad.any():
        return
    i, j = np.argwhere(bad)[0]
    value = float(distances[i, j])
    what = "NaN" if np.isnan(value) else "infinity" if value == np.inf else f"{value:g}"
    if not given:
        raise ValueError(
            f"{who}: 'metric' gives {what} between row {i} and fitted row {j}. "
            "Distances must be finite and not negative. Drop such rows, divide huge "
            "ones by one number, or pass metric='euclidean'."
        )
    raise ValueError(
        f"{who}: Negative values in data: 'X' contains {what}, first in row {i}, "
        f"column {j}. Pass distances, such as 1 - S of similarities S up to 1."
    )


def check_square(
    who: str, distances: FloatArray, dtype: Any, *, given: bool
) -> FloatArray:
    """Refuse what cannot be distances between the same rows, and round it off.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    distances : ndarray of shape (n_rows, n_rows), float64
        Finite, non-negative.
    dtype : dtype
        Where they come from; half of its digits must agree.
    given : bool
        Whether they are X itself, and not computed from it.

    Returns
    -------
    ndarray of shape (n_rows, n_rows), float64
        Exactly symmetric, with zeros on the diagonal.

    Raises
    ------
    ValueError
        If the diagonal is not zero, or the two halves differ.
    """
    rounding = np.sqrt(np.finfo(dtype).eps) * distances.max()
    diagonal = np.diag(distances)
    if diagonal.max() > rounding:
        i = int(np.argmax(diagonal))
        found = f"{diagonal[i]:g} between row {i} and itself"
        raise ValueError(
            f"{who}: 'X' has {found}. This must be 0. Pass X - np.diag(np.diag(X)), "
            "if these are distances."
            if given
            else f"{who}: 'metric' gives {found}. This must be 0. Pass a function that "
            "is 0 for equal rows."
        )
    gaps = np.abs(distances - distances.T)
    if gaps.max() > rounding:
        i, j = divmod(int(np.argmax(gaps)), len(gaps))
        there, back = distances[i, j], distances[j, i]
        remedy = "(X + X.T) / 2"
        if min(there, back) == 0:
            remedy = f"{COMPLETED.format('X')}, if these are edges"
        raise ValueError(
            f"{who}: 'X' is not symmetric: it has {there:g} from row {i} to {j}, and "
            f"{back:g} back. Pass {remedy}."
        )
    even: FloatArray = (distances + distances.T) / 2
    np.fill_diagonal(even, 0)
    return even


def warn_of_zeros(who: str, distances: FloatArray) -> None:
    """Warn of given distances that look like the edges of a graph.

    Parameters
    ----------
    who : str
        The estimator that is named.
    distances : ndarray of shape (n_rows, n_rows)
        Symmetric, with zeros on the diagonal.

    Warns
    -----
    ThinDataWarning
        If most pairs of rows are at distance 0.
    """
    n_pairs = distances.size - len(distances)
    share = 1 - np.count_nonzero(distances) / max(n_pairs, 1)
    if n_pairs and share > 0.5:
        warn(
            f"{who}: 'X' is 0 between {share:.0%} of the pairs of rows, and a distance "
            "of 0 makes two rows one point. Edges of a graph are no distances: pass "
            f"{COMPLETED.format('X')}.",
            ThinDataWarning,
        )


def claims(metric: Any, *, free: bool) -> tuple[Claim, ...]:
    """List the claims that a set of parameters supports.

    Parameters
    ----------
    metric : str or callable
        The metric.
    free : bool
        Whether the scale is chosen, so that the unit of distances does not matter.

    Returns
    -------
    tuple of Claim
        The claims, where no eigenvalues tie.
    """
    named = metric if isinstance(metric, str) else ""
    moved = "tree_relabelling" if named == "precomputed" else "row_permutation"
    groups = list(_GROUPS.get(named, ()))
    if free and named in _HOMOGENEOUS:
        groups.append("positive_scaling")
    return (Claim(moved, "same_action"), *(Claim(group) for group in groups))
