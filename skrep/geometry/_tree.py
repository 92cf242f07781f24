"""The shortest tree through a set of points."""

import numpy as np

from skrep.typing import FloatArray, IntArray

__all__ = ["spanning_tree"]


def spanning_tree(X: FloatArray) -> IntArray:
    r"""Join all rows by the edges of least total length.

    The tree grows from row 0, each time by the row nearest to it [1]_. Distances are
    taken between the row that came last and those still outside, from their
    differences: so copies are joined at length 0, any scale and offset is right, and
    nothing of n times n is held.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features)
        Finite rows, at least one.

    Returns
    -------
    ndarray of shape (n_rows - 1, 2)
        The two rows that each edge joins. Where several trees are shortest, one of
        them.

    See Also
    --------
    scipy.sparse.csgraph.minimum_spanning_tree : Takes a matrix of distances, in
        which 0 means that there is no edge.

    Notes
    -----
    Time grows with ``n_rows**2 * n_features``, memory with ``n_rows * n_features``.

    References
    ----------
    .. [1] Prim, R. C. (1957). "Shortest connection networks and some
       generalizations". Bell System Technical Journal, 36(6), 1389-1401.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import spanning_tree
    >>> spanning_tree(np.array([[0.0], [5.0], [1.0], [7.0]]))
    array([[0, 2],
           [2, 1],
           [1, 3]])
    """
    exponent = np.frexp(np.abs(X).max(initial=0))[1]
    outside = np.ldexp(X.astype(np.float64, copy=False), -exponent)
    n_rows = len(outside)
    names = np.arange(n_rows)
    joints = np.zeros(n_rows, dtype=np.intp)
    gaps = np.full(n_rows, np.inf)
    edges = np.empty((n_rows - 1, 2), dtype=np.intp)
    nearest = 0
    for n_left in range(n_rows - 1, 0, -1):
        last, name = outside[nearest].copy(), names[nearest]
        for column in (outside, names, joints, gaps):
            column[nearest] = column[n_left]
        difference = outside[:n_left] - last
        squares = np.einsum("ij,ij->i", difference, difference)
        closer = squares < gaps[:n_left]
        joints[:n_left][closer] = name
        np.minimum(squares, gaps[:n_left], out=gaps[:n_left])
        nearest = int(np.argmin(gaps[:n_left]))
        edges[n_rows - 1 - n_left] = joints[nearest], names[nearest]
    return edges
