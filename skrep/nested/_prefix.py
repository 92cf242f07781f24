"""What every member of the family has: fitted estimators of shorter lengths."""

import copy
from typing import Self

from sklearn.utils.validation import check_is_fitted

from skrep.utils.validation import check_n_components

__all__ = ["PrefixMixin"]


class PrefixMixin:
    """Mixin of transformers whose output can be cut to its first columns.

    A subclass lists its fitted arrays with one entry per component. A parameter
    `normalize`, where there is one, is kept as `_normalize` in fit.
    """

    _per_component: tuple[str, ...] = ("components_",)

    n_components: int | None

    @property
    def _n_features_out(self) -> int:
        return len(getattr(self, self._per_component[0]))

    def prefix(self, n_components: int) -> Self:
        """Give the fitted estimator of a shorter length.

        Nothing is refitted and no array is copied: what serves a prefix is the first
        part of what serves the whole.

        Parameters
        ----------
        n_components : int
            The length, from 1 to that of this estimator.

        Returns
        -------
        estimator
            A new fitted estimator whose `n_components`, where it has this parameter,
            is the length; this one is left as it was.

        Raises
        ------
        ValueError
            If there is no such prefix.
        """
        check_is_fitted(self)
        who = f"{type(self).__name__}.prefix"
        k = check_n_components(who, n_components, self._n_features_out)
        shorter = copy.copy(self)
        if hasattr(shorter, "n_components"):
            shorter.n_components = k
        shorter._keep(k)
        return shorter

    def _keep(self, k: int) -> None:
        """Cut what has one entry per component."""
        for name in self._per_component:
            array = getattr(self, name)
            setattr(self, name, None if array is None else array[:k])
