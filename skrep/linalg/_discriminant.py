"""Directions in which groups come apart, as many as rows have dimensions."""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.linalg._axes import fix_signs
from skrep.linalg._moments import GroupMoments, Moments
from skrep.linalg._shrinkage import oas_shrinkage
from skrep.linalg._whitening import Whitening, whitening
from skrep.typing import FloatArray

__all__ = ["DiscriminantAxes", "contrast_axes", "discriminant_axes"]

_FLOOR = 1e-10
"""Least variance within groups along a direction, in units of its total variance."""


class DiscriminantAxes(NamedTuple):
    r"""Directions of unit variance within groups, the most telling first.

    Parameters
    ----------
    directions : ndarray of shape (n_features, rank)
        Coefficients, as columns a with :math:`a_j^\top S_w a_k = \delta_{jk}` for the
        (shrunk) covariance within groups. Constant columns have rows of exact zeros,
        and the largest coefficient on standardized columns is positive.
    values : ndarray of shape (rank,)
        Variance between groups along each direction, in units of that within:
        non-increasing, and 0 from `n_between` on.
    n_between : int
        Number of directions along which group means differ.
    """

    directions: FloatArray
    values: FloatArray
    n_between: int


def discriminant_axes(
    groups: GroupMoments,
    shrinkage: float | None = 0.0,
    priors: FloatArray | None = None,
    *,
    standardize: bool = False,
    precision: float = 2.0**-52,
) -> DiscriminantAxes:
    r"""Solve Fisher's discriminant problem from the moments of groups.

    With shares :math:`p_g`, means :math:`m_g`, :math:`m = \sum_g p_g m_g` and the
    pooled covariance within groups, whose divisor is the sum of weights,

    .. math:: S_b a = \lambda S_w a, \qquad S_b = \sum_g p_g (m_g - m)(m_g - m)^\top.

    Parameters
    ----------
    groups : GroupMoments
        Moments of classes, or of slices of a number. One group has no contrasts.
    shrinkage : float or None, default=0.0
        See `contrast_axes`; None takes `oas_shrinkage`.
    priors : ndarray of shape (n_groups,) or None, default=None
        Shares :math:`p_g` of the groups, with sum one; None takes those of the weights.
        The covariance within groups is pooled by the weights in either case.
    standardize : bool, default=False
        Whether to measure columns by their standard deviations within groups, as in
        `contrast_axes`.
    precision : float, default=2 ** -52
        Relative rounding of the rows, as in `whitening`.

    Returns
    -------
    DiscriminantAxes
        As many as the rows have dimensions: at most ``n_groups - 1`` that tell groups
        apart, then the rest of the space.

    See Also
    --------
    contrast_axes : The same for any contrasts of means.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import GroupMoments, discriminant_axes
    >>> X = np.array([[0.0, 1.0], [2.0, -1.0], [6.0, 0.0], [8.0, 0.0]])
    >>> axes = discriminant_axes(GroupMoments.of(X, np.array([0, 0, 1, 1])))
    >>> axes.n_between, axes.values.round(4)
    (1, array([18.,  0.]))
    >>> axes.directions.round(4)
    array([[1.4142, 0.    ],
           [1.4142, 1.4142]])
    """
    weight = groups.weights.sum()
    shares = groups.weights / weight if priors is None else priors
    contrasts = groups.means - shares @ groups.means
    contrasts *= np.sqrt(shares)[:, None]
    return contrast_axes(
        groups.scatter / weight,
        contrasts,
        groups.total(),
        shrinkage,
        # Weights count rows; where they sum to less, as shares do, rows count.
        n_rows=max(float(weight), groups.n_rows),
        standardize=standardize,
        precision=precision,
    )


def contrast_axes(
    within: FloatArray,
    contrasts: FloatArray,
    total: Moments,
    shrinkage: float | None = 0.0,
    *,
    n_rows: float,
    standardize: bool = False,
    precision: float = 2.0**-52,
) -> DiscriminantAxes:
    r"""Find directions of large contrasts and small variance.

    Maximize :math:`\sum_k (c_k^\top a)^2 / a^\top S_w a`, where
    :math:`S_w = (1 - s) W + s\, t I` with the mean variance t of the columns that vary.
    The directions that are left when contrasts are used up are those of the largest
    variance for their length.

    Without shrinkage the solution is the same in all units of the columns. Along a
    direction without variance within groups the ratio is infinite. It is bounded by a
    ridge of 1e-10 of the total variance, and such directions come in the order of their
    total variance for their length. Of dependent columns the solution of least norm is
    taken.

    Parameters
    ----------
    within : ndarray of shape (n_features, n_features)
        Covariance W within groups.
    contrasts : ndarray of shape (n_contrasts, n_features)
        Contrasts :math:`c_k` of group means, their sum of squares the variance between
        groups.
    total : Moments
        Moments of all rows, which tell what columns are constant or dependent.
    shrinkage : float or None, default=0.0
        Intensity s of the shrinkage, from 0 to 1; None takes `oas_shrinkage`.
    n_rows : float
        Number of rows, for `oas_shrinkage`.
    standardize : bool, default=False
        Whether to measure columns by their standard deviations within groups. Shrinkage
        then draws correlations towards zero and leaves variances alone, and what it
        does is the same in all units.
    precision : float, default=2 ** -52
        Relative rounding of the rows, as in `whitening`.

    Returns
    -------
    DiscriminantAxes
        As many as the rows have dimensions.

    See Also
    --------
    discriminant_axes : The contrasts of classes.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import Moments, contrast_axes
    >>> total = Moments(1.0, np.zeros(2), np.diag([5.0, 1.0]))
    >>> contrasts = np.array([[2.0, 0.0]])
    >>> axes = contrast_axes(np.eye(2), contrasts, total, n_rows=10)
    >>> axes.values.round(4), axes.directions.round(4)
    (array([4., 0.]), array([[1., 0.],
           [0., 1.]]))
    """
    white = whitening(total, precision=precision)
    if standardize:
        units = _units(within, white.scale)
        axes = contrast_axes(
            within / units / units[:, None],
            contrasts / units,
            Moments(
                total.weight, total.mean / units, total.scatter / units / units[:, None]
            ),
            shrinkage,
            n_rows=n_rows,
            precision=precision,
        )
        return axes._replace(directions=axes.directions / units[:, None])
    rank, varying = len(white.spread), white.scale > 0
    noise = within[np.ix_(varying, varying)]
    if shrinkage is None:
        shrinkage = oas_shrinkage(noise, n_rows)
    level = shrinkage * np.trace(noise) / max(len(noise), 1)
    # Where rows equal their group's mean there is no variance to shrink towards.
    if level <= _FLOOR * np.trace(total.covariance):
        shrinkage = 0.0
    if shrinkage:
        frame = _shrunk(noise, white, shrinkage, level)
    else:
        frame = _plain(within, white)
    turned = contrasts @ frame
    if len(turned) > turned.shape[1]:
        turned = scipy.linalg.qr(turned, mode="r", check_finite=False)[0]
        turned = turned[: frame.shape[1]]
    _, lengths, turns = scipy.linalg.svd(turned, full_matrices=False)
    cut = 1e-8 + 1e-12 * lengths.max(initial=0)
    n_between = int(np.sum(lengths > cut))
    values = np.zeros(rank)
    values[:n_between] = lengths[:n_between] ** 2
    basis = (
        scipy.linalg.qr(turns[:n_between].T)[0] if n_between else np.eye(len(frame.T))
    )
    bounded = int(np.sum(values * _FLOOR > 1 - 1e-6))
    parts = (
        _shortest_first(frame @ turns[:bounded].T),
        frame @ turns[bounded:n_between].T,
        _rest(frame @ basis[:, n_between:], within, shrinkage)[:, : rank - n_between],
    )
    signed = fix_signs((np.hstack(parts) * white.scale[:, None]).T).T
    directions = np.zeros_like(signed)
    directions[varying] = signed[varying] / white.scale[varying, None]
    return DiscriminantAxes(directions, values, n_between)


def _units(within: FloatArray, scale: FloatArray) -> FloatArray:
    """Deviations within groups; of all rows, where there are none."""
    deviations = np.sqrt(np.maximum(np.diag(within), 0.0))
    units = np.where(deviations > np.sqrt(_FLOOR) * scale, deviations, scale)
    return np.where(units > 0, units, 1.0)


def _plain(within: FloatArray, white: Whitening) -> FloatArray:
    """Directions, as columns, of unit variance within groups: no shrinkage."""
    start = white.map
    if len(white.spread) < np.count_nonzero(white.scale):
        # Of what dependent columns leave open, the least.
        span = scipy.linalg.qr(white.inverse.T, mode="economic")[0]
        start = span @ (span.T @ start)
    values, vectors = np.linalg.eigh(white.map.T @ within @ white.map)
    frame: FloatArray = start @ vectors / np.sqrt(np.maximum(values, _FLOOR))
    return frame


def _shrunk(
    noise: FloatArray, white: Whitening, shrinkage: float, level: float
) -> FloatArray:
    """Directions, as columns, of unit shrunk variance within groups."""
    varying = np.flatnonzero(white.scale)
    units = 1 / white.scale[varying]
    shrunk = (1 - shrinkage) * noise
    shrunk[np.diag_indices_from(shrunk)] += level
    values, vectors = np.linalg.eigh(shrunk * units * units[:, None])
    values = np.maximum(values, len(values) * 2.0**-52 * values[-1])
    frame = np.zeros((len(white.scale), len(varying)))
    frame[varying] = units[:, None] * vectors / np.sqrt(values)
    return frame


def _shortest_first(directions: FloatArray) -> FloatArray:
    """Rotate directions until they are orthogonal, the shortest first."""
    if not directions.shape[1]:
        return directions
    turn = scipy.linalg.svd(directions, full_matrices=False)[2]
    rotated: FloatArray = directions @ turn[::-1].T
    return rotated


def _rest(directions: FloatArray, within: FloatArray, shrinkage: float) -> FloatArray:
    """Rotate directions without contrasts until variance per length decreases."""
    if shrinkage < 0.5:
        # Shrunk variances are one: the shortest has the largest variance.
        return _shortest_first(directions)
    turn = np.linalg.eigh(directions.T @ within @ directions)[1]
    return directions @ turn[:, ::-1]
