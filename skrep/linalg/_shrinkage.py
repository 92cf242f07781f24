"""How far to shrink a covariance, from the covariance alone."""

import numpy as np

from skrep.typing import FloatArray

__all__ = ["oas_shrinkage"]


def oas_shrinkage(covariance: FloatArray, n_rows: float) -> float:
    r"""Estimate the intensity of the shrinkage towards a multiple of the identity.

    The oracle approximating estimator [1]_ for covariances S of p columns, without the
    terms 2/p as in :class:`sklearn.covariance.OAS`,

    .. math:: \rho = \min\left(1, \frac{\operatorname{tr} S^2 +
        \operatorname{tr}^2 S}{(n + 1) (\operatorname{tr} S^2 -
        \operatorname{tr}^2 S / p)}\right),

    needs S and the number of rows alone, so that it can be had from merged moments.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        The covariance S.
    n_rows : float
        Number of rows, or the sum of their weights.

    Returns
    -------
    float
        Intensity between 0 and 1; 0 for one column, and for a covariance of zeros.

    See Also
    --------
    discriminant_axes : Axes by a covariance that is shrunk so.

    References
    ----------
    .. [1] Chen, Y., Wiesel, A., Eldar, Y. C. and Hero, A. O. (2010). Shrinkage
       algorithms for MMSE covariance estimation. IEEE Transactions on Signal
       Processing, 58(10), 5016-5029.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import oas_shrinkage
    >>> oas_shrinkage(np.diag([3.0, 1.0]), 25)
    0.5
    """
    p = len(covariance)
    trace = np.trace(covariance)
    if p == 1 or not trace > 0:
        return 0.0
    squares = float(np.sum((covariance / trace) ** 2))
    excess = (n_rows + 1) * (squares - 1 / p)
    return 1.0 if excess <= squares + 1 else (squares + 1) / excess
