"""Kernels of infinitely many neurons with Gaussian weights."""

from typing import Final

import numpy as np

from skrep.typing import FloatArray

__all__ = ["GAUSSIAN_KERNELS", "erf_kernel", "relu_kernel"]


def relu_kernel(cross: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    r"""Mean of :math:`\max(u, 0) \max(v, 0)` for centered Gaussian u and v.

    .. math:: \frac{\sqrt{q q'}}{2 \pi} (\sin \phi + (\pi - \phi) \cos \phi), \quad
        \cos \phi = \frac{c}{\sqrt{q q'}},

    the arc-cosine kernel of degree one [1]_.

    Parameters
    ----------
    cross : ndarray of shape (n_left, n_right)
        Covariances c of u and v.
    left, right : ndarray of shape (n_left,) and (n_right,)
        Variances q and q' of u and v, positive.

    Returns
    -------
    ndarray of shape (n_left, n_right)
        The means.

    References
    ----------
    .. [1] Cho, Y. and Saul, L. K. (2009). Kernel methods for deep learning. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._step_kernel import relu_kernel
    >>> relu_kernel(np.array([[2.0]]), np.array([2.0]), np.array([2.0]))
    array([[1.]])
    """
    sizes = np.sqrt(left)[:, None] * np.sqrt(right)
    cosine = np.clip(cross / sizes, -1, 1)
    angle = np.arccos(cosine)
    sine = np.sqrt((1 - cosine) * (1 + cosine))
    return sizes * (sine + (np.pi - angle) * cosine) / (2 * np.pi)


def erf_kernel(cross: FloatArray, left: FloatArray, right: FloatArray) -> FloatArray:
    r"""Mean of :math:`\mathrm{erf}(u)\,\mathrm{erf}(v)` for centered Gaussian u and v.

    .. math:: \frac{2}{\pi} \arcsin \frac{2 c}{\sqrt{(1 + 2 q)(1 + 2 q')}},

    the kernel of Williams [1]_.

    Parameters
    ----------
    cross : ndarray of shape (n_left, n_right)
        Covariances c of u and v.
    left, right : ndarray of shape (n_left,) and (n_right,)
        Variances q and q' of u and v.

    Returns
    -------
    ndarray of shape (n_left, n_right)
        The means.

    References
    ----------
    .. [1] Williams, C. K. I. (1997). Computing with infinite networks. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._step_kernel import erf_kernel
    >>> erf_kernel(np.array([[0.0]]), np.array([2.0]), np.array([2.0]))
    array([[0.]])
    """
    sizes = np.sqrt(1 + 2 * left)[:, None] * np.sqrt(1 + 2 * right)
    return 2 / np.pi * np.arcsin(np.clip(2 * cross / sizes, -1, 1))


GAUSSIAN_KERNELS: Final = {"relu": relu_kernel, "erf": erf_kernel}
"""The kernels with a closed form, by activation."""
