"""Arrays, frames and sparse matrices: the few things the groups do to all of them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from skrep.typing import AnyArray, FloatArray

__all__ = [
    "as_container",
    "copy_of",
    "is_frame",
    "is_sparse",
    "map_dense",
    "scale_columns",
    "scale_rows",
    "shape_of",
    "take",
]


def is_sparse(X: Any) -> bool:
    """Tell a sparse matrix or array of any format."""
    return bool(sp.issparse(X))


def is_frame(X: Any) -> bool:
    """Tell a pandas or polars frame by what it offers, without importing either."""
    return hasattr(X, "columns") and hasattr(X, "to_numpy")


def as_container(X: Any) -> Any:
    """Keep frames, series and sparse matrices; make an array of anything else."""
    return X if is_sparse(X) or hasattr(X, "to_numpy") else np.asarray(X)


def copy_of(X: Any) -> Any:
    """Copy, since an estimator with ``copy=False`` may write to what it is given."""
    return X.clone() if hasattr(X, "clone") else X.copy()


def shape_of(X: Any, group: str) -> tuple[int, int]:
    """Return rows and columns, or say that the group needs a table."""
    if len(X.shape) != 2:
        raise ValueError(
            f"check_invariance: 'X' has {len(X.shape)} dimension(s). Group {group!r} "
            "acts on tables with rows and columns. Pass X.reshape(-1, 1) if X is one "
            "column."
        )
    return int(X.shape[0]), int(X.shape[1])


def take(X: Any, order: AnyArray, axis: int = 0) -> Any:
    """Return rows or columns of X in a new order, as the same kind of container."""
    if is_sparse(X):
        compressed = X.tocsr() if axis == 0 else X.tocsc()
        moved = compressed[order] if axis == 0 else compressed[:, order]
        return moved.asformat(X.format)
    if isinstance(X, np.ndarray):
        return np.take(X, order, axis=axis)
    return _safe_indexing(X, order, axis=axis)


def _floating(values: AnyArray, group: str) -> FloatArray:
    if values.dtype.kind not in "fiub":
        raise TypeError(
            f"check_invariance: 'X' holds {values.dtype} entries. Group {group!r} "
            "acts on numbers. Pass the numeric columns alone, as "
            "X.select_dtypes('number') does for pandas."
        )
    return values if values.dtype.kind == "f" else values.astype(np.float64)


def map_dense(X: Any, action: Callable[[AnyArray], AnyArray], group: str) -> Any:
    """Apply an action of float arrays to an array or a frame, float type kept."""
    if is_sparse(X):
        raise TypeError(
            f"check_invariance: 'X' is sparse. Group {group!r} would fill it with "
            "nonzero entries. Pass X.toarray()."
        )
    values = _floating(X.to_numpy() if is_frame(X) else X, group)
    # float64 inside: the rounding of the action must not count as a broken claim.
    moved = action(values.astype(np.float64)).astype(values.dtype)
    if not is_frame(X):
        return moved
    if hasattr(X, "index"):
        return type(X)(moved, index=X.index, columns=X.columns)
    # polars would guess the orientation of a square array.
    return type(X)(moved, schema=list(X.columns), orient="row")


def _scale_sparse(X: Any, factors: FloatArray, axis: int, group: str) -> Any:
    scaled = X.tocsr(copy=True)
    values = _floating(scaled.data, group)
    if axis == 0:
        each = np.repeat(factors, np.diff(scaled.indptr))
    else:
        each = factors[scaled.indices]
    scaled.data = (values * each).astype(values.dtype)
    return scaled.asformat(X.format)


def scale_columns(X: Any, factors: FloatArray, group: str) -> Any:
    """Multiply column j by ``factors[j]``; one factor serves all columns."""
    if is_sparse(X):
        factors = np.broadcast_to(factors, (X.shape[1],))
        return _scale_sparse(X, factors, 1, group)
    return map_dense(X, lambda values: values * factors, group)


def scale_rows(X: Any, factors: FloatArray, group: str) -> Any:
    """Multiply row i by ``factors[i]``."""
    if is_sparse(X):
        return _scale_sparse(X, factors, 0, group)
    return map_dense(X, lambda values: values * factors[:, None], group)
