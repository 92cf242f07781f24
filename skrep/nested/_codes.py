"""Columns as few bits: even steps of a range, or one side of a threshold."""

from typing import NamedTuple

import numpy as np

from skrep.linalg import weighted_mean
from skrep.typing import AnyArray, FloatArray
from skrep.utils import row_blocks

__all__ = [
    "LEVELS",
    "Sides",
    "column_ranges",
    "decode_bits",
    "decode_levels",
    "encode_bits",
    "encode_levels",
    "level_steps",
    "measure_sides",
]

LEVELS = 256


class Sides(NamedTuple):
    """Where columns are split, and what stands for each side.

    Parameters
    ----------
    threshold : ndarray of shape (n_features,)
        The split: a number above it has bit 1.
    means : ndarray of shape (2, n_features)
        Mean of the numbers that have bit 0 and of those that have bit 1.
    """

    threshold: FloatArray
    means: FloatArray


def column_ranges(X: FloatArray, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Find the smallest and largest number of each column.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights, not all zero; rows of weight zero do not count.

    Returns
    -------
    lowest, highest : ndarray of shape (n_features,)
        In the float type of X.
    """
    present = weights > 0
    lowest = np.full(X.shape[1], np.inf, dtype=X.dtype)
    highest = -lowest
    for rows in row_blocks(X.shape[0], X.dtype.itemsize * X.shape[1]):
        block = X[rows] if present[rows].all() else X[rows][present[rows]]
        if len(block):
            np.minimum(lowest, block.min(axis=0), out=lowest)
            np.maximum(highest, block.max(axis=0), out=highest)
    return lowest, highest


def level_steps(lowest: FloatArray, highest: FloatArray) -> FloatArray:
    """Cut ranges into 255 even steps.

    Parameters
    ----------
    lowest, highest : ndarray of shape (n_features,)
        The ranges.

    Returns
    -------
    ndarray of shape (n_features,)
        The steps; 0 for a column whose range is too small to be cut.
    """
    steps = highest / (LEVELS - 1) - lowest / (LEVELS - 1)
    return np.where(steps < np.finfo(steps.dtype).tiny, steps.dtype.type(0), steps)


def encode_levels(X: FloatArray, lowest: FloatArray, steps: FloatArray) -> AnyArray:
    r"""Round to the nearest level, :math:`\min(\max((x - l) / s, 0), 255)`.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows; what lies beyond the range is clipped to its ends.
    lowest : ndarray of shape (n_features,)
        The numbers of code 0.
    steps : ndarray of shape (n_features,)
        What one code more adds; 0 gives code 0 to all.

    Returns
    -------
    ndarray of shape (n_rows, n_features), uint8
        The codes.
    """
    lowest = lowest.astype(X.dtype, copy=False)
    steps = steps.astype(X.dtype, copy=False)
    per_step = np.divide(1, steps, out=np.zeros_like(steps), where=steps > 0)
    codes = np.empty(X.shape, dtype=np.uint8)
    for rows in row_blocks(X.shape[0], X.dtype.itemsize * X.shape[1]):
        scaled = X[rows] - lowest
        scaled *= per_step
        np.clip(scaled, 0, LEVELS - 1, out=scaled)
        np.rint(scaled, out=scaled)
        codes[rows] = scaled
    return codes


def decode_levels(codes: AnyArray, lowest: FloatArray, steps: FloatArray) -> FloatArray:
    """Give the numbers that the codes stand for.

    Parameters
    ----------
    codes : ndarray of shape (n_rows, n_features), uint8
        The codes.
    lowest, steps : ndarray of shape (n_features,)
        As in `encode_levels`.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Numbers, at most half a step from those encoded where these were in the range.
    """
    rows: FloatArray = np.multiply(codes, steps, dtype=steps.dtype)
    rows += lowest
    return rows


def measure_sides(X: FloatArray, weights: FloatArray) -> Sides:
    """Split columns at their means, and take the mean of either side.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Non-negative weights, not all zero.

    Returns
    -------
    Sides
        The threshold and the means, in the float type of X.
    """
    lowest, highest = column_ranges(X, weights)
    # Rounding must not push the mean out of the range: a constant stays itself.
    mean = weighted_mean(X, weights)
    threshold = np.clip(mean.astype(X.dtype), lowest, highest)
    weights = weights / weights.sum()
    mass, offset = np.zeros((2, X.shape[1]))
    for rows in row_blocks(X.shape[0], 16 * X.shape[1]):
        beyond = X[rows].astype(np.float64)
        beyond -= threshold
        np.maximum(beyond, 0, out=beyond)
        offset += weights[rows] @ beyond
        mass += weights[rows] @ (beyond > 0)
    # What is above the mean is missing below it.
    masses = np.array([1 - mass, mass])
    offsets = np.array([mean - threshold - offset, offset])
    means = threshold + offsets / np.where(masses > 0, masses, 1)
    return Sides(threshold, np.clip(means, lowest, highest).astype(X.dtype))


def encode_bits(X: FloatArray, threshold: FloatArray) -> AnyArray:
    """Set one bit per number above the threshold, packed eight to a byte.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Rows.
    threshold : ndarray of shape (n_features,)
        The threshold.

    Returns
    -------
    ndarray of shape (n_rows, ceil(n_features / 8)), uint8
        Column 0 is the highest bit of byte 0; the last byte is filled up with 0.
    """
    packed = np.empty((X.shape[0], -(-X.shape[1] // 8)), dtype=np.uint8)
    for rows in row_blocks(X.shape[0], X.shape[1]):
        packed[rows] = np.packbits(X[rows] > threshold, axis=1)
    return packed


def decode_bits(packed: AnyArray, means: FloatArray) -> FloatArray:
    """Give the means of the sides that the bits tell.

    Parameters
    ----------
    packed : ndarray of shape (n_rows, ceil(n_features / 8)), uint8
        The bits.
    means : ndarray of shape (2, n_features)
        As in `Sides`.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        The means.
    """
    bits = np.unpackbits(packed, axis=1, count=means.shape[1])
    return np.where(bits.view(np.bool_), means[1], means[0])
