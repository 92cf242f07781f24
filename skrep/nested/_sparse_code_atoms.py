"""Where the atoms of a sparse code start: rows, turned towards what classes need."""

import functools
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.sparse as sp

from skrep._neural import Standardization
from skrep.geometry import unit_rows
from skrep.linalg import GroupMoments
from skrep.nested._classes import class_axes
from skrep.typing import FloatArray, IntArray, Matrix
from skrep.utils import row_blocks

__all__ = ["class_turn", "first_atoms"]

Turn: TypeAlias = Callable[[FloatArray, IntArray], FloatArray]

WIDEST = 2_000
"""With more columns the covariance within classes is not computed."""

TURN = 3.0
"""Weight of a row's direction in the metric of the classes, beside its own."""

BLOCK_BYTES = 32 * 2**20

GATHER = 0.5
"""Weight of the direction of the mean of its class, beside both."""


def first_atoms(
    X: Matrix,
    standard: Standardization,
    n_atoms: int,
    draws: np.random.Generator,
    turn: Turn | None = None,
) -> FloatArray:
    """Draw distinct rows for the first atoms.

    What is drawn depends on the content alone, neither on the order of rows nor on
    whether one is given twice, except among rows that are equally far from the mean.
    Where there are more atoms than rows, the others are mixtures of all rows.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    standard : Standardization
        How they are centered and scaled.
    n_atoms : int
        Number of atoms.
    draws : Generator
        The source of the draw.
    turn : callable or None, default=None
        Turns unit rows at some positions, and further ones, towards directions that
        tell classes apart, and gives unit rows.

    Returns
    -------
    ndarray of shape (n_atoms, n_features)
        Unit rows, in the float type of X.
    """
    distinct = _distinct_rows(X, standard)
    chosen = draws.permutation(len(distinct))[:n_atoms]
    positions = distinct[chosen]
    rows = standard.apply(X[positions]).astype(np.float64)
    n_more = n_atoms - len(rows)
    if n_more:
        rows = np.concatenate([rows, draws.standard_normal((n_more, len(rows))) @ rows])
    atoms = unit_rows(rows)[0]
    return (atoms if turn is None else turn(atoms, positions)).astype(X.dtype)


def class_turn(X: Matrix, codes: IntArray, weights: FloatArray) -> Turn | None:
    """Measure in which directions classes differ, beside what varies within them.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    codes : ndarray of shape (n_rows,)
        Their classes, from 0 on.
    weights : ndarray of shape (n_rows,)
        Positive weights.

    Returns
    -------
    callable or None
        Takes unit rows, and the positions in X that the first of them have. Adds their
        directions, and those of the means of their classes, in the metric of the
        discriminant axes. None for more than 2,000 columns.
    """
    if X.shape[1] > WIDEST:
        return None
    groups = functools.reduce(
        GroupMoments.merge,
        (
            GroupMoments.of(_dense(X[rows]), codes[rows], weights[rows])
            for rows in row_blocks(X.shape[0], 8 * X.shape[1], budget=BLOCK_BYTES)
        ),
    )
    axes = class_axes(groups).directions
    gaps = groups.means - groups.total().mean
    means = unit_rows(gaps @ axes @ axes.T)[0]

    def turn(units: FloatArray, positions: IntArray) -> FloatArray:
        turned = unit_rows(units @ axes @ axes.T)[0]
        turned = unit_rows(units + TURN * turned)[0]
        turned[: len(positions)] += GATHER * means[codes[positions]]
        return unit_rows(turned)[0]

    return turn


def _distinct_rows(X: Matrix, standard: Standardization) -> IntArray:
    """Positions of rows that differ and have a direction, nearest to the mean first.

    The second power of the distances decides, then the sum of fourth powers.
    """
    found: dict[bytes, int] = {}
    powers: list[FloatArray] = []
    for rows in row_blocks(X.shape[0], 4 * X.dtype.itemsize * X.shape[1]):
        # Adding zero turns -0.0 into 0.0, which is the same number.
        block = standard.apply(X[rows]) + 0.0
        squares = np.square(block, dtype=np.float64)
        sums = np.stack([squares.sum(axis=1), np.square(squares).sum(axis=1)], axis=1)
        told = sums[:, 0] > np.finfo(X.dtype).eps
        for i in np.flatnonzero(told):
            if found.setdefault(block[i].tobytes(), len(found)) == len(powers):
                powers.append(np.array([*sums[i], rows.start + i]))
    table = np.array(powers).reshape(-1, 3)
    places = table[:, 2].astype(np.intp)
    keys = np.round(table[:, :2] / table[:, :2].max(axis=0, initial=1.0), 9)
    return places[np.lexsort((keys[:, 1], keys[:, 0]))]


def _dense(X: Matrix) -> FloatArray:
    rows: FloatArray = X.toarray() if sp.issparse(X) else X
    return rows
