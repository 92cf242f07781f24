"""Stein moments of response features where the score needs the rows themselves."""

from typing import Any

import numpy as np

from skrep.index_model._denoising import (
    denoising_matrix,
    denoising_scores,
    gaussian_denoising_matrix,
    noise_variance,
)
from skrep.index_model._features import Features
from skrep.index_model._mixture import mixture_scores
from skrep.index_model._response import Rule, clipped, slice_response
from skrep.index_model._scores import RowScores, auto_scores, callable_scores
from skrep.index_model._student import student_scores
from skrep.linalg import Moments, Whitening, whitening
from skrep.typing import AnyArray, FloatArray

__all__ = ["denoising_form", "row_features", "row_scores"]


def row_scores(
    score_model: Any,
    X: FloatArray,
    white: Whitening,
    weights: FloatArray,
    random_state: Any,
) -> tuple[Any, RowScores]:
    """Fit a score model to rows.

    Parameters
    ----------
    score_model : {"student", "mixture", "denoising", "auto"} or callable
        The model.
    X : ndarray of shape (n_rows, n_features)
        Rows.
    white : Whitening
        Their whitening.
    weights : ndarray of shape (n_rows,)
        Their weights.
    random_state : int, RandomState instance or None
        Randomness of mixtures and of noise.

    Returns
    -------
    name : str or callable
        The model; what "auto" has chosen.
    scores : RowScores
        Its scores of the whitened rows.
    """
    if callable(score_model):
        return score_model, callable_scores(score_model, X, white, weights)
    Z = (X - white.mean) @ white.map
    if score_model == "auto":
        return auto_scores(Z, weights, random_state)
    if score_model == "student":
        return score_model, student_scores(Z, weights)
    if score_model == "mixture":
        return score_model, mixture_scores(Z, weights, random_state)
    return score_model, denoising_scores(Z, weights, random_state)


def row_features(
    scores: RowScores,
    rule: Rule,
    values: AnyArray,
    weights: FloatArray,
    *,
    second: bool,
) -> list[Features]:
    """Average response features times scores, where noise is alike in all directions.

    Parameters
    ----------
    scores : RowScores
        Scores of the rows.
    rule : Rule
        How responses are read.
    values : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Labels or numbers.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    second : bool
        Whether moments of order two are needed.

    Returns
    -------
    list of Features
        Moments of each response, in the metric of the scores.
    """
    back = np.linalg.inv(scores.metric)
    found = []
    for G, shares in _indicators(rule, values, weights):
        inner = None
        if second:
            inner = back @ scores.second(G) @ back
        ordered = rule.kind == "slices"
        found.append(Features(scores.first(G) @ back, inner, shares, ordered))
    return found


def _indicators(
    rule: Rule, values: AnyArray, weights: FloatArray
) -> list[tuple[FloatArray, FloatArray | None]]:
    """Centered features of unit variance, and the shares of slices, by response."""
    total = weights.sum()
    if rule.kind == "raw":
        y = clipped(values, rule)
        moments = Moments.of(y, weights)
        return [((y - moments.mean) @ whitening(moments).map, None)]
    labels = [values] if rule.kind == "classes" else slice_response(values, rule)
    found = []
    for one in labels:
        distinct, codes = np.unique(one, return_inverse=True)
        shares = np.bincount(codes, weights) / total
        if len(distinct) > 1:
            G = (np.eye(len(distinct))[codes] - shares) / np.sqrt(shares)
            found.append((G, shares))
    return found


def denoising_form(
    model: str,
    order: int,
    X: FloatArray,
    weights: FloatArray,
    moments: Moments,
    white: Whitening,
    random_state: Any,
) -> FloatArray:
    """Average the gradients of the best guess of rows from rows with noise.

    Parameters
    ----------
    model : {"gaussian", "mixture"}
        Density of the rows.
    order : {1, 2}
        Mean gradient, or mean square of it.
    X : ndarray of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Their weights.
    moments : Moments
        Their moments.
    white : Whitening
        Their whitening, without a ridge.
    random_state : int, RandomState instance or None
        Randomness of the mixture and of the noise.

    Returns
    -------
    ndarray of shape (n_features, n_features)
        The matrix, in raw columns.
    """
    covariance = moments.covariance
    variance = noise_variance(covariance)
    if model == "gaussian":
        return gaussian_denoising_matrix(covariance, variance, order)
    return denoising_matrix(
        X, weights, white, random_state, variance=variance, order=order
    )
