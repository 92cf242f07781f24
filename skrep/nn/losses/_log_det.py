"""Log-determinant ratio of the scatters of a batch: Wilks' lambda."""

import numpy as np

from skrep.nn.losses._scatter import (
    ScatterLoss,
    Scatters,
    Slopes,
    add_to_diagonal,
    cholesky,
    ridged_slopes,
    whitened,
    within_factor,
)

__all__ = ["LogDetLoss"]


class LogDetLoss(ScatterLoss):
    r"""Logarithm of Wilks' lambda: scatter within classes over total scatter.

    With the scatter within classes :math:`S_w`, with its ridge, that of the class
    means :math:`S_b`, and the eigenvalues :math:`\lambda_i` of :math:`S_w^{-1} S_b`,

    .. math:: \log\det S_w - \log\det(S_w + S_b) = -\sum_i \log(1 + \lambda_i).

    A direction that already separates well gains little from separating better, so
    that all C - 1 directions grow [1]_.

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
    BhattacharyyaLoss : For fewer columns than C - 1.
    FisherTraceLoss : The sum of the eigenvalues, which the largest takes over.

    Notes
    -----
    Behind a linear map and with ``ridge=0``, the optimum is the subspace of linear
    discriminant analysis. With fewer columns than C - 1 a network may give up
    classes for others.

    References
    ----------
    .. [1] Wilks, S. S. (1932). "Certain generalizations in the analysis of variance".
       Biometrika, 24(3/4), 471-494.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import LogDetLoss
    >>> z = torch.tensor([[0.0], [1.0], [4.0], [5.0]])
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> print(f"{LogDetLoss()(z, y):.3f}")
    -2.833
    """

    def _slopes(self, scatters: Scatters) -> Slopes:
        factor = within_factor(scatters, self.ridge)
        means = whitened(factor, scatters.means)
        # The determinant of the total scatter over that of the scatter within.
        ratio = cholesky(add_to_diagonal((means * scatters.shares.T) @ means.T, 1))
        value = -2 * float(np.log(ratio.diagonal()).sum())
        # The derivative of log det is the inverse.
        root = whitened(factor, np.eye(len(factor)))
        root_of_total = whitened(ratio, root.T)
        of_between = -root_of_total.T @ root_of_total
        of_within = root.T @ root + of_between
        of_means = scatters.means @ of_between
        return ridged_slopes(scatters, self.ridge, value, of_within, of_means)
