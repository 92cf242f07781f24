"""Try a claim on an estimator and data."""

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import check_random_state, get_tags

from skrep._claims import Claim
from skrep.invariance._containers import as_container, is_sparse
from skrep.invariance._elements import Element
from skrep.invariance._groups import draw_element
from skrep.invariance._outputs import choose_method, output_of, seeded_fit
from skrep.invariance._relations import deviation
from skrep.invariance._report import InvarianceReport
from skrep.typing import AnyArray
from skrep.utils.validation import is_whole

__all__ = ["check_invariance"]


def _tolerance(X: Any, output: AnyArray) -> float:
    """Half the digits of the coarser float type: what is left after one inversion."""
    kinds = [output.dtype]
    if isinstance(X, np.ndarray) or is_sparse(X):
        kinds.append(X.dtype)
    elif hasattr(X, "to_numpy"):
        kinds.append(X.to_numpy().dtype)
    eps = [float(np.finfo(kind).eps) for kind in kinds if kind.kind == "f"]
    return float(np.sqrt(max([*eps, np.finfo(np.float64).eps])))


def _act_on_params(
    element: Element, fit_params: Mapping[str, Any], n_rows: int
) -> dict[str, Any]:
    """Act on the parameters with one entry per sample; leave the others."""
    acted = {}
    for name, value in fit_params.items():
        listed = isinstance(value, list | tuple) or hasattr(value, "shape")
        whole = as_container(value) if listed else value
        per_row = listed and whole.ndim > 0 and whole.shape[0] == n_rows
        acted[name] = element.apply_rowwise(whole) if per_row else value
    return acted


def _refuse_bad_call(
    estimator: Any, claim: Any, y: Any, n_draws: Any, tol: Any
) -> None:
    who = type(estimator).__name__
    if not isinstance(claim, Claim):
        raise TypeError(
            f"check_invariance: 'claim' is {claim!r}. It must be a Claim, such as "
            "Claim('orthogonal', 'up_to_sign')."
        )
    if not is_whole(n_draws) or n_draws < 1:
        raise ValueError(
            f"check_invariance: 'n_draws' is {n_draws!r}. It must be an integer of "
            "at least 1."
        )
    if tol is not None and not (isinstance(tol, numbers.Real) and float(tol) >= 0):
        raise ValueError(
            f"check_invariance: 'tol' is {tol!r}. It must be None or a number of at "
            "least 0."
        )
    if y is None and get_tags(estimator).target_tags.required:
        raise ValueError(
            f"check_invariance: 'y' is None. {who} needs y to fit. Pass "
            "check_invariance(estimator, claim, X, y)."
        )


def check_invariance(
    estimator: Any,
    claim: Claim,
    X: Any,
    y: Any = None,
    *,
    n_draws: int = 5,
    tol: float | None = None,
    random_state: int | np.random.RandomState | None = 0,
    method: str | None = None,
    fit_params: Mapping[str, Any] | None = None,
) -> InvarianceReport:
    """Draw group elements, apply them to the data, and compare the outputs.

    With g an element of the claim's group and T the estimator's output, ``T(X)`` is
    compared with ``T'(g X)``, where T' was fitted on g (X, y) if ``claim.refit``,
    and is T itself otherwise. Works on any estimator that follows scikit-learn's
    conventions.

    Parameters
    ----------
    estimator : estimator object
        Cloned before each fit, so it need not be fitted and is left as it was. Every
        ``random_state`` among its parameters that is not an integer is set to one
        and the same integer for all fits.
    claim : Claim
        What should hold.
    X : array-like, frame or sparse matrix of shape (n_samples, n_features)
        Data, never written to. Its float type and its container are kept.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs), default=None
        Targets, for estimators that use them.
    n_draws : int, default=5
        Number of group elements to try.
    tol : float, default=None
        Largest deviation that counts as rounding. None takes the square
        root of the machine epsilon of the coarser of input and output: 1.5e-8 for
        float64, 3.5e-4 for float32.
    random_state : int, RandomState instance or None, default=0
        Source of the draws and of the estimator's seed.
    method : str, default=None
        The output to compare: a method of X, or an attribute that fit sets. None
        takes the first of transform, predict_proba, decision_function, predict and
        `embedding_`.
    fit_params : dict, default=None
        Further arguments of fit, such as ``{"sample_weight": w}``. Those with one
        entry per sample move with the rows.

    Returns
    -------
    InvarianceReport
        The worst deviation and the draw that caused it; true if the claim held.

    Raises
    ------
    TypeError
        If the group would fill a sparse X or meets entries that are no numbers, or
        if the estimator has no output to compare.
    ValueError
        If y is missing, or the group or the relation cannot act on data of this
        shape.

    See Also
    --------
    parametrize_with_invariances : One test for each claim of each estimator.
    unclaimed : The claims that an estimator does not make, to see them broken.

    Notes
    -----
    The deviation is the largest absolute difference over the root mean square of
    the reference output; labels and integers give the share of entries that differ,
    and "same_span" the largest principal angle in radians. A finite number of draws
    can refute a claim, not prove it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from skrep.invariance import Claim, check_invariance
    >>> X, _ = load_iris(return_X_y=True)
    >>> check_invariance(PCA(2), Claim("orthogonal", "up_to_sign"), X).holds
    True
    >>> check_invariance(PCA(2), Claim("column_scaling", "same_span"), X).holds
    False
    """
    _refuse_bad_call(estimator, claim, y, n_draws, tol)
    rng = check_random_state(random_state)
    seed = int(rng.randint(2**31 - 1))
    X = as_container(X)
    y = None if y is None else as_container(y)
    params = dict(fit_params or {})

    fitted = seeded_fit(estimator, seed, X, y, params)
    name = choose_method(fitted, method)
    if not claim.refit and not callable(getattr(fitted, name)):
        raise ValueError(
            f"check_invariance: 'method' is {name!r} and the claim has refit=False. "
            "An attribute of fit does not answer to a new X. Name a method, such as "
            "method='transform'."
        )
    reference = output_of(fitted, name, X)
    if reference.dtype.kind == "f" and not np.abs(reference).max(initial=0) > 1e-13:
        raise ValueError(
            f"check_invariance: the output of {type(estimator).__name__}.{name} is "
            "zero up to rounding, so that no deviation can be measured against it. "
            "Pass an X on which the output varies."
        )

    worst: tuple[float, Element] | None = None
    for _ in range(n_draws):
        element = draw_element(claim.group, X, y, rng)
        moved_X, moved_y = element.apply(X, y)
        try:
            if claim.refit:
                moved = _act_on_params(element, params, X.shape[0])
                fitted = seeded_fit(estimator, seed, moved_X, moved_y, moved)
            observed = output_of(fitted, name, moved_X)
        except Exception as error:
            error.add_note(f"check_invariance: raised on the draw {element!r}.")
            raise
        found = deviation(claim.relation, reference, observed, element)
        if worst is None or found > worst[0]:
            worst = found, element
    assert worst is not None
    return InvarianceReport(
        claim=claim,
        deviation=worst[0],
        tolerance=_tolerance(X, reference) if tol is None else float(tol),
        draw=worst[1],
        estimator=type(estimator).__name__,
        method=name,
    )
