"""What the losses of class separation share: means and scatter of one batch.

The algebra is NumPy on the host, in float64: its matrices are small, and a call of
NumPy costs a fraction of one of torch. The derivatives are closed forms.
"""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
import torch
from scipy.linalg import lapack
from torch import Tensor, nn

from skrep.typing import FloatArray

__all__ = [
    "KnownSlope",
    "ScatterLoss",
    "Scatters",
    "Slopes",
    "add_to_diagonal",
    "cholesky",
    "class_scatters",
    "read_batch",
    "ridged_slopes",
    "unwhitened",
    "whitened",
    "within_factor",
]

PRIORS = ("empirical", "uniform")

# Share of the total scatter under which that within the classes counts as none.
NO_SPREAD = 1e-12
# Share of the total scatter that stands under each direction of that within, so that
# rounding leaves it positive definite.
FLOOR = 1e-13
# Keeps the algebra of a batch of identical rows off the division by zero.
TINY = 1e-60


class Scatters(NamedTuple):
    """Moments of a batch whose rows fall into C classes; float64, k columns."""

    member: FloatArray
    """1 where a row is of a class; (n, C)."""
    weight: FloatArray | float
    """Weights of the rows as repeats; (n,), or one for all."""
    totals: FloatArray
    """Sum of the weights of each class; (C,)."""
    mass: FloatArray | float
    """Weights of the rows in the moments, of sum 1; (n, 1), or one for all."""
    shares: FloatArray
    """Priors of the classes, of sum 1; (C, 1)."""
    residuals: FloatArray
    """Rows minus the mean of their class; (n, k)."""
    means: FloatArray
    """Means of the classes minus the overall mean; (C, k)."""
    within: FloatArray
    """Weighted mean of the outer products of the residuals; (k, k)."""
    spread: float
    """Trace of `within`."""
    gap: float
    """Trace of the weighted mean of the outer products of the means."""


class Slopes(NamedTuple):
    """A loss and its derivatives in the moments of a batch."""

    value: float
    """The loss."""
    within: FloatArray
    """By the scatter within classes; symmetric, (k, k)."""
    means: FloatArray
    """By the means of the classes, over twice their shares; (C, k)."""
    rows: FloatArray | None = None
    """By the rows, beyond that by their means and scatter; (n, k)."""


class ScatterLoss(nn.Module, ABC):
    """Base of the losses that are functions of the class scatters of a batch.

    A subclass writes `_slopes`, which is called where there are two classes or
    more; the loss is 0, with a graph, for fewer, and where no row differs from the
    mean of its class.

    Parameters
    ----------
    ridge : float, default=0.01
        Share of a sphere of the same trace in the scatter within classes.
    priors : {"empirical", "uniform"}, default="empirical"
        Weights of the classes.
    """

    def __init__(self, *, ridge: float = 0.01, priors: str = "empirical") -> None:
        super().__init__()
        who = type(self).__name__
        if not 0 <= ridge <= 1:
            raise ValueError(
                f"{who}: 'ridge' must be from 0 to 1, got {ridge!r}. Use "
                f"{who}(ridge=0.01)."
            )
        if priors not in PRIORS:
            raise ValueError(
                f"{who}: 'priors' must be 'empirical' or 'uniform', got {priors!r}. "
                f"Use {who}(priors='empirical')."
            )
        self.ridge = ridge
        self.priors = priors

    def forward(
        self, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None = None
    ) -> Tensor:
        """Compute the loss of a batch.

        Parameters
        ----------
        embeddings : Tensor of shape (n_samples, n_components)
            Outputs of the network, of a floating type.
        y : Tensor of shape (n_samples,)
            Class of each row: integers of any values.
        sample_weight : Tensor of shape (n_samples,), default=None
            Weight 2 stands for the row twice, weight 0 for its absence; by default
            each is 1.

        Returns
        -------
        Tensor of shape ()
            The loss, in the dtype of `embeddings`.
        """
        rows, codes, weight = read_batch(
            type(self).__name__, embeddings, y, sample_weight
        )
        if not rows.numel():
            return rows.sum()
        with np.errstate(all="ignore"):
            value, slope = self._value_and_slope(
                rows.detach().cpu().double().numpy(),
                codes.cpu().numpy(),
                None if weight is None else weight.cpu().numpy(),
            )
        return KnownSlope.apply(rows, value, slope)

    def extra_repr(self) -> str:
        """Give the options, for the repr of the module.

        Returns
        -------
        str
            The options as they are written in a call.
        """
        return f"ridge={self.ridge}, priors={self.priors!r}"

    def _value_and_slope(
        self, rows: FloatArray, y: FloatArray, weight: FloatArray | None
    ) -> tuple[float, FloatArray]:
        s = class_scatters(rows, y, weight, self.priors == "uniform")
        if len(s.totals) == 1 or s.spread <= NO_SPREAD * s.gap:
            return 0.0, np.zeros_like(rows)
        slopes = self._slopes(s)
        # The residuals of a class, and the means of all, sum to 0: how the rows enter
        # the means that are subtracted makes no difference.
        slope = s.residuals @ slopes.within
        slope += s.member @ slopes.means
        slope *= 2 * s.mass
        if slopes.rows is not None:
            slope += slopes.rows
        return slopes.value, slope

    @abstractmethod
    def _slopes(self, scatters: Scatters) -> Slopes:
        """Loss of a batch of two classes or more, and its derivatives."""


class KnownSlope(torch.autograd.Function):
    """A loss whose derivative by the rows is known."""

    @staticmethod
    def forward(ctx: Any, rows: Tensor, value: float, slope: FloatArray) -> Tensor:
        ctx.save_for_backward(torch.from_numpy(slope).to(rows))
        return rows.new_tensor(value)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None]:
        if torch.is_grad_enabled():
            raise RuntimeError(
                "skrep.nn.losses: scatter losses have no second derivatives, got "
                "create_graph=True. Call loss.backward(create_graph=False)."
            )
        return slope * ctx.saved_tensors[0], None, None


def read_batch(
    who: str, embeddings: Tensor, y: Tensor, sample_weight: Tensor | None
) -> tuple[Tensor, Tensor, Tensor | None]:
    """Check a batch and drop its rows of weight 0.

    Parameters
    ----------
    who : str
        Name of the loss, the subject of messages.
    embeddings : Tensor of shape (n_samples, n_components)
        Outputs of a network.
    y : Tensor of shape (n_samples,)
        Integer class of each row.
    sample_weight : Tensor of shape (n_samples,) or None
        Weights.

    Returns
    -------
    rows : Tensor of shape (n_kept, n_components)
        Rows, with their graph, in the dtype given.
    codes : Tensor of shape (n_kept,)
        Their classes.
    weight : Tensor of shape (n_kept,) or None
        Their weights, float64 and without a graph; None if none were given.
    """
    if embeddings.ndim != 2 or not embeddings.is_floating_point():
        raise ValueError(
            f"{who}: 'embeddings' must be floats of shape (n_samples, n_components), "
            f"got {_kind(embeddings)}. Pass embeddings.float().flatten(1)."
        )
    device, n = embeddings.device, len(embeddings)
    y = torch.as_tensor(y, device=device)
    if y.is_floating_point() or y.is_complex():
        raise ValueError(
            f"{who}: 'y' must hold integer classes, got {_kind(y)}. Pass y.long()."
        )
    if y.shape != (n,):
        raise ValueError(
            f"{who}: 'y' must have one class for each of the {n} rows of 'embeddings', "
            f"got {_kind(y)}. Pass y.reshape(len(embeddings))."
        )
    if sample_weight is None:
        return embeddings, y, None
    weight = torch.as_tensor(sample_weight, device=device).detach().double()
    if weight.shape != (n,):
        raise ValueError(
            f"{who}: 'sample_weight' must have one weight for each of the {n} rows of "
            f"'embeddings', got {_kind(weight)}. Pass sample_weight.reshape("
            "len(embeddings))."
        )
    if n and not (lowest := float(weight.min())) >= 0:
        raise ValueError(
            f"{who}: 'sample_weight' must not be negative or NaN, got {lowest:g}. Pass "
            "sample_weight.clamp(min=0)."
        )
    if n and not torch.isfinite(weight).all():
        raise ValueError(
            f"{who}: 'sample_weight' must be finite. Pass "
            "torch.nan_to_num(sample_weight)."
        )
    kept = weight > 0
    return embeddings[kept], y[kept], weight[kept]


def class_scatters(
    rows: FloatArray,
    y: FloatArray,
    weight: FloatArray | None = None,
    uniform: bool = False,
) -> Scatters:
    """Compute means and scatter of the classes seen, in two passes.

    Parameters
    ----------
    rows : ndarray of shape (n_samples, n_components), float64
        One row or more.
    y : ndarray of shape (n_samples,)
        Classes.
    weight : ndarray of shape (n_samples,), default=None
        Positive weights.
    uniform : bool, default=False
        Whether all classes weigh the same.

    Returns
    -------
    Scatters
        The moments.
    """
    # No moment depends on where the origin is; at a row of the batch, rows that are
    # all equal are exactly 0.
    rows = rows - rows[0]
    member = (y[:, None] == np.unique(y)).astype(np.float64)
    totals = member.sum(0) if weight is None else weight @ member
    mass: FloatArray | float = 1 / len(rows)
    if weight is not None:
        mass = (weight / weight.sum())[:, None]
    if uniform:
        each = (member @ (1 / (len(totals) * totals)))[:, None]
        mass = each if weight is None else weight[:, None] * each
    shares = np.full((len(totals), 1), 1 / len(totals))
    if not uniform:
        shares = (totals / totals.sum())[:, None]
    means = (member.T @ (rows * mass)) / shares
    residuals = rows - member @ means
    means -= shares.T @ means
    within = residuals.T @ (residuals * mass)
    return Scatters(
        member,
        1.0 if weight is None else weight,
        totals,
        mass,
        shares,
        residuals,
        means,
        within,
        float(within.trace()),
        float((means * means * shares).sum()),
    )


def within_factor(scatters: Scatters, ridge: float) -> FloatArray:
    """Factor the within scatter, mixed with a sphere of its trace.

    Parameters
    ----------
    scatters : Scatters
        Moments of a batch.
    ridge : float
        Weight of the sphere, from 0 to 1.

    Returns
    -------
    ndarray of shape (n_components, n_components)
        Lower Cholesky factor of the mixture, which has a tiny share of the total
        scatter under it where classes have no spread of their own.
    """
    spread, gap = scatters.spread, scatters.gap
    mixture = (1 - ridge) * scatters.within
    sphere = ridge * spread / len(mixture) + FLOOR * (spread + gap) + TINY
    return cholesky(add_to_diagonal(mixture, sphere))


def ridged_slopes(
    scatters: Scatters,
    ridge: float,
    value: float,
    mixture: FloatArray,
    means: FloatArray,
    rows: FloatArray | None = None,
) -> Slopes:
    """Turn the derivative by the mixture of `within_factor` into those by moments.

    Parameters
    ----------
    scatters : Scatters
        Moments of a batch.
    ridge : float
        Weight of the sphere.
    value : float
        The loss.
    mixture : ndarray of shape (n_components, n_components)
        Derivative by the mixture, symmetric; written to.
    means : ndarray of shape (n_classes, n_components)
        Derivative by the means over twice their shares; written to.
    rows : ndarray of shape (n_samples, n_components), default=None
        Derivative by the rows that goes by none of them.

    Returns
    -------
    Slopes
        The derivatives.
    """
    trace = mixture.trace()
    mixture *= 1 - ridge
    add_to_diagonal(mixture, (ridge / len(mixture) + FLOOR) * trace)
    means += (FLOOR * trace) * scatters.means
    return Slopes(value, mixture, means, rows)


def add_to_diagonal(matrix: FloatArray, number: float) -> FloatArray:
    """Add a number to the diagonal of a matrix, in place.

    Parameters
    ----------
    matrix : ndarray of shape (k, k)
        Contiguous.
    number : float
        What is added.

    Returns
    -------
    ndarray of shape (k, k)
        The same matrix.
    """
    matrix.ravel("K")[:: len(matrix) + 1] += number
    return matrix


def cholesky(matrix: FloatArray) -> FloatArray:
    """Factor a positive definite matrix.

    Parameters
    ----------
    matrix : ndarray of shape (k, k)
        Positive definite; NaN is returned for others.

    Returns
    -------
    ndarray of shape (k, k)
        Lower factor.
    """
    factor, failure = lapack.dpotrf(matrix, lower=1)
    return factor * np.nan if failure else factor


def whitened(factor: FloatArray, rows: FloatArray) -> FloatArray:
    """Turn a covariance into the identity.

    Parameters
    ----------
    factor : ndarray of shape (k, k)
        Lower Cholesky factor of the covariance.
    rows : ndarray of shape (n, k)
        Rows.

    Returns
    -------
    ndarray of shape (k, n)
        Columns, each the solution of ``factor @ column = row``.
    """
    return lapack.dtrtrs(factor, rows.T, lower=1)[0]


def unwhitened(factor: FloatArray, columns: FloatArray) -> FloatArray:
    """Turn derivatives by whitened columns into those by the columns themselves.

    Parameters
    ----------
    factor : ndarray of shape (k, k)
        Lower Cholesky factor of the covariance.
    columns : ndarray of shape (k, n)
        Columns.

    Returns
    -------
    ndarray of shape (k, n)
        Columns, each the solution of ``factor.T @ column = given``.
    """
    return lapack.dtrtrs(factor, columns, lower=1, trans=1)[0]


def _kind(tensor: Tensor) -> str:
    return f"{str(tensor.dtype).removeprefix('torch.')} of shape {tuple(tensor.shape)}"
