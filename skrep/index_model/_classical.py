"""The classical inverse regressions, as four readings of the same moments."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions

from skrep._claims import Claim
from skrep.index_model._axes import Axes, index_axes, matrix_axes
from skrep.index_model._checks import fewer_slices
from skrep.index_model._claimed import index_claims
from skrep.index_model._count import count_directions
from skrep.index_model._features import Features
from skrep.index_model._noise import first_order_edge, noise_excess, second_order
from skrep.index_model._state import State
from skrep.index_model._streaming import MomentIndex, Rows, Use
from skrep.linalg import (
    WhitenedSlices,
    Whitening,
    averaged_variances,
    directional_regression,
    filled_slices,
)
from skrep.typing import FloatArray

__all__ = [
    "DirectionalRegression",
    "PrincipalHessianDirections",
    "SlicedAverageVarianceEstimation",
    "SlicedInverseRegression",
]

_RESPONSES = {"auto": "auto", "classes": "classes", "numbers": "slices"}


class SliceIndex(MomentIndex):
    """Directions from moments of slices alone."""

    _order: int | str = "both"

    _parameter_constraints = {
        "n_components": "no_validation",
        "n_slices": [Interval(Integral, 2, None, closed="left")],
        "slice_edges": ["array-like", None],
        "target_type": [StrOptions({"auto", "classes", "numbers"})],
        "shrinkage": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        n_slices: int = 10,
        slice_edges: Any = None,
        target_type: str = "auto",
        shrinkage: float | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.n_slices = n_slices
        self.slice_edges = slice_edges
        self.target_type = target_type
        self.shrinkage = shrinkage

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X, or on the names of classes, leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return index_claims(self.shrinkage, labels=self.target_type != "numbers")

    def _use(self) -> Use:
        return Use(_RESPONSES[self.target_type], self._order, None, "target_type")

    def _n_slices(self, rows: Rows) -> int:
        return filled_slices(self.n_slices, rows.n_rows)

    def _count(self, features: list[Features], n_rows: float, axes: Axes) -> int | None:
        if self.n_components != "auto":
            return None
        return count_directions(features, n_rows, self._order, axes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags


class SlicedInverseRegression(SliceIndex):
    r"""Find the directions along which the means of X within slices of y move.

    .. math:: M = \sum_h p_h\, m_h m_h^\top, \qquad m_h = E[z \mid y \in h],

    with whitened rows z and slices h of the response of weight :math:`p_h` [1]_. Of
    classes it is linear discriminant analysis. It sees what moves the mean, and neither
    an even link nor a product.

    Read more in the :ref:`User Guide <index_model_classical>`.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of directions; None takes as many as there can be, one fewer than slices
        or classes. "auto" counts those that are more than noise by sequential tests;
        there may be none.
    n_slices : int, default=10
        Number of slices of a numeric response, of about equal weight; equal numbers
        stay together, and there is at most one slice for every four rows.
    slice_edges : array-like of shape (n_edges,), list of these, or None, default=None
        Edges of the slices, one array for each response; None takes quantiles of the
        first rows.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        What `y` holds. "auto" takes strings, booleans, categories and up to 20
        distinct integers for classes, other numbers for numbers.
    shrinkage : float or "auto", default="auto"
        Ridge of the whitening, in units of the mean eigenvalue of the correlations.
        "auto" is none for more than twice as many rows as columns, and
        :math:`\sqrt{p/n}` below.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The directions, one per row; the largest coefficient of each on standardized
        columns is positive.
    eigenvalues_ : ndarray of shape (n_available,)
        Eigenvalues of M, non-increasing: squared canonical correlations of the rows
        and the slices.
    noise_edge_ : float
        Largest eigenvalue that is to be expected without any signal.
    n_components_ : int
        Number of directions.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    slice_edges_ : ndarray of shape (n_edges,), list of these, or None
        Edges of the slices; None for classes.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    SteinIndex : First and second moments together.
    DirectionalRegression : Means and variances within slices.
    sklearn.discriminant_analysis.LinearDiscriminantAnalysis : The same for classes.

    References
    ----------
    .. [1] Li, K.-C. (1991). Sliced inverse regression for dimension reduction. Journal
       of the American Statistical Association, 86(414), 316-327.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from skrep.index_model import SlicedInverseRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> SlicedInverseRegression(n_components="auto").fit(X, y).transform(X).shape
    (442, 1)
    """

    _order = 1

    def _axes(self, state: State, white: Whitening) -> tuple[Axes, int | None]:
        features = state.features(white)
        axes = index_axes(features, state.n_rows, 1, white.spread)
        return axes, self._count(features, state.n_rows, axes)


class VarianceIndex(SliceIndex):
    """Directions from one candidate matrix of the second moments of slices."""

    def _axes(self, state: State, white: Whitening) -> tuple[Axes, int | None]:
        n_rows, slices = state.n_rows, state.slices(white)
        features = state.of_slices(slices)
        excess = noise_excess(features, n_rows)
        found = [self._candidate(one, n_rows, excess) for one in slices]
        M = np.mean([matrix for matrix, _ in found], axis=0)
        edge = float(np.mean([edge for _, edge in found]))
        axes = matrix_axes(M, edge, len(M), np.diag(white.spread))
        return axes, self._count(features, n_rows, axes)

    @abstractmethod
    def _candidate(
        self, slices: WhitenedSlices, n_rows: float, excess: float
    ) -> tuple[FloatArray, float]:
        """Candidate matrix of one response, and the edge of its noise."""


class SlicedAverageVarianceEstimation(VarianceIndex):
    r"""Find the directions along which the variances of X within slices of y differ.

    .. math:: M = \sum_h p_h\, (I - \Sigma_h)^2, \qquad
        \Sigma_h = \mathrm{cov}(z \mid y \in h),

    with whitened rows z [1]_. It sees even links, too, but needs many rows in each
    slice: their number is lowered down to two until a slice has four rows per column.

    Read more in the :ref:`User Guide <index_model_classical>`.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of directions; None takes all. "auto" counts those that are more than
        noise; there may be none.
    n_slices : int, default=10
        Largest number of slices of a numeric response.
    slice_edges : array-like of shape (n_edges,), list of these, or None, default=None
        Edges of the slices, one array for each response; None takes quantiles of the
        first rows.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        What `y` holds. "auto" takes strings, booleans, categories and up to 20
        distinct integers for classes, other numbers for numbers.
    shrinkage : float or "auto", default="auto"
        Ridge of the whitening, in units of the mean eigenvalue of the correlations.
        "auto" is none for more than twice as many rows as columns, and
        :math:`\sqrt{p/n}` below.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The directions, one per row; the largest coefficient of each on standardized
        columns is positive.
    eigenvalues_ : ndarray of shape (n_available,)
        Eigenvalues of M, non-increasing.
    noise_edge_ : float
        Largest eigenvalue that is to be expected without any signal.
    n_components_ : int
        Number of directions.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    slice_edges_ : ndarray of shape (n_edges,), list of these, or None
        Edges of the slices; None for classes.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    SteinIndex : First and second moments, freed from noise.
    DirectionalRegression : Means and variances within slices.

    Notes
    -----
    Covariances within slices have the divisor :math:`n_h - 1`; slices of less than two
    rows are left out.

    References
    ----------
    .. [1] Cook, R. D. and Weisberg, S. (1991). Discussion of "Sliced inverse regression
       for dimension reduction". Journal of the American Statistical Association,
       86(414), 328-332.

    Examples
    --------
    >>> from skrep.datasets import make_index_model
    >>> from skrep.index_model import SlicedAverageVarianceEstimation
    >>> from skrep.metrics import subspace_distance
    >>> X, y, components = make_index_model(2000, 5, links="even", random_state=0)
    >>> save = SlicedAverageVarianceEstimation(n_components=1).fit(X, y)
    >>> bool(subspace_distance(save.components_, components) < 0.1)
    True
    """

    def _n_slices(self, rows: Rows) -> int:
        most = super()._n_slices(rows)
        return fewer_slices(self, rows.n_rows, rows.X.shape[1], most)

    def _candidate(
        self, slices: WhitenedSlices, n_rows: float, excess: float
    ) -> tuple[FloatArray, float]:
        rank, H = slices.means.shape[1], len(slices.counts)
        edge = excess * rank / n_rows * (np.sqrt(H) + 1) ** 2
        return averaged_variances(slices), edge


class DirectionalRegression(VarianceIndex):
    r"""Find the directions in which pairs of rows differ, given the slices of both.

    .. math:: M = 2 \sum_h p_h S_h^2 + 2 M_1^2 + 2\,\mathrm{tr}(M_1)\, M_1 - 2 I,
        \qquad S_h = E[z z^\top \mid y \in h],

    with whitened rows z and :math:`M_1` the matrix of sliced inverse regression [1]_.
    It sees means and variances alike.

    Read more in the :ref:`User Guide <index_model_classical>`.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of directions; None takes all. "auto" counts those that are more than
        noise; there may be none.
    n_slices : int, default=10
        Number of slices of a numeric response, at most one for every four rows.
    slice_edges : array-like of shape (n_edges,), list of these, or None, default=None
        Edges of the slices, one array for each response; None takes quantiles of the
        first rows.
    target_type : {"auto", "classes", "numbers"}, default="auto"
        What `y` holds. "auto" takes strings, booleans, categories and up to 20
        distinct integers for classes, other numbers for numbers.
    shrinkage : float or "auto", default="auto"
        Ridge of the whitening, in units of the mean eigenvalue of the correlations.
        "auto" is none for more than twice as many rows as columns, and
        :math:`\sqrt{p/n}` below.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The directions, one per row; the largest coefficient of each on standardized
        columns is positive.
    eigenvalues_ : ndarray of shape (n_available,)
        Eigenvalues of M, non-increasing.
    noise_edge_ : float
        Largest eigenvalue that is to be expected without any signal.
    n_components_ : int
        Number of directions.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    slice_edges_ : ndarray of shape (n_edges,), list of these, or None
        Edges of the slices; None for classes.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    SteinIndex : First and second moments, freed from noise.
    SlicedInverseRegression : Means alone.

    References
    ----------
    .. [1] Li, B. and Wang, S. (2007). On directional regression for dimension
       reduction. Journal of the American Statistical Association, 102(479), 997-1008.

    Examples
    --------
    >>> from skrep.datasets import make_index_model
    >>> from skrep.index_model import DirectionalRegression
    >>> from skrep.metrics import subspace_distance
    >>> X, y, components = make_index_model(2000, 5, links="product", random_state=0)
    >>> regression = DirectionalRegression(n_components=2).fit(X, y)
    >>> bool(subspace_distance(regression.components_, components) < 0.2)
    True
    """

    def _candidate(
        self, slices: WhitenedSlices, n_rows: float, excess: float
    ) -> tuple[FloatArray, float]:
        rank, H = slices.means.shape[1], len(slices.counts)
        first = first_order_edge(n_rows, rank, H - 1)
        trace = rank * (H - 1) / n_rows
        second = excess * rank / n_rows * (np.sqrt(H) + 1) ** 2
        return directional_regression(slices), 2 * (second + (first + trace) * first)


class PrincipalHessianDirections(MomentIndex):
    r"""Find the directions in which the response is curved.

    .. math:: A = E[(y - \bar y)\, z z^\top]

    with whitened rows z; for Gaussian rows it is the mean Hessian of the regression
    function [1]_. Directions are ordered by the size of their eigenvalues, so that
    downward curves count as upward ones do. Linear links are not seen.

    Read more in the :ref:`User Guide <index_model_classical>`.

    Parameters
    ----------
    n_components : int, "auto" or None, default=None
        Number of directions; None takes all. "auto" counts those that are more than
        noise; there may be none.
    shrinkage : float or "auto", default="auto"
        Ridge of the whitening, in units of the mean eigenvalue of the correlations.
        "auto" is none for more than twice as many rows as columns, and
        :math:`\sqrt{p/n}` below.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_)
        The directions, one per row; the largest coefficient of each on standardized
        columns is positive.
    eigenvalues_ : ndarray of shape (n_available,)
        Sizes of the eigenvalues of A for a response of unit variance, non-increasing;
        of several responses, roots of the eigenvalues of the sum of squares, after
        they have been whitened.
    noise_edge_ : float
        Largest eigenvalue that is to be expected without any signal.
    n_components_ : int
        Number of directions.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    SteinIndex : Robust to heavy tails, and able to see linear links.

    References
    ----------
    .. [1] Li, K.-C. (1992). On principal Hessian directions for data visualization and
       dimension reduction. Journal of the American Statistical Association, 87(420),
       1025-1039.

    Examples
    --------
    >>> from skrep.datasets import make_index_model
    >>> from skrep.index_model import PrincipalHessianDirections
    >>> from skrep.metrics import subspace_distance
    >>> X, y, components = make_index_model(2000, 5, links="even", random_state=0)
    >>> hessian = PrincipalHessianDirections(n_components=1).fit(X, y)
    >>> bool(subspace_distance(hessian.components_, components) < 0.1)
    True
    """

    slice_edges = None

    _parameter_constraints = {
        "n_components": "no_validation",
        "shrinkage": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        n_components: int | str | None = None,
        *,
        shrinkage: float | str = "auto",
    ) -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return index_claims(self.shrinkage, labels=False)

    def _use(self) -> Use:
        return Use("raw", 2, None, None)

    def _n_slices(self, rows: Rows) -> int:
        return 0

    def _axes(self, state: State, white: Whitening) -> tuple[Axes, int | None]:
        features = state.features(white)
        second = second_order(features, state.n_rows)
        wide = np.concatenate(list(second.matrices), axis=1)
        roots = len(second.matrices) > 1
        M = wide @ wide.T if roots else second.matrices[0]
        # The edge of one matrix; the squares of several add up to more.
        edge = float(second.edges.min()) * (1 + np.sqrt(len(second.matrices))) / 2
        axes = matrix_axes(M, edge, len(M), np.diag(white.spread))
        if roots:
            axes = axes._replace(eigenvalues=np.sqrt(axes.eigenvalues))
        if self.n_components != "auto":
            return axes, None
        return axes, count_directions(features, state.n_rows, 2, axes)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        return tags
