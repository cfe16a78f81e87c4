"""Exact inference by variable elimination and its derivative: the two passes of a junction tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np

from mrfit._kernels.inference.backtrack import draw, trace_best
from mrfit._kernels.inference.contraction import leaf_marginals
from mrfit._kernels.inference.log_contraction import log_backward, log_forward
from mrfit._kernels.inference.max_contraction import max_forward
from mrfit._kernels.inference.tree_nodes import TreeNodes
from mrfit._typing import Floats, Indices, Scope
from mrfit.core.errors import ImpossibleError, InputError
from mrfit.core.factors import Factors, check_scopes
from mrfit.core.seeds import check_seed
from mrfit.core.threads import deal, run
from mrfit.inference.engine import Engine, Posterior
from mrfit.inference.exact.machine_speed import speed_factor
from mrfit.inference.exact.tree_passes import Between, backward_pass, forward_pass
from mrfit.inference.exact.tree_plan import TreePlan, plan_tree
from mrfit.inference.exact.width_bound import is_too_wide
from mrfit.inference.plan import Plan

MOST_CELLS = 2**32  # of all cliques: half a minute
MOST_BYTES = 6 * 2**30
_WORTH_MEASURING = 10_000_000  # cells; larger plans (a tenth of a second and more) are forecast for this machine
SAFE = 1e-100  # scaled numbers lose nothing if all largest values exceed this: a product of three is representable


@dataclass(frozen=True)
class JunctionTree(Engine):
    """Exact inference by variable elimination (junction tree): for any scopes, at a cost set by the largest clique.

    The order of elimination decides the cost. The engine takes the best of a pool of orders, and spends about as long
    on the search as it saves. Tables are scaled by their largest values. Where that could underflow, the run is
    repeated in logarithms.

    Parameters
    ----------
    max_cells : int, default 4294967296
        Largest number of cells of all cliques, by default 2^32: about half a minute.
    max_bytes : int, default 6442450944
        Largest memory of a run, by default 6 GiB.
    seed : int, default 0
        Random seed of the orders in the pool.
    effort : float, default 1.0
        Time to spend on the search for an order, in forecast runs.
    merge : bool, default True
        Whether to eliminate variables together where that costs nothing. Sampling needs single variables, and turns it
        off.
    jobs : int, default 1
        Number of threads; a second one helps with large cliques. Results may differ in the last bits.
    between : callable, default None
        Function to call between pieces of a run and of its marginals. An exception that it raises ends them.

    See Also
    --------
    Enumeration : Exact inference for few joint states.
    BeliefPropagation : Messages, where cliques are too large.
    mrfit.MarkovNetwork.with_plan : Store an order with a model.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.inference import JunctionTree
    >>> pairs = [((0, 1), [1.0, 0, 0, 1.0]), ((1, 2), [1.0, 0, 0, 1.0])]
    >>> chain = mrfit.Factors.from_tables((2, 2, 2), pairs)
    >>> engine = JunctionTree()
    >>> plan = engine.plan(chain)
    >>> round(engine.run(plan, chain).log_z, 3)
    3.32
    >>> codes, log_potential = engine.best(plan, chain)
    >>> log_potential
    2.0
    """

    max_cells: int = MOST_CELLS
    max_bytes: int = MOST_BYTES
    seed: int = 0
    effort: float = 1.0
    merge: bool = True
    jobs: int = 1
    between: Between | None = None

    word: ClassVar[str] = "tree"
    is_exact: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_seed(self.seed)

    def plan(self, factors: Factors, targets: Sequence[Scope] = (), *, order: Sequence[int] | None = None) -> TreePlan:
        """Forecast the cost of a run, by a search for a good order of elimination.

        Parameters
        ----------
        factors : Factors
            Distribution, of which only shape and scopes matter.
        targets : sequence of tuples of int, default ()
            Further sets of variables whose joint marginals you want.
        order : sequence of int, default None
            Order of elimination, by positions; None searches for one.

        Returns
        -------
        Plan
            With ``order``, ``width`` (variables of the largest clique, minus one) and ``largest`` (that clique).
        """
        check_scopes(factors.shape, targets)
        return self.plan_scopes(factors.shape, (*factors.scopes, *map(tuple, targets)), order=order)

    def fitting_plan(self, factors: Factors, *, order: Sequence[int] | None = None) -> TreePlan | None:
        """Return a plan within the limits, or None. Graphs that are too wide are rejected before the search.

        Parameters
        ----------
        factors : Factors
            Distribution, of which only shape and scopes matter.
        order : sequence of int, default None
            Order of elimination to try; None searches for one.

        Returns
        -------
        Plan or None
        """
        if is_too_wide(factors.shape, factors.scopes, self.max_cells):
            return None
        plan = self.plan(factors, order=order)
        return plan if plan.fits else None

    def plan_scopes(
        self, shape: tuple[int, ...], scopes: tuple[Scope, ...], *, order: Sequence[int] | None = None
    ) -> TreePlan:
        """Plan for scopes alone, before their tables exist.

        Parameters
        ----------
        shape : tuple of int
            Number of states of each variable.
        scopes : tuple of tuples of int
            Sets of variables that will have tables or marginals.
        order : sequence of int, default None
            Order of elimination; None searches for one.

        Returns
        -------
        Plan
        """
        plan = plan_tree(
            self.word,
            shape,
            scopes,
            max_cells=self.max_cells,
            max_bytes=self.max_bytes,
            seed=self.seed,
            effort=self.effort,
            merge=self.merge,
            order=order,
        )
        return replace(plan, forecast=speed_factor() * plan.forecast) if plan.n_cells > _WORTH_MEASURING else plan

    def _run(self, plan: Plan, factors: Factors) -> TreePosterior:
        posterior = calibrated(_tree_plan(plan, factors), factors, jobs=self.jobs, between=self.between)
        _check_total(posterior.log_z)
        return posterior

    def best(self, plan: Plan, factors: Factors) -> tuple[Indices, float]:
        """Return a most probable joint state and its log-potential.

        Parameters
        ----------
        plan : Plan
            Plan of a junction tree for these factors.
        factors : Factors
            Distribution to maximize.

        Returns
        -------
        codes : int array of shape (n_variables,)
            State of every variable.
        log_potential : float
            Sum of all tables there, in nats.

        Raises
        ------
        MrfitError
            If the plan does not fit, or every joint state is impossible.
        """
        plan = _tree_plan(plan, factors)
        plan.check()
        nodes = plan.built_nodes
        values = np.empty(nodes.table_start[-1])
        values[: nodes.table_start[len(plan.scopes)]] = _log_leaves(plan, factors)
        with np.errstate(over="ignore", invalid="ignore"):
            max_forward(nodes, len(plan.scopes), values)
        largest = float(values[_root_cells(nodes)].sum())
        _check_total(largest)
        states = np.zeros((1, len(plan.order)), np.int64)  # by position in the order
        trace_best(nodes, values, states)
        codes = np.zeros(len(plan.shape), np.int64)
        codes[list(plan.order)] = states[0]
        return codes, largest

    def draw(self, plan: Plan, factors: Factors, n_rows: int, *, rng: np.random.Generator, jobs: int = 1) -> Indices:
        """Draw independent rows of codes from the distribution.

        Parameters
        ----------
        plan : Plan
            Plan of a junction tree for these factors; best one made with ``merge=False``.
        factors : Factors
            Distribution to draw from.
        n_rows : int
            Number of rows.
        rng : numpy Generator
            Source of random numbers.
        jobs : int, default 1
            Number of threads; the rows do not depend on it.

        Returns
        -------
        int array of shape (n_rows, n_variables)
        """
        plan = _tree_plan(plan, factors)
        if plan.merge:
            # A draw takes one variable at a time, each given those drawn before, so each needs a node of its own. From
            # a merged clique it would cost all cells of the clique.
            plan = replace(self, merge=False).plan(factors, plan.scopes[len(factors.scopes) :], order=plan.order)
        plan.check()
        posterior = self._run(plan, factors)
        nodes, start = plan.built_nodes, int(rng.integers(2**63))
        values = posterior.scaled_values()
        states = np.zeros((n_rows, len(plan.order)), np.int64)  # by position in the order

        def rows(first: int, last: int) -> None:
            draw(nodes, values, start, first, states[first:last])

        run(rows, deal(np.ones(n_rows), jobs))
        codes = np.zeros((n_rows, len(plan.shape)), np.int64)
        codes[:, list(plan.order)] = states
        return codes


class TreePosterior(Posterior):
    """log Z from the forward pass, and marginals from the backward pass, which runs when you first read one.

    log Z is a function of the tables, and the marginal of a table is its gradient. The forward pass (elimination)
    computes the function; the backward pass differentiates it in reverse mode, and its adjoints are the messages from
    the root to the leaves.
    """

    def __init__(
        self,
        plan: TreePlan,
        values: Floats,
        scale: Floats | None,
        log_z: float,
        *,
        jobs: int = 1,
        between: Between | None = None,
    ) -> None:
        self.log_z, self._jobs, self._between = log_z, jobs, between
        self._plan, self._values, self._scale = plan, values, scale  # without a scale, values are logarithms

    @cached_property
    def leaves(self) -> Floats:
        """Marginals of all scopes of the plan, concatenated like the tables of its factors."""
        nodes, n_leaves = self._plan.built_nodes, len(self._plan.scopes)
        if self._scale is None:
            adjoints = np.full(len(self._values), -np.inf)
            adjoints[_root_cells(nodes)] = 0.0
            log_backward(nodes, n_leaves, self._values, adjoints)
            end = nodes.table_start[n_leaves]
            return _normalized(self._values[:end] + adjoints[:end], nodes.table_start[: n_leaves + 1])
        # p(cell of a table) = table[cell] * dZ / dtable[cell] / Z (Darwiche 2003). Adjoints are right up to a factor
        # for each table, which `leaf_marginals` removes: marginals add up to 1.
        adjoints = backward_pass(nodes, self._values, self._scale, 1, jobs=self._jobs, between=self._between)
        out = np.empty(nodes.table_start[n_leaves])
        leaf_marginals(nodes, n_leaves, self._values, adjoints, 1, out)
        return out

    def scaled_values(self) -> Floats:
        """Return all tables, scaled to a largest value of 1."""
        nodes = self._plan.built_nodes
        sizes = np.diff(nodes.table_start)
        if self._scale is not None:
            return self._values * np.repeat(self._scale, sizes)
        most = np.maximum.reduceat(self._values, nodes.table_start[:-1])
        return np.asarray(np.exp(self._values - np.repeat(most, sizes)), np.float64)

    def marginal(self, scope: Scope) -> Floats:
        shape = self._plan.shape
        check_scopes(shape, (scope,))
        live = [i for i in scope if shape[i] > 1]
        if not live:
            return np.ones(1)
        number = self._smallest_holding(live)
        if number is None:
            return self._of_free(scope, live)
        own, nodes = self._plan.scopes[number], self._plan.built_nodes
        table = self.leaves[nodes.table_start[number] : nodes.table_start[number + 1]].reshape([shape[i] for i in own])
        table = table.sum(axis=tuple(axis for axis, i in enumerate(own) if i not in live))
        remaining = [i for i in own if i in live]
        return np.ascontiguousarray(table.transpose([remaining.index(i) for i in live])).ravel()

    def _smallest_holding(self, variables: list[int]) -> int | None:
        """Return the number of the scope with fewest cells that contains all these variables, or None."""
        holding = set(self._holding.get(variables[0], ())).intersection(*(self._holding.get(i, ()) for i in variables))
        starts = self._plan.built_nodes.table_start
        return min(holding, key=lambda t: (starts[t + 1] - starts[t], t), default=None)

    @cached_property
    def _holding(self) -> dict[int, list[int]]:
        """The numbers of the scopes that contain each variable."""
        holding: dict[int, list[int]] = {}
        for number, scope in enumerate(self._plan.scopes):
            for i in scope:
                holding.setdefault(i, []).append(number)
        return holding

    def _of_free(self, scope: Scope, live: list[int]) -> Floats:
        if len(live) == 1:  # in no scope at all: uniform
            return np.full(self._plan.shape[live[0]], 1.0 / self._plan.shape[live[0]])
        raise InputError(
            f"The plan has no clique for the joint marginal of {scope}; name it as a target when you plan."
        )


def calibrated(plan: TreePlan, factors: Factors, *, jobs: int = 1, between: Between | None = None) -> TreePosterior:
    """Run the forward pass, in scaled numbers or, where these might underflow, in logarithms.

    Where every joint state is impossible, log Z is minus infinity and the posterior has no marginals.
    """
    return calibrated_tables(plan, _log_leaves(plan, factors), jobs=jobs, between=between)


def calibrated_tables(
    plan: TreePlan, leaves: Floats, *, jobs: int = 1, between: Between | None = None
) -> TreePosterior:
    """Run the forward pass from the log tables of all scopes of the plan, concatenated."""
    nodes, n_leaves = plan.built_nodes, len(plan.scopes)
    starts = nodes.table_start[: n_leaves + 1]
    # Every table is divided by its largest value, here and at each node of the pass; log Z is the sum of the logarithms
    # that were taken out. If all largest values stay above SAFE, nothing was lost to underflow, which certifies the
    # result. Otherwise the same nodes run in logarithms, which is safe and much slower.
    most = np.maximum.reduceat(leaves, starts[:-1]) if n_leaves else np.empty(0)
    values = np.empty(nodes.table_start[-1])
    finite = np.where(np.isneginf(most), 0.0, most)
    np.exp(leaves - np.repeat(finite, np.diff(starts)), out=values[: len(leaves)])
    scale, log_scale = np.ones(len(nodes.table_start) - 1), np.zeros(1)
    with np.errstate(over="ignore", invalid="ignore"):
        constant = float(finite.sum())
    if forward_pass(nodes, values, scale, 1, log_scale, jobs=jobs, between=between)[0] > SAFE:
        free = values[_root_cells(nodes)] * scale[nodes.is_root]
        with np.errstate(divide="ignore"):
            log_z = constant + float(log_scale[0]) + float(np.log(free).sum())
        return TreePosterior(plan, values, scale, log_z, jobs=jobs, between=between)
    values[: len(leaves)] = leaves
    log_forward(nodes, n_leaves, values)
    return TreePosterior(plan, values, None, float(values[_root_cells(nodes)].sum()))


def _root_cells(nodes: TreeNodes) -> Indices:
    """Return the positions of the root tables, which have one cell each."""
    return np.asarray(nodes.table_start[:-1][nodes.is_root], np.int64)


def _log_leaves(plan: TreePlan, factors: Factors) -> Floats:
    """Return the log tables of the factors, followed by zeros for the targets of the plan."""
    missing = int(plan.built_nodes.table_start[len(plan.scopes)]) - len(factors.values)
    return factors.values if missing == 0 else np.concatenate([factors.values, np.zeros(missing)])


def _normalized(logs: Floats, starts: Indices) -> Floats:
    sizes = np.diff(starts)
    p = np.exp(logs - np.repeat(np.maximum.reduceat(logs, starts[:-1]), sizes))
    return np.asarray(p / np.repeat(np.add.reduceat(p, starts[:-1]), sizes), np.float64)


def _check_total(log_total: float) -> None:
    if log_total == -np.inf:
        raise ImpossibleError
    if not np.isfinite(log_total):
        raise InputError("The tables are so large that their sums overflow; subtract a constant from each.")


def _tree_plan(plan: Plan, factors: Factors) -> TreePlan:
    if not isinstance(plan, TreePlan) or plan.scopes[: len(factors.scopes)] != factors.scopes:
        raise InputError("The plan is not one for the scopes of these factors. Plan again.")
    return plan
