"""Vectors of several layers per row: how they come, and how they are told apart."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from skrep.typing import FloatArray
from skrep.utils.validation import is_whole, validate_rows

__all__ = ["layer_slices", "read_layers"]


def read_layers(
    estimator: Any, X: Any, layers: Any, *, reset: bool
) -> tuple[FloatArray, tuple[int, ...]]:
    """Validate rows of several layers, and put the layers side by side.

    Parameters
    ----------
    estimator : estimator
        The estimator, which is named in errors.
    X : array-like of shape (n_rows, n_features) or (n_rows, n_layers, width)
        Rows.
    layers : int, sequence of int or None
        Number of equal blocks of columns, or their widths; None is one block, or the
        layers of a three-dimensional X.
    reset : bool
        True in ``fit``, False where fitted layers are to be met.

    Returns
    -------
    rows : ndarray of shape (n_rows, n_features)
        The layers side by side.
    widths : tuple of int
        Their widths.

    Raises
    ------
    ValueError
        If the layers do not fit the columns, or are not those of fit.
    """
    who = type(estimator).__name__
    if isinstance(X, list | tuple) and len(X) and np.ndim(X[0]) == 2:
        X = np.stack([np.asarray(row) for row in X])
    shape: Any = getattr(X, "shape", ())
    if len(shape) != 3:
        rows = validate_rows(estimator, X, reset=reset)
        return rows, layer_widths(who, layers, rows.shape[1])
    n_rows, n_layers, width = shape
    widths = (width,) * n_layers
    fits = layers == n_layers if is_whole(layers) else _tuple_of(layers) == widths
    if layers is not None and not fits:
        raise ValueError(
            f"{who}: 'X' has {n_layers} layers of {width} columns, and 'layers' "
            f"{'is' if reset else 'of fit were'} {layers!r}. Both must agree: pass X "
            "of shape (n_samples, n_layers, width) with the layers of fit, and "
            f"{who}(layers=None)."
        )
    flat = np.asarray(X).reshape(n_rows, n_layers * width)
    return validate_rows(estimator, flat, reset=reset), widths


def layer_widths(who: str, layers: Any, n_features: int) -> tuple[int, ...]:
    """Give the widths of blocks of columns.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    layers : int, sequence of int or None
        Number of equal blocks, or their widths; None is one block.
    n_features : int
        Number of columns.

    Returns
    -------
    tuple of int
        The widths.

    Raises
    ------
    ValueError
        If they do not make up the columns.
    """
    if layers is None:
        return (n_features,)
    if is_whole(layers):
        if layers < 1 or n_features % layers:
            raise ValueError(
                f"{who}: 'layers' is {layers!r}, and 'X' has {n_features} columns, "
                "which do not fall into so many equal blocks. Pass the widths, as "
                f"layers=({n_features},)."
            )
        return (n_features // int(layers),) * int(layers)
    widths = _tuple_of(layers)
    whole = bool(widths) and all(is_whole(w) and w > 0 for w in widths)
    if not whole or sum(widths) != n_features:
        raise ValueError(
            f"{who}: 'layers' is {layers!r}, and 'X' has {n_features} columns. It must "
            "be the number of equal layers, or their widths, positive integers that "
            f"sum to {n_features}. Pass layers=({n_features},), say."
        )
    return tuple(int(w) for w in widths)


def layer_slices(widths: tuple[int, ...]) -> tuple[slice, ...]:
    """Give the columns of every layer.

    Parameters
    ----------
    widths : tuple of int
        Widths of the layers.

    Returns
    -------
    tuple of slice
        Their columns.
    """
    ends = np.cumsum(widths).tolist()
    return tuple(slice(e - w, e) for e, w in zip(ends, widths, strict=True))


def _tuple_of(widths: Any) -> tuple[Any, ...]:
    sequence = isinstance(widths, Iterable) and not isinstance(widths, str)
    return tuple(widths) if sequence else ()
