"""The description of a model file format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from mrfit.model.factor_network import FactorNetwork


class Write(Protocol):
    """Return the content of a file; without ``names`` it has no comments."""

    def __call__(self, network: FactorNetwork, *, names: bool = True) -> bytes: ...


@dataclass(frozen=True)
class ModelFormat:
    """Functions that turn a network into the content of a file and back.

    ``read`` gets the content and the name of the file, for messages.
    """

    word: str  # the word that users choose it by
    suffix: str
    meaning: str
    read: Callable[[bytes, str], FactorNetwork]
    write: Write
    holds_conjunctions: bool = False  # otherwise hidden variables replace conjunctions, or the network is refused
