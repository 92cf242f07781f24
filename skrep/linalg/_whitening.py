"""Whitening from moments, where columns may be constant or depend on each other."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.linalg._axes import fix_signs
from skrep.linalg._moments import Moments
from skrep.typing import FloatArray

__all__ = ["Whitening", "whitening"]


class Whitening(NamedTuple):
    r"""A map to coordinates :math:`z = W^\top (x - m)` of identity covariance.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        The mean m.
    scale : ndarray of shape (n_features,)
        Standard deviations, exactly 0 for constant columns.
    map : ndarray of shape (n_features, rank)
        W; constant columns have rows of exact zeros.
    inverse : ndarray of shape (rank, n_features)
        A left inverse: ``inverse @ map`` is the identity, and without a ridge
        ``z @ inverse + mean`` gives the rows back.
    spread : ndarray of shape (rank,)
        Variances of standardized rows along the axes of z, decreasing.
    """

    mean: FloatArray
    scale: FloatArray
    map: FloatArray
    inverse: FloatArray
    spread: FloatArray


def whitening(
    moments: Moments, ridge: float = 0.0, *, precision: float = 2.0**-52
) -> Whitening:
    r"""Whiten by the eigenvectors of the correlations.

    With the standard deviations D and the correlations :math:`D^{-1} S D^{-1} = V
    \,\mathrm{diag}(l) V^\top`,

    .. math:: W = D^{-1} V \,\mathrm{diag}(l + \lambda \bar l)^{-1/2},

    over the eigenvalues that are not negligible. They are judged after the columns have
    been standardized, so that units decide nothing; of dependent columns the solution
    of least norm is taken.

    Parameters
    ----------
    moments : Moments
        Moments of the rows; the covariance has the sum of weights as its divisor.
    ridge : float, default=0.0
        The ridge :math:`\lambda`, in units of the mean eigenvalue of the correlations
        :math:`\bar l`; with one the covariance of z is not the identity.
    precision : float, default=2 ** -52
        Relative rounding of the rows. A column counts as constant if its deviations are
        no larger than the rounding of its mean.

    Returns
    -------
    Whitening
        The map; its rank is 0 if every column is constant.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import Moments, whitening
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0]])
    >>> white = whitening(Moments.of(X))
    >>> white.map.round(4), white.scale
    (array([[1.],
           [0.]]), array([1., 0.]))
    """
    covariance = moments.covariance
    scale = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    rounding = max(2 * precision, 16 * 2.0**-52)
    constant = scale <= rounding * np.abs(moments.mean)
    scale[constant] = 0.0
    safe = np.where(scale > 0, scale, 1.0)
    correlation = covariance / safe / safe[:, None]
    correlation[constant] = 0.0
    correlation[:, constant] = 0.0
    values, vectors = scipy.linalg.eigh(correlation)
    limit = max(10 * len(values) * 2.0**-52, (10 * precision) ** 2)
    kept = values > limit * values.max(initial=0.0)
    values, vectors = values[kept][::-1], fix_signs(vectors.T[kept][::-1]).T
    vectors[constant] = 0.0
    mean_value = values.sum() / max(np.count_nonzero(scale), 1)
    roots = np.sqrt(values + ridge * mean_value)
    map_ = vectors / roots / safe[:, None]
    inverse = (vectors * roots).T * scale
    return Whitening(moments.mean, scale, map_, inverse, values)
