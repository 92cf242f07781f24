"""Cross-entropy of the closed-form LDA posterior of a batch."""

import numpy as np

from skrep.nn.losses._scatter import (
    TINY,
    ScatterLoss,
    Scatters,
    Slopes,
    ridged_slopes,
    unwhitened,
    whitened,
    within_factor,
)
from skrep.typing import FloatArray

__all__ = ["LDACrossEntropy"]


class LDACrossEntropy(ScatterLoss):
    r"""Cross-entropy of the classifier that LDA would fit to the batch.

    Class means :math:`m_c` and the scatter within classes :math:`S_w`, with its
    ridge, are taken from the batch, and each row is scored by the posterior that they
    imply, through which the gradient flows:

    .. math:: -\log \operatorname{softmax}_c
              \bigl(-\tfrac12 D^2(z_i, m_c) + \log n_c\bigr)_{c = y_i},
              \qquad D^2(z, m) = (z - m)^\top S_w^{-1} (z - m).

    A row counts in the mean of its own class and would so look closer to it than it
    is: :math:`D^2` to the own class is multiplied by :math:`(n_c / (n_c - 1))^2`,
    which is its value to the mean without the row [1]_. The only row of a class has
    no such mean; it is not scored, and its class stays a competitor of the others.

    Parameters
    ----------
    ridge : float, default=0.01
        The scatter within classes is ``(1 - ridge) * S_w + ridge * trace(S_w) / k *
        I``, with k columns; from 0 to 1. Being relative, it leaves no gain in
        inflating the embeddings.
    priors : {"empirical", "uniform"}, default="empirical"
        "empirical" weighs classes by their rows in the batch; "uniform" gives each
        class seen the same weight, in the scatter, the posterior and the mean over
        rows.

    See Also
    --------
    BhattacharyyaLoss : A bound of the error from the class means alone.
    LogDetLoss : A criterion of the scatters, for C - 1 columns or more.

    Notes
    -----
    It needs no head of its own and works for any number of columns. A row of weight w
    is w rows, of which one is left out.

    References
    ----------
    .. [1] Lachenbruch, P. A. and Mickey, M. R. (1968). "Estimation of error rates in
       discriminant analysis". Technometrics, 10(1), 1-11.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import LDACrossEntropy
    >>> z = torch.tensor([[0.0], [1.0], [1.5], [2.5]])
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> print(f"{LDACrossEntropy()(z, y):.3f}")
    0.348
    """

    def _slopes(self, scatters: Scatters) -> Slopes:
        member, n = scatters.member, len(scatters.member)
        weight, excess = _scored(scatters, self.priors == "uniform")
        factor = within_factor(scatters, self.ridge)
        white = whitened(factor, np.vstack([scatters.residuals, scatters.means])).T
        residuals, means = white[:n], white[n:]
        rows = residuals + member @ means
        scores = rows @ means.T
        scores += np.log(scatters.shares.T) - (means * means).sum(1) / 2
        scores -= member * (excess * (residuals * residuals).sum(1))[:, None]
        scores -= scores.max(1, keepdims=True)
        own = (member * scores).sum(1)
        posterior = np.exp(scores, out=scores)
        total = posterior.sum(1)
        value = float((np.log(total) - own) @ weight)
        # By half the squared distances; those to the own class count by their factor.
        pull = member - posterior / total[:, None]
        pull *= (1 + 2 * excess[:, None] * member) * weight[:, None]
        of_rows = pull.sum(1)[:, None] * rows - pull @ means
        of_means = pull.sum(0)[:, None] * means - pull.T @ rows
        outer = rows.T @ of_rows + means.T @ of_means
        solved = unwhitened(factor, np.vstack([of_rows, of_means, outer]).T)
        of_within = unwhitened(factor, solved[:, -len(outer) :].T)
        of_within /= -2
        by_means = solved[:, n : n + len(means)].T / (2 * scatters.shares)
        return ridged_slopes(
            scatters, self.ridge, value, of_within, by_means, solved[:, :n].T
        )


def _scored(scatters: Scatters, uniform: bool) -> tuple[FloatArray, FloatArray]:
    """Weights of the rows in the mean, and half of what leaving a row out adds.

    The squared distance of a row to the mean of its class without itself is
    ``1 + 2 * excess`` times that to the mean with itself.
    """
    totals = scatters.member @ scatters.totals
    others = totals - np.minimum(scatters.weight, 1)
    alone = others <= 0
    others[alone] = 1
    weight = np.where(
        alone, 0, scatters.weight / totals if uniform else scatters.weight
    )
    excess = ((totals / others) ** 2 - 1) / 2
    return weight / max(weight.sum(), TINY), excess
