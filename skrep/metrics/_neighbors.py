"""The nearest rows of every row, block by block."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms as sklearn_row_norms

from skrep.geometry import row_norms, unit_rows
from skrep.metrics._retrieval import recentered
from skrep.metrics._validation import check_count
from skrep.typing import FloatArray, IntArray, Matrix
from skrep.utils import row_blocks

__all__ = [
    "Neighbors",
    "Space",
    "check_neighbors",
    "neighbor_blocks",
    "pick",
    "prefix_neighbors",
    "space_of",
]

BLOCK_BYTES = 32 * 2**20
"""A block holds whole rows of similarities: wide enough to be a matrix product."""


class Neighbors(NamedTuple):
    """The nearest rows of a block of rows, as a list of pairs.

    Parameters
    ----------
    owners : ndarray of shape (n_pairs,)
        Position within the block.
    rows : ndarray of shape (n_pairs,)
        A row that is near, or one of several equally near ones.
    shares : ndarray of shape (n_pairs,)
        How much of a place it has, in (0, 1]; each owner's shares add up to the
        number of neighbors.
    """

    owners: IntArray
    rows: IntArray
    shares: FloatArray

    def table(self, n_rows: int) -> FloatArray:
        """Spread the shares over all rows: (n_block, n_rows)."""
        shares = np.zeros((int(self.owners[-1]) + 1, n_rows))
        shares[self.owners, self.rows] = self.shares
        return shares

    def common(self, table: FloatArray) -> float:
        """Add up what these neighbors have in common with those of a table."""
        return float(np.minimum(table[self.owners, self.rows], self.shares).sum())


class Space(NamedTuple):
    """Rows whose products, less the offsets, sort them by nearness.

    Parameters
    ----------
    rows : {ndarray, CSR} of shape (n_rows, n_features)
        Unit rows for the cosine, centered ones for the distance.
    norms : ndarray of shape (n_rows,)
        Their norms; for the cosine 1, also of zero rows.
    offsets : ndarray of shape (n_rows,)
        Half the squared norms for the distance, else 0.
    """

    rows: Matrix
    norms: FloatArray
    offsets: FloatArray

    def nearest(self, block: slice, n_neighbors: int) -> Neighbors:
        """Find the nearest rows of a block of rows, each but itself."""
        products = self.rows[block] @ self.rows.T
        scores = products.toarray() if sp.issparse(products) else products
        scores -= self.offsets
        n_features = self.rows.shape[1]
        return pick(scores, block.start, n_neighbors, n_features, self.norms)


def pick(
    scores: FloatArray,
    start: int,
    n_neighbors: int,
    n_features: int,
    norms: FloatArray,
) -> Neighbors:
    """Pick the largest of each row of scores, which is overwritten.

    Row i of the scores is row ``start + i`` of those that the columns stand for. The
    scores are rounded as dot products of rows with these `norms` are.
    """
    n_block, n_rows = scores.shape
    each = np.arange(n_block)
    scores[each, each + start] = -np.inf
    last = np.argpartition(scores, n_rows - n_neighbors, axis=1)
    last = last[:, n_rows - n_neighbors]
    # Twice the rounding bound of a dot product, for the row, the last neighbor and
    # whatever is no farther than that: what no order may rest on.
    reach = 2 * norms[start : start + n_block] + norms[last]
    slack = (n_features + 8) * np.finfo(np.float64).eps * reach**2
    least = scores[each, last]
    near = np.flatnonzero(scores >= (least - slack)[:, None])
    owners, rows = np.divmod(near, n_rows)
    ahead = scores.ravel()[near] > (least + slack)[owners]
    n_ahead = np.bincount(owners[ahead], minlength=n_block)
    n_equal = np.bincount(owners[~ahead], minlength=n_block)
    left = (n_neighbors - n_ahead) / n_equal
    return Neighbors(owners, rows, np.where(ahead, 1.0, left[owners]))


def prefix_neighbors(
    Z: FloatArray, lengths: IntArray, block: slice, n_neighbors: int
) -> Iterator[Neighbors]:
    """Nearest rows by cosine for every prefix, from one pass over the columns.

    Lengths rise. The products of a prefix are those of the one before and of the
    columns since.
    """
    starts = np.concatenate([[0], lengths[:-1]])
    total = np.zeros((block.stop - block.start, len(Z)))
    ones = np.ones(len(Z))
    squares = np.zeros(len(Z))
    for start, stop in zip(starts, lengths, strict=True):
        part = Z[:, start:stop]
        total += part[block] @ part.T
        squares += np.einsum("ij,ij->i", part, part)
        scale = np.sqrt(squares)
        scale = np.divide(1, scale, out=np.zeros_like(scale), where=scale > 0)
        cosines = total * scale
        cosines *= scale[block, None]
        yield pick(cosines, block.start, n_neighbors, int(stop), ones)


def space_of(rows: Matrix, metric: str) -> Space:
    """Prepare checked rows for `metric`."""
    n_rows = rows.shape[0]
    if metric == "cosine":
        units = _sparse_units(rows) if sp.issparse(rows) else unit_rows(rows)[0]
        return Space(units, np.ones(n_rows), np.zeros(n_rows))
    centered, _ = recentered(rows, rows)
    norms = row_norms(centered)
    return Space(centered, norms, norms**2 / 2)


def neighbor_blocks(n_rows: int) -> Iterator[slice]:
    """Blocks of rows whose similarities to all rows fit into memory."""
    return row_blocks(n_rows, row_bytes=4 * 8 * n_rows, budget=BLOCK_BYTES)


def check_neighbors(who: str, n_neighbors: Any, n_rows: int) -> int:
    """Return the number of neighbors, if there are so many."""
    n_neighbors = check_count(who, "n_neighbors", n_neighbors)
    if n_neighbors >= n_rows:
        raise ValueError(
            f"{who}: 'n_neighbors' is {n_neighbors} and there are {n_rows} rows. A row "
            f"has no more than {n_rows - 1} others. Pass n_neighbors={n_rows - 1} or "
            "fewer, or more rows."
        )
    return n_neighbors


def _sparse_units(rows: Matrix) -> Matrix:
    units = sp.csr_array(rows, copy=True)
    norms = sklearn_row_norms(units)
    norms[norms == 0] = 1
    units.data /= np.repeat(norms, np.diff(units.indptr))
    return units
