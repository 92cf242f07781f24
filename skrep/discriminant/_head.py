"""The closed-form head behind an encoder, and the classifier that it is."""

from typing import NamedTuple

import numpy as np
import scipy.optimize
import scipy.special

from skrep.linalg import GroupMoments, discriminant_axes
from skrep.typing import FloatArray, IntArray

__all__ = ["Head", "fit_head", "fit_temperature", "log_posterior"]


class Head(NamedTuple):
    """An affine map after which classes have the identity as their covariance.

    Parameters
    ----------
    coef : ndarray of shape (n_inputs, n_inputs)
        The matrix that rows are multiplied by. Columns are 0 beyond the number of
        directions in which rows vary.
    intercept : ndarray of shape (n_inputs,)
        What is added.
    means : ndarray of shape (n_classes, n_inputs)
        Means of the classes after the map.
    priors : ndarray of shape (n_classes,)
        Shares of the classes.
    """

    coef: FloatArray
    intercept: FloatArray
    means: FloatArray
    priors: FloatArray


def fit_head(Z: FloatArray, codes: IntArray, weights: FloatArray) -> Head:
    r"""Fit the head by linear discriminant analysis.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_inputs)
        Embedded rows.
    codes : ndarray of shape (n_rows,)
        Their classes, all of 0 to n_classes - 1.
    weights : ndarray of shape (n_rows,)
        Their positive weights.

    Returns
    -------
    Head
        Its columns order directions by the ratio of the variance between classes to
        that within; the covariance within classes is the identity.
    """
    groups = GroupMoments.of(Z, codes, weights)
    mean = groups.total().mean
    axes = discriminant_axes(groups, precision=float(np.finfo(Z.dtype).eps))
    rank = axes.directions.shape[1]
    coef = np.zeros((Z.shape[1], Z.shape[1]))
    coef[:, :rank] = axes.directions
    means = (groups.means - mean) @ coef
    return Head(coef, -mean @ coef, means, groups.weights / groups.weights.sum())


def fit_temperature(
    log_proba: FloatArray, codes: IntArray, weights: FloatArray
) -> float:
    r"""Find what log-probabilities are to be divided by, by new rows.

    The logarithmic loss of these rows, beside one more row whose class may be any,
    has its minimum there [1]_. Without that row, rows that are all classified right
    would make the probabilities surer without end.

    Parameters
    ----------
    log_proba : ndarray of shape (n_rows, n_classes)
        Log-probabilities of rows that the head was not trained on.
    codes : ndarray of shape (n_rows,)
        Their classes.
    weights : ndarray of shape (n_rows,)
        Their positive weights.

    Returns
    -------
    float
        The temperature.

    References
    ----------
    .. [1] Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). "On calibration
       of modern neural networks". International Conference on Machine Learning.
    """
    mass = weights / (weights.sum() + 1)
    shares = np.full(log_proba.shape, (1 - mass.sum()) / log_proba.size)
    shares[np.arange(len(codes)), codes] += mass

    def loss(log_temperature: float) -> float:
        cooled = scipy.special.log_softmax(log_proba / np.exp(log_temperature), axis=1)
        return -float((shares * cooled).sum())

    found = scipy.optimize.minimize_scalar(loss, bounds=(-10, 20), method="bounded")
    return float(np.exp(found.x))


def log_posterior(
    Z: FloatArray, means: FloatArray, priors: FloatArray, temperature: float = 1.0
) -> FloatArray:
    r"""Log-probabilities of the classes, for normal classes of identity covariance.

    .. math:: \log p(c \mid z) =
              \bigl(-\tfrac12 \|z - m_c\|^2 + \log p_c\bigr) / T + \text{const}

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
        Rows.
    means : ndarray of shape (n_classes, n_components)
        Means of the classes.
    priors : ndarray of shape (n_classes,)
        Shares of the classes.
    temperature : float, default=1.0
        The temperature T: above 1, probabilities are less sure.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Log-probabilities; their exponentials sum to one in every row.
    """
    scores = Z @ means.T
    scores += np.log(priors) - np.einsum("ij,ij->i", means, means) / 2
    scores /= temperature
    return scores - scipy.special.logsumexp(scores, axis=1, keepdims=True)
