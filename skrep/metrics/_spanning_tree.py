"""How far the rows are spread, by the shortest tree that joins them."""

import numpy as np
import numpy.typing as npt

from skrep.geometry import row_norms, spanning_tree
from skrep.metrics._validation import read_rows
from skrep.utils.validation import check_overflow

__all__ = ["spanning_tree_length"]


def spanning_tree_length(X: npt.ArrayLike) -> float:
    """Measure the length of the shortest tree that joins all rows.

    The more evenly rows fill a space, and the more dimensions they fill, the longer
    it is: for n even rows in m dimensions it grows like ``n ** (1 - 1 / m)`` [1]_.
    Rows that gather in a few points, or on a line, have a short one; so it tells
    collapse where the variance does not [2]_.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows. Copies of a row add nothing.

    Returns
    -------
    float
        Sum of the ``n_samples - 1`` Euclidean lengths, in the unit of X; 0 for a
        single row.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, or so large that the length overflows.

    See Also
    --------
    effective_rank : Spread over directions rather than over points.
    two_nn_dimension : The dimension that rows fill.
    skrep.geometry.spanning_tree : The edges themselves.

    Notes
    -----
    Unchanged by translations and rotations, and in proportion to the scale. Lengths
    are compared at one number of rows and one scale: divide X by the root mean square
    of its row norms first, say.

    No matrix of n times n is held. Time grows with ``n_samples**2 * n_features``:
    about two seconds for 5,000 rows of 64 columns.

    References
    ----------
    .. [1] Steele, J. M. (1988). "Growth rates of Euclidean minimal spanning trees
       with power weighted edges". Annals of Probability, 16(4), 1767-1787.
    .. [2] Mordacq, J., Loiseaux, D., Kalogeiton, V. and Oudot, S. (2025). "T-REGS:
       minimum spanning tree regularization for self-supervised learning". NeurIPS.

    Examples
    --------
    >>> from skrep.metrics import spanning_tree_length
    >>> spanning_tree_length([[0, 0], [3, 0], [3, 4], [3, 4]])
    7.0
    """
    who = "spanning_tree_length"
    rows = read_rows(X, "X", who)
    exponent = np.frexp(np.abs(rows).max())[1]
    rows = np.ldexp(rows, -exponent)
    ends = spanning_tree(rows)
    length = row_norms(rows[ends[:, 0]] - rows[ends[:, 1]]).sum()
    with np.errstate(over="ignore"):
        length = np.ldexp(length, exponent)
    check_overflow(who, length)
    return float(length)
