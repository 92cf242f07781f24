"""Relative representations: rows described by their similarities to anchors."""

from numbers import Integral
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context, clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.linalg import weighted_mean
from skrep.relative import _decode, _inputs, _measure
from skrep.relative._claimed import relative_claims
from skrep.relative._kinds import SIMILARITIES
from skrep.relative._selection import SELECTIONS, select_anchors
from skrep.typing import AnyArray, FloatArray, Matrix
from skrep.utils.validation import (
    check_sample_weight,
    row_labels,
    validate_encoded,
    validate_rows,
)

__all__ = ["RelativeRepresentation"]


def _decodes(estimator: "RelativeRepresentation") -> bool:
    similarity, top_k = estimator.similarity, estimator.top_k
    if callable(similarity) or not SIMILARITIES[similarity].decodes:
        able = [name for name, entry in SIMILARITIES.items() if entry.decodes]
        raise AttributeError(
            f"RelativeRepresentation: rows cannot be recovered from 'similarity'="
            f"{similarity!r}. Use one of {able}."
        )
    if top_k is not None:
        raise AttributeError(
            f"RelativeRepresentation: 'top_k'={top_k} drops the similarities that "
            "inverse_transform needs. Use top_k=None."
        )
    return True


class RelativeRepresentation(ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    r"""Describe rows by their similarities to anchors.

    Two encoders of the same things give vectors that cannot be compared, yet the
    similarities of things to a few shared *anchors* nearly agree. Fitted on each
    space with the same anchors, this transformer makes the spaces comparable: a head
    trained on one serves the other (see :func:`stitch`).

    With the cosine similarity a row x becomes

    .. math::

        r(x) = \left(\frac{(x - m)^\top (a_j - m)}{\|x - m\|\,\|a_j - m\|}\right)_j
        (K + I)^{-1/2},

    where m is the mean of the fitted rows and K the Gram matrix of the anchors'
    cosines, whose mean eigenvalue is 1; each coordinate is then standardized by the
    fitted rows.

    Read more in the :ref:`User Guide <relative>`.

    Parameters
    ----------
    n_anchors : int, default=128
        Number of anchors to select. Where there are fewer distinct rows, all of them
        serve and a warning is sent. Not used when `anchors` is given.
    anchors : array-like of shape (n_anchors,) or (n_anchors, n_features), default=None
        The anchors themselves: row positions in X (integers), or vectors. The string
        index of a DataFrame of vectors names the output columns. None selects them.
    selection : {"uniform", "stratified", "kmeans", "farthest", "leverage"}, \
            default="kmeans"
        How anchors are selected among the distinct rows. "uniform" draws them;
        "stratified" draws them class by class and needs `y`; "kmeans" takes the row
        nearest to the centroid of every cluster; "farthest" takes again and again the
        row farthest from those taken, from the one farthest from the mean; "leverage"
        takes the pivots of a QR factorization. The last three see Euclidean distances.
    similarity : {"cosine", "angular", "inner", "euclidean", "manhattan", \
            "chebyshev", "mahalanobis", "rank"} or callable, default="cosine"
        "cosine" of the angle at the center; "angular", that angle over pi; "inner"
        product over the mean squared norm of the anchors; the three distances, over
        the mean distance between anchors; "mahalanobis", the cosine in coordinates
        whitened by the covariance of the fitted rows; "rank" of the cosine among the
        anchors, over their number. A callable takes rows and anchors, neither of them
        centered, and returns an array of shape (n_rows, n_anchors).
    center : bool, default=True
        Whether the mean of the fitted rows is subtracted from rows and anchors first,
        which leaves distances as they are. A callable gets them as they are.
        Encoders that map everything into a narrow cone are useless without it.
    whiten : {"gram", None}, default="gram"
        Whether to multiply by :math:`(|K| + \lambda I)^{-1/2}`, K the similarities
        between the anchors and lambda their mean absolute eigenvalue.
    scale : bool, default=True
        Whether every coordinate is standardized by the fitted rows. A constant
        coordinate is centered only.
    top_k : int or None, default=None
        Keep the `top_k` largest coordinates of a row and return CSR. Needs a
        similarity that grows with likeness.
    random_state : int, RandomState instance or None, default=None
        Randomness of "uniform", "stratified" and "kmeans".

    Attributes
    ----------
    anchors_ : {ndarray, CSR} of shape (n_anchors_, n_features_in_)
        The anchors in the coordinates of X.
    anchor_indices_ : ndarray of shape (n_anchors_,) or None
        Their row positions in the fitted X; None for given vectors.
    n_anchors_ : int
        Number of anchors, which is the number of output columns.
    mean_ : ndarray of shape (n_features_in_,) or None
        Weighted mean of the fitted rows; None without centering.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    LatentAlignment : Map one space onto another from paired rows.
    stitch : Use a fitted pipeline on another space.
    sklearn.kernel_approximation.Nystroem : Kernel features from uniform anchors.

    Notes
    -----
    The output of a row depends on that row and the fitted state alone. With "cosine"
    and "inner", whitening and scaling are folded into one matrix, and a transform
    costs one matrix product. CSR rows stay sparse with "cosine", "inner", "rank",
    "euclidean" and "manhattan"; the others refuse them.

    References
    ----------
    .. [1] Moschella, L., Maiorca, V., Fumero, M., Norelli, A., Locatello, F. and
       Rodola, E. (2023). Relative representations enable zero-shot latent space
       communication. ICLR.

    Examples
    --------
    >>> from skrep.datasets import make_parallel_spaces
    >>> from skrep.relative import RelativeRepresentation
    >>> import numpy as np
    >>> X, X_other = make_parallel_spaces(relation="similarity", random_state=0)
    >>> relative = RelativeRepresentation(n_anchors=16, random_state=0).fit(X)
    >>> twin = relative.counterpart(X_other)
    >>> np.allclose(relative.transform(X), twin.transform(X_other))
    True
    """

    _parameter_constraints = {
        "n_anchors": [Interval(Integral, 1, None, closed="left")],
        "anchors": ["array-like", "sparse matrix", None],
        "selection": [StrOptions(set(SELECTIONS))],
        "similarity": [StrOptions(set(SIMILARITIES)), callable],
        "center": ["boolean"],
        "whiten": [StrOptions({"gram"}), None],
        "scale": ["boolean"],
        "top_k": [Interval(Integral, 1, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_anchors: int = 128,
        *,
        anchors: Any = None,
        selection: str = "kmeans",
        similarity: Any = "cosine",
        center: bool = True,
        whiten: str | None = "gram",
        scale: bool = True,
        top_k: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_anchors = n_anchors
        self.anchors = anchors
        self.selection = selection
        self.similarity = similarity
        self.center = center
        self.whiten = whiten
        self.scale = scale
        self.top_k = top_k
        self.random_state = random_state

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose the anchors and measure the space.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows of the space.
        y : array-like of shape (n_samples,), default=None
            Classes, for ``selection="stratified"`` only.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows: a weight of 2 is a row twice, 0 an absent row.

        Returns
        -------
        RelativeRepresentation
            The fitted estimator.

        Raises
        ------
        ValueError
            If an anchor has no direction, a parameter does not suit the data, or `y`
            is missing where it is needed.
        TypeError
            If CSR rows meet a similarity that would densify them.
        """
        labels = row_labels(X)
        X = self._validate(X, reset=True)
        weights = check_sample_weight(type(self).__name__, sample_weight, X.shape[0])
        _inputs.check_rank(X, weights, self.similarity)
        self._n_rows = X.shape[0]
        self.mean_ = weighted_mean(X, weights).astype(X.dtype) if self.center else None
        positions = (
            _inputs.given_positions(self.anchors, self._n_rows)
            if self.anchors is not None
            else select_anchors(
                X,
                y,
                weights,
                n_anchors=self.n_anchors,
                selection=self.selection,
                similarity=self.similarity,
                mean=self.mean_,
                random_state=self.random_state,
            )
        )
        self.anchor_indices_ = positions
        if positions is None:
            labels = row_labels(self.anchors)
            self.anchors_ = _inputs.given_vectors(self.anchors, like=X)
        else:
            labels = labels and [labels[i] for i in positions]
            self.anchors_ = X[positions]
        self._labels = labels and _inputs.unique_labels(labels)
        self.n_anchors_ = self._n_features_out = self.anchors_.shape[0]
        _inputs.check_directions(self.anchors_, self.mean_, self.similarity)
        if self.top_k is not None:
            _inputs.check_top_k(self.top_k, self.n_anchors_, self.similarity)
        self._space = _measure.measure(
            X,
            weights,
            self.anchors_,
            similarity=self.similarity,
            mean=self.mean_,
            whiten=self.whiten is not None,
            scale=self.scale,
        )
        return self

    def transform(self, X: Any) -> Any:
        """Describe rows by their similarities to the anchors.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows of the fitted space.

        Returns
        -------
        ndarray or csr_array of shape (n_samples, n_anchors_)
            The relative representation, in the float type of X; CSR with `top_k`.
        """
        check_is_fitted(self)
        # Norms of dense rows tell on the way whether they are finite.
        named = None if callable(self.similarity) else SIMILARITIES[self.similarity]
        lazy = named is not None and named.normalizes and not sp.issparse(X)
        checked = self._validate(X, reset=False, ensure_all_finite=not lazy)
        try:
            if self.top_k is not None:
                return self._largest(checked, self.top_k)
            return _measure.relate_all(checked, self._space, self.similarity)
        except FloatingPointError:
            self._validate(X, reset=False)
            raise

    @available_if(_decodes)
    def inverse_transform(self, X: Any) -> FloatArray:
        r"""Recover rows from their relative representation.

        Standardization and whitening are undone, then the similarities are solved for
        the row by least squares. With a similarity that divides by norms only the
        direction comes back, and the row is :math:`m + \rho\,u` with rho the mean norm
        of the fitted rows. Fewer anchors than columns give the row of least norm.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_anchors_)
            Relative representations.

        Returns
        -------
        ndarray of shape (n_samples, n_features_in_)
            Rows in the coordinates of the fitted space.
        """
        check_is_fitted(self)
        R = validate_encoded(self, X, self.n_anchors_)
        return _decode.decode(R, self._space, self.similarity).astype(R.dtype)

    def counterpart(
        self, X_other: Any, anchors: Any = None, sample_weight: Any = None
    ) -> "RelativeRepresentation":
        """Fit the twin of this estimator on another space.

        Parameters
        ----------
        X_other : {array-like, CSR} of shape (n_samples, n_features_other)
            Rows of the other space. Without `anchors`, row i is the partner of row i
            of the fitted X: nothing is shuffled or matched.
        anchors : array-like of shape (n_anchors_, n_features_other), default=None
            The partners of the anchors in the other space, in the order of
            `anchors_`. X_other may then hold any rows of the other space.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows of X_other: those of `fit`, if there were any. The
            estimator does not keep them.

        Returns
        -------
        RelativeRepresentation
            A new estimator whose `anchors` are the partners, fitted on X_other; this
            one is left as it was. A clone of it, refitted, gives the same.

        Raises
        ------
        ValueError
            If the rows cannot be paired.
        """
        check_is_fitted(self)
        anchors = _inputs.partners(
            X_other, anchors, self.anchor_indices_, self._n_rows, self.n_anchors_
        )
        twin = clone(self).set_params(anchors=_inputs.relabel(anchors, self._labels))
        return twin.fit(X_other, sample_weight=sample_weight)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the output columns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Not used, as in every transformer that mixes its columns.

        Returns
        -------
        ndarray of str
            The labels of the anchors, made unique, where the rows they come from had
            a string index; else the class name and a number.
        """
        check_is_fitted(self)
        if self._labels is None:
            return super().get_feature_names_out(input_features)
        return np.asarray(self._labels, dtype=object)

    def invariances(self) -> tuple[Claim, ...]:
        """List the invariances that the current parameters support.

        Returns
        -------
        tuple of Claim
            What the output does when a group acts on the rows, where no distances
            tie.
        """
        return relative_claims(
            anchors=self.anchors,
            selection=self.selection,
            similarity=self.similarity,
            center=self.center,
            scale=self.scale,
        )

    def _largest(self, X: Matrix, top_k: int) -> Matrix:
        parts = [
            _measure.keep_largest(
                _measure.relate(X[rows], self._space, self.similarity), top_k
            )
            for rows in _measure.blocks(X, self.n_anchors_)
        ]
        return sp.vstack(parts, format="csr", dtype=X.dtype)

    def _validate(self, X: Any, *, reset: bool, **checks: Any) -> Matrix:
        accepted = _inputs.check_container(X, self.similarity)
        rows = validate_rows(
            self,
            X,
            reset=reset,
            accept_sparse="csr" if accepted else False,
            ensure_min_samples=2 if reset and self.center else 1,
            **checks,
        )
        return _inputs.canonical(rows)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        named = None if callable(self.similarity) else self.similarity
        tags.input_tags.sparse = named in SIMILARITIES and SIMILARITIES[named].sparse
        tags.target_tags.required = (
            self.anchors is None and self.selection == "stratified"
        )
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
