"""How the network of an estimator is trained, as its parameters say."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from skrep._neural._standardize import Standardization
from skrep.typing import AnyArray, FloatArray, IntArray, Matrix
from skrep.utils import require
from skrep.utils.callbacks import FitSteps
from skrep.utils.net_params import check_keys
from skrep.utils.validation import is_whole

if TYPE_CHECKING:
    import torch

    from skrep.nn._batches import Rows
    from skrep.nn._net import Plan, Training

__all__ = [
    "check_network_params",
    "draw_seed",
    "hold_out",
    "hold_out_rows",
    "require_torch",
    "run_training",
    "tensor_rows",
    "training_plan",
    "training_rows",
]


class _Sample(Protocol):
    def at(self, positions: IntArray) -> Any: ...


S = TypeVar("S", bound=_Sample)


def require_torch(who: str) -> None:
    """Refuse to fit a network without torch or skorch.

    Parameters
    ----------
    who : str
        The estimator that is named in the error.

    Raises
    ------
    ImportError
        If one of the two is not installed; the message says how to install it.
    """
    for package in ("torch", "skorch"):
        require(package, f"{who}.fit")


def draw_seed(estimator: Any) -> int:
    """Draw the seed of a fit from the estimator's `random_state`.

    Parameters
    ----------
    estimator : estimator
        The estimator.

    Returns
    -------
    int
        The seed.
    """
    return int(check_random_state(estimator.random_state).randint(2**31 - 1))


def check_network_params(estimator: Any) -> None:
    """Refuse a device, widths or nested parameters that do not suit.

    Parameters
    ----------
    estimator : estimator
        With `device` and, where it has them, `hidden`, `module`, `module_params` and
        `optimizer_params`.

    Raises
    ------
    ValueError
        If one does not suit.
    """
    import torch

    who, device = type(estimator).__name__, estimator.device
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(
            f"{who}: 'device' is {device!r}, which this machine does not have. Pass "
            'device="cpu".'
        ) from error
    module = getattr(estimator, "module", "mlp")
    for prefix in ("module", "optimizer"):
        entries = getattr(estimator, f"{prefix}_params", None) or {}
        check_keys(who, module, prefix, entries)
    hidden = getattr(estimator, "hidden", None)
    widths = () if hidden is None else hidden
    if not all(is_whole(width) and width > 0 for width in widths):
        raise ValueError(
            f"{who}: 'hidden' is {hidden!r}. Widths must be integers from 1 up: pass "
            "hidden=(64, 64), or () for a linear map."
        )


def training_plan(estimator: Any, batch_size: int) -> "Plan":
    """Read the settings of a training from an estimator.

    Parameters
    ----------
    estimator : estimator
        With `max_epochs`, `lr`, `weight_decay`, `device`, `callbacks` and, where it has
        them, `optimizer_params`.
    batch_size : int
        Rows of a step.

    Returns
    -------
    Plan
        The settings.
    """
    from skrep.nn._net import Plan

    return Plan(
        estimator.max_epochs,
        batch_size,
        estimator.lr,
        estimator.weight_decay,
        dict(getattr(estimator, "optimizer_params", None) or {}),
        estimator.device,
        estimator.callbacks or (),
    )


def run_training(
    estimator: Any,
    seed: int,
    start: Callable[[np.random.Generator], "Training"],
    state: Callable[["torch.nn.Module"], dict[str, Any]],
    told: Mapping[str, Any],
) -> dict[str, Any]:
    """Train the network of an estimator.

    Parameters
    ----------
    estimator : estimator
        With `max_epochs` and `device`.
    seed : int
        Seed of weights and batches; random states of the caller stay.
    start : callable
        Takes the source of batches and begins a training.
    state : callable
        Gives the fitted attributes that follow from a network.
    told : mapping
        What callbacks of scikit-learn are told: X, y and metadata.

    Returns
    -------
    dict
        Fitted attributes by name, ``history_``, ``n_iter_`` and ``best_loss_`` among
        them.

    Raises
    ------
    ValueError
        If training diverges.
    """
    from skrep.nn._net import seeded

    with seeded(seed, estimator.device) as draws:
        training = start(draws)

        def now() -> dict[str, Any]:
            return {**state(training.network), **training.record()}

        steps = FitSteps(estimator, estimator.max_epochs, state=now, **told)
        for _ in steps:
            if not training.epoch():
                steps.stop()
        training.finish()
        return now()


def hold_out_rows(
    who: str, codes: IntArray, fraction: float, seed: int
) -> tuple[IntArray, IntArray]:
    """Set rows aside that decide when training ends.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    codes : ndarray of shape (n_rows,)
        Classes of the rows; all zero where there are none.
    fraction : float
        Share of the rows of every class that is set aside.
    seed : int
        Seed of the draw.

    Returns
    -------
    train, held_out : ndarray of int
        Positions of the rows.

    Raises
    ------
    ValueError
        If classes have too few rows to be on both sides.
    """
    from sklearn.model_selection import train_test_split

    try:
        train, held_out = train_test_split(
            np.arange(len(codes)),
            test_size=fraction,
            stratify=codes,
            random_state=seed,
        )
    except ValueError as error:
        raise ValueError(
            f"{who}: 'validation_fraction' is {fraction}, and some class has too few "
            f"rows to be on both sides of the split ({error}) Pass "
            "validation_fraction=None."
        ) from error
    return train, held_out


def hold_out(
    who: str, sample: S, codes: IntArray, fraction: float | None, seed: int
) -> tuple[S, S | None]:
    """Split a sample by `hold_out_rows`, if there is a fraction to hold out.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    sample : Sample
        Rows and what stands beside them; its ``at`` gives those at some positions.
    codes : ndarray of shape (n_rows,)
        Classes of the rows; all zero where there are none.
    fraction : float or None
        Share of the rows of every class that is held out; None holds out none.
    seed : int
        Seed of the draw.

    Returns
    -------
    train : Sample
        Rows to train on.
    held_out : Sample or None
        The others.

    Raises
    ------
    ValueError
        If classes have too few rows to be on both sides.
    """
    if fraction is None:
        return sample, None
    train, held_out = hold_out_rows(who, codes, fraction, seed)
    return sample.at(train), sample.at(held_out)


def tensor_rows(
    X: Matrix, standard: Standardization, device: str
) -> Callable[[IntArray], "torch.Tensor"]:
    """Give rows by position, standardized, as tensors.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows; sparse ones are made dense when they are asked for.
    standard : Standardization
        How they are standardized.
    device : str
        Where the tensors lie.

    Returns
    -------
    callable
        Takes an integer array and gives a tensor.
    """
    import torch

    if sp.issparse(X):
        return lambda at: torch.from_numpy(standard.apply(X[at])).to(device)
    dense: FloatArray = standard.apply(X)
    rows = torch.from_numpy(dense).to(device)
    return lambda at: rows[torch.from_numpy(at).to(device)]


def training_rows(
    take: Callable[[IntArray], "torch.Tensor"],
    targets: AnyArray,
    weights: FloatArray,
    device: str,
    codes: IntArray | None = None,
) -> "Rows":
    """Join rows with what a loss gets for them.

    Parameters
    ----------
    take : callable
        Gives the rows at the positions of an integer array, as a tensor on the device.
    targets : ndarray of shape (n_rows, ...)
        What the loss compares them with.
    weights : ndarray of shape (n_rows,)
        Their weights; the loss gets none where all are one.
    device : str
        Where to train.
    codes : ndarray of shape (n_rows,), default=None
        Classes, which are spread evenly over batches; None is one class.

    Returns
    -------
    Rows
        What batches are taken from.
    """
    import torch

    from skrep.nn._batches import Rows

    if codes is None:
        codes = np.zeros(len(targets), dtype=np.intp)
    even = bool(np.all(weights == 1))
    return Rows(
        take,
        codes,
        torch.from_numpy(targets).to(device),
        None if even else torch.from_numpy(weights).to(device),
    )
