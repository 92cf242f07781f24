"""The Marchenko-Pastur law: eigenvalues of the covariance of pure noise."""

from typing import Any

import numpy as np
import scipy.optimize

from skrep.typing import FloatArray

__all__ = [
    "marchenko_pastur_cdf",
    "marchenko_pastur_edges",
    "marchenko_pastur_median",
]


def marchenko_pastur_edges(ratio: float) -> tuple[float, float]:
    r"""Give the ends of the Marchenko-Pastur law, :math:`(1 \mp \sqrt\beta)^2`.

    The eigenvalues of the covariance of n independent rows with d independent columns
    of variance one lie between them as n and d grow with :math:`d / n = \beta`.

    Parameters
    ----------
    ratio : float
        Columns per row, beta > 0.

    Returns
    -------
    lower, upper : float
        The ends of the positive eigenvalues. Above 1 the other eigenvalues are 0.

    Examples
    --------
    >>> from skrep.linalg import marchenko_pastur_edges
    >>> marchenko_pastur_edges(0.25)
    (0.25, 2.25)
    """
    root = float(np.sqrt(ratio))
    return (1 - root) ** 2, (1 + root) ** 2


def marchenko_pastur_cdf(x: Any, ratio: float) -> FloatArray:
    r"""Give the share of the positive noise eigenvalues up to x.

    The density of the law [1]_ is :math:`\sqrt{(h - x)(x - l)} / (2 \pi \beta x)`
    between its ends l and h. Above :math:`\beta = 1` the positive eigenvalues are
    :math:`\beta` times those of the transposed rows, of ratio :math:`1 / \beta`.

    Parameters
    ----------
    x : float or array-like
        Eigenvalues, in units of the noise variance.
    ratio : float
        Columns per row, beta > 0.

    Returns
    -------
    ndarray
        Numbers from 0 to 1.

    References
    ----------
    .. [1] Marchenko, V. A. and Pastur, L. A. (1967). Distribution of eigenvalues for
       some sets of random matrices. Mathematics of the USSR-Sbornik, 1(4), 457-483.

    Examples
    --------
    >>> from skrep.linalg import marchenko_pastur_cdf
    >>> marchenko_pastur_cdf([0.25, 1.0, 2.25], 0.25).round(3)
    array([0.   , 0.553, 1.   ])
    """
    x = np.asarray(x, dtype=np.float64)
    if ratio > 1:
        return marchenko_pastur_cdf(x / ratio, 1 / ratio)
    low, high = marchenko_pastur_edges(ratio)
    inside = np.clip(x, low, high)
    # Angles by arctan2, which knows the ends, where a quotient would divide by 0.
    up, down = np.sqrt(high - inside), np.sqrt(inside - low)
    area = up * down + (1 + ratio) * (np.pi / 2 - 2 * np.arctan2(up, down))
    area += (1 - ratio) * np.arctan2(
        low * up**2 - high * down**2, 2 * (1 - ratio) * up * down
    )
    area = (area + np.pi * ratio) / (2 * np.pi * ratio)
    return np.where(x <= low, 0.0, np.where(x >= high, 1.0, np.clip(area, 0, 1)))


def marchenko_pastur_median(ratio: float) -> float:
    """Give the median of the positive noise eigenvalues, over the noise variance.

    The median of observed eigenvalues over it estimates the noise variance, whatever
    a minority of larger eigenvalues holds [1]_.

    Parameters
    ----------
    ratio : float
        Columns per row, beta > 0.

    Returns
    -------
    float
        The median.

    References
    ----------
    .. [1] Gavish, M. and Donoho, D. L. (2014). The optimal hard threshold for singular
       values is 4/sqrt(3). IEEE Transactions on Information Theory, 60(8), 5040-5053.

    Examples
    --------
    >>> from skrep.linalg import marchenko_pastur_median
    >>> round(marchenko_pastur_median(0.25), 4)
    0.916
    """
    low, high = marchenko_pastur_edges(ratio)
    found: float = scipy.optimize.brentq(
        lambda x: float(marchenko_pastur_cdf(x, ratio)) - 0.5, low, high
    )
    return found
