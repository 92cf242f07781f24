"""How many directions there are: sequential tests from the moments."""

import numpy as np
import scipy.linalg

from skrep.index_model._axes import Axes, dimensions, first_order
from skrep.index_model._features import Features
from skrep.index_model._noise import gaussian_reach, second_order
from skrep.linalg import bartlett_test
from skrep.typing import FloatArray

__all__ = ["count_directions"]

LEVEL = 0.05
"""Chance of one direction too many."""


def count_directions(
    features: list[Features], n_rows: float, order: int | str, axes: Axes
) -> int:
    r"""Count directions that are more than noise; there may be none.

    For r = 0, 1, ... it is asked whether what lies beyond the first r directions is
    noise. For order one that is Bartlett's test of the eigenvalues of :math:`\sum_g a_g
    a_g^\top`, which are squared canonical correlations. Where directions come from
    order two as well, or from several responses, each response is tested in the
    complement of the directions, at its share of the level. For order two
    no matrix may have an eigenvalue in the complement beyond the largest that noise
    has. The first r that passes is the answer. Where both take
    part, order one is tested at half the level.

    Parameters
    ----------
    features : list of Features
        Moments of each response.
    n_rows : float
        Number of rows.
    order : {1, 2, "both"}
        Which moments take part.
    axes : Axes
        The directions.

    Returns
    -------
    int
        The number.

    See Also
    --------
    skrep.linalg.bartlett_test : The test of order one.
    """
    second = None if order == 1 else second_order(features, n_rows)
    edge = 0.0
    if second is not None:
        edge = max(
            second.widest(_beyond_signal(axes)),
            gaussian_reach(len(axes.directions), n_rows),
        )
    available = axes.directions.shape[1]
    level = LEVEL if order == 1 else LEVEL / 2
    for r in range(available):
        rest = scipy.linalg.null_space(axes.directions[:, :r].T)
        if order != 2 and _more_of_order_one(features, n_rows, order, r, rest, level):
            continue
        if second is not None and second.largest(rest) > edge:
            continue
        return r
    return available


def _beyond_signal(axes: Axes) -> FloatArray:
    """Basis of the complement of directions that seem to be more than noise."""
    leading = int(np.count_nonzero(axes.eigenvalues > axes.noise_edge))
    leading = min(leading, len(axes.directions) // 2)
    basis: FloatArray = scipy.linalg.null_space(axes.directions[:, :leading].T)
    return basis


def _more_of_order_one(
    features: list[Features],
    n_rows: float,
    order: int | str,
    r: int,
    rest: FloatArray,
    level: float,
) -> bool:
    """Is there more than noise beyond r directions?"""
    rank = len(rest)
    if len(features) == 1 and order == 1:
        values = np.linalg.eigvalsh(first_order(features))[::-1][r:]
        dims = dimensions(features[0])
        return bartlett_test(values, n_rows, rank - r, dims - r)[1] < level
    for one in features:
        values = np.linalg.eigvalsh(rest.T @ first_order([one]) @ rest)
        p_value = bartlett_test(values, n_rows, rank - r, dimensions(one))[1]
        if p_value < level / len(features):
            return True
    return False
