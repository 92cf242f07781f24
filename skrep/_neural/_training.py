"""How the network of an estimator is trained, as its parameters say."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import check_random_state

from skrep._neural._standardize import Standardization
from skrep.typing import FloatArray, IntArray, Matrix
from skrep.utils.callbacks import FitSteps
from skrep.utils.net_params import check_keys
from skrep.utils.validation import is_whole

if TYPE_CHECKING:
    import torch

    from skrep.nn._net import Plan, Training

__all__ = [
    "check_network_params",
    "draw_seed",
    "hold_out_rows",
    "run_training",
    "tensor_rows",
    "training_plan",
]


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
