"""Recursive least squares: a linear layer learns further rows, and forgets none."""

import numpy as np
import scipy.linalg

from skrep._neural import Standardization
from skrep.discriminant._sample import Sample
from skrep.typing import FloatArray
from skrep.utils import row_blocks

__all__ = ["hidden_moments", "hidden_rows", "updated_layer"]

_RIDGE = 1e-6
"""Ridge, in units of the mean square of the hidden columns."""


def hidden_rows(
    X: FloatArray, coefs: list[FloatArray], intercepts: list[FloatArray]
) -> FloatArray:
    """Pass rows through rectified layers, and add a column of ones.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    coefs, intercepts : list of ndarray
        The hidden layers, possibly none.

    Returns
    -------
    ndarray of shape (n_rows, n_hidden + 1), float64
        What the last layer of a perceptron sees.
    """
    H = X.astype(np.float64)
    for coef, intercept in zip(coefs, intercepts, strict=True):
        H = np.maximum(H @ coef + intercept, 0)
    return np.column_stack([H, np.ones(len(H))])


def hidden_moments(
    sample: Sample,
    standard: Standardization,
    coefs: list[FloatArray],
    intercepts: list[FloatArray],
    targets: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    r"""Sum up what the last layer sees, block of rows by block.

    Parameters
    ----------
    sample : Sample
        Rows, classes and weights.
    standard : Standardization
        How rows are standardized.
    coefs, intercepts : list of ndarray
        The hidden layers, possibly none.
    targets : ndarray of shape (n_classes, n_outputs)
        Where rows of each class should come to lie.

    Returns
    -------
    gram : ndarray of shape (n_hidden + 1, n_hidden + 1)
        :math:`H^\top W H`, with H the hidden rows and W their weights.
    cross : ndarray of shape (n_hidden + 1, n_outputs)
        :math:`H^\top W T`, with T the targets of the rows.
    """
    n_hidden = (coefs[-1].shape[1] if coefs else len(standard.kept)) + 1
    gram, cross = np.zeros((n_hidden, n_hidden)), np.zeros((n_hidden, targets.shape[1]))
    X = sample.X
    for rows in row_blocks(X.shape[0], 32 * max(X.shape[1], n_hidden)):
        H = hidden_rows(standard.apply(X[rows]), coefs, intercepts)
        weighted = (H * sample.weights[rows, None]).T
        gram += weighted @ H
        cross += weighted @ targets[sample.codes[rows]]
    return gram, cross


def updated_layer(
    layer: FloatArray, gram: FloatArray, product: FloatArray
) -> FloatArray:
    r"""Let a linear layer learn further rows, with those before held in place.

    With the hidden rows :math:`H_0` seen before and H new, and targets T, it solves

    .. math:: \min_A \|H_0 A - H_0 A_0\|^2 + \|H A - T\|^2,

    of which moments alone are needed, whatever the number of rows.

    Parameters
    ----------
    layer : ndarray of shape (n_hidden, n_outputs)
        The layer :math:`A_0`.
    gram : ndarray of shape (n_hidden, n_hidden)
        :math:`H_0^\top H_0 + H^\top H`, of all rows.
    product : ndarray of shape (n_hidden, n_outputs)
        :math:`H^\top (T - H A_0)`, of all rows since the layer was trained.

    Returns
    -------
    ndarray of shape (n_hidden, n_outputs)
        The layer A.
    """
    ridge = _RIDGE * np.trace(gram) / len(gram)
    shifted = gram + ridge * np.eye(len(gram))
    change: FloatArray = scipy.linalg.solve(shifted, product, assume_a="pos")
    return layer + change
