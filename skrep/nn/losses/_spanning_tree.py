"""Rows spread evenly: a long shortest tree, near the unit sphere."""

import torch
from torch import Tensor, nn

from skrep.geometry import spanning_tree
from skrep.nn.losses._rows import mean_over_rows, read_rows

__all__ = ["SpanningTreeSpread"]


class SpanningTreeSpread(nn.Module):
    r"""Reward for a long minimum spanning tree, with a pull to the unit sphere.

    .. math:: -\frac{1}{n} \sum_{(i, j) \in T} \|z_i - z_j\|
              + \lambda \, \frac{1}{n} \sum_i (\|z_i\| - 1)^2

    where T joins all rows of the batch by edges of least total length [1]_. Only even
    rows in all dimensions have a long one: so it works against the collapse to a
    point, to few points and to few dimensions. The tree is found without a gradient;
    its lengths carry one.

    Parameters
    ----------
    sphere : float, default=1.0
        Weight of the pull to norm 1, 0 or more. With 0 the loss has no least value,
        as longer rows have longer trees: for networks that end in unit rows.

    See Also
    --------
    LocalDimension : Reward for the dimension around each row.
    CombinedLoss : Adds it, with a weight, to the loss that brings classes apart.
    skrep.metrics.spanning_tree_length : The length itself, of arrays.

    Notes
    -----
    The pull balances the reward at norms a little above 1: at 1.5 for two rows, and
    at most about 1.7 for many in high dimensions. Copies of a row are joined at
    length 0 and have no gradient apart from each other.

    The tree is found on the CPU, in time n^2 times the number of columns: 5 ms for
    128 rows, 110 ms for 1,024 of 64 columns.

    References
    ----------
    .. [1] Mordacq, J., Loiseaux, D., Kalogeiton, V. and Oudot, S. (2025). "T-REGS:
       minimum spanning tree regularization for self-supervised learning". NeurIPS.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import SpanningTreeSpread
    >>> corners = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> print(f"{SpanningTreeSpread()(corners):.3f}")
    -1.061

    Rows of one point, on the sphere, have no tree:

    >>> print(f"{SpanningTreeSpread()(corners[[0, 0, 0, 0]]):.3f}")
    0.000
    """

    def __init__(self, *, sphere: float = 1.0) -> None:
        super().__init__()
        if not sphere >= 0:
            raise ValueError(
                f"SpanningTreeSpread: 'sphere' is {sphere!r}. It must be 0 or more. "
                "Use SpanningTreeSpread(sphere=1.0)."
            )
        self.sphere = sphere

    def forward(
        self,
        embeddings: Tensor,
        y: Tensor | None = None,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        embeddings : Tensor of shape (n_samples, n_components)
            Outputs of the network, of a floating type.
        y : Tensor, default=None
            Not used; all losses take it.
        sample_weight : Tensor of shape (n_samples,), default=None
            Weight 2 stands for the row twice, weight 0 for its absence; by default
            each is 1. A copy adds no length, and counts among the n rows.

        Returns
        -------
        Tensor of shape ()
            The loss, in the dtype of `embeddings`.
        """
        rows, weight = read_rows(type(self).__name__, embeddings, sample_weight)
        pull = mean_over_rows((torch.linalg.vector_norm(rows, dim=1) - 1) ** 2, weight)
        loss = self.sphere * pull
        if len(rows) > 1:
            points = torch.nan_to_num(rows.detach()).cpu().numpy()
            starts, ends = torch.from_numpy(spanning_tree(points)).to(rows.device).T
            edges = torch.linalg.vector_norm(rows[starts] - rows[ends], dim=1)
            loss = loss - edges.sum() / weight.sum()
        return loss.to(embeddings.dtype)

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return f"sphere={self.sphere}"
