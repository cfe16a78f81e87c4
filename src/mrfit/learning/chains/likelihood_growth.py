"""Structures grown by likelihood: from the tree of most mutual information, by the scopes that add most to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mrfit._typing import Codes, Floats, Indices
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.sampling.annealing import run_up
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import BaseDistribution, tree
from mrfit.learning.chains.ascent import Target, climb
from mrfit.learning.chains.cell_growth import CellGrowth
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.chains.growth_rounds import GrowthRecord
from mrfit.learning.chains.pair_gains import THRESHOLD, PairGains
from mrfit.learning.chains.persistent_chains import Persistent, persistent
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import Ridge
from mrfit.structures.base import LearnedStructure, StructureLearner
from mrfit.structures.distinct import distinct_rows
from mrfit.structures.mutual_information import maximum_information_tree
from mrfit.structures.pair_tables import PairTables
from mrfit.structures.structure import Structure

_LEAST_PAIRS = 10  # that a round may add
_EDGES_A_VARIABLE = 10  # at most: more are learned from noise
_CLIP = 2.0  # of what a new pair begins with
_STEP, _ITERATIONS = 0.2, 100
_DRAWS, _BETWEEN = 40, 2  # of each chain for the tables of a round, and sweeps between them
_TEMPERATURES = 300
_HELD_OUT_PARTS = 10  # one of which is held out where there are no validation rows


@dataclass(frozen=True)
class LikelihoodGrowth(StructureLearner):
    """Structure grown by likelihood: start with a tree, add the pairs with the largest gain, refit, and repeat.

    Growth ends when held-out rows gain nothing more: validation rows, or else a tenth of the rows. The gain of a pair
    is the divergence of its table in the data from its table under the current model. Its word is ``grown``.

    Parameters
    ----------
    max_pairs : int or None, default=None
        Largest number of pairs. None means ten times the number of variables, or with ``cells`` as many as fit.
    share : float or None, default=None
        Pairs that may enter in a round, as a fraction of the existing ones. None means 0.4, or 0.25 with ``cells``.
    strength : float or None, default=None
        Strength of the L2 penalty on pairs during growth. None means 3, or with ``cells`` 1, towards the tree.
    patience : int, default=2
        Number of rounds in a row that may gain nothing, 1 or more.
    seed : int, default=0
        Random seed for chains and for the held-out tenth.
    cells : float or None, default=None
        Limit, such as 1e6, on the cells of a junction tree. Pairs enter while its cliques fit into the limit, so that
        learning is exact; then scopes of more variables inside cliques. None grows by chains without that limit.
    order : int, default=4
        Size of the largest scopes with ``cells``, 2 or more.

    See Also
    --------
    mrfit.LikelihoodSpec : The objective to fit such a structure with.

    Examples
    --------
    >>> from mrfit import LikelihoodGrowth, UniqueRows
    >>> rows = UniqueRows.of({"a": [0, 1, 1, 0] * 20, "b": [0, 1, 0, 0] * 20, "c": [1, 1, 0, 0] * 20})
    >>> LikelihoodGrowth(cells=1000).learn(rows).structure
    <Structure: 3 variables, 3 edges>
    """

    max_pairs: int | None = None
    share: float | None = None
    strength: float | None = None
    patience: int = 2
    seed: int = 0
    cells: float | None = None
    order: int = 4

    word: ClassVar[str] = "grown"

    def __post_init__(self) -> None:
        if self.max_pairs is not None and self.max_pairs < 1:
            raise InputError(
                f"A grown structure needs at least one pair; got max_pairs={self.max_pairs}. Raise it, or leave it out."
            )
        if self.cells is not None and not 1 <= self.cells < np.inf:
            raise InputError(f"A structure grows within a number of cells such as 1e6; got {self.cells:g}.")
        if self.order < 2:
            raise InputError(f"A structure grows by sets of 2 variables or more; got an order of {self.order}.")
        if not self.usual_share > 0 or not self.usual_strength >= 0 or self.patience < 1 or self.seed < 0:
            raise InputError(
                f"A structure grows by a positive share of its pairs, with a strength and a seed of 0 or more and a "
                f"patience of at least 1; got {self.usual_share:g}, {self.usual_strength:g}, {self.seed} and "
                f"{self.patience}."
            )

    @property
    def usual_share(self) -> float:
        """Fraction of pairs that may enter in a round, with the default filled in."""
        return self.share if self.share is not None else 0.4 if self.cells is None else 0.25

    @property
    def usual_strength(self) -> float:
        """Strength of the L2 penalty during growth, with the default filled in."""
        return self.strength if self.strength is not None else 3.0 if self.cells is None else 1.0

    def describe(self) -> str:
        within = "" if self.cells is None else f" within {self.cells:g} cells"
        return f"{'pairs' if self.cells is None else 'sets'} grown by likelihood from a tree{within}"

    def learn(
        self,
        rows: UniqueRows,
        *,
        valid: UniqueRows | None = None,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> LearnedStructure:
        if len(rows.domain) < 3:
            return LearnedStructure(Structure.complete(len(rows.domain)))
        if valid is None:
            fold = next(folds_of(rows, _HELD_OUT_PARTS, np.random.default_rng(self.seed)))
            rows, valid = fold.train, fold.held_out
        if self.cells is None:
            return ChainGrowth(rows, valid, self, jobs).run()
        return CellGrowth(rows, valid, self, jobs).run()


class ChainGrowth(GrowthRecord):
    """Growth by chains, for any number of pairs."""

    def __init__(self, rows: UniqueRows, valid: UniqueRows, how: LikelihoodGrowth, jobs: int) -> None:
        super().__init__(patience=how.patience)
        self.rows, self.valid, self.how, self.jobs = rows, valid, how, jobs
        self.data = PairTables.of_rows(rows)
        self._take(self._on(maximum_information_tree(rows)))
        self.w = self.problem.start
        self.base = tree("tree", rows.domain.shape, self.problem.codes)
        self.chains = self._chains(self.problem.codes[: self.problem.n_chains])

    def _on(self, structure: Structure) -> ChainProblem:
        return ChainProblem(Canonical(self.rows.domain, structure), self.rows, seed=self.how.seed, jobs=self.jobs)

    def _take(self, problem: ChainProblem) -> None:
        self.problem, self.parameters = problem, problem.parameters

    def _chains(self, codes: Codes) -> Persistent:
        return persistent(self.problem.features, codes, (self.how.seed, 20 + len(self.rounds)), jobs=self.jobs)

    def learn(self) -> None:
        self.chains = self._chains(self.chains.chains.codes)
        penalty = Ridge(self.how.usual_strength, self.problem.features.orders > 1)
        schedule = replace(self.problem.schedule(warm=True), first_step=_STEP, iterations=_ITERATIONS, looks=())
        self.w = climb(Target(self.problem.means, penalty), self.chains, self.w, schedule).w

    def held_out(self) -> float:
        factors = self.parameters.to_factors(self.w)
        return float(self._share @ factors.log_potential(self.valid.codes)) - _log_z(
            factors, self.base, seed=self.how.seed, jobs=self.jobs
        )

    @property
    def _share(self) -> Floats:
        return self.valid.sample_weight / self.valid.total_weight

    def enter(self) -> bool:
        """The pairs that the chains of this model have most otherwise than the data."""
        if self.n_scopes >= self._most_pairs:
            return False
        gains = self._gains()
        entering = self._entering(gains)
        if len(entering):
            self._let_in(entering, gains)
        return len(entering) > 0

    @property
    def _most_pairs(self) -> int:
        n = len(self.rows.domain)
        return min(n * (n - 1) // 2, self.how.max_pairs or _EDGES_A_VARIABLE * n)

    def _gains(self) -> PairGains:
        """Tables of all pairs under the model, from its chains."""
        self.chains.sweep(self.w, _BETWEEN)
        drawn = []
        for _ in range(_DRAWS):
            self.chains.sweep(self.w, _BETWEEN)
            drawn.append(self.chains.chains.codes.astype(np.uint8))
        codes = np.concatenate(drawn)
        return PairGains(self.data, PairTables.of_codes(self.rows.domain.shape, codes, np.ones(len(codes))))

    def _entering(self, gains: PairGains) -> Indices:
        """The pairs that gain most, (pairs, 2)."""
        gain = np.triu(gains.gains(self.rows.total_weight, _DRAWS * self.chains.n), 1)
        pairs = self.structure.blocks[2]
        gain[pairs[:, 0], pairs[:, 1]] = 0.0
        left = self._most_pairs - len(pairs)
        most = min(max(_LEAST_PAIRS, int(self.how.usual_share * len(pairs))), left)
        flat = gain.ravel()
        order = np.argpartition(-flat, min(most, len(flat) - 1))[:most]
        return np.stack(np.unravel_index(order[flat[order] > THRESHOLD], gain.shape), axis=1)

    def _let_in(self, entering: Indices, gains: PairGains) -> None:
        """New pairs begin with half of what their tables lack; what they say of single variables is taken off these."""
        before, old = self.parameters, self.w
        both = np.unique(np.concatenate([before.structure.blocks[2], entering]), axis=0)
        self._take(self._on(Structure(before.structure.n_variables, {1: before.structure.blocks[1], 2: both})))
        parameters, first = self.parameters, np.zeros(self.parameters.n_parameters)
        shapes, shape_of = distinct_rows(np.array(self.rows.domain.shape, np.int64)[entering])
        for kind in range(len(shapes)):
            chosen = entering[shape_of == kind]
            ratio = gains.log_ratios(chosen)
            inner = (ratio - ratio[:, :, :1] - ratio[:, :1] + ratio[:, :1, :1])[:, 1:, 1:].reshape(len(chosen), -1)
            places = parameters.first_parameter[2][parameters.structure.find(chosen)]
            first[places[:, None] + np.arange(inner.shape[1])] = np.clip(0.5 * inner, -_CLIP, _CLIP)
        self.w = parameters.spread(before, old) + self.problem.means.centring @ first


def _log_z(factors: Factors, base: BaseDistribution, *, seed: int, jobs: int) -> float:
    """Roughly, from where the data are: rounds are compared with each other, not with other models."""
    path = AnnealingPath.between(base.factors, factors, soft=True)
    return run_up(path, base, 64, _TEMPERATURES, (seed, 9), jobs)[0].log_z
