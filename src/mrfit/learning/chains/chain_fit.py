"""One fit by persistent chains, from the start to what is known about its log Z."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from mrfit._typing import Codes, Floats
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.chains.ascent import Ascent, AscentSchedule, Target, climb
from mrfit.learning.chains.features import DataMeans, Features
from mrfit.learning.chains.log_z_estimate import LogZEstimate, evidence
from mrfit.learning.chains.mode_search import hunt
from mrfit.learning.chains.persistent_chains import Persistent, persistent
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.penalty import Penalty

_FEW, _MANY = 256, 1024  # chains; many where states are rare, so that some chain is in each
_RARE = 0.065  # mean frequency of states beside the commoner
_NEIGHBOURS = 20.0  # that are many: their moves add up
# First steps, and chains by which a curvature is damped: rare states mislead.
_COMMON, _COMMON_NEAR = (0.5, 1.0), (0.1, 1.0)
_RARE_STATES, _RARE_NEAR = (0.3, 3.0), (0.2, 5.0)


@dataclass(frozen=True, eq=False)
class ChainFit:
    """Parameters, how well their chains match the data, and log Z from two bases after the search for modes."""

    w: Floats
    ascent: Ascent
    evidence: LogZEstimate
    hunts: int
    train: float  # mean log-likelihood of the rows

    @property
    def error(self) -> float:
        """Standard error of the mean log-likelihood: that of log Z, and of parameters not yet at the optimum.

        It covers the differences between seeds.
        """
        return float(np.hypot(self.evidence.error, self.ascent.error))

    @property
    def is_clean(self) -> bool:
        """Whether no spurious mode is left."""
        return not self.evidence.has_phantom


def are_rare(frequencies: Floats) -> bool:
    """Whether states of these frequencies are so rare that few chains would hardly ever visit most of them."""
    return bool(np.minimum(frequencies, 1.0 - frequencies).mean() < _RARE)


class ChainProblem:
    """Rows and canonical parameters, as learning by chains sees them; worked out once for many penalties."""

    def __init__(
        self, parameters: Canonical, rows: UniqueRows, *, chains: int | None = None, seed: int = 0, jobs: int = 1
    ) -> None:
        if chains is not None and (chains < 128 or chains % 64):
            raise InputError(f"Chains run in blocks of 64, at least two; got {chains}. Give a multiple of 64.")
        if parameters.reference is not None:
            raise InputError("Chains learn parameters whose reference is the first state. Give `parameters.canonical`.")
        self.parameters, self.rows, self.seed, self.jobs = parameters, rows, seed, jobs
        self.features = Features(parameters)
        self.n_chains = chains or (_MANY if self._is_rare else _FEW)

    @cached_property
    def means(self) -> DataMeans:
        return self.features.means(self.rows)

    @cached_property
    def start(self) -> Floats:
        """Parameters of independent variables.

        The best forest is nearer to the optimum. But if variables nearly determine each other, its chains freeze
        before they have moved at all, and never match the data (pumsb_star, ad).
        """
        return self.means.independent

    @cached_property
    def codes(self) -> Codes:
        """Rows drawn by their weights, as many as bases and chains can use, (draws, variables)."""
        rng = np.random.default_rng((self.seed, 7))
        p = self.rows.sample_weight / self.rows.total_weight
        n = int(np.clip(self.rows.n_rows, self.n_chains, 20_000))
        return self.rows.codes[rng.choice(len(p), n, p=p)].astype(np.int64)

    @cached_property
    def _is_rare(self) -> bool:
        return are_rare(self.means.singles)

    def schedule(self, *, warm: bool) -> AscentSchedule:
        """Choose step lengths by how rare states are, by the number of neighbours, and by whether the start is near."""
        pairs = self.parameters.structure.blocks.get(2, ())
        dense = 2.0 * len(pairs) / len(self.parameters.domain) > _NEIGHBOURS
        far, near = (_RARE_STATES, _RARE_NEAR) if self._is_rare else (_COMMON, _COMMON_NEAR)
        step, damping = near if dense or warm else far
        return AscentSchedule(step, damping=damping, shrinks=self._is_rare)

    def fit(self, penalty: Penalty, *, start: Floats | None = None, schedule: AscentSchedule | None = None) -> ChainFit:
        """Fit under a penalty; ``start`` is a point nearby, such as the optimum under a stronger penalty."""
        return self.climbed(Target(self.means, penalty), start=start, schedule=schedule)

    @property
    def begin(self) -> Codes:
        """Return the states where chains start: rows of the data."""
        return self.codes[: self.n_chains]

    def chains(self) -> Persistent:
        return persistent(self.features, self.begin, (self.seed, 1), jobs=self.jobs)

    def weighed_again(self, factors: Factors) -> LogZEstimate:
        """Estimate log Z of a learned model again, independently of selection, with more and slower chains.

        Selection takes the model that looks best, so the log Z that it used is biased in the model's favour.
        """
        return evidence(
            factors,
            self.codes,
            chains=128,
            temperatures=2000,
            max_temperatures=16_000,
            far_temperatures=1000,
            seed=(self.seed, 4),
            jobs=self.jobs,
        )

    def climbed(
        self, target: Target, *, start: Floats | None = None, schedule: AscentSchedule | None = None
    ) -> ChainFit:
        """Ascend, then search for spurious modes and remove them."""
        schedule, chains = schedule or self.schedule(warm=start is not None), self.chains()
        ascent = climb(target, chains, self.start if start is None else start, schedule)
        distrust = schedule.distrust(0, self.n_chains)
        hunted = hunt(target, ascent, self.codes, distrust, seed=(self.seed, 2), jobs=self.jobs)
        train = float(self.means.of_features @ hunted.ascent.w) - hunted.evidence.log_z
        return ChainFit(hunted.ascent.w, hunted.ascent, hunted.evidence, hunted.rounds, train)
