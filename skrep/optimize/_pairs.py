"""A set of pairs that is asked about many pairs at once."""

import numpy as np

from skrep.typing import AnyArray, IntArray

__all__ = ["PairSet"]

# Slots of the filter for one pair: a pair that is not in the set passes with a
# chance of one in this number.
_SLOTS = 8
# The odd integer nearest to 2^64 over the golden ratio (Knuth, 1973).
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class PairSet:
    """Hold pairs of integers in a sorted array of keys.

    The pair (i, j) has the key ``i * n_columns + j``. A query is looked up by binary
    search, after a table of hashed keys has turned most of the absent pairs away: a
    search in a long array misses the cache at nearly every step.

    Parameters
    ----------
    rows, columns : ndarray of shape (n_pairs,), int
        The pairs; those given twice are held once.
    n_columns : int
        One more than the largest column there can be.

    See Also
    --------
    NegativeSampler : Draws pairs that are not in a set.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.optimize import PairSet
    >>> pairs = PairSet(np.array([0, 2]), np.array([1, 1]), n_columns=3)
    >>> pairs.contains(np.array([0, 1, 2]), np.array([1, 1, 1]))
    array([ True, False,  True])
    """

    def __init__(self, rows: IntArray, columns: IntArray, n_columns: int) -> None:
        self.n_columns = n_columns
        self.keys = np.unique(rows.astype(np.int64) * n_columns + columns)
        n_bits = max(10, int(_SLOTS * len(self.keys)).bit_length())
        self._shift = np.uint64(64 - n_bits)
        self._filter = np.zeros(1 << n_bits, dtype=bool)
        self._filter[self._slots(self.keys)] = True

    def contains(self, rows: IntArray, columns: IntArray) -> AnyArray:
        """Tell which pairs are in the set.

        Parameters
        ----------
        rows, columns : ndarray, int
            The pairs, in shapes that broadcast.

        Returns
        -------
        ndarray of bool
            True where (row, column) is in the set, in the shape of the two.
        """
        keys = np.asarray(rows * np.int64(self.n_columns) + columns)
        found = np.zeros(keys.shape, dtype=bool)
        passed = np.flatnonzero(self._filter[self._slots(keys)])
        asked = keys.ravel()[passed]
        place = np.searchsorted(self.keys, asked)
        place[place == len(self.keys)] = 0
        found.ravel()[passed[self.keys[place] == asked]] = True
        return found

    def _slots(self, keys: IntArray) -> IntArray:
        hashed = (keys.view(np.uint64) * _MULTIPLIER) >> self._shift
        return hashed.view(np.int64)
