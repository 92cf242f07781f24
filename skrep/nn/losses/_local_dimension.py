"""Rows that fill many dimensions around each of them."""

import torch
from torch import Tensor, nn

from skrep.nn.losses._rows import check_size, mean_over_rows, read_rows

__all__ = ["LocalDimension"]

# Relative gap of the distances around a row under which they tell no dimension.
_EVEN = 1e-9


class LocalDimension(nn.Module):
    r"""Reward for a high local dimension, row by row.

    With :math:`r_1 \le \dots \le r_k` the distances of a row to its nearest others in
    the batch and :math:`\mu` the mean of all but the last, the dimension around the
    row is estimated by the method of moments [1]_, and its logarithm is driven up
    [2]_:

    .. math:: -\frac{1}{n} \sum_i |\log m_i|, \qquad m_i = \frac{\mu_i}{r_{ik} - \mu_i}.

    The mean of the logarithms presses on the rows of low dimension, which one mean
    over the batch would hide. Rows act as neighbors without a gradient: each moves
    by its own estimate alone.

    Parameters
    ----------
    n_neighbors : int, default=64
        Number of neighbors, from 2 up. A batch of fewer distinct rows takes as many
        as there are.

    See Also
    --------
    SpanningTreeSpread : Reward for even rows in all dimensions.
    CombinedLoss : Adds it, with a weight, to the loss that brings classes apart.
    skrep.metrics.local_intrinsic_dimension : The estimate for arrays.

    Notes
    -----
    Unchanged by translations, rotations and scale. The published weights beside
    another loss are small: 0.01 and 0.005 for contrastive ones.

    Copies of a row count as one neighbor, and are none of their own. A row whose
    neighbors are all equally far has no estimate and is left out; where none has
    one, as in a batch of fewer than three distinct rows, the loss is 0 with a
    gradient of 0.

    References
    ----------
    .. [1] Amsaleg, L., Chelly, O., Furon, T., Girard, S., Houle, M. E., Kawarabayashi,
       K. and Nett, M. (2018). "Extreme-value-theoretic estimation of local intrinsic
       dimensionality". Data Mining and Knowledge Discovery, 32(6), 1768-1805.
    .. [2] Huang, H., Campello, R. J. G. B., Erfani, S. M., Ma, X., Houle, M. E. and
       Bailey, J. (2024). "LDReg: local dimensionality regularized self-supervised
       learning". ICLR.

    Examples
    --------
    Rows in five dimensions, and the same rows on a plane:

    >>> import torch
    >>> from skrep.nn.losses import LocalDimension
    >>> ball = torch.randn(300, 5, generator=torch.Generator().manual_seed(0))
    >>> plane = ball * torch.tensor([1, 1, 0, 0, 0])
    >>> loss = LocalDimension(n_neighbors=20)
    >>> print(f"{loss(ball):.1f} {loss(plane):.1f}")
    -1.6 -0.7
    """

    def __init__(self, *, n_neighbors: int = 64) -> None:
        super().__init__()
        self.n_neighbors = check_size(
            "LocalDimension", "n_neighbors", n_neighbors, 2, "n_neighbors=64"
        )

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
            Weights in the mean over rows; a row of weight 0 is no neighbor either. By
            default each is 1.

        Returns
        -------
        Tensor of shape ()
            The loss, in the dtype of `embeddings`.
        """
        rows, weight = read_rows(type(self).__name__, embeddings, sample_weight)
        values, told = log_dimensions(rows, self.n_neighbors)
        loss = -mean_over_rows(values.abs(), weight[told])
        return loss.to(embeddings.dtype)

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return f"n_neighbors={self.n_neighbors}"


def log_dimensions(rows: Tensor, n_neighbors: int) -> tuple[Tensor, Tensor]:
    """Estimate the logarithm of the dimension around each row, by moments.

    Parameters
    ----------
    rows : Tensor of shape (n, k), float64
        Rows.
    n_neighbors : int
        Number of neighbors, if there are so many.

    Returns
    -------
    values : Tensor of shape (n_told,)
        Logarithms, with their graph.
    told : Tensor of shape (n,), bool
        The rows that have one.
    """
    none = rows.sum(1)[:0], rows.new_zeros(len(rows), dtype=torch.bool)
    if not rows.numel():
        return none
    with torch.no_grad():
        size = rows.abs().max()
        size = torch.where(size > 0, size, 1)
        others = torch.unique(rows / size, dim=0)
    n_neighbors = min(n_neighbors, len(others) - 1)
    if n_neighbors < 2:
        return none
    distances = torch.cdist(
        rows / size, others, compute_mode="donot_use_mm_for_euclid_dist"
    )
    distances = distances.masked_fill(distances == 0, torch.inf)
    near = distances.topk(n_neighbors, largest=False).values
    far, mean = near[:, -1], near[:, :-1].mean(1)
    with torch.no_grad():
        told = (far != torch.inf) & ~(far - mean <= _EVEN * far)
    mean, far = mean[told], far[told]
    return mean.log() - (far - mean).log(), told
