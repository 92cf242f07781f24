"""What estimators share whose rows pass through a network: transform and predict."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import StrOptions

from skrep import _neural
from skrep.typing import AnyArray, FloatArray

__all__ = ["NET_CONSTRAINTS", "NetClassifier"]

NET_CONSTRAINTS: Final[Mapping[str, Any]] = {
    **_neural.NET_CONSTRAINTS,
    "class_weight": [dict, StrOptions({"balanced"}), None],
}
"""Constraints of the parameters that say how a network is built and trained."""


class NetClassifier(ClassifierMixin, _neural.NetTransformer, ABC):
    """A transformer by a network, and a classifier by its outputs.

    A subclass sets `classes_`, `coefs_`, `intercepts_` and `_standard` in fit, and
    says what the outputs tell of the classes.
    """

    classes_: AnyArray

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Give the logarithms of the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Log-probabilities, in the order of `classes_`.
        """
        return self._log_posterior(self._encode(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """Give the probabilities of the classes.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.
        """
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """Predict the most probable class.

        Parameters
        ----------
        X : {array-like, CSR matrix or array} of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            Labels.
        """
        found = np.argmax(self.predict_log_proba(X), axis=1)
        labels: AnyArray = self.classes_[found]
        return labels

    @abstractmethod
    def _log_posterior(self, Z: FloatArray) -> FloatArray:
        """Log-probabilities of the classes, from encoded rows."""
