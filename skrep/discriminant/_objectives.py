"""Losses of the encoder by name, and what each of them allows."""

from typing import TYPE_CHECKING, Any, Final

from skrep._neural import require_torch

if TYPE_CHECKING:
    from torch import nn

__all__ = ["check_width", "loss_module"]

_CLASSES: Final = {
    "bhattacharyya": "BhattacharyyaLoss",
    "dda": "DDALoss",
    "deeplda": "DeepLDALoss",
    "lda": "LDACrossEntropy",
    "logdet": "LogDetLoss",
}
# Losses of the non-zero eigenvalues, of which there are n_classes - 1.
_BOUNDED: Final = frozenset({"deeplda", "logdet"})


def loss_module(loss: Any, who: str) -> "nn.Module":
    """Make the loss that a name stands for.

    Parameters
    ----------
    loss : str or Module
        The name of a loss, or a loss.
    who : str
        The estimator that is named in errors.

    Returns
    -------
    Module
        The loss.

    Raises
    ------
    ValueError
        If it is neither.
    """
    require_torch(who)
    import torch

    from skrep.nn import losses

    if isinstance(loss, str) and loss in _CLASSES:
        made: nn.Module = getattr(losses, _CLASSES[loss])()
        return made
    if isinstance(loss, torch.nn.Module):
        return loss
    raise ValueError(
        f"{who}: 'loss' is {loss!r}. It must be one of {tuple(_CLASSES)}, or an "
        "instance of torch.nn.Module, such as skrep.nn.losses.FisherTraceLoss()."
    )


def check_width(who: str, loss: Any, n_components: int, n_classes: int) -> None:
    """Refuse more columns than a loss can fill.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    loss : str or Module
        The loss.
    n_components : int
        The number of columns.
    n_classes : int
        The number of classes.

    Raises
    ------
    ValueError
        If the loss sees at most ``n_classes - 1`` columns, and more are asked for.
    """
    if isinstance(n_components, bool):
        raise ValueError(
            f"{who}: 'n_components' is {n_components!r}. It must be an integer from 1 "
            "up: pass n_components=2, say."
        )
    if isinstance(loss, str) and loss in _BOUNDED and n_components >= n_classes:
        raise ValueError(
            f"{who}: 'n_components' is {n_components}, but loss={loss!r} tells "
            f"{n_classes} classes apart in at most {n_classes - 1} columns. Pass "
            f'n_components={n_classes - 1}, or loss="lda".'
        )
