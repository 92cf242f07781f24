r"""One or two large gradient steps of a two-layer network, in closed form.

Rows z are whitened, in k dimensions, responses y standardized. The network is
:math:`f_c(z) = \sum_i a_{ic} \sigma(w_i^\top z)` with :math:`w_i \sim N(0, I/k)` and
:math:`a_{ic} \sim N(0, 1/N)`; it descends on squared error with its own outputs, small
at first, left out of the residual.
"""

from math import factorial
from typing import Final, NamedTuple

import numpy as np
import scipy.linalg

from skrep.index_model._step_activations import gaussian_slope, hermite
from skrep.linalg import Whitening, moment_blocks
from skrep.typing import AnyArray, FloatArray
from skrep.utils import row_blocks

__all__ = [
    "MAX_ORDER",
    "Sample",
    "Step",
    "first_step",
    "new_orders",
    "second_step",
    "spike_directions",
]

MAX_ORDER: Final = 3
"""The last order of the staircase; its moments are of degree five in the rows."""

_NOTHING: Final = 1e-10


class Sample(NamedTuple):
    """What the gradient is a mean over.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    shares : ndarray of shape (n_rows,)
        Weights that sum to one.
    Y : ndarray of shape (n_rows, n_responses)
        Responses of mean 0 and variance 1.
    white : Whitening
        The map from rows to z.
    """

    X: FloatArray
    shares: FloatArray
    Y: FloatArray
    white: Whitening

    @property
    def weighted(self) -> FloatArray:
        """Responses times shares."""
        return self.Y * self.shares[:, None]


class Step(NamedTuple):
    """The weights after a step, and what they owe to the responses.

    Parameters
    ----------
    weights : ndarray of shape (rank, n_neurons)
        Weights on z.
    spikes : tuple of ndarray of shape (rank, n_columns)
        What the low-rank terms lie in, one array for each order.
    bulk : ndarray of shape (rank, n_neurons)
        The terms :math:`\\sum_c a_{ic} A_c w_i`; zeros where they are not needed.
    covariance : ndarray of shape (rank, rank)
        Mean of :math:`k\\, w w^\\top` over draws of the network, for one step.
    """

    weights: FloatArray
    spikes: tuple[FloatArray, ...]
    bulk: FloatArray
    covariance: FloatArray


def first_step(
    sample: Sample, start: FloatArray, readout: FloatArray, activation: str, rate: float
) -> Step:
    r"""Take one gradient step.

    The slopes expand into Hermite polynomials, of which those of degree 0 and 1 stay:

    .. math:: w_i \mapsto w_i + \eta \sum_c a_{ic} (c_1 \beta_c + c_2 A_c w_i), \quad
        \beta_c = E[y_c z], \quad A_c = E[y_c z z^\top],

    with :math:`c_m = E[\sigma^{(m)}(Z)]`; :math:`c_2` is 0 for odd activations.

    Parameters
    ----------
    sample : Sample
        Rows and responses.
    start : ndarray of shape (rank, n_neurons)
        Weights before the step.
    readout : ndarray of shape (n_responses, n_neurons)
        The weights a.
    activation : str
        A key of `ACTIVATIONS`.
    rate : float
        The learning rate.

    Returns
    -------
    Step
        The weights after it.
    """
    slope, bend = (gaussian_slope(activation, k, np.ones(1))[0] for k in (0, 1))
    rank, n_neurons = start.shape
    B = _first_moments(sample, sample.weighted)
    bulk = np.zeros_like(start)
    unit = rate**2 / n_neurons
    covariance = np.eye(rank) + unit * rank * slope**2 * (B @ B.T)
    if abs(bend) > _NOTHING:
        for weighted, a in zip(sample.weighted.T, readout, strict=True):
            A = _second_moments(sample, weighted)
            bulk += (A @ start) * a
            covariance += unit * bend**2 * (A @ A)
    weights = start + rate * (slope * (B @ readout) + bend * bulk)
    return Step(weights, (B,), bulk, covariance)


def second_step(
    sample: Sample,
    first: Step,
    readout: FloatArray,
    activation: str,
    rate: float,
    orders: tuple[int, ...],
) -> Step:
    r"""Take another step from the weights that the first has left.

    Of neuron i the first step has moved the input by :math:`\tau_i s`, where s is a
    coordinate of unit variance in the span of the :math:`\beta_c`. The slopes expand
    into Hermite polynomials of s,

    .. math:: w_i \mapsto w_i + \eta \sum_c a_{ic} \sum_{m \ge 0} \frac{h_m(\tau_i)}{m!}
        E[y_c He_m(s) z], \quad h_m(\tau) = \rho^m E[\sigma'(r Z) He_m(Z)],

    with :math:`r^2 = 1 + \tau^2` and :math:`\rho = \tau / r`, and into degree 1 of what
    the neuron was before, :math:`E[\sigma''(r Z)] A_c w_i`. For small steps
    :math:`h_m(\tau) \approx c_{m+1} \tau^m`; unlike powers of :math:`\tau s` the terms
    stay bounded where steps are large.

    Parameters
    ----------
    sample : Sample
        Rows and responses: those of the first step.
    first : Step
        The first step.
    readout : ndarray of shape (n_responses, n_neurons)
        The weights a.
    activation : str
        A key of `ACTIVATIONS`.
    rate : float
        The learning rate of both.
    orders : tuple of int
        Which m of the sum above are kept beside m = 0.

    Returns
    -------
    Step
        The weights after it; the covariance is that of the first.
    """
    slope = gaussian_slope(activation, 0, np.ones(1))[0]
    (B,) = first.spikes
    shifts = rate * slope * (B @ readout)
    moved = np.linalg.norm(shifts, axis=0)
    shared, amplitudes = readout, np.ones(readout.shape[1])
    if len(readout) == 1:
        # All neurons share one direction: the moments are those of a single neuron.
        moved = rate * slope * float(np.linalg.norm(B)) * readout[0]
        shared, amplitudes = np.ones((1, 1)), readout[0]
        shifts = B
    directions = shifts / np.maximum(np.linalg.norm(shifts, axis=0), _NOTHING)
    spread = np.hypot(1, moved)
    share = moved / spread
    terms = _staircase(sample, directions, shared, orders)
    change = (B @ readout) * gaussian_slope(activation, 0, spread)
    for m, term in zip(orders, terms, strict=True):
        size = gaussian_slope(activation, m, spread) * share**m / factorial(m)
        change += term * (amplitudes * size)
    change += first.bulk * (gaussian_slope(activation, 1, spread) / spread)
    weights = first.weights + rate * change
    return Step(weights, (B, *terms), first.bulk, first.covariance)


def new_orders(activation: str, rate: float, n_neurons: int) -> tuple[int, ...]:
    r"""List the orders m >= 1 at which a second step adds directions that stand out.

    With :math:`\eta = N^\alpha` in both steps the term of order m is of size
    :math:`N^{\alpha - m(1/2 - \alpha)}`: it does not vanish up to
    :math:`\lfloor \alpha / (1/2 - \alpha) \rfloor`, and never from :math:`\alpha = 1/2`
    on. Terms whose coefficient :math:`c_{m+1}` is zero are absent.

    Parameters
    ----------
    activation : str
        A key of `ACTIVATIONS`.
    rate : float
        The learning rate.
    n_neurons : int
        Number of neurons N.

    Returns
    -------
    tuple of int
        The orders, at most `MAX_ORDER`.

    Examples
    --------
    >>> from skrep.index_model._spikes import new_orders
    >>> new_orders("relu", 256**0.25, 256), new_orders("erf", 256**0.25, 256)
    ((1,), ())
    >>> new_orders("relu", 16.0, 256), new_orders("erf", 16.0, 256)
    ((1, 3), (2,))
    """
    last = MAX_ORDER
    if rate < np.sqrt(n_neurons) * (1 - 1e-9):
        exponent = np.log(rate) / np.log(n_neurons) if rate > 1 else 0.0
        last = min(last, int(exponent / (0.5 - exponent) + 1e-9))
    return tuple(
        m
        for m in range(1, last + 1)
        if abs(gaussian_slope(activation, m, np.ones(1))[0]) > _NOTHING
    )


def spike_directions(spikes: tuple[FloatArray, ...], rank: int) -> FloatArray:
    """Give a basis of what the low-rank terms lie in, order by order.

    Parameters
    ----------
    spikes : tuple of ndarray of shape (rank, n_columns)
        The terms of each order.
    rank : int
        Number of dimensions.

    Returns
    -------
    ndarray of shape (rank, n_spikes)
        Orthonormal columns, those of an order by decreasing size; the first ones span
        the first order, and so on.
    """
    basis = np.zeros((rank, 0))
    for term in spikes:
        size = np.linalg.norm(term)
        # Twice is enough.
        rest = term - basis @ (basis.T @ term)
        rest -= basis @ (basis.T @ rest)
        U, values, _ = scipy.linalg.svd(rest, full_matrices=False)
        basis = np.hstack([basis, U[:, values > _NOTHING * size]])
    return basis


def _first_moments(sample: Sample, weighted: FloatArray) -> FloatArray:
    """Means of z times each column of shape (n_rows, n_columns), shares included."""
    X, white = sample.X, sample.white
    total = np.zeros((X.shape[1], weighted.shape[1]))
    for rows in row_blocks(len(X), 8 * X.shape[1]):
        total += (X[rows] - white.mean).T @ weighted[rows]
    return white.map.T @ total


def _second_moments(sample: Sample, weighted: FloatArray) -> FloatArray:
    """Mean of zz' times a column, shares included."""
    X, white = sample.X, sample.white
    total = np.zeros((X.shape[1], X.shape[1]))
    for rows in moment_blocks(X):
        gaps = X[rows] - white.mean
        total += gaps.T @ (gaps * weighted[rows, None])
    return white.map.T @ total @ white.map


def _staircase(
    sample: Sample, directions: FloatArray, readout: FloatArray, orders: tuple[int, ...]
) -> tuple[FloatArray, ...]:
    """Means of z He_m(s) y, one column for each direction s and its readout of y."""
    X, white, weighted = sample.X, sample.white, sample.weighted
    axes = white.map @ directions
    totals: list[AnyArray] = [np.zeros((X.shape[1], axes.shape[1])) for _ in orders]
    for rows in row_blocks(len(X), 8 * (X.shape[1] + 3 * axes.shape[1])):
        gaps = X[rows] - white.mean
        s, y = gaps @ axes, weighted[rows] @ readout
        for total, m in zip(totals, orders, strict=True):
            total += gaps.T @ (hermite(m, s) * y)
    return tuple(white.map.T @ total for total in totals)
