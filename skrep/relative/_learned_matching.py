"""Pairs that are found among rows whose partners are unknown."""

import numpy as np

from skrep.relative._learned_space import anchor_space
from skrep.relative._token_sets import RowSets, joined
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks

__all__ = ["grow_matches", "mutual_matches"]

N_ROUNDS = 5
N_NEIGHBORS = 10
MAX_ANCHORS = 512


def mutual_matches(A: FloatArray, B: FloatArray) -> tuple[IntArray, IntArray]:
    r"""Find rows that choose each other across two sides.

    Likeness is the cosine, less how near each of the two is to the other side anyway,

    .. math:: c(a, b) = 2 a^\top b - r_B(a) - r_A(b),

    with r the mean cosine to the 10 nearest rows of the other side [1]_: a row that is
    near to everything is no one's partner.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns)
        Unit rows of one side.
    B : ndarray of shape (n_others, n_columns)
        Unit rows of the other.

    Returns
    -------
    rows, others : ndarray of shape (n_matches,)
        Positions of rows that are each other's likest, the likest pair first.

    References
    ----------
    .. [1] Conneau, A., Lample, G., Ranzato, M., Denoyer, L. and Jegou, H. (2018). Word
       translation without parallel data. ICLR.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.relative._learned_matching import mutual_matches
    >>> A = np.eye(3)
    >>> rows, others = mutual_matches(A, A[[2, 0, 1]])
    >>> sorted(zip(rows.tolist(), others.tolist()))
    [(0, 1), (1, 2), (2, 0)]
    """
    cosines = A.astype(np.float32) @ B.astype(np.float32).T
    cosines *= 2
    nearness = _mean_of_largest(cosines) / 2, _mean_of_largest(cosines.T) / 2
    cosines -= nearness[0][:, None]
    cosines -= nearness[1]
    chosen, chooser = cosines.argmax(axis=1), cosines.argmax(axis=0)
    rows = np.flatnonzero(chooser[chosen] == np.arange(len(A)))
    order = np.argsort(-cosines[rows, chosen[rows]], kind="stable")
    return rows[order], chosen[rows[order]]


def grow_matches(
    pairs: tuple[RowSets, RowSets], unpaired: tuple[RowSets, RowSets], pooling: str
) -> tuple[IntArray, IntArray]:
    """Find partners among unpaired rows, from a few known pairs.

    The known pairs are the anchors of a first comparison of the unpaired rows; the
    likest mutual matches, twice as many as there are known pairs, join the anchors,
    and the next round doubles their number, five times (self-learning [1]_).

    Parameters
    ----------
    pairs : tuple of RowSets
        Unit tokens of both sides, row by row.
    unpaired : tuple of RowSets
        Unit tokens of both sides, in no order.
    pooling : {"max", "mean"}
        What to take over the tokens of a row.

    Returns
    -------
    rows, others : ndarray of shape (n_matches,)
        Positions among the unpaired rows of both sides.

    References
    ----------
    .. [1] Artetxe, M., Labaka, G. and Agirre, E. (2018). A robust self-learning method
       for fully unsupervised cross-lingual mappings of word embeddings. ACL.
    """
    none: IntArray = np.zeros(0, dtype=np.intp)
    found = none, none
    n_pairs = len(pairs[0])
    for step in range(N_ROUNDS):
        encoded = []
        for known, rows, at in zip(pairs, unpaired, found, strict=True):
            anchors = _spread(joined(known, rows.at(at)).means())
            space = anchor_space(np.zeros(anchors.shape[1]), anchors)
            encoded.append(space.encode(rows, pooling))
        n = n_pairs * 2 ** (step + 1)
        ours, theirs = mutual_matches(*encoded)
        found = ours[:n], theirs[:n]
    return found


def _spread(anchors: FloatArray) -> FloatArray:
    step = -(-len(anchors) // MAX_ANCHORS)
    return anchors[::step]


def _mean_of_largest(values: FloatArray) -> FloatArray:
    k = min(N_NEIGHBORS, values.shape[1])
    found = np.empty(len(values), dtype=values.dtype)
    for rows in row_blocks(len(values), 2 * values.itemsize * values.shape[1]):
        found[rows] = np.partition(values[rows], -k, axis=1)[:, -k:].mean(axis=1)
    return found
