"""Choose a length, with evidence."""

from skrep.model_selection._prefix_search import PrefixSearchCV

__all__ = ["PrefixSearchCV"]
