"""How far the classes are apart, in units of the scatter within them."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.special
from sklearn.utils._param_validation import validate_parameter_constraints

from skrep.exceptions import ThinDataWarning
from skrep.linalg import GroupMoments, Moments, whitening
from skrep.metrics._validation import read_rows
from skrep.typing import FloatArray
from skrep.utils import warn
from skrep.utils.targets import check_classes
from skrep.utils.validation import check_overflow, check_sample_weight

__all__ = ["class_moments", "fisher_criterion", "log_det_null_mean", "log_det_ratio"]


class Separation(NamedTuple):
    """Class means in coordinates in which the scatter within classes is a sphere.

    Parameters
    ----------
    gaps : ndarray of shape (n_classes, rank)
        Means less the overall mean, times the root of the class's share of the rows:
        the squared singular values are the eigenvalues of ``W^-1 B``.
    n_rows : float
        Sum of the weights.
    unbounded : bool
        Whether classes differ where none of them has any scatter.
    """

    gaps: FloatArray
    n_rows: float
    unbounded: bool


def fisher_criterion(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    corrected: bool = True,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    r"""Measure the scatter between classes in units of that within them.

    With the means :math:`m_c` of :math:`C` classes of :math:`n_c` rows each, the
    overall mean m, and the scatters :math:`B = \sum_c n_c (m_c - m)(m_c - m)^\top`
    between and W within classes, the criterion [1]_ is

    .. math:: \operatorname{tr}(W^{-1} B) = \sum_i \lambda_i .

    Rows without any difference of classes score more than 0: of n rows in k columns,
    Gaussian in each class, :math:`k (C - 1) / (n - C - k - 1)` on average, which for
    small batches exceeds what real classes add. Corrected is

    .. math:: \frac{1}{n} \bigl((n - C - k - 1) \operatorname{tr}(W^{-1} B)
              - k (C - 1)\bigr),

    whose mean is :math:`\sum_c \frac{n_c}{n} (\mu_c - \mu)^\top \Sigma^{-1}
    (\mu_c - \mu)`, the squared distance of a class from the center, for Gaussian
    classes of equal covariance :math:`\Sigma`.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, such as an embedding.
    y : array-like of shape (n_samples,)
        The class of each row.
    corrected : bool, default=True
        Whether to remove the bias of small samples. What is left is 0 on average, and
        so below 0 for about half of the samples, where classes do not differ.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, which count rows: a weight of 2 is the row twice, 0 is its absence.
        The correction takes their sum for the number of rows.

    Returns
    -------
    float
        The criterion: 0 where classes do not differ, without an upper end. It is
        infinite if classes differ along a direction in which none of them has any
        scatter.

    Raises
    ------
    ValueError
        If there is one class only; if rows are too few, so that W is singular
        whatever the classes, or, for the corrected form, unless
        ``n_samples > n_classes + n_features + 1``; or if an entry of X is not finite.

    Warns
    -----
    ThinDataWarning
        If rows are that few and `corrected` is false: the value is mostly noise.

    See Also
    --------
    log_det_ratio : Counts the directions that separate, rather than the best alone.
    neural_collapse : How close classes are to points, and their means to a simplex.

    Notes
    -----
    Invertible affine maps of X change nothing. Constant columns count for nothing, and
    columns that depend linearly on others count once: k is the rank of W, told from
    standardized columns. The largest eigenvalue dominates the sum: a large value proves
    one direction in which some classes come apart, never that all classes do.

    References
    ----------
    .. [1] Fukunaga, K. (1990). "Introduction to statistical pattern recognition",
       second edition, chapter 10. Academic Press.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skrep.metrics import fisher_criterion
    >>> X, y = load_wine(return_X_y=True)
    >>> print(f"{fisher_criterion(X, y):.2f}")
    11.80

    Eighteen rows whose classes are shuffled, with and without the correction:

    >>> import numpy as np
    >>> X, y = X[::10], np.random.default_rng(0).permutation(y)[::10]
    >>> few = X[:, :6]
    >>> print(f"{fisher_criterion(few, y, corrected=False):.2f}")
    1.28
    >>> print(f"{fisher_criterion(few, y):.2f}")
    -0.10
    """
    who = "fisher_criterion"
    found = _separation(who, X, y, corrected, sample_weight)
    n_rows, (n_classes, rank) = found.n_rows, found.gaps.shape
    spare = n_rows - n_classes - rank - 1
    _check_rows(who, found, corrected, spare)
    if found.unbounded:
        return float("inf")
    value = float(np.sum(found.gaps**2))
    if not corrected:
        return value
    return float((spare * value - rank * (n_classes - 1)) / n_rows)


def log_det_ratio(
    X: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    corrected: bool = True,
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    r"""Measure by how much the scatter between classes swells the volume of all rows.

    With the scatters W within classes and B between them, and the eigenvalues
    :math:`\lambda_i` of :math:`W^{-1} B`,

    .. math:: \log\det(W + B) - \log\det W = \sum_i \log(1 + \lambda_i),

    which is the negative logarithm of Wilks' lambda [1]_. Unlike
    `fisher_criterion`, a direction that separates well already adds little more.

    Without any difference of classes it is not 0 but, for n rows of C classes in k
    columns, Gaussian in each class, on average exactly

    .. math:: b = \sum_{j=0}^{k-1} \psi\Bigl(\frac{n - 1 - j}{2}\Bigr)
              - \psi\Bigl(\frac{n - C - j}{2}\Bigr)

    with the digamma function :math:`\psi`. The corrected form has b subtracted.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, such as an embedding.
    y : array-like of shape (n_samples,)
        The class of each row.
    corrected : bool, default=True
        Whether to subtract b. The rest is 0 on average, and so below 0 for about half
        of the samples, where classes do not differ; where they do, it is a little too
        high or low in small samples.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights, which count rows: a weight of 2 is the row twice, 0 is its absence.
        The correction takes their sum for the number of rows.

    Returns
    -------
    float
        The ratio, in nats: 0 where classes do not differ, without an upper end. It is
        infinite if classes differ along a direction in which none of them has any
        scatter.

    Raises
    ------
    ValueError
        If there is one class only; if rows are too few, so that W is singular
        whatever the classes, which takes ``n_samples >= n_classes + n_features``; or
        if an entry of X is not finite.

    Warns
    -----
    ThinDataWarning
        If ``n_samples <= n_classes + n_features + 1``: the value is mostly noise.

    See Also
    --------
    fisher_criterion : The sum of the eigenvalues themselves.

    Notes
    -----
    Invertible affine maps of X change nothing. Constant columns count for nothing, and
    columns that depend linearly on others count once: k is the rank of W, told from
    standardized columns. A value above 0 tells that class means differ; it does not
    tell how many classes come apart, nor whether they overlap.

    References
    ----------
    .. [1] Wilks, S. S. (1932). "Certain generalizations in the analysis of variance".
       Biometrika, 24(3-4), 471-494.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skrep.metrics import log_det_ratio
    >>> X, y = load_wine(return_X_y=True)
    >>> print(f"{log_det_ratio(X, y):.2f}")
    3.79

    Eighteen rows whose classes are shuffled, with and without the correction:

    >>> import numpy as np
    >>> X, y = X[::10], np.random.default_rng(0).permutation(y)[::10]
    >>> few = X[:, :6]
    >>> print(f"{log_det_ratio(few, y, corrected=False):.3f}")
    0.976
    >>> print(f"{log_det_ratio(few, y):.3f}")
    -0.002
    """
    who = "log_det_ratio"
    found = _separation(who, X, y, corrected, sample_weight)
    n_rows, (n_classes, rank) = found.n_rows, found.gaps.shape
    _check_rows(who, found, corrected, n_rows - n_classes - rank + 1)
    if found.unbounded:
        return float("inf")
    values = np.linalg.svd(found.gaps, compute_uv=False) ** 2
    ratio = float(np.sum(np.log1p(values)))
    return ratio - corrected * log_det_null_mean(n_rows, n_classes, rank)


def log_det_null_mean(n_rows: float, n_classes: int, n_columns: int) -> float:
    """Mean of the log-det ratio of Gaussian rows without difference of classes."""
    halves = np.arange(n_columns) / 2
    total = scipy.special.digamma((n_rows - 1) / 2 - halves)
    within = scipy.special.digamma((n_rows - n_classes) / 2 - halves)
    return float(np.sum(total - within))


def class_moments(
    who: str, X: Any, y: Any, sample_weight: Any
) -> tuple[GroupMoments, float]:
    """Moments of two classes or more, and the relative rounding of the rows."""
    rows = read_rows(X, "X", who, dtype=[np.float64, np.float32])
    weights = check_sample_weight(who, sample_weight, len(rows))
    kept = weights > 0
    if not kept.all():
        rows, weights = rows[kept], weights[kept]
        if np.shape(y)[:1] == kept.shape:
            y = np.asarray(y)[kept]
    target = check_classes(who, y, len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        groups = GroupMoments.of(rows, target.values, weights)
    if len(groups.labels) < 2:
        raise ValueError(
            f"{who}: 'y' has 1 class in all rows of positive weight. Classes are "
            "compared, so there must be two or more: pass rows of several classes."
        )
    check_overflow(who, groups.means, groups.scatter)
    return groups, float(np.finfo(rows.dtype).eps)


def separate(groups: GroupMoments, precision: float) -> Separation:
    """Whiten by the scatter within classes, and look where it leaves gaps out."""
    total = groups.total()
    # Columns are constant within classes to the rounding of the class means, which the
    # overall mean may hide.
    sizes = np.abs(groups.means).max(axis=0)
    within = Moments(total.weight, sizes, groups.scatter)
    white = whitening(within, precision=precision)
    centered = groups.means - total.mean
    gaps = centered @ white.map
    scale = whitening(total, precision=precision).scale
    lost = (centered - gaps @ white.inverse)[:, scale > 0] / scale[scale > 0]
    shares = np.sqrt(groups.weights / total.weight)[:, None]
    # Less than this a direction of negligible scatter may leave behind.
    unbounded = bool(np.max(np.abs(lost), initial=0.0) > 1e-5)
    return Separation(gaps * shares, total.weight, unbounded)


def _separation(
    who: str, X: Any, y: Any, corrected: Any, sample_weight: Any
) -> Separation:
    validate_parameter_constraints(
        {"corrected": ["boolean"]}, {"corrected": corrected}, caller_name=who
    )
    return separate(*class_moments(who, X, y, sample_weight))


def _check_rows(who: str, found: Separation, corrected: bool, spare: float) -> None:
    """Refuse what few rows make meaningless, and warn of what is mostly noise."""
    n_rows, (n_classes, rank) = found.n_rows, found.gaps.shape
    freedom = n_rows - n_classes
    if freedom > rank + (not found.unbounded):
        return
    counts = (
        f"{who}: 'X' has {n_rows:g} rows, by the sum of the weights, in {n_classes} "
        f"classes, whose scatter spans {rank} dimensions."
    )
    remedy = (
        "Pass more rows of each class, or fewer columns, as those of "
        f"sklearn.decomposition.PCA(n_components={max(int(freedom // 10), 1)})"
    )
    if found.unbounded:
        raise ValueError(
            f"{counts} So few rows come apart whatever their classes, and any value "
            f"would be noise. {remedy}."
        )
    if corrected and spare <= 0:
        raise ValueError(
            f"{counts} The correction needs more rows than classes and dimensions "
            f"together. {remedy}, or corrected=False."
        )
    warn(f"{counts} The value is mostly noise. {remedy}.", ThinDataWarning)
