"""Perceptrons of several layers as plain arrays."""

from collections.abc import Sequence

import numpy as np

from skrep.typing import FloatArray

__all__ = ["cut_layers", "mlp_forward"]


def mlp_forward(
    X: FloatArray, coefs: Sequence[FloatArray], intercepts: Sequence[FloatArray]
) -> FloatArray:
    r"""Pass rows through layers :math:`\max(0, h W + b)`, the last one linear.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    coefs : sequence of ndarray of shape (n_in, n_out)
        The matrices W, one per layer.
    intercepts : sequence of ndarray of shape (n_out,)
        The vectors b.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        Outputs of the last layer, in the float type of X.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.utils.mlp import mlp_forward
    >>> one = np.ones((1, 1))
    >>> mlp_forward(np.array([[-2.0], [2.0]]), [one, one], [np.zeros(1)] * 2)
    array([[0.],
           [2.]])
    """
    H = X
    for layer, (coef, intercept) in enumerate(zip(coefs, intercepts, strict=True)):
        H = H @ coef.astype(H.dtype, copy=False)
        H += intercept.astype(H.dtype, copy=False)
        if layer < len(coefs) - 1:
            np.maximum(H, 0, out=H)
    return H


def cut_layers(
    coefs: list[FloatArray] | None, intercepts: list[FloatArray] | None, k: int
) -> tuple[list[FloatArray] | None, list[FloatArray] | None]:
    """Cut a perceptron to its first outputs.

    Parameters
    ----------
    coefs, intercepts : list of ndarray or None
        Layers, or none.
    k : int
        Number of outputs.

    Returns
    -------
    coefs, intercepts : list of ndarray or None
        New lists, whose last arrays are views.
    """
    if coefs is None or intercepts is None:
        return None, None
    return [*coefs[:-1], coefs[-1][:, :k]], [*intercepts[:-1], intercepts[-1][:k]]
