"""Retrieval between two spaces whose rows correspond."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from skrep.geometry import unit_rows
from skrep.metrics._validation import check_paired
from skrep.typing import FloatArray, IntArray
from skrep.utils import row_blocks
from skrep.utils.validation import check_sample_weight

__all__ = ["counterpart_ranks", "mean_reciprocal_rank", "places", "recentered"]

METRICS = ("cosine", "euclidean")

COLUMNS = 1024
"""Targets compared at once; with `row_blocks` it keeps a tile in cache."""


def mean_reciprocal_rank(
    queries: npt.ArrayLike,
    targets: npt.ArrayLike,
    *,
    metric: str = "cosine",
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """Score how well each query finds its counterpart among all targets.

    Row `i` of `queries` looks for row `i` of `targets`. Its rank is the place of that
    row when all targets are sorted from most to least alike, and the score is the
    mean of one over the rank [1]_: 1 if every row finds its counterpart first, and
    about ``(0.58 + log(n)) / n`` for `n` rows in random order.

    Parameters
    ----------
    queries : array-like of shape (n_samples, n_features)
        Rows that search, such as one encoder's rows in the common space.
    targets : array-like of shape (n_samples, n_features)
        Rows that are searched, such as another encoder's rows of the same things.
    metric : {"cosine", "euclidean"}, default="cosine"
        Order the targets by cosine or by distance.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the queries in the mean. All rows stay among the targets, those of
        weight 0 too.

    Returns
    -------
    float
        Mean reciprocal rank, in (0, 1].

    Raises
    ------
    ValueError
        If the shapes differ, an entry is NaN or infinite, `metric` is unknown, or
        `sample_weight` is negative, all zero or of another length.

    See Also
    --------
    stitching_scores : This score beside the accuracies of stitched heads.
    sklearn.metrics.label_ranking_average_precision_score : Equals this score when
        there are no ties and every row has one relevant label.

    Notes
    -----
    Equal targets share the mean of the places that they fill. So a space collapsed
    to one point, where every rank is ``(n + 1) / 2``, scores ``2 / (n + 1)``, below
    random order; ties never help. Targets count as equal when their scores differ by
    no more than the rounding of a dot product in float64.

    The cosine with a zero row is 0: a zero query finds all targets equal.

    All pairs are compared, in tiles of a few MiB: time grows with
    ``n_samples**2 * n_features``, memory with ``n_samples * n_features``.

    References
    ----------
    .. [1] Voorhees, E. M. (1999). "The TREC-8 question answering track report".
       Proceedings of TREC-8, 77-82.
    .. [2] Moschella, L., Maiorca, V., Fumero, M., Norelli, A., Locatello, F. and
       Rodolà, E. (2023). "Relative representations enable zero-shot latent space
       communication". ICLR.

    Examples
    --------
    >>> from skrep.metrics import mean_reciprocal_rank
    >>> targets = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]
    >>> mean_reciprocal_rank(targets, targets)
    1.0

    The last query finds its counterpart second, after the first target:

    >>> mean_reciprocal_rank([[2.0, 0.1], [0.0, 1.0], [3.0, 1.0]], targets)
    0.833...
    """
    who = "mean_reciprocal_rank"
    validate_parameter_constraints(
        {"metric": [StrOptions(set(METRICS))]}, {"metric": metric}, caller_name=who
    )
    queries, targets = check_paired(queries, targets, ("queries", "targets"), who)
    weights = check_sample_weight(who, sample_weight, queries.shape[0])
    ranks = counterpart_ranks(queries, targets, metric)
    return float(np.average(1 / ranks, weights=weights))


def counterpart_ranks(
    queries: FloatArray, targets: FloatArray, metric: str
) -> FloatArray:
    """Mid-rank (n,) of target i as seen from query i; 1 is best. Inputs are float64."""
    pairs = np.arange(targets.shape[0])
    better, tied = places(queries, targets, pairs, pairs, metric)
    return better + (tied + 1) / 2


def places(
    queries: FloatArray,
    targets: FloatArray,
    owners: IntArray,
    wanted: IntArray,
    metric: str,
) -> tuple[FloatArray, FloatArray]:
    """Places of the wanted target of each pair, as seen from the pair's query.

    Returns how many targets are better, and how many are equal, itself included: the
    places from ``better + 1`` to ``better + tied`` are theirs. Inputs are float64.
    """
    n_rows, n_features = targets.shape
    # Twice the rounding bound of a dot product: what no order may rest on. Twice, as an
    # equal target's own offset is covered by the two sizes below.
    unit_slack = (n_features + 8) * np.finfo(np.float64).eps
    cosine = metric == "cosine"
    if cosine:
        queries, targets = unit_rows(queries)[0], unit_rows(targets)[0]
        offsets = np.zeros(n_rows)
    else:
        queries, targets = recentered(queries, targets)
        # |q - t|^2 sorts like |t|^2 / 2 - q.t within a query.
        offsets = np.sum(targets**2, axis=1) / 2
    target_norms = np.linalg.norm(targets, axis=1)

    n_pairs = len(owners)
    better = np.zeros(n_pairs)
    tied = np.zeros(n_pairs)
    for pairs in row_blocks(n_pairs, row_bytes=4 * 8 * min(n_rows, COLUMNS)):
        asking, found = queries[owners[pairs]], wanted[pairs]
        own = np.sum(asking * targets[found], axis=1) - offsets[found]
        asking_norms = np.linalg.norm(asking, axis=1)
        own_size = asking_norms * target_norms[found] + offsets[found]
        for columns in row_blocks(n_rows, row_bytes=1, budget=COLUMNS):
            gap = asking @ targets[columns].T
            gap -= own[:, None]
            slack: Any = 2 * unit_slack
            if not cosine:
                gap -= offsets[columns]
                slack = np.outer(asking_norms, target_norms[columns])
                slack += own_size[:, None]
                slack *= unit_slack
            ahead = np.count_nonzero(gap > slack, axis=1)
            better[pairs] += ahead
            tied[pairs] += np.count_nonzero(gap >= -slack, axis=1) - ahead
    return better, tied


def recentered(
    queries: FloatArray, targets: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Both around a common point and scale: distances keep their order and digits."""
    peak = max(np.max(np.abs(queries)), np.max(np.abs(targets)))
    # A power of two, so that the division is exact.
    exponent = -np.frexp(peak)[1]
    queries, targets = np.ldexp(queries, exponent), np.ldexp(targets, exponent)
    # The median, not the mean: one far row must not cost the others their digits.
    center = np.median(targets, axis=0)
    return queries - center, targets - center
