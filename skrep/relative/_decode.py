"""From similarities to anchors back to rows."""

import numpy as np
import scipy.linalg
import scipy.sparse as sp

from skrep.geometry import unit_rows
from skrep.relative._similarity import center_rows
from skrep.relative._space import Space
from skrep.typing import FloatArray

__all__ = ["decode"]


def decode(R: FloatArray, space: Space, similarity: str) -> FloatArray:
    r"""Recover rows from their similarities to anchors by least squares.

    Products satisfy :math:`r = D^\top (x - m)`, so that
    :math:`\hat x = m + r D^{+}`; where r are cosines only a direction comes back, and
    :math:`\hat x = m + \rho\,u(r D^{+})`. Exact (up to the norm) when the anchors
    span the space, else the solution of least norm.

    Parameters
    ----------
    R : ndarray of shape (n_rows, n_anchors)
        Relative representation: standardization and whitening are undone first.
    space : Space
        The space they were taken in.
    similarity : {"cosine", "angular", "inner", "euclidean", "mahalanobis"}
        Which similarities they are.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        The rows.
    """
    if space.scale is not None and space.offset is not None:
        R = R * space.scale + space.offset
    if space.whitening is not None:
        R = R @ np.linalg.inv(space.whitening)
    anchors = space.anchors
    centered = center_rows(
        anchors.toarray() if sp.issparse(anchors) else anchors, space.mean
    )
    if similarity == "euclidean":
        rows = _trilaterate(R * space.constant, centered)
    elif similarity == "inner":
        rows = (R * space.constant) @ scipy.linalg.pinv(centered.T)
    else:
        cosines = np.cos(np.pi * R) if similarity == "angular" else R
        whitened = centered if space.root is None else centered @ space.root
        units = unit_rows(whitened)[0]
        rows = space.length * unit_rows(cosines @ scipy.linalg.pinv(units.T))[0]
        if space.root is not None:
            rows = rows @ scipy.linalg.pinv(space.root)
    return rows if space.mean is None else rows + space.mean


def _trilaterate(distances: FloatArray, anchors: FloatArray) -> FloatArray:
    r"""Solve for x from distances to anchors.

    Differences of squared distances are linear in x:
    :math:`d_i^2 - \overline{d^2} = -2 x^\top (a_i - \bar a) + \|a_i\|^2 -
    \overline{\|a\|^2}`, exact with ``n_features + 1`` affinely independent anchors.
    """
    squares = distances**2
    norms = np.einsum("ij,ij->i", anchors, anchors)
    right = norms - norms.mean() - squares + squares.mean(axis=1, keepdims=True)
    return right @ scipy.linalg.pinv(2 * (anchors - anchors.mean(axis=0))).T
