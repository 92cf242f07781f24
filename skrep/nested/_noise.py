"""Noise pruner: keep the principal axes that stand out of the noise."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from skrep._claims import Claim
from skrep.exceptions import FewerColumnsWarning
from skrep.linalg import fix_signs
from skrep.nested._distinct import centered_distinct_rows
from skrep.nested._linear import NestedTransformer
from skrep.nested._noise_edge import (
    agreement,
    half_grams,
    noise_edge,
    principal_axes,
)
from skrep.utils import warn
from skrep.utils.validation import check_sample_weight, validate_rows

__all__ = ["NoisePruner"]


class NoisePruner(NestedTransformer):
    r"""Drop the principal axes that noise alone explains, and say how many and why.

    An axis is signal when two tests find it so; all others are noise, and pruned.

    1. *It is too strong for noise.* Of n rows of independent noise in d columns the
       covariance has eigenvalues up to :math:`\sigma^2 (1 + \sqrt{d / n})^2`, the
       edge of the Marchenko-Pastur law [1]_. The noise variance :math:`\sigma^2` is
       the median eigenvalue over the median of the law [2]_.
    2. *It returns in other rows.* The rows are halved at random. The leading k axes
       of a half must lie in what stands out of the other half: the smallest principal
       cosine is at least `threshold`. The largest such k is kept.

    Rows become their coordinates along the axes kept, as with PCA of that length;
    `inverse_transform` takes them back to rows without the noise.

    Read more in the :ref:`User Guide <margin_noise>`.

    Parameters
    ----------
    threshold : float, default=0.5
        The cosine, from 0 to 1, that agreement asks for; 0 trusts the first test
        alone. Random directions of d columns have one of about :math:`d^{-1/2}`.
    n_splits : int, default=4
        Number of random halvings, whose cosines are averaged.
    random_state : int, RandomState instance or None, default=None
        Randomness of the halvings.

    Attributes
    ----------
    n_signal_ : int
        Number of axes that pass both tests. Where none does, the first axis is kept
        all the same, with a warning: a transformer must return a column.
    n_noise_ : int
        Number of the other axes: the columns less `n_signal_`. `prefix` counts the
        signal that it cuts among them.
    reason_ : str
        How the two numbers came about, in a sentence; `prefix` adds one.
    noise_level_ : float
        The noise variance, in squared units of X.
    edge_ : float
        The largest eigenvalue that such noise explains.
    eigenvalues_ : ndarray of shape (n_features_in_,)
        Eigenvalues of the unbiased covariance, the largest first.
    agreement_ : ndarray of shape (2,)
        The cosine of test 2 for the axes that pass both tests, at least `threshold`,
        and for one axis more, under it. NaN where no axis passes, or where no further
        eigenvalue is above the edge. `prefix` leaves it as it was in fit.
    components_ : ndarray of shape (n_components, n_features_in_)
        The axes kept, as unit rows, the strongest first; the largest entry of each is
        positive.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the fitted rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    MarginProjection : Directions that keep near rows apart.
    sklearn.decomposition.PCA : With ``n_components="mle"``, another choice of length.

    Notes
    -----
    The law is that of noise which is alike in all directions. Embeddings have no such
    noise: their weak axes carry some meaning, and what is pruned is what these rows
    cannot tell from noise. More rows keep more axes. The median needs more than half
    of the axes to be noise.

    Columns that depend on others add no dimension. With fewer rows than columns the
    positive eigenvalues alone are compared, with the law of those. Weights count
    rows; where they sum to less than the number of distinct rows they are scaled up
    to it. Equal rows fall into the same half.

    References
    ----------
    .. [1] Marchenko, V. A. and Pastur, L. A. (1967). Distribution of eigenvalues for
       some sets of random matrices. Mathematics of the USSR-Sbornik, 1(4), 457-483.
    .. [2] Gavish, M. and Donoho, D. L. (2014). The optimal hard threshold for singular
       values is 4/sqrt(3). IEEE Transactions on Information Theory, 60(8), 5040-5053.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.nested import NoisePruner
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 40))
    >>> X[:, :3] *= [5, 4, 3]
    >>> pruner = NoisePruner(random_state=0).fit(X)
    >>> pruner.n_signal_, pruner.n_noise_
    (3, 37)
    >>> pruner.transform(X).shape
    (400, 3)
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "threshold": [Interval(Real, 0, 1, closed="both")],
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        *,
        threshold: float = 0.5,
        n_splits: int = 4,
        random_state: Any = None,
    ) -> None:
        self.threshold = threshold
        self.n_splits = n_splits
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the axes that stand out.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two distinct rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        NoisePruner
            The fitted estimator.

        Raises
        ------
        ValueError
            If all rows are equal.

        Warns
        -----
        FewerColumnsWarning
            If no axis stands out.
        """
        who = type(self).__name__
        X = validate_rows(self, X, reset=True, ensure_min_samples=2)
        weights = check_sample_weight(who, sample_weight, X.shape[0])
        centered = centered_distinct_rows(who, X, weights)
        rows = centered.rows
        counts = centered.weights * max(1.0, len(rows) / centered.weights.sum())
        n_free = counts.sum() - 1
        eigenvalues, axes = principal_axes(rows, counts, n_free)
        noise = noise_edge(eigenvalues, n_free)
        grams = half_grams(
            rows,
            counts,
            noise.n_above,
            n_splits=self.n_splits,
            random_state=check_random_state(self.random_state),
        )
        found = agreement(grams, self.threshold)
        self.n_signal_ = found.n_axes
        self.n_noise_ = X.shape[1] - self.n_signal_
        square = centered.scale**2
        self.noise_level_, self.edge_ = noise.level * square, noise.edge * square
        self.eigenvalues_ = (eigenvalues * square).astype(X.dtype)
        self.agreement_ = np.array([found.cosine, found.following], X.dtype)
        kept = fix_signs(axes[: max(1, self.n_signal_)])
        self.components_ = kept.astype(X.dtype)
        self.mean_ = centered.mean.astype(X.dtype)
        self.reason_ = (
            f"{noise.n_above} of {X.shape[1]} eigenvalues are above the noise edge "
            f"{self.edge_:.3g}, and over {self.n_splits} random halvings "
            f"{self.n_signal_} leading axes agree (cosine at least {self.threshold:g})"
            f": {self.n_noise_} axes are noise."
        )
        if not self.n_signal_:
            warn(
                f"{who}: no axis stands out: {self.reason_} The first axis is kept, "
                "since a transformer must return a column. Pass more rows, or lower "
                "threshold.",
                FewerColumnsWarning,
            )
        return self

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on the rows and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return (
            Claim("orthogonal", "up_to_sign"),
            Claim("column_permutation"),
            Claim("translation"),
            Claim("positive_scaling", "same_action"),
            Claim("row_permutation", "same_action"),
        )

    def _keep(self, k: int) -> None:
        n_kept = len(self.components_)
        super()._keep(k)
        if k < n_kept:
            self.n_signal_ = k
            self.n_noise_ = self.n_features_in_ - k
            self.reason_ += f" Cut to the first {k} of the {n_kept} axes kept."
