"""Directions and angles of rows."""

import numpy as np

from skrep.typing import FloatArray

__all__ = ["angles", "row_norms", "unit_rows"]


def unit_rows(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    r"""Divide every row by its Euclidean norm, whatever its range.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Floating-point rows. Rows whose squared norm would overflow or underflow are
        divided by their largest entry first.

    Returns
    -------
    units : ndarray of shape (n_rows, n_features)
        Rows of norm one; a zero row stays zero.
    norms : ndarray of shape (n_rows,)
        The norms of the rows.

    See Also
    --------
    angles : Angles between unit rows.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import unit_rows
    >>> units, norms = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0], [3e200, 4e200]]))
    >>> units
    array([[0.6, 0.8],
           [0. , 0. ],
           [0.6, 0.8]])
    """
    largest = np.abs(X).max(axis=1, initial=0.0)
    divisor = np.where(_squares_safely(largest), largest.dtype.type(1), largest)
    divisor[largest == 0] = 1
    scaled = X / divisor[:, None]
    norms = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    scaled /= np.where(norms == 0, norms.dtype.type(1), norms)[:, None]
    return scaled, norms * divisor


def _squares_safely(largest: FloatArray) -> FloatArray:
    info = np.finfo(largest.dtype)
    return (largest < float(info.max) ** 0.25) & (largest > float(info.tiny) ** 0.25)


def row_norms(X: FloatArray) -> FloatArray:
    """Compute Euclidean norms of rows, whatever their range.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Floating-point rows.

    Returns
    -------
    ndarray of shape (n_rows,)
        The norms.

    See Also
    --------
    unit_rows : Norms and the rows divided by them.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import row_norms
    >>> row_norms(np.array([[3.0, 4.0], [3e200, 4e200]]))
    array([5.e+000, 5.e+200])
    """
    with np.errstate(over="ignore"):
        squares = np.einsum("ij,ij->i", X, X)
    norms = np.sqrt(squares)
    info = np.finfo(X.dtype)
    unsafe = ~((squares > info.tiny / info.eps) & (squares < info.max))
    if unsafe.any():
        norms[unsafe] = unit_rows(X[unsafe])[1]
    return norms


def angles(cosines: FloatArray, U: FloatArray, V: FloatArray) -> FloatArray:
    r"""Compute angles between unit vectors, also where they nearly coincide.

    The arc cosine loses half the digits near :math:`\pm 1`. There the half-angle form
    :math:`2\,\mathrm{atan2}(\|u - v\|, \|u + v\|)` (Kahan, 2006) takes over.

    Parameters
    ----------
    cosines : ndarray of shape (n_rows, n_others)
        The products ``U @ V.T``; overwritten with the result.
    U : ndarray of shape (n_rows, n_features)
        Unit or zero rows.
    V : ndarray of shape (n_others, n_features)
        Unit or zero rows.

    Returns
    -------
    ndarray of shape (n_rows, n_others)
        Angles in radians, between 0 and pi.

    References
    ----------
    .. [1] Kahan, W. (2006). How futile are mindless assessments of roundoff in
       floating-point computation?

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import angles
    >>> U = np.array([[1.0, 0.0], [0.0, 1.0]])
    >>> angles(U @ U.T, U, U).round(4)
    array([[0.    , 1.5708],
           [1.5708, 0.    ]])
    """
    rows, others = np.nonzero(np.abs(cosines) > 0.99)
    np.clip(cosines, -1, 1, out=cosines)
    np.arccos(cosines, out=cosines)
    for part in np.array_split(np.arange(rows.size), rows.size // 4096 + 1):
        u, v = U[rows[part]], V[others[part]]
        cosines[rows[part], others[part]] = 2 * np.arctan2(
            np.linalg.norm(u - v, axis=1), np.linalg.norm(u + v, axis=1)
        )
    return cosines
