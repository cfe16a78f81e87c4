"""Plans of sampling: memory for states, and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit.core.factors import Factors
from mrfit.core.rounding import format_count
from mrfit.inference.plan import Plan, as_float

MOST_CELLS = 2**31  # recorded states: 2 GB, for variables of up to 256 states
DRAW_SECONDS = 5e-5  # to record one draw of all chains, beside its sweeps
_PAIR = 2.5e-10  # seconds for a chain and a variable in a scope, if all scopes are at most pairs of binary variables
_CELL = 1.3e-9  # seconds for a chain and a state of a variable in a scope, otherwise


@dataclass(frozen=True)
class SamplingPlan(Plan):
    """A plan whose cells are recorded states of variables, not joint states: any number of variables fits."""

    def figures(self, names: Sequence[str] | None = None) -> str:
        return (
            f"{self.task} keeps {format_count(as_float(self.n_cells))} states of {len(self.shape)} variables, about "
            f"{self.size}; the limit is {format_count(as_float(self.max_cells))}."
        )


def sweep_seconds(factors: Factors, chains: int) -> float:
    """Return the seconds of one sweep of all chains."""
    full = -(-chains // LANES) * LANES
    if max(factors.shape, default=1) <= 2 and max(map(len, factors.scopes), default=0) <= 2:
        return _PAIR * full * (factors.n_variables + sum(map(len, factors.scopes)))
    return _CELL * full * as_float(sum(factors.shape[i] for scope in factors.scopes for i in scope))
