"""Ridge regression from one singular value decomposition."""

import numpy as np

from skrep.linalg._procrustes import compact_svd
from skrep.typing import FloatArray

__all__ = ["gcv_scores", "ridge_coefficients", "ridge_gcv"]


def ridge_coefficients(X: FloatArray, Y: FloatArray, penalty: float) -> FloatArray:
    r"""Compute the coefficients of a multi-output ridge regression.

    :math:`W = (X^\top X + \lambda I)^{-1} X^\top Y
    = V \,\mathrm{diag}(s / (s^2 + \lambda))\, U^\top Y`.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows, centered where an intercept is wanted, times the root of their weights.
    Y : ndarray of shape (n_rows, n_outputs)
        Targets, treated as X.
    penalty : float
        The penalty lambda >= 0. At 0, the least-squares map of least norm.

    Returns
    -------
    ndarray of shape (n_features, n_outputs)
        The coefficients W.

    See Also
    --------
    ridge_gcv : Choose the penalty.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import ridge_coefficients
    >>> ridge_coefficients(np.eye(2), np.array([[2.0], [4.0]]), 1.0)
    array([[1.],
           [2.]])
    """
    U, s, Vt = compact_svd(X)
    return Vt.T @ ((s / (s**2 + penalty))[:, None] * (U.T @ Y))


def gcv_scores(
    s: FloatArray,
    projected: FloatArray,
    residual: float,
    penalties: FloatArray,
    n_rows: float,
    n_free: int = 1,
) -> FloatArray:
    r"""Generalized cross-validation scores of ridge penalties.

    .. math:: \mathrm{GCV}(\lambda) = \frac{n \,\|Y - X W_\lambda\|^2}
        {\left(n - f - \sum_j s_j^2 / (s_j^2 + \lambda)\right)^2}

    Parameters
    ----------
    s : ndarray of shape (rank,)
        Singular values of X.
    projected : ndarray of shape (rank,)
        Squared norms of the rows of U^T Y.
    residual : float
        Squared norm of the part of Y outside the span of U.
    penalties : ndarray of shape (n_penalties,)
        Penalties, positive unless n_rows exceeds rank + n_free.
    n_rows : float
        Number of rows, or the sum of their weights: a row of weight 2 then counts
        as two rows.
    n_free : int, default=1
        Parameters that are fitted without penalty: 1 for means, 0 for none.

    Returns
    -------
    ndarray of shape (n_penalties,)
        Scores, smaller is better; infinite where no degree of freedom is left.

    References
    ----------
    .. [1] Golub, G. H., Heath, M. and Wahba, G. (1979). Generalized
       cross-validation as a method for choosing a good ridge parameter.
       Technometrics, 21(2), 215-223.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import gcv_scores
    >>> gcv_scores(np.array([1.0]), np.array([4.0]), 0.0, np.array([1.0]), 3.0)
    array([1.33333333])
    """
    shrink = penalties[:, None] / (s**2 + penalties[:, None])
    squared_error = residual + (shrink**2) @ projected
    free = n_rows - n_free - (1 - shrink).sum(axis=1)
    usable = free > 1e-10 * n_rows
    scores = np.full(penalties.shape, np.inf)
    scores[usable] = n_rows * squared_error[usable] / free[usable] ** 2
    return scores


def ridge_gcv(
    X: FloatArray,
    Y: FloatArray,
    penalties: FloatArray,
    n_rows: float | None = None,
    n_free: int = 1,
) -> tuple[FloatArray, float, FloatArray]:
    r"""Ridge regression with the penalty of the least GCV score.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows, centered if `n_free` is 1, times the root of their weights.
    Y : ndarray of shape (n_rows, n_outputs)
        Targets, treated as X.
    penalties : ndarray of shape (n_penalties,)
        Positive penalties; of equal scores the first wins.
    n_rows : float or None, default=None
        Sum of the weights; None counts the rows of X.
    n_free : int, default=1
        Parameters that are fitted without penalty: 1 for means, 0 for none.

    Returns
    -------
    W : ndarray of shape (n_features, n_outputs)
        Coefficients at the chosen penalty.
    penalty : float
        The chosen penalty.
    scores : ndarray of shape (n_penalties,)
        All scores.

    See Also
    --------
    gcv_scores : The criterion.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import ridge_gcv
    >>> X = np.array([[-1.0], [0.0], [1.0]])
    >>> W, penalty, _ = ridge_gcv(X, 2 * X, np.array([1e-9, 1.0]))
    >>> W.round(4), penalty
    (array([[2.]]), 1e-09)
    """
    U, s, Vt = compact_svd(X)
    projection = U.T @ Y
    projected = np.einsum("ij,ij->i", projection, projection)
    residual = max(0.0, float(np.vdot(Y, Y) - projected.sum()))
    scores = gcv_scores(
        s,
        projected,
        residual,
        penalties,
        X.shape[0] if n_rows is None else n_rows,
        n_free,
    )
    penalty = float(penalties[np.argmin(scores)])
    return Vt.T @ ((s / (s**2 + penalty))[:, None] * projection), penalty, scores
