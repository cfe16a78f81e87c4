"""log Z and marginals from weighted chains, with their errors."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from mrfit._typing import Codes, Floats, Scope
from mrfit.core.factors import Factors
from mrfit.inference.engine import Posterior
from mrfit.inference.sampling.annealing import INFLATION, AnnealingEstimate
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import uniform
from mrfit.inference.sampling.draws import Draws, recorded
from mrfit.inference.sampling.gibbs_chains import Chains

N_DRAWS = 100  # of each chain, for marginals
_DOUBTFUL = 0.25  # effective sample size, as a share of chains, below which a standard error is doubtful
_WORTHLESS = 0.125  # the same, below which a few weights decide and a standard error is worthless
_BEYOND = 3.0  # joint standard errors at which a check raises an alarm
_UNSEEN = 3e-3  # the error of events that are rarer than one chain, which no weights show
_LIGHT = 1.0  # chains that the weight of a mode may equal and still be missed: its part of 1 / ess


class AnnealedPosterior(Posterior):
    """log Z from the first base, and marginals from its chains, averaged by their weights.

    The other bases are checks. The one with the largest log Z replaces the first if the difference is significant;
    then the error of every answer is at least the difference. A check never makes an error smaller.

    The standard error of a cell is `INFLATION` times that of a weighted mean over chains. Where all chains agree, that
    error does not cover a mode that is lighter than one of them, so ``1 / ess`` is added in quadrature. Where the
    effective sample size is less than an eighth of the chains, the error of log Z is at least the standard deviation of
    their log weights.

    Parameters
    ----------
    found
        For each base, the one that answers first: its estimate, and the last states of its chains. ``estimates`` has
        the estimates.
    """

    exact = False

    def __init__(
        self, factors: Factors, found: Sequence[tuple[AnnealingEstimate, Codes]], seed: int, jobs: int
    ) -> None:
        self.estimates = tuple(estimate for estimate, _ in found)
        self._factors, self._seed, self._jobs = factors, seed, jobs
        self._codes = np.concatenate([codes for _, codes in found])
        first, largest = self.estimates[0], max(self.estimates, key=lambda estimate: estimate.log_z)
        self._alarmed = _is_beyond(largest, first)
        self._answer = largest if self._alarmed else first
        self.log_z, self.error = self._answer.log_z, self._answer.error
        if self._answer.ess < _WORTHLESS * len(self._answer.shares):
            self.error = max(self.error, self._answer.spread)
        if self._alarmed and first.ess > 0.0:
            self.error = max(self.error, first.error, largest.log_z - first.log_z)
        self.remarks = tuple(self._remarks())

    def _remarks(self) -> list[str]:
        remarks = []
        if self._alarmed:
            logs = "; ".join(f"{e.base} {e.log_z:.3f}, error {e.error:.3f}" for e in self.estimates)
            remarks.append(
                f"The bases disagree about log Z ({logs}): chains from the {self.estimates[0].base} base miss a mode. "
                "The larger value is given, and its error is the difference."
            )
        if self.is_doubtful:
            answer = self._answer
            remarks.append(
                f"After {answer.temperatures:,} temperatures the {len(answer.shares)} chains from base {answer.base} "
                f"are worth {answer.ess:.1f}: the error may be too small. Raise max_temperatures."
            )
        return remarks

    @property
    def is_doubtful(self) -> bool:
        """Whether a few chains have most of the weight."""
        return self.ess < _DOUBTFUL * len(self._answer.shares)

    @cached_property
    def _weights(self) -> Floats:
        """The weights of the chains of all bases, with a sum of 1."""
        return np.concatenate([e.shares if e is self._answer else np.zeros(len(e.shares)) for e in self.estimates])

    @property
    def ess(self) -> float:
        """The effective sample size: the number of equal weights with the same variance."""
        return self._answer.ess

    @cached_property
    def _draws(self) -> Draws:
        """Draws that continue from the last states of the chains. Chains of weight 0 are replaced by copies of another.

        Sweeps leave the target unchanged, so each chain keeps its weight.
        """
        alive = np.concatenate([estimate.shares for estimate in self.estimates]) > 0.0
        start = self._codes[np.where(alive, np.arange(len(alive)), alive.argmax())]
        path = AnnealingPath.between(uniform(self._factors.shape).factors, self._factors)
        chains = Chains(path, start, (self._seed, 5), jobs=self._jobs)
        return Draws(self._factors, recorded(chains, self._factors, N_DRAWS, 1), np.empty((0, 0)))

    def marginal(self, scope: Scope) -> Floats:
        return np.asarray(self._draws.chain_marginals(scope) @ self._weights)

    def deviations(self, scope: Scope) -> Floats:
        """Return deviations of the marginal, (cells, parts), whose norms are its standard errors.

        The parts are the weighted deviations of chains, a light mode that all may have missed, and, after an alarm, the
        differences between bases.
        """
        rows = self._draws.chain_marginals(scope)
        if len(rows) == 1:
            return np.zeros((1, 0))  # the only cell there is
        light = (-1.0) ** np.arange(len(rows)) * _LIGHT / self.ess
        parts = [INFLATION * self._weights * (rows - (rows @ self._weights)[:, None]), light[:, None]]
        if self._alarmed:
            of_bases = np.split(rows, np.cumsum([len(e.shares) for e in self.estimates])[:-1], axis=1)
            each = [part @ e.shares for part, e in zip(of_bases, self.estimates, strict=True) if e.ess > 0.0]
            parts += [(one - each[0])[:, None] for one in each[1:]]
        return np.concatenate(parts, axis=1)

    def marginal_error(self, scope: Scope) -> Floats:
        return np.asarray(np.linalg.norm(self.deviations(scope), axis=1))

    @property
    def largest_error(self) -> float:
        """The largest standard error of the probabilities of all states of all variables."""
        return max((float(self.marginal_error((i,)).max()) for i in range(len(self._factors.shape))), default=0.0)


def _is_beyond(one: AnnealingEstimate, other: AnnealingEstimate) -> bool:
    """Return whether one log Z exceeds another by more than their errors explain."""
    if other.ess == 0.0:
        return one.ess > 0.0
    chance = np.sqrt(one.error**2 + other.error**2 + _UNSEEN**2)
    return bool(one.log_z - other.log_z > _BEYOND * chance)
