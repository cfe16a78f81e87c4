"""Limits on the work of a check, in sizes rather than seconds: every machine takes the same decisions."""

from __future__ import annotations

from dataclasses import dataclass

from mrfit.analysis.goodness.row_moments import States
from mrfit.analysis.goodness.sampled_moments import DRAWS
from mrfit.analysis.goodness.triples import MOST_TRIPLES
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.exact import junction_tree
from mrfit.inference.sampling.sampling_plan import sweep_seconds

SECONDS = 10.0  # for a check that somebody asks for

_CELL = 2.2e-8  # seconds for a cell of cliques: there and back, and there again for rows
_STATE = 2e-7  # for a state of a row that is drawn
_LEAST_ROWS, _MOST_ROWS = 1024, 16384
_SHORT, _FEW_CHAINS, _CHAINS = 1.0, 64, 256  # from each base; few in less than a second
_MANY_STATES = 800  # of all variables: counting pairs in every chain takes longer than running them
_LEAST_TEMPERATURES, _MOST_TEMPERATURES = 250, 20_000
_TRIPLES = 2e9  # rows times triples of states a second
_RUNS = 2.5  # two bases, and rows of chains


@dataclass(frozen=True)
class Budget:
    """Seconds turned into cells of a junction tree, rows to draw, and temperatures.

    Nothing is measured: the same seconds give the same numbers again.
    """

    max_cells: int
    n_rows: int
    n_chains: int
    max_temperatures: int
    triple_work: float = 0.0

    def allows_triples(self, states: States, n_distinct: int) -> bool:
        """Whether all triples of states can be counted, in the data's distinct rows and in the model's."""
        n_rows = n_distinct + max(self.n_rows, 2 * self.n_chains * DRAWS)
        return states.n_triples <= MOST_TRIPLES and n_rows * float(states.first_indicator[-1]) ** 3 <= self.triple_work

    @classmethod
    def of(cls, seconds: float, factors: Factors) -> Budget:
        if not 0.0 < seconds < float("inf"):
            raise InputError(f"A check was given {seconds} seconds; expected a positive number, such as {SECONDS:g}.")
        n_rows = int(0.5 * seconds / (_STATE * max(factors.n_variables, 1)))
        few = seconds < _SHORT or sum(factors.shape) > _MANY_STATES
        n_chains = _FEW_CHAINS if few else _CHAINS
        temperatures = int(seconds / (_RUNS * max(sweep_seconds(factors, n_chains), 1e-9)))
        return cls(
            max_cells=min(int(seconds / _CELL), junction_tree.MOST_CELLS),
            n_rows=max(_LEAST_ROWS, min(n_rows, _MOST_ROWS)),
            n_chains=n_chains,
            max_temperatures=max(_LEAST_TEMPERATURES, min(temperatures, _MOST_TEMPERATURES)),
            triple_work=_TRIPLES * seconds,
        )
