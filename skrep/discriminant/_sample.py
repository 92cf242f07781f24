"""Rows and classes to learn from."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import column_or_1d

from skrep.typing import AnyArray, FloatArray, IntArray, Matrix
from skrep.utils.merging import check_same_labels
from skrep.utils.targets import check_classes
from skrep.utils.validation import check_sample_weight, validate_rows

__all__ = [
    "Sample",
    "check_two_classes",
    "join_classes",
    "read_sample",
]


class Sample(NamedTuple):
    """Rows to learn from.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    codes : ndarray of shape (n_rows,)
        Positions of their classes among the sorted labels.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    """

    X: Matrix
    codes: IntArray
    weights: FloatArray

    def at(self, positions: IntArray) -> "Sample":
        """Give some of the rows.

        Parameters
        ----------
        positions : ndarray of int
            Their positions.

        Returns
        -------
        Sample
            These rows.
        """
        X, codes, weights = self
        return Sample(X[positions], codes[positions], weights[positions])


def read_sample(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool = True
) -> tuple[Sample, AnyArray]:
    """Validate rows, classes and weights.

    Parameters
    ----------
    estimator : estimator
        Whose `class_weight` counts, and which is named in errors.
    X : {array-like, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,)
        Labels.
    sample_weight : array-like of shape (n_rows,) or None
        Weights.
    reset : bool, default=True
        Whether these are the first rows.

    Returns
    -------
    sample : Sample
        Rows of positive weight, which `class_weight` has a share in.
    classes : ndarray of shape (n_classes,)
        Their sorted labels.

    Raises
    ------
    ValueError
        If something does not suit, or y holds numbers.
    """
    who = type(estimator).__name__
    least = 2 if reset else 1
    X = validate_rows(
        estimator, X, reset=reset, accept_sparse="csr", ensure_min_samples=least
    )
    weights = check_sample_weight(who, sample_weight, X.shape[0])
    check_classes(who, y, X.shape[0])
    kept = weights > 0
    if not kept.all():
        X, weights = X[kept], weights[kept]
    y = column_or_1d(y, warn=True)[kept]
    classes, codes = np.unique(y, return_inverse=True)
    given = estimator.class_weight
    if isinstance(given, dict):
        given = _checked_class_weight(who, given, classes, reset=reset)
    shares = compute_class_weight(given, classes=classes, y=y, sample_weight=weights)
    return Sample(X, codes, weights * shares[codes]), classes


def _checked_class_weight(
    who: str, given: dict[Any, Any], classes: AnyArray, *, reset: bool
) -> dict[Any, Any]:
    """Weights of the classes that are there; further rows need not hold all."""
    labels = classes.tolist()
    for label, weight in given.items():
        if not isinstance(weight, Real) or not 0 < float(weight) < np.inf:
            raise ValueError(
                f"{who}: 'class_weight' gives class {label!r} the weight {weight!r}. "
                "It must be a positive number: to leave a class out, pass "
                f"sample_weight=(y != {label!r})."
            )
        if reset and label not in labels:
            raise ValueError(
                f"{who}: 'class_weight' names class {label!r}, and 'y' holds "
                f"{labels[:5]}. Pass the labels of y as its keys."
            )
    return {label: given[label] for label in labels if label in given}


def check_two_classes(who: str, classes: AnyArray) -> None:
    """Refuse to tell one class apart.

    Parameters
    ----------
    who : str
        The estimator that is named in the error.
    classes : ndarray of shape (n_classes,)
        The labels.

    Raises
    ------
    ValueError
        If there is but one.
    """
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise ValueError(
            f"{who}: 'y' has 1 class, {only!r}, among the rows of positive weight. It "
            "needs two or more: pass rows of another class."
        )


def join_classes(who: str, one: AnyArray, other: Any) -> AnyArray:
    """Join two sets of labels.

    Parameters
    ----------
    who : str
        The estimator that is named in the error.
    one : ndarray of shape (n_classes,)
        Labels.
    other : array-like of shape (n_others,)
        Further ones.

    Returns
    -------
    ndarray of shape (n_joined,)
        The sorted labels.

    Raises
    ------
    ValueError
        If some are text and some are numbers, or one is not a number.
    """
    other = np.atleast_1d(np.asarray(other))
    if other.dtype.kind == "f" and not np.isfinite(other).all():
        raise ValueError(
            f"{who}: 'classes' is {other.tolist()}. Labels must be finite: pass "
            "classes=np.unique(y)."
        )
    check_same_labels(who, one, other)
    joined: AnyArray = np.union1d(one, other)
    return joined
