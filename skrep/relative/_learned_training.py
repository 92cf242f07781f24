"""Training of the anchors of two spaces."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from skrep._neural import (
    check_network_params,
    draw_seed,
    hold_out_rows,
    require_torch,
    run_training,
    training_plan,
    training_rows,
)
from skrep.relative._learned_pairs import PairSample, pick_anchors, prepare_pairs
from skrep.relative._token_sets import RowSets
from skrep.typing import FloatArray, IntArray

__all__ = ["train_anchors"]

BATCH_SIZE = 256


def train_anchors(
    estimator: Any,
    sides: tuple[RowSets, RowSets],
    weights: FloatArray,
    unpaired: tuple[RowSets | None, RowSets | None],
    state: Callable[[PairSample, FloatArray, FloatArray], dict[str, Any]],
    told: Mapping[str, Any],
) -> dict[str, Any]:
    """Train the anchors of two spaces on pairs.

    Parameters
    ----------
    estimator : estimator
        Whose parameters say how.
    sides : tuple of RowSets
        Rows and their partners.
    weights : ndarray of shape (n_pairs,)
        Non-negative weights.
    unpaired : tuple of (RowSets or None)
        Rows of either side whose partners are unknown.
    state : callable
        Gives the fitted attributes that follow from the sample and the anchors of both
        sides, as vectors from the centers.
    told : mapping
        What callbacks of scikit-learn are told: X, y and metadata.

    Returns
    -------
    dict
        Fitted attributes by name.

    Raises
    ------
    ImportError
        If torch or skorch is not installed.
    ValueError
        If a parameter does not suit, pairs are too few, or training diverges.
    """
    who = type(estimator).__name__
    require_torch(who)
    check_network_params(estimator)
    if estimator.batch_size == 1:
        raise ValueError(
            f"{who}: 'batch_size' is 1, and a pair is told from the others of its "
            'batch. Pass batch_size="auto", or 2 at least.'
        )
    seed = draw_seed(estimator)
    rng = np.random.RandomState(seed)
    sample = prepare_pairs(who, sides, weights, unpaired, estimator.pooling, rng)
    train: IntArray = np.arange(len(sample.weights))
    held: IntArray | None = None
    fraction = estimator.validation_fraction
    if fraction is not None:
        train, held = hold_out_rows(who, np.zeros_like(train), fraction, seed)
        if min(len(train), len(held)) < 2:
            raise ValueError(
                f"{who}: 'validation_fraction' is {fraction}, and of {len(train)} + "
                f"{len(held)} pairs one side of the split has fewer than 2. Pass more "
                "pairs, or validation_fraction=None."
            )
    light = all(side.tokens.dtype == np.float32 for side in sides)
    start = pick_anchors(who, sample.at(train), estimator.n_anchors, rng)
    return run_training(
        estimator,
        seed,
        lambda draws: _training(estimator, sample, train, held, start, draws, light),
        lambda network: state(sample, *map(_array, network.parameters())),
        told,
    )


def _training(
    estimator: Any,
    sample: PairSample,
    train: IntArray,
    held: IntArray | None,
    start: tuple[FloatArray, FloatArray],
    draws: np.random.Generator,
    light: bool,
) -> Any:
    import torch

    from skrep.nn._anchors import AnchorPair, PairContrast, Side
    from skrep.nn._net import Training

    def side(rows: RowSets, anchors: FloatArray) -> Side:
        tokens, counts = torch.from_numpy(rows.tokens), torch.from_numpy(rows.counts)
        return Side(tokens, counts, torch.from_numpy(anchors), estimator.pooling)

    def rows(at: IntArray) -> Any:
        device = estimator.device
        return training_rows(
            lambda positions: torch.from_numpy(at[positions]).to(device),
            sample.codes[at],
            sample.weights[at],
            device,
        )

    size = estimator.batch_size
    if size == "auto":
        size = BATCH_SIZE
    return Training(
        type(estimator).__name__,
        lambda: AnchorPair(side(sample.x, start[0]), side(sample.y, start[1])),
        PairContrast(),
        training_plan(estimator, size),
        n_outputs=2 * len(start[0]),
        rows=rows(train),
        held_out=None if held is None else rows(held),
        seed=draws,
        dtype=torch.float32 if light else torch.float64,
    )


def _array(anchors: Any) -> FloatArray:
    found: FloatArray = anchors.detach().cpu().numpy().astype(np.float64)
    return found
