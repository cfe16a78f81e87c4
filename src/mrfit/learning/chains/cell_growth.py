"""Growth within a limit of cells: a junction tree stays possible, so that every round is exact."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.arithmetic.bits import n_words
from mrfit._kernels.structure.clique_growth import admit, clique_cells, triangulated
from mrfit._typing import Floats, Indices
from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.tree_plan import TreePlan
from mrfit.inference.exact.tree_states import TreeStates
from mrfit.learning.chains.growth_rounds import GrowthRecord
from mrfit.learning.chains.pair_gains import THRESHOLD, PairGains
from mrfit.learning.chains.scope_gains import scope_gains
from mrfit.objectives.chow_liu_closed_form import forest_parameters
from mrfit.objectives.tree_likelihood import TreeLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalized_objective import PenalizedObjective
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.minimize import minimize
from mrfit.structures.base import LearnedStructure
from mrfit.structures.hierarchy import supported
from mrfit.structures.mutual_information import maximum_information_tree
from mrfit.structures.pair_tables import PairTables
from mrfit.structures.structure import Structure

if TYPE_CHECKING:
    from mrfit.learning.chains.likelihood_growth import LikelihoodGrowth


# Constants that matter (pumsb_star, accidents, ad by validation rows): if variables nearly determine each other, many
# pairs bring the same gain, and cells spent early on a pair that a cheaper one could replace are lost for good.
_LEAST_EACH = 2  # new scopes of a variable in a round, and a share of those it has
_TIMES = 2.0  # as many cells as there are may be used after a round
_LEAST_SHARE = 0.02  # of the largest gain

_LEAST_SCOPES = 10  # that a round may add
_MOST_CANDIDATES = 20_000  # of more than two variables
_LEAST_GAIN = 1e-4  # of the log-likelihood of held-out rows, less of which is nothing
_DRAWN_CELLS, _FEWEST, _MOST_DRAWS = 2_000_000, 4_000, 50_000  # rows that are drawn for a round, times variables
_TOLERANCE, _ITERATIONS = 1e-4, 30  # of the fit of a round
_COVARIANCE_ROWS = 5_000


class CellGrowth(GrowthRecord):
    """Pairs while the cliques stay within the limit on cells, then larger sets inside them, order by order."""

    def __init__(self, rows: UniqueRows, valid: UniqueRows, how: LikelihoodGrowth, jobs: int) -> None:
        super().__init__(patience=how.patience, least_gain=_LEAST_GAIN)
        self.rows, self.valid, self.how, self.jobs = rows, valid, how, jobs
        self.rng = np.random.default_rng((how.seed, 11))
        self.n_states = np.array(rows.domain.shape, np.float64)
        self.data = PairTables.of_rows(rows)
        self.parameters = self.tree = Canonical(rows.domain, maximum_information_tree(rows))
        self.w = self.w_of_tree = _forest(self.tree, rows)
        self.order = _all_of(JunctionTree().plan_scopes(rows.domain.shape, self.tree.table_scopes))
        self.refused = np.zeros((len(self.order), len(self.order)), bool)
        self._check_cells()

    def _check_cells(self) -> None:
        if (n_cells := self._n_cells(self.order)) > self._limit:
            raise InputError(
                f"The tree that the structure would grow from has cliques of {n_cells:,.0f} cells; the limit is "
                f"{self._limit:g}. Allow more cells."
            )

    @property
    def _limit(self) -> float:
        assert self.how.cells is not None
        return float(self.how.cells)  # kernels are compiled apart for whole numbers

    # -- one round -----------------------------------------------------------------------------------------------

    def run(self) -> LearnedStructure:
        self.begin()
        for size in range(2, self.how.order + 1):
            self.size, n_before = size, self.n_scopes
            self.grow()
            if self.size > 2 and self.n_scopes == n_before:
                break
        return LearnedStructure(self.structure, remarks=(self.remark(),))

    def learn(self) -> None:
        self.states = TreeStates(self.parameters, self._plan())
        likelihood = TreeLikelihood(self.states, self.rows, covariance_rows=_COVARIANCE_ROWS)
        toward = self.parameters.spread(self.tree, self.w_of_tree)
        penalty = Ridge(self.how.usual_strength, self.parameters.order_of_parameter > 1, toward)
        objective = PenalizedObjective(likelihood, penalty, total_weight=self.rows.total_weight)
        method = LBFGS(memory=50)
        self.w = minimize(objective, method, self.w, tolerance=_TOLERANCE, max_iterations=_ITERATIONS).w

    def held_out(self) -> float:
        share = self.valid.sample_weight / self.valid.total_weight
        return float(share @ self.states.log_potentials(self.w, self.valid)) - self.states.log_z(self.w)

    def enter(self) -> bool:
        entering = self._pairs() if self.size == 2 else self._larger()
        if len(entering):
            before, blocks = self.parameters, dict(self.structure.blocks)
            known = blocks.get(self.size, entering[:0])
            blocks[self.size] = np.unique(np.concatenate([known, entering]), axis=0)
            self.parameters = before.on(Structure(self.structure.n_variables, blocks))
            self.w = self.parameters.spread(before, self.w)
        return len(entering) > 0

    @property
    def _most(self) -> int:
        """Scopes that may enter."""
        usual = max(_LEAST_SCOPES, int(self.how.usual_share * self.n_scopes))
        if self.size > 2 or self.how.max_pairs is None:
            return usual
        return max(0, min(usual, self.how.max_pairs - self.n_scopes))

    @property
    def _most_each(self) -> int:
        """Largest number of these scopes that may contain the same variable."""
        n_each = self.size * self.n_scopes / self.structure.n_variables
        return max(_LEAST_EACH, int(self.how.usual_share * n_each))

    # -- pairs ---------------------------------------------------------------------------------------------------

    def _pairs(self) -> Indices:
        """Return the pairs that gain most and fit, under the smallest limit on cells that admits any pair."""
        candidates, graph, order = self._candidates(), _bits(self.structure), self._best_order()
        allowed, answers = self._n_cells(order), np.zeros(len(candidates), np.int8)
        while not (answers > 0).any():
            allowed = min(_TIMES * allowed, self._limit)
            answers[:] = 0
            admit(graph, candidates, self.n_states, allowed, self._most, self._most_each, order, answers)
            if allowed == self._limit:  # what does not fit now hardly ever will
                self.refused[tuple(candidates[answers < 0].T)] = True
                break
        self.order = order
        return candidates[answers > 0]

    def _candidates(self) -> Indices:
        """Pairs that gain enough, most first."""
        codes = self._drawn()
        model = PairTables.of_codes(self.rows.domain.shape, codes, np.ones(len(codes)))
        gain = np.triu(PairGains(self.data, model).gains(self.rows.total_weight, len(codes)), 1)
        gain[tuple(self.structure.blocks[2].T)] = 0.0
        gain[self.refused] = 0.0
        return _largest_first(np.argwhere(gain > _least(gain)), gain)

    def _drawn(self) -> NDArray[np.uint8]:
        n = int(np.clip(_DRAWN_CELLS // len(self.order), _FEWEST, _MOST_DRAWS))
        factors = self.parameters.to_factors(self.w)
        return JunctionTree().draw(self.states.plan, factors, n, rng=self.rng, jobs=self.jobs).astype(np.uint8)

    def _best_order(self) -> Indices:
        """The order in which the last pairs were let in, or one that a search finds with fewer cells."""
        found = _all_of(JunctionTree().plan_scopes(self.rows.domain.shape, self.parameters.table_scopes))
        return min(found, self.order.copy(), key=self._n_cells)

    def _n_cells(self, order: Indices) -> float:
        above, _ = triangulated(_bits(self.structure), order)
        return float(clique_cells(above, self.n_states[order]).sum())

    def _plan(self) -> TreePlan:
        return JunctionTree().plan_scopes(
            self.rows.domain.shape, self.parameters.table_scopes, order=self.order.tolist()
        )

    # -- larger sets ---------------------------------------------------------------------------------------------

    def _larger(self) -> Indices:
        """Sets whose subsets are all in: their variables are joined, so that they are inside a clique."""
        scopes = supported(self.structure, self.size)
        scopes = scopes[(self.structure.find(scopes) < 0) & (self.n_states[scopes] > 1).all(axis=1)]
        if not len(scopes):
            return scopes
        scopes = scopes[np.linspace(0, len(scopes) - 1, min(len(scopes), _MOST_CANDIDATES)).astype(np.int64)]
        gain = scope_gains(self.parameters, self.w, scopes, self.rows, order=tuple(self.order.tolist()))
        gain *= self.rows.total_weight
        enough = np.flatnonzero(gain > _least(gain))
        return self._chosen(scopes[enough[np.argsort(-gain[enough], kind="stable")]])

    def _chosen(self, scopes: Indices) -> Indices:
        """The first ones, not too many of any variable."""
        chosen: list[int] = []
        n_new = np.zeros(len(self.order), np.int64)
        for number, scope in enumerate(scopes):
            if len(chosen) < self._most and (n_new[scope] < self._most_each).all():
                n_new[scope] += 1
                chosen.append(number)
        return scopes[chosen]


def _forest(tree: Canonical, rows: UniqueRows) -> Floats:
    w = forest_parameters(tree, rows)
    assert w is not None  # a tree has all pairs and single variables that it takes
    return w


def _all_of(plan: TreePlan) -> Indices:
    """The order of a plan, and then the variables with one state."""
    left_out = np.flatnonzero(np.array(plan.shape) < 2)
    return np.concatenate([np.array(plan.order, np.int64), left_out])


def _bits(structure: Structure) -> NDArray[np.uint64]:
    """The neighbours of every variable, as `mrfit._kernels.arithmetic.bits` has sets."""
    n = structure.n_variables
    near = np.zeros((n, 64 * n_words(n)), bool)
    near[:, :n] = structure.adjacency
    return np.packbits(near, axis=1, bitorder="little").view(np.uint64)


def _least(gain: Floats) -> float:
    return max(THRESHOLD, _LEAST_SHARE * float(gain.max(initial=0.0)))


def _largest_first(pairs: Indices, gain: Floats) -> Indices:
    return pairs[np.argsort(-gain[tuple(pairs.T)], kind="stable")]
