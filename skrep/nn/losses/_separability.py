"""A linear probe that is trained along: how well a layer is read linearly."""

from torch import Tensor, nn

from skrep.nn.losses._rows import check_size, mean_over_rows, read_classes

__all__ = ["LinearSeparability"]


class LinearSeparability(nn.Module):
    r"""Cross-entropy of a linear probe that is trained with the network.

    .. math:: -\log \operatorname{softmax}(A z_i + b)_{y_i}

    Added to the loss of the whole network, it presses a layer in between to keep its
    classes linearly separable, without a second encoder [1]_. The probe is thrown
    away after the training.

    Parameters
    ----------
    n_features : int
        Width of the layer, 1 or more.
    n_classes : int
        Number of classes, 2 or more.

    Attributes
    ----------
    probe : torch.nn.Linear
        The probe, with zeros to begin with: what it learns has one optimum wherever
        it starts, and nothing is drawn from a random state. So its first step leaves
        the layer alone.

    See Also
    --------
    CombinedLoss : Adds it, with a weight, to another loss.
    SimplexLoss : Cross-entropy of a head that is not learned.

    Notes
    -----
    The probe has parameters: an optimizer must be given ``loss.parameters()`` beside
    those of the network, as skorch does by itself. The published weight follows a
    schedule over the training, which is left to the training loop; how strong it is
    best is not confirmed.

    References
    ----------
    .. [1] Yun, J., Alçalar, Y. U. and Akçakaya, M. (2025). "No alignment needed for
       generation: learning linearly separable representations in diffusion models".
       arXiv:2509.21565.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import LinearSeparability
    >>> z, y = torch.tensor([[-1.0], [1.0]]), torch.tensor([0, 1])
    >>> loss = LinearSeparability(1, 2)
    >>> optimizer = torch.optim.SGD(loss.parameters(), lr=1.0)
    >>> for _ in range(3):
    ...     optimizer.zero_grad()
    ...     value = loss(z, y)
    ...     value.backward()
    ...     optimizer.step()
    ...     print(f"{value:.2f}")
    0.69
    0.31
    0.19
    """

    def __init__(self, n_features: int, n_classes: int) -> None:
        super().__init__()
        who, remedy = "LinearSeparability", "n_features=64, n_classes=10"
        self.n_features = check_size(who, "n_features", n_features, 1, remedy)
        self.n_classes = check_size(who, "n_classes", n_classes, 2, remedy)
        self.probe = nn.utils.skip_init(nn.Linear, self.n_features, self.n_classes)
        for parameter in self.probe.parameters():
            nn.init.zeros_(parameter)

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        embeddings : Tensor of shape (n_samples, n_features)
            Outputs of the layer, of a floating type.
        y : Tensor of shape (n_samples,)
            Class of each row: an integer from 0 to ``n_classes - 1``.
        sample_weight : Tensor of shape (n_samples,), default=None
            Weight 2 stands for the row twice, weight 0 for its absence; by default
            each is 1.

        Returns
        -------
        Tensor of shape ()
            The loss, in the dtype of `embeddings`.
        """
        who = type(self).__name__
        rows, codes, weight = read_classes(
            who, embeddings, y, sample_weight, self.n_classes
        )
        if rows.shape[1] != self.n_features:
            raise ValueError(
                f"{who}: 'embeddings' has {rows.shape[1]} columns, and 'n_features' is "
                f"{self.n_features}. Use {who}({rows.shape[1]}, {self.n_classes})."
            )
        matrix, bias = (p.to(rows) for p in (self.probe.weight, self.probe.bias))
        scores = nn.functional.linear(rows, matrix, bias).double()
        surprise = nn.functional.cross_entropy(scores, codes, reduction="none")
        return mean_over_rows(surprise, weight).to(embeddings.dtype)
