"""One loss at several lengths of the same vectors."""

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from skrep.utils import warn
from skrep.utils.validation import is_whole

__all__ = ["MatryoshkaLoss", "check_lengths"]


class MatryoshkaLoss(nn.Module):
    r"""Sum of one loss over the prefixes of the embeddings.

    .. math:: \sum_k w_k \, L(z_{:k}, y)

    A network that is trained with it gives vectors of which the first k columns are
    vectors for the same purpose, for every k in `prefixes` [1]_. The loss is called
    once for each prefix; one with parameters of its own either shares them between the
    prefixes or looks at the number of columns it is given.

    Parameters
    ----------
    loss : torch.nn.Module
        Called with the first k columns, y and, where there are weights,
        ``sample_weight``.
    prefixes : sequence of int
        The lengths, each once, in any order. The number of columns should be one of
        them: what lies beyond the longest is not trained, and a warning says so.
    weights : sequence of float, default=None
        Factor of each length, 0 or more; by default each is 1.
    cut_targets : bool, default=False
        Whether y is a matrix of embeddings as wide as z, to be cut like it: the first k
        columns of z then meet the first k of y.

    See Also
    --------
    CombinedLoss : Several losses of the whole embeddings.
    skrep.nested.MatryoshkaProjection : An estimator that is trained with it.

    References
    ----------
    .. [1] Kusupati, A., Bhatt, G., Rege, A., Wallingford, M., Sinha, A., Ramanujan, V.,
       Howard-Snyder, W., Chen, K., Kakade, S., Jain, P. and Farhadi, A. (2022).
       "Matryoshka representation learning". NeurIPS.

    Examples
    --------
    >>> import torch
    >>> from skrep.nn.losses import BhattacharyyaLoss, MatryoshkaLoss
    >>> criterion = MatryoshkaLoss(BhattacharyyaLoss(), prefixes=[1, 2])
    >>> z = torch.tensor([[0.0, 1.0], [1.0, 0.0], [1.5, 0.5], [2.5, 1.5]])
    >>> y = torch.tensor([0, 0, 1, 1])
    >>> whole, half = BhattacharyyaLoss()(z, y), BhattacharyyaLoss()(z[:, :1], y)
    >>> bool(torch.isclose(criterion(z, y), whole + half))
    True
    """

    def __init__(
        self,
        loss: nn.Module,
        prefixes: Sequence[int],
        weights: Sequence[float] | None = None,
        *,
        cut_targets: bool = False,
    ) -> None:
        super().__init__()
        self.loss = loss
        who = type(self).__name__
        self.prefixes, self.weights = check_lengths(who, prefixes, weights, "weights")
        self.cut_targets = cut_targets
        self._warned = False

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        embeddings : Tensor of shape (n_samples, ..., n_columns)
            Outputs of the network, which are cut along their last axis.
        y : Tensor of shape (n_samples, ...)
            What the loss compares them with.
        sample_weight : Tensor of shape (n_samples,), default=None
            Weights of the rows, which the loss must take; by default none are passed
            on.

        Returns
        -------
        Tensor of shape ()
            The sum.
        """
        self._check_width(embeddings, y)
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        if options and not _takes_weights(self.loss):
            raise ValueError(
                f"{type(self).__name__}: 'loss' is {type(self.loss).__name__}, whose "
                "forward takes no 'sample_weight'. Pass sample_weight=None, or a loss "
                "with forward(embeddings, y, sample_weight=None)."
            )
        terms = []
        for k, weight in zip(self.prefixes, self.weights, strict=True):
            target = y[..., :k] if self.cut_targets else y
            terms.append(weight * self.loss(embeddings[..., :k], target, **options))
        return torch.stack(terms).sum()

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return (
            f"prefixes={self.prefixes}, weights={self.weights}, "
            f"cut_targets={self.cut_targets}"
        )

    def _check_width(self, embeddings: Tensor, y: Tensor) -> None:
        who, width, longest = type(self).__name__, embeddings.shape[-1], 0
        longest = max(self.prefixes)
        if longest > width:
            raise ValueError(
                f"{who}: 'prefixes' holds {longest}, and the embeddings have {width} "
                f"columns. Each must be an integer from 1 to {width}: end the network "
                f"in torch.nn.LazyLinear({longest}), or leave {longest} out."
            )
        if self.cut_targets and y.shape[-1:] != embeddings.shape[-1:]:
            raise ValueError(
                f"{who}: 'y' has shape {tuple(y.shape)}, and the embeddings have "
                f"{width} columns. With cut_targets=True they are cut alike, so y must "
                "be as wide: pass such targets, or cut_targets=False."
            )
        if longest < width and not self._warned:
            self._warned = True
            warn(
                f"{who}: 'prefixes' ends at {longest}, and the embeddings have {width} "
                "columns: those beyond are not trained. Add "
                f"{width} to prefixes, or end the network in {longest} columns."
            )


def check_lengths(
    who: str, prefixes: Any, weights: Any, weights_name: str
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Return lengths and their weights, or say what is wrong with them.

    Parameters
    ----------
    who : str
        Whoever is named in errors.
    prefixes : iterable of int
        The lengths.
    weights : iterable of float or None
        Their weights; None is 1 for each.
    weights_name : str
        What the weights are called, in errors.

    Returns
    -------
    prefixes : tuple of int
        The lengths, in their order.
    weights : tuple of float
        Their weights.

    Raises
    ------
    ValueError
        If there is no length, one is repeated or no integer from 1 up, or the weights
        are as many as others, negative, not finite or all zero.
    """
    lengths = tuple(prefixes) if isinstance(prefixes, Iterable) else (prefixes,)
    if not lengths:
        raise ValueError(
            f"{who}: 'prefixes' is empty. It must hold one length or more: pass "
            "prefixes=[8, 16, 32], say."
        )
    for k in lengths:
        if not is_whole(k) or k < 1:
            raise ValueError(
                f"{who}: 'prefixes' holds {k!r}. Each must be an integer from 1 up: "
                "pass prefixes=[8, 16, 32], say."
            )
    if len(set(lengths)) < len(lengths):
        once = sorted({int(k) for k in lengths})
        raise ValueError(
            f"{who}: 'prefixes' is {list(map(int, lengths))} and repeats a length. "
            f"Each must be there once: pass prefixes={once}, and set {weights_name} "
            "for what shall count more."
        )
    numbers = [1.0] * len(lengths) if weights is None else [float(w) for w in weights]
    if len(numbers) != len(lengths):
        raise ValueError(
            f"{who}: '{weights_name}' has {len(numbers)} entries, and there are "
            f"{len(lengths)} prefixes, {list(map(int, lengths))}. Pass "
            f"{weights_name}={[1.0] * len(lengths)}, say."
        )
    if not all(map(math.isfinite, numbers)) or min(numbers) < 0 or not any(numbers):
        raise ValueError(
            f"{who}: '{weights_name}' is {numbers}. Weights must be finite numbers "
            f"from 0 up, and not all 0. Pass {weights_name}=None to weigh all alike."
        )
    return tuple(map(int, lengths)), tuple(numbers)


def _takes_weights(loss: nn.Module) -> bool:
    try:
        inspect.signature(loss.forward).bind("z", "y", sample_weight=None)
    except TypeError:
        return False
    return True
