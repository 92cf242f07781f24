"""Bartlett's test of how many canonical correlations are more than noise."""

import numpy as np
import scipy.special

from skrep.typing import FloatArray

__all__ = ["bartlett_test"]


def bartlett_test(
    correlations: FloatArray, n_rows: float, p: int, q: int
) -> tuple[float, float]:
    r"""Test whether squared canonical correlations are those of noise.

    .. math:: -\Big(n - 1 - \frac{p + q + 1}{2}\Big) \sum_{j > r} \log(1 - \lambda_j)
        \sim \chi^2_{(p - r)(q - r)},

    where r correlations have been left out before [1]_. The eigenvalues of sliced
    inverse regression on H slices are squared canonical correlations with
    :math:`q = H - 1`, and this is Li's test [2]_ with a correction for small n.

    Parameters
    ----------
    correlations : ndarray of shape (n_correlations,)
        Squared canonical correlations but for the r largest, in any order; those that
        are zero may be left out.
    n_rows : float
        Number of rows n.
    p, q : int
        Dimensions of the two sides, less r each.

    Returns
    -------
    statistic : float
        The statistic, infinite for a correlation of one.
    p_value : float
        Chance of as much from noise; 1 where nothing is left to test.

    References
    ----------
    .. [1] Bartlett, M. S. (1938). Further aspects of the theory of multiple
       regression. Mathematical Proceedings of the Cambridge Philosophical Society,
       34(1), 33-40.
    .. [2] Li, K.-C. (1991). Sliced inverse regression for dimension reduction. Journal
       of the American Statistical Association, 86(414), 316-327.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import bartlett_test
    >>> statistic, p_value = bartlett_test(np.array([0.3, 0.01]), 100, 2, 2)
    >>> round(statistic, 2), p_value < 1e-6
    (35.39, True)
    """
    degrees = p * q
    if degrees <= 0:
        return 0.0, 1.0
    with np.errstate(divide="ignore"):
        logs = np.log1p(-np.clip(correlations, 0.0, 1.0))
    factor = max(n_rows - 1 - (p + q + 1) / 2, 1.0)
    statistic = float(-factor * logs.sum())
    return statistic, float(scipy.special.chdtrc(degrees, statistic))
