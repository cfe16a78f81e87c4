"""Errors that a user can act on: one line with what was wrong, what was expected and how to fix it."""

from __future__ import annotations

__all__ = [
    "ApproximationWarning",
    "DataError",
    "ImpossibleError",
    "InputError",
    "ModelFileError",
    "MrfitError",
    "StructureError",
]


class MrfitError(Exception):
    """Base of every error the library raises on purpose; the command line prints its text and exits with 2."""


class InputError(MrfitError, ValueError):
    """A value given by the user is wrong."""


class DataError(InputError):
    """A table cannot be read or does not fit the domain."""


class StructureError(InputError):
    """A structure is malformed or names unknown variables."""


class ImpossibleError(InputError):
    """The tables or the evidence leave no joint state possible."""

    def __init__(
        self,
        message: str = "The tables leave no joint state possible: every one contains a cell of minus infinity. Check "
        "the tables and the evidence.",
    ) -> None:
        super().__init__(message)


class ModelFileError(InputError):
    """A model file is damaged, foreign or newer than this library."""


class ApproximationWarning(UserWarning):
    """An answer is approximate where an exact one might be expected."""


def listed(names: object, *, limit: int = 6) -> str:
    """Quote names for a message: ``'a', 'b', 'c', ... (12 in all)``."""
    items = [repr(str(name)) for name in names]  # type: ignore[attr-defined]
    if len(items) <= limit:
        return ", ".join(items)
    return ", ".join(items[:limit]) + f", ... ({len(items)} in all)"
