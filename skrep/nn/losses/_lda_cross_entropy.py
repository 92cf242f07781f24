"""Cross-entropy of the closed-form LDA posterior of a batch."""

import numpy as np

from skrep.nn.losses._scatter import (
    TINY,
    ScatterLoss,
    Scatters,
    Slopes,
    ridged_slopes,
    unwhitened,
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
        member = scatters.member
        weight, excess = _scored(scatters, self.priors == "uniform")
        factor = within_factor(scatters, self.ridge)
        whitening = unwhitened(factor, np.eye(len(factor)))
        residuals = scatters.residuals @ whitening
        means = scatters.means @ whitening
        rows = residuals + member @ means
        scores = rows @ means.T
        scores += np.log(scatters.shares.T) - (means * means).sum(1) / 2
        added = member * excess[:, None]
        scores -= added * np.einsum("ij,ij->i", residuals, residuals)[:, None]
        scores -= scores.max(1, keepdims=True)
        own = np.einsum("ij,ij->i", member, scores)
        posterior = np.exp(scores, out=scores)
        total = posterior.sum(1)
        value = float((np.log(total) - own) @ weight)
        # By half the squared distances; those to the own class count by their factor.
        posterior /= total[:, None]
        pull = member - posterior
        added *= 2
        added += 1
        pull *= added
        pull *= weight[:, None]
        of_rows = pull.sum(1)[:, None] * rows - pull @ means
        of_means = pull.sum(0)[:, None] * means - pull.T @ rows
        outer = rows.T @ of_rows + means.T @ of_means
        of_within = whitening @ (outer / -2) @ whitening.T
        of_means /= 2 * scatters.shares
        return ridged_slopes(
            scatters,
            self.ridge,
            value,
            of_within,
            of_means @ whitening.T,
            of_rows @ whitening.T,
        )


def _scored(scatters: Scatters, uniform: bool) -> tuple[FloatArray, FloatArray]:
    """Weights of the rows in the mean, and half of what leaving a row out adds.

    The squared distance of a row to the mean of its class without itself is
    ``1 + 2 * excess`` times that to the mean with itself.
    """
    # Without weights, rows of a class are alike.
    alike = isinstance(scatters.weight, float)
    totals = scatters.totals if alike else scatters.member @ scatters.totals
    others = totals - np.minimum(scatters.weight, 1)
    scored = others > 0
    excess = ((totals / np.where(scored, others, 1)) ** 2 - 1) / 2
    weight = scored * (scatters.weight / totals if uniform else scatters.weight)
    if alike:
        weight, excess = scatters.member @ weight, scatters.member @ excess
    return weight / max(weight.sum(), TINY), excess
