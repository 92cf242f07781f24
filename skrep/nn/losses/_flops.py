"""Few active columns per row, evenly used: sparse codes that are cheap to search."""

from torch import Tensor, nn

from skrep.nn.losses._rows import mean_over_rows, read_rows

__all__ = ["FlopsRegularizer"]


class FlopsRegularizer(nn.Module):
    r"""Penalty on the columns that are active in many rows.

    .. math:: \sum_j \Bigl(\frac{1}{n} \sum_i |z_{ij}|\Bigr)^2

    The number of products that a search through sparse rows takes is, for each
    column, the square of the share of rows that use it; this is its smooth form
    [1]_. Being quadratic in the use of a column, it presses most on those used most
    and so evens out what a penalty on the sum of all entries leaves lopsided.

    See Also
    --------
    CombinedLoss : Adds it, with a weight, to the loss that brings classes apart.

    Notes
    -----
    It is least, 0, where all rows are 0: it works against another loss, by a weight
    that is best raised over the training, with the square of the step. Entries become
    exactly 0 where the last layer is a ReLU, and merely small elsewhere.

    References
    ----------
    .. [1] Paria, B., Yeh, C.-K., Yen, I. E. H., Xu, N., Ravikumar, P. and Póczos, B.
       (2020). "Minimizing FLOPs to learn efficient sparse representations". ICLR.

    Examples
    --------
    The same entries cost less when spread over the columns:

    >>> import torch
    >>> from skrep.nn.losses import FlopsRegularizer
    >>> spread, lopsided = torch.eye(2), torch.tensor([[1.0, 0.0], [1.0, 0.0]])
    >>> FlopsRegularizer()(spread), FlopsRegularizer()(lopsided)
    (tensor(0.5000), tensor(1.))
    """

    def __init__(self) -> None:
        super().__init__()

    def forward(
        self,
        embeddings: Tensor,
        y: Tensor | None = None,
        sample_weight: Tensor | None = None,
    ) -> Tensor:
        """Compute the penalty of a batch.

        Parameters
        ----------
        embeddings : Tensor of shape (n_samples, n_components)
            Outputs of the network, of a floating type.
        y : Tensor, default=None
            Not used; all losses take it.
        sample_weight : Tensor of shape (n_samples,), default=None
            Weight 2 stands for the row twice, weight 0 for its absence; by default
            each is 1.

        Returns
        -------
        Tensor of shape ()
            The penalty, in the dtype of `embeddings`.
        """
        rows, weight = read_rows(type(self).__name__, embeddings, sample_weight)
        use = mean_over_rows(rows.abs(), weight)
        return use.square().sum().to(embeddings.dtype)
