"""Rows as tensors, cut into batches that hold every class in its share."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import torch

from skrep.typing import IntArray

__all__ = ["Batch", "Batches", "Rows", "spread_classes"]

Batch: TypeAlias = tuple[torch.Tensor, torch.Tensor, torch.Tensor | None]


@dataclass(frozen=True)
class Rows:
    """Rows to train on, of which batches are taken by position.

    Parameters
    ----------
    take : callable
        Gives the rows at the positions of an integer array, as a tensor on the device.
    codes : ndarray of shape (n_rows,)
        Classes of the rows, from 0 on.
    targets : Tensor of shape (n_rows,)
        What the loss gets for them.
    weights : Tensor of shape (n_rows,) or None
        Weights of the rows, if they are not all one.
    """

    take: Callable[[IntArray], torch.Tensor]
    codes: IntArray
    targets: torch.Tensor
    weights: torch.Tensor | None

    def __len__(self) -> int:
        return len(self.codes)

    def at(self, positions: IntArray) -> Batch:
        """Give the rows at some positions.

        Parameters
        ----------
        positions : ndarray of int
            The positions.

        Returns
        -------
        tuple
            Rows, targets and weights.
        """
        where = torch.from_numpy(positions).to(self.targets.device)
        weights = None if self.weights is None else self.weights[where]
        return self.take(positions), self.targets[where], weights


class Batches:
    """Batches of one pass after another over the same rows.

    Parameters
    ----------
    rows : Rows
        The rows.
    batch_size : int
        About how many rows a batch has: what is left over is dealt to the others.
    seed : Generator or None
        The source of new orders, one per pass; None repeats one order.
    """

    def __init__(self, rows: Rows, batch_size: int, seed: Any) -> None:
        self.rows = rows
        self.n_batches = max(1, len(rows) // batch_size)
        self.seed = seed

    def __iter__(self) -> Iterator[Batch]:
        seed = np.random.default_rng(0) if self.seed is None else self.seed
        order = spread_classes(self.rows.codes, seed)
        yield from map(self.rows.at, np.array_split(order, self.n_batches))


def spread_classes(codes: IntArray, seed: np.random.Generator) -> IntArray:
    """Order rows so that every stretch holds the classes in their shares.

    The rows of a class are shuffled and spread evenly, with a random phase.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Classes of the rows, from 0 on.
    seed : Generator
        The source of the order.

    Returns
    -------
    ndarray of shape (n_rows,)
        Positions of the rows, in their new order.
    """
    counts = np.bincount(codes)
    shuffled = seed.permutation(len(codes))
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    sorted_codes = codes[by_class]
    first = np.cumsum(counts) - counts
    rank = np.arange(len(codes)) - first[sorted_codes]
    phase = seed.random(len(counts))
    place = (rank + phase[sorted_codes]) / counts[sorted_codes]
    order: IntArray = by_class[np.argsort(place, kind="stable")]
    return order
