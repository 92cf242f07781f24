"""An orthonormal basis whose blocks serve one level of labels after the other."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.linalg import GroupMoments, Moments, fix_signs, settle_null
from skrep.nested._classes import class_axes
from skrep.typing import FloatArray, IntArray

__all__ = ["VARIANCE", "RoleBasis", "role_basis"]

VARIANCE = -1


class RoleBasis(NamedTuple):
    """An orthonormal basis and what its axes are for.

    Parameters
    ----------
    components : ndarray of shape (n_features, n_features)
        The axes, as rows.
    values : ndarray of shape (n_features,)
        What each is worth to its role, non-increasing within a role.
    roles : ndarray of shape (n_features,)
        The level that each serves, or -1 for variance.
    """

    components: FloatArray
    values: FloatArray
    roles: IntArray


def role_basis(levels: Sequence[GroupMoments]) -> RoleBasis:
    """Find the basis by deflation.

    A level is served by its discriminant axes, made orthonormal in their order, in the
    orthogonal complement of all axes before. What is left is ordered by variance.

    Parameters
    ----------
    levels : sequence of GroupMoments
        Moments of the classes of each level, of the same rows; at least one level.

    Returns
    -------
    RoleBasis
        The basis. A level has no axes where its classes have equal means, or where no
        direction is left.
    """
    total = levels[0].total()
    covariance = total.covariance
    rounding = 10 * len(covariance) * np.finfo(np.float64).eps * np.trace(covariance)
    complement = np.eye(len(covariance))
    axes, values, roles = [], [], []
    for level, groups in enumerate(levels):
        left = np.einsum("ij,ij->", covariance @ complement, complement)
        if left <= rounding:
            break
        directions, worth = class_axes(_inside(groups, complement))
        # Means that differ by rounding alone tell no classes apart.
        found = int(np.sum(worth > 1e-14))
        turn = scipy.linalg.qr(directions[:, :found])[0] if found else np.eye(0)
        if found:
            axes.append(complement @ turn[:, :found])
            complement = complement @ turn[:, found:]
        values.append(worth[:found])
        roles.append(np.full(found, level))
    rest, variances = _by_variance(total, complement, rounding)
    return RoleBasis(
        fix_signs(np.hstack([*axes, rest]).T),
        np.concatenate([*values, variances]),
        np.concatenate([*roles, np.full(len(variances), VARIANCE)]),
    )


def _inside(groups: GroupMoments, basis: FloatArray) -> GroupMoments:
    """Moments of the coordinates in a basis, whose axes are columns."""
    scatter = basis.T @ groups.scatter @ basis
    return replace(groups, means=groups.means @ basis, scatter=scatter)


def _by_variance(
    total: Moments, basis: FloatArray, rounding: float
) -> tuple[FloatArray, FloatArray]:
    """Principal axes within a span, and their variances."""
    variances, axes = np.linalg.eigh(basis.T @ total.covariance @ basis)
    variances, axes = variances[::-1].copy(), basis @ axes[:, ::-1]
    flat = variances <= rounding
    variances[flat] = 0
    if flat.any():
        size = np.sqrt(np.trace(total.covariance) + total.mean @ total.mean)
        axes[:, flat] = _settled(axes[:, flat], total.mean, 1e-10 * size)
    return axes, variances


def _settled(span: FloatArray, mean: FloatArray, rounding: float) -> FloatArray:
    """A basis that depends on the span and the mean alone, not on the eigensolver.

    Along directions without variance all rows have the coordinates of their mean: the
    first axis takes them, the others are zero on every row.
    """
    along = span.T @ mean
    toward_mean = scipy.linalg.qr(along[:, None])[0]
    settled = np.zeros(len(along))
    settled[0] = np.linalg.norm(along) > rounding
    return settle_null(span @ toward_mean, settled)[0]
