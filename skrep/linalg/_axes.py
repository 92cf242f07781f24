"""What eigenvectors leave open: their signs, and the basis of a null space."""

import numpy as np
import scipy.linalg

from skrep.typing import FloatArray

__all__ = ["fix_signs", "settle_null"]


def fix_signs(components: FloatArray) -> FloatArray:
    """Turn every axis so that its largest entry is positive.

    Parameters
    ----------
    components : ndarray of shape (n_components, n_features)
        Axes, as rows.

    Returns
    -------
    ndarray of shape (n_components, n_features)
        The axes; the first of entries that tie to rounding decides.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import fix_signs
    >>> fix_signs(np.array([[0.6, -0.8]]))
    array([[-0.6,  0.8]])
    """
    if not components.size:
        return components
    sizes = np.abs(components)
    # Entries that tie but for rounding must not leave the sign to it.
    near = sizes >= sizes.max(axis=1, keepdims=True) * (1 - 1e-5)
    first = np.argmax(near, axis=1)
    signs = np.sign(components[np.arange(len(components)), first])
    return components * np.where(signs == 0, signs.dtype.type(1), signs)[:, None]


def settle_null(
    vectors: FloatArray, values: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Settle which vectors stand for eigenvalues that are zero but for rounding.

    An eigensolver gives any basis of their span, as rounding will have it. With rows
    fewer than columns, or copies of columns, new rows would see that accident.

    Parameters
    ----------
    vectors : ndarray of shape (n_features, n_vectors)
        Eigenvectors as columns, orthonormal in some metric.
    values : ndarray of shape (n_vectors,)
        Their eigenvalues, decreasing.

    Returns
    -------
    vectors : ndarray of shape (n_features, n_vectors)
        The same, but those of negligible values are a basis, orthonormal in the same
        metric, that their span alone decides.
    values : ndarray of shape (n_vectors,)
        The eigenvalues, negative ones set to zero.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.linalg import settle_null
    >>> turned = np.array([[0.0, 0.6, 0.8], [0.0, -0.8, 0.6], [1.0, 0.0, 0.0]])
    >>> vectors, _ = settle_null(turned, np.array([1.0, 0.0, 0.0]))
    >>> np.abs(vectors).round(4)
    array([[0., 1., 0.],
           [0., 0., 1.],
           [1., 0., 0.]])
    """
    rounding = 10 * len(values) * np.finfo(np.float64).eps
    null = values <= rounding * np.abs(values).max(initial=0)
    if null.any():
        span = vectors[:, null]
        vectors = np.hstack([vectors[:, ~null], span @ _turn(span)])
    return vectors, np.maximum(values, 0)


def _turn(span: FloatArray) -> FloatArray:
    """Orthogonal matrix of a pivoted QR factorization of the rows of a span.

    Rows that tie for the largest but for rounding, such as those of constant columns,
    are taken in their order: a slight ramp says so, where LAPACK would leave it to
    rounding.
    """
    n_rows, n_vectors = span.shape
    ramp = 1 - 1e-6 * np.arange(n_rows) / n_rows
    _, order = scipy.linalg.qr((span * ramp[:, None]).T, mode="r", pivoting=True)
    Q, R = scipy.linalg.qr(span[order[:n_vectors]].T)
    turn: FloatArray = Q * np.sign(np.diag(R))
    return turn
