"""What the losses that score row by row share: checks and weighted means."""

from typing import Any

import torch
from torch import Tensor

from skrep.nn.losses._scatter import read_batch
from skrep.utils.validation import is_whole

__all__ = ["check_size", "mean_over_rows", "read_classes", "read_rows"]


def check_size(who: str, name: str, value: Any, least: int, remedy: str) -> int:
    """Return an integer of at least some size, or say what is wrong with it."""
    if not is_whole(value) or value < least:
        raise ValueError(
            f"{who}: '{name}' is {value!r}. It must be an integer from {least} up. "
            f"Use {who}({remedy})."
        )
    return int(value)


def read_rows(
    who: str, embeddings: Tensor, sample_weight: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Check a batch without classes and drop its rows of weight 0.

    Parameters
    ----------
    who : str
        Name of the loss, the subject of messages.
    embeddings : Tensor of shape (n_samples, n_components)
        Outputs of a network.
    sample_weight : Tensor of shape (n_samples,) or None
        Weights; None weighs all rows alike.

    Returns
    -------
    rows : Tensor of shape (n_kept, n_components), float64
        Rows, with their graph.
    weight : Tensor of shape (n_kept,), float64
        Their weights, without a graph.
    """
    no_class = torch.zeros(embeddings.shape[:1], dtype=torch.long)
    rows, _, weight = read_batch(who, embeddings, no_class, sample_weight)
    rows = rows.double()
    return rows, rows.new_ones(len(rows)) if weight is None else weight


def read_classes(
    who: str,
    embeddings: Tensor,
    y: Tensor,
    sample_weight: Tensor | None,
    n_classes: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Check a batch whose classes are numbered, and drop its rows of weight 0.

    Parameters
    ----------
    who : str
        Name of the loss, the subject of messages.
    embeddings : Tensor of shape (n_samples, n_components)
        Outputs of a network.
    y : Tensor of shape (n_samples,)
        Class of each row, from 0 to ``n_classes - 1``.
    sample_weight : Tensor of shape (n_samples,) or None
        Weights; None weighs all rows alike.
    n_classes : int
        Number of classes that there can be.

    Returns
    -------
    rows : Tensor of shape (n_kept, n_components)
        Rows, with their graph, in the dtype given.
    codes : Tensor of shape (n_kept,), int64
        Their classes.
    weight : Tensor of shape (n_kept,), float64
        Their weights, without a graph.
    """
    rows, codes, weight = read_batch(who, embeddings, y, sample_weight)
    if len(codes):
        least, most = (int(code) for code in torch.aminmax(codes))
        if least < 0 or most >= n_classes:
            raise ValueError(
                f"{who}: 'y' holds {least if least < 0 else most}, and 'n_classes' is "
                f"{n_classes}. Classes are numbered from 0 to {n_classes - 1}. Use "
                f"{who}(n_classes=...) with all classes counted, and number them with "
                "torch.unique(y, return_inverse=True)[1]."
            )
    if weight is None:
        weight = torch.ones(len(rows), dtype=torch.float64, device=rows.device)
    return rows, codes.long(), weight


def mean_over_rows(values: Tensor, weight: Tensor) -> Tensor:
    """Weigh the values of rows into their mean.

    Parameters
    ----------
    values : Tensor of shape (n, ...)
        Values, of a floating type.
    weight : Tensor of shape (n,), float64
        Positive weights.

    Returns
    -------
    Tensor of shape (...), float64
        The mean; 0, with its graph, for no rows.
    """
    total = weight.sum().clamp(min=torch.finfo(weight.dtype).tiny)
    return (weight / total) @ values.double()
