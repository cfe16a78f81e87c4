"""What sampling will take."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit.core.factors import Factors
from mrfit.core.rounding import format_count
from mrfit.inference.plan import Plan, as_float

MOST_CELLS = 2**31  # states that are kept: 2 GB, for variables of up to 256 states
DRAW_SECONDS = 5e-5  # to keep one draw of all chains, beside its sweeps
_PAIR = 2.5e-10  # for a chain and a variable in a scope, of at most two of two states
_CELL = 1.3e-9  # for a chain and a state of a variable in a scope, else


@dataclass(frozen=True)
class SamplingPlan(Plan):
    """Cells are states of variables that are kept, not joint states: any number of variables fits."""

    def figures(self, names: Sequence[str] | None = None) -> str:
        return (
            f"{self.task} keeps {format_count(as_float(self.n_cells))} states of {len(self.shape)} variables, about "
            f"{self.size}; the limit is {format_count(as_float(self.max_cells))}."
        )


def sweep_seconds(factors: Factors, chains: int) -> float:
    """Of one sweep of all chains."""
    full = -(-chains // LANES) * LANES
    if max(factors.shape, default=1) <= 2 and max(map(len, factors.scopes), default=0) <= 2:
        return _PAIR * full * (factors.n_variables + sum(map(len, factors.scopes)))
    return _CELL * full * as_float(sum(factors.shape[i] for scope in factors.scopes for i in scope))
