"""Draws of many chains: marginals, convergence, and disagreement between groups of chains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from mrfit._typing import Floats, Scope
from mrfit.core.factors import Factors, check_scopes
from mrfit.inference.sampling.convergence import effective_sample_size, r_hat, r_hat_of_frequencies
from mrfit.inference.sampling.gibbs_chains import Chains, code_type

_STUCK = 12.0  # times the variance that halves of chains predict: chains that differ more stay in different modes
_FALSE_ALARMS = 1e-3  # probability of a false alarm


@dataclass(frozen=True, eq=False)
class Draws:
    """States of all variables, (draws, variables, chains), and log p of each up to a constant, (draws, chains).

    The last ``n_from_data`` chains began in rows of data.
    """

    factors: Factors
    states: NDArray[Any]
    log_p: Floats
    n_from_data: int = 0

    def chain_marginals(self, scope: Scope) -> Floats:
        """Return the frequency of each cell of a scope in each chain, (cells, chains)."""
        check_scopes(self.factors.shape, (scope,))
        n_cells = int(np.prod([self.factors.shape[i] for i in scope], dtype=np.int64))
        n_draws, _, n_chains = self.states.shape
        cells = np.zeros((n_draws, n_chains), np.int64)
        for i in scope:
            cells = cells * self.factors.shape[i] + self.states[:, i]
        counts = np.bincount((cells + n_cells * np.arange(n_chains)).ravel(), minlength=n_cells * n_chains)
        return np.asarray(counts.reshape(n_chains, n_cells).T / n_draws)

    @cached_property
    def frequencies(self) -> Floats:
        """The frequency of each state in each half of a chain, (states of variables, halves of chains)."""
        half, n_chains = len(self.states) // 2, self.states.shape[2]
        variable, state = np.array(self._quantities, np.int64).reshape(-1, 2).T
        out = np.empty((len(state), 2, n_chains))
        for s in np.unique(state):  # all variables at once
            own = state == s
            for k, part in enumerate((self.states[:half], self.states[-half:])):
                out[own, k] = (part[:, variable[own]] == s).mean(axis=0)
        return out.reshape(len(state), 2 * n_chains)

    @cached_property
    def _quantities(self) -> list[tuple[int, int]]:
        """Pairs of variable and state to monitor: none of a one-state variable, and one of a binary variable."""
        return [(i, s) for i, c in enumerate(self.factors.shape) for s in range(int(c <= 2), c)]

    @cached_property
    def r_hat(self) -> float:
        """The largest R-hat of all states of all variables and of log p."""
        of_states = r_hat_of_frequencies(self.frequencies, len(self.states) // 2)
        return max(r_hat(self.log_p), float(of_states.max(initial=1.0)))

    @cached_property
    def ess(self) -> float:
        """The smaller effective sample size of log p and of the state whose R-hat is largest."""
        series = [self.log_p]
        if self.frequencies.size:
            worst = int(r_hat_of_frequencies(self.frequencies, len(self.states) // 2).argmax())
            i, s = self._quantities[worst]
            series.append((self.states[:, i] == s).astype(np.float64))
        found = [effective_sample_size(one) for one in series]
        return min((ess for ess in found if not np.isnan(ess)), default=float(self.log_p.size))

    def disagreement(self) -> str | None:
        """Return a sentence if chains from data and annealed chains differ by more than chance, else None."""
        if not self.n_from_data:
            return None
        halves = self.frequencies.reshape(len(self.frequencies), 2, -1)
        rows = np.concatenate((halves.mean(axis=1), self.log_p.mean(axis=0)[None]))
        difference, error = self.apart(rows)
        apart = abs(difference)
        n = min(self.n_from_data, rows.shape[1] - self.n_from_data)
        beyond = apart > stdtrit(n - 1, 1.0 - _FALSE_ALARMS / (2 * len(rows))) * error
        beyond &= apart > 1e-9 * abs(rows).max(axis=1)  # rounding
        if not beyond.any():
            return None
        worst = int(np.argmax(np.where(beyond, apart, -1.0)[:-1])) if beyond[:-1].any() else len(rows) - 1
        ours, theirs = rows[worst, : -self.n_from_data].mean(), rows[worst, -self.n_from_data :].mean()
        if worst == len(rows) - 1:
            what = f"log p differs by {abs(ours - theirs):.1f} on average"
        else:
            i, s = self._quantities[worst]
            what = f"variable {i} is in state {s} with probability {ours:.3f} against {theirs:.3f}"
        return (
            f"Chains that were annealed and chains that began in data disagree: {what}. The model has several modes; "
            "chains cannot tell the weight of each."
        )

    def farthest(self, least: float) -> tuple[float, int, int] | None:
        """Return the largest distance of a chain from those that began in data, with its variable and state.

        None where that is less than ``least``, or where chains differ little more than their own halves do: then they
        only mix slowly.
        """
        if not self.n_from_data or not self._quantities:
            return None
        halves = self.frequencies.reshape(len(self.frequencies), 2, -1)
        means = halves.mean(axis=1)  # (states of variables, chains)
        within = ((halves[:, 0] - halves[:, 1]) ** 2).mean(axis=1) / 4  # variance of a chain's mean, from its halves
        away = abs(means - means[:, -self.n_from_data :].mean(axis=1, keepdims=True)).max(axis=1)
        gaps = np.where((means.var(axis=1, ddof=1) > _STUCK * within) & (away >= least), away, 0.0)
        worst = int(gaps.argmax())
        return (float(gaps[worst]), *self._quantities[worst]) if gaps[worst] else None

    def apart(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return means of annealed minus means of data-started chains, and the standard errors of these; (rows,)."""
        parts = rows[:, : -self.n_from_data], rows[:, -self.n_from_data :]
        means, errors = zip(*((part.mean(axis=1), standard_error(part)) for part in parts), strict=True)
        return means[0] - means[1], np.hypot(*errors)


def standard_error(rows: Floats) -> Floats:
    """Return the standard error of the mean over independent chains; ``rows`` is (rows, chains)."""
    return np.asarray(rows.std(axis=1, ddof=1) / np.sqrt(rows.shape[1]))


def recorded(chains: Chains, factors: Factors, n_draws: int, every: int) -> NDArray[Any]:
    """Return the states of chains after every ``every`` sweeps of the factors, (draws, variables, chains)."""
    states: NDArray[Any] = np.empty((n_draws, factors.n_variables, chains.n), code_type(factors.shape))
    chains.record(every, states)
    return states
