"""Transform rows that come in blocks, or do not fit in memory."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.utils.validation import check_is_fitted

__all__ = ["transform_blocks"]


def transform_blocks(
    estimator: Any, blocks: Any, n_jobs: int | None = None
) -> Iterator[Any] | Any:
    """Transform rows block by block.

    Parameters
    ----------
    estimator : estimator
        A fitted transformer, or a pipeline of them.
    blocks : iterable of array-like, or dask array of shape (n_rows, n_features)
        Blocks of rows. For an array that is mapped to a file, pass its parts, such as
        ``(X[part] for part in sklearn.utils.gen_batches(len(X), 10_000))``.
    n_jobs : int, default=None
        Number of workers of joblib for an iterable; None is 1 unless joblib is
        configured otherwise. A dask array is left to dask.

    Returns
    -------
    iterator of array, or dask array of shape (n_rows, n_outputs)
        Transformed blocks, in order, computed as they are asked for; of a dask array,
        another one, which is computed when dask is asked to.

    Raises
    ------
    TypeError
        If blocks are one array or frame.
    NotFittedError
        If the estimator is not fitted.

    See Also
    --------
    fit_blocks : Fit to rows that come in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.blockwise import transform_blocks
    >>> from skrep.nested import NestedProjection
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> nested = NestedProjection(2).fit(X)
    >>> [part.shape for part in transform_blocks(nested, [X[:40], X[40:]])]
    [(40, 2), (60, 2)]
    """
    check_is_fitted(estimator)
    if hasattr(blocks, "map_blocks"):
        return _mapped(estimator, blocks)
    if hasattr(blocks, "shape") or hasattr(blocks, "columns"):
        raise TypeError(
            f"transform_blocks: 'blocks' is one {type(blocks).__name__}. It must be an "
            "iterable of blocks of rows: pass np.array_split(X, 10), say, or call "
            "estimator.transform(X)."
        )
    return _transformed(estimator, iter(blocks), n_jobs)


def _transformed(
    estimator: Any, blocks: Iterable[Any], n_jobs: int | None
) -> Iterator[Any]:
    source, size = iter(blocks), effective_n_jobs(n_jobs)
    with Parallel(n_jobs=n_jobs) as workers:
        while group := list(islice(source, size)):
            yield from workers(delayed(estimator.transform)(X) for X in group)


def _mapped(estimator: Any, X: Any) -> Any:
    """A dask array of the outputs, with the chunks of the rows."""
    whole = X.rechunk({1: -1})
    # One row tells the number of columns and their type.
    row = np.zeros((1, X.shape[1]), dtype=X.dtype)
    meta = estimator.transform(row)
    return whole.map_blocks(
        estimator.transform,
        dtype=meta.dtype,
        chunks=(whole.chunks[0], (meta.shape[1],)),
        meta=meta[:0],
    )
