"""Message passing until convergence: one schedule after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from mrfit._kernels.inference.messages import Messages, Potentials, pass_by_residual, pass_in_sweeps, start
from mrfit._kernels.inference.ratio_messages import LARGEST, pass_ratios
from mrfit._typing import Floats
from mrfit.core.errors import ImpossibleError, InputError
from mrfit.inference.messages.factor_graph import FactorGraph

Order = Literal["sequential", "flooding", "residual"]


@dataclass(frozen=True)
class Schedule:
    """The order in which messages are sent, and the share of the old message in a new one."""

    order: Order
    damping: float = 0.0

    def __str__(self) -> str:
        return f"{self.order}, damping {self.damping:g}" if self.damping else self.order


@dataclass(frozen=True)
class Passed:
    """The messages at the end of a run, and whether they converged."""

    messages: Messages
    schedule: Schedule  # of the last attempt
    converged: bool
    n_sweeps: int  # of all attempts


@dataclass(frozen=True)
class MessagePassing:
    """Schedules that are tried in turn, each from the same start, until one converges.

    ``tolerance`` is on logarithms of messages, ``max_sweeps`` for each attempt.
    """

    schedules: tuple[Schedule, ...]
    tolerance: float
    max_sweeps: int
    maximise: bool = False

    def run(self, graph: FactorGraph, potentials: Potentials, begin: Floats | None = None) -> Passed:
        """Pass messages from ``begin``, or from uniform ones."""
        ratios = None if self.maximise else _Ratios.of(graph, potentials)
        n_sweeps = 0
        for schedule in self.schedules:
            messages = _messages(graph, begin)
            if ratios is not None and schedule.order == "sequential":
                made, converged = self._pass_ratios(ratios, graph, potentials, messages, schedule)
            else:
                made, converged = self._pass(graph, potentials, messages, schedule)
            n_sweeps += made
            if converged:
                break
        return Passed(messages, schedule, converged, n_sweeps)

    def _pass(
        self, graph: FactorGraph, potentials: Potentials, messages: Messages, schedule: Schedule
    ) -> tuple[int, bool]:
        settings = (schedule.damping, self.maximise, self.tolerance, self.max_sweeps)
        if schedule.order == "residual":
            made, converged, possible = pass_by_residual(graph.arrays, potentials, messages, *settings)
        else:
            flooding = schedule.order == "flooding"
            made, converged, possible = pass_in_sweeps(graph.arrays, potentials, messages, flooding, *settings)
        if not possible:
            raise ImpossibleError
        return made, converged

    def _pass_ratios(
        self, ratios: _Ratios, graph: FactorGraph, potentials: Potentials, messages: Messages, schedule: Schedule
    ) -> tuple[int, bool]:
        made, converged = ratios.run(graph, messages.message, schedule.damping, self.tolerance, self.max_sweeps)
        start(graph.arrays, potentials, messages)
        return made, converged


@dataclass(frozen=True)
class _Ratios:
    """A pairwise graph of binary variables without impossible states: one log-ratio represents a message.

    A message to a variable is the log odds r of its two states. It is a constant ``shift`` plus a function of the
    coupling and of the log odds of the other variable. Kernels work with r - shift, and the shifts are added to the
    fields once.
    """

    field: Floats  # of each variable: its log odds, with the shifts of all its messages
    coupling: Floats  # of each edge: the log odds ratio of its table
    shift: Floats  # of each message: its constant part, which the field contains
    weight: Floats

    @classmethod
    def of(cls, graph: FactorGraph, potentials: Potentials) -> _Ratios | None:
        """Return the log-ratios of a graph; None for other graphs, and for couplings whose exponentials overflow."""
        arrays = graph.arrays
        if (np.diff(arrays.scope_start) != 2).any() or (arrays.sizes != 2).any() or not len(arrays.scope):
            return None
        t = potentials.log_table.reshape(-1, 2, 2)
        linked = np.diff(arrays.edge_start) > 0
        first = arrays.field_start[:-1][linked]
        field = np.zeros(len(arrays.states))
        with np.errstate(invalid="ignore"):  # impossible states give NaN or infinity, which the check below sees
            field[linked] = potentials.field[first + 1] - potentials.field[first]
            coupling = t[:, 0, 0] + t[:, 1, 1] - t[:, 0, 1] - t[:, 1, 0]
            shift = np.stack([t[:, 1, 0] - t[:, 0, 0], t[:, 0, 1] - t[:, 0, 0]], axis=1).ravel()
        if not (np.isfinite(field).all() and np.isfinite(shift).all() and (np.abs(coupling) < LARGEST).all()):
            return None
        np.add.at(field, arrays.scope, np.repeat(potentials.weight, 2) * shift)
        return cls(field, coupling, shift, potentials.weight)

    def run(
        self, graph: FactorGraph, message: Floats, damping: float, tolerance: float, max_sweeps: int
    ) -> tuple[int, bool]:
        """Update the messages, which are given and returned as logarithms of both states."""
        arrays, pairs = graph.arrays, message.reshape(-1, 2)
        ratio = pairs[:, 1] - pairs[:, 0] - self.shift
        settings = (damping, tolerance, max_sweeps)
        made, converged = pass_ratios(
            self.field, arrays.edge_start, arrays.edges, self.coupling, self.weight, ratio, *settings
        )
        ratio += self.shift
        pairs[:, 0], pairs[:, 1] = np.minimum(-ratio, 0.0), np.minimum(ratio, 0.0)
        return made, converged


def _messages(graph: FactorGraph, begin: Floats | None) -> Messages:
    arrays = graph.arrays
    n_cells = int(arrays.message_start[-1])
    return Messages(
        message=np.zeros(n_cells) if begin is None else begin.copy(),
        log_cavity=np.zeros(n_cells),
        cavity=np.ones(n_cells),
        lowest=np.zeros(len(arrays.scope)),
        total=np.zeros(int(arrays.field_start[-1])),
    )


def check_settings(*, tolerance: float, max_sweeps: int, damping: float = 0.0) -> None:
    """Refuse settings with which no iteration can run."""
    if not tolerance >= 0.0:
        raise InputError(f"tolerance={tolerance} is not valid; expected a number of at least 0, such as 1e-9.")
    if max_sweeps < 1:
        raise InputError(f"max_sweeps={max_sweeps} is not valid; expected at least 1.")
    if not 0.0 <= damping < 1.0:
        raise InputError(f"damping={damping} is not valid; expected at least 0 and less than 1, such as 0.5.")
