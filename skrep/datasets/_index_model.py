"""Responses that depend on a few directions of the rows, through known links."""

from collections.abc import Callable, Sequence
from numbers import Integral, Real
from typing import Any, Final, NamedTuple

import numpy as np
from scipy.linalg import toeplitz
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)

from skrep.datasets._draws import RandomSource
from skrep.typing import FloatArray

__all__ = ["make_index_model"]


class _Link(NamedTuple):
    """What one or several responses are of the leading indices, rows of `u`."""

    n_indices: int
    n_responses: int
    signal: Callable[[FloatArray], FloatArray]


LINKS: Final = {
    "linear": _Link(1, 1, lambda u: u[0]),
    "cubic": _Link(1, 1, lambda u: u[0] ** 3 / 3),
    "sine": _Link(1, 1, lambda u: np.sin(1.5 * u[0])),
    "even": _Link(1, 1, lambda u: u[0] ** 2),
    "product": _Link(2, 1, lambda u: u[0] * u[1]),
    "ratio": _Link(2, 1, lambda u: u[0] / (0.5 + (u[1] + 1.5) ** 2)),
    "multi5": _Link(5, 5, lambda u: np.tanh(u) + np.roll(u, 1, axis=0) ** 2 / 2),
    "none": _Link(0, 1, lambda u: np.zeros(u.shape[1])),
}

SINGLE: Final = tuple(name for name, link in LINKS.items() if link.n_responses == 1)

DESIGNS: Final = ("iso", "ar1", "gmm", "t5", "unif")

CENTERS: Final = np.array([[-1.5, 1.5], [-0.3, -2.1], [1.8, 0.6]])
"""Clusters of the design "gmm": their places along the index and outside of it."""

_CONSTRAINTS: dict[str, list[Any]] = {
    "n_samples": [Interval(Integral, 1, None, closed="left")],
    "n_features": [Interval(Integral, 1, None, closed="left")],
    "links": [StrOptions(set(LINKS)), "array-like"],
    "design": [StrOptions(set(DESIGNS))],
    "noise": [Interval(Real, 0, np.inf, closed="left")],
    "random_state": ["random_state", np.random.Generator],
}


def make_index_model(
    n_samples: int = 1000,
    n_features: int = 20,
    *,
    links: str | Sequence[str] = "linear",
    design: str = "iso",
    noise: float = 0.25,
    random_state: int | RandomSource | None = None,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Draw rows and a response that depends on a few directions of them alone.

    The model ``y = F(B'x) + noise`` behind sufficient dimension reduction [1]_: all
    that `y` knows of `x` is in its coordinates along the rows of `components`. Which
    estimators see those directions depends on the link `F` and on the design, the
    distribution of `x`; both are chosen here.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    n_features : int, default=20
        Number of columns; at least as many as there are directions.
    links : {"linear", "cubic", "sine", "even", "product", "ratio", "multi5", \
            "none"} or sequence of these, default="linear"
        What `y` is of the indices; `Notes` has the formulas. A sequence, without
        "multi5", gives one response for each of its links, all of the same leading
        indices.
    design : {"iso", "ar1", "gmm", "t5", "unif"}, default="iso"
        Distribution of the rows; `Notes` says which.
    noise : float, default=0.25
        Standard deviation of the Gaussian noise in each response, as a share of the
        standard deviation of its signal. The link "none" has no signal, and
        noise of standard deviation 1 whatever is given here.
    random_state : int, Generator, RandomState or None, default=None
        An int gives the same data at every call: rows that do not depend on the
        noise, nor on the links but for the design "gmm", and directions of which
        links with more of them only add further ones. None draws anew; numpy's
        global random state is neither read nor changed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        Rows.
    y : ndarray of shape (n_samples,) or (n_samples, n_responses), float64
        Response; of one dimension if there is one.
    components : ndarray of shape (n_directions, n_features), float64
        Orthonormal rows that span the index space, the central subspace of `y` given
        `x`. They are drawn uniformly; none for the link "none".

    Raises
    ------
    InvalidParameterError
        If a parameter is outside the values above. It is a `ValueError` and a
        `TypeError`.
    ValueError
        If `n_features` is below the number of directions, or a sequence of links is
        empty or names what is no link of one response.

    See Also
    --------
    make_parallel_spaces : Two spaces with a known map between them.
    sklearn.datasets.make_friedman1 : Regression on the first five columns.
    skrep.metrics.subspace_distance : How far a fitted subspace is from this one.

    Notes
    -----
    Index `j` of a row `x` is ``components[j] @ x`` over its standard deviation in the
    population, so that a link means the same in every design. With `u` and `v` for
    the first two:

    =========  ==========  =======================================================
    link       directions  response
    =========  ==========  =======================================================
    linear     1           ``u``
    cubic      1           ``u**3 / 3``
    sine       1           ``sin(1.5 * u)``
    even       1           ``u**2``
    product    2           ``u * v``
    ratio      2           ``u / (0.5 + (v + 1.5)**2)``
    multi5     5           five: ``tanh(u_j) + u_(j-1)**2 / 2``, in a circle
    none       0           nothing but noise
    =========  ==========  =======================================================

    In the designs but "gmm" every column has mean 0 and variance 1 in the population:

    ======  ==========================================================================
    design  rows
    ======  ==========================================================================
    iso     standard Gaussian
    ar1     Gaussian, columns `i` and `j` of correlation ``0.5**abs(i - j)``
    gmm     three Gaussian clusters of unit covariance and equal size
    t5      multivariate Student t of 5 degrees of freedom: elliptical, heavy tails
    unif    independent uniform columns: no tails, not elliptical
    ======  ==========================================================================

    The centers of "gmm" are a triangle in the plane of the mean index direction and
    of one direction outside of the index space. So the mean of `x` given its indices
    bends: the linearity condition, on which sliced inverse regression and its kin
    rest, does not hold, and what they find has a bias that more rows do not cure.
    With as many directions as columns there is no outside, and no bias.

    References
    ----------
    .. [1] Li, K.-C. (1991). "Sliced inverse regression for dimension reduction".
       Journal of the American Statistical Association, 86(414), 316-327.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.datasets import make_index_model
    >>> X, y, components = make_index_model(10_000, links="even", random_state=0)
    >>> X.shape, y.shape, components.shape
    ((10000, 20), (10000,), (1, 20))

    The square of the index tells the response, up to the noise; the index itself, as
    any linear function, tells nothing:

    >>> index = X @ components[0]
    >>> [f"{abs(np.corrcoef(u, y)[0, 1]):.1f}" for u in (index**2, index)]
    ['1.0', '0.0']

    Several responses of the same indices:

    >>> X, y, components = make_index_model(links=["sine", "product"], random_state=0)
    >>> y.shape, components.shape
    ((1000, 2), (2, 20))
    """
    who = "make_index_model"
    validate_parameter_constraints(
        _CONSTRAINTS,
        {
            "n_samples": n_samples,
            "n_features": n_features,
            "links": links,
            "design": design,
            "noise": noise,
            "random_state": random_state,
        },
        caller_name=who,
    )
    chosen = _read_links(who, links)
    n_indices = max(link.n_indices for link in chosen)
    if n_features < n_indices:
        raise ValueError(
            f"{who}: 'n_features' is {n_features}, and 'links' is {links!r}, which "
            f"reads {n_indices} directions. They must fit into the columns: pass "
            f"n_features={n_indices} or more."
        )
    from scipy.stats import ortho_group

    rng: RandomSource
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        rng = random_state
    else:
        rng = np.random.default_rng(random_state)
    basis = ortho_group.rvs(n_features, random_state=rng)
    components = basis[:n_indices]
    X, covariance = _draw_rows(design, n_samples, basis, n_indices, rng)
    variances = np.einsum("rd,de,re->r", components, covariance, components)
    indices = components @ X.T / np.sqrt(variances)[:, None]
    signal = np.vstack([link.signal(indices) for link in chosen]).T
    pure = np.repeat(
        [link.n_indices == 0 for link in chosen], [link.n_responses for link in chosen]
    )
    sizes = np.where(pure, 1.0, noise * signal.std(axis=0))
    y = signal + sizes * rng.standard_normal(signal.shape)
    return X, y[:, 0] if y.shape[1] == 1 else y, components


def _read_links(who: str, links: str | Sequence[str]) -> list[_Link]:
    if isinstance(links, str):
        return [LINKS[links]]
    names = list(links)
    if not names or not all(name in SINGLE for name in names):
        raise ValueError(
            f"{who}: 'links' is {names!r}. A sequence gives one response to each of "
            f"its links, which are among {SINGLE}. Pass links={list(SINGLE[:2])!r}, "
            "say."
        )
    return [LINKS[name] for name in names]


def _draw_rows(
    design: str, n_samples: int, basis: FloatArray, n_indices: int, rng: RandomSource
) -> tuple[FloatArray, FloatArray]:
    """Rows, and their covariance in the population."""
    n_features = len(basis)
    shape = n_samples, n_features
    covariance = np.eye(n_features)
    if design == "unif":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), shape), covariance
    X = rng.standard_normal(shape)
    if design == "ar1":
        covariance = toeplitz(0.5 ** np.arange(n_features))
        X = X @ np.linalg.cholesky(covariance).T
    elif design == "t5":
        X *= np.sqrt(3 / rng.chisquare(5, (n_samples, 1)))
    elif design == "gmm":
        n_on = max(n_indices, 1)
        on = basis[:n_on].sum(axis=0) / np.sqrt(n_on)
        off = basis[n_on] if n_on < n_features else np.zeros(n_features)
        centers = CENTERS @ np.stack([on, off])
        covariance = covariance + centers.T @ centers / len(centers)
        X += centers[rng.permutation(np.arange(n_samples) % len(centers))]
    return X, covariance
