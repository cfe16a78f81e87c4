"""Sum-product belief propagation: exact on forests, the Bethe approximation elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from mrfit._typing import Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.engine import Engine
from mrfit.inference.messages.beliefs import Beliefs, beliefs_from_messages, log_z_of
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.messages.message_passing import MessagePassing, Passed, Schedule, check_settings
from mrfit.inference.messages.message_plan import MOST_CELLS, MessagePlan
from mrfit.inference.plan import Plan

Word = Literal["auto", "sequential", "flooding", "residual"]
_DAMPING = 0.5  # after a failure: more only takes longer


@dataclass(frozen=True)
class BeliefPropagation(Engine):
    """Sum-product belief propagation: exact on forests, the Bethe approximation elsewhere.

    Messages pass between variables and tables until they converge (Kschischang, Frey and Loeliger 2001). They follow
    the factors as given: two tables over the same variables, or a pair inside a triple, make a loop.

    Parameters
    ----------
    schedule : {"auto", "sequential", "flooding", "residual"}, default "auto"
        ``sequential`` goes over the variables up and down in turn, ``flooding`` sends all messages at the same time,
        ``residual`` sends the message that has changed most. ``auto`` begins with the first, adds damping after a
        failure, and then takes the last.
    damping : float, default 0.0
        Share of the old log-message in a new one, at least 0 and below 1.
    tolerance : float, default 1e-09
        Largest change of a log-message in the last sweep. 0 makes ``max_sweeps`` sweeps unless nothing changes at all.
    max_sweeps : int, default 1000
        Limit for each attempt.
    max_cells : int, default 134217728
        Largest number of message cells that a plan may have.
    merge : bool, default False
        Whether to add each table to one whose scope contains its own before passing messages. The model is the same,
        with fewer loops, so that answers are often closer to the truth. They differ from those of other programs on the
        same factors.

    See Also
    --------
    TreeReweighted : An upper bound on log Z.
    MeanField : A lower bound on log Z.
    MaxProduct : The same messages for a most probable state.

    Notes
    -----
    With loops ``log_z`` is the Bethe value: an estimate without an error, which is no bound. Do not report it as part
    of a log-likelihood. If the messages do not converge, it is NaN.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.inference import BeliefPropagation
    >>> pairs = [((0, 1), [1.0, 0, 0, 1.0]), ((1, 2), [1.0, 0, 0, 1.0])]
    >>> chain = mrfit.Factors.from_tables((2, 2, 2), pairs)
    >>> engine = BeliefPropagation()
    >>> posterior = engine.run(engine.plan(chain), chain)
    >>> posterior.exact, round(posterior.log_z, 3)
    (True, 3.32)
    """

    schedule: Word = "auto"
    damping: float = 0.0
    tolerance: float = 1e-9
    max_sweeps: int = 1000
    max_cells: int = MOST_CELLS
    merge: bool = False

    word: ClassVar[str] = "bp"

    def __post_init__(self) -> None:
        check_settings(tolerance=self.tolerance, max_sweeps=self.max_sweeps, damping=self.damping)
        schedules(self.schedule, self.damping)

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> MessagePlan:
        why = "messages cost no more than the tables themselves; they are exact where the tables form a forest"
        plan = MessagePlan.of(
            self.word,
            "Belief propagation",
            factors,
            why=why,
            max_cells=self.max_cells,
            sweeps=1.0,
            merge=self.merge,
        )
        plan.graph.check_targets(targets)
        return plan

    def _run(self, plan: Plan, factors: Factors) -> Beliefs:
        assert isinstance(plan, MessagePlan)
        graph = plan.graph
        graph.check(factors)
        field, log_table, constant = graph.gather(factors)
        weight = np.ones(len(graph.hosts))
        potentials = graph.potentials(field, log_table, weight)
        passing = MessagePassing(schedules(self.schedule, self.damping), self.tolerance, self.max_sweeps)
        passed = passing.run(graph, potentials)
        single, joint = beliefs_from_messages(graph, potentials, passed.messages)
        log_z = constant + log_z_of(graph, field, log_table, weight, single, joint) if passed.converged else np.nan
        exact = graph.is_forest and passed.converged
        return Beliefs(
            log_z=log_z,
            exact=exact,
            error=0.0 if exact else None,
            remarks=() if exact else (_remark(passed, self), *_remarks_on_merging(graph)),
            bound=None,
            value="exact" if exact else "Bethe",
            converged=passed.converged,
            n_sweeps=passed.n_sweeps,
            graph=graph,
            single=single,
            joint=joint,
        )


def schedules(word: Word, damping: float) -> tuple[Schedule, ...]:
    """Return the schedules to try in turn."""
    match word:
        case "auto":
            damped = max(damping, _DAMPING)
            begun = Schedule("sequential", damping)
            again = () if damping >= _DAMPING else (Schedule("sequential", damped),)
            return (begun, *again, Schedule("residual", damped))
        case "sequential" | "flooding" | "residual":
            return (Schedule(word, damping),)
    raise InputError(f"schedule={word!r} is not valid; expected 'auto', 'sequential', 'flooding' or 'residual'.")


def _remark(passed: Passed, engine: BeliefPropagation) -> str:
    if not passed.converged:
        return (
            f"Belief propagation did not converge in {passed.n_sweeps:,} sweeps (last: {passed.schedule}), so there "
            "is no Bethe value of ln Z, and its marginals may be far off."
        )
    how = "" if passed.schedule.damping == engine.damping else f" It converged only so: {passed.schedule}."
    return f"log_z is the Bethe value of a graph with loops: neither ln Z nor a bound on it.{how}"


def _remarks_on_merging(graph: FactorGraph) -> tuple[str, ...]:
    if graph.n_merged:
        tables = "table was" if graph.n_merged == 1 else "tables were"
        return (f"{graph.n_merged:,} {tables} merged into others: these are not the messages of the factors as given.",)
    if not graph.merge and FactorGraph(graph.shape, graph.scopes).is_forest:
        return ("Tables inside other tables make all the loops: BeliefPropagation(merge=True) is exact here.",)
    return ()
