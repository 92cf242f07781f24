"""Sparse codes: many atoms, of which few describe a row."""

import copy
from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep._neural import TRAINING_CONSTRAINTS, Standardization, require_torch
from skrep.exceptions import FewerColumnsWarning
from skrep.nested._sparse_code_rows import decode, encode, read_codes
from skrep.nested._sparse_code_training import (
    Sample,
    centering,
    read_sample,
    train_atoms,
)
from skrep.typing import FloatArray, IntArray
from skrep.utils import warn
from skrep.utils.callbacks import CallbackSupport
from skrep.utils.fitting import all_or_nothing
from skrep.utils.net_params import NetParams
from skrep.utils.validation import (
    check_overflow,
    is_whole,
    validate_rows,
)

__all__ = ["SparseCode"]


class SparseCode(
    NetParams, CallbackSupport, ClassNamePrefixFeaturesOutMixin, SkrepTransformer
):
    r"""Code rows by a few of many atoms.

    A short dense vector describes every row along the same few axes. A sparse code of
    as many numbers picks, for every row anew, the atoms that suit it best, from a
    dictionary that may be far larger than the rows are wide [1]_:

    .. math:: z = \operatorname{TopK}\bigl(\operatorname{ReLU}(D (x - m) + c)\bigr)

    with the unit atoms as rows of D. The output is a CSR matrix, which linear models
    and neighbors by the cosine of scikit-learn take as it is; and :meth:`with_active`
    gives the fitted code of another number of active atoms.

    Training starts from rows of fit as atoms, which with classes are turned to the
    discriminant axes and the means of the classes. A few epochs of gradient
    steps then let the cosines of codes do in every batch what those of the rows do, or,
    with classes, find rows of one's class [2]_; and let active atoms reconstruct rows,
    and dead ones what is left of them. Training needs torch and skorch; a fitted code
    is plain arrays, so that `transform` and unpickling do not.

    Read more in the :ref:`User Guide <sparse_code>`.

    Parameters
    ----------
    n_atoms : int, default=2048
        Number of atoms, and of output columns. With more atoms than rows many stay
        without a row, which `dead_atoms_` tells.
    n_active : int, default=32
        Number of atoms that code a row, at most `n_atoms`; fewer where fewer have a
        positive product with it.
    objective : {"auto", "classes", "rows"}, default="auto"
        What codes that resemble each other should have in common. "classes" is the
        class `y`; "rows" the direction of the rows, whatever y is. "auto" is "classes"
        where y holds classes: strings, booleans, categories, and up to 20 distinct
        integers.
    max_epochs : int, default=4
        Number of passes over the rows.
    batch_size : int or "auto", default="auto"
        About how many rows a step sees, each compared with all others; "auto" is 256.
    lr : float, default=3e-4
        Learning rate of AdamW.
    weight_decay : float, default=0.0
        Its decoupled weight decay.
    validation_fraction : float or None, default=None
        Share of the rows, of every class, that is held out. Training then ends when
        the loss of these rows has not improved for 10 epochs, and returns to the
        weights that were best. None trains for `max_epochs` on all rows.
    device : str, default="cpu"
        Where to train, such as "cuda". What was fitted opens on any machine.
    callbacks : list or None, default=None
        Callbacks of skorch, used as they are given. Those of scikit-learn go to
        `set_callbacks`.
    optimizer_params : dict or None, default=None
        Arguments of AdamW, which are nested parameters as well:
        ``set_params(optimizer__betas=(0.9, 0.99))``.
    random_state : int, RandomState or None, default=None
        Seed of atoms, batches and held-out rows. The global random states of NumPy
        and torch stay as they are.

    Attributes
    ----------
    components_ : ndarray of shape (n_atoms, n_features_in_)
        The atoms D, rows of norm one.
    intercept_ : ndarray of shape (n_atoms,)
        What is added to their products, c, in units of X.
    mean_ : ndarray of shape (n_features_in_,)
        The center m.
    dead_atoms_ : ndarray of int
        Positions of the atoms that coded no row of fit.
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
    NestedProjection : Short dense vectors in closed form.
    sklearn.decomposition.MiniBatchDictionaryLearning : Codes by an optimization for
        every row.

    Notes
    -----
    A weight of 2 is a row twice for the loss and the first atoms, but batches are drawn
    by position, so that repeated rows train along another path wherever there is more
    than one batch. Equal rows of a batch are rows to be found like others. With more
    than 2,000 columns atoms start as plain rows with classes, too.

    k entries take 2k numbers, as each has an index, unless a search engine keeps one
    list of rows for every atom.

    References
    ----------
    .. [1] Wen, T., Wang, Y., Zeng, Z., Peng, Z., Su, Y., Liu, X., Chen, B., Liu, H.,
       Jegelka, S. and You, C. (2025). Beyond Matryoshka: revisiting sparse coding for
       adaptive representation. ICML.
    .. [2] Goldberger, J., Roweis, S., Hinton, G. and Salakhutdinov, R. (2004).
       Neighbourhood components analysis. NeurIPS 17.

    Examples
    --------
    >>> from skrep.datasets import load_mammals
    >>> from skrep.nested import SparseCode
    >>> mammals = load_mammals()
    >>> X, y = mammals.gloss["minilm"], mammals.target_names[mammals.target]
    >>> code = SparseCode(256, 8, random_state=0).fit(X, y)
    >>> Z = code.transform(X)
    >>> Z.shape, Z[[0]].nnz
    ((1170, 256), 8)
    >>> code.with_active(4).transform(X[:1]).nnz
    4
    """

    components_: FloatArray
    intercept_: FloatArray
    mean_: FloatArray
    dead_atoms_: IntArray
    history_: list[dict[str, float]]
    n_iter_: int
    best_loss_: float | None
    n_features_in_: int

    _parameter_constraints = {
        "n_atoms": [Interval(Integral, 1, None, closed="left")],
        "n_active": [Interval(Integral, 1, None, closed="left")],
        "objective": [StrOptions({"auto", "classes", "rows"})],
        **TRAINING_CONSTRAINTS,
    }

    def __init__(
        self,
        n_atoms: int = 2048,
        n_active: int = 32,
        *,
        objective: str = "auto",
        max_epochs: int = 4,
        batch_size: int | str = "auto",
        lr: float = 3e-4,
        weight_decay: float = 0.0,
        validation_fraction: float | None = None,
        device: str = "cpu",
        callbacks: Any = None,
        optimizer_params: dict[str, Any] | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_atoms = n_atoms
        self.n_active = n_active
        self.objective = objective
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
        """Train the atoms.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows. Sparse ones are made dense one batch at a time.
        y : array-like of shape (n_samples,), default=None
            Their classes; see `objective`.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; 0 is an absent row.

        Returns
        -------
        SparseCode
            The fitted estimator.

        Raises
        ------
        ImportError
            If torch or skorch is not installed.
        ValueError
            If a parameter does not suit, all rows are equal, or training diverges.
        """
        who = type(self).__name__
        require_torch(who)
        _check_active(who, self.n_active, self.n_atoms)
        sample = read_sample(self, X, y, sample_weight)
        standard = centering(who, sample.X, sample.weights)
        found = train_atoms(
            self,
            sample,
            standard,
            lambda network: self._state(network, sample, standard),
            {"X": X, "y": y, "metadata": {"sample_weight": sample_weight}},
        )
        for name, value in found.items():
            setattr(self, name, value)
        n_dead = len(self.dead_atoms_)
        if 2 * n_dead > self.n_atoms:
            warn(
                f"{who}: {n_dead} of {self.n_atoms} atoms code no row of fit, and "
                f"'dead_atoms_' holds them. Pass n_atoms={self.n_atoms - n_dead}, or "
                "more rows.",
                FewerColumnsWarning,
            )
        return self

    def transform(self, X: Any) -> sp.csr_array:
        """Code rows.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        csr_array of shape (n_samples, n_atoms)
            At most `n_active` positive entries a row, in the float type of X, with
            sorted 32-bit indices.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False, accept_sparse="csr")
        fitted = self.components_, self.intercept_, self.mean_
        with np.errstate(over="ignore", invalid="ignore"):
            Z = encode(X, *fitted, self.n_active)
        check_overflow(type(self).__name__, Z.data)
        return Z

    def inverse_transform(self, X: Any) -> FloatArray:
        """Give the rows nearest to `mean_` that have these products with their atoms.

        After `transform` this is the orthogonal projection of the rows onto the span
        of their active atoms.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_atoms)
            Codes.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows, in the float type of the codes.
        """
        check_is_fitted(self)
        Z = read_codes(self, X, len(self.components_))
        return decode(Z, self.components_, self.intercept_, self.mean_)

    def with_active(self, n_active: int) -> Self:
        """Give the fitted code of another number of active atoms.

        Nothing is refitted and no array is copied.

        Parameters
        ----------
        n_active : int
            The number, from 1 to `n_atoms`. Training has looked at `n_active` and a
            quarter of it.

        Returns
        -------
        SparseCode
            A new fitted estimator whose `n_active` is the number; this one is left as
            it was. `dead_atoms_` are those of fit.

        Raises
        ------
        ValueError
            If there are not so many atoms.
        """
        check_is_fitted(self)
        _check_active(
            f"{type(self).__name__}.with_active", n_active, len(self.components_)
        )
        other = copy.copy(self)
        other.n_active = int(n_active)
        return other

    def invariances(self) -> tuple[Claim, ...]:
        """List what the current parameters are invariant to.

        Returns
        -------
        tuple of Claim
            The claims.
        """
        return (
            Claim("translation"),
            Claim("positive_scaling", "same_action"),
            Claim("column_permutation"),
            Claim("sign_flip"),
            Claim("label_permutation"),
        )

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)

    def _state(
        self, network: Any, sample: Sample, standard: Standardization
    ) -> dict[str, Any]:
        """Fitted attributes that follow from a network, in units of X."""
        from skrep.nn._modules import state_arrays

        units = state_arrays(network)
        scale = standard.scale[0]
        atoms = network.units().detach().cpu().numpy()
        intercept = units["offset"] * scale
        mean = standard.mean + units["center"] * scale
        codes = encode(sample.X, atoms, intercept, mean, self.n_active)
        used = np.bincount(codes.indices, minlength=len(atoms))
        return {
            "components_": atoms,
            "intercept_": intercept,
            "mean_": mean,
            "dead_atoms_": np.flatnonzero(used == 0),
        }

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _check_active(who: str, n_active: Any, n_atoms: int) -> None:
    if not is_whole(n_active) or not 1 <= n_active <= n_atoms:
        raise ValueError(
            f"{who}: 'n_active' is {n_active!r}. It must be an integer from 1 to "
            f"{n_atoms}, the number of atoms. Pass n_active={min(32, n_atoms)}, say."
        )
