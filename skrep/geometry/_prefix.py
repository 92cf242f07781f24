"""Prefixes of rows."""

from skrep.geometry._cosine import unit_rows
from skrep.typing import FloatArray

__all__ = ["prefix_rows"]


def prefix_rows(
    Z: FloatArray, n_components: int, *, normalize: bool = False
) -> FloatArray:
    """Cut rows to their first coordinates.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, n_columns)
        Floating-point rows.
    n_components : int
        How many coordinates to keep, at most ``n_columns``.
    normalize : bool, default=False
        Whether every cut row is brought to norm one, so that dot products are the
        cosines of the cut rows. A zero row stays zero.

    Returns
    -------
    ndarray of shape (n_rows, n_components)
        A view of Z, or a new array when normalized.

    See Also
    --------
    unit_rows : The scaling used.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import prefix_rows
    >>> prefix_rows(np.array([[3.0, 4.0, 12.0]]), 2, normalize=True)
    array([[0.6, 0.8]])
    """
    cut = Z[:, :n_components]
    return unit_rows(cut)[0] if normalize else cut
