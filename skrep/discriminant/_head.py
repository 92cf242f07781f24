"""The closed-form head behind an encoder, and the classifier that it is."""

from typing import NamedTuple

import numpy as np
import scipy.special

from skrep.linalg import GroupMoments, discriminant_axes
from skrep.typing import FloatArray, IntArray

__all__ = ["Head", "fit_head", "log_posterior"]


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


def log_posterior(Z: FloatArray, means: FloatArray, priors: FloatArray) -> FloatArray:
    r"""Log-probabilities of the classes, for normal classes of identity covariance.

    .. math:: \log p(c \mid z) = -\tfrac12 \|z - m_c\|^2 + \log p_c + \text{const}

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_components)
        Rows.
    means : ndarray of shape (n_classes, n_components)
        Means of the classes.
    priors : ndarray of shape (n_classes,)
        Shares of the classes.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)
        Log-probabilities; their exponentials sum to one in every row.
    """
    scores = Z @ means.T
    scores += np.log(priors) - np.einsum("ij,ij->i", means, means) / 2
    return scores - scipy.special.logsumexp(scores, axis=1, keepdims=True)
