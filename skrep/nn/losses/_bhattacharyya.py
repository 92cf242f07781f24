"""Pairwise Bhattacharyya bound on the error between the classes of a batch."""

import math

import numpy as np

from skrep.nn.losses._scatter import (
    ScatterLoss,
    Scatters,
    Slopes,
    add_to_diagonal,
    ridged_slopes,
    unwhitened,
    whitened,
    within_factor,
)

__all__ = ["BhattacharyyaLoss"]


class BhattacharyyaLoss(ScatterLoss):
    r"""Sum over pairs of classes of the Bhattacharyya bound on their confusion.

    For classes of one Gaussian shape, with shares :math:`p_a` of the rows, means
    :math:`m_a` and the scatter within classes :math:`S_w`, with its ridge,

    .. math:: S = \sum_{a < b} \sqrt{p_a p_b}\, e^{-D_{ab}^2 / 8}, \qquad
              D_{ab}^2 = (m_a - m_b)^\top S_w^{-1} (m_a - m_b),

    is no less than the error of the best classifier [1]_. The loss is its Box-Cox
    transform

    .. math:: \frac{S^p - 1}{p}, \qquad \log S \text{ for } p = 0.

    The closest pairs weigh the most, so that no class is given up for the sake of
    others: it works with fewer columns than classes, and with more.

    Parameters
    ----------
    power : float, default=0.25
        The power p, from 0 to 1. With 1 the loss is the bound, less one: pairs that are
        apart pull no more, and training slows down early. With 0 it is the logarithm,
        which pulls as hard at the end as at the beginning.
    ridge : float, default=0.01
        The scatter within classes is ``(1 - ridge) * S_w + ridge * trace(S_w) / k *
        I``, with k columns; from 0 to 1. Being relative, it leaves no gain in
        inflating the embeddings.
    priors : {"empirical", "uniform"}, default="empirical"
        "empirical" weighs classes by their rows in the batch; "uniform" gives each
        class seen the same weight.

    See Also
    --------
    LDACrossEntropy : Looks at each row, not at the means alone.
    FisherTraceLoss : The same but for an affine map where there are two classes and
        ``power=0``.

    Notes
    -----
    The gradients of all powers have one direction, and differ in length by
    :math:`S^p`. The logarithm learns pictures of ten digits in two columns best, and
    noise by heart where classes are two and rows few; the bound itself does the
    opposite. A quarter does nearly as well as either where it is best.

    References
    ----------
    .. [1] Kailath, T. (1967). "The divergence and Bhattacharyya distance measures in
       signal selection". IEEE Transactions on Communication Technology, 15(1), 52-60.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import BhattacharyyaLoss
    >>> z = torch.tensor([[0.0], [1.0], [4.0], [5.0]])
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> print(f"{BhattacharyyaLoss(power=0)(z, y):.2f}")
    -8.69
    """

    def __init__(
        self, *, power: float = 0.25, ridge: float = 0.01, priors: str = "empirical"
    ) -> None:
        super().__init__(ridge=ridge, priors=priors)
        if not 0 <= power <= 1:
            raise ValueError(
                f"BhattacharyyaLoss: 'power' must be from 0 to 1, got {power!r}. Use "
                "BhattacharyyaLoss(power=0.25)."
            )
        self.power = power

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return f"power={self.power}, {super().extra_repr()}"

    def _slopes(self, scatters: Scatters) -> Slopes:
        factor = within_factor(scatters, self.ridge)
        means = whitened(factor, scatters.means)
        half = np.log(scatters.shares) / 2 - (means * means).sum(0)[:, None] / 8
        pairs = half + half.T + (means.T @ means) / 4
        add_to_diagonal(pairs, -np.inf)
        highest = pairs.max()
        pull = np.exp(pairs - highest)
        total = pull.sum()
        value = float(highest + np.log(total / 2))
        pull /= total
        if self.power:
            pull *= math.exp(self.power * value)
            value = math.expm1(self.power * value) / self.power
        # The loss falls by an eighth of its pull as the distance of a pair grows.
        add_to_diagonal(pull, -pull.sum(0))
        axes = unwhitened(factor, means)
        pulled = pull @ axes.T
        of_within = (axes @ pulled) / -4
        pulled /= 4 * scatters.shares
        return ridged_slopes(scatters, self.ridge, value, of_within, pulled)
