"""The cost of a computation, known before anything is allocated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrfit.core.errors import InputError
from mrfit.core.rounding import format_count, format_size

_LARGEST = 10**300  # near the largest float, and beyond any machine


@dataclass(frozen=True)
class Plan:
    """The work of an engine on factors of a shape, independent of the values in their tables.

    A plan is a value: it serves every run on factors with the same scopes. An engine with further settings, such as
    an order of elimination, extends this class.
    """

    engine: str
    shape: tuple[int, ...]
    task: str  # the computation, as the subject of a sentence
    n_cells: int  # exact, however large
    max_cells: int
    n_bytes: int
    forecast: float  # seconds
    why: str  # the reason for this engine
    suggestion: str  # the advice if the plan is refused

    @property
    def fits(self) -> bool:
        return self.n_cells <= self.max_cells

    @property
    def size(self) -> str:
        """The memory of a run, with a unit."""
        return format_size(as_float(self.n_bytes))

    def check(self, names: Sequence[str] | None = None) -> None:
        """Refuse more cells than the limit, with the figures and what to do; ``names`` are those of variables."""
        if not self.fits:
            raise InputError(f"{self.figures(names)} {self.suggestion}")

    def figures(self, names: Sequence[str] | None = None) -> str:
        """Return the cost of the plan in a sentence."""
        return (
            f"{self.task} goes over all {format_count(as_float(self.n_cells))} joint states of {len(self.shape)} "
            f"variables, about {self.size}; the limit is {format_count(as_float(self.max_cells))}."
        )


def as_float(count: int) -> float:
    """Return a count as a float for forecasts and messages; counts beyond 1e300 are cut there."""
    return float(min(count, _LARGEST))
