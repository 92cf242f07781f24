"""Generalized cross-validation of ridge penalties."""

import numpy as np

from skrep.typing import FloatArray

__all__ = ["gcv_scores"]


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
