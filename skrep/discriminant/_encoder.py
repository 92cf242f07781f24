"""Discriminant encoder: a network whose outputs set classes apart."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from skrep._claims import Claim
from skrep._neural import (
    Standardization,
    build_network,
    check_embedded,
    embed,
    standardization,
)
from skrep.discriminant._head import Head, fit_head, fit_temperature, log_posterior
from skrep.discriminant._net_classifier import NET_CONSTRAINTS, NetClassifier
from skrep.discriminant._objectives import check_width, loss_module
from skrep.discriminant._sample import Sample, check_two_classes, read_sample
from skrep.discriminant._training import Task, train_network
from skrep.exceptions import FewerColumnsWarning
from skrep.typing import FloatArray
from skrep.utils import warn
from skrep.utils.fitting import all_or_nothing
from skrep.utils.mlp import mlp_forward

__all__ = ["DiscriminantEncoder"]


class DiscriminantEncoder(NetClassifier):
    r"""Encode rows by a network that sets the classes apart.

    Columns are standardized, a perceptron f is trained on a loss of class separation,
    and linear discriminant analysis of the training rows' outputs turns and scales
    them, so that within classes their covariance is the identity. Euclidean distances
    are then Mahalanobis distances, which neighbors, plots and linear models can use as
    they are, and

    .. math:: p(c \mid z) \propto \bigl(p_c \exp(-\|z - m_c\|^2 / 2)\bigr)^{1 / T}

    makes the encoder a classifier by itself. New rows vary more than those of fit, so
    that these probabilities are too sure with T = 1: where they count, pass
    `validation_fraction`, and T is fitted to the rows held out. Training
    needs torch and skorch; a fitted "mlp" is plain arrays, so that `transform`,
    `predict` and unpickling do not.

    Parameters
    ----------
    n_components : int, default=2
        Number of columns. "logdet" and "deeplda" allow ``n_classes - 1`` at most.
    loss : str or Module, default="bhattacharyya"
        What is minimized, see :ref:`the user guide <discriminant_losses>`:

        - "bhattacharyya": the bound on the error between pairs of classes
          (:class:`skrep.nn.losses.BhattacharyyaLoss`);
        - "lda": cross-entropy of the posterior of linear discriminant analysis, rows
          left out of their own class mean (:class:`skrep.nn.losses.LDACrossEntropy`);
        - "logdet": log-determinant ratio, whose linear limit is linear discriminant
          analysis (:class:`skrep.nn.losses.LogDetLoss`);
        - "deeplda": mean of the smallest eigenvalues
          (:class:`skrep.nn.losses.DeepLDALoss`);
        - "dda": ratio of the variances within and between classes
          (:class:`skrep.nn.losses.DDALoss`);
        - a ``torch.nn.Module`` with ``forward(embeddings, y, sample_weight=None)`` or
          ``forward(embeddings, y)``, where y are positions in `classes_`.
    module : "mlp" or type, default="mlp"
        "mlp" is a perceptron with rectified layers; its parameter is ``dropout``. A
        subclass of ``torch.nn.Module`` is called as
        ``module(n_features, n_components, **module_params)`` and gets all columns,
        standardized; "mlp" leaves constant ones out.
    hidden : sequence of int, default=(64, 64)
        Widths of the hidden layers of "mlp"; ``()`` makes a linear map.
    max_epochs : int, default=150
        Number of passes over the rows.
    batch_size : int or "auto", default="auto"
        About how many rows a step sees: classes are spread evenly over batches, and
        rows that are left over are dealt to them. "auto" is 128, or half of the rows
        where they are fewer, and ten times ``n_components + n_classes`` at least.
    lr : float, default=5e-3
        Learning rate of AdamW.
    weight_decay : float, default=0.0
        Its decoupled weight decay.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, by label; "balanced" gives every class the same sum.
    validation_fraction : float or None, default=None
        Share of the rows of every class that is held out. Training then ends when the
        loss of these rows has not improved for 10 epochs, and returns to the weights
        that were best; and the temperature of the probabilities is fitted to these
        rows. None trains for `max_epochs` on all rows.
    device : str, default="cpu"
        Where to train, such as "cuda". What was fitted opens on any machine.
    callbacks : list or None, default=None
        Callbacks of skorch, used as they are given: what they record stays in them.
        Those that score the data set, such as ``EpochScoring``, find no data set. Those
        of scikit-learn go to `set_callbacks`.
    module_params : dict or None, default=None
        Arguments of `module`, which are nested parameters as well:
        ``set_params(module__dropout=0.1)``.
    optimizer_params : dict or None, default=None
        Arguments of AdamW, which are nested parameters as well:
        ``set_params(optimizer__betas=(0.9, 0.99))``.
    random_state : int, RandomState or None, default=None
        Seed of weights, batches and held-out rows. The global random states of NumPy
        and torch stay as they are.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted labels.
    means_ : ndarray of shape (n_classes, n_components)
        Means of the encoded training rows of each class.
    priors_ : ndarray of shape (n_classes,)
        Shares of the classes.
    temperature_ : float
        What log-probabilities are divided by, as the held-out rows tell; 1 if there
        were none.
    coefs_, intercepts_ : list of ndarray
        Layers of the fitted perceptron, the last one with the closed-form map; None
        with another module.
    module_ : Module
        The fitted network where `module` is a class; None for "mlp".
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
    LinearDiscriminantProjection : The closed form for a linear map.
    skrep.nn.losses : The losses, for training of one's own.

    Notes
    -----
    A weight of 2 is a row twice for the losses, but batches are drawn by position, so
    that repeated rows train along another path wherever there is more than one batch.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from skrep.discriminant import DiscriminantEncoder
    >>> X, y = load_wine(return_X_y=True)
    >>> encoder = DiscriminantEncoder(max_epochs=30, random_state=0).fit(X[::2], y[::2])
    >>> encoder.transform(X[1::2]).shape
    (89, 2)
    >>> encoder.score(X[1::2], y[1::2]) > 0.9
    True
    """

    means_: FloatArray
    priors_: FloatArray
    temperature_: float
    module_: Any
    _head: tuple[FloatArray, FloatArray]
    _recipe: tuple[Any, ...]

    _parameter_constraints = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "loss": "no_validation",
        "module": [StrOptions({"mlp"}), type],
        **NET_CONSTRAINTS,
    }

    def __init__(
        self,
        n_components: int = 2,
        *,
        loss: Any = "bhattacharyya",
        module: Any = "mlp",
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
        self.n_components = n_components
        self.loss = loss
        self.module = module
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
        """Train the network and fit its head.

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
        DiscriminantEncoder
            The fitted estimator.

        Raises
        ------
        ImportError
            If torch or skorch is not installed.
        ValueError
            If there are fewer than two classes, a parameter does not suit, or training
            diverges.
        """
        who = type(self).__name__
        loss = loss_module(self.loss, who)
        sample, classes = read_sample(self, X, y, sample_weight)
        check_two_classes(who, classes)
        check_width(who, self.loss, self.n_components, len(classes))
        # A module of one's own may know which column is which.
        whole = not isinstance(self.module, str)
        standard = standardization(who, sample.X, sample.weights, whole=whole)
        found = train_network(
            self,
            sample,
            standard,
            Task(loss, self.n_components, isinstance(self.loss, str)),
            lambda network, held: {
                "classes_": classes,
                **self._state(network, sample, standard, held),
            },
            {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}},
        )
        self._store(found)
        rank = np.count_nonzero(self._head[0].any(axis=0))
        if rank < self.n_components:
            remedy = f"n_components={rank}, or another" if rank else "another 'lr' or"
            warn(
                f"{who}: rows are encoded in {rank} of {self.n_components} dimensions, "
                "and the other columns are 0: the network has collapsed, or X varies "
                f"in no more. Pass {remedy} 'loss'.",
                FewerColumnsWarning,
            )
        return self

    def invariances(self) -> tuple[Claim, ...]:
        """List what the current parameters are invariant to.

        Returns
        -------
        tuple of Claim
            The claims.
        """
        claims = [Claim("translation"), Claim("column_scaling")]
        if isinstance(self.loss, str):
            claims.append(Claim("label_permutation"))
        return tuple(claims)

    @property
    def _n_features_out(self) -> int:
        return self.means_.shape[1]

    def _state(
        self,
        network: Any,
        sample: Sample,
        standard: Standardization,
        held: Sample | None,
    ) -> dict[str, Any]:
        """Fitted attributes that follow from a network."""
        dtype = sample.X.dtype
        head, temperature = _head(self, network, sample, standard, held)
        found = {
            "temperature_": temperature,
            "means_": head.means.astype(dtype),
            "priors_": head.priors.astype(dtype),
            "_standard": standard,
            "_head": (head.coef.astype(dtype), head.intercept.astype(dtype)),
        }
        if not isinstance(self.module, str):
            params = dict(self.module_params or {})
            recipe = self.module, len(standard.kept), self.n_components, (), params
            own = {"module_": network, "_recipe": recipe}
            return {**found, **own, "coefs_": None, "intercepts_": None}
        from skrep.nn._modules import mlp_arrays

        coefs, intercepts = mlp_arrays(network)
        last = coefs[-1].astype(np.float64), intercepts[-1].astype(np.float64)
        coefs[-1] = (last[0] @ head.coef).astype(dtype)
        intercepts[-1] = (last[1] @ head.coef + head.intercept).astype(dtype)
        return {**found, "module_": None, "coefs_": coefs, "intercepts_": intercepts}

    def _outputs(self, rows: FloatArray) -> FloatArray:
        if self.module_ is None:
            return super()._outputs(rows)
        from skrep.nn._modules import network_outputs

        coef, intercept = self._head
        return mlp_forward(network_outputs(self.module_, rows), [coef], [intercept])

    def _log_posterior(self, Z: FloatArray) -> FloatArray:
        return log_posterior(Z, self.means_, self.priors_, self.temperature_)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        if state.get("module_") is not None:
            from skrep.nn._modules import state_arrays

            state["module_"] = state_arrays(self.module_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if getattr(self, "module_", None) is not None:
            from skrep.nn._modules import load_state
            from skrep.nn._net import seeded

            with seeded(0, "cpu"):
                network = build_network(*self._recipe)
            load_state(network, state["module_"])
            self.module_ = network.eval()


def _head(
    estimator: DiscriminantEncoder,
    network: Any,
    sample: Sample,
    standard: Standardization,
    held: Sample | None,
) -> tuple[Head, float]:
    """Fit head and temperature to what the network makes of the rows."""
    from skrep.nn._modules import network_outputs

    def embedded(X: Any) -> FloatArray:
        return embed(X, standard, lambda rows: network_outputs(network, rows))

    Z = embedded(sample.X)
    check_embedded(estimator, Z)
    head = fit_head(Z, sample.codes, sample.weights)
    if held is None:
        return head, 1.0
    new = embedded(held.X) @ head.coef + head.intercept
    log_proba = log_posterior(new, head.means, head.priors)
    return head, fit_temperature(log_proba, held.codes, held.weights)
