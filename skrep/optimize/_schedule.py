"""Learning rates over the epochs of a fit."""

import numpy as np

from skrep.typing import FloatArray

__all__ = ["learning_rates"]

_BURN_IN_SHARE = 0.1
_LAST_SHARE = 0.05


def learning_rates(
    learning_rate: float, n_epochs: int, *, burn_in: int = 0
) -> FloatArray:
    """List the rate of each epoch: a tenth of it first, then falling from all of it.

    Parameters
    ----------
    learning_rate : float
        The rate at the end of the burn-in.
    n_epochs : int
        Number of epochs, those of the burn-in included.
    burn_in : int, default=0
        Number of epochs at a tenth of the rate, which come first.

    Returns
    -------
    ndarray of shape (n_epochs,), float64
        After the burn-in, the rate falls linearly, to a twentieth in the last epoch.

    Examples
    --------
    >>> from skrep.optimize import learning_rates
    >>> learning_rates(1.0, 5, burn_in=2).round(3)
    array([0.1  , 0.1  , 1.   , 0.525, 0.05 ])
    """
    rates = np.full(n_epochs, _BURN_IN_SHARE)
    if n_epochs > burn_in:
        rates[burn_in:] = np.linspace(1, _LAST_SHARE, n_epochs - burn_in)
    return learning_rate * rates
