"""Latent alignment: carry the rows of one space into another."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.linalg import compact_svd
from skrep.relative import _alignment_cv as _cv
from skrep.relative import _alignment_maps as _maps
from skrep.relative._alignment_inputs import (
    check_alpha,
    check_count,
    check_pairs,
    column_names,
)
from skrep.relative._alignment_norms import norm_law, restore
from skrep.typing import AnyArray, FloatArray
from skrep.utils.validation import (
    check_sample_weight,
    validate_encoded,
    validate_rows,
)

__all__ = ["LatentAlignment"]

_METHODS = ("shrunk", "orthogonal", "ridge", "affine", "low_rank", "cca")


class LatentAlignment(ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    r"""Carry rows of one space into another, learned from paired rows.

    ``fit(X, y)`` takes rows of the source space and, in the same order, the rows of
    the target space that stand for the same things. ``transform`` maps source rows
    into the **target** space, where what was trained on target rows (a classifier, an
    index) serves them. Everything is closed form.

    With both sides centered by the pairs' means and divided by their root-mean-square
    norms (P the source, Q the target), a row is mapped by

    .. math:: x \mapsto m_y + \nu(\|x - m_x\|)\,
        \frac{(x - m_x) W}{\|(x - m_x) W\|},

    where :math:`\nu` restores the norm that shrinkage takes away. The default
    W is a ridge regression that shrinks towards a soft rotation instead of zero,

    .. math:: W = H_0 + (P^\top P + \lambda I)^{-1} P^\top (Q - P H_0), \qquad
        H_0 = c\, C (C^\top C + t^2 \|C\|_2^2 I)^{-1/2}, \quad C = P^\top Q,

    with c the least-squares scale. It reaches from Procrustes (t = 0, infinite
    :math:`\lambda`) to least squares (:math:`\lambda = 0`).

    Parameters
    ----------
    method : {"shrunk", "orthogonal", "ridge", "affine", "low_rank", "cca"}, \
            default="shrunk"
        The map W.

        - "shrunk": as above; the best at any number of pairs.
        - "orthogonal": rotation and one scale [1]_. With fewer pairs than columns a
          partial isometry on the span of the pairs: the part of the rotation that
          the pairs say nothing about is never made up.
        - "ridge": ridge regression.
        - "affine": least squares; overfits unless pairs far outnumber columns.
        - "low_rank": reduced-rank regression [2]_ with a ridge.
        - "cca": through canonical directions with a ridge, back to the target space.
    n_components : int or None, default=None
        Largest rank of "low_rank" and "cca"; the other methods ignore it. None sets
        no bound, and both are then a ridge regression.
    alpha : float or "cv", default="cv"
        The penalty :math:`\lambda \ge 0`, for "shrunk" also infinity; 1 makes what is
        shrunk towards weigh as much as one average pair if ``scale=True``. "cv" chooses
        it from the pairs: by generalized cross-validation for "ridge", by 5-fold
        cross-validation for "shrunk", "low_rank" and "cca", scored by how well held-out
        rows find their partners. "shrunk" chooses its softness t so in any case.
        "orthogonal" and "affine" ignore it.
    center : bool, default=True
        Whether to subtract each side's mean.
    scale : bool, default=True
        Whether to divide each side by its root-mean-square norm. It only sets the
        unit of a numeric `alpha`.
    restore_norm : bool, default=True
        Whether to give mapped rows the norms of target rows. The norm depends on the
        source row's own norm by a power law fitted on the pairs, so that
        a similarity is recovered exactly. It leaves alone "affine", which does
        not shrink, and a single output column, which has no direction.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_, n_outputs)
        The linear map, in the units of the two spaces. Without norm restoring
        ``transform(X) == (X - mean_) @ coef_ + y_mean_``.
    mean_ : ndarray of shape (n_features_in_,)
        Mean of the source rows of the pairs; zeros without centering.
    y_mean_ : ndarray of shape (n_outputs,)
        Mean of their partners; zeros without centering.
    scale_, y_scale_ : float
        Root-mean-square norms that divided the two sides; 1 if ``scale=False``.
    rank_ : int
        Rank of `coef_`. With fewer pairs than columns it is below the number of
        columns: the map is zero off the span of the pairs.
    alpha_ : float
        The penalty that was used, possibly infinite (then "shrunk" is the soft
        rotation itself).
    softness_ : float
        The softness t of "shrunk", else 0.
    norm_law_ : tuple of two floats or None
        Exponent p and factor f of the restored norm,
        :math:`\nu(r) = f\,(r / \text{scale\_})^p\,\text{y\_scale\_}`; None if norms
        are not restored.
    inverse_norm_law_ : tuple of two floats or None
        The law from target to source, fitted likewise.
    n_features_in_ : int
        Number of columns of the source space.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names of X, if it has string names.

    See Also
    --------
    RelativeRepresentation : Make two spaces comparable without a map.
    sklearn.linear_model.RidgeCV : Ridge regression, without the norms restored.
    scipy.linalg.orthogonal_procrustes : A completed rotation.

    Notes
    -----
    Held-out squared error would choose maps that shrink all outputs towards a few
    common directions. The cross-validation scores the contrastive cross-entropy
    [3]_ of a mapped row and all partners instead. Folds are dealt by the content of
    the pairs, equal pairs together: a weight of 2 is the row twice, and the order of
    the rows does not matter. At most 512 pairs take part in the scoring.

    `inverse_transform` applies the pseudo-inverse of `coef_`. It is exact for
    "orthogonal" with orthonormal rows of the map, and for any invertible map without
    norm restoring; else it returns the least-norm row of the span of the pairs
    that the map sends closest. A map of a poor fit amplifies noise on the way
    back: fit another alignment on the swapped pairs where the way back matters.

    References
    ----------
    .. [1] Schönemann, P. H. (1966). A generalized solution of the orthogonal
       Procrustes problem. Psychometrika, 31(1), 1-10.
    .. [2] Izenman, A. J. (1975). Reduced-rank regression for the multivariate
       linear model. Journal of Multivariate Analysis, 5(2), 248-264.
    .. [3] van den Oord, A., Li, Y. and Vinyals, O. (2018). Representation learning
       with contrastive predictive coding. arXiv:1807.03748.
    .. [4] Maiorca, V. et al. (2023). Latent space translation via semantic
       alignment. NeurIPS.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.relative import LatentAlignment
    >>> rng = np.random.default_rng(0)
    >>> old = rng.normal(size=(200, 8))
    >>> rotation = np.linalg.qr(rng.normal(size=(8, 8)))[0]
    >>> new = 3 * old @ rotation + 1
    >>> alignment = LatentAlignment().fit(new[:50], old[:50])
    >>> bool(np.allclose(alignment.transform(new), old))
    True
    >>> alignment.rank_
    8
    """

    _parameter_constraints: dict[str, list[Any]] = {
        "method": [StrOptions(set(_METHODS))],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "alpha": [Interval(Real, 0, None, closed="both"), StrOptions({"cv"})],
        "center": ["boolean"],
        "scale": ["boolean"],
        "restore_norm": ["boolean"],
    }

    def __init__(
        self,
        method: str = "shrunk",
        *,
        n_components: int | None = None,
        alpha: float | str = "cv",
        center: bool = True,
        scale: bool = True,
        restore_norm: bool = True,
    ) -> None:
        self.method = method
        self.n_components = n_components
        self.alpha = alpha
        self.center = center
        self.scale = scale
        self.restore_norm = restore_norm

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the map from paired rows.

        Parameters
        ----------
        X : array-like of shape (n_pairs, n_features)
            Rows of the source space.
        y : array-like of shape (n_pairs, n_outputs) or (n_pairs,)
            Row i is the partner of row i of X, in the target space. One dimension is
            one column. The names of its columns name the output.
        sample_weight : array-like of shape (n_pairs,), default=None
            Weights of the pairs: a weight of 2 is a pair twice, 0 an absent pair.
            Weights that sum to less than the number of pairs are scaled up to it.

        Returns
        -------
        LatentAlignment
            The fitted estimator.

        Raises
        ------
        ValueError
            If X and y differ in length, a single pair is left, or values are missing.
        TypeError
            If X or y is sparse.

        Warns
        -----
        UserWarning
            If "affine" is fitted on about as many pairs as columns.
        """
        names = column_names(y)
        X, y = check_pairs(self, X, y)
        weights = check_sample_weight(type(self).__name__, sample_weight, X.shape[0])
        rows, partners, weights = _cv.distinct_pairs(
            X.astype(np.float64), y.astype(np.float64), weights
        )
        # Weights count rows; where they sum to less, as shares do, only ratios count.
        weights = weights * max(1.0, len(rows) / weights.sum())
        check_count(rows, weights, self.method, self.center)
        check_alpha(self.alpha, self.method)
        pairs, span = self._prepare(rows, partners, weights)
        choice = self._choose(rows, partners, weights, pairs, span)
        H = next(_maps.maps(self.method, span, [choice], self.n_components))
        coef = span.V @ H * (pairs.y_scale / pairs.scale)
        self.alpha_, self.softness_ = choice
        self.rank_ = compact_svd(H)[1].size
        self.coef_ = coef.astype(X.dtype)
        self.mean_ = pairs.mean.astype(X.dtype)
        self.y_mean_ = pairs.y_mean.astype(X.dtype)
        self.scale_, self.y_scale_ = pairs.scale, pairs.y_scale
        self.norm_law_ = self.inverse_norm_law_ = None
        if self.restore_norm and self.method != "affine" and y.shape[1] > 1:
            norms = np.linalg.norm(pairs.P, axis=1), np.linalg.norm(pairs.Q, axis=1)
            self.norm_law_ = norm_law(*norms, weights)
            self.inverse_norm_law_ = norm_law(*norms[::-1], weights)
        self._n_features_out = y.shape[1]
        self._output_names = names
        return self

    def transform(self, X: Any) -> FloatArray:
        """Map rows of the source space into the target space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of the source space.

        Returns
        -------
        ndarray of shape (n_samples, n_outputs)
            Rows of the target space, in the float type of X.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False)
        coef = self.coef_.astype(X.dtype, copy=False)
        moved = X - self.mean_.astype(X.dtype, copy=False)
        out = moved @ coef
        if self.norm_law_ is not None:
            restore(out, moved, coef, self.norm_law_, self.scale_, self.y_scale_)
        out += self.y_mean_
        return out

    def inverse_transform(self, X: Any) -> FloatArray:
        """Map rows of the target space back into the source space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_outputs)
            Rows of the target space.

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
            Rows of the source space: the pseudo-inverse of the map, see the Notes.
        """
        check_is_fitted(self)
        X = validate_encoded(self, X, self._n_features_out)
        U, s, Vt = (
            part[..., : self.rank_] if i < 2 else part[: self.rank_]
            for i, part in enumerate(compact_svd(self.coef_.astype(np.float64), rtol=0))
        )
        inverse = ((Vt.T / s) @ U.T).astype(X.dtype, copy=False)
        moved = X - self.y_mean_.astype(X.dtype, copy=False)
        out = moved @ inverse
        if self.inverse_norm_law_ is not None:
            law = self.inverse_norm_law_
            restore(out, moved, inverse, law, self.y_scale_, self.scale_)
        out += self.mean_
        return out

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Get the names of the output columns: those of y, if it had string names.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Only checked against the names seen in fit.

        Returns
        -------
        ndarray of shape (n_outputs,), object
            The names of y's columns, else "latentalignment0" and so on.
        """
        generated = super().get_feature_names_out(input_features)
        if self._output_names is None:
            return generated
        return np.asarray(self._output_names, dtype=object)

    def invariances(self) -> tuple[Claim, ...]:
        """List what acting on the source space and fitting again leaves alone.

        Returns
        -------
        tuple of Claim
            The claims that the parameters support. "affine" is also invariant to
            invertible linear maps of X wherever pairs outnumber columns.
        """
        claims = [Claim("orthogonal"), Claim("row_permutation", "same_action")]
        if self.center:
            claims.append(Claim("translation"))
        relative = self.scale or self.alpha == "cv"
        if relative or self.method in ("orthogonal", "affine"):
            claims.append(Claim("positive_scaling"))
        return tuple(claims)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _prepare(
        self, rows: FloatArray, partners: FloatArray, weights: FloatArray
    ) -> tuple[_maps.Pairs, _maps.PairedSpan]:
        pairs = _maps.center_and_scale(rows, partners, weights, self.center, self.scale)
        both = self.method == "cca"
        return pairs, _maps.decompose(pairs.P, pairs.Q, weights, both=both)

    def _choose(
        self,
        rows: FloatArray,
        partners: FloatArray,
        weights: FloatArray,
        pairs: _maps.Pairs,
        span: _maps.PairedSpan,
    ) -> _maps.Choice:
        if self.method == "ridge" and self.alpha == "cv":
            return _maps.Choice(
                _maps.gcv_alpha(span, pairs.Q, weights, n_free=int(self.center))
            )
        settings = _maps.choices(self.method, self.alpha, span.square)
        if len(settings) == 1 or len(rows) < 3:
            return settings[0]
        # Hundreds of small products: on a busy machine threads would wait for each
        # other most of the time. The caller's setting comes back with the context.
        with threadpool_limits(1, user_api="blas"):
            losses, errors = _cv.held_out_losses(
                rows,
                partners,
                weights,
                self.center,
                self._prepare,
                lambda part: _maps.maps(self.method, part, settings, self.n_components),
            )
        return settings[_cv.best_candidate(losses, errors)]
