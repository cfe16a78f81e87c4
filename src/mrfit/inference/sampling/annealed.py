"""log Z and marginals by annealed importance sampling from the uniform distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit._typing import Codes, Floats, Scope
from mrfit.core.errors import InputError, listed
from mrfit.core.factors import Factors, check_scopes
from mrfit.core.seeds import check_seed
from mrfit.inference.engine import Engine, check_precision
from mrfit.inference.plan import Plan
from mrfit.inference.sampling.annealed_posterior import N_DRAWS, AnnealedPosterior
from mrfit.inference.sampling.annealing import AnnealingEstimate, joined, run_up
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import BaseDistribution, independent, tree, uniform
from mrfit.inference.sampling.chain_initialization import annealed_states, check_rows
from mrfit.inference.sampling.draws import recorded
from mrfit.inference.sampling.gibbs_chains import Chains, code_type
from mrfit.inference.sampling.sampling_plan import DRAW_SECONDS, MOST_CELLS, SamplingPlan, sweep_seconds
from mrfit.inference.sampling.tempered_posterior import TemperedPosterior
from mrfit.inference.sampling.tempering import Tempering

ENOUGH = 0.5  # effective sample size that is enough, as a share of the chains
_SPREAD = 0.4  # target variance of log weights; normal ones then have an effective sample size of exp(-0.4) * chains
_PATIENCE = 4000  # temperatures; beyond that tempering is cheaper
_TEMPERING_SWEEPS = 16_000  # of 64 chains: the cost of 8,000 temperatures for 128 chains
_MOMENT_DRAWS, _BETWEEN = 25, 4  # draws of each chain for the moments of a base, and sweeps between them
_MOST_CHAINS = 8192  # for a precision
_MARGIN = 1.1  # more chains than the precision needs, because errors are estimates too


def _moments(make: Callable[..., BaseDistribution], word: str) -> Callable[[Annealed, Factors], BaseDistribution]:
    """Return a maker of a base with the frequencies of a short annealed run."""

    def base(engine: Annealed, factors: Factors) -> BaseDistribution:
        start = annealed_states(
            factors, engine.chains, sweeps=_MOMENT_DRAWS * _BETWEEN, seed=(engine.seed, 3), jobs=engine.jobs
        )
        chains = Chains(
            AnnealingPath.between(uniform(factors.shape).factors, factors), start, (engine.seed, 4), jobs=engine.jobs
        )
        return make(word, factors.shape, _rows(recorded(chains, factors, _MOMENT_DRAWS, _BETWEEN)))

    return base


def _of_data(engine: Annealed, factors: Factors) -> BaseDistribution:
    if engine.data is None:
        raise InputError("The base 'data' needs rows; got none. Give data, or leave this base out.")
    rows = np.asarray(engine.data)
    check_rows(factors, rows)
    return independent("data", factors.shape, rows)


BASES: dict[str, Callable[[Annealed, Factors], BaseDistribution]] = {
    "uniform": lambda engine, factors: uniform(factors.shape),
    "moments": _moments(independent, "moments"),
    "tree": _moments(tree, "tree"),
    "data": _of_data,
}


@dataclass(frozen=True, eq=False)
class Annealed(Engine):
    """Annealed importance sampling: estimates of log Z and marginals with standard errors, for any structure.

    Chains begin in the uniform distribution, so that each mode is reached about as often as its weight, and the error
    covers modes that few chains reach (Neal 2001).

    Parameters
    ----------
    chains : int, default 128
        Number of chains from each base, at least 4; 64 cost as much as one.
    precision : float, default None
        Largest acceptable standard error of any single variable's probability. The run adds chains, up to 8,192, until
        it is reached; a remark warns if it is not. None uses ``chains`` alone.
    temperatures : int, default 1000
        Number of temperatures between base and model in the first attempt.
    max_temperatures : int, default 20000
        Largest number of temperatures. The run takes more until the effective sample size of its weights is half the
        number of chains.
    bases : tuple of str, optional
        ``uniform``, the default, which is always used, and checks: ``moments`` (independent, frequencies of a short
        annealed run); ``tree`` (maximum mutual information tree of that run); ``data`` (independent, frequencies of
        ``data``).
    data : array of shape (n_rows, n_variables), default None
        Rows of codes for the base ``data``.
    seed : int, default 0
        Random seed of all chains.
    jobs : int, default 1
        Number of threads, each for blocks of 64 chains; the result does not depend on it.
    max_cells : int, default 2147483648
        Largest number of recorded states of variables.

    Raises
    ------
    MrfitError
        If a base does not exist, or there are too few chains or temperatures.

    See Also
    --------
    Gibbs : Chains at the model itself, without log Z.
    JunctionTree : Exact, where its cliques fit.

    Notes
    -----
    A base that resembles one mode hardly reaches the others, and would report a smaller error. Bases other than
    ``uniform`` are therefore only checks: if one finds a log Z that is larger by more than 3 joint standard errors, its
    answer is given, the error is at least the difference, and a remark warns. Where annealing would take more than
    4,000 temperatures, as near a first-order transition, parallel tempering answers instead; annealing continues only
    if tempering does not mix either.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.inference import Annealed
    >>> factors = mrfit.Factors.from_tables((2, 2), [((0, 1), [1.0, 0.0, 0.0, 1.0])])
    >>> engine = Annealed(seed=1)
    >>> posterior = engine.run(engine.plan(factors), factors)
    >>> abs(posterior.log_z - 2.006) < 4 * posterior.error
    True
    """

    chains: int = 128
    precision: float | None = None
    temperatures: int = 1000
    max_temperatures: int = 20_000
    bases: tuple[str, ...] = ("uniform",)
    data: Codes | None = None
    seed: int = 0
    jobs: int = 1
    max_cells: int = MOST_CELLS

    word: ClassVar[str] = "ais"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if unknown := [word for word in self.bases if word not in BASES]:
            raise InputError(f"There is no base {unknown[0]!r}; choose among {listed(BASES)}.")
        if self.chains < 4 or self.temperatures < 1 or self.max_temperatures < self.temperatures:
            raise InputError(
                f"Annealing cannot run with {self.chains} chains and {self.temperatures} temperatures of at most "
                f"{self.max_temperatures}; expected at least 4 chains, 1 temperature and a limit not below that. Raise "
                "what is too small."
            )
        check_precision(self.precision)

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> SamplingPlan:
        check_scopes(factors.shape, targets)
        n_sweeps = len(self._words) * self.temperatures + 2 * _MOMENT_DRAWS * _BETWEEN * (len(self._words) - 1)
        n_cells = N_DRAWS * self.chains * len(self._words) * factors.n_variables
        return SamplingPlan(
            engine=self.word,
            shape=factors.shape,
            task="Annealed importance sampling",
            n_cells=n_cells,
            max_cells=self.max_cells,
            n_bytes=n_cells * np.dtype(code_type(factors.shape)).itemsize,
            forecast=sweep_seconds(factors, self.chains) * n_sweeps + DRAW_SECONDS * N_DRAWS,
            why="it needs no table over many variables, and log Z has an error",
            suggestion="Use fewer chains, or raise max_cells.",
        )

    @property
    def _words(self) -> tuple[str, ...]:
        """The base that answers, then the checks."""
        return tuple(dict.fromkeys(("uniform", *self.bases)))

    def _run(self, plan: Plan, factors: Factors) -> AnnealedPosterior | TemperedPosterior:
        # If annealing needs more temperatures than tempering costs, try tempering first.
        first = self._from_base(self._words[0], factors, 0, patience=_PATIENCE)
        tempered: TemperedPosterior | None = None
        if self._is_impatient(first[0]):
            tempered = self._tempered(factors)
            if not tempered.doubts():
                return tempered
        if not self._has_ended(first[0]):
            first = self._from_base(self._words[0], factors, 0)
        # Weights are unbiased from any base, so each base can only miss probability: a larger log Z elsewhere proves
        # that something was missed, and a smaller one proves nothing.
        alarms = [self._from_base(word, factors, number) for number, word in enumerate(self._words) if number > 0]
        found = [first, *alarms]
        if all(estimate.ess == 0.0 for estimate, _ in found):
            raise InputError(
                f"None of {self.chains * len(found)} chains found a joint state possible under the tables' cells of "
                "minus infinity. The tables and the evidence may contradict each other: check them, use an "
                "exact engine, which can tell, or raise max_temperatures."
            )
        posterior = AnnealedPosterior(factors, found, self.seed, self.jobs)
        if tempered is not None and posterior.is_doubtful:
            return tempered
        return posterior if self.precision is None else self._as_precise(factors, found, posterior)

    def _is_impatient(self, estimate: AnnealingEstimate) -> bool:
        """Return whether annealing stopped because it needs more temperatures than tempering costs.

        If all chains ended in impossible states, annealing continues: they carry no information on modes.
        """
        return estimate.ess > 0.0 and not self._has_ended(estimate)

    def _has_ended(self, estimate: AnnealingEstimate) -> bool:
        return estimate.temperatures >= self.max_temperatures or estimate.ess >= ENOUGH * self.chains

    def _tempered(self, factors: Factors) -> TemperedPosterior:
        """Run tempering for no longer than annealing's patience, so that little is lost if neither mixes soon."""
        engine = Tempering(
            chains=max(self.chains // 2, LANES),
            precision=self.precision,
            max_sweeps=_TEMPERING_SWEEPS,
            seed=self.seed,
            jobs=self.jobs,
            max_cells=self.max_cells,
        )
        return engine.tempered(factors)

    def _from_base(
        self, word: str, factors: Factors, number: int, patience: int | None = None
    ) -> tuple[AnnealingEstimate, Codes]:
        """Anneal from one base, with its own random numbers: chains that share them tend to meet, and agree by that."""
        return annealed_enough(
            factors,
            BASES[word](self, factors),
            chains=self.chains,
            temperatures=self.temperatures,
            max_temperatures=self.max_temperatures,
            patience=patience,
            seed=(self.seed, 10 + number),
            jobs=self.jobs,
        )

    def _as_precise(
        self, factors: Factors, found: Sequence[tuple[AnnealingEstimate, Codes]], posterior: AnnealedPosterior
    ) -> AnnealedPosterior:
        """Add chains from the uniform base, at the number of temperatures that was enough, until errors are small."""
        assert self.precision is not None
        (estimate, codes), *alarms = found
        base, most = uniform(factors.shape), self._most_chains(factors)
        path = AnnealingPath.between(base.factors, factors, soft=True)
        while (error := posterior.largest_error) > self.precision and len(codes) < most:
            # Errors fall with the root of the number of chains. Chains are added at the temperatures that were enough,
            # so all weights have one distribution and may be pooled.
            wished = len(codes) * float(np.clip(_MARGIN * (error / self.precision) ** 2, 2.0, 16.0))
            n_more = min(ceil(wished), most) - len(codes)
            seed = (self.seed, 9, len(codes))
            more, more_codes = run_up(path, base, n_more, estimate.temperatures, seed, self.jobs)
            estimate, codes = joined(estimate, more), np.concatenate((codes, more_codes))
            posterior = AnnealedPosterior(factors, [(estimate, codes), *alarms], self.seed, self.jobs)
        if error > self.precision:
            posterior.remarks += (
                f"The largest standard error of a probability is {error:.2g} with {len(codes):,} chains; a precision "
                f"of {self.precision:g} was asked for.",
            )
        return posterior

    def _most_chains(self, factors: Factors) -> int:
        """Return the number of chains whose draws fit into the memory limit."""
        return max(self.chains, min(_MOST_CHAINS, self.max_cells // (N_DRAWS * max(factors.n_variables, 1))))


def annealed_enough(
    factors: Factors,
    base: BaseDistribution,
    *,
    chains: int,
    temperatures: int,
    max_temperatures: int,
    seed: tuple[int, ...],
    jobs: int = 1,
    patience: int | None = None,
    is_enough: Callable[[AnnealingEstimate], bool] | None = None,
) -> tuple[AnnealingEstimate, Codes]:
    """Anneal from a base at as many temperatures as needed; return the estimate and the last states.

    By default the effective sample size of the weights has to be half the number of chains. The run stops short of that
    when it would take more than ``patience`` temperatures, or more than ``max_temperatures``.
    """
    path = AnnealingPath.between(base.factors, factors, soft=True)
    suffices = is_enough or (lambda estimate: estimate.ess >= ENOUGH * chains)
    while True:
        estimate, codes = run_up(path, base, chains, temperatures, seed, jobs)
        if suffices(estimate) or temperatures >= max_temperatures:
            return estimate, codes
        wished = min(max_temperatures, ceil(temperatures * _longer(estimate.log_weights)))
        if patience is not None and wished > patience:
            return estimate, codes
        temperatures = wished


def _longer(log_weights: Floats) -> float:
    """Return the factor by which to raise the number of temperatures: the variance of log weights is inverse to it."""
    alive = log_weights[log_weights > -np.inf]
    return float(np.clip(alive.var() / _SPREAD, 2.0, 16.0)) if len(alive) > 1 else 16.0


def _rows(states: NDArray[Any]) -> Codes:
    return states.transpose(0, 2, 1).reshape(states.shape[0] * states.shape[2], states.shape[1])
