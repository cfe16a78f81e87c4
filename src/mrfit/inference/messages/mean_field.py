"""Mean field: the best product of independent variables, which gives a lower bound on ln Z."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from math import prod
from typing import ClassVar

import numpy as np

from mrfit._kernels.inference.messages import Messages
from mrfit._kernels.inference.product_states import ascend
from mrfit._typing import Floats, Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors, check_scopes
from mrfit.inference.engine import Engine
from mrfit.inference.messages.beliefs import Approximation, beliefs_from_messages, log_z_of, segment_sums
from mrfit.inference.messages.factor_graph import FactorGraph
from mrfit.inference.messages.message_passing import check_settings
from mrfit.inference.messages.message_plan import MOST_CELLS, MessagePlan
from mrfit.inference.plan import Plan

_FURTHER = 10  # starts to add where none has reached a possible state


@dataclass(frozen=True, eq=False, kw_only=True)
class ProductBeliefs(Approximation):
    """Marginals of independent variables; those of any scope are their product."""

    shape: tuple[int, ...] = field(repr=False)
    single: tuple[Floats, ...] = field(repr=False)

    def marginal(self, scope: Scope) -> Floats:
        check_scopes(self.shape, (scope,))
        if prod(self.shape[i] for i in scope) > MOST_CELLS:
            raise InputError(
                f"A marginal of {len(scope)} variables has too many cells; ask for fewer of them at a time."
            )
        return reduce(lambda p, i: np.outer(p, self.single[i]).ravel(), scope, np.ones(1))


@dataclass(frozen=True)
class MeanField(Engine):
    """Mean field: the best product of independent variables, which gives a lower bound on log Z.

    Coordinate ascent maximizes E[log-potential] + entropy over products of single-variable distributions. It has
    several maxima: the first start is uniform, further starts are random, and each goes over the variables in their
    order. Impossible cells are avoided as the limit of ever larger losses.

    Parameters
    ----------
    tolerance : float, default 1e-09
        Largest change of a probability in the last sweep.
    max_sweeps : int, default 1000
        Largest number of sweeps from each start.
    n_starts : int, default 1
        Number of starts. The best one answers.
    seed : int, default 0
        Random seed of the starts after the first.
    max_cells : int, default 134217728
        Largest number of table cells that a plan may have.

    See Also
    --------
    TreeReweighted : An upper bound on log Z.
    BeliefPropagation : An estimate of log Z, mostly closer.

    Notes
    -----
    ``log_z`` is a lower bound at any stage of the ascent. Marginals are those of the product, and tend to be too
    certain.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.inference import MeanField
    >>> factors = mrfit.Factors.from_tables((2, 2), [((0, 1), [1.0, 0.0, 0.0, 1.0])])
    >>> engine = MeanField()
    >>> posterior = engine.run(engine.plan(factors), factors)
    >>> round(posterior.log_z, 3), posterior.bound  # the true value is 2.006
    (1.886, 'lower')
    """

    tolerance: float = 1e-9
    max_sweeps: int = 1000
    n_starts: int = 1
    seed: int = 0
    max_cells: int = MOST_CELLS

    word: ClassVar[str] = "mean-field"

    def __post_init__(self) -> None:
        check_settings(tolerance=self.tolerance, max_sweeps=self.max_sweeps)
        if self.n_starts < 1:
            raise InputError(f"n_starts={self.n_starts} is not valid; expected at least 1.")

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> MessagePlan:
        check_scopes(factors.shape, targets)
        why = "it bounds ln Z from below for any scopes, at the cost of messages"
        sweeps = float(self.n_starts)
        return MessagePlan.of(self.word, "Mean field", factors, why=why, max_cells=self.max_cells, sweeps=sweeps)

    def _run(self, plan: Plan, factors: Factors) -> ProductBeliefs:
        assert isinstance(plan, MessagePlan)
        plan.graph.check(factors)
        field, log_table, constant = plan.graph.gather(factors)
        problem = _MeanFieldProblem(plan.graph, field, log_table)
        rng = np.random.default_rng(self.seed)
        best = problem.ascend(problem.uniform(), self)
        n_sweeps, n_starts = best.n_sweeps, 1
        while n_starts < self.n_starts or (best.bound == -np.inf and n_starts < self.n_starts + _FURTHER):
            other = problem.ascend(problem.random(rng), self)
            best = max(best, other, key=lambda found: found.bound)
            n_sweeps, n_starts = n_sweeps + other.n_sweeps, n_starts + 1
        exact = not plan.graph.hosts
        possible = best.bound > -np.inf
        starts = plan.graph.arrays.field_start[1:-1]
        return ProductBeliefs(
            log_z=constant + best.bound if possible else np.nan,
            exact=exact,
            error=0.0 if exact else None,
            remarks=() if exact else _remarks(best, n_starts),
            bound="lower" if possible and not exact else None,
            value="exact" if exact else "mean-field",
            converged=best.converged,
            n_sweeps=n_sweeps,
            shape=plan.shape,
            single=tuple(np.split(best.p, starts)) if plan.shape else (),
        )


@dataclass(frozen=True)
class _Ascent:
    p: Floats
    bound: float  # minus infinity where p gives weight to an impossible cell
    converged: bool
    n_sweeps: int


class _MeanFieldProblem:
    """Log-tables, with their impossible cells stored separately."""

    def __init__(self, graph: FactorGraph, field: Floats, log_table: Floats) -> None:
        self.graph, self.field = graph, field
        zeros = np.isneginf(log_table)
        self.finite = np.where(zeros, 0.0, log_table)
        self.impossible = zeros.astype(float) if zeros.any() else np.empty(0)

    def uniform(self) -> Floats:
        states = self.graph.arrays.states
        return np.repeat(1.0 / states, states)

    def random(self, rng: np.random.Generator) -> Floats:
        """Draw distributions uniformly from the simplex: scaled exponential numbers."""
        starts = self.graph.arrays.field_start
        p = rng.standard_exponential(int(starts[-1]))
        return p / np.repeat(segment_sums(p, starts), np.diff(starts))

    def ascend(self, p: Floats, engine: MeanField) -> _Ascent:
        settings = (engine.tolerance, engine.max_sweeps)
        n_sweeps, converged = ascend(self.graph.arrays, self.field, self.finite, self.impossible, p, *settings)
        return _Ascent(p, self._bound(p), converged, n_sweeps)

    def _bound(self, p: Floats) -> float:
        joint = self._joint(p)
        if len(self.impossible) and joint @ self.impossible > 0.0:
            return -np.inf
        return log_z_of(self.graph, self.field, self.finite, np.zeros(len(self.graph.hosts)), p, joint)

    def _joint(self, p: Floats) -> Floats:
        """Return the product distributions of the hosts: beliefs of constant tables whose cavities are all p."""
        arrays, zeros = self.graph.arrays, np.zeros(len(self.finite))
        positions = np.repeat(arrays.field_start[arrays.scope] - arrays.message_start[:-1], arrays.sizes)
        with np.errstate(divide="ignore"):
            log_p = np.log(p)
            sent = log_p[positions + np.arange(len(positions))]
        messages = Messages(sent, sent, sent, np.zeros(len(arrays.scope)), log_p)
        constant = self.graph.potentials(self.field, zeros, np.ones(len(self.graph.hosts)))
        return beliefs_from_messages(self.graph, constant, messages)[1]


def _remarks(best: _Ascent, n_starts: int) -> tuple[str, ...]:
    if best.bound == -np.inf:
        return (
            f"Mean field met impossible joint states from all of {n_starts} starts, so there is no bound on ln Z; "
            "raise n_starts, or take another engine.",
        )
    rest = () if best.converged else ("Mean field did not come to rest: more sweeps would raise the bound.",)
    return ("log_z is a lower bound on ln Z (mean field).", *rest)
