"""How many dimensions the rows fill."""

import numpy as np
import numpy.typing as npt
from scipy.linalg import svdvals
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from skrep.geometry import euclidean_distances
from skrep.linalg import weighted_mean
from skrep.metrics._neighbors import neighbor_blocks
from skrep.metrics._retrieval import recentered
from skrep.metrics._validation import check_count, read_rows
from skrep.typing import FloatArray
from skrep.utils.validation import check_sample_weight

__all__ = ["effective_rank", "local_intrinsic_dimension", "two_nn_dimension"]

METHODS = ("mle", "moments")

KEPT = 0.9
"""Share of the ratios, from the least, through which the line of TwoNN is laid."""

TIE = 1e-9
"""Relative gap of distances, a few times their rounding, up to which they are equal."""


def local_intrinsic_dimension(
    X: npt.ArrayLike, *, n_neighbors: int = 20, method: str = "mle"
) -> float:
    r"""Estimate the dimension that the rows fill around each of them.

    Around a row the number of others within a distance r grows like
    :math:`r^m`. With :math:`r_1 \le \dots \le r_k` the distances to its nearest
    others, the two estimates of m are

    .. math:: m_\mathrm{mle} = -\Bigl(\frac{1}{k - 1} \sum_{j < k}
              \log \frac{r_j}{r_k}\Bigr)^{-1}, \qquad
              m_\mathrm{moments} = \frac{\mu}{r_k - \mu}, \quad
              \mu = \frac{1}{k - 1} \sum_{j < k} r_j,

    by maximum likelihood [1]_ and by the first moment [2]_. The value is their
    harmonic mean over the rows [3]_: the arithmetic one lies too high, by about
    ``1 / (n_neighbors - 2)`` of it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows. Copies of a row count once.
    n_neighbors : int, default=20
        Number of nearest others, from 2 up and below the number of distinct rows.
        Few see a finer scale, many vary less.
    method : {"mle", "moments"}, default="mle"
        The estimate for a row.

    Returns
    -------
    float
        The dimension, above 0.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, `method` is unknown, there are fewer than three
        distinct rows or not more than `n_neighbors`, or no row tells near from far.

    See Also
    --------
    two_nn_dimension : From the two nearest rows alone.
    effective_rank : Dimension of the smallest linear space, in a sense.

    Notes
    -----
    Unchanged by translations, rotations and scale. A row whose `n_neighbors` nearest
    others are all equally far has no estimate and is left out.

    High dimensions are told too low, as rows near the edge of the data see others on
    one side only: 3,000 Gaussian rows in 2, 5, 10 and 20 dimensions give about 2.0,
    5.0, 9.3 and 15.7.

    All pairs are compared, in blocks of rows: time grows with
    ``n_samples**2 * n_features``.

    References
    ----------
    .. [1] Levina, E. and Bickel, P. J. (2004). "Maximum likelihood estimation of
       intrinsic dimension". NeurIPS 17.
    .. [2] Amsaleg, L., Chelly, O., Furon, T., Girard, S., Houle, M. E., Kawarabayashi,
       K. and Nett, M. (2018). "Extreme-value-theoretic estimation of local intrinsic
       dimensionality". Data Mining and Knowledge Discovery, 32(6), 1768-1805.
    .. [3] MacKay, D. J. C. and Ghahramani, Z. (2005). Comments on "Maximum likelihood
       estimation of intrinsic dimension" by E. Levina and P. Bickel.

    Examples
    --------
    A curled sheet in three dimensions has two; its edge costs a little:

    >>> from sklearn.datasets import make_swiss_roll
    >>> from skrep.metrics import local_intrinsic_dimension
    >>> X, _ = make_swiss_roll(1000, random_state=0)
    >>> round(local_intrinsic_dimension(X), 1)
    1.9
    """
    who = "local_intrinsic_dimension"
    validate_parameter_constraints(
        {"method": [StrOptions(set(METHODS))]}, {"method": method}, caller_name=who
    )
    k = check_count(who, "n_neighbors", n_neighbors)
    rows = _distinct(who, X)
    if not 2 <= k < len(rows):
        raise ValueError(
            f"{who}: 'n_neighbors' is {k}, and X has {len(rows)} distinct rows. It "
            "must be 2 or more, and below that number. Pass "
            f"n_neighbors={min(max(k, 2), len(rows) - 1)}, say."
        )
    near = _usable(who, _nearest(rows, k))
    last = near[:, -1]
    if method == "mle":
        inverse = -np.log(near[:, :-1] / last[:, None]).mean(axis=1)
    else:
        inverse = last / near[:, :-1].mean(axis=1) - 1
    return float(1 / inverse.mean())


def two_nn_dimension(X: npt.ArrayLike) -> float:
    r"""Estimate the dimension that the rows fill, from two neighbors of each.

    The ratio :math:`\mu = r_2 / r_1` of the distances to the two nearest others has
    :math:`P(\mu > t) = t^{-m}` where rows are even at the scale of these distances,
    whatever their density. So :math:`-\log(1 - i / n)` over the i-th least
    :math:`\log \mu` lies on a line through zero of slope m. As published [1]_, the
    line is laid by least squares, without the tenth of the rows of largest ratio.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows, at least three distinct ones. Copies of a row count once.

    Returns
    -------
    float
        The dimension, above 0.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, there are fewer than three distinct rows, or
        no row tells near from far.

    See Also
    --------
    local_intrinsic_dimension : From more neighbors: varies less, sees coarser.

    Notes
    -----
    Unchanged by translations, rotations and scale. Noise that is larger than the
    distances to the nearest rows counts as dimensions: compare the value on a part of
    the rows. A row whose two nearest are equally far is left out, so grids and
    rounded columns have no meaningful value.

    All pairs are compared, in blocks of rows: time grows with
    ``n_samples**2 * n_features``.

    References
    ----------
    .. [1] Facco, E., d'Errico, M., Rodriguez, A. and Laio, A. (2017). "Estimating the
       intrinsic dimension of datasets by a minimal neighborhood information".
       Scientific Reports, 7, 12140.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from skrep.metrics import two_nn_dimension
    >>> X, _ = make_swiss_roll(1000, random_state=0)
    >>> round(two_nn_dimension(X), 1)
    2.0
    """
    who = "two_nn_dimension"
    rows = _distinct(who, X)
    near = _usable(who, _nearest(rows, 2))
    ratios = np.sort(np.log(near[:, 1] / near[:, 0]))
    n = len(ratios)
    kept = max(1, int(KEPT * n))
    places = np.arange(1, kept + 1) / max(n, kept + 1)
    ratios = ratios[:kept]
    return float(ratios @ -np.log1p(-places) / (ratios @ ratios))


def effective_rank(
    X: npt.ArrayLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    r"""Count the directions along which the rows are spread.

    With :math:`\sigma_j` the singular values of the centered rows and
    :math:`p_j = \sigma_j / \sum_l \sigma_l`, it is
    :math:`\exp(-\sum_j p_j \log p_j)` [1]_: r if the rows are spread alike along r
    directions and not at all along others.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows: 2 is the row twice, 0 the row absent.

    Returns
    -------
    float
        From 1 to min(n_samples - 1, n_features), or 0 if all rows are equal.

    Raises
    ------
    ValueError
        If an entry is NaN or infinite, or `sample_weight` is negative, all zero or of
        another length.

    See Also
    --------
    local_intrinsic_dimension : Sees a curved sheet as two dimensions; this score sees
        the linear space around it.
    numpy.linalg.matrix_rank : Counts every direction in full, however thin.

    Notes
    -----
    Unchanged by translations, rotations, scale and by repeating all rows. Entropy is
    taken over the singular values, as published, and not over the variances, which
    are their squares and give a smaller number. The published score does not center;
    here it does, lest the mean count as a direction.

    References
    ----------
    .. [1] Roy, O. and Vetterli, M. (2007). "The effective rank: a measure of effective
       dimensionality". EUSIPCO, 606-610.

    Examples
    --------
    >>> from skrep.metrics import effective_rank
    >>> effective_rank([[1, 0], [-1, 0], [0, 1], [0, -1]])
    2.0...
    >>> effective_rank([[1, 0], [-1, 0], [0, 0.1], [0, -0.1]])
    1.35...
    """
    who = "effective_rank"
    rows = read_rows(X, "X", who)
    weights = check_sample_weight(who, sample_weight, len(rows))
    rows, weights = rows[weights > 0], weights[weights > 0]
    rows, _ = recentered(rows, rows)
    rows -= weighted_mean(rows, weights)
    values = svdvals(rows * np.sqrt(weights / weights.max())[:, None])
    shares = values[values > 0]
    if not len(shares):
        return 0.0
    shares /= shares.sum()
    return float(np.exp(-(shares @ np.log(shares))))


def _distinct(who: str, X: npt.ArrayLike) -> FloatArray:
    """Checked rows around zero, in [-2, 2], without copies: three or more."""
    rows = read_rows(X, "X", who)
    rows = np.unique(recentered(rows, rows)[0], axis=0)
    if len(rows) < 3:
        raise ValueError(
            f"{who}: 'X' has {len(rows)} distinct rows. Each needs two others that "
            "differ: pass X with 3 or more distinct rows."
        )
    return rows


def _nearest(rows: FloatArray, n_neighbors: int) -> FloatArray:
    """Distances from each row to its nearest others, in ascending order."""
    nearest = np.empty((len(rows), n_neighbors))
    for block in neighbor_blocks(len(rows)):
        distances = euclidean_distances(rows[block], rows)
        each = np.arange(len(distances))
        distances[each, each + block.start] = np.inf
        least = np.partition(distances, n_neighbors - 1, axis=1)[:, :n_neighbors]
        nearest[block] = np.sort(least, axis=1)
    return nearest


def _usable(who: str, nearest: FloatArray) -> FloatArray:
    """Only the distances of rows with a nearest and a farther neighbor."""
    first, last = nearest[:, 0], nearest[:, -1]
    usable = nearest[(first > 0) & (first < last * (1 - TIE))]
    if not len(usable):
        raise ValueError(
            f"{who}: 'X' has no row with a nearer and a farther neighbor: the nearest "
            "of each are all equally far, as on a grid, and tell no dimension. Pass "
            "more rows, such as all of those that X was drawn from."
        )
    return usable
