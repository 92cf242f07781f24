"""Square sparse matrices from their entries."""

import numpy as np
import scipy.sparse as sp

from skrep.typing import FloatArray, IntArray

__all__ = ["square_csr"]


def square_csr(
    rows: IntArray, columns: IntArray, values: FloatArray, n_nodes: int
) -> sp.csr_array:
    """Make a CSR array, with indices of 32 bits where they fit.

    SciPy keeps the 64 bits of given indices, which scikit-learn refuses in much of
    what takes sparse matrices.

    Parameters
    ----------
    rows, columns : ndarray of shape (n_entries,), int
        Where the entries are.
    values : ndarray of shape (n_entries,)
        The entries; repeated ones are summed.
    n_nodes : int
        Number of rows and of columns.

    Returns
    -------
    csr_array of shape (n_nodes, n_nodes)
        Sorted within rows.
    """
    largest = np.iinfo(np.int32).max
    index = np.int32 if max(n_nodes, len(values)) <= largest else np.int64
    entries = values, (rows.astype(index), columns.astype(index))
    matrix = sp.csr_array(entries, shape=(n_nodes, n_nodes))
    matrix.sum_duplicates()
    return matrix
