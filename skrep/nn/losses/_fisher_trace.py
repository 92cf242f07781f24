"""Fisher's criterion of a batch: trace of the ratio of its scatters."""

from skrep.nn.losses._scatter import (
    ScatterLoss,
    Scatters,
    Slopes,
    ridged_slopes,
    unwhitened,
    whitened,
    within_factor,
)

__all__ = ["FisherTraceLoss"]


class FisherTraceLoss(ScatterLoss):
    r"""Negative of Fisher's criterion: the trace of the ratio of the scatters.

    With the scatter within classes :math:`S_w`, with its ridge, that of the class
    means :math:`S_b`, and the eigenvalues :math:`\lambda_i` of :math:`S_w^{-1} S_b`,

    .. math:: -\operatorname{tr}(S_w^{-1} S_b) = -\sum_i \lambda_i,

    the criterion of linear discriminant analysis for several classes [1]_.

    Parameters
    ----------
    ridge : float, default=0.01
        The scatter within classes is ``(1 - ridge) * S_w + ridge * trace(S_w) / k *
        I``, with k columns; from 0 to 1. Being relative, it leaves no gain in
        inflating the embeddings.
    priors : {"empirical", "uniform"}, default="empirical"
        "empirical" weighs classes by their rows in the batch; "uniform" gives each
        class seen the same weight, in both scatters.

    See Also
    --------
    LogDetLoss : Balances the directions.

    Notes
    -----
    The gain of the largest eigenvalue is unbounded: a network of any depth pushes one
    direction and leaves the others alone. Use it for two classes, together with
    another loss by :class:`CombinedLoss`, or behind a linear map, where with
    ``ridge=0`` the optimum is the subspace of linear discriminant analysis.

    References
    ----------
    .. [1] Fukunaga, K. (1990). Introduction to Statistical Pattern Recognition, 2nd
       edition. Academic Press.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import FisherTraceLoss
    >>> z = torch.tensor([[0.0], [1.0], [4.0], [5.0]])
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> print(f"{FisherTraceLoss()(z, y):.3f}")
    -16.000
    """

    def _slopes(self, scatters: Scatters) -> Slopes:
        factor = within_factor(scatters, self.ridge)
        means = unwhitened(factor, whitened(factor, scatters.means))
        weighted = means * scatters.shares.T
        value = -float((weighted.T * scatters.means).sum())
        return ridged_slopes(scatters, self.ridge, value, weighted @ means.T, -means.T)
