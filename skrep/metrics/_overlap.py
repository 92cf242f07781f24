"""How many nearest rows two representations have in common."""

import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions, validate_parameter_constraints

from skrep.metrics._neighbors import (
    check_neighbors,
    neighbor_blocks,
    space_of,
)
from skrep.metrics._retrieval import METRICS
from skrep.metrics._validation import read_rows

__all__ = ["neighbor_overlap"]

WHO = "neighbor_overlap"


def neighbor_overlap(
    X: npt.ArrayLike,
    Z: npt.ArrayLike,
    *,
    n_neighbors: int = 10,
    metric: str = "cosine",
) -> float:
    r"""Score how many nearest rows two representations have in common.

    With :math:`N_X(i)` the k nearest rows of row i in X, itself left out,

    .. math::

       \frac{1}{n} \sum_{i=1}^{n} \frac{|N_X(i) \cap N_Z(i)|}{k} .

    Nothing but the order of the neighbors counts, so X and Z may have any widths.

    Parameters
    ----------
    X : {array-like, CSR} of shape (n_samples, n_features)
        Rows of one representation; CSR for the cosine alone.
    Z : {array-like, CSR} of shape (n_samples, n_other_features)
        The same rows in the other one.
    n_neighbors : int, default=10
        Number of nearest rows k, from 1 to ``n_samples - 1``.
    metric : {"cosine", "euclidean"}, default="cosine"
        What is near, in both.

    Returns
    -------
    float
        Mean share, between 0 and 1; ``n_neighbors / (n_samples - 1)`` is expected of
        representations that have nothing to do with each other.

    Raises
    ------
    ValueError
        If the numbers of rows differ, an entry is NaN or infinite, `n_neighbors` is
        no integer from 1 to ``n_samples - 1``, or `metric` is unknown.
    TypeError
        If an input is sparse and `metric` is not the cosine.

    See Also
    --------
    prefix_scores : This score for every prefix.
    sklearn.manifold.trustworthiness : Weighs rows that are not neighbors by their
        rank instead.

    Notes
    -----
    A row is left out of its own neighbors by its position, so its duplicates stay.
    Rows equally near share the places that are left for them, and what two
    representations have in common of such a row is the lesser of its two shares.
    Hence X has all in common with itself, a space collapsed to one point has no more
    than chance in common with one that is not, and the order of the rows does not
    matter.

    All pairs are compared, in blocks of rows of about 32 MiB.

    References
    ----------
    .. [1] Wang, Y., Huang, H., Rudin, C. and Shaposhnik, Y. (2021). "Understanding how
       dimension reduction tools work". Journal of Machine Learning Research 22 (201).

    Examples
    --------
    Two pairs of near rows, of which the second column alone keeps the first:

    >>> from skrep.metrics import neighbor_overlap
    >>> X = [[4.0, 1.0], [4.0, 1.5], [1.0, 4.0], [2.0, 7.0]]
    >>> neighbor_overlap(X, X, n_neighbors=1)
    1.0
    >>> second = [[1.0], [1.5], [4.0], [7.0]]
    >>> neighbor_overlap(X, second, n_neighbors=1, metric="euclidean")
    0.75
    """
    validate_parameter_constraints(
        {"metric": [StrOptions(set(METRICS))]}, {"metric": metric}, caller_name=WHO
    )
    sparse = "csr" if metric == "cosine" else False
    first = read_rows(X, "X", WHO, accept_sparse=sparse)
    second = read_rows(Z, "Z", WHO, accept_sparse=sparse)
    n_rows = first.shape[0]
    if second.shape[0] != n_rows:
        raise ValueError(
            f"{WHO}: 'X' has {n_rows} rows and 'Z' has {second.shape[0]}. Both must "
            "describe the same things. Select the same rows of both."
        )
    n_neighbors = check_neighbors(WHO, n_neighbors, n_rows)
    one, other = space_of(first, metric), space_of(second, metric)
    common = 0.0
    for block in neighbor_blocks(n_rows):
        table = one.nearest(block, n_neighbors).table(n_rows)
        common += other.nearest(block, n_neighbors).common(table)
    return common / (n_neighbors * n_rows)
