"""The points at which models are fitted, and the optimum at each of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from mrfit.learning.backend import Backend
from mrfit.learning.tying.soft_tying import TyingRecord
from mrfit.parameterizations.groups import Groups
from mrfit.solvers.solution import Record, Solution

# Told the strength and every step of a fit; may return True to stop that fit.
Callback = Callable[[float, Record | TyingRecord], bool | None]


@dataclass(frozen=True)
class Grid:
    """Every strength, with every number of groups where parameters are tied.

    It is settled once, on all rows; folds walk the same one. ``is_path`` says that it leads from the strongest penalty
    that matters down and may be left where held-out rows are predicted no better.
    """

    strengths: tuple[float, ...]
    groups: tuple[int, ...] = ()
    is_path: bool = False

    def __len__(self) -> int:
        return len(self.strengths) * max(1, len(self.groups))


@dataclass(frozen=True)
class Optimum:
    """The optimum at one point of the grid. ``passes`` over the data include what led from the last point to it.

    ``score`` is the mean of what was maximised over the rows it was learned from, without the penalty: minus the value
    of the objective, evaluated at the solution. Penalties are not subtracted from ``solution.value``, whose scale only
    the solver knows.
    """

    strength: float
    solution: Solution
    score: float
    passes: int
    seconds: float
    n_groups: int | None = None
    groups: Groups | None = None
    rounds: tuple[TyingRecord, ...] = ()
    coordinates: Backend | None = None  # where they are not those of the problem
    log_z_error: float | None = None  # standard error of log Z, where it is estimated
    learning_error: float | None = None  # nats a row that chains have left to go
