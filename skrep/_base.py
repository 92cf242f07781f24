"""The base classes of skrep's estimators."""

import warnings
from typing import Any

from sklearn.base import BaseEstimator, TransformerMixin

from skrep import __version__
from skrep.exceptions import VersionMismatchWarning

__all__ = ["SkrepEstimator", "SkrepTransformer"]


class SkrepEstimator(BaseEstimator):
    """Scikit-learn estimator with a version stamp and a documentation link.

    It holds nothing else: validation, feature names and mathematics belong to the
    estimators.
    """

    _doc_link_module = "skrep"
    _doc_link_template = (
        "https://skrep.readthedocs.io/en/stable/api/generated/"
        "{estimator_module}.{estimator_name}.html"
    )

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "_skrep_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        saved = state.get("_skrep_version", "unknown")
        if saved != __version__:
            warnings.warn(
                f"{type(self).__name__} was saved by skrep {saved} and is loaded by "
                f"skrep {__version__}: results may differ. Refit it, or load it with "
                f"'skrep=={saved}'.",
                VersionMismatchWarning,
                stacklevel=2,
            )
        super().__setstate__({k: v for k, v in state.items() if k != "_skrep_version"})


class SkrepTransformer(TransformerMixin, SkrepEstimator):
    """A `SkrepEstimator` that transforms."""
