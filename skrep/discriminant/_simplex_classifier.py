"""Simplex classifier: features whose places for classes are fixed beforehand."""

from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.special
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from skrep._claims import Claim
from skrep._neural import (
    Standardization,
    check_embedded,
    require_torch,
    standardization,
)
from skrep.discriminant._net_classifier import NET_CONSTRAINTS, NetClassifier
from skrep.discriminant._recursive import hidden_moments, updated_layer
from skrep.discriminant._sample import (
    Sample,
    check_two_classes,
    join_classes,
    read_sample,
)
from skrep.discriminant._training import Task, train_network
from skrep.geometry import simplex_vertices
from skrep.typing import AnyArray, FloatArray
from skrep.utils.fitting import all_or_nothing
from skrep.utils.validation import check_overflow

__all__ = ["SimplexClassifier"]


class _Memory(NamedTuple):
    """What is kept of the rows seen: moments of what the last layer sees."""

    layer: FloatArray
    gram: FloatArray
    product: FloatArray
    length: float


class SimplexClassifier(NetClassifier):
    r"""Classify by features that point at the vertices of a fixed simplex.

    Every class has a vertex :math:`v_c` of the regular simplex of K vertices in K - 1
    dimensions [1]_. A perceptron f is trained so that its outputs point there,

    .. math:: p(c \mid x) = \operatorname{softmax}_c (v_c^\top f(x)),

    and no head is learned. As the places do not move, features of models that were
    trained apart can be compared, and vertices can be kept for classes to come [2]_:
    `partial_fit` moves the rows of a new class to a free vertex and the others as
    little as it can, so that features stored before stay comparable with those after.

    Over frozen vectors, ``hidden=()`` trains a linear map.

    Parameters
    ----------
    n_reserved : int, default=0
        Number of vertices that are kept for classes to come.
    contrast : float, default=0.0
        Weight of a term that pulls rows of a class together, see
        :class:`skrep.nn.losses.SimplexLoss`.
    hidden : sequence of int, default=(64, 64)
        Widths of the hidden layers; ``()`` makes a linear map.
    max_epochs : int, default=150
        Number of passes over the rows.
    batch_size : int or "auto", default="auto"
        About how many rows a step sees, as in :class:`DiscriminantEncoder`.
    lr : float, default=5e-3
        Learning rate of AdamW.
    weight_decay : float, default=0.0
        Its decoupled weight decay.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by label; "balanced" gives every class the same sum.
    validation_fraction : float or None, default=None
        Share of the rows of every class that is held out to decide when training
        ends, as in :class:`DiscriminantEncoder`.
    device : str, default="cpu"
        Where to train, such as "cuda".
    callbacks : list or None, default=None
        Callbacks of skorch. Those of scikit-learn go to `set_callbacks`.
    module_params : dict or None, default=None
        Parameters of the perceptron, ``{"dropout": 0.1}``, or ``module__dropout``.
    optimizer_params : dict or None, default=None
        Arguments of AdamW, such as ``{"betas": (0.9, 0.99)}``, or
        ``optimizer__betas``.
    random_state : int, RandomState or None, default=None
        Seed of weights, batches and held-out rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    vertices_ : ndarray of shape (n_classes, n_components)
        The vertex of each class.
    coefs_, intercepts_ : list of ndarray
        Layers of the fitted perceptron.
    history_ : list of dict
        Losses of every epoch.
    n_iter_ : int
        Number of epochs.
    best_loss_ : float
        Smallest loss of the held-out rows; None if there were none.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X, if it had any.

    See Also
    --------
    DiscriminantEncoder : Any number of columns, and a head in closed form.
    SimplexCode : Simplex coordinates of soft clusters.

    Notes
    -----
    `partial_fit` changes the last layer alone, by recursive least squares: of all
    layers, it takes that of least sum of the squared changes of the outputs of all
    rows seen so far and the squared distances of the new rows from their vertices (at
    the mean length of trained rows). This needs moments of hidden columns alone, and
    no torch. Hidden layers stay what the first rows made them; where they do not tell
    a new class from the others, fit anew.

    References
    ----------
    .. [1] Pernici, F., Bruni, M., Baecchi, C. and Del Bimbo, A. (2022). Regular
       polytope networks. IEEE Transactions on Neural Networks and Learning Systems,
       33(9), 4373-4387.
    .. [2] Biondi, N., Pernici, F., Ricci, S. and Del Bimbo, A. (2024). Stationary
       representations: optimally approximating compatibility and implications for
       improved model replacements. CVPR.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skrep.discriminant import SimplexClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> old = y < 2
    >>> model = SimplexClassifier(n_reserved=1, max_epochs=30, random_state=0)
    >>> model.fit(X[old], y[old]).transform(X).shape
    (178, 2)
    >>> model.partial_fit(X[~old], y[~old]).classes_
    array([0, 1, 2])
    >>> model.score(X, y) > 0.9
    True
    """

    module = "mlp"
    vertices_: FloatArray
    _free: FloatArray
    _memory: _Memory

    _parameter_constraints = {
        "n_reserved": [Interval(Integral, 0, None, closed="left")],
        "contrast": [Interval(Real, 0, None, closed="left")],
        **NET_CONSTRAINTS,
    }

    def __init__(
        self,
        n_reserved: int = 0,
        *,
        contrast: float = 0.0,
        hidden: Any = (64, 64),
        max_epochs: int = 150,
        batch_size: int | str = "auto",
        lr: float = 5e-3,
        weight_decay: float = 0.0,
        class_weight: Any = None,
        validation_fraction: float | None = None,
        device: str = "cpu",
        callbacks: Any = None,
        module_params: dict[str, Any] | None = None,
        optimizer_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_reserved = n_reserved
        self.contrast = contrast
        self.hidden = hidden
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.class_weight = class_weight
        self.validation_fraction = validation_fraction
        self.device = device
        self.callbacks = callbacks
        self.module_params = module_params
        self.optimizer_params = optimizer_params
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the network.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows. Sparse ones are made dense one batch at a time.
        y : array-like of shape (n_samples,)
            Their classes, two or more.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; 0 is an absent row.

        Returns
        -------
        SimplexClassifier
            The fitted estimator.

        Raises
        ------
        ImportError
            If torch or skorch is not installed.
        ValueError
            If there are fewer than two classes, a parameter does not suit, or training
            diverges.
        """
        return self._train(X, y, sample_weight, None)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Learn further rows, of classes old or new.

        The first call is `fit`. Later ones change the last layer alone.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Further rows.
        y : array-like of shape (n_samples,)
            Their classes. A new one takes the next free vertex.
        classes : array-like of shape (n_classes,), default=None
            Classes that have vertices from now on, whether rows of them have come or
            not.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; 0 is an absent row.

        Returns
        -------
        SimplexClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If no vertex is left for a new class, or labels of old and new classes are
            text and numbers.
        """
        if not hasattr(self, "vertices_"):
            return self._train(X, y, sample_weight, classes)
        sample, found = read_sample(self, X, y, sample_weight, reset=False)
        labels, vertices, free = self._places(found, classes)
        targets = self._memory.length * vertices[np.searchsorted(labels, found)]
        with np.errstate(over="ignore", invalid="ignore"):
            memory = self._remembered(sample, targets)
        check_overflow(type(self).__name__, memory.gram, memory.product)
        layer = updated_layer(memory.layer, memory.gram, memory.product)
        dtype = self.coefs_[-1].dtype
        self._store(
            {
                "classes_": labels,
                "vertices_": vertices.astype(dtype),
                "coefs_": [*self.coefs_[:-1], layer[:-1].astype(dtype)],
                "intercepts_": [*self.intercepts_[:-1], layer[-1].astype(dtype)],
                "_free": free,
                "_memory": memory,
            }
        )
        return self

    def invariances(self) -> tuple[Claim, ...]:
        """List what the current parameters are invariant to.

        Returns
        -------
        tuple of Claim
            The claims.
        """
        return (Claim("translation"), Claim("column_scaling"))

    @property
    def _n_features_out(self) -> int:
        return self.vertices_.shape[1]

    def _train(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Self:
        who = type(self).__name__
        require_torch(who)
        from skrep.nn.losses import SimplexLoss

        sample, found = read_sample(self, X, y, sample_weight)
        labels = found if classes is None else join_classes(who, found, classes)
        check_two_classes(who, labels)
        places = np.searchsorted(labels, found)
        sample = sample._replace(codes=places[sample.codes])
        standard = standardization(who, sample.X, sample.weights)
        n_vertices = len(labels) + self.n_reserved
        vertices = simplex_vertices(n_vertices)
        loss = SimplexLoss(n_vertices, contrast=self.contrast)
        fitted = train_network(
            self,
            sample,
            standard,
            Task(loss, n_vertices - 1, partition=False),
            lambda network, _: _state(
                self, network, sample, standard, labels, vertices
            ),
            {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}},
        )
        self._store(fitted)
        return self

    def _places(
        self, found: AnyArray, classes: Any
    ) -> tuple[AnyArray, FloatArray, FloatArray]:
        """Labels, their vertices and those still free, with new classes in place."""
        who = type(self).__name__
        asked = found if classes is None else join_classes(who, found, classes)
        new = np.setdiff1d(join_classes(who, self.classes_, asked), self.classes_)
        if len(new) > len(self._free):
            raise ValueError(
                f"{who}: 'y' or 'classes' has {len(new)} new classes, such as "
                f"{new.tolist()[0]!r}, and {len(self._free)} vertices are left. Fit "
                f"anew with n_reserved={self.n_reserved + len(new) - len(self._free)} "
                "or more."
            )
        labels = np.concatenate([self.classes_, new])
        vertices = np.concatenate([self.vertices_, self._free[: len(new)]])
        order = np.argsort(labels)
        return labels[order], vertices[order], self._free[len(new) :]

    def _remembered(self, sample: Sample, targets: FloatArray) -> _Memory:
        """Moments of the rows seen so far and of these."""
        layer, gram, product, length = self._memory
        more, cross = hidden_moments(
            sample, self._standard, self.coefs_[:-1], self.intercepts_[:-1], targets
        )
        return _Memory(layer, gram + more, product + cross - more @ layer, length)

    def _log_posterior(self, Z: FloatArray) -> FloatArray:
        scores: FloatArray = scipy.special.log_softmax(Z @ self.vertices_.T, axis=1)
        return scores


def _state(
    estimator: Any,
    network: Any,
    sample: Sample,
    standard: Standardization,
    labels: AnyArray,
    vertices: FloatArray,
) -> dict[str, Any]:
    """Fitted attributes that follow from a network."""
    from skrep.nn._modules import mlp_arrays

    dtype = sample.X.dtype
    coefs, intercepts = mlp_arrays(network)
    with np.errstate(over="ignore", invalid="ignore"):
        gram, cross = hidden_moments(
            sample, standard, coefs[:-1], intercepts[:-1], vertices
        )
    check_embedded(estimator, gram, cross)
    layer = np.vstack([coefs[-1], intercepts[-1]]).astype(np.float64)
    length = max(float(np.sum(layer * cross) / sample.weights.sum()), 1.0)
    return {
        "classes_": labels,
        "vertices_": vertices[: len(labels)].astype(dtype),
        "coefs_": coefs,
        "intercepts_": intercepts,
        "_standard": standard,
        "_free": vertices[len(labels) :].astype(dtype),
        "_memory": _Memory(layer, gram, np.zeros_like(layer), length),
    }
