"""Networks that are built and applied for an estimator."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from skrep._neural._standardize import Standardization
from skrep.typing import FloatArray, Matrix
from skrep.utils import row_blocks

__all__ = ["build_network", "check_embedded", "embed"]


def build_network(
    module: Any,
    n_inputs: int,
    n_outputs: int,
    hidden: Sequence[int],
    params: Mapping[str, Any],
) -> Any:
    """Build the network of an estimator.

    Parameters
    ----------
    module : "mlp" or type
        A perceptron, or a class that is called with the two widths.
    n_inputs, n_outputs : int
        The widths.
    hidden : sequence of int
        Widths of the hidden layers of a perceptron.
    params : mapping
        Further arguments.

    Returns
    -------
    Module
        The network.
    """
    from skrep.nn._modules import build_mlp

    if isinstance(module, str):
        return build_mlp(n_inputs, n_outputs, hidden, **params)
    return module(n_inputs, n_outputs, **params)


def embed(
    X: Matrix, standard: Standardization, outputs: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Pass rows through an encoder, block by block.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    standard : Standardization
        How they are standardized.
    outputs : callable
        Takes standardized rows and gives embedded ones.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        Embedded rows.
    """
    width = 4 * X.dtype.itemsize * max(X.shape[1], 1)
    parts = [outputs(standard.apply(X[rows])) for rows in row_blocks(X.shape[0], width)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def check_embedded(estimator: Any, *found: FloatArray) -> None:
    """Refuse what a network has made of the rows if its squares are not finite.

    Parameters
    ----------
    estimator : estimator
        The estimator that is named in the error, with its `lr`.
    *found : ndarray
        Outputs, or moments of them.

    Raises
    ------
    ValueError
        If an entry is not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [np.square(part, dtype=np.float64).sum() for part in found]
    if not np.isfinite(sums).all():
        from skrep.nn._net import diverged

        what = "outputs of the network, or their squares, became infinite or NaN"
        raise diverged(type(estimator).__name__, what, estimator.lr)
