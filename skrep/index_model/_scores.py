"""Scores of a caller's own, and the choice among those that skrep has."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from skrep.index_model._mixture import MixtureScores
from skrep.index_model._mixture_fit import fit_mixture, fit_tied
from skrep.index_model._row_scores import RowScores, fisher_root, linear_part
from skrep.index_model._student import StudentScores, fit_student, student_scores
from skrep.linalg import Whitening
from skrep.typing import FloatArray

__all__ = [
    "CallableScores",
    "RowScores",
    "auto_scores",
    "callable_scores",
]

Weighted = Callable[[FloatArray], Any]


@dataclass(frozen=True)
class CallableScores:
    r"""Scores of raw rows from a function of the caller, carried to whitened ones.

    As :math:`s_x = W s_z` and :math:`T_x = W T_z W^\top`, the left inverse of W leads
    back.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Whitened rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    scores : ndarray of shape (n_rows, rank)
        Scores of the whitened rows.
    weighted : callable or None
        Mean over rows of numbers times :math:`T_x`; None where order two is unknown.
    inverse : ndarray of shape (rank, n_features)
        Left inverse of the whitening map.
    """

    Z: FloatArray
    weights: FloatArray
    scores: FloatArray
    weighted: Weighted | None
    inverse: FloatArray
    metric: FloatArray = field(init=False)

    def __post_init__(self) -> None:
        shares = (self.weights / self.weights.sum())[:, None]
        information = (self.scores * shares).T @ self.scores
        object.__setattr__(self, "metric", fisher_root(information))

    def first(self, G: FloatArray) -> FloatArray:
        """Average features times the score; see `RowScores`."""
        slopes, rest = linear_part(self.Z, self.weights, G)
        shares = (self.weights / self.weights.sum())[:, None]
        return slopes + (rest * shares).T @ self.scores

    def second(self, G: FloatArray) -> FloatArray:
        """Average features times the score of order two; see `RowScores`."""
        if self.weighted is None:
            raise ValueError(
                "SteinIndex: 'score_model' returned an array of scores alone, and "
                "'order' needs those of order two. Return (scores, weighted), or pass "
                "order=1."
            )
        rest = linear_part(self.Z, self.weights, G)[1]
        rest *= (self.weights * len(rest) / self.weights.sum())[:, None]
        width = self.inverse.shape[1]
        found = []
        for column in rest.T:
            moment = np.asarray(self.weighted(column.copy()), dtype=np.float64)
            if moment.shape != (width, width) or not np.isfinite(moment).all():
                raise ValueError(
                    "SteinIndex: 'score_model' gave a function whose result has shape "
                    f"{moment.shape}{_or_not_finite(moment)}. It must be finite and of "
                    f"shape ({width}, {width}): return the mean over rows of the given "
                    "numbers times T(x)."
                )
            moment = self.inverse @ moment @ self.inverse.T
            found.append((moment + moment.T) / 2)
        return np.stack(found)


def callable_scores(
    score: Callable[[FloatArray], Any],
    X: FloatArray,
    white: Whitening,
    weights: FloatArray,
) -> CallableScores:
    """Take the scores that a function gives for raw rows.

    Parameters
    ----------
    score : callable
        From rows of shape (n_rows, n_features) to their scores, minus the gradient of
        the log-density, of the same shape; or to a pair of these and a function
        `weighted`: from a number per row to the mean of number times T(x), of shape
        (n_features, n_features).
    X : ndarray of shape (n_rows, n_features)
        Raw rows.
    white : Whitening
        Their whitening.
    weights : ndarray of shape (n_rows,)
        Their weights.

    Returns
    -------
    CallableScores
        The scores of the whitened rows.

    Raises
    ------
    ValueError
        If the scores are not finite, or not of the shape of X.
    """
    answer = score(X)
    weighted = None
    if isinstance(answer, tuple) and len(answer) == 2:
        answer, weighted = answer
    try:
        scores = np.asarray(answer, dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.full(0, np.nan)
    if scores.shape != X.shape or not np.isfinite(scores).all():
        raise ValueError(
            f"SteinIndex: 'score_model' returned scores of shape {scores.shape}"
            f"{_or_not_finite(scores)} for rows of shape {X.shape}. It must give each "
            "row minus the gradient of its log-density: return a finite array of "
            "X.shape, or (scores, weighted)."
        )
    if weighted is not None and not callable(weighted):
        raise ValueError(
            f"SteinIndex: 'score_model' returned scores and a {type(weighted).__name__}"
            ". The second must be a function of a number per row: return (scores, "
            "weighted), or scores alone."
        )
    Z = (np.asarray(X, dtype=np.float64) - white.mean) @ white.map
    return CallableScores(Z, weights, scores @ white.inverse.T, weighted, white.inverse)


def auto_scores(
    Z: FloatArray, weights: FloatArray, random_state: object
) -> tuple[str, RowScores]:
    """Choose a score model by the likelihood of the rows, less what it may fit by luck.

    The criterion of Schwarz stands for the likelihood of rows held out, and needs no
    split: the choice depends neither on the order of the rows nor on a draw of them. A
    density so narrow in some direction that k + 1 rows outweigh it, as on columns of
    few values, is no choice: its scores are not those of a smooth density.

    Parameters
    ----------
    Z : ndarray of shape (n_rows, rank)
        Rows of mean 0 and covariance one.
    weights : ndarray of shape (n_rows,)
        Non-negative weights; 2 is a row twice, 0 an absent one.
    random_state : int, RandomState instance or None
        Randomness of the mixture's starts.

    Returns
    -------
    name : {"gaussian", "student", "mixture"}
        The model.
    scores : RowScores
        Its scores.
    """
    Z, k = np.asarray(Z, dtype=np.float64), Z.shape[1]
    present = weights > 0
    n_rows = max(float(weights.sum()), float(np.count_nonzero(present)))
    counts = weights * (n_rows / weights.sum())
    gaussian = StudentScores(Z, weights, np.inf, np.zeros(k), np.eye(k))
    if n_rows <= 2 * k + 2:
        return "gaussian", gaussian
    draws = np.random.RandomState(0)
    lowest = fit_tied(Z[present], counts[present], 1, draws)[0].criterion
    narrowest = 2 * (k + 1) / n_rows
    name, scores = "gaussian", gaussian
    student = fit_student(Z, counts)
    numbers = 1 + k + k * (k + 1) / 2
    criterion = numbers * np.log(n_rows) - 2 * student.log_likelihood
    if criterion < lowest and np.linalg.eigvalsh(student.scale)[0] > narrowest:
        name, scores, lowest = "student", student_scores(Z, weights), criterion
    fitted = fit_mixture(Z, weights, random_state)
    if len(fitted.mixture.shares) > 1 and fitted.criterion < lowest:
        widths = np.linalg.eigvalsh(fitted.mixture.covariances)
        if widths.min() > narrowest:
            return "mixture", MixtureScores(Z, weights, fitted.mixture)
    return name, scores


def _or_not_finite(values: FloatArray) -> str:
    return "" if np.isfinite(values).all() else " and with NaN or infinity"
