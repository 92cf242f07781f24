"""Negative sampling: nodes that a node is not related to."""

import numpy as np

from skrep.optimize._pairs import PairSet
from skrep.typing import AnyArray, IntArray

__all__ = ["NegativeSampler"]


class NegativeSampler:
    r"""Draw nodes to which given nodes are not related.

    Draws are independent and with replacement. A draw that is the node itself, or
    one that it is related to, is marked and not drawn anew, so that the time grows
    with the number of draws alone, also for a node that is related to nearly all.

    Parameters
    ----------
    rows, columns : ndarray of shape (n_pairs,), int
        The relations: node ``rows[i]`` is related to node ``columns[i]``.
    n_nodes : int
        Number of nodes.

    See Also
    --------
    PairSet : Holds the relations.

    Notes
    -----
    `frequent` draws node v with a probability proportional to one plus the number of
    relations to v. Those who are much related to then move apart first.

    References
    ----------
    .. [1] Mikolov, T. et al. (2013). "Distributed representations of words and
       phrases and their compositionality". NeurIPS 26.

    Examples
    --------
    Node 0 is related to all others, so that nothing is left for it:

    >>> import numpy as np
    >>> from skrep.optimize import NegativeSampler
    >>> sampler = NegativeSampler(np.array([0, 0]), np.array([1, 2]), n_nodes=3)
    >>> drawn, barred = sampler.draw(np.random.default_rng(0), np.array([0, 1]), 4)
    >>> drawn.shape, bool(barred[:, 0].all()), bool(barred[:, 1].all())
    ((4, 2), True, False)
    """

    def __init__(self, rows: IntArray, columns: IntArray, n_nodes: int) -> None:
        self.n_nodes = n_nodes
        self.related = PairSet(rows, columns, n_nodes)
        self._frequent = np.concatenate([np.arange(n_nodes), columns])

    def draw(
        self,
        rng: np.random.Generator,
        nodes: IntArray,
        n_negatives: int,
        *,
        frequent: bool = False,
    ) -> tuple[IntArray, AnyArray]:
        """Draw for each of some nodes.

        Parameters
        ----------
        rng : numpy.random.Generator
            Source of the draws.
        nodes : ndarray of shape (n,), int
            The nodes to draw for.
        n_negatives : int
            Draws for each of them.
        frequent : bool, default=False
            If True, nodes that many are related to are drawn more often; if False,
            all are alike.

        Returns
        -------
        drawn : ndarray of shape (n_negatives, n), int64
            Nodes.
        barred : ndarray of shape (n_negatives, n), bool
            True where the draw is the node itself or is related to, and so is not to
            be used.
        """
        pool = len(self._frequent) if frequent else self.n_nodes
        drawn = rng.integers(pool, size=(n_negatives, len(nodes)))
        if frequent:
            drawn = self._frequent[drawn]
        return drawn, self.related.contains(nodes, drawn) | (drawn == nodes)
