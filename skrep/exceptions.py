"""Warnings that skrep sends and callers may want to filter by class."""

__all__ = [
    "FewerColumnsWarning",
    "NotRemovedWarning",
    "ThinDataWarning",
    "VersionMismatchWarning",
]


class FewerColumnsWarning(UserWarning):
    """The data allow fewer output columns than were asked for."""


class NotRemovedWarning(UserWarning):
    """Something that should be removed stays: it was not named, or is needed."""


class ThinDataWarning(UserWarning):
    """The data tell less than the estimator could: constant columns, or few rows."""


class VersionMismatchWarning(UserWarning):
    """A saved estimator is loaded by another version of skrep."""
