"""Warnings that skrep sends and callers may want to filter by class."""

__all__ = ["FewerColumnsWarning", "VersionMismatchWarning"]


class FewerColumnsWarning(UserWarning):
    """The data allow fewer output columns than were asked for."""


class VersionMismatchWarning(UserWarning):
    """A saved estimator is loaded by another version of skrep."""
