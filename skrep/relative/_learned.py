"""Learned anchors: two spaces made comparable from few pairs."""

from numbers import Integral
from typing import Any, Self

from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep._neural import TRAINING_CONSTRAINTS
from skrep.relative._learned_pairs import Center, PairSample
from skrep.relative._learned_space import AnchorSpace, anchor_space
from skrep.relative._learned_training import train_anchors
from skrep.relative._token_sets import RowSets, read_pairs, read_rows
from skrep.typing import FloatArray
from skrep.utils.callbacks import CallbackSupport
from skrep.utils.fitting import all_or_nothing
from skrep.utils.net_params import NetParams
from skrep.utils.validation import check_sample_weight

__all__ = ["LearnedAnchors"]


class LearnedAnchors(
    NetParams, CallbackSupport, ClassNamePrefixFeaturesOutMixin, SkrepTransformer
):
    r"""Describe rows of two spaces by similarities to anchors learned from pairs.

    ``fit(X, y)`` takes rows of one space and, in the same order, their partners in
    another. Both spaces get anchors of their own, and a row becomes

    .. math::

        r(x) = \frac{s (K + I)^{-1/2}}{\|s (K + I)^{-1/2}\|}, \qquad
        s_j = \frac{(x - m)^\top a_j}{\|x - m\|\,\|a_j\|},

    with m the mean of its space, a the anchors as vectors from there, and K their
    Gram matrix of cosines. The anchors start at pairs, as those of
    :class:`RelativeRepresentation` do, and are trained, with noise on the rows, so that
    every row finds its partner among the others (cross-entropy of the cosines, both
    ways). `transform` serves the space of X, and `y_transformer_` the other one.

    A row may be a *set of token vectors*; its similarity to an anchor is the largest or
    the mean one of its tokens [1]_.

    Where rows of both spaces are at hand whose partners are unknown, pass them as
    `unpaired_X` and `unpaired_y`: they place the centers, and those that choose each
    other join the pairs. Read more in the :ref:`User Guide <learned_anchors>`.

    Parameters
    ----------
    n_anchors : int, default=64
        Number of anchors, which is that of the output columns. Where there are fewer
        distinct pairs, each is one and a warning is sent.
    pooling : {"max", "mean"}, default="max"
        Which similarity a set of tokens has: the largest of its tokens, or their mean.
    max_epochs : int, default=100
        Number of passes over the pairs.
    batch_size : int or "auto", default="auto"
        About how many pairs a step sees, each one told from the others; 2 at least.
        What is left over is dealt to the batches, and a size beyond the number of
        pairs is one batch. "auto" is 256.
    lr : float, default=1e-3
        Learning rate of AdamW.
    weight_decay : float, default=0.0
        Its decoupled weight decay.
    validation_fraction : float or None, default=None
        Share of the pairs that is held out. Training then ends when their loss has not
        improved for 10 epochs, and returns to the anchors that were best. None trains
        for `max_epochs` on all pairs.
    device : str, default="cpu"
        Where to train, such as "cuda". What was fitted opens on any machine.
    callbacks : list or None, default=None
        Callbacks of skorch, used as they are given. Those of scikit-learn go to
        `set_callbacks`.
    optimizer_params : dict or None, default=None
        Arguments of AdamW, which are nested parameters as well:
        ``set_params(optimizer__betas=(0.9, 0.99))``.
    random_state : int, RandomState or None, default=None
        Seed of noise, batches and held-out pairs, of the clusters that the anchors
        start from, and of the draw among many unpaired rows. The global random states
        of NumPy and torch stay as they are.

    Attributes
    ----------
    anchors_ : ndarray of shape (n_anchors_, n_features_in_)
        The anchors in the coordinates of X. Only their directions from `mean_` count.
    mean_ : ndarray of shape (n_features_in_,)
        Mean of the rows of X and `unpaired_X`; a set counts as the mean of its tokens.
    n_anchors_ : int
        Number of anchors.
    n_matched_ : int
        Number of pairs that were found among the unpaired rows.
    y_transformer_ : LearnedAnchors
        Fitted for rows of the other space: ``y_transformer_.transform(y)`` is
        comparable with ``transform(X)``. Wrap it in
        :class:`~sklearn.frozen.FrozenEstimator` in pipelines that are fitted.
    history_ : list of dict
        Losses of every epoch.
    n_iter_ : int
        Number of epochs.
    best_loss_ : float
        Smallest loss of the held-out pairs; None if there were none.
    n_features_in_ : int
        Number of columns of X, or of its tokens.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns of X, if it had any.

    See Also
    --------
    LatentAlignment : A map in closed form; needs no network.
    RelativeRepresentation : Anchors that are rows, in closed form.
    skrep.metrics.mean_reciprocal_rank : How well partners are found.

    Notes
    -----
    Equal pairs count as one of their total weight, and pairs that share one row are
    not told from each other: repeated rows are no false negatives. Partners that are
    equal in meaning but differ in numbers are, as the estimator cannot know.

    At most 4,096 unpaired rows of each side take part in the search for pairs, chosen
    at random where there are more. The search is made for sides with many things in
    common, whoever they are. Where there are none, matches are neighbors instead of
    partners, which helped with 64 pairs of glosses and did harm with 128: hold pairs
    out and compare. Rows of one side alone place its center and no more.

    From pairs alone the anchors gain little, as few pairs tell no more than closed
    forms take from them: there :class:`LatentAlignment` and
    :class:`RelativeRepresentation` are the better tools. The gain is in unpaired rows,
    in fewer columns than pairs, and in sets of tokens.

    References
    ----------
    .. [1] Learning relative representations for fine-grained multimodal alignment with
       limited data (2026). arXiv:2605.16834.
    .. [2] Moschella, L. et al. (2023). Relative representations enable zero-shot latent
       space communication. ICLR.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.datasets import make_parallel_spaces
    >>> from skrep.relative import LearnedAnchors
    >>> import numpy as np
    >>> X, Y = make_parallel_spaces(relation="similarity", random_state=0)
    >>> model = LearnedAnchors(16, max_epochs=20, random_state=0).fit(X[:64], Y[:64])
    >>> ours, theirs = model.transform(X[64:]), model.y_transformer_.transform(Y[64:])
    >>> partners = np.argmax(ours @ theirs.T, axis=1)
    >>> bool(np.mean(partners == np.arange(len(partners))) > 0.9)
    True
    """

    _space: AnchorSpace

    _parameter_constraints = {
        "n_anchors": [Interval(Integral, 1, None, closed="left")],
        "pooling": [StrOptions({"max", "mean"})],
        **TRAINING_CONSTRAINTS,
    }

    def __init__(
        self,
        n_anchors: int = 64,
        *,
        pooling: str = "max",
        max_epochs: int = 100,
        batch_size: int | str = "auto",
        lr: float = 1e-3,
        weight_decay: float = 0.0,
        validation_fraction: float | None = None,
        device: str = "cpu",
        callbacks: Any = None,
        optimizer_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_anchors = n_anchors
        self.pooling = pooling
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
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        unpaired_X: Any = None,
        unpaired_y: Any = None,
    ) -> Self:
        """Train the anchors of both spaces on pairs.

        Parameters
        ----------
        X : array-like of shape (n_pairs, n_features), or list of arrays
            Rows of one space. A list of arrays of shape (n_tokens, n_features), of any
            numbers of tokens, holds one set for each row.
        y : array-like of shape (n_pairs, n_outputs) or (n_pairs,), or list of arrays
            Row i is the partner of row i of X, in the other space.
        sample_weight : array-like of shape (n_pairs,), default=None
            Weights of the pairs: a weight of 2 is a pair twice, 0 an absent pair.
        unpaired_X : array-like of shape (n_rows, n_features) or list, default=None
            Further rows of the space of X, in any order.
        unpaired_y : array-like of shape (n_others, n_outputs) or list, default=None
            Further rows of the other space, in any order.

        Returns
        -------
        LearnedAnchors
            The fitted estimator.

        Raises
        ------
        ImportError
            If torch or skorch is not installed.
        ValueError
            If X and y differ in length, fewer than two pairs differ, a set is empty, a
            parameter does not suit, or training diverges.
        TypeError
            If X or y is sparse.

        Warns
        -----
        FewerColumnsWarning
            If there are fewer distinct pairs than anchors.
        """
        params = {**self.get_params(deep=False), "callbacks": None}
        twin = type(self)(**params)
        sides = read_pairs(self, twin, X, y)
        weights = check_sample_weight(type(self).__name__, sample_weight, len(sides[0]))
        more = (
            _read_more(self, unpaired_X, "unpaired_X"),
            _read_more(twin, unpaired_y, "unpaired_y"),
        )
        given = {"unpaired_X": unpaired_X, "unpaired_y": unpaired_y}
        metadata = {"sample_weight": sample_weight, **given}

        def state(sample: PairSample, *anchors: FloatArray) -> dict[str, Any]:
            centers = sample.x_center, sample.y_center
            mine, its = (
                _attributes(*one, side.tokens.dtype)
                for one, side in zip(
                    zip(centers, anchors, strict=True), sides, strict=True
                )
            )
            for name, value in its.items():
                setattr(twin, name, value)
            return {**mine, "n_matched_": sample.n_matched, "y_transformer_": twin}

        found = train_anchors(
            self, sides, weights, more, state, {"X": X, "y": y, "metadata": metadata}
        )
        for name, value in found.items():
            setattr(self, name, value)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Describe rows by their similarities to the anchors.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or list of arrays
            Rows of the space, vectors or sets of tokens, whatever `fit` has seen. A
            set of one token is the same as the vector.

        Returns
        -------
        ndarray of shape (n_samples, n_anchors_)
            Rows of norm 1, in the float type of X; zeros for a row at the center.
        """
        check_is_fitted(self)
        return self._space.encode(read_rows(self, X, reset=False), self.pooling)

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on the space of X and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims, for an equal seed and where no two rows of y are equal.
        """
        return (
            Claim("translation"),
            Claim("positive_scaling"),
            Claim("row_permutation", "same_action"),
        )

    @property
    def _n_features_out(self) -> int:
        return self.n_anchors_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _read_more(owner: LearnedAnchors, rows: Any, name: str) -> RowSets | None:
    return None if rows is None else read_rows(owner, rows, reset=False, name=name)


def _attributes(center: Center, anchors: FloatArray, dtype: Any) -> dict[str, Any]:
    """Fitted attributes of one side."""
    space = anchor_space(center.mean, anchors)
    return {
        "anchors_": (center.mean + center.length * space.units).astype(dtype),
        "mean_": center.mean.astype(dtype),
        "n_anchors_": len(anchors),
        "_space": AnchorSpace(*(part.astype(dtype) for part in space)),
    }
