"""Map and merge: moments of blocks of rows, measured anywhere, solved once."""

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.utils.validation import _num_samples

from skrep.typing import AnyArray
from skrep.utils.validation import validate_rows

__all__ = ["fit_blocks"]

T = TypeVar("T")

PER_WORKER = 4
"""Blocks that every worker gets before their moments are joined."""


class _Block(NamedTuple):
    X: Any
    y: Any
    sample_weight: Any


def fit_blocks(estimator: T, blocks: Iterable[Any], n_jobs: int | None = None) -> T:
    """Fit an estimator to rows that come in blocks.

    Every block is reduced to its moments by a worker, the moments are joined in the
    order of the blocks, and the estimator solves once. The result is that of
    ``estimator.fit`` on all rows but for rounding, whatever the number of workers, and
    no more than a few blocks are in memory at a time.

    Workers are those of joblib: ``with joblib.parallel_config(backend="dask")`` sends
    the blocks to a cluster.

    Parameters
    ----------
    estimator : estimator
        One whose fit follows from moments that merge: it has `partial_fit` and `merge`,
        as :class:`skrep.nested.NestedProjection`, :class:`skrep.index_model.SteinIndex`
        or :class:`skrep.discriminant.LinearDiscriminantProjection`. It is left as it
        was.
    blocks : iterable
        Each is a tuple (X, y) or (X, y, sample_weight), or X alone where the estimator
        needs no y. All X have the same columns. Where it takes all of y to tell how it
        is read, which is so for the quantile slices of a number without `slice_edges`
        and for integers with ``target_type="auto"``, blocks are passed over twice, so
        that they must be a list, or another object that can be iterated again.
    n_jobs : int, default=None
        Number of workers; None is 1 unless joblib is configured otherwise.

    Returns
    -------
    estimator
        A fitted clone, which `partial_fit` and `merge` can take further.

    Raises
    ------
    TypeError
        If the estimator has no moments that merge, or its parameters rule them out.
    ValueError
        If there is no block, blocks do not go together, or they must be passed over
        twice and cannot be.

    See Also
    --------
    transform_blocks : Transform rows that come in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.blockwise import fit_blocks
    >>> from skrep.nested import NestedProjection
    >>> X = np.random.default_rng(0).normal(size=(100, 5))
    >>> fitted = fit_blocks(NestedProjection(2), [X[:40], X[40:]])
    >>> np.allclose(fitted.components_, NestedProjection(2).fit(X).components_)
    True
    """
    _check_estimator(estimator)
    fitted: Any = clone(estimator)
    fitted._validate_params()
    source = iter(blocks)
    first = _first_block(source, blocks)
    # Its columns are those that all others must have.
    sparse = "csr" if fitted.__sklearn_tags__().input_tags.sparse else False
    validate_rows(fitted, first.X, reset=True, accept_sparse=sparse)
    rule = _rule(fitted, first, blocks if source is not blocks else None)
    rest = chain([first], map(_as_block, source))
    state, dtype = _reduced(fitted, rest, rule, n_jobs)
    result: T = fitted._settle_states(state, rule, dtype)
    return result


def _check_estimator(estimator: Any) -> None:
    if isinstance(estimator, type):
        raise TypeError(
            f"fit_blocks: 'estimator' is the class {estimator.__name__}. Pass an "
            f"instance: {estimator.__name__}()."
        )
    if not hasattr(type(estimator), "_block_state"):
        raise TypeError(
            f"fit_blocks: 'estimator' is a {type(estimator).__name__}, whose fit does "
            "not follow from moments that merge. Pass an estimator with partial_fit "
            "and merge, such as skrep.nested.NestedProjection()."
        )
    try:
        _ = estimator.merge
    except AttributeError as error:
        raise TypeError(f"fit_blocks: {error.__cause__ or error}") from error


def _rule(estimator: Any, first: _Block, blocks: Iterable[Any] | None) -> Any:
    """How targets are read, by the first block if it tells, or by all blocks."""
    try:
        rule = estimator._block_rule(
            first.y, first.sample_weight, _num_samples(first.X)
        )
    except ValueError:
        # One block may hold too little to tell: a single class, say.
        if blocks is None:
            raise
    else:
        if estimator._rule_is_settled(rule, first.y):
            return rule
    if blocks is None:
        raise ValueError(
            "fit_blocks: 'blocks' is an iterator, which passes but once, and it takes "
            "all of y to tell how y is read. Pass a list or another object whose "
            "iter() starts anew, or say how: slice_edges=... for numbers, "
            'target_type="classes" for integer labels.'
        )
    targets, weights, weighted = [], [], False
    for block in map(_as_block, blocks):
        n_rows = _num_samples(block.X)
        targets.append(_target_of(block))
        weighted = weighted or block.sample_weight is not None
        own = np.ones(n_rows) if block.sample_weight is None else block.sample_weight
        weights.append(np.asarray(own, dtype=np.float64))
    y, every = np.concatenate(targets), np.concatenate(weights)
    return estimator._block_rule(y, every if weighted else None, len(every))


def _target_of(block: _Block) -> AnyArray:
    if block.y is None:
        raise ValueError(
            "fit_blocks: 'blocks' holds rows without y. Pass tuples (X, y)."
        )
    return np.asarray(block.y)


def _first_block(source: Iterator[Any], blocks: Any) -> _Block:
    if hasattr(blocks, "shape") or hasattr(blocks, "columns"):
        raise TypeError(
            f"fit_blocks: 'blocks' is one {type(blocks).__name__}. It must be an "
            "iterable of blocks of rows: pass np.array_split(X, 10), say, or call "
            "estimator.fit(X)."
        )
    for block in source:
        return _as_block(block)
    raise ValueError(
        "fit_blocks: 'blocks' holds no block. Pass one tuple (X, y) of rows or more."
    )


def _as_block(block: Any) -> _Block:
    if not isinstance(block, tuple):
        return _Block(block, None, None)
    if not 1 <= len(block) <= 3:
        raise ValueError(
            f"fit_blocks: 'blocks' holds a tuple of {len(block)}. Each must be (X, y), "
            "or (X, y, sample_weight)."
        )
    return _Block(*block, *[None] * (3 - len(block)))


def _measured(estimator: Any, block: _Block, rule: Any) -> tuple[Any, Any]:
    found: tuple[Any, Any] = estimator._block_state(*block, rule)
    return found


def _reduced(
    estimator: Any, blocks: Iterator[_Block], rule: Any, n_jobs: int | None
) -> tuple[Any, Any]:
    """Joined moments of all blocks, and the float type that holds all rows."""
    total, dtype = None, None
    size = PER_WORKER * effective_n_jobs(n_jobs)
    with Parallel(n_jobs=n_jobs) as workers:
        while group := list(islice(blocks, size)):
            told = (delayed(_measured)(estimator, block, rule) for block in group)
            for state, own in workers(told):
                total = state if total is None else estimator._join_states(total, state)
                dtype = own if dtype is None else np.promote_types(dtype, own)
    return total, dtype
