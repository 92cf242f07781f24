"""What learned anchors make of the rows of one space."""

from typing import NamedTuple

import numpy as np

from skrep.geometry import unit_rows
from skrep.relative._measure import gram_whitening
from skrep.relative._similarity import project
from skrep.relative._token_sets import RowSets, pooled
from skrep.typing import FloatArray
from skrep.utils import row_blocks

__all__ = ["AnchorSpace", "anchor_space"]


class AnchorSpace(NamedTuple):
    """Anchors of one space, ready for its rows.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        The center.
    units : ndarray of shape (n_anchors, n_features)
        Unit vectors from the center to the anchors.
    whitening : ndarray of shape (n_anchors, n_anchors)
        What whitens the similarities.
    map : ndarray of shape (n_features, n_anchors)
        Both in one matrix, for rows that are vectors.
    """

    mean: FloatArray
    units: FloatArray
    whitening: FloatArray
    map: FloatArray

    def encode(self, rows: RowSets, pooling: str) -> FloatArray:
        """Describe rows by their similarities to the anchors.

        Parameters
        ----------
        rows : RowSets
            Rows of the space.
        pooling : {"max", "mean"}
            What to take over the tokens of a row.

        Returns
        -------
        ndarray of shape (n_rows, n_anchors)
            Whitened similarities of norm 1, in the float type of the rows; zeros for a
            row at the center.
        """
        dtype = rows.tokens.dtype
        mean, units, whitening, folded = (
            part.astype(dtype, copy=False) for part in self
        )
        found = np.empty((len(rows), len(units)), dtype=dtype)
        per_row = -(-rows.tokens.size // max(len(rows), 1))
        for part in row_blocks(len(rows), 4 * dtype.itemsize * per_row):
            block = rows.at(np.arange(part.start, part.stop))
            wanted = folded if rows.plain else units.T
            values = project(block.tokens, mean=mean, projection=wanted, normalize=True)
            if not rows.plain:
                values = pooled(values, block, pooling) @ whitening
            found[part] = unit_rows(values)[0]
        return found


def anchor_space(mean: FloatArray, anchors: FloatArray) -> AnchorSpace:
    r"""Prepare the anchors of a space.

    Similarities are multiplied by :math:`(K + \lambda I)^{-1/2}`, K the cosines between
    the anchors and lambda their mean eigenvalue, 1.

    Parameters
    ----------
    mean : ndarray of shape (n_features,)
        The center.
    anchors : ndarray of shape (n_anchors, n_features)
        Vectors from the center to the anchors; only their directions count.

    Returns
    -------
    AnchorSpace
        The prepared anchors, in float64.
    """
    units = unit_rows(anchors.astype(np.float64))[0]
    whitening = gram_whitening(units @ units.T)
    return AnchorSpace(mean, units, whitening, units.T @ whitening)
