"""Random draws: a mixture of classes, and group elements applied to its rows."""

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from skrep.typing import FloatArray, IntArray

__all__ = ["RELATIONS", "RandomSource", "draw_mixture"]

RandomSource: TypeAlias = np.random.Generator | np.random.RandomState
Relation: TypeAlias = Callable[[FloatArray, RandomSource], FloatArray]

MAX_STRETCH = 10.0
"""Largest ratio of two scales that a drawn map may hold: its condition number."""


def draw_mixture(
    labels: IntArray, n_means: int, n_features: int, sep: float, rng: RandomSource
) -> FloatArray:
    """Gaussian classes of decaying variances, around a mean off the origin."""
    # Two drawn means differ by 2 per whitened column in expected square.
    means = sep / np.sqrt(2 * n_features) * rng.standard_normal((n_means, n_features))
    whitened = means[labels] + rng.standard_normal((labels.shape[0], n_features))
    scales = 1 / np.sqrt(np.arange(1, n_features + 1))
    rows = (
        whitened * (scales / np.linalg.norm(scales)) @ _draw_rotation(n_features, rng)
    )
    # Real embeddings sit in a cone: a mean about as long as the spread around it.
    return np.asarray(rows + _draw_direction(n_features, rng))


def _draw_rotation(size: int, rng: RandomSource) -> FloatArray:
    """Orthogonal matrix, uniform (Haar) once QR's free signs are fixed."""
    q, r = np.linalg.qr(rng.standard_normal((size, size)))
    return np.asarray(q * np.where(np.diag(r) < 0, -1.0, 1.0))


def _draw_direction(size: int, rng: RandomSource) -> FloatArray:
    vector = rng.standard_normal(size)
    return np.asarray(vector / np.linalg.norm(vector))


def _draw_scales(size: int, rng: RandomSource) -> FloatArray:
    reach = np.log(MAX_STRETCH) / 2
    return np.asarray(np.exp(rng.uniform(-reach, reach, size)))


def _orthogonal(X: FloatArray, rng: RandomSource) -> FloatArray:
    return np.asarray(X @ _draw_rotation(X.shape[1], rng))


def _similarity(X: FloatArray, rng: RandomSource) -> FloatArray:
    return _translation(_positive_scaling(_orthogonal(X, rng), rng), rng)


def _linear(X: FloatArray, rng: RandomSource) -> FloatArray:
    return _orthogonal(_column_scaling(_orthogonal(X, rng), rng), rng)


def _affine(X: FloatArray, rng: RandomSource) -> FloatArray:
    return _translation(_linear(X, rng), rng)


def _column_permutation(X: FloatArray, rng: RandomSource) -> FloatArray:
    return X[:, rng.permutation(X.shape[1])]


def _column_scaling(X: FloatArray, rng: RandomSource) -> FloatArray:
    return X * _draw_scales(X.shape[1], rng)


def _translation(X: FloatArray, rng: RandomSource) -> FloatArray:
    length = np.sqrt(np.mean(np.sum(X**2, axis=1)))
    return X + length * _draw_direction(X.shape[1], rng)


def _positive_scaling(X: FloatArray, rng: RandomSource) -> FloatArray:
    return X * _draw_scales(1, rng)


RELATIONS: dict[str, Relation] = {
    "orthogonal": _orthogonal,
    "similarity": _similarity,
    "invertible_linear": _linear,
    "invertible_affine": _affine,
    "column_permutation": _column_permutation,
    "column_scaling": _column_scaling,
    "translation": _translation,
    "positive_scaling": _positive_scaling,
}
