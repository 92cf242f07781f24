"""Neighbor encoder: a network that keeps rows near their nearest rows."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._claims import Claim
from skrep._neural import (
    TRAINING_CONSTRAINTS,
    NetTransformer,
    Standardization,
    check_network_params,
    draw_seed,
    hold_out_rows,
    require_torch,
    run_training,
)
from skrep.exceptions import ThinDataWarning
from skrep.linalg import weighted_mean
from skrep.nested._distinct import centered_distinct_rows
from skrep.nested._neighbor_encoder_training import (
    Neighborhoods,
    closed_form,
    principal_outputs,
    start_training,
)
from skrep.nested._prefix import PrefixMixin
from skrep.typing import FloatArray, IntArray
from skrep.utils import warn
from skrep.utils.fitting import all_or_nothing
from skrep.utils.mlp import cut_layers
from skrep.utils.validation import (
    check_n_components,
    check_sample_weight,
    is_whole,
    validate_rows,
)

__all__ = ["NeighborEncoder"]


class NeighborEncoder(PrefixMixin, NetTransformer):
    r"""Encode rows so that each stays near its nearest rows, by a trained network.

    A row and one of its neighbors, drawn anew in every epoch, are two views of the same
    thing. An encoder f, linear or a perceptron, is trained so that both views agree in
    every output of a projector behind it, and the outputs do not repeat each other:
    the loss of Barlow Twins [1]_ on neighbors, as in TLDR [2]_. The projector is thrown
    away, and the encoder's outputs are turned to their principal axes,

    .. math:: x \mapsto V^\top \bigl(f(x - m) - \bar f\bigr),

    so that the first k columns are the best k to reconstruct all of them, and
    :meth:`prefix` gives the fitted transformer of that length.

    For a linear encoder :class:`NestedProjection` with ``objective="neighbors"`` is the
    better tool: it solves the same problem in closed form, for all lengths at once, in
    a fraction of the time, and no training was found that leads to better retrieval.
    See the :ref:`User Guide <neighbor_encoder>`. Training needs torch and skorch; what
    was fitted is plain arrays.

    Parameters
    ----------
    n_components : int or None, default=None
        Length of the output, from 1 to the number of columns; None takes all.
    n_neighbors : int, default=5
        Neighbors of a row: the nearest other rows by cosine about the mean, or all
        where they are fewer. Equal rows count as one that weighs more, and are no
        neighbors of each other.
    init : {"closed_form", "random"}, default="closed_form"
        Where training starts. "closed_form" is the solution for linear maps; hidden
        layers need ``2 * n_components`` units or more to start from it. "random" needs
        more epochs, and ends behind.
    hidden : sequence of int, default=()
        Widths of the rectified hidden layers; ``()`` makes a linear map.
    max_epochs : int, default=40
        Number of passes over the rows.
    batch_size : int or "auto", default="auto"
        About how many rows a step sees; what is left over is dealt to the others.
        "auto" is 512, or all rows where they are fewer. The loss rests on correlations
        over these rows: small batches make it noisy.
    lr : float, default=3e-4
        Learning rate of AdamW.
    weight_decay : float, default=0.0
        Its decoupled weight decay.
    validation_fraction : float or None, default=None
        Share of the distinct rows that is held out. Training then ends when the loss of
        these rows beside their nearest training rows has not improved for 10 epochs,
        and returns to the weights that were best. None trains for `max_epochs`.
    device : str, default="cpu"
        Where to train, such as "cuda". What was fitted opens on any machine.
    callbacks : list or None, default=None
        Callbacks of skorch, used as they are given. Those of scikit-learn go to
        `set_callbacks`.
    optimizer_params : dict or None, default=None
        Arguments of AdamW, which are nested parameters as well:
        ``set_params(optimizer__betas=(0.9, 0.99))``.
    random_state : int, RandomState or None, default=None
        Seed of weights, batches, neighbors and held-out rows. The global random states
        of NumPy and torch stay as they are.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_) or None
        The map of a linear encoder, one axis per row; the largest entry of each is
        positive. None with hidden layers.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    explained_variance_ : ndarray of shape (n_components,)
        Variances of the columns over the rows of fit, non-increasing.
    coefs_, intercepts_ : list of ndarray
        Layers, for rows minus the mean.
    history_ : list of dict
        Losses of every epoch.
    n_iter_ : int
        Number of epochs.
    best_loss_ : float
        Smallest loss of the held-out rows; None if there were none.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X, if they are all strings.

    See Also
    --------
    NestedProjection : With ``objective="neighbors"``, the closed form.
    skrep.nn.losses.RedundancyReductionLoss : The loss.

    Notes
    -----
    Neighbors are found by comparing all pairs of rows, block by block: memory is
    linear in the number of rows, time quadratic. Rows are ordered by content, so that
    neither their order nor whether a row is given twice or weighs twice matters.

    References
    ----------
    .. [1] Zbontar, J., Jing, L., Misra, I., LeCun, Y. and Deny, S. (2021). Barlow
       Twins: self-supervised learning via redundancy reduction. ICML.
    .. [2] Kalantidis, Y., Lassance, C., Almazán, J. and Larlus, D. (2022). TLDR: twin
       learning for dimensionality reduction. Transactions on Machine Learning Research.

    Examples
    --------
    >>> from skrep.datasets import load_mammals
    >>> from skrep.nested import NeighborEncoder
    >>> X = load_mammals().gloss["minilm"][:300]
    >>> encoder = NeighborEncoder(16, max_epochs=5, random_state=0).fit(X)
    >>> encoder.transform(X[:2]).shape
    (2, 16)
    >>> encoder.prefix(8).transform(X[:2]).shape
    (2, 8)
    """

    components_: FloatArray | None
    mean_: FloatArray
    explained_variance_: FloatArray

    _per_component = ("explained_variance_", "components_")

    _parameter_constraints = {
        "n_components": "no_validation",
        "n_neighbors": "no_validation",
        "init": [StrOptions({"closed_form", "random"})],
        **TRAINING_CONSTRAINTS,
        "hidden": ["array-like", tuple],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_neighbors: int = 5,
        init: str = "closed_form",
        hidden: Any = (),
        max_epochs: int = 40,
        batch_size: int | str = "auto",
        lr: float = 3e-4,
        weight_decay: float = 0.0,
        validation_fraction: float | None = None,
        device: str = "cpu",
        callbacks: Any = None,
        optimizer_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.init = init
        self.hidden = hidden
        self.max_epochs = max_epochs
        self.batch_size = batch_size
        self.lr = lr
        self.weight_decay = weight_decay
        self.validation_fraction = validation_fraction
        self.device = device
        self.callbacks = callbacks
        self.optimizer_params = optimizer_params
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Find the neighbors and train the encoder.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : None
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        NeighborEncoder
            The fitted estimator.

        Raises
        ------
        ImportError
            If torch or skorch is not installed.
        ValueError
            If a parameter does not suit the data, or training diverges.

        Warns
        -----
        ThinDataWarning
            If there are fewer rows than neighbors.
        """
        who = type(self).__name__
        require_torch(who)
        X = validate_rows(self, X, reset=True, ensure_min_samples=2)
        weights = check_sample_weight(who, sample_weight, X.shape[0])
        k = check_n_components(who, self.n_components, X.shape[1])
        check_network_params(self)
        _check_widths(self, k)
        seed = draw_seed(self)
        centered = centered_distinct_rows(who, X, weights)
        train: IntArray = np.arange(len(centered.rows))
        held_out: IntArray = np.arange(0)
        if self.validation_fraction is not None:
            codes = np.zeros(len(train), dtype=np.intp)
            train, held_out = hold_out_rows(who, codes, self.validation_fraction, seed)
        n_neighbors = _check_neighbors(who, self.n_neighbors, len(train))
        data = Neighborhoods.of(centered, X.dtype, train, held_out, n_neighbors)
        start = closed_form(data)[:, :k] if self.init == "closed_form" else None
        found = run_training(
            self,
            seed,
            lambda draws: start_training(self, data, k, start, draws),
            lambda network: self._state(network, data),
            {"X": X, "metadata": {"sample_weight": sample_weight}},
        )
        self._store(found)
        return self

    def counterpart(self, X_other: Any, sample_weight: Any = None) -> Self:
        """Give the fitted twin for the other side: the same encoder, its own mean.

        Parameters
        ----------
        X_other : array-like of shape (n_samples, n_features)
            Rows of the other side, such as queries, in any number.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of these rows.

        Returns
        -------
        NeighborEncoder
            A new fitted estimator; this one is left as it was.
        """
        check_is_fitted(self)
        rows = validate_rows(self, X_other, reset=False)
        weights = check_sample_weight(type(self).__name__, sample_weight, len(rows))
        twin = copy.copy(self)
        twin._store(_about(weighted_mean(rows, weights).astype(self.mean_.dtype)))
        return twin

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on the rows and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        return (
            Claim("translation"),
            Claim("positive_scaling"),
            Claim("row_permutation", "same_action"),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _state(self, network: Any, data: Neighborhoods) -> dict[str, Any]:
        """Fitted attributes that follow from a network."""
        from skrep.nn._modules import mlp_arrays

        layers = mlp_arrays(network.encoder)
        coefs, intercepts, variances = principal_outputs(self, *layers, data)
        linear = len(coefs) == 1
        return {
            "coefs_": coefs,
            "intercepts_": intercepts,
            "components_": np.ascontiguousarray(coefs[0].T) if linear else None,
            "explained_variance_": variances,
            **_about(data.mean.astype(data.rows.dtype)),
        }

    def _keep(self, k: int) -> None:
        super()._keep(k)
        self.coefs_, self.intercepts_ = cut_layers(self.coefs_, self.intercepts_, k)


def _about(mean: FloatArray) -> dict[str, Any]:
    """Attributes that say where rows are centered."""
    whole = np.arange(len(mean))
    return {
        "mean_": mean,
        "_standard": Standardization(whole, mean, np.ones_like(mean)),
    }


def _check_neighbors(who: str, n_neighbors: Any, n_rows: int) -> int:
    """Return the number of neighbors, or of all other rows where they are fewer."""
    if not is_whole(n_neighbors) or n_neighbors < 1 or n_rows < 2:
        raise ValueError(
            f"{who}: 'n_neighbors' is {n_neighbors!r}, and there are {n_rows} distinct "
            "rows to train on. It must be an integer from 1 up, and a row is no "
            "neighbor of its own. Pass n_neighbors=5, and at least two rows."
        )
    if n_neighbors >= n_rows:
        warn(
            f"{who}: 'n_neighbors' is {n_neighbors}, and there are {n_rows} distinct "
            "rows to train on: all others are neighbors of each. Pass "
            f"n_neighbors={n_rows - 1} or fewer, or more rows.",
            ThinDataWarning,
        )
    return min(int(n_neighbors), n_rows - 1)


def _check_widths(estimator: NeighborEncoder, n_components: int) -> None:
    """Refuse hidden layers that are too narrow to carry the closed form."""
    least = 2 * n_components
    if estimator.init == "closed_form" and any(h < least for h in estimator.hidden):
        raise ValueError(
            f"{type(estimator).__name__}: 'hidden' is {estimator.hidden!r} and 'init' "
            f'"closed_form". It is carried by {least} units of every layer, twice '
            f"'n_components'. Pass hidden=({least},), fewer components, or "
            'init="random".'
        )
