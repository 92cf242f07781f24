"""Rotations from pairs of rows: partial isometries that are never completed."""

from typing import Any

import numpy as np
import scipy.linalg

from skrep.typing import FloatArray

__all__ = ["compact_svd", "partial_isometry", "procrustes", "softened"]


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
    partial_isometry : Set the singular values to one.

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


def partial_isometry(
    M: FloatArray, softness: float = 0.0, rtol: float | None = None
) -> tuple[FloatArray, int]:
    r"""Nearest partial isometry of a matrix, optionally a soft one.

    With :math:`M = U \,\mathrm{diag}(s) V^\top` over the nonzero singular values,

    .. math:: R = U \,\mathrm{diag}\!\left(
        \frac{s}{\sqrt{s^2 + t^2 s_1^2}}\right) V^\top
        = M (M^\top M + t^2 s_1^2 I)^{-1/2} ,

    the ridge-regularised polar factor. At softness t = 0 it is the polar factor on
    the row and column spaces of M and zero elsewhere. An SVD returns arbitrary
    vectors for zero singular values; completing the rotation with them would send
    directions that M says nothing about to arbitrary places.

    Parameters
    ----------
    M : ndarray of shape (m, n)
        A matrix, such as the cross product of paired rows.
    softness : float, default=0.0
        The softness t >= 0, relative to the largest singular value.
    rtol : float or None, default=None
        As in `compact_svd`.

    Returns
    -------
    R : ndarray of shape (m, n)
        The isometry.
    rank : int
        Its rank: the number of nonzero singular values of M.

    See Also
    --------
    procrustes : Rotation and scale from paired rows.
    scipy.linalg.orthogonal_procrustes : The completed rotation.

    References
    ----------
    .. [1] Schönemann, P. H. (1966). A generalized solution of the orthogonal
       Procrustes problem. Psychometrika, 31(1), 1-10.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import partial_isometry
    >>> R, rank = partial_isometry(np.array([[0.0, 5.0], [0.0, 0.0]]))
    >>> abs(R)
    array([[0., 1.],
           [0., 0.]])
    >>> rank
    1
    """
    U, s, Vt = compact_svd(M, rtol)
    if s.size == 0:
        return np.zeros_like(M), 0
    return (U * softened(s, softness)) @ Vt, int(s.size)


def softened(s: FloatArray, softness: float) -> FloatArray:
    r"""Singular values of the soft isometry, :math:`s / \sqrt{s^2 + t^2 s_1^2}`.

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

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import softened
    >>> softened(np.array([4.0, 3.0]), 1.0).round(4)
    array([0.7071, 0.6   ])
    """
    relative = s / s[:1]
    return relative / np.hypot(relative, relative.dtype.type(softness))


def procrustes(X: FloatArray, Y: FloatArray) -> tuple[FloatArray, float, int]:
    r"""Rotation and scale that carry rows of X to rows of Y.

    :math:`R = U V^\top` of :math:`X^\top Y = U \Sigma V^\top`, over the nonzero
    singular values, and :math:`c = \mathrm{tr}\,\Sigma / \|X R\|^2`, so that
    :math:`Y \approx c X R`. R maximises :math:`\mathrm{tr}(R^\top X^\top Y)`; where
    it has orthonormal rows it is also the least-squares rotation.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows, centered if a translation is to be ignored.
    Y : ndarray of shape (n_rows, n_outputs)
        Their partners; the widths may differ.

    Returns
    -------
    R : ndarray of shape (n_features, n_outputs)
        Partial isometry.
    scale : float
        The scale c; 0 if X and Y have nothing in common.
    rank : int
        Rank of R.

    References
    ----------
    .. [1] Schönemann, P. H. (1966). A generalized solution of the orthogonal
       Procrustes problem. Psychometrika, 31(1), 1-10.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import procrustes
    >>> X = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> R, scale, rank = procrustes(X, 3 * X[:, ::-1])
    >>> R.round(4) + 0.0
    array([[0., 1.],
           [1., 0.]])
    >>> round(scale, 4), rank
    (3.0, 2)
    """
    cross = X.T @ Y
    R, rank = partial_isometry(cross)
    if rank == 0:
        return R, 0.0, 0
    mapped = X @ R
    return R, float(np.vdot(R, cross) / np.vdot(mapped, mapped)), rank
