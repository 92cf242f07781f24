"""Blocks of rows for sums of their products."""

from collections.abc import Iterator

from skrep.typing import FloatArray
from skrep.utils import row_blocks
from skrep.utils._chunking import BLOCK_BYTES

__all__ = ["moment_blocks"]


def moment_blocks(X: FloatArray) -> Iterator[slice]:
    """Row blocks for which the matrix of moments, touched once each, is no burden.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.

    Returns
    -------
    iterator of slice
        Slices of at least n_features rows where there are as many.
    """
    width = 8 * X.shape[1]
    return row_blocks(X.shape[0], width, budget=max(BLOCK_BYTES, width * X.shape[1]))
