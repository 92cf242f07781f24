"""The regular simplex: as many directions as can be, all equally far apart."""

from typing import Any

import numpy as np

from skrep.typing import FloatArray
from skrep.utils.validation import is_whole

__all__ = ["simplex_vertices"]


def simplex_vertices(n_vertices: Any) -> FloatArray:
    r"""Place n unit vectors in n - 1 dimensions, each two at one angle.

    They are the vertices of the regular simplex around its center [1]_: the axes
    :math:`e_1, \dots, e_d` with :math:`d = n - 1`, and :math:`a (1, \dots, 1)` with
    :math:`a = (1 - \sqrt n) / d`, less their mean and divided by their norm. That is

    .. math:: v_i = \sqrt{\tfrac{n}{n - 1}} \Bigl(e_i - \tfrac{1}{n + \sqrt n}
              (1, \dots, 1)\Bigr), \quad i \le d,
              \qquad v_n = -\tfrac{1}{\sqrt d} (1, \dots, 1).

    Parameters
    ----------
    n_vertices : int
        Number of vertices, 2 or more.

    Returns
    -------
    ndarray of shape (n_vertices, n_vertices - 1), float64
        Unit rows whose mean is zero. The cosine of any two is -1 / (n_vertices - 1),
        the least that so many vectors can all have. The same number always gives the
        same rows.

    Raises
    ------
    ValueError
        If `n_vertices` is no integer or below 2.

    See Also
    --------
    scipy.linalg.helmert : Orthonormal rows that are orthogonal to the vector of ones;
        the columns, divided by their norms, are another regular simplex.

    Notes
    -----
    With V the rows, V' V = n / (n - 1) I and V V' = n / (n - 1) (I - 11' / n). So the
    softmax of the scores V z determines z.

    References
    ----------
    .. [1] Pernici, F., Bruni, M., Baecchi, C. and Del Bimbo, A. (2022). "Regular
       polytope networks". IEEE Transactions on Neural Networks and Learning Systems,
       33(9), 4373-4387.

    Examples
    --------
    >>> from skrep.geometry import simplex_vertices
    >>> V = simplex_vertices(3)
    >>> V.round(3)
    array([[ 0.966, -0.259],
           [-0.259,  0.966],
           [-0.707, -0.707]])
    >>> (V @ V.T).round(3)
    array([[ 1. , -0.5, -0.5],
           [-0.5,  1. , -0.5],
           [-0.5, -0.5,  1. ]])
    """
    if not is_whole(n_vertices) or n_vertices < 2:
        raise ValueError(
            f"simplex_vertices: 'n_vertices' is {n_vertices!r}. It must be an integer "
            "from 2 up: one vertex has no other to be apart from. Pass n_vertices=2, "
            "say."
        )
    n = int(n_vertices)
    scale = np.sqrt(n / (n - 1))
    vertices = np.full((n, n - 1), -scale / (n + np.sqrt(n)))
    np.fill_diagonal(vertices, scale * (1 - 1 / (n + np.sqrt(n))))
    vertices[-1] = -1 / np.sqrt(n - 1)
    return vertices
