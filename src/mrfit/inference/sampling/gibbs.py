"""Approximate inference by Gibbs sampling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from mrfit._typing import Codes, Floats, Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors, check_scopes
from mrfit.core.seeds import check_seed
from mrfit.inference.engine import Engine, Posterior, check_precision
from mrfit.inference.plan import Plan
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import uniform
from mrfit.inference.sampling.chain_initialization import annealed_states, rows_to_begin_in
from mrfit.inference.sampling.draws import Draws
from mrfit.inference.sampling.gibbs_chains import Chains, code_type
from mrfit.inference.sampling.sampling_plan import DRAW_SECONDS, MOST_CELLS, SamplingPlan, sweep_seconds

GOOD_R_HAT = 1.01  # Vehtari et al. (2021)
_DRAWS = 500  # recorded of each chain
_STUCK = 1.1  # R-hat above which chains stay in their own modes and do not show the modes' weights
_BEYOND = 3.0  # joint standard errors at which the difference of two groups of chains is their error
_MOST_RECORDED = 2**28  # states of variables that are recorded for a precision


@dataclass(frozen=True, eq=False)
class Gibbs(Engine):
    """Parallel Gibbs chains: estimates of marginals with standard errors, for any structure.

    Chains update one variable at a time given all others. They stop when they agree: when rank-normalised split R-hat
    of every state of every variable, and of log p, is at most 1.01 (Vehtari et al. 2021), or at ``max_sweeps``, with a
    remark.

    Parameters
    ----------
    chains : int, default 64
        Number of chains, at least 4; 64 cost as much as one.
    sweeps : int, default 500
        Number of sweeps in the first round. Each further round is as long as all before it, and only the last one
        counts.
    max_sweeps : int, default 32000
        Largest number of sweeps of all rounds together.
    annealing : int, default 200
        Number of sweeps from the uniform distribution to the model, before the first round.
    data : array of shape (n_rows, n_variables), default None
        Rows of codes in which half of the chains begin. Without data all are annealed.
    seed : int, default 0
        Random seed of starts and sweeps.
    jobs : int, default 1
        Number of threads, each for blocks of 64 chains; the result does not depend on it.
    max_cells : int, default 2147483648
        Largest number of recorded states.
    precision : float, default None
        Largest acceptable standard error of the probability of a state; None accepts any once chains agree. With a
        precision, chains record more of their states, up to 256 MB.

    Raises
    ------
    MrfitError
        If there are too few chains or sweeps.

    See Also
    --------
    Annealed : Estimates log Z too.
    mrfit.MarkovNetwork.sample : Rows by names of variables.

    Notes
    -----
    Chains that begin in the data may stay there long after the model has its mass elsewhere, and agree with each other.
    The annealed half reveals that.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.inference import Gibbs
    >>> tables = [((0,), [0.0, 1.0]), ((0, 1), [1.0, 0.0, 0.0, 1.0])]
    >>> factors = mrfit.Factors.from_tables((2, 2), tables)
    >>> engine = Gibbs(seed=1)
    >>> posterior = engine.run(engine.plan(factors), factors)
    >>> p, error = posterior.marginal((0,))[1], posterior.marginal_error((0,))[1]
    >>> bool(abs(p - 0.731) < 4 * error)
    True
    """

    chains: int = 64
    sweeps: int = 500
    max_sweeps: int = 32_000
    annealing: int = 200
    data: Codes | None = None
    seed: int = 0
    jobs: int = 1
    max_cells: int = MOST_CELLS
    precision: float | None = None

    word: ClassVar[str] = "gibbs"

    def __post_init__(self) -> None:
        check_seed(self.seed)
        if self.chains < 4 or self.sweeps < 4 or self.max_sweeps < self.sweeps or self.annealing < 1:
            raise InputError(
                f"Gibbs sampling cannot run with {self.chains} chains, {self.sweeps} sweeps of at most "
                f"{self.max_sweeps}, and {self.annealing} of annealing; expected at least 4 chains, 4 sweeps, a limit "
                "not below that, and 1 sweep of annealing. Raise what is too small."
            )
        check_precision(self.precision)

    def plan(self, factors: Factors, targets: Sequence[Scope] = ()) -> SamplingPlan:
        check_scopes(factors.shape, targets)
        n_cells = self._n_draws * self.chains * factors.n_variables
        return SamplingPlan(
            engine=self.word,
            shape=factors.shape,
            task="Gibbs sampling",
            n_cells=n_cells,
            max_cells=self.max_cells,
            n_bytes=n_cells * np.dtype(code_type(factors.shape)).itemsize,
            forecast=sweep_seconds(factors, self.chains) * (self.annealing + self.sweeps)
            + DRAW_SECONDS * self._n_draws,
            why="it needs no table over many variables; its answers have errors",
            suggestion="Use fewer chains, or raise max_cells.",
        )

    @property
    def _n_draws(self) -> int:
        return min(self.sweeps, _DRAWS)

    def _run(self, plan: Plan, factors: Factors) -> GibbsPosterior:
        start, n_from_data, remarks = self._start(factors)
        path = AnnealingPath.between(uniform(factors.shape).factors, factors)
        chains = Chains(path, start, (self.seed, 1), jobs=self.jobs)
        n_draws, spent = self._n_draws, 0
        every = self.sweeps // n_draws
        while True:
            states: Codes = np.empty((n_draws, factors.n_variables, self.chains), code_type(factors.shape))
            log_p = chains.record(every, states)
            spent += every * n_draws
            draws = Draws(factors, states, log_p, n_from_data)
            found = GibbsPosterior(draws, chains, every, spent, remarks, self.precision)
            if found.is_good_enough or 2 * spent > self.max_sweeps:
                return found
            n_draws = self._next_draws(spent, factors)
            every = spent // n_draws

    def _next_draws(self, spent: int, factors: Factors) -> int:
        """Return the number of states of each chain that the next round records; it makes ``spent`` sweeps."""
        if self.precision is None:
            return self._n_draws
        return max(self._n_draws, min(spent, _MOST_RECORDED // (self.chains * max(factors.n_variables, 1))))

    def _start(self, factors: Factors) -> tuple[Codes, int, tuple[str, ...]]:
        """Return initial states, those from data last, the number of those, and remarks."""
        n, remarks = 0, tuple[str, ...]()
        rows = np.empty((0, factors.n_variables), np.int64)
        if self.data is not None:
            rows = rows_to_begin_in(factors, np.asarray(self.data), self.chains // 2, (self.seed, 2))
            n = len(rows)
            remarks = () if n else ("None of the rows of data is possible; all chains were annealed.",)
        annealed = annealed_states(factors, self.chains - n, sweeps=self.annealing, seed=(self.seed, 0), jobs=self.jobs)
        return np.concatenate((annealed, rows)), n, remarks


class GibbsPosterior(Posterior):
    """Draws of many chains. log Z is unknown.

    ``r_hat`` and ``ess`` are the worst among all states and log p; ``sweeps`` counts those of all rounds.
    """

    exact = False
    log_z = np.nan
    error = None

    def __init__(
        self,
        draws: Draws,
        chains: Chains,
        every: int,
        sweeps: int,
        remarks: tuple[str, ...],
        precision: float | None = None,
    ) -> None:
        self.draws, self.sweeps, self.r_hat, self.ess = draws, sweeps, draws.r_hat, draws.ess
        self._chains, self._every, self._precision = chains, every, precision
        self._given_remarks = remarks

    @cached_property
    def remarks(self) -> tuple[str, ...]:  # type: ignore[override]
        remarks = list(self._given_remarks)
        if not self._is_mixed:
            remarks.append(
                f"Chains have not mixed after {self.sweeps:,} sweeps: R-hat is {self.r_hat:.3f}, above {GOOD_R_HAT}, "
                f"and all draws are worth {self.ess:,.0f}. Raise max_sweeps."
            )
        if self._precision is not None and not self._is_precise:
            remarks.append(
                f"The largest standard error of a probability is {self.largest_error:.1g}, above the precision of "
                f"{self._precision:g}. Use more chains (samples=N)."
            )
        if apart := self.draws.disagreement():
            remarks.append(apart)
        return tuple(remarks)

    @property
    def is_good_enough(self) -> bool:
        """Whether chains agree, and errors are within the precision."""
        return self._is_mixed and self._is_precise

    @property
    def _is_mixed(self) -> bool:
        return self.r_hat <= GOOD_R_HAT

    @property
    def _is_precise(self) -> bool:
        return self._precision is None or self.largest_error <= self._precision

    @cached_property
    def largest_error(self) -> float:
        """The largest standard error of the probability of a state of one variable."""
        halves = self.draws.frequencies.reshape(len(self.draws.frequencies), 2, -1)
        parts = self._deviations(halves.mean(axis=1))
        return float(np.sqrt((parts**2).sum(axis=1)).max(initial=0.0))

    def marginal(self, scope: Scope) -> Floats:
        return np.asarray(self.draws.chain_marginals(scope).mean(axis=1))

    def deviations(self, scope: Scope) -> Floats:
        """Return deviations of chains from their mean, (cells, parts), whose norms are standard errors.

        Where chains hardly move (R-hat above 1.1), their differences are not divided by the number of chains. Where
        annealed chains differ from chains from data by more than 3 standard errors, the difference is a further part:
        the right proportion of the two kinds is unknown. The last part covers modes that chains visit less than once in
        all their effective draws.
        """
        return self._deviations(self.draws.chain_marginals(scope))

    def marginal_error(self, scope: Scope) -> Floats:
        return np.asarray(np.linalg.norm(self.deviations(scope), axis=1))

    def _deviations(self, rows: Floats) -> Floats:
        n_chains = rows.shape[1]
        scale = (n_chains - 1) * (n_chains if self.r_hat <= _STUCK else 1)
        parts = [(rows - rows.mean(axis=1, keepdims=True)) / np.sqrt(scale)]
        if self.draws.n_from_data:
            apart, chance = self.draws.apart(rows)
            if (abs(apart) > _BEYOND * chance).any():
                parts.append(apart[:, None])
        if len(rows) > 1:
            parts.append((-1.0) ** np.arange(len(rows))[:, None] / self.ess)
        return np.concatenate(parts, axis=1)

    def sample(self, n: int) -> Codes:
        """Draw ``n`` more rows, (n, variables), nearly independent: a chain makes many sweeps between its draws."""
        factors, n_chains = self.draws.factors, self._chains.n
        every = min(int(np.ceil(self._every * self.draws.log_p.size / self.ess)), self.sweeps)
        states: Codes = np.empty((-(-n // n_chains), factors.n_variables, n_chains), code_type(factors.shape))
        self._chains.record(every, states)
        return states.transpose(0, 2, 1).reshape(len(states) * n_chains, factors.n_variables)[:n].astype(np.int64)


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of codes, (rows, variables), and remarks on how they were drawn."""

    codes: Codes
    remarks: tuple[str, ...]


def sample(factors: Factors, n: int, *, engine: Gibbs | None = None) -> Sample:
    """Draw ``n`` rows approximately, by thinned Gibbs chains, for factors too large for exact samples."""
    if n < 0:
        raise InputError(f"Cannot draw {n} rows; expected 0 or more.")
    engine = engine or Gibbs()
    found = engine.run(engine.plan(factors), factors)
    assert isinstance(found, GibbsPosterior)
    return Sample(found.sample(n), found.remarks)
