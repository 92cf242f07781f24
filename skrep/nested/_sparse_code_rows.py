"""Codes of rows by the largest products with atoms, and the way back."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from skrep.typing import FloatArray, Matrix
from skrep.utils import row_blocks
from skrep.utils.validation import validate_encoded

__all__ = ["decode", "encode", "read_codes"]

RIDGE = 1e-10


def encode(
    X: Matrix,
    atoms: FloatArray,
    intercept: FloatArray,
    mean: FloatArray,
    n_active: int,
) -> sp.csr_array:
    r"""Keep the largest positive of the products of rows with atoms.

    .. math:: z = \operatorname{TopK}(\operatorname{ReLU}(D (x - m) + c))

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows, of which a block at a time is made dense and centered.
    atoms : ndarray of shape (n_atoms, n_features)
        The atoms D.
    intercept : ndarray of shape (n_atoms,)
        What is added to the products.
    mean : ndarray of shape (n_features,)
        The center m.
    n_active : int
        The largest number of entries of a row.

    Returns
    -------
    csr_array of shape (n_rows, n_atoms)
        Codes in the float type of X, with sorted 32-bit indices.
    """
    n_rows, (n_atoms, n_features) = X.shape[0], atoms.shape
    atoms, intercept, mean = (
        part.astype(X.dtype, copy=False) for part in (atoms, intercept, mean)
    )
    values = np.empty((n_rows, n_active), dtype=X.dtype)
    places = np.empty((n_rows, n_active), dtype=np.int32)
    for rows in row_blocks(n_rows, 8 * (n_features + 3 * n_atoms)):
        block = X[rows].toarray() if sp.issparse(X) else X[rows]
        products = (block - mean) @ atoms.T
        products += intercept
        if n_active < n_atoms:
            last = np.argpartition(products, n_atoms - n_active, axis=1)
            places[rows] = np.sort(last[:, n_atoms - n_active :], axis=1)
            values[rows] = np.take_along_axis(products, places[rows], axis=1)
        else:
            places[rows], values[rows] = np.arange(n_atoms, dtype=np.int32), products
    # What is no number stays, to be found.
    kept = ~(values <= 0)
    ends = np.zeros(n_rows + 1, dtype=np.int32)
    np.cumsum(kept.sum(axis=1), out=ends[1:])
    return sp.csr_array((values[kept], places[kept], ends), shape=(n_rows, n_atoms))


def decode(
    Z: sp.csr_array, atoms: FloatArray, intercept: FloatArray, mean: FloatArray
) -> FloatArray:
    r"""Find the rows nearest to the center that have these products with their atoms.

    .. math:: \hat x = m + D_S^+ (z_S - c_S)

    with S the atoms of the entries of z. Of a row that was coded this is the orthogonal
    projection onto the span of its atoms.

    Parameters
    ----------
    Z : csr_array of shape (n_rows, n_atoms)
        Codes.
    atoms : ndarray of shape (n_atoms, n_features)
        The atoms D.
    intercept : ndarray of shape (n_atoms,)
        What is added to the products.
    mean : ndarray of shape (n_features,)
        The center m.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        Rows, in the float type of Z.
    """
    counts = np.diff(Z.indptr)
    width = int(counts.max(initial=0))
    n_features = atoms.shape[1]
    rows = np.empty((Z.shape[0], n_features), dtype=Z.dtype)
    for part in row_blocks(len(rows), 8 * width * (n_features + 2 * width + 2)):
        there = np.arange(width) < counts[part, None]
        entries = slice(Z.indptr[part.start], Z.indptr[part.stop])
        places = np.zeros(there.shape, dtype=np.intp)
        places[there] = Z.indices[entries]
        gaps = np.zeros(there.shape)
        gaps[there] = Z.data[entries] - intercept[places[there]]
        active = atoms[places].astype(np.float64)
        active[~there] = 0
        products = active @ active.transpose(0, 2, 1)
        # Atoms that depend on each other have more than one solution; so do no atoms.
        products += RIDGE * np.eye(width)
        shares = np.linalg.solve(products, gaps[..., None])[..., 0]
        rows[part] = mean + np.einsum("ij,ijk->ik", shares, active)
    return rows


def read_codes(estimator: Any, X: Any, n_atoms: int) -> sp.csr_array:
    """Validate codes.

    Parameters
    ----------
    estimator : estimator
        The estimator that is named in errors.
    X : {array-like, sparse matrix or array} of shape (n_rows, n_atoms)
        Codes.
    n_atoms : int
        Number of columns that they must have.

    Returns
    -------
    csr_array of shape (n_rows, n_atoms)
        float32 stays, all other numbers become float64.

    Raises
    ------
    ValueError
        If X has another width or is not finite.
    """
    if not sp.issparse(X):
        return sp.csr_array(validate_encoded(estimator, X, n_atoms))
    Z = sp.csr_array(X)
    # Its width, then its entries.
    validate_encoded(estimator, np.zeros((1, Z.shape[1])), n_atoms)
    if not Z.nnz:
        return Z.astype(np.result_type(Z.dtype, np.float32))
    entries = validate_encoded(estimator, Z.data[:, None], 1)[:, 0]
    return sp.csr_array((entries, Z.indices, Z.indptr), shape=Z.shape)
