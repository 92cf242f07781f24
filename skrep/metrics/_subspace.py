"""How far two subspaces are from each other: principal angles."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from skrep.metrics._validation import read_rows
from skrep.typing import FloatArray

__all__ = ["principal_angles", "subspace_distance"]

METRICS = ("sine", "projection")


def principal_angles(A: npt.ArrayLike, B: npt.ArrayLike) -> FloatArray:
    """Compute the principal angles between two subspaces.

    The first is the smallest angle between a vector of one space and a vector of the
    other; each further one is the smallest that is left among vectors orthogonal to
    those before [1]_. Rows span the spaces, as in `components_`; only the spaces
    count, not their bases.

    Parameters
    ----------
    A : array-like of shape (n_directions, n_features)
        Linearly independent rows, of any length and at any angles; no row spans the
        space of the zero vector.
    B : array-like of shape (n_other_directions, n_features)
        The same for the other space.

    Returns
    -------
    ndarray of shape (min(n_directions, n_other_directions),), float64
        Angles in radians, from 0 to pi / 2, in ascending order.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, the numbers of columns differ, or the rows of
        one are linearly dependent.

    See Also
    --------
    subspace_distance : One number of them.
    scipy.linalg.subspace_angles : Takes columns, in descending order of the angles,
        and loses half of the digits of a tiny angle that stands beside a large one.

    Notes
    -----
    All angles are 0 when one space lies within the other. Both spaces must be given
    in the same coordinates: as angles depend on the units of the columns, those
    between the directions of whitened rows differ from those between `components_`.

    Each angle comes from its sine and its cosine together [2]_, so that its error is
    about 1e-16 times the condition number of the rows, whatever its size.

    References
    ----------
    .. [1] Björck, Å. and Golub, G. H. (1973). "Numerical methods for computing angles
       between linear subspaces". Mathematics of Computation, 27(123), 579-594.
    .. [2] Knyazev, A. V. and Argentati, M. E. (2002). "Principal angles between
       subspaces in an A-based scalar product: algorithms and perturbation estimates".
       SIAM Journal on Scientific Computing, 23(6), 2008-2040.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.metrics import principal_angles
    >>> A = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> B = [[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]
    >>> np.rad2deg(principal_angles(A, B)).round(1)
    array([ 0. , 54.7])
    """
    bases = _read_bases("principal_angles", A, B)
    sines, cosines = _sines_and_cosines(*bases)
    return np.asarray(np.arctan2(sines, cosines))


def subspace_distance(
    A: npt.ArrayLike, B: npt.ArrayLike, *, metric: str = "sine"
) -> float:
    """Measure how far apart two subspaces are, between 0 and 1.

    0 means that the spaces are equal. So a fitted index space is compared with the
    true one, or the spaces of two samples with each other.

    Parameters
    ----------
    A : array-like of shape (n_directions, n_features)
        Linearly independent rows, which span one space, such as `components_`.
    B : array-like of shape (n_other_directions, n_features)
        The same for the other space.
    metric : {"sine", "projection"}, default="sine"
        "sine" is the sine of the largest principal angle: the direction that is
        missed most. "projection" is the root mean square over all angles: how much
        is missed in all.

    Returns
    -------
    float
        Distance, from 0 to 1.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, the numbers of columns differ, the rows of one
        are linearly dependent, or `metric` is unknown.

    See Also
    --------
    principal_angles : The angles themselves, all 0 if one space holds the other.
    skrep.datasets.make_index_model : Data whose index space is known.

    Notes
    -----
    With `P_A` and `P_B` the orthogonal projections onto the spaces, of dimensions `a`
    and `b`, "sine" is ``||P_A - P_B||_2`` [1]_ and "projection" is
    ``||P_A - P_B||_F / sqrt(a + b)``. For equal dimensions they are ``sin(angles[-1])``
    and ``sqrt(mean(sin(angles) ** 2))``; one less the square of the latter is the
    squared trace correlation [2]_.

    Spaces of different dimensions are never equal, also where one holds the other:
    their "sine" is 1, and their "projection" counts each direction without a partner
    as half of one that is wholly missed. A line within a plane is at the distance
    ``sqrt(1 / 3)`` from it. Whether one space holds the other is told by
    ``principal_angles(A, B)[-1]``.

    References
    ----------
    .. [1] Li, B., Zha, H. and Chiaromonte, F. (2005). "Contour regression: a general
       approach to dimension reduction". The Annals of Statistics, 33(4), 1580-1616.
    .. [2] Ye, Z. and Weiss, R. E. (2003). "Using the bootstrap to select one of a new
       class of dimension reduction methods". Journal of the American Statistical
       Association, 98(464), 968-979.

    Examples
    --------
    >>> from skrep.metrics import subspace_distance
    >>> A = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    >>> subspace_distance(A, [[1.0, 1.0, 0.0], [1.0, -1.0, 0.0]])
    0.0
    >>> B = [[1.0, 0.0, 0.0], [0.0, 0.8, 0.6]]
    >>> print(f"{subspace_distance(A, B):.3f}")
    0.600
    >>> print(f"{subspace_distance(A, B, metric='projection'):.3f}")
    0.424
    """
    who = "subspace_distance"
    validate_parameter_constraints(
        {"metric": [StrOptions(set(METRICS))]}, {"metric": metric}, caller_name=who
    )
    bases = _read_bases(who, A, B)
    sines, _ = _sines_and_cosines(*bases)
    alone, together = abs(len(bases[0]) - len(bases[1])), sum(map(len, bases))
    if metric == "sine":
        return 1.0 if alone else float(np.max(sines, initial=0.0))
    return float(np.sqrt((2 * np.sum(sines**2) + alone) / max(together, 1)))


def _sines_and_cosines(A: FloatArray, B: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of the angles in ascending order; orthonormal rows."""
    if len(A) < len(B):
        A, B = B, A
    inner = B @ A.T
    cosines = np.linalg.svd(inner, compute_uv=False)
    sines = np.linalg.svd(B - inner @ A, compute_uv=False)[::-1]
    return np.minimum(sines, 1), np.minimum(cosines, 1)


def _read_bases(who: str, A: Any, B: Any) -> tuple[FloatArray, FloatArray]:
    """Orthonormal rows of both spaces."""
    first, second = _read_basis(who, A, "A"), _read_basis(who, B, "B")
    if first.shape[1] != second.shape[1]:
        raise ValueError(
            f"{who}: 'A' has {first.shape[1]} columns and 'B' has {second.shape[1]}. "
            "Rows span the spaces, so both need the same columns: pass A.T and B.T if "
            "columns span them."
        )
    return first, second


def _read_basis(who: str, rows: Any, name: str) -> FloatArray:
    rows = read_rows(rows, name, who, ensure_min_samples=0)
    # The units of the rows decide nothing about their independence.
    sizes = np.max(np.abs(rows), axis=1, keepdims=True)
    units = rows / np.where(sizes > 0, sizes, 1)
    _, singular, basis = np.linalg.svd(units, full_matrices=False)
    slack = max(rows.shape) * np.finfo(np.float64).eps
    rank = int(np.sum(singular > slack * np.max(singular, initial=0.0)))
    if rank < len(rows):
        raise ValueError(
            f"{who}: '{name}' has {len(rows)} rows that span {rank} dimensions. They "
            f"must be linearly independent: pass scipy.linalg.orth({name}.T).T for "
            "the space that they span."
        )
    return np.asarray(basis)
