"""Agreement of two views of a row, column by column."""

from typing import Any

import torch
from torch import Tensor, nn

from skrep.nn.losses._rows import mean_over_rows, read_rows

__all__ = ["RedundancyReductionLoss", "standard_columns"]


class RedundancyReductionLoss(nn.Module):
    r"""Agreement of two views, with columns that do not repeat each other.

    With the correlations :math:`C_{ij}` of column i of the first view with column j of
    the second, over the rows of a batch, the loss is [1]_

    .. math:: \sum_i (1 - C_{ii})^2 + \lambda \sum_{i \ne j} C_{ij}^2.

    Two views of a row may be two distortions of it, or the row and one of its
    neighbors [2]_. No negative examples are needed.

    Parameters
    ----------
    off_diagonal : float, default=0.005
        The weight :math:`\lambda`, positive or zero.

    See Also
    --------
    skrep.nested.NeighborEncoder : An encoder that is trained with it.
    skrep.nested.NestedProjection : Objective "neighbors", its linear closed form.

    Notes
    -----
    Unchanged when a column of either view is shifted or multiplied by a positive
    number. A column that is constant over the batch correlates with none.

    References
    ----------
    .. [1] Zbontar, J., Jing, L., Misra, I., LeCun, Y. and Deny, S. (2021). "Barlow
       Twins: self-supervised learning via redundancy reduction". ICML.
    .. [2] Kalantidis, Y., Lassance, C., Almazán, J. and Larlus, D. (2022). "TLDR: twin
       learning for dimensionality reduction". Transactions on Machine Learning
       Research.

    Examples
    --------
    A view, and the same view with noise:

    >>> import torch
    >>> from skrep.nn.losses import RedundancyReductionLoss
    >>> draws = torch.Generator().manual_seed(0)
    >>> view = torch.randn(300, 4, generator=draws)
    >>> noisy = view + torch.randn(300, 4, generator=draws)
    >>> loss = RedundancyReductionLoss()
    >>> views = [torch.hstack([view, other]) for other in (view, noisy)]
    >>> print(f"{loss(views[0]):.2f} {loss(views[1]):.2f}")
    0.00 0.34
    """

    def __init__(self, *, off_diagonal: float = 0.005) -> None:
        super().__init__()
        if not 0 <= off_diagonal < float("inf"):
            raise ValueError(
                f"RedundancyReductionLoss: 'off_diagonal' is {off_diagonal!r}. It must "
                "be a finite number, positive or zero. Use "
                "RedundancyReductionLoss(off_diagonal=0.005)."
            )
        self.off_diagonal = off_diagonal

    def forward(
        self, embeddings: Tensor, y: Any = None, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        embeddings : Tensor of shape (n_samples, 2 * n_components)
            The first view of the rows, and the second beside it.
        y : None
            Not used; the place of the classes that other losses take.
        sample_weight : Tensor of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        Tensor
            The loss, with its graph.

        Raises
        ------
        ValueError
            If the columns are odd in number.
        """
        who = type(self).__name__
        rows, weight = read_rows(who, embeddings, sample_weight)
        if rows.shape[1] % 2 or not rows.shape[1]:
            raise ValueError(
                f"{who}: 'embeddings' has {rows.shape[1]} columns. It must hold two "
                "views of equal width: pass torch.hstack([first, second])."
            )
        rounding = torch.finfo(embeddings.dtype).eps
        first, second = standard_columns(rows, weight, rounding).chunk(2, dim=1)
        shares = weight / weight.sum().clamp(min=torch.finfo(weight.dtype).tiny)
        correlations = first.T @ (shares[:, None] * second)
        agreement = correlations.diagonal()
        # Summed apart: a difference of two sums would lose the small ones.
        others = correlations - torch.diag(agreement)
        loss = (1 - agreement).square().sum()
        loss = loss + self.off_diagonal * others.square().sum()
        return loss.to(embeddings.dtype)


def standard_columns(rows: Tensor, weight: Tensor, rounding: float) -> Tensor:
    """Bring columns to mean 0 and variance 1, over the rows of a batch.

    Parameters
    ----------
    rows : Tensor of shape (n_samples, n_columns)
        Rows.
    weight : Tensor of shape (n_samples,), float64
        Their positive weights.
    rounding : float
        Relative rounding of an entry.

    Returns
    -------
    Tensor of shape (n_samples, n_columns)
        The columns; one that is constant but for rounding becomes 0.
    """
    mean = mean_over_rows(rows, weight)
    gaps = rows.double() - mean
    variance = mean_over_rows(gaps.square(), weight)
    noise = (16 * rounding * mean.detach()).square()
    varies = variance > noise + torch.finfo(torch.float64).tiny
    scale = torch.where(varies, variance, 1).rsqrt() * varies
    return (gaps * scale).to(rows.dtype)
