"""How a Matryoshka projection is trained."""

from typing import Any

import numpy as np

from skrep._neural import (
    check_network_params,
    draw_seed,
    hold_out,
    run_training,
    training_plan,
    training_rows,
)
from skrep.linalg import fix_signs
from skrep.nested._matryoshka_read import (
    Sample,
    read_hidden,
    read_lengths,
)
from skrep.nested._matryoshka_start import (
    Coordinates,
    coordinates_of,
    head_of,
    spread_of,
    standard_numbers,
)
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import warn

__all__ = ["train"]

BATCHES = {"classes": 128, "regression": 128, "pairs": 256, "teacher": 256}
"""Rows of a step, by objective: pairs are told from the others in their batch."""


def train(estimator: Any, sample: Sample, told: dict[str, Any]) -> dict[str, Any]:
    """Train the network of an estimator.

    Parameters
    ----------
    estimator : MatryoshkaProjection
        Whose parameters say how.
    sample : Sample
        What it is fitted on.
    told : dict
        What callbacks of scikit-learn are told.

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
    k, prefixes, weights = read_lengths(estimator, sample.rows.shape[1])
    check_network_params(estimator)
    seed = draw_seed(estimator)
    rows, held = hold_out(
        who, sample, sample.codes, estimator.validation_fraction, seed
    )
    _check_pairs(estimator, rows)
    if prefixes[-1] < k:
        warn(
            f"{who}: 'prefixes' ends at {prefixes[-1]}, and the output has {k} "
            f"columns: those beyond are not trained. Pass "
            f"n_components={prefixes[-1]}, or add {k} to prefixes."
        )
    start = coordinates_of(rows, estimator.init)
    lengths = prefixes, weights
    if _turns(estimator):
        lengths = _within(start.n_turned, *lengths)
    found = run_training(
        estimator,
        seed,
        lambda draws: _start(estimator, (rows, held), start, k, lengths, draws),
        lambda network: _state(estimator, network, start, k, sample.rows.dtype),
        told,
    )
    return {
        **found,
        "objective_": sample.objective,
        "prefixes_": np.array(prefixes),
        "_normalize": estimator.normalize,
    }


def _start(
    estimator: Any,
    samples: tuple[Sample, Sample | None],
    start: Coordinates,
    n_components: int,
    lengths: tuple[tuple[int, ...], tuple[float, ...]],
    draws: np.random.Generator,
) -> Any:
    import torch

    from skrep.nn import _matryoshka as parts
    from skrep.nn._net import Training, falling_rate
    from skrep.nn.losses import MatryoshkaLoss

    (train, held), (prefixes, weights) = samples, lengths
    size = estimator.batch_size
    if size == "auto":
        size = BATCHES[train.objective]
    hidden, turns = read_hidden(estimator), _turns(estimator)
    seen, k = start, n_components
    if turns:
        seen, k = start.leading(start.n_turned), prefixes[-1]
    own, others = seen.of(train)
    spread = torch.from_numpy(spread_of(train, own, others))
    device, dtype = estimator.device, train.rows.dtype
    # The cosine of one column is a sign, which no small rotation changes.
    compared = train.objective in ("pairs", "teacher")
    edges = [k for k in prefixes if k > 1 or not compared]

    def build() -> Any:
        encoder: Any
        if hidden:
            widths = own.shape[1], k, hidden
            encoder = parts.Adaptor(*widths, residual=estimator.residual)
        elif turns:
            encoder = parts.TurnedAxes(start.n_turned, k, edges)
        else:
            encoder = parts.LinearMap(own.shape[1], k)
        whole = torch.nn.Sequential(parts.Jitter(spread), encoder)
        return whole if others is None else parts.Sides(whole)

    loss: Any
    if train.objective == "pairs":
        loss = parts.PairContrast(prefixes)
    elif train.objective == "teacher":
        loss = parts.TeacherCosines()
    else:
        n_outputs = 1 if train.numbers is not None else int(train.codes.max()) + 1
        loss = parts.PrefixHeads(n_outputs, prefixes, tied=estimator.tied)
        head = head_of(train, own)
        if head is not None and turns:
            loss.start(torch.from_numpy(head.weight), torch.from_numpy(head.bias))
    n_sides = 1 if others is None else 2
    loss = parts.Leading(MatryoshkaLoss(loss, prefixes, weights), prefixes[-1], n_sides)
    plan = training_plan(estimator, size)
    return Training(
        type(estimator).__name__,
        build,
        loss,
        plan._replace(callbacks=[falling_rate(plan.max_epochs), *plan.callbacks]),
        n_outputs=n_sides * k,
        rows=_as_rows(train, train, (seen, start), device),
        held_out=held and _as_rows(held, train, (seen, start), device),
        seed=draws,
        dtype=torch.float32 if dtype == np.float32 else torch.float64,
    )


def _turns(estimator: Any) -> bool:
    """Whether the encoder is the closed form but for a rotation."""
    return estimator.init == "closed_form" and not read_hidden(estimator)


def _within(
    n_turned: int, prefixes: tuple[int, ...], weights: tuple[float, ...]
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Prefixes that a rotation can change: of the others it leaves all distances."""
    n = sum(k < n_turned for k in prefixes)
    if any(weights[:n]):
        return prefixes[:n], weights[:n]
    return (n_turned,), (1.0,)


def _as_rows(
    sample: Sample,
    train: Sample,
    coordinates: tuple[Coordinates, Coordinates],
    device: str,
) -> Any:
    import torch

    seen, whole = coordinates
    own, others = seen.of(sample)
    targets: AnyArray = sample.codes
    if sample.objective == "teacher":
        targets = whole.of(sample)[0]
    elif sample.numbers is not None:
        targets = standard_numbers(sample, train).astype(own.dtype)
    elif sample.pairs is not None:
        targets = np.column_stack([_numbered(sample.rows), _numbered(sample.pairs)])
    rows = own if others is None else np.hstack([own, others])
    tensor = torch.from_numpy(rows).to(device)
    return training_rows(
        lambda at: tensor[torch.from_numpy(at).to(device)],
        targets,
        sample.weights,
        device,
        sample.codes,
    )


def _numbered(rows: FloatArray) -> IntArray:
    """Numbers of rows, the same for equal ones."""
    known: dict[bytes, int] = {}
    # With 0 added, there is no -0.
    return np.array([known.setdefault((r + 0.0).tobytes(), len(known)) for r in rows])


def _check_pairs(estimator: Any, train: Sample) -> None:
    """Refuse pairs that have none to be told from."""
    if train.pairs is None:
        return
    who = type(estimator).__name__
    if estimator.batch_size == 1:
        raise ValueError(
            f"{who}: 'batch_size' is 1, and a pair is told from the others of its "
            'batch. Pass batch_size="auto", or 2 and more.'
        )
    numbers = np.column_stack([_numbered(train.rows), _numbered(train.pairs)])
    own, other, both = map(_sharing, (numbers[:, :1], numbers[:, 1:], numbers))
    if (own + other - both == len(numbers)).all():
        raise ValueError(
            f"{who}: 'pairs' has {len(numbers)} rows, and every two pairs share a row, "
            "so that none can be told from another. Pass more pairs, or "
            'objective="teacher".'
        )


def _sharing(rows: IntArray) -> IntArray:
    """How many rows are equal to each, itself among them."""
    _, codes, counts = np.unique(rows, axis=0, return_inverse=True, return_counts=True)
    return counts[codes.ravel()]


def _state(
    estimator: Any, network: Any, start: Coordinates, n_components: int, dtype: Any
) -> dict[str, Any]:
    """Fitted attributes that follow from a network."""
    from skrep.nn._matryoshka import training_state

    learned = training_state(network)
    axes: FloatArray | None = start.axes[:n_components]
    coefs = intercepts = None
    if "rotation" in learned:
        m = start.n_turned
        turned = start.axes.copy()
        turned[:m] = learned["rotation"].T @ turned[:m]
        axes = fix_signs(turned[:n_components])
    elif "matrix" in learned:
        axes = fix_signs(learned["matrix"] @ start.axes / start.scale)
    else:
        coefs, intercepts = learned["layers"]
        coefs[0] = (start.axes / start.scale).T @ coefs[0]
        if estimator.residual:
            coefs[-1] = coefs[-1] * start.scale
            intercepts[-1] = intercepts[-1] * start.scale
        else:
            axes = None
        coefs, intercepts = ([p.astype(dtype) for p in a] for a in (coefs, intercepts))
    return {
        "components_": None if axes is None else axes.astype(dtype),
        "mean_": start.mean.astype(dtype),
        "coefs_": coefs,
        "intercepts_": intercepts,
    }
