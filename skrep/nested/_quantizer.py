"""Few bits per column: the last step before a vector index."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, _fit_context
from sklearn.utils import Tags, check_array
from sklearn.utils._param_validation import Options
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from skrep._base import SkrepTransformer
from skrep._claims import Claim
from skrep.nested import _codes
from skrep.typing import AnyArray, FloatArray
from skrep.utils.validation import check_sample_weight, validate_rows

__all__ = ["ScalarQuantizer"]


class ScalarQuantizer(ClassNamePrefixFeaturesOutMixin, SkrepTransformer):
    r"""Store columns as bytes or bits.

    With 8 bits, column j of the fitted rows reaches from :math:`l_j` to :math:`h_j`
    and is cut into 255 even steps :math:`s_j = (h_j - l_j) / 255`:

    .. math:: c_j(x) = \mathrm{round}\,\min\bigl(\max((x_j - l_j) / s_j, 0), 255\bigr).

    With 1 bit, the bit tells whether :math:`x_j` is above the mean of the column, and
    eight of them are packed into a byte. This is usually the last step before a vector
    index: 4 and 32 times fewer bytes than float32.

    Read more in the :ref:`User Guide <nested>`.

    Parameters
    ----------
    bits : {8, 1}, default=8
        Bits per column.

    Attributes
    ----------
    lower_ : ndarray of shape (n_features_in_,) or None
        Smallest number of each column, which has code 0. None with 1 bit.
    step_ : ndarray of shape (n_features_in_,) or None
        What one code more adds; 0 for a constant column, all of whose codes are 0.
        None with 1 bit.
    threshold_ : ndarray of shape (n_features_in_,) or None
        Weighted mean of each column; a number above it has bit 1. None with 8 bits.
    means_ : ndarray of shape (2, n_features_in_) or None
        Weighted mean of the fitted numbers that have bit 0, and of those that have
        bit 1. None with 8 bits.
    n_features_in_ : int
        Number of columns seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of those columns, where they are all strings.

    See Also
    --------
    NestedProjection : Fewer columns first, then fewer bits.
    Truncate : Fewer columns of vectors trained to be cut.
    sklearn.preprocessing.KBinsDiscretizer : Few bins as features of a model.

    Notes
    -----
    One far row widens the range, and so the step, of its columns: clip or drop it
    before fitting. With the mean as threshold nothing needs to be centered first.
    Where queries and documents sit in different places, fit one quantizer on each.

    With 1 bit, column 0 is the highest bit of byte 0, and the last byte is filled up
    with zeros, as in ``numpy.packbits(..., bitorder="big")``. The number of bits in
    which two rows differ is ``numpy.bitwise_count(a ^ b).sum()``.

    Examples
    --------
    >>> import numpy as np
    >>> from skrep.nested import ScalarQuantizer
    >>> X = np.array([[0.0, 1.0], [1.0, 3.0], [5.1, 2.0]])
    >>> quantizer = ScalarQuantizer().fit(X)
    >>> codes = quantizer.transform(X)
    >>> codes
    array([[  0,   0],
           [ 50, 255],
           [255, 128]], dtype=uint8)
    >>> quantizer.inverse_transform(codes).round(2)
    array([[0. , 1. ],
           [1. , 3. ],
           [5.1, 2. ]])
    >>> bits = ScalarQuantizer(bits=1).fit_transform(np.eye(12))
    >>> bits.shape
    (12, 2)
    >>> np.bitwise_count(bits[0] ^ bits[1]).sum()
    np.uint64(2)
    """

    lower_: Any
    step_: Any
    threshold_: Any
    means_: Any

    _parameter_constraints = {"bits": [Options(Integral, {1, 8})]}

    def __init__(self, bits: int = 8) -> None:
        self.bits = bits

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn the ranges, or the means, of the columns.

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
        ScalarQuantizer
            The fitted estimator.
        """
        X = validate_rows(self, X, reset=True)
        weights = check_sample_weight(type(self).__name__, sample_weight, X.shape[0])
        self.lower_ = self.step_ = self.threshold_ = self.means_ = None
        if self.bits == 1:
            self.threshold_, self.means_ = _codes.measure_sides(X, weights)
        else:
            self.lower_, highest = _codes.column_ranges(X, weights)
            self.step_ = _codes.level_steps(self.lower_, highest)
        return self

    def transform(self, X: Any) -> AnyArray:
        """Code rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows. Numbers beyond the fitted range are clipped to its ends.

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, ceil(n_features / 8)), \
uint8
            A byte per column, or a bit.
        """
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False)
        if self.threshold_ is not None:
            return _codes.encode_bits(X, self.threshold_)
        return _codes.encode_levels(X, self.lower_, self.step_)

    def inverse_transform(self, X: Any) -> FloatArray:
        """Give the rows that codes stand for.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features_out)
            Codes, as `transform` gives them: integers from 0 to 255.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            With 8 bits, rows within half a step of those coded, where these were in
            the fitted range; with 1 bit, the mean of each number's side. In the float
            type that was fitted.

        Raises
        ------
        ValueError
            If X has another width, or entries that are no codes.
        """
        check_is_fitted(self)
        codes = self._validate_codes(X)
        if self.means_ is not None:
            return _codes.decode_bits(codes, self.means_)
        return _codes.decode_levels(codes, self.lower_, self.step_)

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Name the output columns.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Names of the input columns; None takes those seen in fit, or "x0", "x1",
            ... where there were none. Only checked with 1 bit.

        Returns
        -------
        ndarray of str
            With 8 bits the names of the input columns; with 1 bit, where a column
            holds eight of them, the class name and a number.
        """
        check_is_fitted(self)
        names = _check_feature_names_in(self, input_features)
        if self.threshold_ is None:
            return names
        return super().get_feature_names_out(input_features)

    def invariances(self) -> tuple[Claim, ...]:
        """List the invariances that the current parameters support.

        Returns
        -------
        tuple of Claim
            What the codes do when a group acts on the rows, where no number lies
            halfway between two codes or at its column's mean.
        """
        claims = [
            Claim("row_permutation", "same_action"),
            Claim("row_permutation", "same_action", refit=False),
            Claim("column_scaling"),
            Claim("translation"),
        ]
        if self.bits == 8:
            claims += [
                Claim("column_permutation", "same_action"),
                Claim("sign_flip", "same_distances"),
            ]
        return tuple(claims)

    @property
    def _n_features_out(self) -> int:
        n_columns: int = self.n_features_in_
        return n_columns if self.threshold_ is None else -(-n_columns // 8)

    def _validate_codes(self, X: Any) -> AnyArray:
        name = type(self).__name__
        try:
            codes = check_array(X)
        except (TypeError, ValueError) as error:
            raise type(error)(f"{name}.inverse_transform: {error}") from error
        if codes.shape[1] != self._n_features_out:
            raise ValueError(
                f"{name}: 'X' has {codes.shape[1]} columns, but transform gives "
                f"{self._n_features_out}. Pass the output of transform."
            )
        if codes.dtype == np.uint8:
            return codes
        bad = (codes < 0) | (codes > _codes.LEVELS - 1) | (codes != np.rint(codes))
        if bad.any():
            raise ValueError(
                f"{name}: 'X' holds {codes[bad][0]}, which is no code. Codes are "
                "integers from 0 to 255: pass the output of transform."
            )
        return codes.astype(np.uint8)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
