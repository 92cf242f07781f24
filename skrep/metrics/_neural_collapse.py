"""How close classes are to points, and their means to a regular simplex."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from skrep.geometry import row_norms, unit_rows
from skrep.linalg import GroupMoments
from skrep.metrics._separation import class_moments
from skrep.typing import FloatArray

__all__ = ["NeuralCollapse", "neural_collapse"]


class NeuralCollapse(NamedTuple):
    """Result of `neural_collapse`.

    Parameters
    ----------
    nc1 : float
        Variance within classes over that of their means, from 0 up.
    nc2 : float
        Distance of the angles between class means from those of a regular simplex, as
        a root mean square of cosines, from 0 up to less than 2.
    """

    nc1: float
    nc2: float


def neural_collapse(
    X: npt.ArrayLike, y: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> NeuralCollapse:
    r"""Tell how far the classes of an embedding have collapsed to a simplex of points.

    Networks that are trained on beyond zero error map every class to one point, and
    these points to the vertices of a regular simplex [1]_. With the class means
    :math:`m_c` of C classes, their unweighted mean m, their covariance :math:`S_b =
    \frac{1}{C} \sum_c (m_c - m)(m_c - m)^\top` and the covariance :math:`S_w` of the
    rows about the mean of their class,

    .. math::

        \mathrm{NC1} = \tfrac{1}{C} \operatorname{tr}(S_w S_b^+), \qquad
        \mathrm{NC2}^2 = \operatorname*{mean}_{a < b} \Bigl(\cos(m_a - m, m_b - m)
        + \tfrac{1}{C - 1}\Bigr)^2 .

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows of the embedding.
    y : array-like of shape (n_samples,)
        The class of each row.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights: a weight of 2 is the row twice, 0 is its absence.

    Returns
    -------
    NeuralCollapse
        ``nc1``, 0 if every class is one point along the directions in which class means
        differ, and ``nc2``, 0 if each two class means are at the same angle. Both are 0
        in full collapse, and neither has units.

    Raises
    ------
    ValueError
        If there is one class only, no class has two rows, class means are all equal,
        or an entry of X is not finite.

    See Also
    --------
    fisher_criterion : Weighs classes by their rows, and corrects for few of them.
    collapse_certificate : Collapse of all rows to few dimensions, whatever the classes.

    Notes
    -----
    Neither tells anything of rows that were not seen, and small values are no proof of
    a good embedding: both are small, too, where random labels were learned by heart.
    NC1 says nothing about directions in which class means do not differ. Classes of few
    rows make it look too small, as each of their means fits its own rows: by a factor
    of about ``1 - n_classes / n_samples``.

    NC2 knows angles only, not distances from the center. For two classes it is always
    0, and with fewer than ``n_classes - 1`` columns it cannot be 0. A class mean at the
    center counts as orthogonal to the others.

    Translations, rotations and multiples of X change neither. While class means span
    all columns, invertible affine maps leave NC1 unchanged.

    References
    ----------
    .. [1] Papyan, V., Han, X. Y. and Donoho, D. L. (2020). "Prevalence of neural
       collapse during the terminal phase of deep learning training". Proceedings of
       the National Academy of Sciences, 117(40), 24652-24663.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.geometry import simplex_vertices
    >>> from skrep.metrics import neural_collapse
    >>> y = np.repeat([0, 1, 2], 50)
    >>> noise = np.random.default_rng(0).standard_normal((150, 2))
    >>> for scale in (1.0, 0.1, 0.001):
    ...     nc1, nc2 = neural_collapse(simplex_vertices(3)[y] + scale * noise, y)
    ...     print(f"{nc1:.6f} {nc2:.6f}")
    1.225714 0.124970
    0.013247 0.014439
    0.000001 0.000147
    """
    who = "neural_collapse"
    groups, _ = class_moments(who, X, y, sample_weight)
    n_classes = len(groups.labels)
    if groups.weights.sum() <= n_classes and groups.n_rows == n_classes:
        raise ValueError(
            f"{who}: 'y' has {n_classes} classes of one row each, in which nothing can "
            "vary. Pass several rows of each class; y must hold classes, not numbers."
        )
    gaps = centered_means(groups)
    if not gaps.any():
        raise ValueError(
            f"{who}: 'X' has the same mean in all {n_classes} classes, so there are no "
            "directions between them. Pass columns in which class means differ; "
            "skrep.metrics.collapse_certificate(X) tells whether rows differ at all."
        )
    return NeuralCollapse(within_over_between(groups, gaps), simplex_gap(gaps))


def centered_means(groups: GroupMoments) -> FloatArray:
    """Class means about their unweighted mean, those within rounding exactly 0."""
    gaps = groups.means - groups.means.mean(axis=0)
    gaps[row_norms(gaps) <= _rounding(groups.means)] = 0.0
    return gaps


def within_over_between(groups: GroupMoments, gaps: FloatArray) -> float:
    """NC1, over the directions that class means span to rounding."""
    _, singular, axes = np.linalg.svd(gaps, full_matrices=False)
    kept = singular > _rounding(groups.means)
    scaled = axes[kept] / singular[kept, None]
    within = np.einsum("ij,jk,ik->", scaled, groups.scatter, scaled, optimize=True)
    return max(float(within / groups.weights.sum()), 0.0)


def simplex_gap(gaps: FloatArray) -> float:
    """NC2, from the smaller of the two Gram matrices."""
    n_classes, n_features = gaps.shape
    angle = 1 / (n_classes - 1)
    units = unit_rows(gaps)[0]
    if n_classes <= n_features + 1:
        off = units @ units.T + angle
        np.fill_diagonal(off, 0.0)
        total = np.sum(off**2)
    else:
        # No simplex fits in, so the sum keeps its digits once the diagonal is off.
        tall = np.c_[units, np.full(n_classes, np.sqrt(angle))]
        total = np.sum((tall.T @ tall) ** 2) - np.sum(np.sum(tall**2, axis=1) ** 2)
    return float(np.sqrt(total / (n_classes * (n_classes - 1))))


def _rounding(means: FloatArray) -> float:
    """Size of singular values that rounding of class means explains."""
    return float(max(means.shape) * np.finfo(np.float64).eps * np.linalg.norm(means))
