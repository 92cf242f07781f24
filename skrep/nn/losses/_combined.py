"""Weighted sums of losses."""

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

__all__ = ["CombinedLoss"]


class CombinedLoss(nn.Module):
    """Weighted sum of losses.

    The members see the same batch. Their parameters and buffers are those of the sum,
    which may itself be a member.

    Parameters
    ----------
    losses : sequence of torch.nn.Module
        One loss or more, each called with the embeddings, the classes and, where
        there are weights, ``sample_weight``.
    weights : sequence of float, default=None
        Factor of each loss; by default each is 1.

    See Also
    --------
    LogDetLoss : A member that spreads classes over directions.
    BhattacharyyaLoss : A member for few columns.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import BhattacharyyaLoss, CombinedLoss, LDACrossEntropy
    >>> members = [BhattacharyyaLoss(power=1), LDACrossEntropy()]
    >>> criterion = CombinedLoss(members, weights=[1.0, 0.5])
    >>> z = torch.tensor([[0.0], [1.0], [1.5], [2.5]])
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> print(f"{criterion(z, y):.3f}")
    -0.664
    """

    def __init__(
        self, losses: Sequence[nn.Module], weights: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        self.losses = nn.ModuleList(losses)
        self.weights = [1.0] * len(self.losses) if weights is None else list(weights)
        if not len(self.losses):
            raise ValueError(
                "CombinedLoss: 'losses' must hold one loss or more, got none. Pass "
                "CombinedLoss([LDACrossEntropy()])."
            )
        if len(self.weights) != len(self.losses):
            raise ValueError(
                f"CombinedLoss: 'weights' has {len(self.weights)} entries and 'losses' "
                f"has {len(self.losses)}. Pass weights=[1.0] * len(losses)."
            )
        if not all(map(math.isfinite, self.weights)):
            raise ValueError(
                f"CombinedLoss: 'weights' must be finite, got {self.weights}. Pass "
                "weights=[1.0] * len(losses)."
            )

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        embeddings : Tensor of shape (n_samples, n_components)
            Outputs of the network.
        y : Tensor of shape (n_samples,)
            Class of each row.
        sample_weight : Tensor of shape (n_samples,), default=None
            Weights of the rows, which every member must take; by default none are
            passed on.

        Returns
        -------
        Tensor of shape ()
            The sum.
        """
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        terms = [loss(embeddings, y, **options) for loss in self.losses]
        return torch.stack(
            [weight * term for weight, term in zip(self.weights, terms, strict=True)]
        ).sum()

    def extra_repr(self) -> str:
        """Give the weights, for the repr of the module.

        Returns
        -------
        str
            The weights as they are written in a call.
        """
        return f"weights={self.weights}"
