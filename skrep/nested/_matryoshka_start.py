"""Where a Matryoshka projection begins: the closed form of its objective."""

from typing import NamedTuple

import numpy as np

from skrep.linalg import project_rows, weighted_mean
from skrep.nested._gather import N_SLICES
from skrep.nested._matryoshka_read import Sample
from skrep.nested._projection import NestedProjection
from skrep.typing import FloatArray

__all__ = ["Coordinates", "Head", "coordinates_of", "head_of", "spread_of"]

MOST_TURNED = 128
"""Axes that are turned at most: a rotation of more costs more than it brings."""

LEAST_TURNED = 8

NOISE = 0.5
"""Noise in training, in units of the spread within classes, or within pairs."""

_CLOSED_FORMS = {
    "classes": ("classes", "classes"),
    "regression": ("classes", "numbers"),
    "pairs": ("pairs", "auto"),
    "teacher": ("variance", "auto"),
}


class Coordinates(NamedTuple):
    """Coordinates in which a network begins.

    Parameters
    ----------
    axes : ndarray of shape (n_axes, n_features), float64
        Axes, as rows.
    mean : ndarray of shape (n_features,)
        Mean of the rows.
    other_mean : ndarray of shape (n_features,) or None
        Mean of the partners.
    scale : float
        What coordinates are divided by.
    n_turned : int
        Number of leading axes that a rotation may mix.
    """

    axes: FloatArray
    mean: FloatArray
    other_mean: FloatArray | None
    scale: float
    n_turned: int

    def leading(self, n_axes: int) -> "Coordinates":
        """Give the same with the leading axes alone."""
        return self._replace(axes=self.axes[:n_axes])

    def of(self, sample: Sample) -> tuple[FloatArray, FloatArray | None]:
        """Give the coordinates of rows and, if there are any, of their partners."""
        axes = self.axes / self.scale
        own = project_rows(sample.rows, axes, self.mean)
        if sample.pairs is None:
            return own, None
        return own, project_rows(sample.pairs, axes, self.other_mean)


class Head(NamedTuple):
    """A linear head.

    Parameters
    ----------
    weight : ndarray of shape (n_outputs, n_axes)
        Weights.
    bias : ndarray of shape (n_outputs,)
        The bias.
    """

    weight: FloatArray
    bias: FloatArray


def coordinates_of(sample: Sample, init: str) -> Coordinates:
    """Find the coordinates in which a network begins.

    Parameters
    ----------
    sample : Sample
        Rows to train on.
    init : {"closed_form", "random"}
        "closed_form" takes the axes of :class:`NestedProjection` for the objective,
        "random" the columns of X.

    Returns
    -------
    Coordinates
        All axes, scaled so that the strongest has a mean square of one.
    """
    X, weights = sample.rows, sample.weights
    mean: FloatArray = weighted_mean(X, weights)
    other = sample.pairs
    other_mean = None if other is None else weighted_mean(other, weights)
    axes: FloatArray
    axes, n_turned = np.eye(X.shape[1]), 0
    if init == "closed_form":
        objective, target_type = _CLOSED_FORMS[sample.objective]
        nested = NestedProjection(objective=objective, target_type=target_type)
        y = sample.codes if sample.numbers is None else sample.numbers
        nested.fit(X, y, pairs=sample.pairs, sample_weight=weights)
        axes = nested.components_.astype(np.float64)
        mean = np.asarray(nested.mean_)
        n_turned = min(len(axes), _telling(sample))
    squares = weights @ np.square(project_rows(X, axes, mean), dtype=np.float64)
    scale = float(np.sqrt(squares.max() / weights.sum())) or 1.0
    return Coordinates(axes, mean, other_mean, scale, n_turned)


def head_of(sample: Sample, rows: FloatArray) -> Head | None:
    """Find a head for coordinates that are uncorrelated, within classes at least.

    Parameters
    ----------
    sample : Sample
        Classes or numbers.
    rows : ndarray of shape (n_rows, n_axes)
        Coordinates.

    Returns
    -------
    Head or None
        Scores of linear discriminant analysis, or least squares; None where the
        objective has no head.
    """
    weights = sample.weights
    if sample.objective == "classes":
        shares, means, within = _class_moments(sample, rows)
        total = within + shares @ np.square(means)
        return Head(_over(means, within + 0.01 * total), np.log(shares))
    if sample.numbers is None:
        return None
    squares = weights @ np.square(rows, dtype=np.float64)
    slope = _over((weights * standard_numbers(sample, sample)) @ rows, squares)
    return Head(slope[None], np.zeros(1))


def spread_of(
    sample: Sample, rows: FloatArray, others: FloatArray | None
) -> FloatArray:
    """Measure the noise that is added in training.

    Parameters
    ----------
    sample : Sample
        Rows to train on.
    rows : ndarray of shape (n_rows, n_axes)
        Their coordinates.
    others : ndarray of shape (n_rows, n_axes) or None
        Coordinates of the partners.

    Returns
    -------
    ndarray of shape (n_axes,)
        Half of the deviation within classes, or of that between partners; zero for the
        other objectives.
    """
    if sample.objective == "classes":
        return np.asarray(NOISE * np.sqrt(_class_moments(sample, rows)[2]))
    if others is None:
        return np.zeros(rows.shape[1])
    gaps = np.square(rows - others, dtype=np.float64)
    return np.asarray(NOISE * np.sqrt(sample.weights @ gaps / sample.weights.sum()))


def standard_numbers(sample: Sample, train: Sample) -> FloatArray:
    """Bring numbers to mean 0 and deviation 1, as those of `train` have them."""
    assert sample.numbers is not None
    assert train.numbers is not None
    mean = np.average(train.numbers, weights=train.weights)
    gaps = train.numbers - mean
    size = np.sqrt(np.average(np.square(gaps), weights=train.weights))
    return np.asarray((sample.numbers - mean) / (size or 1.0))


def _telling(sample: Sample) -> int:
    """Number of axes that tell something of the target."""
    if sample.objective == "classes":
        n_telling = int(sample.codes.max())
    elif sample.objective == "regression":
        n_telling = N_SLICES - 1
    else:
        n_telling = MOST_TURNED
    return min(max(n_telling, LEAST_TURNED), MOST_TURNED)


def _class_moments(
    sample: Sample, rows: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Shares and means of the classes, and the mean square within them."""
    codes, weights = sample.codes, sample.weights
    counts = np.bincount(codes, weights)
    sums = np.zeros((len(counts), rows.shape[1]))
    np.add.at(sums, codes, rows * weights[:, None])
    means = sums / counts[:, None]
    gaps = np.square(rows - means[codes])
    return counts / counts.sum(), means, weights @ gaps / counts.sum()


def _over(one: FloatArray, other: FloatArray) -> FloatArray:
    return np.divide(one, other, out=np.zeros_like(one), where=other > 0)
