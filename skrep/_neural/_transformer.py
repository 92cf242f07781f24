"""What estimators share whose rows pass through a network."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, Final

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from skrep._base import SkrepTransformer
from skrep._neural._network import embed
from skrep._neural._standardize import Standardization
from skrep.typing import FloatArray
from skrep.utils.callbacks import CallbackSupport
from skrep.utils.mlp import mlp_forward
from skrep.utils.net_params import NetParams
from skrep.utils.validation import check_overflow, validate_rows

__all__ = ["NET_CONSTRAINTS", "TRAINING_CONSTRAINTS", "NetTransformer"]

TRAINING_CONSTRAINTS: Final[Mapping[str, Any]] = {
    "max_epochs": [Interval(Integral, 1, None, closed="left")],
    "batch_size": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "lr": [Interval(Real, 0, None, closed="neither")],
    "weight_decay": [Interval(Real, 0, None, closed="left")],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither"), None],
    "device": [str],
    "callbacks": [list, tuple, None],
    "optimizer_params": [dict, None],
    "random_state": ["random_state"],
}
"""Constraints of the parameters that say how a network is trained."""

NET_CONSTRAINTS: Final[Mapping[str, Any]] = {
    **TRAINING_CONSTRAINTS,
    "hidden": ["array-like", tuple],
    "module_params": [dict, None],
}
"""Constraints of the parameters that say how a network is built and trained."""


class NetTransformer(
    NetParams, CallbackSupport, ClassNamePrefixFeaturesOutMixin, SkrepTransformer
):
    """A transformer by a network.

    A subclass sets `coefs_`, `intercepts_` and `_standard` in fit, or says in
    `_outputs` what becomes of standardized rows.
    """

    coefs_: Any
    intercepts_: Any
    history_: list[dict[str, float]]
    n_iter_: int
    best_loss_: float | None
    n_features_in_: int
    _standard: Standardization

    def transform(self, X: Any) -> FloatArray:
        """Encode rows.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Encoded rows, in the float type of X.
        """
        return self._encode(X)

    def _encode(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_rows(self, X, reset=False, accept_sparse="csr")
        with np.errstate(over="ignore", invalid="ignore"):
            Z = embed(X, self._standard, self._outputs)
        check_overflow(type(self).__name__, Z)
        return Z

    def _outputs(self, rows: FloatArray) -> FloatArray:
        """Encoded rows, from standardized ones."""
        return mlp_forward(rows, self.coefs_, self.intercepts_)

    def _store(self, attributes: Mapping[str, Any]) -> None:
        for name, value in attributes.items():
            setattr(self, name, value)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
