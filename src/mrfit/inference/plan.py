"""What a computation will take, known before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrfit.core.errors import InputError
from mrfit.core.rounding import format_count, format_size

_LARGEST = 10**300  # beyond which no float goes, and no machine


@dataclass(frozen=True)
class Plan:
    """The work of an engine on factors of a shape, whatever numbers are in their tables.

    It is a value: made once, it serves every run on factors with the same scopes. An engine with more to say, such as
    the order in which it eliminates, has a plan of its own that extends this one.
    """

    engine: str
    shape: tuple[int, ...]
    task: str  # what is asked for, as the subject of a sentence
    n_cells: int  # exact, however large
    max_cells: int
    n_bytes: int
    forecast: float  # seconds
    why: str  # this engine
    suggestion: str  # for those whose plan is refused

    @property
    def fits(self) -> bool:
        return self.n_cells <= self.max_cells

    @property
    def size(self) -> str:
        """The memory it takes, with a unit."""
        return format_size(as_float(self.n_bytes))

    def check(self, names: Sequence[str] | None = None) -> None:
        """Refuse more cells than the limit, with the figures and the ways on; variables by ``names`` if there are."""
        if not self.fits:
            raise InputError(f"{self.figures(names)} {self.suggestion}")

    def figures(self, names: Sequence[str] | None = None) -> str:
        """What it would take, in a sentence."""
        return (
            f"{self.task} goes over all {format_count(as_float(self.n_cells))} joint states of {len(self.shape)} "
            f"variables, about {self.size}; the limit is {format_count(as_float(self.max_cells))}."
        )


def as_float(count: int) -> float:
    """For forecasts and messages: counts beyond any machine are cut at 1e300."""
    return float(min(count, _LARGEST))
