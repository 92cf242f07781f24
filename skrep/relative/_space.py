"""What fitting measures of one space."""

from typing import NamedTuple

from skrep.typing import FloatArray, Matrix

__all__ = ["Space"]


class Space(NamedTuple):
    """What fitting measures of one space.

    Parameters
    ----------
    anchors : {ndarray, CSR} of shape (n_anchors, n_features)
        The anchors.
    mean : ndarray of shape (n_features,) or None
        The center.
    root : ndarray of shape (n_features, n_features) or None
        Metric root of "mahalanobis".
    constant : float
        Unit of the distances or of the inner products.
    length : float
        Mean norm of the rows.
    whitening : ndarray of shape (n_anchors, n_anchors) or None
        Matrix that whitens the anchors.
    offset, scale : ndarray of shape (n_anchors,) or None
        Mean and standard deviation of each coordinate.
    directions : ndarray of shape (n_features, n_anchors) or None
        Directions of the anchors; for a linear similarity with whitening and scale
        folded in.
    mix : ndarray of shape (n_anchors, n_anchors) or (n_anchors,) or None
        Whitening and scale of the other similarities: a matrix, or factors.
    bias : ndarray of shape (n_anchors,) or None
        What is subtracted at the end.
    """

    anchors: Matrix
    mean: FloatArray | None
    root: FloatArray | None
    constant: float
    length: float
    whitening: FloatArray | None
    offset: FloatArray | None
    scale: FloatArray | None
    directions: FloatArray | None
    mix: FloatArray | None
    bias: FloatArray | None
