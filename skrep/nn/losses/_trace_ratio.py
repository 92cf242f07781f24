"""Ratio of the traces of the scatters of a batch."""

import math

import numpy as np

from skrep.nn.losses._scatter import FLOOR, TINY, ScatterLoss, Scatters, Slopes

__all__ = ["TraceRatioLoss"]


class TraceRatioLoss(ScatterLoss):
    r"""Logarithm of the variance within classes over that between them.

    With the scatter within classes :math:`S_w` and that of the class means
    :math:`S_b`,

    .. math:: \log\operatorname{tr} S_w - \log\operatorname{tr} S_b.

    It looks at summed variances alone: neither correlations of columns nor the
    number of directions count [1]_.

    Parameters
    ----------
    priors : {"empirical", "uniform"}, default="empirical"
        "empirical" weighs classes by their rows in the batch; "uniform" gives each
        class seen the same weight, in both scatters.

    See Also
    --------
    DDALoss : Of this kind, per image and for masks.
    LogDetLoss : Separates classes in as many directions as it can.

    Notes
    -----
    Without a constraint on the columns the optimum has rank 1: all columns become
    multiples of the one that separates best. Use it for two classes, or together with
    another loss by :class:`CombinedLoss`. A ridge would not change it, as that
    leaves the trace as it is.

    References
    ----------
    .. [1] Wang, H., Yan, S., Xu, D., Tang, X. and Huang, T. (2007). "Trace ratio vs.
       ratio trace for dimensionality reduction". IEEE Conference on Computer Vision
       and Pattern Recognition.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import TraceRatioLoss
    >>> z = torch.tensor([[0.0], [1.0], [4.0], [5.0]])
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> print(f"{TraceRatioLoss()(z, y):.3f}")
    -2.773
    """

    def __init__(self, *, priors: str = "empirical") -> None:
        super().__init__(priors=priors)

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return f"priors={self.priors!r}"

    def _slopes(self, scatters: Scatters) -> Slopes:
        floor = FLOOR * (scatters.spread + scatters.gap) + TINY
        within, between = scatters.spread + floor, scatters.gap + floor
        shared = FLOOR * (1 / within - 1 / between)
        return Slopes(
            math.log(within / between),
            (shared + 1 / within) * np.eye(len(scatters.within)),
            (shared - 1 / between) * scatters.means,
        )
