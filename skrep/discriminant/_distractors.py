"""Distractor removal: take out of rows what a nuisance label put in."""

from typing import Any, Self

import numpy as np
from sklearn.base import OneToOneFeatureMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep._linear import overflow_error
from skrep.discriminant import _nuisance
from skrep.exceptions import NotRemovedWarning, ThinDataWarning
from skrep.linalg import Moments, project_rows, whitening
from skrep.typing import FloatArray
from skrep.utils import warn
from skrep.utils.fitting import all_or_nothing
from skrep.utils.validation import (
    check_n_components,
    check_overflow,
    check_sample_weight,
    validate_rows,
)

__all__ = ["DistractorRemoval"]


class DistractorRemoval(OneToOneFeatureMixin, SkrepTransformer):
    r"""Remove the directions that tell a nuisance, and keep what the target needs.

    A batch, a site or the length of a text moves rows in ways that have nothing to do
    with what they are for. Rows are modeled as

    .. math:: x = m + A y + B n + e,

    with n the classes of the nuisance and y those of the target, so that B is what the
    nuisance adds to rows of the same target. This transformer takes :math:`B n` out. It
    does not know the n of a new row, so it estimates by least squares how far along
    each shift the row is, and subtracts that much of it:

    .. math:: x \mapsto x - B \hat n(x), \qquad
        \hat n(x) = (B^\top S^{-1} B)^{-1} B^\top S^{-1} (x - m),

    where S is the covariance of the rows about their regression on y. This is
    least-squares concept erasure [1]_ among rows of the same target. Of all linear maps
    about m that take the shifts B to zero it is the one that changes such rows least,
    and none tells more of the target. Without `y` no linear classifier tells the
    nuisance of the fitted rows better than a constant does; with `y`, none beyond what
    y tells.

    Read more in the :ref:`User Guide <distractors>`.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of directions to remove, those that tell most of the nuisance first. At
        most one fewer than it has classes; None removes all.

    Attributes
    ----------
    leak_before_ : float
        How far linear functions of the rows tell the nuisance, from 0 to 1: the mean
        squared canonical correlation between the rows and the indicators of its
        classes, both less their regression on `y` if there is any. The number of
        columns over that of rows is chance. NaN without a nuisance.
    leak_after_ : float
        The same after removal: 0, unless `n_components` or `y` holds directions back.
    target_kept_ : float
        How much of what tells the target is left, from 0 to 1: the share of the Fisher
        criterion :math:`\operatorname{tr}(S^{-1} S_b)`, with :math:`S_b` the
        covariance of :math:`A \dot y` and :math:`\dot y` what the nuisance does not
        tell of y. NaN without `y`, and where there is nothing.
    n_removed_ : int
        Number of directions removed. The output has as many columns as X, and its rank
        is lower by this number.
    directions_ : ndarray of shape (n_removed_, n_features_in_)
        The directions, as unit rows that span the shifts, the one that told most
        first; the largest entry of each is positive.
    detectors_ : ndarray of shape (n_removed_, n_features_in_)
        How much of each direction a row holds: ``(x - mean_) @ detectors_.T`` is
        multiplied by `directions_` and subtracted.
    mean_ : ndarray of shape (n_features_in_,)
        Weighted mean of the rows, which stays where it is.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    LinearDiscriminantProjection : The directions that tell classes, to keep them.
    skrep.nested.NestedProjection : Directions ordered by what they are worth.

    Notes
    -----
    *What it costs.* Rows free of the nuisance can tell no more of the target than lies
    off the shifts B. Where both act along one direction both cannot be had, and the
    target has precedence: a direction stays, with a warning, if without it two classes
    of `y` would keep less than a quarter of their squared distance (in units of S), and
    `leak_after_` says so. Without `y` everything goes that tells the nuisance; if
    nuisance and target come together, as with sites that see other patients, some of
    what tells the target goes along.

    *What stays.* With `y`, the nuisance cannot be told beyond what `y` tells of it.
    Where the two are related it can be guessed from what tells `y`, and must be.
    Only shifts are removed: a nuisance that changes the spread of rows, or acts in
    curves, is still told by classifiers that are not linear.

    *What it needs.* More rows than columns, by a factor of a few: with fewer, every
    label is told by chance, and what is removed is chance in part. Reduce the columns
    first, as with :class:`~sklearn.decomposition.PCA`. The leaks are those of the
    fitted rows; measure new rows by the score of a classifier of the nuisance.

    Strings, booleans, categories and up to 20 distinct integers are classes. Other
    numbers are cut into 10 quantile slices in the nuisance, and are taken as they are
    in `y`. Pass strings to have more integers taken for classes, and floats to have
    fewer taken for numbers.

    References
    ----------
    .. [1] Belrose, N., Schneider-Joseph, D., Ravfogel, S., Cotterell, R., Raff, E. and
       Biderman, S. (2023). LEACE: perfect linear concept erasure in closed form.
       NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.discriminant import DistractorRemoval
    >>> rng = np.random.default_rng(0)
    >>> y, site = rng.integers(0, 2, size=(2, 300))
    >>> X = rng.normal(size=(300, 5)) + np.outer(y, [2, 0, 0, 0, 0])
    >>> X += np.outer(site, [1, 3, 0, 0, 0])
    >>> removal = DistractorRemoval().fit(X, y, nuisance=site)
    >>> round(removal.leak_before_, 2), abs(round(removal.leak_after_, 2))
    (0.74, 0.0)
    >>> Z = removal.transform(X)
    >>> gaps = [Z[(y == 1) & (site == s)].mean(axis=0)[0] for s in (0, 1)]
    >>> bool(abs(gaps[1] - gaps[0]) < 0.2)
    True
    """

    _parameter_constraints = {"n_components": "no_validation"}

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)
    @all_or_nothing
    def fit(
        self, X: Any, y: Any = None, *, nuisance: Any = None, sample_weight: Any = None
    ) -> Self:
        """Find what the nuisance puts into the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,), default=None
            Target to keep: classes or numbers. Not used without `nuisance`.
        nuisance : array-like of shape (n_samples,), default=None
            What should not be told from the rows: classes or numbers. Inside a pipeline
            or a search request it by ``set_fit_request(nuisance=True)``. Without it
            nothing is removed.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        DistractorRemoval
            The fitted estimator.

        Raises
        ------
        ValueError
            If `n_components`, `nuisance` or `y` does not suit the data, or nothing
            would be left of the rows.

        Warns
        -----
        NotRemovedWarning
            If there is no nuisance to remove, or `y` needs what tells it.
        ThinDataWarning
            If there are no more rows than dimensions and labels together.
        """
        who = type(self).__name__
        X = validate_rows(self, X, reset=True, ensure_min_samples=2)
        weights = check_sample_weight(who, sample_weight, X.shape[0])
        if nuisance is None:
            check_n_components(who, self.n_components, X.shape[1])
            warn(
                f"{who}: 'nuisance' is None, and nothing is removed. Pass {who}.fit(X, "
                "y, nuisance=...), one label per row; inside a pipeline or a search "
                "request it with set_fit_request(nuisance=True).",
                NotRemovedWarning,
            )
            return self._store(X, Moments.of(X, weights).mean, None)
        labels = self._labels("nuisance", nuisance, weights, slices=True)
        target = _nuisance.Labels(np.zeros((len(labels.columns), 0)), np.zeros((0, 0)))
        if y is not None:
            target = self._labels("y", y, weights, slices=False)
        X, weights = X[weights > 0], weights[weights > 0]
        with np.errstate(over="ignore", invalid="ignore"):
            moments = Moments.of(X, weights)
        check_overflow(who, moments.scatter)
        columns = np.hstack([labels.columns, target.columns])
        cross, inner = _nuisance.shared_covariances(X, moments, columns, weights)
        n_labels = len(labels.corners)
        own, other = slice(n_labels), slice(n_labels, None)
        alone = _nuisance.part_shifts(cross, inner, other, slice(0))
        white = whitening(
            _nuisance.moments_within(
                X, moments, target.columns, weights, alone.effects
            ),
            precision=float(np.finfo(X.dtype).eps),
        )
        cross, rank = white.map.T @ cross, len(white.spread)
        removal = _nuisance.plan_removal(
            _nuisance.part_shifts(cross, inner, own, other),
            _nuisance.part_shifts(cross, inner, other, own),
            target.corners,
            self._n_wanted(n_labels, rank),
            white,
        )
        if rank and len(removal.directions) == rank:
            raise ValueError(_nuisance.nothing_left(who, n_labels, rank))
        n_rows = round(max(len(X), moments.weight))
        thin = rank > 0 and n_labels > 1 and n_rows <= rank + columns.shape[1]
        if thin:
            warn(
                f"{who}: 'X' has {n_rows} rows of {rank} dimensions, and they have "
                f"{columns.shape[1]} labels: every label is told by chance, and what "
                "goes or stays is chance. Reduce the columns first, such as with "
                f"sklearn.decomposition.PCA({max(n_rows // 4, 1)}), or pass more rows.",
                ThinDataWarning,
            )
        if not thin if removal.n_spared else not len(removal.directions):
            warn(_nuisance.what_stays(who, removal), NotRemovedWarning)
        return self._store(X, moments.mean, removal)

    def transform(self, X: Any) -> FloatArray:
        """Remove the nuisance from rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows, whose nuisance need not be known.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Rows of the same columns, in the float type of X.

        Raises
        ------
        ValueError
            If X holds finite numbers so large that those of the result are not.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False)
        if not self.n_removed_:
            return np.array(X)
        with np.errstate(over="ignore", invalid="ignore"):
            amounts = project_rows(X, self.detectors_, self.mean_)
            out: FloatArray = amounts @ self.directions_.astype(X.dtype, copy=False)
            np.subtract(X, out, out=out)
        if not np.isfinite(out).all():
            raise overflow_error(type(self).__name__, out.dtype)
        return out

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on the rows and fitting again does.

        The nuisance stays with its rows. Permuting the labels is about classes in `y`.

        Returns
        -------
        tuple of Claim
            The claims, for rows whose columns are independent.
        """
        return (
            Claim("invertible_affine", "same_action"),
            Claim("row_permutation", "same_action"),
            Claim("label_permutation"),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _labels(
        self, name: str, values: Any, weights: FloatArray, *, slices: bool
    ) -> _nuisance.Labels:
        found = _nuisance.read_labels(type(self).__name__, name, values, weights)
        return _nuisance.label_columns(*found, slices=slices)

    def _n_wanted(self, n_labels: int, rank: int) -> int:
        available = min(n_labels - 1, rank)
        if not available:
            return 0
        return check_n_components(type(self).__name__, self.n_components, available)

    def _store(
        self, X: FloatArray, mean: FloatArray, removal: _nuisance.Removal | None
    ) -> Self:
        none, nan = np.zeros((0, X.shape[1])), float("nan")
        directions, detectors = removal[:2] if removal else (none, none)
        self.mean_ = mean.astype(X.dtype)
        self.directions_ = directions.astype(X.dtype)
        self.detectors_ = detectors.astype(X.dtype)
        self.n_removed_ = len(directions)
        self.leak_before_, self.leak_after_ = removal.leak if removal else (nan, nan)
        self.target_kept_ = removal.target_kept if removal else nan
        return self
