"""Singular values and what replaces them."""

from typing import Any

import numpy as np
import scipy.linalg

from skrep.typing import FloatArray

__all__ = ["compact_svd", "softened"]


def compact_svd(
    M: FloatArray, rtol: float | None = None
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Singular value decomposition without the null space.

    Parameters
    ----------
    M : ndarray of shape (m, n)
        A matrix; an empty or zero one has rank 0.
    rtol : float or None, default=None
        Singular values up to `rtol` times the largest count as zero. None takes
        ``10 * max(m, n) * eps`` of the dtype.

    Returns
    -------
    U : ndarray of shape (m, rank)
        Left singular vectors.
    s : ndarray of shape (rank,)
        Singular values, all positive, in decreasing order.
    Vt : ndarray of shape (rank, n)
        Right singular vectors, as rows.

    See Also
    --------
    softened : Bring the singular values towards one.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import compact_svd
    >>> compact_svd(np.array([[3.0, 0.0], [0.0, 0.0]]))[1]
    array([3.])
    """
    if 0 in M.shape:
        return M[:, :0], np.zeros(0, M.dtype), np.zeros((0, M.shape[1]), M.dtype)
    result: Any = scipy.linalg.svd(M, full_matrices=False, check_finite=False)
    U, s, Vt = result
    if rtol is None:
        rtol = 10 * max(M.shape) * float(np.finfo(s.dtype).eps)
    rank = int(np.sum(s > rtol * s[0]))
    return U[:, :rank], s[:rank], Vt[:rank]


def softened(s: FloatArray, softness: float) -> FloatArray:
    r"""Singular values of a soft partial isometry, :math:`s / \sqrt{s^2 + t^2 s_1^2}`.

    :math:`R = U \,\mathrm{diag}(\cdot)\, V^\top` is then the ridge-regularized polar
    factor :math:`M (M^\top M + t^2 s_1^2 I)^{-1/2}` of
    :math:`M = U \,\mathrm{diag}(s)\, V^\top`. At t = 0 it is the Procrustes rotation
    [1]_ on the row and column spaces of M and zero elsewhere: completing it with
    arbitrary vectors would send directions that M says nothing about anywhere.

    Parameters
    ----------
    s : ndarray of shape (rank,)
        Positive singular values, the largest first.
    softness : float
        The softness t >= 0; at 0 all values become one.

    Returns
    -------
    ndarray of shape (rank,)
        Values between 0 and 1.

    References
    ----------
    .. [1] Schönemann, P. H. (1966). A generalized solution of the orthogonal
       Procrustes problem. Psychometrika, 31(1), 1-10.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import softened
    >>> softened(np.array([4.0, 3.0]), 1.0).round(4)
    array([0.7071, 0.6   ])
    """
    relative = s / s[:1]
    return relative / np.hypot(relative, relative.dtype.type(softness))
