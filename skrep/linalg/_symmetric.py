"""Powers of symmetric matrices."""

import numpy as np
import scipy.linalg

from skrep.typing import FloatArray

__all__ = ["symmetric_power"]


def symmetric_power(
    K: FloatArray, power: float, *, ridge: float = 0.0, rtol: float | None = None
) -> FloatArray:
    r"""Raise the absolute value of a symmetric matrix to a power.

    With :math:`K = V \,\mathrm{diag}(w) V^\top` this is
    :math:`V \,\mathrm{diag}((|w| + \lambda)^p) V^\top`, symmetric as K is. For a
    positive semi-definite K it is :math:`(K + \lambda I)^p`.

    Parameters
    ----------
    K : ndarray of shape (n, n)
        Symmetric matrix.
    power : float
        The exponent p, such as -0.5 for whitening.
    ridge : float, default=0.0
        The ridge lambda as a multiple of the mean absolute eigenvalue.
    rtol : float or None, default=None
        Directions whose absolute eigenvalue is at most `rtol` times the largest are
        dropped: their power counts as 0. None keeps all.

    Returns
    -------
    ndarray of shape (n, n)
        The power, in the dtype of K.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import symmetric_power
    >>> symmetric_power(np.diag([4.0, 9.0]), -0.5).round(4)
    array([[0.5   , 0.    ],
           [0.    , 0.3333]])
    """
    values, vectors = scipy.linalg.eigh(K)
    sizes = np.abs(values)
    sizes += ridge * sizes.mean()
    keep = np.full(len(sizes), True) if rtol is None else sizes > rtol * sizes.max()
    powers = np.zeros_like(sizes)
    powers[keep] = sizes[keep] ** power
    return (vectors * powers) @ vectors.T
