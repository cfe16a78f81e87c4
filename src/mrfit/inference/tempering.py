"""log Z and marginals by parallel tempering, for modes between which annealing does not mix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mrfit._kernels.lanes import LANES
from mrfit.errors import InputError
from mrfit.factors import Factors, Scope, check_scopes
from mrfit.inference.base import uniform
from mrfit.inference.chains import code_type
from mrfit.inference.engine import Engine, check_precision
from mrfit.inference.ladder import MOST_RUNGS, adapted_ladder, first_ladder
from mrfit.inference.path import Path
from mrfit.inference.plan import Plan
from mrfit.inference.replicas import first_states, run_round
from mrfit.inference.sampling_plan import MOST_CELLS, SamplingPlan, sweep_seconds
from mrfit.inference.tempered_posterior import TemperedPosterior
from mrfit.seeds import check_seed

_SHORTEST = 8  # sweeps of the first round; each later one has twice as many as the last
_SOONEST = 32  # sweeps of the first round that may answer
_USUAL = 2000  # sweeps of all rungs, for forecasts


@dataclass(frozen=True, eq=False)
class Tempering(Engine):
    """log Z and marginals, with errors, by non-reversible parallel tempering from the uniform distribution.

    Each replicate is a ladder of chains from the uniform distribution to the model, which swap their states with
    neighbours. Rounds double in length, and after each the ladder is placed anew so that swaps are equally likely
    everywhere. The last round answers. It is the last when the error of log Z is at most ``log_z_error``, states made
    four round trips a replicate, log Z is that of the round before, and replicates that began in quenched states
    agree with those that began anywhere. When ``max_sweeps`` ends it before, a remark says what was missing.

    Parameters
    ----------
    chains
        Replicates, rounded up to whole blocks of 64.
    log_z_error
        Standard error of log Z that is good enough.
    precision
        Largest standard error of any single variable's probability that is good enough; None for any.
    max_sweeps
        Of all temperatures and rounds together.
    seed
        The same numbers for the same seed, whatever ``jobs``.
    jobs
        Threads, each for some of the temperatures.

    References
    ----------
    Syed, Bouchard-Cote, Deligiannidis and Doucet, "Non-reversible parallel tempering: a scalable highly parallel MCMC
    scheme", JRSS B 84, 2022.
    """

    chains: int = 64
    log_z_error: float = 0.05
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
        if self.chains < 4 or self.max_sweeps < least or not self.log_z_error > 0.0:
            raise InputError(
                f"Tempering was asked for with {self.chains} chains, {self.max_sweeps} sweeps and an error of log Z of "
                f"{self.log_z_error}; expected at least 4 chains, {least:,} sweeps and an error above 0. Raise what is "
                "too small."
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
            ways_on="Use fewer chains, or raise max_cells.",
        )

    @property
    def _replicates(self) -> int:
        return -(-self.chains // LANES) * LANES

    def _run(self, plan: Plan, factors: Factors) -> TemperedPosterior:
        base = uniform(factors.shape)
        path = Path.between(base.factors, factors, soft=True)
        betas, n_draws, done = first_ladder(), _SHORTEST, 0
        codes = first_states(path, base, len(betas), self._replicates, (self.seed, 20), self.jobs)
        found: TemperedPosterior | None = None
        for number in range(self.max_sweeps):
            # 1. Sweep and swap.
            last = run_round(path, betas, codes, n_draws, (self.seed, 21, number), self.jobs)
            done += n_draws * len(betas)
            # 2. Place the ladder anew.
            betas = adapted_ladder(last.betas, last.rejections)
            codes = last.moved_to(betas)
            # 3. Stop when the answer is good enough, or when there is no time for a round of twice the length.
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
        elif not self._is_precise(found):
            found.remarks += (self._imprecise(found),)
        return found

    def _is_precise(self, found: TemperedPosterior) -> bool:
        assert found.error is not None
        return found.error <= self.log_z_error and (self.precision is None or found.largest_error <= self.precision)

    def _has_time(self, done: int, n_draws: int, rungs: int, n_variables: int) -> bool:
        """And memory, for the draws of the last rung."""
        n_cells = self._replicates * n_variables * (n_draws + MOST_RUNGS)
        return done + n_draws * rungs <= self.max_sweeps and n_cells <= self.max_cells

    def _imprecise(self, found: TemperedPosterior) -> str:
        wished = f"{self.log_z_error:g} was wanted"
        said = f"The standard error of log Z is {found.error:.2g}, where {wished}"
        if self.precision is not None:
            said += f", and the largest one of a probability {found.largest_error:.2g}, where {self.precision:g} was"
        return f"{said}, after {found.n_draws:,} sweeps of {found.n_rungs} temperatures. Raise max_sweeps."
