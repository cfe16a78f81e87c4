"""Max-product belief propagation: a most probable joint state on forests, a good one elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrfit._kernels.inference.decoding import decode
from mrfit._typing import Indices, Scope
from mrfit.core.factors import Factors
from mrfit.inference.engine import Engine
from mrfit.inference.messages.belief_propagation import Word, schedules
from mrfit.inference.messages.beliefs import Beliefs, beliefs_from_messages
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.messages.message_passing import MessagePassing, check_settings
from mrfit.inference.messages.message_plan import MOST_CELLS, MessagePlan
from mrfit.inference.plan import Plan


@dataclass(frozen=True, eq=False, kw_only=True)
class MaxBeliefs(Beliefs):
    """Max-marginals, scaled to a sum of 1, in place of marginals; and one joint state.

    ``state`` has one code for each variable. ``score`` is the sum of the tables there (its log-probability plus log Z),
    or minus infinity if it contains an impossible cell. If ``exact``, no joint state has a larger score.
    """

    state: Indices
    score: float


@dataclass(frozen=True)
class MaxProduct(Engine):
    """Max-product belief propagation: a most probable joint state on forests, a good one elsewhere.

    A state is decoded from the messages, variable after variable given those before, and then improved one variable at
    a time.

    Parameters
    ----------
    schedule : {"auto", "sequential", "flooding", "residual"}, default "auto"
        Order in which messages are sent, as in `BeliefPropagation`.
    damping : float, default 0.0
        Share of the old log-message in a new one. Messages that oscillate need it.
    tolerance : float, default 1e-09
        Largest change of a message in the last sweep.
    max_sweeps : int, default 1000
        Largest number of sweeps in each attempt, and of improvements of the decoded state.
    max_cells : int, default 134217728
        Largest number of message cells.

    See Also
    --------
    mrfit.MarkovNetwork.map : Most probable states by names; it tries exact engines first.
    BeliefPropagation : The same with sums, for marginals.

    Notes
    -----
    On a forest the state is a most probable one, ties included; with loops it is a guess. ``log_z`` is NaN.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.inference import MaxProduct
    >>> tables = [((0,), [0.0, 0.5]), ((0, 1), [1.0, 0, 0, 1.0])]
    >>> chain = mrfit.Factors.from_tables((2, 2), tables)
    >>> engine = MaxProduct()
    >>> found = engine.run(engine.plan(chain), chain)
    >>> found.state, found.score, found.exact
    (array([1, 1]), 1.5, True)
    """

    schedule: Word = "auto"
    damping: float = 0.0
    tolerance: float = 1e-9
    max_sweeps: int = 1000
    max_cells: int = MOST_CELLS

    word: ClassVar[str] = "max-product"
    answers_marginals: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_settings(tolerance=self.tolerance, max_sweeps=self.max_sweeps, damping=self.damping)
        schedules(self.schedule, self.damping)

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> MessagePlan:
        why = "it finds a most probable state of a forest, and a good one elsewhere, at the cost of messages"
        plan = MessagePlan.of(self.word, "Max-product", factors, why=why, max_cells=self.max_cells, sweeps=1.0)
        plan.graph.check_targets(targets)
        return plan

    def _run(self, plan: Plan, factors: Factors) -> MaxBeliefs:
        assert isinstance(plan, MessagePlan)
        graph = plan.graph
        graph.check(factors)
        field, log_table, _ = graph.gather(factors)
        potentials = graph.potentials(field, log_table, np.ones(len(graph.hosts)))
        attempts = schedules(self.schedule, self.damping)
        passed = MessagePassing(attempts, self.tolerance, self.max_sweeps, maximise=True).run(graph, potentials)
        single, joint = beliefs_from_messages(graph, potentials, passed.messages)
        order = _breadth_first(graph)
        state = decode(graph.arrays, field, log_table, passed.messages.log_cavity, order, self.max_sweeps)
        score = float(factors.log_potential(state[None, :])[0])
        exact = graph.is_forest and passed.converged
        return MaxBeliefs(
            log_z=np.nan,
            exact=exact,
            error=None,
            remarks=_remarks(exact, passed.converged, score),
            bound=None,
            value="max-product",
            converged=passed.converged,
            n_sweeps=passed.n_sweeps,
            graph=graph,
            single=single,
            joint=joint,
            state=state,
            score=score,
        )


def _breadth_first(graph: FactorGraph) -> Indices:
    """Return all variables, breadth first: each shares a table with an earlier one wherever possible."""
    arrays, seen, order = graph.arrays, np.zeros(len(graph.shape), bool), list[int]()
    for root in range(len(graph.shape)):
        if seen[root]:
            continue
        seen[root], at = True, len(order)
        order.append(root)
        while at < len(order):
            i, at = order[at], at + 1
            for e in arrays.edges[arrays.edge_start[i] : arrays.edge_start[i + 1]]:
                for j in graph.hosts[arrays.factor[e]]:
                    if not seen[j]:
                        seen[j] = True
                        order.append(j)
    return np.array(order, np.int64)


def _remarks(exact: bool, converged: bool, score: float) -> tuple[str, ...]:
    if exact:
        return ()
    arrived = "converged on a graph with loops" if converged else "did not converge"
    guess = f"Max-product {arrived}: the state is a guess, and there may be more probable ones."
    return (guess,) if score > -np.inf else (guess, "It is an impossible one.")
