"""Matryoshka projection: an encoder that is trained at several lengths at once."""

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep._neural import TRAINING_CONSTRAINTS, require_torch
from skrep.geometry import unit_rows
from skrep.linalg import weighted_mean
from skrep.nested._matryoshka_encode import encode_rows
from skrep.nested._matryoshka_read import OBJECTIVES, read_hidden, read_sample
from skrep.nested._matryoshka_train import train
from skrep.nested._prefix import PrefixMixin
from skrep.typing import FloatArray
from skrep.utils.callbacks import CallbackSupport
from skrep.utils.fitting import all_or_nothing
from skrep.utils.mlp import cut_layers
from skrep.utils.net_params import NetParams
from skrep.utils.validation import (
    check_overflow,
    check_sample_weight,
    validate_rows,
    validate_side,
)

__all__ = ["MatryoshkaProjection"]


class MatryoshkaProjection(
    NetParams,
    CallbackSupport,
    PrefixMixin,
    ClassNamePrefixFeaturesOutMixin,
    SkrepTransformer,
):
    r"""Encode rows so that every prefix is good, by training on all of them at once.

    Matryoshka representation learning [1]_ as a head on frozen vectors: an encoder f
    is trained on the sum of one loss over several prefixes,

    .. math:: \min_f \sum_k w_k \, L\bigl(f(x)_{:k}, y\bigr).

    From the closed form (:class:`NestedProjection`) a linear encoder learns one thing,
    a rotation of its leading axes: distances at full length stay, and what they hold
    is dealt anew to the short prefixes. With `hidden` the encoder is a perceptron.
    Training needs torch and skorch; what was fitted is plain arrays.

    Read more in the :ref:`User Guide <matryoshka>`.

    Parameters
    ----------
    n_components : int or None, default=None
        Length of the output: from 1 to the number of columns, or more with `hidden`
        and without `residual`. None is the longest of `prefixes`, and all columns for
        "powers".
    prefixes : "powers", int or sequence of int, default="powers"
        Lengths that are trained for, each once. "powers" means the powers of two from
        8, or from 1 up to a width of 8, and `n_components`.
    prefix_weights : sequence of float or None, default=None
        Weight of the loss of each prefix, in the order of `prefixes`; None is 1 for
        each.
    tied : bool, default=True
        Whether the heads of all prefixes, which tell classes or numbers and are
        dropped after fit, are one, cut to the first k columns (MRL-E); else every
        prefix has its own (MRL).
    objective : {"auto", "classes", "regression", "pairs", "teacher"}, default="auto"
        What every prefix is good for.

        - "classes": the cross-entropy of a linear head that tells the classes of `y`;
        - "regression": the squared error of a linear head that tells the numbers `y`;
        - "pairs": finding the partner of a row among those of its batch by the cosine,
          and the other way round, at a temperature that is learned for each prefix.
          Pairs that share an equal row are no negatives of each other;
        - "teacher": the cosines between whole centered rows.

        "auto" is "pairs" where they are given, else what `y` holds: strings, booleans,
        categories and up to 20 distinct integers are classes, other numbers numbers;
        and "teacher" without either.
    hidden : sequence of int or None, default=None
        Widths of the hidden layers of a perceptron with rectified layers; None makes a
        linear map.
    init : {"closed_form", "random"}, default="closed_form"
        Where training begins. "closed_form" takes the axes of
        :class:`NestedProjection`: "classes" for classes and for numbers, "pairs", or
        "variance" for "teacher". A perceptron sees the coordinates along them.
        "random" begins with random weights on the columns of X.
    residual : bool, default=False
        Whether a perceptron is added to what it begins with, the leading coordinates
        or columns: z = x + MLP(x), with an MLP that begins at zero, as in adaptors
        [2]_. It needs `hidden`.
    normalize : bool, default=False
        Whether outputs are brought to norm one, at every length anew.
    max_epochs : int, default=20
        Number of passes over the rows.
    batch_size : int or "auto", default="auto"
        About how many rows a step sees: those left over are dealt to the batches.
        "auto" is 128 for classes and numbers and 256 for the others; all rows where
        there are fewer.
    lr : float, default=5e-3
        Learning rate of AdamW at first; it falls linearly to zero.
    weight_decay : float, default=0.0
        Its decoupled weight decay. It pulls a linear encoder, and one with `residual`,
        toward the closed form.
    validation_fraction : float or None, default=None
        Share of the rows, of every class, that is held out of the closed form and of
        training, which then ends when their loss has not improved for 10 epochs, and
        returns to the weights that were best. None trains for `max_epochs` on all rows.
    device : str, default="cpu"
        Where to train, such as "cuda". What was fitted opens on any machine.
    callbacks : list or None, default=None
        Callbacks of skorch, used as they are given. Those of scikit-learn go to
        `set_callbacks`.
    optimizer_params : dict or None, default=None
        Arguments of AdamW, which are nested parameters as well:
        ``set_params(optimizer__betas=(0.9, 0.99))``.
    random_state : int, RandomState or None, default=None
        Seed of weights, batches, noise and held-out rows. The global random states of
        NumPy and torch stay as they are.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features_in_) or None
        The linear encoder, in units of X, or what a perceptron is added to with
        `residual`; None for another perceptron. The largest entry of each row of a
        linear encoder is positive.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows.
    coefs_, intercepts_ : list of ndarray or None
        Layers of the perceptron, which takes rows minus `mean_`; None without one.
    objective_ : str
        What was trained for.
    prefixes_ : ndarray of shape (n_prefixes,)
        Lengths that were trained for, rising.
    history_ : list of dict
        Losses of every epoch.
    n_iter_ : int
        Number of epochs.
    best_loss_ : float or None
        Smallest loss of the held-out rows; None if there were none.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    NestedProjection : The closed form, in a fraction of the time.
    PrefixRotation : A rotation for several levels of labels, in closed form.
    skrep.nn.losses.MatryoshkaLoss : The sum over prefixes, for networks of one's own.
    skrep.model_selection.PrefixSearchCV : Choose the length.

    Notes
    -----
    For "classes" and "pairs" normal noise of half the deviation within classes, or
    between partners, is added in training, since vectors of new rows vary more than
    those that the closed form has seen. At most 128 axes are rotated: as many as there
    are classes less one, and at least 8.

    Columns are not standardized: tables in mixed units want a
    :class:`~sklearn.preprocessing.StandardScaler` before.

    A weight of 2 is a row twice for the closed form and the losses, but batches are
    drawn by position, so that repeated rows train along another path where there is
    more than one batch.

    References
    ----------
    .. [1] Kusupati, A., Bhatt, G., Rege, A., Wallingford, M., Sinha, A., Ramanujan, V.,
       Howard-Snyder, W., Chen, K., Kakade, S., Jain, P. and Farhadi, A. (2022).
       "Matryoshka representation learning". NeurIPS.
    .. [2] Yoon, J., Sinha, R., Arik, S. O. and Pfister, T. (2024). "Matryoshka-Adaptor:
       unsupervised and supervised tuning for smaller embedding dimensions". EMNLP.

    Examples
    --------
    >>> from skrep.datasets import load_mammals
    >>> from skrep.nested import MatryoshkaProjection
    >>> mammals = load_mammals()
    >>> X, y = mammals.gloss["minilm"], mammals.target_names[mammals.target]
    >>> encoder = MatryoshkaProjection(prefixes=(4, 16), max_epochs=5, random_state=0)
    >>> encoder.fit(X, y).transform(X[:2]).shape
    (2, 16)
    >>> encoder.prefix(4).transform(X[:2]).shape
    (2, 4)
    """

    components_: FloatArray | None
    mean_: FloatArray
    coefs_: Any
    intercepts_: Any
    n_features_in_: int
    _normalize: bool

    _parameter_constraints: dict[str, Any] = {
        **TRAINING_CONSTRAINTS,
        "n_components": "no_validation",
        "prefixes": "no_validation",
        "prefix_weights": ["array-like", None],
        "tied": ["boolean"],
        "objective": [StrOptions({"auto", *OBJECTIVES})],
        "hidden": ["array-like", None],
        "init": [StrOptions({"closed_form", "random"})],
        "residual": ["boolean"],
        "normalize": ["boolean"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        prefixes: Any = "powers",
        prefix_weights: Any = None,
        tied: bool = True,
        objective: str = "auto",
        hidden: Any = None,
        init: str = "closed_form",
        residual: bool = False,
        normalize: bool = False,
        max_epochs: int = 20,
        batch_size: int | str = "auto",
        lr: float = 5e-3,
        weight_decay: float = 0.0,
        validation_fraction: float | None = None,
        device: str = "cpu",
        callbacks: Any = None,
        optimizer_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.prefixes = prefixes
        self.prefix_weights = prefix_weights
        self.tied = tied
        self.objective = objective
        self.hidden = hidden
        self.init = init
        self.residual = residual
        self.normalize = normalize
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
    def fit(
        self, X: Any, y: Any = None, *, pairs: Any = None, sample_weight: Any = None
    ) -> Self:
        """Train the encoder.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Classes or numbers.
        pairs : array-like of shape (n_samples, n_features), default=None
            Row i is the partner of row i of X; each side is centered by its own mean.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row. Only
            their ratios matter where they sum to less than the number of rows.

        Returns
        -------
        MatryoshkaProjection
            The fitted estimator.

        Raises
        ------
        ImportError
            If torch or skorch is not installed.
        ValueError
            If a parameter does not suit the data, what the objective needs (`y` or
            `pairs`) is missing, or training diverges.

        Warns
        -----
        UserWarning
            If the length of the output is not among the prefixes.
        """
        who = type(self).__name__
        require_torch(who)
        if self.residual and not read_hidden(self):
            raise ValueError(
                f"{who}: 'residual' is True and 'hidden' is {self.hidden!r}, so that "
                "there is no perceptron to add. Pass hidden=(256,), say, or "
                "residual=False."
            )
        sample = read_sample(self, X, y, pairs, sample_weight)
        metadata = {"pairs": pairs, "sample_weight": sample_weight}
        found = train(self, sample, {"X": X, "y": y, "metadata": metadata})
        for name, value in found.items():
            setattr(self, name, value)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Encode rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Encoded rows, of which every prefix is good, in the float type of X.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            Z = encode_rows(X, self.components_, self.mean_, self._layers)
        check_overflow(type(self).__name__, Z)
        return unit_rows(Z)[0] if self._normalize else Z

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
        MatryoshkaProjection
            A new fitted estimator; this one is left as it was.

        Raises
        ------
        ValueError
            If the rows have another width than those of fit.
        """
        check_is_fitted(self)
        who = f"{type(self).__name__}.counterpart"
        rows = validate_side(self, "X_other", X_other)
        if rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"{who}: 'X_other' has {rows.shape[1]} columns, and fit saw "
                f"{self.n_features_in_}. Pass rows of the other side from the encoder "
                "that made those of fit."
            )
        weights = check_sample_weight(who, sample_weight, len(rows))
        mean = weighted_mean(rows, weights)
        check_overflow(who, mean)
        twin = copy.copy(self)
        twin.mean_ = mean.astype(self.mean_.dtype)
        return twin

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on X and fitting again leaves alone.

        Partners stay where they are meanwhile. A claim holds with an equal
        `random_state`.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support.
        """
        claims = [Claim("translation")]
        linear = not read_hidden(self) and self.init == "closed_form"
        if self.objective == "classes":
            claims.append(Claim("label_permutation"))
        if self.objective == "pairs":
            return tuple(claims)
        if linear:
            claims.append(Claim("orthogonal", "up_to_sign"))
        if self.init == "closed_form":
            # The largest entry of an axis, which decides its sign, moves with it.
            claims.append(Claim("column_permutation"))
        added = linear or self.residual
        unit_free = self.init == "closed_form" and self.objective != "teacher"
        if self.normalize or not added or (unit_free and self.objective != "auto"):
            claims.append(Claim("positive_scaling"))
        elif self.objective == "teacher" or self.init == "random":
            claims.append(Claim("positive_scaling", "same_action"))
        return tuple(claims)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self.objective in ("classes", "regression")
        return tags

    @property
    def _n_features_out(self) -> int:
        part: Any = self.components_
        return len(self.intercepts_[-1] if part is None else part)

    @property
    def _layers(self) -> tuple[Any, Any]:
        return self.coefs_, self.intercepts_

    def _keep(self, k: int) -> None:
        super()._keep(k)
        self.coefs_, self.intercepts_ = cut_layers(*self._layers, k)
