"""Some variables in some states, in a model and in data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Margin:
    """States of some variables: how probable they are, and how often the data have them."""

    variables: tuple[str, ...]
    states: tuple[str, ...]
    model: float
    data: float

    def describe(self) -> str:
        return " & ".join(f"{name}={state}" for name, state in zip(self.variables, self.states, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form."""
        return {
            "variables": list(self.variables),
            "states": list(self.states),
            "model": self.model,
            "data": self.data,
        }
