"""What a format of model files is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from mrfit.model.factor_network import FactorNetwork


class Write(Protocol):
    """Makes the content of a file; without ``names`` there are no comments in it."""

    def __call__(self, network: FactorNetwork, *, names: bool = True) -> bytes: ...


@dataclass(frozen=True)
class ModelFormat:
    """How a network becomes the content of a file, and back.

    ``read`` gets the content and the name of the file, which is for messages.
    """

    word: str  # by which users choose it
    suffix: str
    meaning: str
    read: Callable[[bytes, str], FactorNetwork]
    write: Write
    holds_conjunctions: bool = False  # else hidden variables stand for them, or they are refused
