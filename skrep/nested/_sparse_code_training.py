"""From rows, and classes if there are any, to trained atoms."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from skrep._neural import (
    Standardization,
    check_network_params,
    draw_seed,
    hold_out,
    run_training,
    standardization,
    tensor_rows,
    training_plan,
    training_rows,
)
from skrep.linalg import weighted_mean
from skrep.nested._sparse_code_atoms import class_turn, first_atoms
from skrep.typing import FloatArray, IntArray, Matrix
from skrep.utils.targets import check_classes, check_target
from skrep.utils.validation import check_sample_weight, validate_rows

__all__ = ["Sample", "centering", "read_sample", "train_atoms"]

BATCH = 256


class Sample(NamedTuple):
    """Rows to learn from.

    Parameters
    ----------
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    codes : ndarray of shape (n_rows,) or None
        Their classes, numbered as they come, if they count.
    weights : ndarray of shape (n_rows,)
        Positive weights.
    """

    X: Matrix
    codes: IntArray | None
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
        codes = None if self.codes is None else self.codes[positions]
        return Sample(self.X[positions], codes, self.weights[positions])

    @property
    def strata(self) -> IntArray:
        """The classes; all zero where there are none."""
        n_rows = self.X.shape[0]
        return np.zeros(n_rows, dtype=np.intp) if self.codes is None else self.codes


def read_sample(estimator: Any, X: Any, y: Any, sample_weight: Any) -> Sample:
    """Validate rows, classes and weights.

    Parameters
    ----------
    estimator : estimator
        Whose `objective` says whether classes count, and which is named in errors.
    X : {array-like, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    y : array-like of shape (n_rows,) or None
        Their classes, or what does not count.
    sample_weight : array-like of shape (n_rows,) or None
        Weights.

    Returns
    -------
    Sample
        Rows of positive weight.

    Raises
    ------
    ValueError
        If something does not suit.
    """
    who, objective = type(estimator).__name__, estimator.objective
    X = validate_rows(
        estimator, X, reset=True, accept_sparse="csr", ensure_min_samples=2
    )
    n_rows = X.shape[0]
    weights = check_sample_weight(who, sample_weight, n_rows)
    kept = weights > 0
    codes = None
    if objective == "classes" or (objective == "auto" and y is not None):
        if y is not None and not kept.all() and _num_samples(y) == n_rows:
            y, n_rows = _safe_indexing(y, kept), int(kept.sum())
        codes = _class_codes(who, y, n_rows, objective)
    if not kept.all():
        X, weights = X[kept], weights[kept]
    return Sample(X, codes, weights)


def _class_codes(who: str, y: Any, n_rows: int, objective: str) -> IntArray | None:
    """Number the classes by their first rows; None for numbers."""
    if objective == "classes":
        found = check_classes(who, y, n_rows)
    else:
        found = check_target(who, y, n_rows, parameter="objective", numbers="rows")
    if found.classes is None:
        return None
    _, first = np.unique(found.values, return_index=True)
    places = np.argsort(np.argsort(first))
    codes: IntArray = places[found.values]
    return codes


def centering(who: str, X: Matrix, weights: FloatArray) -> Standardization:
    """Measure the mean of rows, and their distance from it.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    X : {ndarray, CSR matrix or array} of shape (n_rows, n_features)
        Rows.
    weights : ndarray of shape (n_rows,)
        Positive weights.

    Returns
    -------
    Standardization
        The mean, and one scale for all columns: the root of their summed variances.

    Raises
    ------
    ValueError
        If all rows are equal, or so large that squares overflow.
    """
    varied = standardization(who, X, weights)
    scale = np.sqrt(np.square(varied.scale.astype(np.float64)).sum())
    mean = weighted_mean(X, weights).astype(X.dtype)
    kept = np.arange(X.shape[1])
    return Standardization(kept, mean, np.full(len(mean), scale, dtype=X.dtype))


def train_atoms(
    estimator: Any,
    sample: Sample,
    standard: Standardization,
    state: Callable[[Any], dict[str, Any]],
    told: Mapping[str, Any],
) -> dict[str, Any]:
    """Train the atoms of an estimator.

    Parameters
    ----------
    estimator : estimator
        Whose parameters say how.
    sample : Sample
        Rows and classes.
    standard : Standardization
        How rows are centered and scaled.
    state : callable
        Gives the fitted attributes that follow from a network.
    told : mapping
        What callbacks of scikit-learn are told: X, y and metadata.

    Returns
    -------
    dict
        Fitted attributes by name.

    Raises
    ------
    ValueError
        If a parameter does not suit, or training diverges.
    """
    check_network_params(estimator)
    seed, who = draw_seed(estimator), type(estimator).__name__
    fraction = estimator.validation_fraction
    train, valid = hold_out(who, sample, sample.strata, fraction, seed)
    return run_training(
        estimator,
        seed,
        lambda draws: _start(estimator, train, valid, standard, draws),
        state,
        told,
    )


def _start(
    estimator: Any,
    train: Sample,
    valid: Sample | None,
    standard: Standardization,
    draws: np.random.Generator,
) -> Any:
    import torch

    from skrep.nn._net import Training
    from skrep.nn._sparse_code import SparseCodeLoss, SparseCoder

    X, codes, weights = train
    turn = None if codes is None else class_turn(X, codes, weights)
    atoms = first_atoms(X, standard, estimator.n_atoms, draws, turn)
    n_atoms, n_features = atoms.shape
    size = BATCH if estimator.batch_size == "auto" else estimator.batch_size
    n_steps = max(1, X.shape[0] // size)
    return Training(
        type(estimator).__name__,
        lambda: SparseCoder(atoms, estimator.n_active, n_steps),
        SparseCodeLoss(n_features, n_atoms, codes is not None),
        training_plan(estimator, size),
        n_outputs=1 + n_features + 2 * n_atoms,
        rows=_as_rows(train, standard, estimator.device),
        held_out=valid and _as_rows(valid, standard, estimator.device),
        seed=draws,
        dtype=torch.float32 if X.dtype == np.float32 else torch.float64,
    )


def _as_rows(sample: Sample, standard: Standardization, device: str) -> Any:
    take, codes = tensor_rows(sample.X, standard, device), sample.strata
    return training_rows(take, codes, sample.weights, device, codes)
