"""Two views of the same rows, with a known kind of map between them."""

from numbers import Integral, Real
from typing import Any, overload

import numpy as np
from sklearn.utils._param_validation import (
    Interval,
    StrOptions,
    validate_parameter_constraints,
)

from skrep.datasets._draws import (
    RELATIONS,
    RandomSource,
    draw_mixture,
)
from skrep.typing import FloatArray, IntArray

__all__ = ["make_parallel_spaces"]

_CONSTRAINTS: dict[str, list[Any]] = {
    "n_samples": [Interval(Integral, 1, None, closed="left")],
    "n_features": [Interval(Integral, 1, None, closed="left")],
    "n_classes": [Interval(Integral, 1, None, closed="left"), None],
    "relation": [StrOptions(set(RELATIONS))],
    "noise": [Interval(Real, 0, np.inf, closed="left")],
    "class_sep": [Interval(Real, 0, np.inf, closed="left")],
    "random_state": ["random_state", np.random.Generator],
}


@overload
def make_parallel_spaces(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    n_classes: None = ...,
    relation: str = ...,
    noise: float = ...,
    class_sep: float = ...,
    random_state: int | RandomSource | None = ...,
) -> tuple[FloatArray, FloatArray]: ...
@overload
def make_parallel_spaces(
    n_samples: int = ...,
    n_features: int = ...,
    *,
    n_classes: int,
    relation: str = ...,
    noise: float = ...,
    class_sep: float = ...,
    random_state: int | RandomSource | None = ...,
) -> tuple[FloatArray, FloatArray, IntArray]: ...
def make_parallel_spaces(
    n_samples: int = 500,
    n_features: int = 32,
    *,
    n_classes: int | None = None,
    relation: str = "orthogonal",
    noise: float = 0.0,
    class_sep: float = 4.0,
    random_state: int | RandomSource | None = None,
) -> tuple[FloatArray, FloatArray] | tuple[FloatArray, FloatArray, IntArray]:
    """Draw two spaces whose rows correspond, related by a random map.

    A model of two encoders that embed the same things: row `i` of `X` and row `i`
    of `Y` are one thing. `X` is a Gaussian cloud or a mixture of Gaussian classes,
    off the origin, with variances that decay as those of embeddings do; `Y` is `X`
    under one random element of a group, plus noise.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows; at least `n_classes`.
    n_features : int, default=32
        Number of columns of both spaces.
    n_classes : int or None, default=None
        Number of classes, balanced to within one row; the labels are returned too.
        None draws one class and returns no labels.
    relation : {"orthogonal", "similarity", "invertible_linear", \
"invertible_affine", "column_permutation", "column_scaling", "translation", \
"positive_scaling"}, default="orthogonal"
        The map from `X` to `Y`; `Notes` has the formulas.
    noise : float, default=0.0
        Size of the Gaussian noise added to `Y`, as a share of the root mean square
        of `Y` around its column means.
    class_sep : float, default=4.0
        Root mean square Mahalanobis distance between two class means, in units of
        the standard deviation within a class. 0 makes the labels unlearnable. Without
        `n_classes` it has no effect.
    random_state : int, Generator, RandomState or None, default=None
        An int gives the same spaces at every call, and the same `X` and labels
        whatever the relation and the noise. None draws anew; numpy's global random
        state is neither read nor changed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features), float64
        First space.
    Y : ndarray of shape (n_samples, n_features), float64
        Second space.
    labels : ndarray of shape (n_samples,), int64
        Class of each row, from 0. Returned only if `n_classes` is given.

    Raises
    ------
    InvalidParameterError
        If a parameter is outside the values above. It is a `ValueError` and a
        `TypeError`.
    ValueError
        If `n_samples` is below `n_classes`.

    See Also
    --------
    load_mammals : The same situation with three real encoders.
    sklearn.datasets.make_classification : One labeled space.

    Notes
    -----
    With rows `x`, `Q` a uniformly drawn orthogonal matrix, `t` a vector as long as
    the root-mean-square row that it is added to, `s` and `c` positive scales between
    ``1 / sqrt(10)`` and ``sqrt(10)``, and `A` a matrix with such singular values,
    hence with a condition number of at most 10:

    ==================  =====================
    relation            row of `Y`
    ==================  =====================
    orthogonal          ``x Q``
    similarity          ``s x Q + t``
    invertible_linear   ``x A``
    invertible_affine   ``x A + t``
    column_permutation  ``x[permutation]``
    column_scaling      ``x * c``, one scale per column
    translation         ``x + t``
    positive_scaling    ``s x``
    ==================  =====================

    Within a class, the k-th largest variance is proportional to ``1 / k``.

    References
    ----------
    .. [1] Moschella, L., Maiorca, V., Fumero, M., Norelli, A., Locatello, F. and
       Rodolà, E. (2023). "Relative representations enable zero-shot latent space
       communication". ICLR.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.datasets import make_parallel_spaces
    >>> X, Y = make_parallel_spaces(relation="orthogonal", random_state=0)
    >>> X.shape, Y.shape
    ((500, 32), (500, 32))

    An orthogonal map changes every entry and no inner product:

    >>> bool(np.allclose(X @ X.T, Y @ Y.T)), bool(np.allclose(X, Y))
    (True, False)

    With classes:

    >>> X, Y, labels = make_parallel_spaces(n_classes=4, random_state=0)
    >>> np.bincount(labels)
    array([125, 125, 125, 125])
    """
    validate_parameter_constraints(
        _CONSTRAINTS,
        {
            "n_samples": n_samples,
            "n_features": n_features,
            "n_classes": n_classes,
            "relation": relation,
            "noise": noise,
            "class_sep": class_sep,
            "random_state": random_state,
        },
        caller_name="make_parallel_spaces",
    )
    n_means = 1 if n_classes is None else n_classes
    if n_samples < n_means:
        raise ValueError(
            f"make_parallel_spaces: 'n_samples' is {n_samples} and 'n_classes' is "
            f"{n_classes}. Every class needs a row: pass n_samples={n_means} or more."
        )
    rng: RandomSource
    if isinstance(random_state, np.random.Generator | np.random.RandomState):
        rng = random_state
    else:
        rng = np.random.default_rng(random_state)
    labels = rng.permutation(np.arange(n_samples, dtype=np.int64) % n_means)
    # One class around its own mean would only move the cloud.
    X = draw_mixture(
        labels, n_means, n_features, class_sep if n_means > 1 else 0.0, rng
    )
    Y = RELATIONS[relation](X, rng)
    if noise > 0:
        spread = np.sqrt(np.mean(np.var(Y, axis=0)))
        Y = Y + noise * spread * rng.standard_normal(Y.shape)
    return (X, Y) if n_classes is None else (X, Y, labels)
