"""The networks that estimators build, and what is kept of them after a fit."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch

from skrep.typing import AnyArray, FloatArray

__all__ = ["build_mlp", "load_state", "mlp_arrays", "network_outputs", "state_arrays"]


def build_mlp(
    n_features: int, n_outputs: int, hidden: Sequence[int], dropout: float = 0.0
) -> torch.nn.Sequential:
    """Build a perceptron with rectified hidden layers and a linear last one.

    Parameters
    ----------
    n_features, n_outputs : int
        Widths of input and output.
    hidden : sequence of int
        Widths of the hidden layers; none makes a linear map.
    dropout : float, default=0.0
        Share of hidden units that is dropped in training.

    Returns
    -------
    Sequential
        The network.
    """
    layers: list[torch.nn.Module] = []
    width = n_features
    for units in hidden:
        layers += [torch.nn.Linear(width, units), torch.nn.ReLU()]
        if dropout:
            layers.append(torch.nn.Dropout(dropout))
        width = units
    return torch.nn.Sequential(*layers, torch.nn.Linear(width, n_outputs))


def mlp_arrays(
    network: torch.nn.Module,
) -> tuple[list[FloatArray], list[FloatArray]]:
    """Take the layers of a perceptron out as arrays.

    Parameters
    ----------
    network : Module
        What `build_mlp` has built.

    Returns
    -------
    coefs : list of ndarray of shape (n_in, n_out)
        Matrices that rows are multiplied by.
    intercepts : list of ndarray of shape (n_out,)
        What is added.
    """
    layers = [part for part in network.modules() if isinstance(part, torch.nn.Linear)]
    coefs = [np.array(one.weight.detach().cpu().numpy().T, order="C") for one in layers]
    return coefs, [one.bias.detach().cpu().numpy().copy() for one in layers]


def state_arrays(network: torch.nn.Module) -> dict[str, AnyArray]:
    """Copy parameters and buffers of any network into arrays.

    Parameters
    ----------
    network : Module
        The network.

    Returns
    -------
    dict of str to ndarray
        Arrays by name.
    """
    state = network.state_dict()
    return {name: value.detach().cpu().numpy().copy() for name, value in state.items()}


def load_state(network: torch.nn.Module, state: Mapping[str, AnyArray]) -> None:
    """Give a network the parameters and buffers of another one.

    Parameters
    ----------
    network : Module
        A network of the same shape.
    state : mapping of str to ndarray
        What `state_arrays` gave.
    """
    tensors = {name: torch.tensor(value) for name, value in state.items()}
    # Assigned, they keep their float type.
    network.load_state_dict(tensors, assign=True)


def network_outputs(network: torch.nn.Module, X: FloatArray) -> Any:
    """Pass rows through a network in evaluation mode.

    Parameters
    ----------
    network : Module
        The network.
    X : ndarray of shape (n_rows, n_features)
        Rows.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        Its outputs.
    """
    like = next(network.parameters())
    was = network.training
    network.eval()
    with torch.no_grad():
        Z = network(torch.tensor(X, dtype=like.dtype, device=like.device))
    network.train(was)
    return Z.detach().cpu().numpy().astype(X.dtype, copy=False)
