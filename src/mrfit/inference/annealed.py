"""log Z and marginals by annealed importance sampling from several bases."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import ceil
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from mrfit import workers
from mrfit.errors import InputError, listed
from mrfit.factors import Factors, Scope, check_scopes
from mrfit.inference.annealing import Estimate, run_up
from mrfit.inference.base import Base, independent, tree, uniform
from mrfit.inference.chains import Chains, code_type
from mrfit.inference.draws import Draws
from mrfit.inference.engine import Engine, Posterior
from mrfit.inference.path import Path
from mrfit.inference.plan import Plan
from mrfit.inference.sampling_plan import DRAW_SECONDS, MOST_CELLS, SamplingPlan, sweep_seconds
from mrfit.inference.starts import annealed_states, check_rows, check_seed

Floats = NDArray[np.float64]
Codes = NDArray[Any]

ENOUGH = 0.5  # of the chains that weights should be worth
_DOUBTFUL = 0.25  # below which a standard error is not to be trusted
_WORTHLESS = 0.125  # below which a few weights decide, and a standard error says nothing
_BEYOND = 3.0  # joint standard errors at which bases disagree
_UNSEEN = 3e-3  # an error that no weights show: what a base does more rarely than there are chains
_SPREAD = 0.4  # variance of log weights to aim at: weights of normal logarithms are then worth exp(-0.4) of the chains
_LEAST_ERROR = 1e-12  # of a base that is the distribution itself
_DRAWS = 100  # of each chain, for marginals
_MOMENT_DRAWS, _BETWEEN = 25, 4  # of each chain for the moments of a base, and sweeps between them


def _moments(make: Callable[..., Base], word: str) -> Callable[[Annealed, Factors], Base]:
    """A base with frequencies of a short annealed run."""

    def base(engine: Annealed, factors: Factors) -> Base:
        start = annealed_states(
            factors, engine.chains, sweeps=_MOMENT_DRAWS * _BETWEEN, seed=(engine.seed, 3), jobs=engine.jobs
        )
        chains = Chains(
            Path.between(uniform(factors.shape).factors, factors), start, (engine.seed, 4), jobs=engine.jobs
        )
        return make(word, factors.shape, _rows(_recorded(chains, factors, _MOMENT_DRAWS, _BETWEEN)))

    return base


def _of_data(engine: Annealed, factors: Factors) -> Base:
    if engine.data is None:
        raise InputError("The base 'data' needs rows; got none. Give data, or leave this base out.")
    rows = np.asarray(engine.data)
    check_rows(factors, rows)
    return independent("data", factors.shape, rows)


BASES: dict[str, Callable[[Annealed, Factors], Base]] = {
    "uniform": lambda engine, factors: uniform(factors.shape),
    "moments": _moments(independent, "moments"),
    "tree": _moments(tree, "tree"),
    "data": _of_data,
}


@dataclass(frozen=True, eq=False)
class Annealed(Engine):
    """log Z with an error, and marginals, by annealed importance sampling from several bases.

    The error of one base cannot see a mode that its chains miss, so there are at least two, and where they differ by
    more than 3 joint standard errors the larger is given, its error is their difference, and a remark says so. Each
    base begins with ``temperatures`` and takes as many more, up to ``max_temperatures``, as make its weights worth half
    of its chains.

    Parameters
    ----------
    chains
        Of each base; 64 run at the price of one.
    bases
        Among ``uniform``; ``moments`` (independent, frequencies of a short annealed run); ``tree`` (the tree of most
        mutual information in that run); ``data`` (independent, frequencies of ``data``).
    data
        Rows of codes for the base of that name.
    seed
        The same numbers for the same seed, whatever ``jobs``.
    jobs
        Threads, each for blocks of 64 chains.
    """

    chains: int = 64
    temperatures: int = 1000
    max_temperatures: int = 20_000
    bases: tuple[str, ...] = ("uniform", "moments")
    data: Codes | None = None
    seed: int = 0
    jobs: int = 1
    max_cells: int = MOST_CELLS

    word: ClassVar[str] = "ais"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        unknown = [word for word in self.bases if word not in BASES]
        if unknown or len(set(self.bases)) < 2:
            raise InputError(
                f"The bases are {listed(self.bases)}; expected at least two different ones of {listed(BASES)}, since "
                "one alone cannot tell a mode that it misses. Choose among these."
            )
        if self.chains < 4 or self.temperatures < 1 or self.max_temperatures < self.temperatures:
            raise InputError(
                f"Annealing was asked for with {self.chains} chains and {self.temperatures} temperatures of at most "
                f"{self.max_temperatures}; expected at least 4 chains, 1 temperature and a limit not below that. Raise "
                "what is too small."
            )

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> SamplingPlan:
        check_scopes(factors.shape, targets)
        n_sweeps = len(self.bases) * (self.temperatures + 2 * _MOMENT_DRAWS * _BETWEEN)
        n_cells = _DRAWS * self.chains * len(self.bases) * factors.n_variables
        return SamplingPlan(
            engine=self.word,
            shape=factors.shape,
            task="Annealed importance sampling",
            n_cells=n_cells,
            max_cells=self.max_cells,
            n_bytes=n_cells * np.dtype(code_type(factors.shape)).itemsize,
            forecast=sweep_seconds(factors, self.chains) * n_sweeps + DRAW_SECONDS * _MOMENT_DRAWS,
            why="it needs no table over many variables, and log Z has an error",
            ways_on="Use fewer chains, or raise max_cells.",
        )

    def _run(self, plan: Plan, factors: Factors) -> AnnealedPosterior:
        words = [*dict.fromkeys(self.bases)]

        def from_bases(first: int, last: int) -> list[tuple[Estimate, Codes]]:
            return [self._from_base(words[number], factors, number) for number in range(first, last)]

        shares = workers.deal(np.ones(len(words)), self.jobs)
        found = [one for share in workers.run(from_bases, shares) for one in share]
        if all(estimate.ess == 0.0 for estimate, _ in found):
            raise InputError(
                f"None of {self.chains * len(found)} chains found a joint state possible under the tables' cells of "
                "minus infinity. The tables, or what is given as known, may contradict each other: check them, use an "
                "exact engine, which can tell, or raise max_temperatures."
            )
        return AnnealedPosterior(factors, found, self.seed, self.jobs)

    def _from_base(self, word: str, factors: Factors, number: int) -> tuple[Estimate, Codes]:
        """With random numbers of its own: chains with the same ones tend to meet, and would agree by that."""
        return annealed_enough(
            factors,
            BASES[word](self, factors),
            chains=self.chains,
            temperatures=self.temperatures,
            max_temperatures=self.max_temperatures,
            seed=(self.seed, 10 + number),
            jobs=self.jobs,
        )


def annealed_enough(
    factors: Factors,
    base: Base,
    *,
    chains: int,
    temperatures: int,
    max_temperatures: int,
    seed: tuple[int, ...],
    jobs: int = 1,
    is_enough: Callable[[Estimate], bool] | None = None,
) -> tuple[Estimate, Codes]:
    """Runs of chains from a base, with as many temperatures as are enough: by themselves, that weights be worth half
    of the chains."""
    path = Path.between(base.factors, factors, soft=True)
    suffices = is_enough or (lambda estimate: estimate.ess >= ENOUGH * chains)
    while True:
        estimate, codes = run_up(path, base, chains, temperatures, seed, jobs)
        if suffices(estimate) or temperatures >= max_temperatures:
            return estimate, codes
        temperatures = min(max_temperatures, ceil(temperatures * _longer(estimate.log_weights)))


def _longer(log_weights: Floats) -> float:
    """How many times the temperatures would give weights that do: their variance falls with that number."""
    alive = log_weights[log_weights > -np.inf]
    return float(np.clip(alive.var() / _SPREAD, 2.0, 16.0)) if len(alive) > 1 else 16.0


class AnnealedPosterior(Posterior):
    """log Z from all bases together, and marginals from their chains by their weights.

    ``estimates`` has what every base says by itself. Bases that disagree with the one whose log Z is largest have no
    part in it. Where the weights of a base are worth less than an eighth of its chains, the error is at least the
    spread of their logarithms.
    """

    exact = False

    def __init__(self, factors: Factors, found: Sequence[tuple[Estimate, Codes]], seed: int, jobs: int) -> None:
        self.estimates = tuple(estimate for estimate, _ in found)
        self._factors, self._seed, self._jobs = factors, seed, jobs
        self._codes = np.concatenate([codes for _, codes in found])
        known = [estimate for estimate in self.estimates if estimate.ess > 0.0]
        apart = [abs(one.log_z - other.log_z) for one, other in combinations(known, 2) if _disagree(one, other)]
        largest = max(known, key=lambda estimate: estimate.log_z)
        taken = [estimate for estimate in known if not _disagree(estimate, largest)]
        self.log_z, shares, error = _joined(taken)
        self._shares = dict(zip((estimate.base for estimate in taken), shares, strict=True))
        spread = [estimate.spread for estimate in taken if estimate.ess < _WORTHLESS * len(estimate.shares)]
        self.error, self._apart = max([error, *apart, *spread]), bool(apart)
        self.remarks = tuple(self._remarks())

    def _remarks(self) -> list[str]:
        remarks = []
        if self._apart:
            said = "; ".join(f"{e.base} {e.log_z:.3f}, error {e.error:.3f}" for e in self.estimates)
            remarks.append(
                f"The bases disagree about log Z ({said}): some chains miss a mode. What the larger say is given, and "
                "its error is the difference."
            )
        doubtful = [estimate for estimate in self.estimates if estimate.ess < _DOUBTFUL * len(estimate.shares)]
        return remarks + [
            f"After {e.temperatures:,} temperatures the {len(e.shares)} chains from base {e.base} are worth "
            f"{e.ess:.1f}: the error may be too small. Raise max_temperatures."
            for e in doubtful
        ]

    @cached_property
    def _weights(self) -> Floats:
        """Of all chains, with the sum 1."""
        return np.concatenate([self._shares.get(e.base, 0.0) * e.shares for e in self.estimates])

    @property
    def ess(self) -> float:
        """How many independent, equal weights those of all chains are worth."""
        return float(1.0 / (self._weights**2).sum())

    @cached_property
    def _draws(self) -> Draws:
        """From where the chains ended: sweeps leave weights as they are. Chains of weight 0 repeat another."""
        alive = np.concatenate([estimate.shares for estimate in self.estimates]) > 0.0
        start = self._codes[np.where(alive, np.arange(len(alive)), alive.argmax())]
        path = Path.between(uniform(self._factors.shape).factors, self._factors)
        chains = Chains(path, start, (self._seed, 5), jobs=self._jobs)
        return Draws(self._factors, _recorded(chains, self._factors, _DRAWS, 1), np.empty((0, 0)))

    def marginal(self, scope: Scope) -> Floats:
        return np.asarray(self._draws.chain_marginals(scope) @ self._weights)

    def marginal_error(self, scope: Scope) -> Floats:
        """Standard errors of a marginal; where bases disagree about log Z, at least how far they differ about it."""
        rows = self._draws.chain_marginals(scope)
        beside = rows - (rows @ self._weights)[:, None]
        error = np.sqrt(beside**2 @ self._weights**2)
        if self._apart:
            parts = np.split(rows, len(self.estimates), axis=1)
            each = [part @ e.shares for part, e in zip(parts, self.estimates, strict=True) if e.ess > 0.0]
            error = np.maximum(error, np.max(each, axis=0) - np.min(each, axis=0))
        return np.asarray(error)


def _disagree(one: Estimate, other: Estimate) -> bool:
    chance = np.sqrt(one.error**2 + other.error**2 + _UNSEEN**2)
    return bool(abs(one.log_z - other.log_z) > _BEYOND * chance)


def _joined(estimates: Sequence[Estimate]) -> tuple[float, Floats, float]:
    """log Z of bases that agree, the share that each has in it, and its error.

    Each counts by the inverse of its error, not of its variance: errors are estimates too, and too small just where
    chains have missed something. If the bases differ by more than their errors say, the joint error grows by as much.
    """
    log_z = np.array([estimate.log_z for estimate in estimates])
    errors = np.maximum([estimate.error for estimate in estimates], _LEAST_ERROR)
    parts = log_z - np.log(errors)
    shares = np.exp(parts - logsumexp(parts))
    joint = float(logsumexp(parts) - np.log(np.sum(1.0 / errors)))
    scale = np.sum(((log_z - joint) / np.maximum(errors, _UNSEEN)) ** 2) / max(len(log_z) - 1, 1)
    return joint, shares, float(np.sqrt(np.sum((shares * errors) ** 2) * max(scale, 1.0)))


def _recorded(chains: Chains, factors: Factors, n_draws: int, every: int) -> NDArray[Any]:
    states: NDArray[Any] = np.empty((n_draws, factors.n_variables, chains.n), code_type(factors.shape))
    chains.record(every, states)
    return states


def _rows(states: NDArray[Any]) -> Codes:
    return states.transpose(0, 2, 1).reshape(states.shape[0] * states.shape[2], states.shape[1])
