"""Draws from the groups: random, never the identity, and well conditioned."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from sklearn.utils.multiclass import type_of_target

from skrep.invariance._containers import is_frame, is_sparse, shape_of
from skrep.invariance._elements import Element
from skrep.invariance._linear import AffineMap, ColumnScaling, RowScaling
from skrep.invariance._permutations import (
    ColumnPermutation,
    LabelPermutation,
    Relabelling,
    RowPermutation,
)
from skrep.typing import FloatArray, IntArray

__all__ = ["draw_element"]

_Rng = np.random.RandomState


def _too_small(group: str, what: str, size: int) -> ValueError:
    return ValueError(
        f"check_invariance: group {group!r} has only the identity on {size} {what}. "
        f"It needs at least 2 {what}."
    )


def _permutation(rng: _Rng, size: int, group: str, what: str) -> IntArray:
    if size < 2:
        raise _too_small(group, what, size)
    order = rng.permutation(size)
    # The identity would try nothing.
    return np.roll(order, 1) if (order == np.arange(size)).all() else order


def _haar(rng: _Rng, size: int) -> FloatArray:
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    # Without the signs of R the draw would depend on the sign rule of the QR.
    return q * np.sign(np.diag(r))


def _rotation(rng: _Rng, size: int) -> FloatArray:
    if size < 2:
        raise _too_small("rotation", "columns", size)
    q = _haar(rng, size)
    q[:, 0] *= np.linalg.slogdet(q)[0]
    return q


def _well_conditioned(rng: _Rng, size: int) -> FloatArray:
    # Condition number 4 at most: rounding is magnified by no more than that.
    stretch = np.exp2(rng.uniform(-1.0, 1.0, size))
    return (_haar(rng, size) * stretch) @ _haar(rng, size)


def _factors(rng: _Rng, size: int) -> FloatArray:
    # From 1/8 to 8 and never between 1/2 and 2, where little would happen.
    return np.exp2(rng.uniform(1.0, 3.0, size) * rng.choice([-1.0, 1.0], size))


def _spread(X: Any, group: str) -> FloatArray:
    """Return one length per column, so that a shift is felt and yet not drowned."""
    if is_sparse(X):
        return np.ones(X.shape[1])
    values = np.asarray(X.to_numpy() if is_frame(X) else X)
    if values.dtype.kind not in "fiub":
        return np.ones(values.shape[1])
    values = values.astype(np.float64)
    spread = np.asarray(values.std(axis=0))
    spread = np.where(spread > 0, spread, np.abs(values).mean(axis=0))
    return np.where(spread > 0, spread, 1.0)


def _offset(rng: _Rng, X: Any, group: str) -> FloatArray:
    _, width = shape_of(X, group)
    signs = rng.choice([-1.0, 1.0], width)
    return signs * rng.uniform(1.0, 3.0, width) * _spread(X, group)


def _draw_affine(group: str, X: Any, y: Any, rng: _Rng) -> Element:
    _, width = shape_of(X, group)
    make = {"orthogonal": _haar, "rotation": _rotation}.get(group, _well_conditioned)
    matrix = None if group == "translation" else make(rng, width)
    shifted = group in ("translation", "invertible_affine")
    return AffineMap(group, matrix, _offset(rng, X, group) if shifted else None)


def _draw_scaling(group: str, X: Any, y: Any, rng: _Rng) -> Element:
    n_rows, width = shape_of(X, group)
    if group == "row_scaling":
        return RowScaling(_factors(rng, n_rows))
    return ColumnScaling(group, _factors(rng, 1 if group[0] == "p" else width))


def _draw_sign_flip(group: str, X: Any, y: Any, rng: _Rng) -> Element:
    _, width = shape_of(X, group)
    signs = rng.choice([-1.0, 1.0], width)
    signs[rng.randint(width)] = -1.0
    return ColumnScaling(group, signs)


def _draw_columns(group: str, X: Any, y: Any, rng: _Rng) -> Element:
    return ColumnPermutation(_permutation(rng, shape_of(X, group)[1], group, "columns"))


def _draw_rows(group: str, X: Any, y: Any, rng: _Rng) -> Element:
    return RowPermutation(_permutation(rng, X.shape[0], group, "rows"))


def _draw_relabelling(group: str, X: Any, y: Any, rng: _Rng) -> Element:
    n_rows, width = shape_of(X, group)
    if n_rows != width:
        raise ValueError(
            f"check_invariance: 'X' has shape {n_rows} x {width}. Group {group!r} "
            "acts on square relation matrices, with one row and one column per node."
        )
    return Relabelling(_permutation(rng, n_rows, group, "nodes"))


def _draw_labels(group: str, X: Any, y: Any, rng: _Rng) -> Element:
    if y is None:
        raise ValueError(
            f"check_invariance: 'y' is None. Group {group!r} renames the classes of "
            "y. Pass check_invariance(estimator, claim, X, y)."
        )
    kind = type_of_target(y)
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"check_invariance: 'y' is {kind}. Group {group!r} renames classes, one "
            "per sample."
        )
    classes = np.unique(np.asarray(y))
    order = _permutation(rng, len(classes), group, "classes")
    return LabelPermutation(classes, order)


_DRAW: Final[dict[str, Callable[[str, Any, Any, _Rng], Element]]] = {
    "orthogonal": _draw_affine,
    "rotation": _draw_affine,
    "positive_scaling": _draw_scaling,
    "row_scaling": _draw_scaling,
    "translation": _draw_affine,
    "column_permutation": _draw_columns,
    "sign_flip": _draw_sign_flip,
    "column_scaling": _draw_scaling,
    "invertible_linear": _draw_affine,
    "invertible_affine": _draw_affine,
    "row_permutation": _draw_rows,
    "label_permutation": _draw_labels,
    "tree_relabelling": _draw_relabelling,
}


def draw_element(group: str, X: Any, y: Any, rng: _Rng) -> Element:
    """Draw one element, other than the identity, that fits the size of X and y.

    Parameters
    ----------
    group : str
        A key of `skrep.invariance.GROUPS`.
    X : array, frame or sparse matrix of shape (n_samples, n_features)
        Gives the size, and for translations the spread of each column.
    y : array-like of shape (n_samples,) or None
        Gives the classes to "label_permutation"; others do not look at it.
    rng : numpy.random.RandomState
        Source of the draw.

    Returns
    -------
    Element
        The element drawn.

    Raises
    ------
    ValueError
        If the group has only the identity on data of this size, or cannot act.
    """
    return _DRAW[group](group, X, y, rng)
