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
    """Base class of all errors that mrfit raises on purpose.

    Its text is one line: what is wrong, what was expected and how to fix it. The command line prints it and exits with
    2.

    Examples
    --------
    >>> from mrfit import MrfitError, learn
    >>> try:
    ...     learn({"a": [0, 1], "b": [1, 0]}, "no-such-structure")
    ... except MrfitError as error:
    ...     print(str(error)[:43])
    There is no structure 'no-such-structure';...
    """


class InputError(MrfitError, ValueError):
    """A value that the user gave is wrong.

    Examples
    --------
    >>> from mrfit import L2
    >>> L2(strength=-1)
    Traceback (most recent call last):
        ...
    mrfit.core.errors.InputError: The strength of a penalty must be positive and finite; got -1.
    """


class DataError(InputError):
    """A table that cannot be read or does not fit the domain.

    Examples
    --------
    >>> from mrfit import Domain
    >>> Domain.from_states({"a": []})
    Traceback (most recent call last):
        ...
    mrfit.core.errors.DataError: Variable 'a' has no states; give it at least one.
    """


class StructureError(InputError):
    """A structure that is malformed or names unknown variables.

    Examples
    --------
    >>> from mrfit import Structure
    >>> Structure.from_edges(2, [(0, 2)])
    Traceback (most recent call last):
        ...
    mrfit.core.errors.StructureError: A scope names variable number 2, but variables are numbered 0 to 1.
    """


class ImpossibleError(InputError):
    """Tables or evidence that leave no joint state possible.

    Parameters
    ----------
    message : str, optional
        The text; by default one about the tables of a distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit import Enumeration, Factors
    >>> from mrfit.core.errors import ImpossibleError
    >>> factors, engine = Factors((2,), ((0,),), np.array([-np.inf, -np.inf])), Enumeration()
    >>> try:
    ...     engine.run(engine.plan(factors), factors)
    ... except ImpossibleError as error:
    ...     print(str(error)[:40])
    The tables leave no joint state possible
    """

    def __init__(
        self,
        message: str = "The tables leave no joint state possible: every one contains a cell of minus infinity. Check "
        "the tables and the evidence.",
    ) -> None:
        super().__init__(message)


class ModelFileError(InputError):
    """A model file that is damaged, of another program, or newer than this library.

    Examples
    --------
    >>> from pathlib import Path
    >>> from mrfit import MarkovNetwork
    >>> from mrfit.core.errors import ModelFileError
    >>> _ = Path("broken.mrf").write_text("nothing")
    >>> try:
    ...     MarkovNetwork.load("broken.mrf")
    ... except ModelFileError:
    ...     print("Copy the file again.")
    Copy the file again.
    """


class ApproximationWarning(UserWarning):
    """Warning that an answer is approximate although an exact one might be expected.

    Examples
    --------
    >>> import warnings
    >>> from mrfit.core.errors import ApproximationWarning
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", ApproximationWarning)
    ...     pass  # ask the model here
    """


def listed(names: object, *, limit: int = 6) -> str:
    """Quote names for a message: ``'a', 'b', 'c', ... (12 in all)``."""
    items = [repr(str(name)) for name in names]  # type: ignore[attr-defined]
    if len(items) <= limit:
        return ", ".join(items)
    return ", ".join(items[:limit]) + f", ... ({len(items)} in all)"
