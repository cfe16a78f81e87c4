"""Tree-reweighted belief propagation: an upper bound on ln Z of pairwise models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrfit._kernels.inference.spanning_forests import heaviest_forest
from mrfit._typing import Floats, Indices, Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.engine import Engine
from mrfit.inference.messages.beliefs import Beliefs, beliefs_from_messages, entropies, log_z_of, multi_information
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.messages.message_passing import MessagePassing, Schedule, check_settings
from mrfit.inference.messages.message_plan import MOST_CELLS, MessagePlan
from mrfit.inference.plan import Plan

_DAMPED = 0.5
_TREES = 20  # at least, in the first average; more until every edge is in one
_NOTHING = 1e-6  # nats that are not worth a remark
_SHORTEST = 1e-3  # step towards another tree; shorter ones gain nothing


@dataclass(frozen=True)
class TreeReweighted(Engine):
    """Tree-reweighted belief propagation: an upper bound on log Z of pairwise models.

    The bound is the least over convex combinations of spanning trees (Wainwright, Jaakkola and Willsky 2005).

    Parameters
    ----------
    damping : float, default 0.0
        Share of the old log-message in the first attempt to pass messages; 0.5 after a failure.
    tolerance : float, default 1e-09
        Largest change of a log-message in the last sweep.
    max_sweeps : int, default 5000
        Largest number of sweeps in each attempt. Weighted messages converge slowly.
    max_trees : int, default 50
        Number of steps towards further trees; 0 uses the average of random ones.
    gap : float, default 0.01
        Largest acceptable excess of the bound, in nats, over the bound at the best appearance probabilities.
    seed : int, default 0
        Random seed of the first trees.
    max_cells : int, default 134217728
        Largest number of cells of tables and messages.

    Raises
    ------
    MrfitError
        If ``max_trees`` or ``gap`` is negative. Planning refuses scopes of more than two variables.

    See Also
    --------
    MeanField : A lower bound, for scopes of any size.
    BeliefPropagation : An estimate without a bound.

    Notes
    -----
    Once messages have converged, the bound holds for any probabilities with which edges appear in a random spanning
    tree. These begin as the average of random trees. The conditional gradient method (Frank and Wolfe 1956) then moves
    them towards the tree with most mutual information between the ends of its edges. On a forest all are 1, and the
    bound is log Z.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.inference import TreeReweighted
    >>> pairs = [(pair, [1.0, 0.0, 0.0, 1.0]) for pair in [(0, 1), (1, 2), (0, 2)]]
    >>> loop = mrfit.Factors.from_tables((2, 2, 2), pairs)
    >>> engine = TreeReweighted()
    >>> posterior = engine.run(engine.plan(loop), loop)
    >>> round(posterior.log_z, 2), posterior.bound  # the true value is 4.03
    (4.1, 'upper')
    """

    damping: float = 0.0
    tolerance: float = 1e-9
    max_sweeps: int = 5000
    max_trees: int = 50
    gap: float = 1e-2
    seed: int = 0
    max_cells: int = MOST_CELLS

    word: ClassVar[str] = "trw"

    def __post_init__(self) -> None:
        check_settings(tolerance=self.tolerance, max_sweeps=self.max_sweeps, damping=self.damping)
        if self.max_trees < 0 or not self.gap >= 0.0:
            raise InputError(
                f"max_trees={self.max_trees} and gap={self.gap} are not valid; expected numbers of at least 0, such "
                "as 50 and 0.01."
            )

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> MessagePlan:
        why = "it bounds ln Z from above at the cost of messages"
        sweeps = 4.0 * (1 + self.max_trees)  # more of them than for belief propagation, at every step
        plan = MessagePlan.of(self.word, "Tree-reweighting", factors, why=why, max_cells=self.max_cells, sweeps=sweeps)
        if large := [host for host in plan.graph.hosts if len(host) > 2]:
            raise InputError(
                f"Scope {large[0]} has {len(large[0])} variables; tree-reweighting bounds ln Z for one or two. "
                "Use a model of pairs, another engine (mean-field bounds ln Z from below), or observe some of them."
            )
        plan.graph.check_targets(targets)
        return plan

    def _run(self, plan: Plan, factors: Factors) -> Beliefs:
        assert isinstance(plan, MessagePlan)
        plan.graph.check(factors)
        field, log_table, constant = plan.graph.gather(factors)
        problem = _ReweightedProblem(plan.graph, field, log_table, self._passing())
        point, slack = self._optimised(problem, problem.at(self._first(plan.graph)))
        exact = plan.graph.is_forest and point.converged
        return Beliefs(
            log_z=constant + point.value,
            exact=exact,
            error=0.0 if exact else None,
            remarks=() if exact else (_remark(point, slack),),
            bound="upper" if point.converged and not exact else None,
            value="exact" if exact else "tree-reweighted",
            converged=point.converged,
            n_sweeps=problem.n_sweeps,
            graph=plan.graph,
            single=point.single,
            joint=point.joint,
        )

    def _passing(self) -> MessagePassing:
        again = () if self.damping >= _DAMPED else (Schedule("sequential", _DAMPED),)
        return MessagePassing((Schedule("sequential", self.damping), *again), self.tolerance, self.max_sweeps)

    def _first(self, graph: FactorGraph) -> Floats:
        """Return the frequency of each edge in random trees. Later trees prefer edges that were in few."""
        rng, n = np.random.default_rng(self.seed), len(graph.shape)
        ends, n_edges = _ends(graph), len(graph.hosts)
        count, n_trees = np.zeros(n_edges), 0
        while n_edges and (n_trees < _TREES or count.min() == 0):
            count += heaviest_forest(n, ends, -count - 2.0 * rng.random(n_edges))
            n_trees += 1
        return count / max(n_trees, 1)

    def _optimised(self, problem: _ReweightedProblem, point: _Point) -> tuple[_Point, float]:
        """Step towards trees while they lower the bound; return the point and how much lower the bound could be."""
        curvature = None
        for _ in range(self.max_trees):
            toward, slack = problem.steepest(point)
            if not point.converged or slack <= self.gap:
                return point, slack
            step = 0.5 if curvature is None else min(0.5, slack / (2.0 * curvature))
            better = None
            while better is None and step >= _SHORTEST:
                trial = problem.at((1.0 - step) * point.weight + step * toward, point.message)
                if not trial.converged:
                    step /= 4.0
                    continue
                # Between two trees the bound is nearly a parabola with slope -slack: its minimum is the next step.
                curvature = max((trial.value - point.value + slack * step) / step**2, 1e-12)
                if trial.value < point.value:
                    better = trial
                step = min(slack / (2.0 * curvature), step / 2.0)
            if better is None:
                return point, slack
            point = better
        return point, problem.steepest(point)[1]


@dataclass(frozen=True)
class _Point:
    """The bound for given appearance probabilities; NaN where messages did not converge."""

    weight: Floats
    message: Floats
    value: float
    converged: bool
    single: Floats
    joint: Floats


@dataclass
class _ReweightedProblem:
    """The bound as a function of appearance probabilities: convex, with gradient minus the mutual informations."""

    graph: FactorGraph
    field: Floats
    log_table: Floats
    passing: MessagePassing
    n_sweeps: int = 0

    def at(self, weight: Floats, begin: Floats | None = None) -> _Point:
        potentials = self.graph.potentials(self.field, self.log_table, weight)
        passed = self.passing.run(self.graph, potentials, begin)
        self.n_sweeps += passed.n_sweeps
        single, joint = beliefs_from_messages(self.graph, potentials, passed.messages)
        value = log_z_of(self.graph, self.field, self.log_table, weight, single, joint) if passed.converged else np.nan
        return _Point(weight, passed.messages.message, value, passed.converged, single, joint)

    def steepest(self, point: _Point) -> tuple[Floats, float]:
        """Return the tree towards which the bound falls fastest, and the most that it can fall, by convexity."""
        information = multi_information(self.graph, entropies(self.graph, point.single), point.joint)
        tree = heaviest_forest(len(self.graph.shape), _ends(self.graph), information).astype(float)
        return tree, float(information @ (tree - point.weight))


def _ends(graph: FactorGraph) -> Indices:
    return graph.arrays.scope.reshape(-1, 2)


def _remark(point: _Point, slack: float) -> str:
    if not point.converged:
        return "Tree-reweighted messages did not converge, so there is no bound on ln Z; raise max_sweeps or damping."
    if slack < _NOTHING:
        return "log_z is an upper bound on ln Z (tree-reweighted), the least that edge appearance probabilities give."
    return (
        "log_z is an upper bound on ln Z (tree-reweighted); with other edge appearance probabilities it would be at "
        f"most {slack:.2g} lower."
    )
