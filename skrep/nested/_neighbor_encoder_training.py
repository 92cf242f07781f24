"""Rows and their neighbors, as what an encoder is trained on."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from skrep._neural import check_embedded, training_plan, training_rows
from skrep.geometry import unit_rows
from skrep.linalg import Moments, fix_signs
from skrep.nested._distinct import CenteredRows
from skrep.nested._neighbors import second_moment
from skrep.nested._objectives import Contrast, Statistics, ordered_axes
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks
from skrep.utils.mlp import mlp_forward
from skrep.utils.validation import check_overflow

__all__ = [
    "PROJECTOR",
    "Neighborhoods",
    "closed_form",
    "nearest_rows",
    "principal_outputs",
    "start_training",
]

BATCH = 512
"""Rows of a step: correlations of fewer are noise."""

PROJECTOR = 256
"""Width of the layers that are thrown away after training."""


class Neighborhoods(NamedTuple):
    """Rows to train on, and which rows are near to them.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Rows about their mean, with mean square 1.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    mean : ndarray of shape (n_features,)
        Their mean, in the units of X.
    unit : float
        What was divided by.
    train, held_out : ndarray of int
        Positions of the rows on either side.
    near : ndarray of shape (n_rows, n_neighbors)
        Positions of each row's neighbors, all of them of the rows to train on.
    """

    rows: FloatArray
    weights: FloatArray
    mean: FloatArray
    unit: float
    train: IntArray
    held_out: IntArray
    near: IntArray

    @classmethod
    def of(
        cls,
        centered: CenteredRows,
        dtype: Any,
        train: IntArray,
        held_out: IntArray,
        n_neighbors: int,
    ) -> "Neighborhoods":
        """Find the neighbors.

        Parameters
        ----------
        centered : CenteredRows
            Distinct rows.
        dtype : dtype
            Float type to train in.
        train, held_out : ndarray of int
            Positions of the rows on either side.
        n_neighbors : int
            Neighbors of a row.

        Returns
        -------
        Neighborhoods
            The rows with their neighbors.
        """
        rows, weights = centered.rows, centered.weights
        squares = np.einsum("ij,ij->i", rows, rows)
        square = float(weights @ squares) / (weights.sum() * rows.shape[1])
        near = np.empty((len(rows), n_neighbors), dtype=np.intp)
        near[train] = train[nearest_rows(rows[train], None, n_neighbors)]
        if len(held_out):
            found = nearest_rows(rows[train], rows[held_out], n_neighbors)
            near[held_out] = train[found]
        return cls(
            (rows / np.sqrt(square)).astype(dtype),
            weights,
            centered.mean,
            centered.scale * float(np.sqrt(square)),
            train,
            held_out,
            near,
        )


def nearest_rows(
    rows: FloatArray, others: FloatArray | None, n_neighbors: int
) -> IntArray:
    """Find the nearest rows by cosine, block by block.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, n_features)
        Centered rows, among which neighbors are looked for.
    others : ndarray of shape (n_others, n_features) or None
        The rows whose neighbors are wanted; None is `rows`, of which none is its own
        neighbor.
    n_neighbors : int
        Number of neighbors.

    Returns
    -------
    ndarray of shape (n_others, n_neighbors)
        Their positions, in rising order.
    """
    U = unit_rows(rows.astype(np.float32))[0]
    V = U if others is None else unit_rows(others.astype(np.float32))[0]
    near = np.empty((len(V), n_neighbors), dtype=np.intp)
    for block in row_blocks(len(V), 12 * len(U), budget=2**25):
        scores = V[block] @ U.T
        if others is None:
            each = np.arange(len(scores))
            scores[each, block.start + each] = -np.inf
        near[block] = np.argpartition(scores, -n_neighbors, axis=1)[:, -n_neighbors:]
    return np.sort(near, axis=1)


def closed_form(data: Neighborhoods) -> FloatArray:
    """Solve the linear problem: the axes of the objective "neighbors".

    Parameters
    ----------
    data : Neighborhoods
        The rows.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        The axes as columns, the first first.
    """
    rows, weights = data.rows[data.train], data.weights[data.train]
    noise = np.zeros((rows.shape[1], rows.shape[1]))
    for place in data.near[data.train].T:
        noise += second_moment(rows - data.rows[place].astype(np.float64), weights)
    statistics = Statistics(
        Moments.of(rows, weights).covariance,
        contrasts={"neighbors": Contrast((), noise)},
    )
    return ordered_axes(statistics, "neighbors").directions


def start_training(
    estimator: Any,
    data: Neighborhoods,
    n_components: int,
    start: FloatArray | None,
    draws: np.random.Generator,
) -> Any:
    """Begin the training of an encoder.

    Parameters
    ----------
    estimator : estimator
        Whose parameters say how.
    data : Neighborhoods
        The rows.
    n_components : int
        Number of columns of the encoder.
    start : ndarray of shape (n_features, n_components) or None
        The linear map it starts from; None for random weights.
    draws : Generator
        The source of batches and of neighbors.

    Returns
    -------
    Training
        The training.
    """
    import torch

    from skrep.nn._net import Training
    from skrep.nn._twins import Twins, start_as_linear
    from skrep.nn.losses import RedundancyReductionLoss

    size = estimator.batch_size

    def build() -> Any:
        hidden = estimator.hidden or ()
        network = Twins(data.rows.shape[1], n_components, hidden, PROJECTOR)
        if start is not None:
            start_as_linear(network.encoder, start)
        return network

    near = data.near[data.train]
    single = data.rows.dtype == np.float32
    return Training(
        type(estimator).__name__,
        build,
        RedundancyReductionLoss(),
        training_plan(estimator, BATCH if size == "auto" else size),
        n_outputs=2 * PROJECTOR,
        rows=_pairs(
            data,
            data.train,
            lambda at: near[at, draws.integers(near.shape[1], size=len(at))],
            estimator.device,
        ),
        held_out=_held_out_pairs(data, estimator.device),
        seed=draws,
        dtype=torch.float32 if single else torch.float64,
    )


def _held_out_pairs(data: Neighborhoods, device: str) -> Any:
    """Each row that is held out beside each of its neighbors: nothing is drawn."""
    if not len(data.held_out):
        return None
    partners = data.near[data.held_out].ravel()
    positions = np.repeat(data.held_out, data.near.shape[1])
    return _pairs(data, positions, partners.__getitem__, device)


def _pairs(
    data: Neighborhoods,
    positions: IntArray,
    partners: Callable[[IntArray], IntArray],
    device: str,
) -> Any:
    import torch

    rows = torch.from_numpy(data.rows).to(device)

    def take(at: IntArray) -> torch.Tensor:
        sides = positions[at], partners(at)
        return torch.hstack([rows[torch.from_numpy(one).to(device)] for one in sides])

    no_targets = np.zeros(len(positions), dtype=np.intp)
    return training_rows(take, no_targets, data.weights[positions], device)


def principal_outputs(
    estimator: Any,
    coefs: list[FloatArray],
    intercepts: list[FloatArray],
    data: Neighborhoods,
) -> tuple[list[FloatArray], list[FloatArray], FloatArray]:
    """Turn outputs to their principal axes, and take rows in the units of X.

    Parameters
    ----------
    estimator : estimator
        The estimator that is named in errors.
    coefs, intercepts : list of ndarray
        Layers of the encoder.
    data : Neighborhoods
        The rows.

    Returns
    -------
    coefs, intercepts : list of ndarray
        Layers whose outputs have mean 0, no correlations and falling variances over
        the rows.
    variances : ndarray of shape (n_components,)
        Those variances.

    Raises
    ------
    ValueError
        If outputs are not finite.
    """
    blocks = row_blocks(len(data.rows), 8 * max(part.shape[1] for part in coefs))
    Z = np.concatenate([mlp_forward(data.rows[b], coefs, intercepts) for b in blocks])
    check_embedded(estimator, Z)
    moments = Moments.of(Z, data.weights)
    variances, axes = np.linalg.eigh(moments.covariance)
    turned = coefs[-1] @ axes[:, ::-1]
    last = fix_signs(turned.T).T
    signs = np.where(np.einsum("ij,ij->j", turned, last) < 0, -1.0, 1.0)
    intercept = ((intercepts[-1] - moments.mean) @ axes[:, ::-1]) * signs
    layers, biases = [*coefs[:-1], last], [*intercepts[:-1], intercept]
    dtype = data.rows.dtype
    with np.errstate(over="ignore"):
        layers[0] = (layers[0] / data.unit).astype(dtype)
    check_overflow(type(estimator).__name__, layers[0])
    return (
        [part.astype(dtype, copy=False) for part in layers],
        [part.astype(dtype, copy=False) for part in biases],
        np.maximum(variances[::-1], 0).astype(dtype),
    )
