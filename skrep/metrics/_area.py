"""One number for a curve over prefixes."""

import numpy as np
import numpy.typing as npt

from skrep.metrics._validation import read_rows

__all__ = ["prefix_area"]


def prefix_area(prefixes: npt.ArrayLike, scores: npt.ArrayLike) -> float:
    r"""Compute the normalized area under a prefix curve over the binary logarithm.

    By trapezoids over :math:`\log_2` of the length, divided by the range of that: the
    mean score of the curve, in which each doubling counts alike. A single prefix
    gives its score.

    Parameters
    ----------
    prefixes : array-like of shape (n_prefixes,)
        Lengths, at least 1, in any order, each once.
    scores : array-like of shape (n_prefixes,)
        Their scores, finite.

    Returns
    -------
    float
        The area, between the least and the largest score.

    Raises
    ------
    ValueError
        If the lengths of the arrays differ, a prefix is below 1 or there twice, or an
        entry is NaN or infinite.

    See Also
    --------
    prefix_scores : The scores of every prefix.

    Examples
    --------
    >>> from skrep.metrics import prefix_area
    >>> prefix_area([8, 16, 32], [0.2, 0.4, 0.5])
    0.375
    """
    who = "prefix_area"
    lengths = read_rows(prefixes, "prefixes", who, ensure_2d=False)
    values = read_rows(scores, "scores", who, ensure_2d=False)
    if lengths.shape != values.shape or lengths.ndim != 1:
        raise ValueError(
            f"{who}: 'prefixes' has shape {lengths.shape} and 'scores' has shape "
            f"{values.shape}. Pass one score per prefix, in one dimension."
        )
    order = np.argsort(lengths)
    lengths, values = lengths[order], values[order]
    if lengths[0] < 1 or (np.diff(lengths) == 0).any():
        raise ValueError(
            f"{who}: 'prefixes' holds {lengths.tolist()}. Each must be 1 or more, and "
            "be there once. Pass the arrays of prefix_scores."
        )
    if len(lengths) == 1:
        return float(values[0])
    steps = np.diff(np.log2(lengths))
    return float(steps @ (values[1:] + values[:-1]) / 2 / steps.sum())
