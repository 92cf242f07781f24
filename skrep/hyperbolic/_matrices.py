"""Matrices between nodes as input, and what is passed in their place."""

from typing import Any, Final

import scipy.sparse as sp

from skrep.graph import Relations
from skrep.utils.validation import validate_rows

__all__ = ["NO_EDGE", "refuse_graph", "validate_matrix"]

NO_EDGE: Final = {
    False: "Pass np.nan_to_num(X, posinf=0), if there is no edge.",
    True: "Pass X after X.data = np.nan_to_num(X.data, posinf=0); X.eliminate_zeros(), "
    "if there is no edge.",
}
"""What to do about weights that are not finite, of dense and of sparse matrices."""


def refuse_graph(who: str, X: Any, use: str = "{}") -> None:
    """Refuse a graph of networkx, or a matrix with its labels, in place of a matrix.

    Parameters
    ----------
    who : str
        The estimator that is named in errors.
    X : object
        What was passed.
    use : str, default="{}"
        What to pass, as code, with braces where the matrix of the edges goes.

    Raises
    ------
    TypeError
        If it is one of the two; the message tells how to get the matrix.
    """
    if isinstance(X, Relations):
        what, matrix = "the pair of a matrix and its labels", "X.matrix"
    elif hasattr(X, "is_directed") and hasattr(X, "nodes"):
        what = "a graph"
        matrix = "skrep.graph.relations_from_edges(X, closure=False).matrix"
    else:
        return
    raise TypeError(
        f"{who}: 'X' is {what}, and must be a matrix. Pass {use.format(matrix)}."
    )


def validate_matrix(
    estimator: Any,
    X: Any,
    *,
    reset: bool,
    use: str = "{}",
    unknown: str | None = None,
    **checks: Any,
) -> Any:
    """Validate a matrix between nodes as `validate_rows` does rows.

    Parameters
    ----------
    estimator : estimator
        The estimator, which is named in errors.
    X : {array-like, sparse matrix} of shape (n_rows, n_nodes)
        The matrix.
    reset : bool
        True in ``fit``.
    use : str, default="{}"
        As for `refuse_graph`.
    unknown : str or None, default=None
        What to do about entries that are not finite; None is what `NO_EDGE` says.
    **checks : dict
        Parameters of :func:`sklearn.utils.check_array`.

    Returns
    -------
    {ndarray, sparse matrix} of shape (n_rows, n_nodes)
        The numbers.

    Raises
    ------
    TypeError
        If X is a graph, or a matrix with its labels.
    ValueError
        If an entry is not finite, or as `validate_rows` says.
    """
    refuse_graph(type(estimator).__name__, X, use)
    try:
        return validate_rows(estimator, X, reset=reset, **checks)
    except ValueError as error:
        what, rows_to_drop, _ = str(error).partition("Drop such rows")
        if not rows_to_drop:
            raise
        remedy = NO_EDGE[sp.issparse(X)] if unknown is None else unknown
        raise ValueError(f"{what}{remedy}") from error
