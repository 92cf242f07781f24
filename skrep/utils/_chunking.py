"""Row blocks: work through a long array in pieces of bounded memory."""

from collections.abc import Iterator

__all__ = ["row_blocks"]

BLOCK_BYTES = 2 * 2**20


def row_blocks(
    n_rows: int, row_bytes: int, *, budget: int = BLOCK_BYTES
) -> Iterator[slice]:
    """Cut a range of rows into consecutive slices that fit a memory budget.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    row_bytes : int
        Bytes of temporary memory that one row needs.
    budget : int, default=2 MiB
        Bytes that one block may need. Small enough to stay in a processor's cache,
        large enough for a matrix product to run at full speed.

    Yields
    ------
    slice
        Slices that cover ``range(n_rows)`` once, in order; each holds at least one
        row.

    Examples
    --------
    >>> from skrep.utils import row_blocks
    >>> [(b.start, b.stop) for b in row_blocks(5, row_bytes=8, budget=16)]
    [(0, 2), (2, 4), (4, 5)]
    """
    step = max(1, budget // max(1, row_bytes))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
