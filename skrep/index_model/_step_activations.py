"""Activations: what they do to numbers, and their slopes under Gaussian inputs."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from scipy.special import erf, expit

from skrep.typing import FloatArray

__all__ = ["ACTIVATIONS", "activate", "gaussian_slope", "hermite"]

# Bumps are below 1e-17 beyond this grid, and analytic: the sum over it is exact.
_GRID: Final = np.linspace(-40.0, 40.0, 801)
_PHI_0: Final = 1 / np.sqrt(2 * np.pi)


class _Activation(NamedTuple):
    """An activation and the first derivative of it that is a bump.

    Parameters
    ----------
    apply : callable
        Takes an array and the keyword `out`.
    bump : callable or None
        The derivative; None is a unit mass at zero.
    ramp : bool
        Whether the bump is the second derivative, and the slope one half at zero and
        odd about it; else it is the first.
    """

    apply: Callable[..., FloatArray]
    bump: Callable[[FloatArray], FloatArray] | None
    ramp: bool


def _relu(x: FloatArray, *, out: FloatArray) -> FloatArray:
    return np.maximum(x, 0, out=out)


def _softplus(x: FloatArray, *, out: FloatArray) -> FloatArray:
    return np.logaddexp(x, 0, out=out)


ACTIVATIONS: Final = {
    "relu": _Activation(_relu, None, True),
    "softplus": _Activation(_softplus, lambda x: expit(x) * expit(-x), True),
    "erf": _Activation(erf, lambda x: 2 / np.sqrt(np.pi) * np.exp(-(x**2)), False),
    "tanh": _Activation(np.tanh, lambda x: 1 / np.cosh(x) ** 2, False),
}
"""The activations by name."""


def activate(name: str, H: FloatArray) -> FloatArray:
    """Apply an activation in place.

    Parameters
    ----------
    name : str
        A key of `ACTIVATIONS`.
    H : ndarray
        Inputs of the neurons; overwritten.

    Returns
    -------
    ndarray
        The outputs: the same memory.
    """
    return ACTIVATIONS[name].apply(H, out=H)


def hermite(k: int, x: FloatArray) -> FloatArray:
    """Evaluate the probabilists' Hermite polynomial of degree k.

    Parameters
    ----------
    k : int
        The degree.
    x : ndarray
        Where.

    Returns
    -------
    ndarray
        The values, of the shape of x.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._step_activations import hermite
    >>> hermite(2, np.array([0.0, 2.0]))
    array([-1.,  3.])
    """
    series = np.zeros(k + 1)
    series[k] = 1
    return np.polynomial.hermite_e.hermeval(x, series)


def gaussian_slope(name: str, k: int, spread: FloatArray) -> FloatArray:
    r"""Hermite coefficient of the slope, :math:`E[\sigma'(r Z) \, He_k(Z)]`.

    For r = 1 it is :math:`c_{k+1} = E[\sigma^{(k+1)}(Z)]`; in general it is
    :math:`r^k E[\sigma^{(k+1)}(r Z)]`. Z is a standard Gaussian.

    Parameters
    ----------
    name : str
        A key of `ACTIVATIONS`.
    k : int
        The degree.
    spread : ndarray of shape (n,)
        The standard deviations r, 1 or more.

    Returns
    -------
    ndarray of shape (n,)
        The coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.index_model._step_activations import gaussian_slope
    >>> gaussian_slope("relu", 0, np.ones(1)), gaussian_slope("relu", 1, np.ones(1))
    (array([0.5]), array([0.39894228]))
    """
    _, bump, ramp = ACTIVATIONS[name]
    if ramp and k == 0:
        return np.full(len(spread), 0.5)
    degree = k - ramp
    if bump is None:
        return np.full(len(spread), _PHI_0 * hermite(degree, np.zeros(1))[0])
    heights = bump(_GRID) * (_GRID[1] - _GRID[0]) * _PHI_0
    units = _GRID / spread[:, None]
    means = (hermite(degree, units) * np.exp(-(units**2) / 2)) @ heights / spread
    return means * spread if ramp else means
