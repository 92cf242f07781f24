"""Features of a two-layer network after one or two large gradient steps."""

from numbers import Integral, Real
from typing import Any, Final, Self

import numpy as np
import scipy.linalg
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, Options, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.index_model._frame import whitened
from skrep.index_model._linear import finish
from skrep.index_model._spikes import (
    Sample,
    first_step,
    new_orders,
    second_step,
    spike_directions,
)
from skrep.index_model._step_activations import ACTIVATIONS, activate
from skrep.index_model._step_kernel import GAUSSIAN_KERNELS
from skrep.index_model._step_targets import standardized_responses
from skrep.linalg import Moments, Whitening, project_rows
from skrep.typing import AnyArray, FloatArray
from skrep.utils.validation import (
    check_overflow,
    check_sample_weight,
    validate_rows,
    validate_side,
)

__all__ = ["GradientStepFeatures"]

GIANT: Final = 4.0
"""A giant step, in units of the root of the number of neurons."""


class GradientStepFeatures(ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    r"""Compute the features of a network after one or two large gradient steps.

    Random features are a two-layer network whose first layer nobody has trained. One
    large gradient step turns its neurons towards the directions that tell the response:
    the weights become random ones plus a *spike* of low rank [1]_, [2]_. Both are
    written down here without a network. On whitened rows z of k dimensions, with the
    response y standardized,

    .. math:: x \mapsto \sigma(z^\top W + b), \quad W = W_0 + \eta \left( c_1 \beta
        a^\top + c_2 A W_0 \,\mathrm{diag}(a) \right),

    where :math:`\beta = E[y z]` and :math:`A = E[y z z^\top]` are first and second
    Stein moments, the columns of :math:`W_0` are drawn from :math:`N(0, I/k)`, the
    readouts a from :math:`N(0, 1/N)`, and :math:`c_m = E[\sigma^{(m)}(Z)]`. The biases
    are drawn from :math:`N(0, 1)` after the step, as in [3]_. Of several responses the
    gradients add up, each with a readout of its own; a class is a response.

    Read more in the :ref:`User Guide <gradient_step>`.

    Parameters
    ----------
    n_features : int, default=512
        Number of neurons N, the columns of the output. The columns of the input are
        counted by `n_features_in_`.
    n_steps : {1, 2}, default=1
        Number of gradient steps, of the same rows and learning rate. The second adds
        directions that the first one leads to, :math:`E[y \, He_m(s) z]` with s the
        index of the first: the spike of y = u + uv is u after one step, and u and v
        after two.
    activation : {"relu", "softplus", "erf", "tanh"}, default="relu"
        The activation :math:`\sigma`. "relu" and "softplus" see what is even in z, by
        the term of A; for "erf" and "tanh" :math:`c_2` is 0.
    step : "giant" or float, default="giant"
        The learning rate :math:`\eta`, not negative. "giant" is :math:`4 \sqrt{N}`,
        which moves a neuron by up to twice its length. 0 gives random features.
    random_state : int, RandomState instance or None, default=None
        Randomness of weights, readouts and biases.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_, n_features)
        Weights of the neurons on the centered raw columns.
    bias_ : ndarray of shape (n_features,)
        Their biases.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    spikes_ : ndarray of shape (n_directions, n_features_in_)
        Directions of the low-rank terms, order by order, as coefficients on the raw
        columns; over the rows of fit their indices are uncorrelated and of unit
        variance. The largest coefficient on standardized columns is positive.
    n_spikes_ : int
        Predicted number of singular values of W that stand out of those of
        :math:`W_0`. `Notes` says how they are counted.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    SteinIndex : The directions themselves.
    sklearn.kernel_approximation.RBFSampler : Random features that see no response.

    Notes
    -----
    The spike is fitted to y, noise included, and a head that is trained on the same
    rows takes that noise for signal. A penalty that is chosen on these rows is far too
    small where noise is large and rows to a column are few. Let a search choose it over
    the whole pipeline, which fits the features in every split anew, or fit the features
    on one half of the rows and the head on the other; the User Guide shows both. The
    moments of a second step are of degree five in the rows: where tails are heavy, one
    step is the safer choice.

    With :math:`\eta = N^\alpha` the term of order m of the second step is of size
    :math:`N^{\alpha - m (1/2 - \alpha)}`. The formula of the literature for outliers,
    :math:`\lfloor \alpha / (1/2 - \alpha) \rfloor`, counts the *new* directions
    :math:`m \ge 1`; `n_spikes_` counts the direction :math:`m = 0`, which is that of
    the first step, as well. Orders with :math:`c_{m+1} = 0` are left out, and so are
    those above 3, which a giant step would not end at. With q responses order m has up
    to :math:`\binom{q + m}{m + 1}` directions. The count is asymptotic: at finite
    sizes a term stands out if it is larger than the edge of the random part, and the
    term of A, which counts as random, may push further values past it.

    The formulas keep the Hermite terms of degree 0 and 1 of the slopes, and take
    whitened rows for Gaussian. A network that is really trained has small further
    terms, and its own outputs in the residual. Rows fewer than twice their dimensions
    are whitened with a ridge. Second moments cost as much as a covariance for each
    response.

    References
    ----------
    .. [1] Ba, J., Erdogdu, M. A., Suzuki, T., Wang, Z., Wu, D. and Yang, G. (2022).
       High-dimensional asymptotics of feature learning: how one gradient step improves
       the representation. NeurIPS.
    .. [2] Moniri, B., Lee, D., Hassani, H. and Dobriban, E. (2024). A theory of
       non-linear feature learning with one gradient step in two-layer neural networks.
       ICML.
    .. [3] Damian, A., Lee, J. D. and Soltanolkotabi, M. (2022). Neural networks can
       learn representations with gradient descent. COLT.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn.pipeline import make_pipeline
    >>> from skrep.datasets import make_index_model
    >>> from skrep.index_model import GradientStepFeatures
    >>> X, y, _ = make_index_model(2000, 20, links="sine", random_state=0)
    >>> for step in (0, "giant"):
    ...     features = GradientStepFeatures(step=step, random_state=0)
    ...     model = make_pipeline(features, Ridge(30)).fit(X[:1000], y[:1000])
    ...     print(round(model.score(X[1000:], y[1000:]), 1))
    0.4
    0.9
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "n_features": [Interval(Integral, 1, None, closed="left")],
        "n_steps": [Options(Integral, {1, 2})],
        "activation": [StrOptions(set(ACTIVATIONS))],
        "step": [Interval(Real, 0, None, closed="left"), StrOptions({"giant"})],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_features: int = 512,
        *,
        n_steps: int = 1,
        activation: str = "relu",
        step: float | str = "giant",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_features = n_features
        self.n_steps = n_steps
        self.activation = activation
        self.step = step
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Draw a network and take the steps.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers or classes; several columns hold numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        GradientStepFeatures
            The fitted estimator.

        Raises
        ------
        ValueError
            If all rows are equal, or y has one value.

        Warns
        -----
        ThinDataWarning
            If a column of X, or one of several columns of y, is constant.
        """
        who = type(self).__name__
        X = validate_rows(self, X, reset=True, ensure_min_samples=2)
        weights = check_sample_weight(who, sample_weight, X.shape[0])
        kept = weights > 0
        if not kept.all():
            X, weights = X[kept], weights[kept]
        shares = weights / weights.sum()
        Y = standardized_responses(who, y, kept, shares)
        with np.errstate(over="ignore", invalid="ignore"):
            moments = Moments.of(X, weights)
        n_rows = max(moments.weight, len(X))
        white = whitened(self, moments, n_rows, X.dtype)
        self._take_steps(Sample(X, shares, Y, white), moments)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Compute the outputs of the neurons.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_neurons)
            The features, in the float type of X.

        Raises
        ------
        ValueError
            If X is so large that they overflow.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False)
        H = self._project(X, self.weights_, self._shift)
        if not (np.isfinite(H.min()) and np.isfinite(H.max())):
            raise ValueError(
                f"{type(self).__name__}: 'X' holds numbers so large that its features "
                f"overflow {H.dtype}. Pass X.astype(np.float64), or X / "
                "np.abs(X).max() in fit and here."
            )
        return activate(self.activation, H)

    def kernel(self, X: Any, Y: Any = None) -> FloatArray:
        r"""Compute the kernel that the features approach as neurons grow in number.

        The mean over neurons of the product of two rows' features. With the activation
        "relu" or "erf" and one step it is known for neurons of Gaussian weights of
        covariance :math:`C / k`,

        .. math:: C = I + \frac{\eta^2}{N} \sum_c \left( k c_1^2 \beta_c \beta_c^\top
            + c_2^2 A_c^2 \right), \quad q(x, x') = z^\top C z' / k + 1,

        as the arc-cosine and the arcsine of q. For "erf" this is the mean over all
        draws of the network; the weights of "relu" are Gaussian but for the term of A,
        of which the kernel has the covariance. Else it is the mean over the neurons
        that were drawn.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        Y : array-like of shape (n_other_samples, n_features), default=None
            Rows of the other side; None takes X.

        Returns
        -------
        ndarray of shape (n_samples, n_other_samples)
            The kernel, for the parameter ``kernel="precomputed"`` of scikit-learn.
        """
        check_is_fitted(self)
        rows = validate_rows(self, X, reset=False)
        others = rows if Y is None else self._other_side(Y)
        if self._kernel_map is None:
            left = self.transform(rows)
            right = left if Y is None else self.transform(others)
            return left @ right.T / len(self.bias_)
        left = self._project(rows, *self._kernel_map)
        right = left if Y is None else self._project(others, *self._kernel_map)
        sizes = [1 + np.einsum("ij,ij->i", side, side) for side in (left, right)]
        return GAUSSIAN_KERNELS[self.activation](1 + left @ right.T, *sizes)

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on the rows and fitting again leaves alone.

        Random weights belong to columns: other linear maps give features of the same
        distribution, which are not the same features.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return (
            Claim("translation"),
            Claim("column_scaling"),
            Claim("row_permutation", "same_action"),
        )

    def _take_steps(self, sample: Sample, moments: Moments) -> None:
        white, dtype, n_neurons = sample.white, sample.X.dtype, self.n_features
        random_state = check_random_state(self.random_state)
        start = _random_weights(white, n_neurons, random_state)
        readout = random_state.standard_normal((sample.Y.shape[1], n_neurons))
        readout /= np.sqrt(n_neurons)
        bias = random_state.standard_normal(n_neurons)
        rate = GIANT * np.sqrt(n_neurons) if self.step == "giant" else float(self.step)
        step = first_step(sample, start, readout, self.activation, rate)
        kernel_map = white.map @ _root(step.covariance)
        if self.n_steps == 2:
            orders = new_orders(self.activation, rate, n_neurons)
            step = second_step(sample, step, readout, self.activation, rate, orders)
        directions = spike_directions(step.spikes if rate else (), len(start))
        spikes, _ = finish(white.map @ directions, moments, white.scale)
        rest = moments.mean - moments.mean.astype(dtype)
        weights = white.map @ step.weights
        parts = (weights, spikes, bias - rest @ weights, kernel_map, -rest @ kernel_map)
        with np.errstate(over="ignore"):
            fitted = [part.astype(dtype) for part in parts]
        check_overflow(type(self).__name__, *fitted)
        self.weights_, self.spikes_, self._shift = fitted[:3]
        self.n_spikes_ = len(spikes) if rate >= 1 else 0
        self.bias_ = bias.astype(dtype)
        self.mean_ = moments.mean.astype(dtype)
        closed = self.n_steps == 1 and self.activation in GAUSSIAN_KERNELS
        self._kernel_map = tuple(fitted[3:]) if closed else None

    def _project(
        self, X: FloatArray, weights: FloatArray, shift: FloatArray
    ) -> FloatArray:
        """Products of centered rows with columns; shifts undo the mean's rounding."""
        with np.errstate(over="ignore", invalid="ignore"):
            H = project_rows(X, weights.T, self.mean_)
            H += shift
        return H

    def _other_side(self, Y: Any) -> FloatArray:
        rows = validate_side(self, "Y", Y)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"{type(self).__name__}.kernel: 'Y' has {rows.shape[1]} columns, and "
                f"fit saw {self.n_features_in_}. Pass rows of the same columns as X."
            )
        return rows

    @property
    def _n_features_out(self) -> int:
        return len(self.bias_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _random_weights(
    white: Whitening, n_neurons: int, random_state: np.random.RandomState
) -> FloatArray:
    """Draw weights on z that do not depend on the choice of eigenvectors.

    They are drawn for standardized columns that vary, and carried over: the sign of an
    eigenvector, or the basis of several of one eigenvalue, is an accident of rounding.
    """
    varying = white.scale > 0
    basis = (white.map * white.scale[:, None])[varying]
    basis /= np.linalg.norm(basis, axis=0)
    draws: AnyArray = random_state.standard_normal((len(basis), n_neurons))
    return basis.T @ draws / np.sqrt(basis.shape[1])


def _root(covariance: FloatArray) -> FloatArray:
    factor: FloatArray = scipy.linalg.cholesky(covariance, lower=True)
    return factor / np.sqrt(len(covariance))
