"""How estimators train a network: a skorch net that they own."""

import copy
import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import skorch
import torch
from skorch.callbacks import LRScheduler, PassthroughScoring

from skrep.nn._batches import Batch, Batches, Rows
from skrep.nn.losses import CombinedLoss

__all__ = ["Plan", "Training", "diverged", "falling_rate", "seeded"]

PATIENCE = 10
"""Epochs without a better validation loss after which training ends."""


class Plan(NamedTuple):
    """Settings of a training.

    Parameters
    ----------
    max_epochs : int
        The largest number of passes over the rows.
    batch_size : int
        About how many rows a step sees.
    lr : float
        Learning rate of AdamW.
    weight_decay : float
        Its decoupled weight decay.
    optimizer_params : dict
        Its other parameters.
    device : str
        Where to train.
    callbacks : sequence
        Callbacks of skorch.
    """

    max_epochs: int
    batch_size: int
    lr: float
    weight_decay: float
    optimizer_params: dict[str, Any]
    device: str
    callbacks: Sequence[Any]


class _MeanLoss(PassthroughScoring):
    """Mean over the batches of an epoch, by the sums of their weights."""

    def get_avg_score(self, history: Any) -> float:
        prefix = self.name.removesuffix("_loss")
        told = history[-1, "batches", :, [f"{prefix}_weight", self.name]]
        weights, losses = zip(*told, strict=True)
        return float(np.average(losses, weights=weights))


class _Net(skorch.NeuralNet):
    """A net whose batches come with weights, and whose callbacks may end it."""

    stopped_ = False
    who = ""
    n_outputs = 0

    @property
    def _default_callbacks(self) -> list[tuple[str, Any]]:
        return [
            ("train_loss", _MeanLoss("train_loss", on_train=True)),
            ("valid_loss", _MeanLoss("valid_loss")),
        ]

    def notify(self, method_name: str, **told: Any) -> None:
        try:
            super().notify(method_name, **told)
        except KeyboardInterrupt:
            # This is how callbacks of skorch, as EarlyStopping, end a training.
            if method_name != "on_epoch_end":
                raise
            self.stopped_ = True

    def get_split_datasets(self, X: Any, y: Any = None, **_: Any) -> tuple[Any, Any]:
        return X, y

    def get_iterator(self, dataset: Batches, training: bool = False) -> Batches:
        return dataset

    def train_step_single(self, batch: Batch, **_: Any) -> dict[str, Any]:
        if not self.module_.training:
            self._set_training(True)
        rows, targets, weights = batch
        self._record_weight("train", batch)
        outputs = self.infer(rows)
        _check_outputs(self.who, outputs, len(rows), self.n_outputs)
        try:
            loss = _loss_of(self.criterion_, outputs, targets, weights)
            loss.backward()
        except Exception as error:
            name = type(self.criterion_).__name__
            error.add_note(
                f"Raised by the loss {name}. Its forward(embeddings, y) must give one "
                "number that depends on the embeddings; y holds the positions of the "
                "classes."
            )
            raise
        return {"loss": loss, "y_pred": outputs}

    def validation_step(self, batch: Batch, **_: Any) -> dict[str, Any]:
        self._set_training(False)
        rows, targets, weights = batch
        self._record_weight("valid", batch)
        with torch.no_grad():
            outputs = self.infer(rows)
            loss = _loss_of(self.criterion_, outputs, targets, weights)
        return {"loss": loss, "y_pred": outputs}

    def _record_weight(self, prefix: str, batch: Batch) -> None:
        rows, _, weights = batch
        total = len(rows) if weights is None else weights.sum().item()
        self.history.record_batch(f"{prefix}_weight", total)


class Training:
    """A network on its way from its first weights to its last.

    Make it and step it inside `seeded`, so that the caller's random state stays.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    build : callable
        Makes the network.
    loss : Module
        The loss; a copy is trained where it has parameters.
    plan : Plan
        Settings.
    n_outputs : int
        Number of columns that the network must give.
    rows : Rows
        Rows to train on.
    held_out : Rows or None
        Rows that decide when to stop.
    seed : Generator
        The source of batches.
    dtype : dtype
        Float type of network and loss.
    """

    def __init__(
        self,
        who: str,
        build: Callable[[], torch.nn.Module],
        loss: torch.nn.Module,
        plan: Plan,
        *,
        n_outputs: int,
        rows: Rows,
        held_out: Rows | None,
        seed: np.random.Generator,
        dtype: torch.dtype,
    ) -> None:
        self.who = who
        self.train = Batches(rows, plan.batch_size, seed)
        self.valid = held_out and Batches(held_out, plan.batch_size, None)
        _check_callbacks(who, plan.callbacks)
        self.best: tuple[float, int, dict[str, Any]] | None = None
        check_loss(who, loss, weighted=rows.weights is not None)
        self.net = _Net(
            lambda: build().to(dtype),
            criterion=copy.deepcopy(loss).to(dtype),
            optimizer=torch.optim.AdamW,
            lr=plan.lr,
            optimizer__weight_decay=plan.weight_decay,
            **{f"optimizer__{k}": v for k, v in plan.optimizer_params.items()},
            callbacks=list(plan.callbacks),
            device=plan.device,
            verbose=0,
        )
        self.net.who, self.net.n_outputs = who, n_outputs
        self.net.initialize()
        self.net.notify("on_train_begin", X=self.train, y=None)

    @property
    def network(self) -> torch.nn.Module:
        """The network as it is now."""
        network: torch.nn.Module = self.net.module_
        return network

    def epoch(self) -> bool:
        """Pass over all rows once.

        Returns
        -------
        bool
            Whether to go on.

        Raises
        ------
        ValueError
            If the loss is not finite.
        """
        try:
            self.net.fit_loop(self.train, self.valid, epochs=1)
        except KeyError as error:
            error.add_note(
                f"{self.who}: a callback asks for what is not recorded. "
                "There is a 'valid_loss' with validation_fraction=0.2, say."
            )
            raise
        except RuntimeError as error:
            if "overflow" not in str(error):
                raise
            raise self._diverged("a step overflowed") from error
        last = self.net.history[-1]
        if not np.isfinite(last["train_loss"]):
            raise self._diverged(f"the loss became {last['train_loss']}")
        return not self.net.stopped_ and not self._is_stale(last)

    def finish(self) -> None:
        """Go back to the best weights, if rows were held out, and tell callbacks.

        Raises
        ------
        ValueError
            If weights are not finite.
        """
        if self.best is not None:
            self.network.load_state_dict(self.best[2])
        self.network.eval()
        if not all(part.isfinite().all() for part in self.network.parameters()):
            raise self._diverged("weights became infinite or NaN")
        self.net.notify("on_train_end", X=self.train, y=None)

    def record(self) -> dict[str, Any]:
        """Give what is known of the epochs so far, as fitted attributes.

        Returns
        -------
        dict
            ``history_``, one entry per epoch with "epoch", "train_loss", "valid_loss"
            where rows were held out, and what callbacks have recorded; ``n_iter_`` and
            ``best_loss_``.
        """
        counts = ("batches", "batch_count", "_best")
        history = [
            {key: value for key, value in row.items() if not key.endswith(counts)}
            for row in self.net.history
        ]
        best = None if self.best is None else self.best[0]
        return {"history_": history, "n_iter_": len(history), "best_loss_": best}

    def _diverged(self, what: str) -> ValueError:
        what = f"{what} in epoch {len(self.net.history)}"
        return diverged(self.who, what, self.net.lr)

    def _is_stale(self, last: Any) -> bool:
        if self.valid is None:
            return False
        epoch = len(self.net.history)
        if self.best is None or last["valid_loss"] < self.best[0]:
            weights = copy.deepcopy(self.network.state_dict())
            self.best = (last["valid_loss"], epoch, weights)
        return epoch - self.best[1] >= PATIENCE


def falling_rate(max_epochs: int, last: float = 0.0) -> LRScheduler:
    """Make the callback of a learning rate that falls linearly.

    Parameters
    ----------
    max_epochs : int
        Number of epochs.
    last : float, default=0.0
        The share of the first rate that is left after them.

    Returns
    -------
    LRScheduler
        A callback of skorch.
    """
    return LRScheduler(
        torch.optim.lr_scheduler.LambdaLR,
        lr_lambda=lambda epoch: 1 - (1 - last) * epoch / max_epochs,
    )


def diverged(who: str, what: str, lr: float) -> ValueError:
    """Make the error of a training that ran away.

    Parameters
    ----------
    who : str
        The estimator that is named.
    what : str
        What was found, and where.
    lr : float
        Its learning rate.

    Returns
    -------
    ValueError
        The error.
    """
    return ValueError(
        f"{who}: {what}. Training diverged: lower 'lr', which is {lr}, to "
        f"lr={min(lr / 10, 1e-2):g}, say; a 'loss' or 'module' of your own must give "
        "finite numbers."
    )


@contextmanager
def seeded(seed: int, device: str) -> Iterator[np.random.Generator]:
    """Draw from random states of one's own.

    Parameters
    ----------
    seed : int
        The seed.
    device : str
        The device that is used beside the processor.

    Yields
    ------
    Generator
        The source of batches; torch draws from a state that is put back afterwards.
    """
    where = torch.empty(0, device=device).device
    kind = "cuda" if where.type == "cpu" else where.type
    devices = [] if where.type == "cpu" else [where.index]
    forked = torch.random.fork_rng(devices, device_type=kind)
    with forked, torch.inference_mode(False), torch.enable_grad():
        torch.default_generator.manual_seed(seed)
        for index in devices:
            state = torch.Generator(where).manual_seed(seed).get_state()
            torch.get_device_module(kind).set_rng_state(state, index)
        yield np.random.default_rng(seed)


def check_loss(who: str, loss: torch.nn.Module, *, weighted: bool) -> None:
    """Refuse weights where a loss takes none.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    loss : Module
        The loss.
    weighted : bool
        Whether rows have weights.

    Raises
    ------
    ValueError
        If it takes outputs and targets alone, and rows have weights.
    """
    if weighted and not _takes_weights(loss):
        raise ValueError(
            f"{who}: 'loss' is {type(loss).__name__}, whose forward takes no weights. "
            "Pass sample_weight=None and class_weight=None, or a loss with "
            "forward(embeddings, y, sample_weight=None)."
        )


def _takes_weights(loss: torch.nn.Module) -> bool:
    try:
        inspect.signature(loss.forward).bind("outputs", "targets", "weights")
    except TypeError:
        return False
    parts = loss.losses if isinstance(loss, CombinedLoss) else ()
    return all(_takes_weights(part) for part in parts)


def _check_callbacks(who: str, callbacks: Sequence[Any]) -> None:
    for one in callbacks:
        part = one[-1] if isinstance(one, tuple) else one
        if not hasattr(part, "on_epoch_end"):
            raise ValueError(
                f"{who}: 'callbacks' holds {part!r}. Each must be a callback of "
                "skorch, such as skorch.callbacks.LRScheduler(); those of scikit-learn "
                "go to set_callbacks."
            )


def _check_outputs(who: str, outputs: torch.Tensor, rows: int, width: int) -> None:
    if outputs.shape != (rows, width):
        raise ValueError(
            f"{who}: 'module' gives outputs of shape {tuple(outputs.shape)} for {rows} "
            f"rows. They must be ({rows}, {width}): end it in a layer of as many units "
            "as it is given as its second argument."
        )


def _loss_of(
    loss: Any, outputs: torch.Tensor, targets: torch.Tensor, weights: Any
) -> torch.Tensor:
    found: torch.Tensor = (
        loss(outputs, targets) if weights is None else loss(outputs, targets, weights)
    )
    return found
