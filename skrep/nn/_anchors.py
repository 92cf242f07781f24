"""Anchors of two spaces as a network, and the loss that makes them agree."""

import torch
from torch.nn import functional

from skrep.nn._anchor_whitening import gram_root

__all__ = ["AnchorPair", "PairContrast", "Side"]

NOISE = 1.0
"""Norm of the noise that is added to unit tokens, as one expects it."""

TEMPERATURE = 0.1


class Side(torch.nn.Module):
    """Anchors of one space, and the rows that they are trained on.

    Parameters
    ----------
    tokens : Tensor of shape (n_tokens, n_features)
        Unit tokens of all rows, row by row.
    counts : Tensor of shape (n_rows,)
        Tokens of each row.
    anchors : Tensor of shape (n_anchors, n_features)
        Where the anchors start.
    pooling : {"max", "mean"}
        What to take over the tokens of a row.
    """

    tokens: torch.Tensor
    counts: torch.Tensor

    def __init__(
        self,
        tokens: torch.Tensor,
        counts: torch.Tensor,
        anchors: torch.Tensor,
        pooling: str,
    ) -> None:
        super().__init__()
        self.register_buffer("tokens", tokens, persistent=False)
        self.register_buffer("counts", counts, persistent=False)
        self.anchors = torch.nn.Parameter(anchors.clone())
        self.reduce = {"max": "amax", "mean": "mean"}[pooling]
        self.plain = len(tokens) == len(counts)

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Describe rows by their similarities to the anchors.

        Parameters
        ----------
        rows : Tensor of shape (n_rows,)
            Positions of rows.

        Returns
        -------
        Tensor of shape (n_rows, n_anchors)
            Whitened similarities of norm 1; noisy ones in training.
        """
        units = functional.normalize(self.anchors, dim=1)
        whitening = gram_root(units)
        counts = self.counts[rows]
        if self.plain:
            tokens = self.tokens[rows]
        else:
            ends = self.counts.cumsum(0)[rows]
            offset = counts.cumsum(0) - ends
            where = torch.arange(int(counts.sum()), device=rows.device)
            tokens = self.tokens[where - offset.repeat_interleave(counts)]
        if self.training:
            # Drawn in one type, so that both float types see the same noise.
            noise = torch.randn(tokens.shape, dtype=torch.float32, device=rows.device)
            tokens = tokens + noise.to(tokens.dtype) * (NOISE / tokens.shape[1] ** 0.5)
        cosines = functional.normalize(tokens, dim=1) @ units.T
        if not self.plain:
            owner = torch.arange(len(rows), device=rows.device)
            owner = owner.repeat_interleave(counts)[:, None].expand_as(cosines)
            empty = cosines.new_zeros(len(rows), cosines.shape[1])
            cosines = empty.scatter_reduce(
                0, owner, cosines, self.reduce, include_self=False
            )
        return functional.normalize(cosines @ whitening, dim=1)


class AnchorPair(torch.nn.Module):
    """Anchors of two spaces.

    Parameters
    ----------
    x, y : Side
        The two sides.
    """

    def __init__(self, x: Side, y: Side) -> None:
        super().__init__()
        self.x, self.y = x, y

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Describe both sides of pairs.

        Parameters
        ----------
        rows : Tensor of shape (n_rows,)
            Positions of pairs.

        Returns
        -------
        Tensor of shape (n_rows, 2 * n_anchors)
            Both descriptions, side by side.
        """
        return torch.cat([self.x(rows), self.y(rows)], dim=1)


class PairContrast(torch.nn.Module):
    r"""Cross-entropy of finding a row's partner among those of a batch, both ways.

    With the cosines :math:`c_{ij}` between row i and partner j,

    .. math:: -\frac12 \log \frac{e^{c_{ii} / \tau}}{\sum_j e^{c_{ij} / \tau}}
        - \frac12 \log \frac{e^{c_{ii} / \tau}}{\sum_j e^{c_{ji} / \tau}} ,
        \qquad \tau = 0.1,

    where pairs that share the row or the partner with pair i are left out of the sums:
    they are no negatives.

    References
    ----------
    .. [1] van den Oord, A., Li, Y. and Vinyals, O. (2018). Representation learning
       with contrastive predictive coding. arXiv:1807.03748.
    """

    def forward(
        self,
        outputs: torch.Tensor,
        targets: torch.Tensor,
        sample_weight: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Compute the loss.

        Parameters
        ----------
        outputs : Tensor of shape (n_rows, 2 * n_anchors)
            Unit descriptions of both sides.
        targets : Tensor of shape (n_rows, 2)
            Which row of X, and which of y, a pair holds.
        sample_weight : Tensor of shape (n_rows,), default=None
            Weights of the pairs.

        Returns
        -------
        Tensor
            The weighted mean.
        """
        a, b = outputs.chunk(2, dim=1)
        logits = a @ b.T / TEMPERATURE
        shared = (targets[:, None] == targets).any(dim=2)
        shared.fill_diagonal_(False)
        logits = logits.masked_fill(shared, -torch.inf)
        losses = -(logits.log_softmax(1) + logits.log_softmax(0)).diagonal() / 2
        if sample_weight is None:
            return losses.mean()
        weights = sample_weight.to(losses.dtype)
        return (weights * losses).sum() / weights.sum()
