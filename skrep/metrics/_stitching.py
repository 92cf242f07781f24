"""Zero-shot stitching: one space's head on another space's rows."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.metrics import accuracy_score
from sklearn.utils import column_or_1d

from skrep.metrics._retrieval import mean_reciprocal_rank
from skrep.metrics._validation import check_paired
from skrep.utils.validation import check_sample_weight

__all__ = ["stitching_scores"]

WHO = "stitching_scores"


def stitching_scores(
    head: Any,
    X_own: npt.ArrayLike,
    X_stitched: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    other_head: Any = None,
    X_other: npt.ArrayLike | None = None,
    metric: str = "cosine",
    sample_weight: npt.ArrayLike | None = None,
) -> dict[str, float]:
    """Score a classifier on rows that reach it from another encoder.

    A head was trained on the rows of its own space, in a common representation.
    Stitching shows it the same things as another encoder sees them, brought into
    that representation, without training [1]_. All rows here are test rows.

    Parameters
    ----------
    head : fitted classifier
        Trained on the common representation of its own space; it has `predict`.
    X_own : array-like of shape (n_samples, n_features)
        Test rows of the head's own space, in the common representation.
    X_stitched : array-like of shape (n_samples, n_features)
        The same rows as the other encoder sees them, in the common representation.
    y : array-like of shape (n_samples,)
        Their classes.
    other_head : fitted classifier, default=None
        Trained on the other encoder's rows. Goes with `X_other`.
    X_other : array-like of shape (n_samples, n_other_features), default=None
        The same rows as `other_head` reads them; any number of columns.
    metric : {"cosine", "euclidean"}, default="cosine"
        Metric of the retrieval between `X_stitched` and `X_own`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in every score.

    Returns
    -------
    dict of str to float
        In this order, each between 0 and 1:

        - ``"own"``: accuracy of `head` on `X_own`, what it does at home;
        - ``"stitched"``: accuracy of `head` on `X_stitched`;
        - ``"mrr"``: mean reciprocal rank at which rows of `X_stitched` find their
          counterparts in `X_own`;
        - ``"ceiling"``: accuracy of `other_head` on `X_other`, what training anew
          would give; left out without `other_head`;
        - ``"floor"``: share of the most frequent class of `y`, what always answering
          that class would give.

    Raises
    ------
    ValueError
        If `X_own` and `X_stitched` differ in shape, a length differs, an entry is NaN
        or infinite, or only one of `other_head` and `X_other` is given.
    TypeError
        If a head has no `predict`, or is a regressor.

    See Also
    --------
    mean_reciprocal_rank : The retrieval score alone.
    sklearn.metrics.accuracy_score : The accuracy used.

    Notes
    -----
    Read ``(stitched - floor) / (ceiling - floor)`` as the share of what the other
    encoder has to give that survives the stitch. High accuracy with a low mean
    reciprocal rank says that the classes agree and the rows within them do not.

    References
    ----------
    .. [1] Moschella, L., Maiorca, V., Fumero, M., Norelli, A., Locatello, F. and
       Rodolà, E. (2023). "Relative representations enable zero-shot latent space
       communication". ICLR.
    .. [2] Voorhees, E. M. (1999). "The TREC-8 question answering track report".
       Proceedings of TREC-8, 77-82.

    Examples
    --------
    Two spaces that are an orthogonal map apart. Inner products with the same ten rows
    are a representation that both share:

    >>> from sklearn.linear_model import LogisticRegression
    >>> from skrep.datasets import make_parallel_spaces
    >>> from skrep.metrics import stitching_scores
    >>> X, Y, labels = make_parallel_spaces(n_classes=5, random_state=0)
    >>> common_X, common_Y = X @ X[:10].T, Y @ Y[:10].T
    >>> head = LogisticRegression().fit(common_X[:300], labels[:300])
    >>> other = LogisticRegression().fit(Y[:300], labels[:300])
    >>> scores = stitching_scores(
    ...     head,
    ...     common_X[300:],
    ...     common_Y[300:],
    ...     labels[300:],
    ...     other_head=other,
    ...     X_other=Y[300:],
    ... )
    >>> list(scores)
    ['own', 'stitched', 'mrr', 'ceiling', 'floor']
    >>> scores["stitched"] == scores["own"], scores["mrr"]
    (True, 1.0)
    >>> scores["floor"] < scores["ceiling"]
    True
    """
    _check_head(head, "head")
    names = ("X_own", "X_stitched")
    own, stitched = check_paired(X_own, X_stitched, names, WHO)
    y = column_or_1d(y)
    _check_length(y, "y", own.shape[0])
    weights = check_sample_weight(WHO, sample_weight, own.shape[0])
    if (other_head is None) != (X_other is None):
        given, missing = "other_head", "X_other"
        if other_head is None:
            given, missing = missing, given
        raise ValueError(
            f"{WHO}: '{given}' is given and '{missing}' is None. The ceiling needs "
            f"both: pass {missing} too, or leave both out."
        )

    def accuracy(classifier: Any, rows: Any) -> float:
        # The caller's own container, so that a head fitted on a frame sees its names.
        predicted = classifier.predict(rows)
        return float(accuracy_score(y, predicted, sample_weight=weights))

    scores = {
        "own": accuracy(head, X_own),
        "stitched": accuracy(head, X_stitched),
        "mrr": mean_reciprocal_rank(
            stitched, own, metric=metric, sample_weight=weights
        ),
    }
    if other_head is not None:
        _check_head(other_head, "other_head")
        _check_length(X_other, "X_other", own.shape[0])
        scores["ceiling"] = accuracy(other_head, X_other)
    _, codes = np.unique(y, return_inverse=True)
    scores["floor"] = float(np.bincount(codes, weights).max() / weights.sum())
    return scores


def _check_head(head: Any, name: str) -> None:
    if not hasattr(head, "predict") or is_regressor(head):
        raise TypeError(
            f"{WHO}: '{name}' is a {type(head).__name__}. It must be a fitted "
            "classifier, because the scores are accuracies. Pass one, such as "
            "LogisticRegression().fit(X_train, y_train)."
        )


def _check_length(rows: Any, name: str, expected: int) -> None:
    found = rows.shape[0] if hasattr(rows, "shape") else len(rows)
    if found != expected:
        raise ValueError(
            f"{WHO}: '{name}' has {found} rows and 'X_own' has {expected}. All inputs "
            f"describe the same rows. Select the same rows of '{name}'."
        )
