"""Canonical correlations with a ridge, from ridge-whitened SVDs."""

import numpy as np

from skrep.linalg._svd import compact_svd
from skrep.typing import FloatArray

__all__ = ["canonical_directions", "ridge_cca"]


def canonical_directions(
    s_x: FloatArray,
    overlap: FloatArray,
    s_y: FloatArray,
    x_penalty: float,
    y_penalty: float,
    n_components: int | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Canonical directions in the bases of two singular value decompositions.

    With :math:`X = U_x \,\mathrm{diag}(s_x) V_x^\top` and likewise for Y, the
    ridge-whitened cross product is :math:`\mathrm{diag}(f_x)\, U_x^\top U_y
    \,\mathrm{diag}(f_y)`, :math:`f = s / \sqrt{s^2 + \lambda}`: many penalties cost
    one SVD of X and one of Y.

    Parameters
    ----------
    s_x : ndarray of shape (x_rank,)
        Positive singular values of X.
    overlap : ndarray of shape (x_rank, y_rank)
        The product of the left singular vectors, :math:`U_x^\top U_y`.
    s_y : ndarray of shape (y_rank,)
        Positive singular values of Y.
    x_penalty, y_penalty : float
        Ridges added to the eigenvalues of X^T X and Y^T Y.
    n_components : int or None, default=None
        Number of directions; None takes as many as there are.

    Returns
    -------
    x_directions : ndarray of shape (x_rank, n_components)
        Multiply by the right singular vectors of X for directions of its columns.
    y_directions : ndarray of shape (y_rank, n_components)
        The same for Y.
    correlations : ndarray of shape (n_components,)
        Singular values, canonical correlations if the penalties are 0.

    See Also
    --------
    ridge_cca : The same from X and Y.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import canonical_directions
    >>> one = np.ones(1)
    >>> canonical_directions(one, np.array([[0.5]]), one, 1.0, 0.0)[2].round(4)
    array([0.3536])
    """
    x_roots = np.sqrt(s_x**2 + s_x.dtype.type(x_penalty))
    y_roots = np.sqrt(s_y**2 + s_y.dtype.type(y_penalty))
    U, correlations, Vt = compact_svd(
        (s_x / x_roots)[:, None] * overlap * (s_y / y_roots)
    )
    kept = slice(n_components)
    return (
        U[:, kept] / x_roots[:, None],
        Vt[kept].T / y_roots[:, None],
        correlations[kept],
    )


def ridge_cca(
    X: FloatArray,
    Y: FloatArray,
    n_components: int | None = None,
    x_penalty: float = 0.0,
    y_penalty: float = 0.0,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    r"""Ridge-regularised canonical correlation analysis, in closed form.

    :math:`U \Sigma V^\top = (X^\top X + \lambda_x I)^{-1/2} X^\top Y
    (Y^\top Y + \lambda_y I)^{-1/2}`, with directions
    :math:`W_x = (X^\top X + \lambda_x I)^{-1/2} U` and
    :math:`W_y = (Y^\top Y + \lambda_y I)^{-1/2} V`. Inverses are taken on the span
    of the rows only.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Centered rows, times the root of their weights.
    Y : ndarray of shape (n_rows, n_outputs)
        Their partners, treated as X.
    n_components : int or None, default=None
        Number of directions; None takes as many as there are.
    x_penalty, y_penalty : float, default=0.0
        The ridges, in the units of X^T X and Y^T Y.

    Returns
    -------
    W_x : ndarray of shape (n_features, n_components)
        Directions of X; the largest entry of each is positive.
    W_y : ndarray of shape (n_outputs, n_components)
        Directions of Y.
    correlations : ndarray of shape (n_components,)
        Singular values in decreasing order, canonical correlations at no ridge.

    See Also
    --------
    sklearn.cross_decomposition.CCA : Iterative and without a ridge.

    References
    ----------
    .. [1] Vinod, H. D. (1976). Canonical ridge and econometrics of joint
       production. Journal of Econometrics, 4(2), 147-166.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import ridge_cca
    >>> X = np.array([[-1.0, 1.0], [0.0, -2.0], [1.0, 1.0]])
    >>> W_x, W_y, correlations = ridge_cca(X, 2 * X[:, :1])
    >>> correlations.round(4)
    array([1.])
    """
    U_x, s_x, Vt_x = compact_svd(X)
    U_y, s_y, Vt_y = compact_svd(Y)
    x_directions, y_directions, correlations = canonical_directions(
        s_x, U_x.T @ U_y, s_y, x_penalty, y_penalty, n_components
    )
    W_x, W_y = Vt_x.T @ x_directions, Vt_y.T @ y_directions
    signs = np.ones(W_x.shape[1], W_x.dtype)
    if W_x.size:
        largest = np.argmax(np.abs(W_x), axis=0)
        signs[W_x[largest, np.arange(W_x.shape[1])] < 0] = -1
    return W_x * signs, W_y * signs, correlations
