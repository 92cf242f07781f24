"""Small data that any estimator can be fitted on, chosen by its tags."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from skrep.typing import AnyArray, FloatArray, IntArray

__all__ = [
    "coarse_rows",
    "degenerate_rows",
    "fitted",
    "has_labels",
    "kind_of",
    "make_rows",
    "make_target",
    "output",
    "refusal",
    "row_method",
    "seeded",
    "taken",
]

N_WORDS = 8

ROW_METHODS = ("transform", "predict_proba", "decision_function", "predict")
"""What answers to new rows; numbers before decisions, which hide small changes."""


def kind_of(estimator: Any) -> str:
    """Tell from the tags of an estimator what it is fitted on.

    Parameters
    ----------
    estimator : estimator
        Any estimator.

    Returns
    -------
    {"rows", "categories", "words", "triples", "graph", "distances"}
        Rows of numbers, of numbers that stand for categories, or of strings; triples
        (head, relation, tail) of strings where X is no matrix of features; for pairwise
        estimators a square matrix: of the edges of a graph where it may be sparse, else
        of distances.
    """
    tags = get_tags(estimator).input_tags
    if not tags.two_d_array:
        return "triples"
    if tags.pairwise:
        return "graph" if tags.sparse else "distances"
    if tags.string:
        return "words"
    return "categories" if tags.categorical else "rows"


def has_labels(estimator: Any) -> bool:
    """Tell whether an estimator is fitted on strings.

    Parameters
    ----------
    estimator : estimator
        Any estimator.

    Returns
    -------
    bool
        True for words and for triples.
    """
    return kind_of(estimator) in ("words", "triples")


def make_rows(
    estimator: Any, n_rows: int = 60, n_features: int = 6, seed: int = 0
) -> AnyArray:
    """Draw what the tags of an estimator ask for.

    Parameters
    ----------
    estimator : estimator
        Any estimator.
    n_rows, n_features : int
        The shape; pairwise estimators get one column per row, triples are three.
    seed : int, default=0
        Seed of a generator of its own.

    Returns
    -------
    ndarray of shape (n_rows, n_features) or (n_rows, n_rows)
        Rows of three clusters away from the origin, in float64, non-negative; or
        eight categories, as whole numbers or as strings; or triples of eight entities
        and two relations; or the lengths of the edges of a tree, from child to parent;
        or distances between rows.
    """
    rng = np.random.default_rng(seed)
    kind = kind_of(estimator)
    if kind == "graph":
        return _tree(rng, n_rows)
    if kind == "triples":
        codes = rng.integers(0, (N_WORDS, 2, N_WORDS), size=(n_rows, 3))
        return _words()[codes]
    if kind in ("categories", "words"):
        codes = rng.integers(0, N_WORDS, size=(n_rows, n_features))
        return _words()[codes] if kind == "words" else codes.astype(np.float64)
    centers = rng.uniform(2, 6, size=(3, n_features))
    spread = rng.uniform(-1, 1, size=(n_rows, n_features))
    rows = centers[np.arange(n_rows) % 3] + spread
    return _distances(rows) if kind == "distances" else rows


def coarse_rows(estimator: Any) -> AnyArray:
    """Draw rows whose numbers are whole, so that any number type holds them.

    Parameters
    ----------
    estimator : estimator
        Any estimator.

    Returns
    -------
    ndarray
        As of `make_rows`; strings stay what they are.
    """
    X = make_rows(estimator)
    return X if has_labels(estimator) else np.round(X * 4)


def degenerate_rows(estimator: Any) -> tuple[dict[str, AnyArray], dict[str, AnyArray]]:
    """Make the odd cases of what an estimator is fitted on.

    Parameters
    ----------
    estimator : estimator
        Any estimator.

    Returns
    -------
    dict of str to ndarray
        Cases that are ordinary, so that they must be served.
    dict of str to ndarray
        Cases that may be refused.
    """
    X = make_rows(estimator)
    kind = kind_of(estimator)
    sizes = {"one row": 1, "two rows": 2}
    fewer = {what: taken(estimator, X, np.arange(n)) for what, n in sizes.items()}
    units = {"a tiny unit": 1e-150, "a huge unit": 1e150}
    scaled = (
        {}
        if has_labels(estimator)
        else {what: X * unit for what, unit in units.items()}
    )
    odd = X.copy()
    if kind == "graph":
        odd[:, :3] = odd[:3] = 0
        return {"nodes without edges": odd}, {"no edges": X * 0, **fewer, **scaled}
    if kind == "distances":
        places = np.maximum(np.arange(len(X)), 4)
        odd = taken(estimator, X, places)
        return {"equal points": odd}, {"one place": X * 0, **fewer, **scaled}
    odd[:, 2] = X[0, 2]
    served = {"a constant column": odd}
    if kind == "rows":
        served["zero rows"] = np.concatenate([np.zeros_like(X[:4]), X[4:]])
    equal = X[np.zeros(8, dtype=np.intp)]
    return served, {"equal rows": equal, **fewer, **scaled}


def taken(estimator: Any, X: Any, rows: IntArray) -> Any:
    """Take some of the rows to fit on: of a square matrix the same columns, too.

    Parameters
    ----------
    estimator : estimator
        Any estimator.
    X : ndarray
        Rows, as of `make_rows`.
    rows : ndarray of int
        Which ones, in this order.

    Returns
    -------
    ndarray
        The rows.
    """
    return X[np.ix_(rows, rows)] if get_tags(estimator).input_tags.pairwise else X[rows]


def make_target(estimator: Any, X: Any) -> AnyArray | None:
    """Make the target that the tags of an estimator ask for, or allow several of.

    Parameters
    ----------
    estimator : estimator
        Any estimator.
    X : array-like of shape (n_rows, n_features)
        The rows.

    Returns
    -------
    ndarray or None
        Two numeric columns where several outputs are allowed, three classes where
        one is needed, None where no target is.
    """
    tags = get_tags(estimator)
    if not (tags.target_tags.required or tags.target_tags.multi_output):
        return None
    X = np.asarray(X)
    if tags.target_tags.multi_output:
        X = X.astype(np.float64)
        return np.column_stack([X[:, 0] - X[:, 1], X[:, 1] * 2 + X[:, 2] / 3])
    return np.arange(len(X)) % 3


def seeded(estimator: Any) -> Any:
    """Clone an estimator and fix its ``random_state``.

    Parameters
    ----------
    estimator : estimator
        Any estimator.

    Returns
    -------
    estimator
        An unfitted clone.
    """
    copy = clone(estimator)
    if "random_state" in copy.get_params(deep=False):
        copy.set_params(random_state=0)
    return copy


def fitted(estimator: Any, X: Any, y: Any = None, **fit_params: Any) -> Any:
    """Fit a seeded clone.

    Parameters
    ----------
    estimator : estimator
        Any estimator.
    X, y : array-like
        Rows and target; without y the target is made from X.
    **fit_params : dict
        Passed to fit.

    Returns
    -------
    estimator
        A fitted clone.
    """
    if y is None:
        y = make_target(estimator, X)
    return seeded(estimator).fit(X, y, **fit_params)


def row_method(model: Any) -> str | None:
    """Name the method that answers to new rows.

    Parameters
    ----------
    model : estimator
        A fitted estimator.

    Returns
    -------
    str or None
        The first of `ROW_METHODS` that there is; None for an estimator that only
        places the rows it is fitted on, in `embedding_`.
    """
    return next((name for name in ROW_METHODS if hasattr(model, name)), None)


def output(model: Any, X: Any) -> AnyArray:
    """Ask for what a fitted estimator says of rows, and densify.

    Parameters
    ----------
    model : estimator
        A fitted estimator.
    X : array-like
        Rows: those that it was fitted on, if it answers to no others.

    Returns
    -------
    ndarray
        The output of `row_method`, or `embedding_`.
    """
    method = row_method(model)
    out = model.embedding_ if method is None else getattr(model, method)(X)
    return np.asarray(out.toarray() if hasattr(out, "toarray") else out)


def refusal(
    call: Callable[[], Any], what: str, *, error: type[Exception] = ValueError
) -> str:
    """Call something that must be refused and return the message.

    Parameters
    ----------
    call : callable
        Called without arguments.
    what : str
        What must be refused, for the message of the assertion.
    error : type, default=ValueError
        The exception that must be raised.

    Returns
    -------
    str
        The message of the exception.
    """
    try:
        call()
    except error as refused:
        return str(refused)
    raise AssertionError(f"{what}: accepted, and must raise {error.__name__}")


def _words() -> AnyArray:
    return np.array([f"word {code}" for code in range(N_WORDS)], dtype=object)


def _tree(rng: np.random.Generator, n_nodes: int) -> FloatArray:
    """Lengths of edges from 1 to 2: node i hangs on one of those before it."""
    lengths = np.zeros((n_nodes, n_nodes))
    children = np.arange(1, n_nodes)
    parents = rng.integers(0, children)
    lengths[children, parents] = rng.uniform(1, 2, size=n_nodes - 1)
    return lengths


def _distances(rows: FloatArray) -> FloatArray:
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(rows, rows))
