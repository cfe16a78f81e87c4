"""A structure grown by likelihood: from the tree of most mutual information, by the pairs that add most to it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.factors import Factors
from mrfit.inference.annealing import run_up
from mrfit.inference.base import Base, tree
from mrfit.inference.path import Path
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import L2
from mrfit.stochastic.ascent import Target, climb
from mrfit.stochastic.fit import ChainProblem
from mrfit.stochastic.pair_gains import PairGains
from mrfit.stochastic.persistent import Persistent, persistent
from mrfit.structure.learner import LearnedStructure, StructureLearner
from mrfit.structure.mutual_information import maximum_information_tree
from mrfit.structure.pair_tables import PairTables
from mrfit.structure.structure import Structure

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Indices = NDArray[np.int64]

_THRESHOLD = 3.0  # nats over all rows that a pair must gain
_LEAST_PAIRS = 10  # that a round may add
_EDGES_A_VARIABLE = 10  # at most: more are learned from noise
_CLIP = 2.0  # of what a new pair begins with
_STEP, _ITERATIONS = 0.2, 150
_DRAWS, _BETWEEN = 40, 2  # of each chain for the tables of a round, and sweeps between them
_TEMPERATURES = 300
_HELD_OUT_PARTS = 10  # one of which is held out where there are no validation rows


@dataclass(frozen=True)
class Round:
    """One round: pairs so far, and the mean log-likelihood of held-out rows."""

    n_pairs: int
    held_out: float


@dataclass(frozen=True)
class Grown(StructureLearner):
    """Pairs by likelihood: begin with a tree, add those that gain most, learn again, while held-out rows gain.

    What a pair gains is seen by the chains of the model learned so far: the divergence of its table in the data from
    the one in the chains. Held-out rows are those for validation, or else a tenth of the rows.

    Parameters
    ----------
    max_pairs
        By default ten times the number of variables.
    share
        Of the pairs there are, so many more may enter in a round.
    strength
        Of the L2 penalty on pairs while the structure grows.
    patience
        Rounds in a row that may gain nothing.
    """

    max_pairs: int | None = None
    share: float = 0.4
    strength: float = 3.0
    patience: int = 2
    seed: int = 0

    word: ClassVar[str] = "grown"

    def __post_init__(self) -> None:
        if self.max_pairs is not None and self.max_pairs < 1:
            raise InputError(f"A grown structure needs room for pairs; got at most {self.max_pairs}.")
        if not self.share > 0 or not self.strength >= 0 or self.patience < 1 or self.seed < 0:
            raise InputError(
                f"A structure grows by a positive share of its pairs, with a strength and a seed of 0 or more and a "
                f"patience of at least 1; got {self.share:g}, {self.strength:g}, {self.seed} and {self.patience}."
            )

    def in_words(self) -> str:
        return "pairs grown by likelihood from a tree"

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
        growth = _Growth(rows, valid, self, jobs)
        return growth.run()


@dataclass(eq=False)
class _Growth:
    """The state of a growth: a structure, its parameters, and chains of them."""

    rows: UniqueRows
    valid: UniqueRows
    how: Grown
    jobs: int
    rounds: list[Round] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.data = PairTables.of_rows(self.rows)
        self.problem = self._on(maximum_information_tree(self.rows))
        self.w = self.problem.start
        self.base = tree("tree", self.rows.domain.shape, self.problem.codes)
        self.chains = self._chains(self.problem.codes[: self.problem.n_chains])

    def _on(self, structure: Structure) -> ChainProblem:
        return ChainProblem(Canonical(self.rows.domain, structure), self.rows, seed=self.how.seed, jobs=self.jobs)

    def _chains(self, codes: Codes) -> Persistent:
        return persistent(self.problem.features, codes, (self.how.seed, 20 + len(self.rounds)), jobs=self.jobs)

    def run(self) -> LearnedStructure:
        best = self.problem.parameters.structure
        self._learn()
        self.rounds.append(Round(self._n_pairs, self._held_out()))
        while self._may_go_on():
            # 1. Which pairs do the chains of this model have otherwise than the data?
            gains = self._gains()
            entering = self._entering(gains)
            if not len(entering):
                break
            # 2. Let them in, and learn all parameters anew.
            self._enter(entering, gains)
            self._learn()
            # 3. Do rows that had no part in it gain?
            self.rounds.append(Round(self._n_pairs, self._held_out()))
            if self.rounds[-1] is self._best:
                best = self.problem.parameters.structure
        return LearnedStructure(best, remarks=(self._remark(),))

    @property
    def _n_pairs(self) -> int:
        return len(self.problem.parameters.structure.blocks[2])

    @property
    def _best(self) -> Round:
        return max(self.rounds, key=lambda one: one.held_out)

    def _may_go_on(self) -> bool:
        since = len(self.rounds) - 1 - self.rounds.index(self._best)
        return since < self.how.patience and self._n_pairs < self._most_pairs

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
        pairs = self.problem.parameters.structure.blocks[2]
        gain[pairs[:, 0], pairs[:, 1]] = 0.0
        room = self._most_pairs - len(pairs)
        most = min(max(_LEAST_PAIRS, int(self.how.share * len(pairs))), room)
        flat = gain.ravel()
        order = np.argpartition(-flat, min(most, len(flat) - 1))[:most]
        return np.stack(np.unravel_index(order[flat[order] > _THRESHOLD], gain.shape), axis=1)

    def _enter(self, entering: Indices, gains: PairGains) -> None:
        """New pairs begin with half of what their tables lack; what they say of single variables is taken off these."""
        before, old = self.problem.parameters, self.w
        both = np.unique(np.concatenate([before.structure.blocks[2], entering]), axis=0)
        self.problem = self._on(Structure(before.structure.n_variables, {1: before.structure.blocks[1], 2: both}))
        parameters, first = self.problem.parameters, np.zeros(self.problem.parameters.n_parameters)
        places = parameters.structure.find(entering)
        for (i, j), place in zip(entering.tolist(), places.tolist(), strict=True):
            ratio = gains.log_ratios(i, j)
            inner = (ratio - ratio[:, :1] - ratio[:1] + ratio[0, 0])[1:, 1:].ravel()
            first[parameters.first_parameter[2][place] + np.arange(len(inner))] = np.clip(0.5 * inner, -_CLIP, _CLIP)
        self.w = parameters.spread(before, old) + self.problem.means.centring @ first

    def _learn(self) -> None:
        self.chains = self._chains(self.chains.chains.codes)
        penalty = L2(self.how.strength, self.problem.features.orders > 1)
        schedule = replace(self.problem.schedule(warm=True), first_step=_STEP, iterations=_ITERATIONS, looks=())
        self.w = climb(Target(self.problem.means, penalty), self.chains, self.w, schedule).w

    def _held_out(self) -> float:
        factors = self.problem.parameters.to_factors(self.w)
        return float(self._share @ factors.log_potential(self.valid.codes)) - _log_z(
            factors, self.base, seed=self.how.seed, jobs=self.jobs
        )

    @property
    def _share(self) -> Floats:
        return self.valid.sample_weight / self.valid.total_weight

    def _remark(self) -> str:
        best, first = self._best, self.rounds[0]
        return (
            f"Grown from a tree of {first.n_pairs:,} pairs to {best.n_pairs:,} in {self.rounds.index(best)} rounds: "
            f"held-out log-likelihood {first.held_out:.3f} to {best.held_out:.3f}, as estimated on the way."
        )


def _log_z(factors: Factors, base: Base, *, seed: int, jobs: int) -> float:
    """Roughly, from where the data are: rounds are compared with each other, not with other models."""
    path = Path.between(base.factors, factors, soft=True)
    return run_up(path, base, 64, _TEMPERATURES, (seed, 9), jobs)[0].log_z
