"""From rows and classes to a trained encoder."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from skrep.discriminant._sample import Sample, hold_out
from skrep.discriminant._standardize import Standardization
from skrep.exceptions import ThinDataWarning
from skrep.typing import FloatArray, IntArray, Matrix
from skrep.utils import row_blocks, warn
from skrep.utils.callbacks import FitSteps
from skrep.utils.net_params import check_keys
from skrep.utils.validation import is_whole

__all__ = ["Task", "build_network", "check_embedded", "embed", "train_network"]


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


def build_network(
    module: Any, n_inputs: int, n_outputs: int, hidden: Any, params: Mapping[str, Any]
) -> Any:
    """Build the network of an estimator.

    Parameters
    ----------
    module : "mlp" or type
        A perceptron, or a class that is called with the two widths.
    n_inputs, n_outputs : int
        The widths.
    hidden : sequence of int
        Widths of the hidden layers of a perceptron.
    params : mapping
        Further arguments.

    Returns
    -------
    Module
        The network.
    """
    from skrep.nn._modules import build_mlp

    if isinstance(module, str):
        return build_mlp(n_inputs, n_outputs, hidden, **params)
    return module(n_inputs, n_outputs, **params)


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
    from skrep.nn._net import seeded

    who = type(estimator).__name__
    _check_device(who, estimator.device)
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    # Numbered as they come, classes train alike whatever they are called.
    places = _as_they_come(sample.codes, task.partition)
    sample = sample._replace(codes=places[sample.codes])
    train, valid = hold_out(who, sample, estimator.validation_fraction, seed)
    held = valid and valid._replace(codes=np.argsort(places)[valid.codes])
    with seeded(seed, estimator.device) as draws:
        training = _start(estimator, train, valid, standard, task, draws)

        def now() -> dict[str, Any]:
            return {**state(training.network, held), **training.record()}

        steps = FitSteps(estimator, estimator.max_epochs, state=now, **told)
        for _ in steps:
            if not training.epoch():
                steps.stop()
        training.finish()
        found = now()
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

    from skrep.nn._net import Plan, Training

    who = type(estimator).__name__
    device = estimator.device
    params, options = estimator.module_params or {}, estimator.optimizer_params or {}
    check_keys(who, estimator.module, "module", params)
    check_keys(who, estimator.module, "optimizer", options)
    _check_hidden(who, estimator.hidden)
    size = estimator.batch_size
    if size == "auto":
        n_classes = int(train.codes.max()) + 1
        size = max(10 * (task.n_outputs + n_classes), min(128, len(train.codes) // 2))
    plan = Plan(
        estimator.max_epochs,
        size,
        estimator.lr,
        estimator.weight_decay,
        dict(options),
        device,
        estimator.callbacks or (),
    )
    rows = _as_rows(train, standard, device)
    held_out = valid and _as_rows(valid, standard, device)
    widths = len(standard.kept), task.n_outputs
    return Training(
        who,
        lambda: build_network(estimator.module, *widths, estimator.hidden, params),
        task.loss,
        plan,
        n_outputs=task.n_outputs,
        rows=rows,
        held_out=held_out,
        seed=draws,
        dtype=torch.float32 if train.X.dtype == np.float32 else torch.float64,
    )


def embed(
    X: Matrix, standard: Standardization, outputs: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    """Pass rows through an encoder, block by block.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    standard : Standardization
        How they are standardized.
    outputs : callable
        Takes standardized rows and gives embedded ones.

    Returns
    -------
    ndarray of shape (n_rows, n_outputs)
        Embedded rows.
    """
    width = 4 * X.dtype.itemsize * max(X.shape[1], 1)
    parts = [outputs(standard.apply(X[rows])) for rows in row_blocks(X.shape[0], width)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def check_embedded(estimator: Any, *found: FloatArray) -> None:
    """Refuse what a network has made of the rows if its squares are not finite.

    Parameters
    ----------
    estimator : estimator
        The estimator that is named in the error, with its `lr`.
    *found : ndarray
        Outputs, or moments of them.

    Raises
    ------
    ValueError
        If an entry is not finite.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        sums = [np.square(part, dtype=np.float64).sum() for part in found]
    if not np.isfinite(sums).all():
        from skrep.nn._net import diverged

        what = "outputs of the network, or their squares, became infinite or NaN"
        raise diverged(type(estimator).__name__, what, estimator.lr)


def _as_they_come(codes: IntArray, partition: bool) -> IntArray:
    """Numbers of the classes: by their first rows, or as they are."""
    places = np.arange(int(codes.max()) + 1)
    if partition:
        _, first = np.unique(codes, return_index=True)
        places[codes[np.sort(first)]] = np.arange(len(first))
    return places


def _as_rows(sample: Sample, standard: Standardization, device: str) -> Any:
    import torch

    from skrep.nn._batches import Rows

    codes = sample.codes
    if sp.issparse(sample.X):

        def take(positions: IntArray) -> torch.Tensor:
            dense = standard.apply(sample.X[positions])
            return torch.from_numpy(dense).to(device)
    else:
        X = torch.from_numpy(standard.apply(sample.X)).to(device)

        def take(positions: IntArray) -> torch.Tensor:
            return X[torch.from_numpy(positions).to(device)]

    weights = None
    if not np.all(sample.weights == 1):
        weights = torch.from_numpy(sample.weights).to(device)
    return Rows(take, codes, torch.from_numpy(codes).to(device), weights)


def _check_hidden(who: str, hidden: Any) -> None:
    if not all(is_whole(width) and width > 0 for width in hidden):
        raise ValueError(
            f"{who}: 'hidden' is {hidden!r}. Widths must be integers from 1 up: pass "
            "hidden=(64, 64), or () for a linear map."
        )


def _check_device(who: str, device: str) -> None:
    import torch

    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"{who}: 'device' is {device!r}, which this machine does not have. Pass "
            'device="cpu".'
        ) from error
