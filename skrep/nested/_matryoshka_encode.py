"""What a fitted Matryoshka projection does to rows."""

import numpy as np

from skrep._neural import Standardization, embed
from skrep.linalg import project_rows
from skrep.typing import FloatArray
from skrep.utils.mlp import mlp_forward

__all__ = ["encode_rows"]


def encode_rows(
    X: FloatArray,
    components: FloatArray | None,
    mean: FloatArray,
    layers: tuple[list[FloatArray] | None, list[FloatArray] | None],
) -> FloatArray:
    """Encode rows by a matrix, a perceptron, or the sum of the two.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    components : ndarray of shape (n_components, n_features) or None
        The matrix, or none.
    mean : ndarray of shape (n_features,)
        What is subtracted first.
    layers : tuple of list
        Coefficients and intercepts of the perceptron, or (None, None).

    Returns
    -------
    ndarray of shape (n_rows, n_components)
        Encoded rows, in the float type of X.
    """
    coefs, intercepts = layers
    if coefs is None or intercepts is None:
        assert components is not None
        return project_rows(X, components, mean)

    def outputs(rows: FloatArray) -> FloatArray:
        Z = mlp_forward(rows, coefs, intercepts)
        if components is not None:
            Z += rows @ components.T.astype(rows.dtype, copy=False)
        return Z

    ones = np.ones(len(mean), mean.dtype)
    return embed(X, Standardization(np.arange(len(mean)), mean, ones), outputs)
