"""From rows and classes to a trained encoder."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from skrep._neural import (
    Standardization,
    build_network,
    check_network_params,
    draw_seed,
    hold_out,
    run_training,
    tensor_rows,
    training_plan,
    training_rows,
)
from skrep.discriminant._sample import Sample
from skrep.exceptions import ThinDataWarning
from skrep.typing import IntArray
from skrep.utils import warn

__all__ = ["Task", "train_network"]


class Task(NamedTuple):
    """What a network is to do.

    Parameters
    ----------
    loss : Module
        What is minimized.
    n_outputs : int
        Number of columns that it gives.
    partition : bool
        Whether the loss sees a partition of the rows alone, and no order of labels.
    """

    loss: Any
    n_outputs: int
    partition: bool


def train_network(
    estimator: Any,
    sample: Sample,
    standard: Standardization,
    task: Task,
    state: Callable[[Any, Sample | None], dict[str, Any]],
    told: Mapping[str, Any],
) -> dict[str, Any]:
    """Train the network of an estimator.

    Parameters
    ----------
    estimator : estimator
        Whose parameters say how.
    sample : Sample
        Rows and classes.
    standard : Standardization
        How rows are standardized.
    task : Task
        What the network is to do.
    state : callable
        Gives the fitted attributes that follow from a network, and from the rows that
        were held out, if any.
    told : mapping
        What callbacks of scikit-learn are told: X, y and metadata.

    Returns
    -------
    dict
        Fitted attributes by name.

    Raises
    ------
    ValueError
        If a parameter does not suit, or training diverges.
    """
    who = type(estimator).__name__
    check_network_params(estimator)
    seed = draw_seed(estimator)
    # Numbered as they come, classes train alike whatever they are called.
    places = _as_they_come(sample.codes, task.partition)
    sample = sample._replace(codes=places[sample.codes])
    train, valid = hold_out(
        who, sample, sample.codes, estimator.validation_fraction, seed
    )
    held = valid and valid._replace(codes=np.argsort(places)[valid.codes])
    found = run_training(
        estimator,
        seed,
        lambda draws: _start(estimator, train, valid, standard, task, draws),
        lambda network: state(network, held),
        told,
    )
    if all(row["train_loss"] == 0 for row in found["history_"]):
        warn(
            f"{who}: the loss was 0 in every epoch, so that nothing was learned: "
            "batches hold no two rows of a class that differ. Pass more rows of each "
            "class, or a larger 'batch_size'.",
            ThinDataWarning,
        )
    return found


def _start(
    estimator: Any,
    train: Sample,
    valid: Sample | None,
    standard: Standardization,
    task: Task,
    draws: np.random.Generator,
) -> Any:
    import torch

    from skrep.nn._net import Training

    size = estimator.batch_size
    if size == "auto":
        n_classes = int(train.codes.max()) + 1
        size = max(10 * (task.n_outputs + n_classes), min(128, len(train.codes) // 2))
    module, params = estimator.module, estimator.module_params or {}
    widths = len(standard.kept), task.n_outputs
    return Training(
        type(estimator).__name__,
        lambda: build_network(module, *widths, estimator.hidden, params),
        task.loss,
        training_plan(estimator, size),
        n_outputs=task.n_outputs,
        rows=_as_rows(train, standard, estimator.device),
        held_out=valid and _as_rows(valid, standard, estimator.device),
        seed=draws,
        dtype=torch.float32 if train.X.dtype == np.float32 else torch.float64,
    )


def _as_rows(sample: Sample, standard: Standardization, device: str) -> Any:
    X, codes, weights = sample
    take = tensor_rows(X, standard, device)
    return training_rows(take, codes, weights, device, codes)


def _as_they_come(codes: IntArray, partition: bool) -> IntArray:
    """Numbers of the classes: by their first rows, or as they are."""
    places = np.arange(int(codes.max()) + 1)
    if partition:
        _, first = np.unique(codes, return_index=True)
        places[codes[np.sort(first)]] = np.arange(len(first))
    return places
