"""Choosing an alignment from the pairs alone: can left-out rows find their partners?

Squared error is the wrong judge of a map between embedding spaces. It prefers maps
that shrink every output towards a few common directions, where rows can no longer be
told apart. The judge here is a contrastive one: a held-out source row is mapped, and
the cross-entropy of picking its own partner among the pairs is taken.
"""

from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import logsumexp

from skrep.geometry import unit_rows
from skrep.relative._alignment_maps import PairedSpan, Pairs
from skrep.typing import FloatArray, IntArray

__all__ = ["best_candidate", "distinct_pairs", "fold_numbers", "held_out_losses"]

N_FOLDS = 5
MAX_JUDGED = 512
# Settled on train rows of WordNet glosses under three encoders, 64 to 512 pairs.
SHARPNESS = 0.25

Refit = Callable[[FloatArray, FloatArray, FloatArray], tuple[Pairs, PairedSpan]]
Candidates = Callable[[PairedSpan], Iterator[FloatArray]]


def distinct_pairs(
    X: FloatArray, Y: FloatArray, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Merge equal pairs into one of their total weight; drop those of weight 0.

    A row of weight 2 is then the same thing as the row twice in all that follows,
    cross-validation included, and the order of the rows has no say.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_features), float64
        Source rows.
    Y : ndarray of shape (n_rows, n_outputs), float64
        Their partners.
    weights : ndarray of shape (n_rows,)
        Non-negative weights.

    Returns
    -------
    X, Y, weights : ndarray
        The distinct pairs of positive weight, in an order given by their content.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.relative._alignment_cv import distinct_pairs
    >>> X = np.array([[1.0], [1.0], [0.0]])
    >>> distinct_pairs(X, X, np.array([1.0, 2.0, 0.0]))[2]
    array([3.])
    """
    kept = weights > 0
    joined = np.ascontiguousarray(np.hstack([Y[kept], X[kept]]))
    joined += 0.0  # -0.0 and 0.0 are the same value but not the same bytes
    as_bytes = joined.view(np.dtype((np.void, joined.dtype.itemsize * joined.shape[1])))
    _, first, group = np.unique(as_bytes, return_index=True, return_inverse=True)
    rows = joined[first]
    total: FloatArray = np.zeros(first.size)
    np.add.at(total, group.ravel(), weights[kept])
    return rows[:, Y.shape[1] :], rows[:, : Y.shape[1]], total


def fold_numbers(
    X: FloatArray, Y: FloatArray, center: bool
) -> tuple[IntArray, IntArray]:
    """Deal distinct pairs into folds by their content.

    The pairs are put in the order of their partners, with the distance of the source
    row from the mean to break ties, and dealt out in turn. Nothing is drawn at
    random, and rotating, shifting or scaling the source leaves the folds alone.

    Parameters
    ----------
    X, Y : ndarray
        Distinct pairs, from `distinct_pairs`.
    center : bool
        Whether distances are from the mean or from the origin.

    Returns
    -------
    folds : ndarray of shape (n_pairs,)
        Fold of each pair, below min(5, n_pairs).
    judged : ndarray of shape (at most 512,)
        Pairs, spread evenly, that compete in the contrastive loss.
    """
    centered = X - X.mean(axis=0) if center else X
    distance = np.einsum("ij,ij->i", centered, centered)
    order = np.lexsort((distance, *Y[:, 3::-1].T))
    step = -(-order.size // MAX_JUDGED)
    folds = np.empty(order.size, dtype=np.intp)
    folds[order] = (np.arange(order.size) // step) % min(N_FOLDS, order.size)
    return folds, order[::step]


def held_out_losses(
    X: FloatArray,
    Y: FloatArray,
    weights: FloatArray,
    center: bool,
    refit: Refit,
    candidates: Candidates,
) -> tuple[FloatArray, FloatArray]:
    r"""Contrastive loss and error of every candidate map on held-out pairs.

    With :math:`c_{ij}` the cosine between the mapped row i and the partner j, both
    centered by the means of the fitting pairs, the loss of row i is

    .. math:: -\log \frac{\exp(c_{ii} / \tau)}{\sum_j \exp(c_{ij} / \tau)} ,
        \qquad \tau = \frac{\sigma\,(1 - \rho^2)}{4 \rho} ,

    where :math:`\sigma` is the root-mean-square cosine between different partners
    and :math:`\rho` the best mean :math:`c_{ii}` of any candidate. The better rows
    can be aligned, the sharper the judge; the form is the inverse concentration of
    a von Mises-Fisher distribution with mean cosine :math:`\rho` [2]_. A
    single output column has no direction; there both numbers are the squared error.

    Parameters
    ----------
    X : ndarray of shape (n_pairs, n_features)
        Distinct source rows.
    Y : ndarray of shape (n_pairs, n_outputs)
        Their partners.
    weights : ndarray of shape (n_pairs,)
        Positive weights.
    center : bool
        Whether the rows are centered.
    refit : callable
        ``refit(X, Y, weights)`` returns the prepared pairs and their span.
    candidates : callable
        ``candidates(span)`` yields the maps H in a fixed order.

    Returns
    -------
    losses, errors : ndarray of shape (n_candidates,)
        Weighted means over the held-out pairs.

    References
    ----------
    .. [1] van den Oord, A., Li, Y. and Vinyals, O. (2018). Representation learning
       with contrastive predictive coding. arXiv:1807.03748.
    .. [2] Banerjee, A., Dhillon, I. S., Ghosh, J. and Sra, S. (2005). Clustering on
       the unit hypersphere using von Mises-Fisher distributions. Journal of Machine
       Learning Research, 6, 1345-1382.
    """
    folds, judged = fold_numbers(X, Y, center)
    n, one_column = judged.size, Y.shape[1] == 1
    similarities: list[FloatArray] = []
    errors: list[FloatArray] = []
    for fold in range(int(folds.max()) + 1):
        train = folds != fold
        tested = np.flatnonzero(folds[judged] == fold)
        pairs, span = refit(X[train], Y[train], weights[train])
        held = ((X[judged[tested]] - pairs.mean) / pairs.scale) @ span.V
        partners = (Y[judged] - pairs.y_mean) / pairs.y_scale
        units, partner_norms = unit_rows(partners)
        light = units.astype(np.float32)
        for i, H in enumerate(candidates(span)):
            if i == len(errors):
                errors.append(np.zeros(n))
                # float32: every candidate's n x n cosines are kept for one tau.
                similarities.append(np.zeros((0 if one_column else n, n), np.float32))
            mapped = held @ H
            if one_column:
                errors[i][tested] = ((mapped - partners[tested]) ** 2).ravel()
                continue
            directions, norms = unit_rows(mapped)
            # One minus the cosine, without its cancellation.
            error = np.sum((directions - units[tested]) ** 2, axis=1) / 2
            error[(norms == 0) | (partner_norms[tested] == 0)] = 1
            errors[i][tested] = error
            similarities[i][tested] = directions.astype(np.float32) @ light.T
    share = weights[judged] / weights[judged].sum()
    mean_errors = np.array([float(share @ error) for error in errors])
    if one_column:
        return mean_errors, mean_errors
    units = unit_rows(Y[judged] - (np.mean(Y[judged], axis=0) if center else 0))[0]
    # The mean square of the cosines, without the n ones of the diagonal.
    squares = float(np.vdot(gram := units @ units.T, gram)) - n
    spread = np.sqrt(max(squares, 0.0) / max(1, n * (n - 1)))
    rho = max(1 - float(mean_errors.min()), 0.01)
    # Above the rounding of float32 cosines.
    tau = max(SHARPNESS * spread * (1 - rho**2) / rho, 1e-6)
    return np.array([share @ _cross_entropy(c, tau) for c in similarities]), mean_errors


def best_candidate(losses: FloatArray, errors: FloatArray) -> int:
    """Index of the least loss, and of equal losses that of the least error.

    Parameters
    ----------
    losses, errors : ndarray of shape (n_candidates,)
        From `held_out_losses`.

    Returns
    -------
    int
        The index; of equal candidates the first.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.relative._alignment_cv import best_candidate
    >>> best_candidate(np.array([0.3, 0.2, 0.2]), np.array([0.1, 0.3, 0.2]))
    2
    >>> best_candidate(np.array([0.3, 0.2, 0.2]), np.array([1e-9, 0.3, 0.2]))
    0
    """
    # Angles of a thousandth and less leave nothing to tell apart but rounding.
    judge = errors if errors.min() < 1e-6 else losses
    best = judge <= judge.min() * (1 + 1e-9) + 1e-24
    near = np.where(best, errors, np.inf)
    return int(np.argmax(near <= near.min() * (1 + 1e-9) + 1e-24))


def _cross_entropy(similarity: FloatArray, tau: float) -> FloatArray:
    logits = (similarity - np.diag(similarity)[:, None]).astype(np.float64) / tau
    result: FloatArray = logsumexp(logits, axis=1)
    return result
