"""A column of categories that form a tree, and a response that follows the tree."""

from numbers import Integral, Real
from typing import Any, Final

import numpy as np
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

from skrep.datasets._draws import RandomSource
from skrep.typing import AnyArray, FloatArray, IntArray
from skrep.utils import require

__all__ = ["make_taxonomy_regression"]

FEWEST, MOST = 2, 5
DECAY: Final = np.sqrt(0.5)
"""Standard deviation of the effect of a node, over that of its parent."""
SPREAD: Final = 0.6
"""Standard deviation of the effects of the categories."""

_CONSTRAINTS: dict[str, list[Any]] = {
    "n_samples": [Interval(Integral, 1, None, closed="left")],
    "n_categories": [Interval(Integral, 2, None, closed="left")],
    "noise": [Interval(Real, 0, np.inf, closed="left")],
    "as_frame": ["boolean"],
    "random_state": ["random_state", np.random.Generator],
}


def make_taxonomy_regression(
    n_samples: int = 10_000,
    n_categories: int = 2_000,
    *,
    noise: float = 0.5,
    as_frame: bool = False,
    random_state: int | RandomSource | None = None,
) -> tuple[Any, Any, dict[str, str], FloatArray]:
    """Draw a column of categories and a response that follows their tree.

    The categories are the leaves of a random tree. Every node but the root has a
    Gaussian effect, whose variance halves from one level to the next, and the effect
    of a category is the sum along its path from the root: random effects, nested in
    each other. So near categories have like effects, the tree tells of a category
    what its few rows leave open, and something of a category that has none. The names
    tell nothing of the tree.

    Parameters
    ----------
    n_samples : int, default=10_000
        Number of rows. Their categories are drawn uniformly and with replacement, so
        some categories may have no row.
    n_categories : int, default=2_000
        Number of leaves, at least 2. The tree grows from its root: a leaf, drawn
        uniformly, gets 2 to 5 children, until there are as many leaves. 2,000 leaves
        make a tree of some 2,800 nodes and of depth 14 to 22.
    noise : float, default=0.5
        Standard deviation of the Gaussian noise in the response.
    as_frame : bool, default=False
        If True, `X` is a pandas DataFrame with the column "category" and `y` a pandas
        Series. Needs pandas.
    random_state : int, Generator, RandomState or None, default=None
        An int gives the same data at every call. None draws anew; numpy's global
        random state is neither read nor changed.

    Returns
    -------
    X : ndarray of shape (n_samples, 1), object, or DataFrame
        The category of each row: strings such as "c0042".
    y : ndarray of shape (n_samples,), float64, or Series
        Response: the effect of the category, and noise.
    taxonomy : dict of str to str
        The parent of each node but the root. Nodes above categories have names such
        as "n0007", the root is "root".
    effects : ndarray of shape (n_samples,), float64
        The effect of the category of each row: what an oracle predicts. Over all
        categories effects have mean 0 and standard deviation 0.6, so that with the
        default noise the oracle explains some 59% of the variance.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside the values above. It is a `ValueError` and a
        `TypeError`.
    ImportError
        If `as_frame` is True and pandas is not installed.

    See Also
    --------
    load_mammals : A taxonomy of animals with rows of features.
    skrep.hyperbolic.TaxonomyEncoder : Turns such a column into a few numeric ones.

    Examples
    --------
    >>> from skrep.datasets import make_taxonomy_regression
    >>> X, y, taxonomy, effects = make_taxonomy_regression(
    ...     n_samples=500, n_categories=40, random_state=0
    ... )
    >>> X.shape, y.shape, effects.shape
    ((500, 1), (500,), (500,))

    A category and the nodes above it:

    >>> path = [X[0, 0]]
    >>> while path[-1] in taxonomy:
    ...     path.append(taxonomy[path[-1]])
    >>> path
    ['c0015', 'n0003', 'root']
    """
    who = "make_taxonomy_regression"
    validate_parameter_constraints(
        _CONSTRAINTS,
        {
            "n_samples": n_samples,
            "n_categories": n_categories,
            "noise": noise,
            "as_frame": as_frame,
            "random_state": random_state,
        },
        caller_name=who,
    )
    pandas = require("pandas", f"{who}(as_frame=True)") if as_frame else None
    rng: RandomSource
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        rng = random_state
    else:
        rng = np.random.default_rng(random_state)
    parents = _grow(n_categories, rng)
    leaves = np.setdiff1d(np.arange(len(parents)), parents)
    names = _name(leaves, len(parents), rng)
    summed = _sum_effects(parents, rng)
    summed = SPREAD * (summed - summed[leaves].mean()) / summed[leaves].std()
    rows = leaves[rng.choice(len(leaves), size=n_samples)]
    effects = summed[rows]
    y: Any = effects + noise * rng.standard_normal(n_samples)
    X: Any = names[rows][:, None]
    taxonomy = {
        str(names[node]): str(names[parents[node]]) for node in range(1, len(parents))
    }
    if pandas is not None:
        X = pandas.DataFrame(X, columns=["category"])
        y = pandas.Series(y, name="response")
    return X, y, taxonomy, effects


def _grow(n_leaves: int, rng: RandomSource) -> list[int]:
    """Parents of the nodes of a tree, each after its parent."""
    parents, leaves = [-1], [0]
    while (missing := n_leaves - len(leaves)) > 0:
        place = int(rng.choice(len(leaves)))
        # The node is no leaf any more, so that one child more adds none.
        n_children = min(int(rng.choice(MOST - FEWEST + 1)) + FEWEST, missing + 1)
        leaves[place], node = leaves[-1], leaves[place]
        leaves[-1:] = range(len(parents), len(parents) + n_children)
        parents += [node] * n_children
    return parents


def _sum_effects(parents: list[int], rng: RandomSource) -> FloatArray:
    """Effects of nodes, summed from the root."""
    drawn = rng.standard_normal(len(parents))
    summed, sizes = np.zeros(len(parents)), np.ones(len(parents))
    for node, parent in enumerate(parents[1:], start=1):
        sizes[node] = DECAY * sizes[parent]
        summed[node] = summed[parent] + sizes[node] * drawn[node]
    return summed


def _name(leaves: IntArray, n_nodes: int, rng: RandomSource) -> AnyArray:
    """Names in random order, of one kind for leaves and of another for the rest."""
    names = np.empty(n_nodes, dtype=object)
    inner = np.setdiff1d(np.arange(1, n_nodes), leaves)
    for letter, nodes in (("c", leaves), ("n", inner)):
        digits = max(4, len(str(len(nodes) - 1)))
        for number, node in enumerate(rng.permutation(nodes)):
            names[node] = f"{letter}{number:0{digits}d}"
    names[0] = "root"
    return names
