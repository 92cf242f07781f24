"""Certificates of collapse: how many dimensions rows fill, and whether they follow."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.linalg
import scipy.special
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from skrep.geometry import row_norms, simplex_vertices
from skrep.linalg import weighted_mean
from skrep.metrics._validation import read_rows
from skrep.typing import FloatArray, IntArray
from skrep.utils.validation import (
    check_n_components,
    check_overflow,
    check_sample_weight,
)

__all__ = [
    "CollapseCertificate",
    "TeacherMargin",
    "collapse_certificate",
    "teacher_margin",
]


class CollapseCertificate(NamedTuple):
    """Result of `collapse_certificate`.

    Parameters
    ----------
    lower : float
        The standard deviation along the principal axis is no less than this.
    upper : float
        It is no more than this.
    rows : ndarray of shape (n_components + 1,)
        The rows whose differences span the directions that prove the lower bound; all
        but the last prove the upper one.
    """

    lower: float
    upper: float
    rows: IntArray


def collapse_certificate(
    X: npt.ArrayLike, n_components: int | None = None
) -> CollapseCertificate:
    r"""Prove that rows fill some number of dimensions, or that they do not.

    Let :math:`s_r` be the standard deviation of the rows along their principal axis r,
    in falling order: the singular value r of the centered rows :math:`X_c`, over
    :math:`\sqrt n`. For orthonormal columns Q of r directions, and P of r - 1,

    .. math:: \sigma_r(X_c Q) \le \sigma_r(X_c) \le \|X_c (I - P P^\top)\|_2 ,

    the first because a projection shortens, the second because nothing of rank r - 1
    is nearer. As directions serve the differences of a few rows that are far apart,
    chosen by a pivoted QR factorization [1]_ of which P is the first part of Q.

    So, for any size that matters to you,

    - ``lower >= size`` proves r dimensions in which rows vary that much;
    - ``upper < size`` proves a collapse: there are fewer;
    - between them, nothing is proven.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows of the embedding.
    n_components : int or None, default=None
        The number of dimensions r, from 1 to ``min(n_samples - 1, n_features)``; None
        for all of these.

    Returns
    -------
    CollapseCertificate
        ``lower`` and ``upper`` in the units of X, and the ``rows``.

    Raises
    ------
    ValueError
        If there is one row only, `n_components` is too large, or an entry of X is not
        finite.

    See Also
    --------
    teacher_margin : Whether the rows tell what a teacher tells.
    neural_collapse : Collapse of every class to its own point.

    Notes
    -----
    Both bounds allow for rounding in float64, so ``lower > 0`` is a proof as well: the
    rows do not lie in a plane of fewer than r dimensions. Equal rows, columns that are
    constant or depend on others, and too few distinct rows give a lower bound of 0.

    With r + 1 rows `rows` and D the r differences to the first of them, lower is never
    below ``sigma_min(D) / sqrt(n_samples * (r + 1))``, a bound that can be checked by
    hand. For r = 1 upper, and for r = n_features lower, is the deviation itself.

    A proof of many dimensions is none of their use: noise fills all of them.

    References
    ----------
    .. [1] Golub, G. H. and Van Loan, C. F. (2013). "Matrix computations", fourth
       edition, section 5.4. Johns Hopkins University Press.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.metrics import collapse_certificate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2)) @ rng.standard_normal((2, 5))
    >>> for r in (1, 2, 3):
    ...     lower, upper, rows = collapse_certificate(X, r)
    ...     print(f"{r}: {lower:.3f} to {upper:.3f}, by rows {rows}")
    1: 3.071 to 3.153, by rows [151  69]
    2: 1.337 to 1.516, by rows [151  69 135]
    3: 0.000 to 0.000, by rows [151  69 135 112]
    """
    who = "collapse_certificate"
    rows = read_rows(X, "X", who, ensure_min_samples=2)
    r = check_n_components(who, n_components, min(len(rows) - 1, rows.shape[1]))
    return bracket(who, rows, r)


def bracket(who: str, rows: FloatArray, r: int) -> CollapseCertificate:
    """Bounds of the deviation along principal axis r, by projections."""
    with np.errstate(over="ignore", invalid="ignore"):
        first = int(np.argmax(row_norms(rows - rows.mean(axis=0))))
        # Differences of rows are exact to their own size, wherever the rows lie.
        gaps = rows - rows[first]
        check_overflow(who, np.sum(gaps**2))
    others = np.delete(np.arange(len(rows)), first)
    axes, _, order = scipy.linalg.qr(gaps[others].T, mode="economic", pivoting=True)
    turned = (gaps - gaps.mean(axis=0)) @ axes
    lower = scipy.linalg.svdvals(turned[:, :r])[-1]
    upper = scipy.linalg.svdvals(turned[:, r - 1 :])[0]
    slack = max(rows.shape) * np.finfo(np.float64).eps * np.linalg.norm(gaps)
    root = np.sqrt(len(rows))
    chosen = np.concatenate([[first], others[order[:r]]])
    return CollapseCertificate(
        float(max(lower - slack, 0.0) / root), float((upper + slack) / root), chosen
    )


class TeacherMargin(NamedTuple):
    """Result of `teacher_margin`.

    Parameters
    ----------
    margin : float
        How much better the rows predict the teacher than a constant does, in nats. It
        is at most `information`, and may be far below 0.
    information : float
        How much better the teacher itself does, in nats: from above 0 to log K.
    ratio : float
        Margin over information, at most 1.
    """

    margin: float
    information: float
    ratio: float


def teacher_margin(
    X: npt.ArrayLike,
    posterior: npt.ArrayLike,
    *,
    beta: float = 1.0,
    sample_weight: npt.ArrayLike | None = None,
) -> TeacherMargin:
    r"""Prove that an embedding is not constant, by what it tells of a teacher.

    A teacher gives each row i a posterior :math:`q_i` over K clusters or classes. A
    fixed witness reads one from the embedding, :math:`p(z) = \operatorname{softmax}
    (\beta V z)`, with the K vertices V of :func:`skrep.geometry.simplex_vertices` as
    rows. The margin [1]_ is

    .. math:: H(\bar q) - \frac{1}{n} \sum_i \mathrm{CE}(q_i, p(z_i)), \qquad
              \bar q = \frac{1}{n} \sum_i q_i,

    with the entropy H and the cross-entropy CE. The best that any constant can do is
    :math:`\bar q`, so a **margin above 0 proves that z is not constant**. The margin is
    the information of the teacher, :math:`H(\bar q) - \frac{1}{n} \sum_i H(q_i)`, less
    the mean divergence of p from q, so it is never above the information.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_clusters - 1)
        Rows z of the embedding, in the coordinates of the simplex.
    posterior : array-like of shape (n_samples, n_clusters)
        What the teacher says of the same rows, such as the ``predict_proba`` of a
        mixture; rows are non-negative and sum to 1.
    beta : float, default=1.0
        Inverse temperature of the witness, above 0. It is part of the witness, so take
        that of training.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights in all means: a weight of 2 is the row twice, 0 is its absence.

    Returns
    -------
    TeacherMargin
        ``margin``, ``information``, and their ``ratio``, which is 1 where p is q in
        every row.

    Raises
    ------
    ValueError
        If shapes do not match, rows of `posterior` are no distributions or all alike,
        `beta` is not above 0, or an entry is not finite.

    See Also
    --------
    collapse_certificate : Proves collapse, too, and needs no teacher.

    Notes
    -----
    A margin of 0 or less proves nothing, least of all a collapse: embeddings that tell
    everything score so once they are turned, or scaled too far. Nor does a margin above
    0 prove more than one dimension, or anything of rows that were not given. One of the
    size of rounding, some 1e-15, proves nothing.

    Zeros in `posterior` are allowed, though no finite row of X then reaches the
    information.

    References
    ----------
    .. [1] Zhang, Z., Peng, J. and Zhang, J. (2026). "A simplex witness certificate
       for constant collapse in variational autoencoders". arXiv:2605.18224.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.mixture import GaussianMixture
    >>> from skrep.geometry import simplex_vertices
    >>> from skrep.metrics import teacher_margin
    >>> X = load_iris().data
    >>> q = GaussianMixture(3, random_state=0).fit(X).predict_proba(X)
    >>> Z = 5 * q @ simplex_vertices(3)
    >>> print("%.3f of %.3f nats: %.3f" % teacher_margin(Z, q))
    1.044 of 1.063 nats: 0.982

    Rows that are all alike cannot have a margin above 0:

    >>> print("%.3f of %.3f nats: %.3f" % teacher_margin(0 * Z, q))
    -0.003 of 1.063 nats: -0.003
    """
    who = "teacher_margin"
    validate_parameter_constraints(
        {"beta": [Interval(Real, 0, None, closed="neither")]},
        {"beta": beta},
        caller_name=who,
    )
    rows = read_rows(X, "X", who)
    taught = _read_posterior(who, posterior)
    if rows.shape != (len(taught), taught.shape[1] - 1):
        raise ValueError(
            f"{who}: 'X' has shape {rows.shape} and 'posterior' has shape "
            f"{taught.shape}. They need the same rows, and K clusters are read from "
            f"K - 1 columns: pass X of shape {len(taught), taught.shape[1] - 1}."
        )
    weights = check_sample_weight(who, sample_weight, len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        scores = beta * (rows @ simplex_vertices(taught.shape[1]).T)
    check_overflow(who, scores)
    present = taught[weights > 0]
    if np.ptp(present, axis=0).max() <= 8 * np.finfo(np.float64).eps:
        raise ValueError(
            f"{who}: 'posterior' is the same in all rows, so it has no information "
            "that an embedding could tell. Pass the posterior of a teacher that tells "
            "rows apart, for more rows."
        )
    return margin_of(taught, scores, weights)


def margin_of(
    taught: FloatArray, scores: FloatArray, weights: FloatArray
) -> TeacherMargin:
    """Margin as information less mean divergence, each a sum of terms above 0."""
    mean = weighted_mean(taught, weights)
    gained = scipy.special.rel_entr(taught, mean).sum(axis=1)
    logs = scipy.special.log_softmax(scores, axis=1)
    missed = np.sum(scipy.special.xlogy(taught, taught) - taught * logs, axis=1)
    information = float(np.average(gained, weights=weights))
    margin = information - max(float(np.average(missed, weights=weights)), 0.0)
    return TeacherMargin(margin, information, margin / information)


def _read_posterior(who: str, posterior: Any) -> FloatArray:
    rows: FloatArray = read_rows(posterior, "posterior", who, ensure_min_features=2)
    sums = rows.sum(axis=1)
    wrong = (rows.min(axis=1) < 0) | (np.abs(sums - 1) > 1e-4)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"{who}: 'posterior' has entries from {rows[row].min():g} that sum to "
            f"{sums[row]:g} in row {row}. Rows must be non-negative and sum to 1. Pass "
            "what predict_proba gives, or posterior / posterior.sum(axis=1)[:, None]."
        )
    return rows / sums[:, None]
