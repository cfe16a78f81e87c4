"""Plans of message passing: its graph, memory and time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mrfit.core.factors import Factors
from mrfit.core.rounding import format_count
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.plan import Plan, as_float

MOST_CELLS = 2**27  # of messages: three numbers of 8 bytes each, 3 GB
_SWEEPS = 50  # that a forecast expects, from learned networks
_MESSAGE_CELL = 2.5e-8  # seconds for an exponential, a logarithm and their surroundings
_TABLE_CELL = 1.5e-9  # seconds, once for each variable of the scope
_OVERHEAD = 3e-4  # seconds to gather tables and to compute beliefs


@dataclass(frozen=True)
class MessagePlan(Plan):
    """The graph along which messages are passed; its cells are those of all messages to variables."""

    graph: FactorGraph

    @classmethod
    def of(
        cls,
        engine: str,
        task: str,
        factors: Factors,
        *,
        why: str,
        max_cells: int,
        sweeps: float,
        merge: bool = True,
    ) -> MessagePlan:
        """Plan an engine that makes ``sweeps`` times as many sweeps as belief propagation on a learned network."""
        graph = FactorGraph(factors.shape, factors.scopes, merge)
        n_cells, n_table_cells = graph.n_message_cells, graph.n_table_cells
        passes = max(map(len, graph.hosts), default=0) * n_table_cells
        seconds = _MESSAGE_CELL * as_float(n_cells) + _TABLE_CELL * as_float(passes)
        return cls(
            engine=engine,
            shape=factors.shape,
            task=task,
            n_cells=n_cells,
            max_cells=max_cells,
            n_bytes=8 * (3 * n_cells + 3 * n_table_cells + 3 * sum(factors.shape)),
            forecast=_OVERHEAD + _SWEEPS * sweeps * seconds,
            why=why,
            suggestion="Observe some of the variables, use fewer, or raise max_cells.",
            graph=graph,
        )

    def figures(self, names: Sequence[str] | None = None) -> str:
        return (
            f"{self.task} holds messages of {format_count(as_float(self.n_cells))} cells between {len(self.shape)} "
            f"variables and their tables, about {self.size}; the limit is {format_count(as_float(self.max_cells))}."
        )
