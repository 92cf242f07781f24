"""Two views of a row through one encoder and a projector that is thrown away."""

from collections.abc import Sequence

import torch

from skrep.nn._modules import build_mlp
from skrep.nn.losses._redundancy import standard_columns
from skrep.typing import FloatArray

__all__ = ["Twins", "start_as_linear"]


class Twins(torch.nn.Module):
    """An encoder whose outputs, view by view, go on through a projector.

    A projector of one hidden layer sees the outputs standardized over the batch, so
    that their scale is free.

    Parameters
    ----------
    n_features, n_components : int
        Widths of the encoder.
    hidden : sequence of int
        Widths of its hidden layers.
    width : int
        Width of the projector's two layers.
    """

    def __init__(
        self, n_features: int, n_components: int, hidden: Sequence[int], width: int
    ) -> None:
        super().__init__()
        self.encoder = build_mlp(n_features, n_components, hidden)
        self.projector = build_mlp(n_components, width, (width,))

    def forward(self, rows: torch.Tensor) -> torch.Tensor:
        """Encode both views.

        Parameters
        ----------
        rows : Tensor of shape (n_rows, 2 * n_features)
            The first view of every row, and the second beside it.

        Returns
        -------
        Tensor of shape (n_rows, 2 * width)
            What the projector makes of either.
        """
        ones = torch.ones(len(rows), dtype=torch.float64, device=rows.device)
        rounding = torch.finfo(rows.dtype).eps
        views = [
            self.projector(standard_columns(self.encoder(view), ones, rounding))
            for view in rows.chunk(2, dim=1)
        ]
        return torch.hstack(views)


def start_as_linear(encoder: torch.nn.Sequential, directions: FloatArray) -> None:
    """Make a perceptron of random weights compute a given linear map.

    Of every hidden layer the first units carry the coordinates and their negatives,
    of which the rectifier leaves one; the last layer puts them together. The other
    units keep their random weights, and no output sees them yet.

    Parameters
    ----------
    encoder : Sequential
        What `build_mlp` built, with hidden layers of ``2 * n_components`` units or
        more.
    directions : ndarray of shape (n_features, n_components)
        The map.
    """
    layers = [part for part in encoder if isinstance(part, torch.nn.Linear)]
    weight = torch.from_numpy(directions.T.copy()).to(layers[0].weight)
    if len(layers) > 1:
        weight = torch.vstack([weight, -weight])
    with torch.no_grad():
        for depth, layer in enumerate(layers):
            if depth:
                weight = torch.eye(len(weight), layer.in_features)
            if depth and depth == len(layers) - 1:
                weight = weight[: layer.out_features] - weight[layer.out_features :]
            layer.weight[: len(weight)] = weight
            layer.bias[: len(weight)] = 0
