"""DeepLDA: the weakest discriminant eigenvalues of a batch."""

import numpy as np
from scipy.linalg import lapack

from skrep.nn.losses._scatter import (
    ScatterLoss,
    Scatters,
    Slopes,
    ridged_slopes,
    unwhitened,
    whitened,
    within_factor,
)

__all__ = ["DeepLDALoss"]


class DeepLDALoss(ScatterLoss):
    r"""Negative mean of the discriminant eigenvalues that are close to the smallest.

    With the scatter within classes :math:`S_w`, with its ridge, that of the class
    means :math:`S_b`, and the r = min(k, C - 1) eigenvalues :math:`\lambda_i` of
    :math:`S_w^{-1} S_b` that can differ from 0, k columns and C classes seen,

    .. math:: -\operatorname{mean}\{\lambda_i :
              \lambda_i \le \min_j \lambda_j + \text{margin}\},

    so that the weakest directions are pushed first [1]_.

    Parameters
    ----------
    margin : float, default=1.0
        How far above the smallest an eigenvalue may be to count; 0 or more.
    ridge : float, default=0.01
        The scatter within classes is ``(1 - ridge) * S_w + ridge * trace(S_w) / k *
        I``, with k columns; from 0 to 1.
    priors : {"empirical", "uniform"}, default="empirical"
        "empirical" weighs classes by their rows in the batch; "uniform" gives each
        class seen the same weight, in both scatters.

    See Also
    --------
    LogDetLoss : Balances the directions smoothly, and determines them.

    Notes
    -----
    Three things differ from the published code, which can give NaN or be lowered by
    mere scale: :math:`S_b` is the scatter of the class means itself, so that it stays
    positive semidefinite for classes of unequal size; the ridge is relative; classes
    that are missing or have one row do no harm.

    The value does not determine a subspace: the smallest eigenvalue stays the same
    when stronger directions are tilted. Behind a linear map the optimum can be far
    from that of linear discriminant analysis. With fewer columns than C - 1 a network
    may give up classes for others.

    References
    ----------
    .. [1] Dorfer, M., Kelz, R. and Widmer, G. (2016). "Deep linear discriminant
       analysis". International Conference on Learning Representations.
       arXiv:1511.04707.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import DeepLDALoss
    >>> z = torch.tensor([[0.0], [1.0], [4.0], [5.0]])
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> print(f"{DeepLDALoss()(z, y):.3f}")
    -16.000
    """

    def __init__(
        self,
        *,
        margin: float = 1.0,
        ridge: float = 0.01,
        priors: str = "empirical",
    ) -> None:
        super().__init__(ridge=ridge, priors=priors)
        if not margin >= 0:
            raise ValueError(
                f"DeepLDALoss: 'margin' must be 0 or more, got {margin!r}. Use "
                "DeepLDALoss(margin=1.0)."
            )
        self.margin = margin

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return f"margin={self.margin}, {super().extra_repr()}"

    def _slopes(self, scatters: Scatters) -> Slopes:
        factor = within_factor(scatters, self.ridge)
        means = whitened(factor, scatters.means)
        k, n_classes = means.shape
        ratios, vectors, _ = lapack.dsyevd((means * scatters.shares.T) @ means.T)
        rank = min(k, n_classes - 1)
        ratios, vectors = ratios[-rank:], vectors[:, -rank:]
        weak = (ratios <= ratios[0] + self.margin).astype(np.float64)
        weak /= weak.sum()
        # The derivative of an eigenvalue is the outer product of its vector.
        axes = unwhitened(factor, vectors)
        weighted = axes * weak
        of_within = (weighted * ratios) @ axes.T
        of_means = -(scatters.means @ weighted) @ axes.T
        value = -float(ratios @ weak)
        return ridged_slopes(scatters, self.ridge, value, of_within, of_means)
