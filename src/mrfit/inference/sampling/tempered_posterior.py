"""log Z and marginals from tempered replicates, with errors and signs of poor mixing."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Scope
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.engine import Posterior
from mrfit.inference.sampling.annealing_path import softened
from mrfit.inference.sampling.draws import Draws
from mrfit.inference.sampling.mbar import log_zs
from mrfit.inference.sampling.replicas import ReplicaRound, is_cold

INFLATION = 1.15  # of standard errors over replicates
TRIPS = 4.0  # round trips of a replicate, on average, that are enough
_AGREE = 2.0  # joint standard errors by which log Z may change from one round to the next
_ALIKE = 2.5  # standard errors by which replicates from cold and from random starts may differ
_LIGHT = 0.5  # round trips that the weight of a mode may equal and still be missed


class TemperedPosterior(Posterior):
    """log Z from the draws of all rungs, and marginals from those of the last, over independent replicates.

    The standard error is `INFLATION` times that over replicates. Every round trip begins again in the base, so a mode
    that weighs less than half a round trip may have been missed: that share is added in quadrature.

    Parameters
    ----------
    last
        The round that answers.
    The posterior of the round before it, half as long.
        What the round before it, half as long, found.
    """

    exact = False

    def __init__(self, factors: Factors, last: ReplicaRound, before: TemperedPosterior | None = None) -> None:
        self._factors, self._last = factors, last
        found = log_zs(last.betas, last.log_p)
        self._possible = _possible(factors, last)
        share = self._possible.mean()
        if not share:
            raise InputError(
                f"None of {last.log_p.shape[2]} replicates found a joint state possible under the tables' cells of "
                "minus infinity. The tables and the evidence may contradict each other: check them, use an "
                "exact engine, which can tell, or raise max_sweeps."
            )
        influences = found.influences[:, -1]
        if share < 1.0:
            influences = influences + (self._possible.mean(axis=0) - share) / (share * len(influences))
        self._influences = influences
        self.log_z = _log_z_of_base(factors, last) + float(found.values[-1] + np.log(share))
        self.error = float(np.hypot(_joint(influences), self._light))
        self._change = np.inf if before is None else self.log_z - before.log_z
        self._noise = np.inf if before is None else float(np.hypot(self.error, before.error or 0.0))
        self.remarks: tuple[str, ...] = ()

    @property
    def round_trips(self) -> int:
        return int(self._last.round_trips.sum())

    @property
    def n_rungs(self) -> int:
        return len(self._last.betas)

    @property
    def n_draws(self) -> int:
        """The number of draws of each rung and replicate in the last round."""
        return int(self._last.log_p.shape[1])

    def doubts(self) -> list[str]:
        """Return signs that replicates do not mix, as clauses."""
        found, n = [], len(self._influences)
        if self.round_trips < TRIPS * n:
            found.append(f"states made {self.round_trips} round trips, of which {TRIPS * n:.0f} are enough")
        if abs(self._change) >= _AGREE * self._noise:
            found.append(f"log Z changed by {abs(self._change):.2g} in the last round")
        difference, error = self._cold_minus_hot
        if abs(difference) >= _ALIKE * error:
            found.append(f"replicates that began cold find a log Z that differs by {difference:+.2g} from the others'")
        return found

    def doubtful(self, doubts: list[str]) -> None:
        """Add a remark on the signs of poor mixing, and widen the error by the last changes."""
        assert self.error is not None
        if np.isfinite(self._change):
            self.error = max(self.error, abs(self._change) / 2)
        self.error = max(self.error, abs(self._cold_minus_hot[0]) / 2)
        self.remarks += (
            f"Parallel tempering does not mix after {self.n_draws:,} sweeps of {self.n_rungs} temperatures: "
            f"{'; '.join(doubts)}. The error may be too small. Raise max_sweeps.",
        )

    @property
    def _light(self) -> float:
        return _LIGHT / max(self.round_trips, 1)

    @property
    def _cold_minus_hot(self) -> tuple[float, float]:
        """Mean difference in log Z between cold and random starts, and its standard error."""
        each = self._influences * len(self._influences)
        cold = is_cold(len(each))
        error = np.hypot(*(part.std(ddof=1) / np.sqrt(len(part)) for part in (each[cold], each[~cold])))
        return float(each[cold].mean() - each[~cold].mean()), float(error)

    @cached_property
    def _draws(self) -> Draws:
        """Draws of the last rung; possible draws, of the same replicate if it has any, replace impossible ones."""
        states = self._last.states
        if not self._possible.all():
            states = states.copy()
            for r in np.flatnonzero(~self._possible.all(axis=0)):
                good = np.flatnonzero(self._possible[:, r])
                if len(good):
                    bad = np.flatnonzero(~self._possible[:, r])
                    states[bad, :, r] = states[np.resize(good, len(bad)), :, r]
                else:
                    states[:, :, r] = states[:, :, self._possible.all(axis=0).argmax()]
        return Draws(self._factors, states, np.empty((0, 0)))

    def marginal(self, scope: Scope) -> Floats:
        return np.asarray(self._draws.chain_marginals(scope).mean(axis=1))

    def deviations(self, scope: Scope) -> Floats:
        """Return deviations of replicates and of a light mode that all may miss; norms are standard errors."""
        rows = self._draws.chain_marginals(scope)
        if len(rows) == 1:
            return np.zeros((1, 0))  # the only cell there is
        n = rows.shape[1]
        light = (-1.0) ** np.arange(len(rows)) * self._light
        own = INFLATION * (rows - rows.mean(axis=1, keepdims=True)) / np.sqrt(n * (n - 1))
        return np.concatenate((own, light[:, None]), axis=1)

    def marginal_error(self, scope: Scope) -> Floats:
        return np.asarray(np.linalg.norm(self.deviations(scope), axis=1))

    @property
    def largest_error(self) -> float:
        """The largest standard error of the probabilities of all states of all variables."""
        return max((float(self.marginal_error((i,)).max()) for i in range(len(self._factors.shape))), default=0.0)


def _log_z_of_base(factors: Factors, last: ReplicaRound) -> float:
    """Return the log number of joint states, plus what kernels leave out of log p, read off one state."""
    left_out = softened(factors).log_potential(last.states[-1, :, :1].T.astype(np.int64))[0] - last.log_p[-1, -1, 0]
    return float(np.log(factors.shape).sum() + left_out)


def _joint(influences: Floats) -> float:
    n = len(influences)
    return float(INFLATION * np.linalg.norm(influences) * np.sqrt(n / (n - 1)))


def _possible(factors: Factors, last: ReplicaRound) -> NDArray[np.bool_]:
    """Return the mask of possible draws of the last rung, (draws, replicates): on the soft path all are possible."""
    n_draws, n, replicates = last.states.shape
    if not factors.has_impossible_states:
        return np.ones((n_draws, replicates), bool)
    rows = last.states.swapaxes(1, 2).reshape(-1, n).astype(np.int64)
    return np.asarray((factors.log_potential(rows) > -np.inf).reshape(n_draws, replicates))
