"""Ordered axes for every objective, from second moments alone."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy.linalg

from skrep.linalg import GroupMoments, settle_null
from skrep.nested._classes import Axes, class_axes, residual_axes
from skrep.typing import FloatArray

__all__ = ["OBJECTIVES", "Contrast", "Statistics", "block_axes", "ordered_axes"]

OBJECTIVES = ("variance", "classes", "neighbors", "pairs", "mined")
"""Objectives that are solved from second moments; "cca" needs the rows."""

RESIDUAL_SCALE = 0.1
"""Length of the first axis after the class axes, in units of its deviation."""

_RIDGES: Mapping[str, float] = {"neighbors": 3.0, "pairs": 1.0, "mined": 1.0}


class Contrast(NamedTuple):
    """What a projection should keep, and what it should not see.

    Parameters
    ----------
    sides : tuple of ndarrays of shape (n_features, n_features)
        Covariances of the other sides, each about its own mean.
    noise : ndarray of shape (n_features, n_features)
        Second moment of the differences between rows that belong together.
    """

    sides: tuple[FloatArray, ...]
    noise: FloatArray


@dataclass(frozen=True)
class Statistics:
    """All that the objectives ask of the data.

    Parameters
    ----------
    covariance : ndarray of shape (n_features, n_features)
        Covariance of the rows.
    groups : GroupMoments or None
        Moments of the classes, for "classes".
    contrasts : dict of str to Contrast
        For "neighbors", "pairs" and "mined".
    """

    covariance: FloatArray
    groups: GroupMoments | None = None
    contrasts: Mapping[str, Contrast] = field(default_factory=dict)

    def within(self, columns: slice) -> "Statistics":
        """Give the statistics of some columns.

        Parameters
        ----------
        columns : slice
            The columns.

        Returns
        -------
        Statistics
            The same of these columns.
        """
        square = columns, columns
        groups = self.groups and replace(
            self.groups,
            means=self.groups.means[:, columns],
            scatter=self.groups.scatter[square],
        )
        contrasts = {
            name: Contrast(tuple(side[square] for side in c.sides), c.noise[square])
            for name, c in self.contrasts.items()
        }
        return Statistics(self.covariance[square], groups, contrasts)


def ordered_axes(
    data: Statistics,
    objective: str | Mapping[str, float],
    shrinkage: float | None = None,
) -> Axes:
    """Solve one objective, or a mixture of several.

    Parameters
    ----------
    data : Statistics
        The statistics that the objective needs.
    objective : str or dict of str to float
        One of `OBJECTIVES`, or their weights in a mixture.
    shrinkage : float or None, default=None
        Ridge or shrinkage intensity; None takes each objective's own.

    Returns
    -------
    Axes
        ``n_features`` axes, ordered.
    """
    if isinstance(objective, str):
        return _SOLVERS[objective](data, objective, shrinkage)
    if len(objective) == 1:
        return ordered_axes(data, next(iter(objective)), shrinkage)
    return _mixed_axes(data, objective, shrinkage)


def block_axes(
    data: Statistics,
    objective: str | Mapping[str, float],
    shrinkage: float | None,
    edges: tuple[int, ...] | None,
) -> Axes:
    """Solve an objective inside consecutive blocks of columns.

    Parameters
    ----------
    data : Statistics
        The statistics that the objective needs.
    objective : str or dict of str to float
        As in `ordered_axes`.
    shrinkage : float or None
        As in `ordered_axes`.
    edges : tuple of int or None
        Where blocks end, ascending; the last one is the number of columns. None is one
        block, whose axes are left as they are.

    Returns
    -------
    Axes
        Orthonormal axes: those of the first block first. A prefix that ends with a
        block spans exactly the leading columns.
    """
    if edges is None:
        return ordered_axes(data, objective, shrinkage)
    n_features = edges[-1]
    directions = np.zeros((n_features, n_features))
    values = []
    for start, stop in zip((0, *edges[:-1]), edges, strict=True):
        columns = slice(start, stop)
        axes = ordered_axes(data.within(columns), objective, shrinkage)
        directions[columns, columns] = _orthonormal(axes.directions)
        values.append(axes.values)
    return Axes(directions, np.concatenate(values))


def _orthonormal(directions: FloatArray) -> FloatArray:
    lengths = np.linalg.norm(directions, axis=0)
    # The factorization judges rank by length, and damped axes are short by intent.
    Q, R = scipy.linalg.qr(directions / np.where(lengths == 0, 1, lengths))
    signs = np.sign(np.diag(R))
    return Q * np.where(signs == 0, 1, signs)


def _variance(data: Statistics, name: str, shrinkage: float | None) -> Axes:
    values, vectors = np.linalg.eigh(data.covariance)
    return Axes(*settle_null(vectors[:, ::-1], values[::-1]))


def _classes(data: Statistics, name: str, shrinkage: float | None) -> Axes:
    assert data.groups is not None
    telling = class_axes(data.groups, shrinkage)
    rest = residual_axes(data.covariance, telling.directions)
    scale = 1.0
    if rest.values.size and rest.values[0] > 0:
        scale = RESIDUAL_SCALE / np.sqrt(rest.values[0])
    return Axes(
        np.hstack([telling.directions, rest.directions * scale]),
        np.concatenate([telling.values, rest.values]),
    )


def _contrast(data: Statistics, name: str, shrinkage: float | None) -> Axes:
    r"""Solve :math:`\sum_s n(T_s)\, v = \lambda\,(n(N) + a I / p)\, v`.

    Here :math:`n(S) = S / \operatorname{tr} S`. Every prefix has the largest trace of
    the left-hand side among directions that are orthonormal in the metric of the right
    (Ky Fan).
    """
    contrast = data.contrasts[name]
    ridge = _RIDGES[name] if shrinkage is None else shrinkage
    noise = per_trace(contrast.noise)
    noise[np.diag_indices_from(noise)] += ridge / len(noise)
    signal = sum(map(per_trace, (data.covariance, *contrast.sides)))
    values, vectors = scipy.linalg.eigh(signal, noise)
    return Axes(*settle_null(vectors[:, ::-1], values[::-1]))


def _mixed_axes(
    data: Statistics, weights: Mapping[str, float], shrinkage: float | None
) -> Axes:
    r"""Stack the axes of several objectives, then take principal axes of the stack.

    With :math:`F = [w_1 W_1 / |W_1|, w_2 W_2 / |W_2|, \dots]`, :math:`|W|^2 =
    \operatorname{tr} W^\top T W`, inner products of all outputs are the sum of those of
    the objectives, weighted by :math:`w^2`, and each prefix approximates them best.
    """
    parts = []
    for name, weight in weights.items():
        if name == "classes":
            assert data.groups is not None
            W = class_axes(data.groups, shrinkage).directions
        else:
            W = _SOLVERS[name](data, name, shrinkage).directions
        size = np.sqrt(np.einsum("ij,ij->", W, data.covariance @ W))
        parts.append(W * (weight / (size or 1.0)))
    stack = np.hstack(parts)
    sides = [data.covariance]
    for name in weights:
        if name in data.contrasts:
            sides += data.contrasts[name].sides
    signal = sum(map(per_trace, sides))
    try:
        # With F u = v, the eigenvectors u of F' S F solve (F F') S v = values v.
        values, vectors = scipy.linalg.eigh(signal, stack @ stack.T, type=3)
    except np.linalg.LinAlgError:
        # Weights so lopsided that F F' is singular to rounding.
        values, turned = np.linalg.eigh(stack.T @ signal @ stack)
        kept = slice(-len(data.covariance), None)
        values, vectors = values[kept], stack @ turned[:, kept]
    return Axes(*settle_null(vectors[:, ::-1], values[::-1]))


def per_trace(S: FloatArray) -> FloatArray:
    """Divide a matrix by its trace; a zero one stays zero.

    Parameters
    ----------
    S : ndarray of shape (n, n)
        Positive semi-definite matrix.

    Returns
    -------
    ndarray of shape (n, n)
        A new matrix of trace one, or zero.
    """
    trace = np.trace(S)
    return S / trace if trace > 0 else np.zeros_like(S)


_SOLVERS = {
    "variance": _variance,
    "classes": _classes,
    **dict.fromkeys(("neighbors", "pairs", "mined"), _contrast),
}
