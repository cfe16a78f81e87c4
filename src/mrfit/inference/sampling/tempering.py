"""log Z and marginals by parallel tempering, for models with modes between which annealing does not mix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit._typing import Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors, check_scopes
from mrfit.core.seeds import check_seed
from mrfit.inference.engine import Engine, check_precision
from mrfit.inference.plan import Plan
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import uniform
from mrfit.inference.sampling.gibbs_chains import code_type
from mrfit.inference.sampling.ladder import MOST_RUNGS, adapted_ladder, first_ladder
from mrfit.inference.sampling.replicas import first_states, run_round
from mrfit.inference.sampling.sampling_plan import MOST_CELLS, SamplingPlan, sweep_seconds
from mrfit.inference.sampling.tempered_posterior import TemperedPosterior

_SHORTEST = 8  # sweeps of the first round; each later one has twice as many as the last
_SOONEST = 32  # sweeps of the first round that may answer
_SMALL = 0.08  # standard error of log Z that is small enough: about what annealing reports
_USUAL = 2000  # sweeps of all rungs, for forecasts


@dataclass(frozen=True, eq=False)
class Tempering(Engine):
    """log Z and marginals, with errors, by non-reversible parallel tempering from the uniform distribution.

    Each replicate is a ladder of chains from the uniform distribution to the model, which swap their states with
    neighbours. Rounds double in length. After each round the ladder is adapted so that swaps are equally likely
    everywhere. The last round answers. Rounds end when the standard error of log Z is at most 0.08, states have made
    four round trips a replicate, log Z agrees with the round before, and replicates from quenched states agree with
    those from random states. If ``max_sweeps`` ends them earlier, a remark names the missing sign of mixing.

    Parameters
    ----------
    chains
        Number of replicates, rounded up to whole blocks of 64.
    precision
        Largest acceptable standard error of any single variable's probability; None accepts any.
    max_sweeps
        Limit for all temperatures and rounds together.
    seed
        Random seed. Results do not depend on ``jobs``.
    jobs
        Number of threads, each for some of the temperatures.

    References
    ----------
    Syed, Bouchard-Cote, Deligiannidis and Doucet, "Non-reversible parallel tempering: a scalable highly parallel MCMC
    scheme", JRSS B 84, 2022.
    """

    chains: int = 64
    precision: float | None = None
    max_sweeps: int = 40_000
    seed: int = 0
    jobs: int = 1
    max_cells: int = MOST_CELLS

    word: ClassVar[str] = "tempering"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        check_precision(self.precision)
        least = _SOONEST * MOST_RUNGS
        if self.chains < 4 or self.max_sweeps < least:
            raise InputError(
                f"Tempering cannot run with {self.chains} chains and {self.max_sweeps} sweeps; expected at least 4 "
                f"chains and {least:,} sweeps. Raise what is too small."
            )

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> SamplingPlan:
        check_scopes(factors.shape, targets)
        n_cells = self._replicates * factors.n_variables * (MOST_RUNGS + _SOONEST)
        return SamplingPlan(
            engine=self.word,
            shape=factors.shape,
            task="Parallel tempering",
            n_cells=n_cells,
            max_cells=self.max_cells,
            n_bytes=n_cells * np.dtype(code_type(factors.shape)).itemsize,
            forecast=sweep_seconds(factors, self._replicates) * min(_USUAL, self.max_sweeps),
            why="it needs no table over many variables, passes between modes, and log Z has an error",
            suggestion="Use fewer chains, or raise max_cells.",
        )

    @property
    def _replicates(self) -> int:
        return -(-self.chains // LANES) * LANES

    def _run(self, plan: Plan, factors: Factors) -> TemperedPosterior:
        return self.tempered(factors)

    def tempered(self, factors: Factors) -> TemperedPosterior:
        """Run without a plan, for an engine that has checked one."""
        base = uniform(factors.shape)
        path = AnnealingPath.between(base.factors, factors, soft=True)
        betas, n_draws, done = first_ladder(), _SHORTEST, 0
        codes = first_states(path, base, len(betas), self._replicates, (self.seed, 20), self.jobs)
        found: TemperedPosterior | None = None
        for number in range(self.max_sweeps):
            # 1. Sweep and swap.
            last = run_round(path, betas, codes, n_draws, (self.seed, 21, number), self.jobs)
            done += n_draws * len(betas)
            # 2. Adapt the ladder.
            # Only the next round uses the new ladder: all draws of a round are from one.
            betas = adapted_ladder(last.betas, last.rejections)
            codes = last.moved_to(betas)
            # 3. Stop when the answer is good enough, or when there is no time for a round of twice the length.
            # The round before has to be known for the comparison, so checks begin one round before the first answer.
            if n_draws >= _SOONEST // 2:
                found = TemperedPosterior(factors, last, found)
                doubts = found.doubts()
                if not doubts and self._is_precise(found):
                    return found
                if not self._has_time(done, 2 * n_draws, len(betas), factors.n_variables):
                    break
            n_draws *= 2
        assert found is not None
        if doubts:
            found.doubtful(doubts)
        if self.precision is not None and (error := found.largest_error) > self.precision:
            found.remarks += (
                f"The largest standard error of a probability is {error:.2g} after {found.n_draws:,} sweeps of "
                f"{found.n_rungs} temperatures; a precision of {self.precision:g} was asked for.",
            )
        return found

    def _is_precise(self, found: TemperedPosterior) -> bool:
        assert found.error is not None
        return found.error <= _SMALL and (self.precision is None or found.largest_error <= self.precision)

    def _has_time(self, done: int, n_draws: int, rungs: int, n_variables: int) -> bool:
        """Return whether sweeps, and memory for the draws of the last rung, suffice for another round."""
        n_cells = self._replicates * n_variables * (n_draws + MOST_RUNGS)
        return done + n_draws * rungs <= self.max_sweeps and n_cells <= self.max_cells
