"""Annealed importance sampling (Neal, 2001): weighted runs from a base that is easy to sample to the factors."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit, logsumexp

from mrfit._typing import Codes, Floats
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import BaseDistribution
from mrfit.inference.sampling.gibbs_chains import Chains

INFLATION = 1.1  # of standard errors from weights, which are too small where few chains reach a mode
_FAR = 50.0  # nats beyond all weights: log Z is searched in between


@dataclass(frozen=True, eq=False)
class AnnealingEstimate:
    """log Z from the weights of chains, each of mean Z.

    The error is `INFLATION` times that of log mean w, sd(w) / (mean(w) sqrt C), plus the ratio of the third to the
    second moment of the chains' deviations. That term matters where a few large weights make the mean: runs that happen
    to miss them also report small errors (Johnson, 1978). ``ess`` = (sum w)^2 / sum w^2 is the effective sample size of
    the C chains. None of these covers a mode that no chain found.
    """

    base: str
    log_weights: Floats
    temperatures: int

    @property
    def log_z(self) -> float:
        return float(logsumexp(self.log_weights) - np.log(len(self.log_weights)))

    @cached_property
    def shares(self) -> Floats:
        """Each chain's share of the sum of all weights; zeros where all weights are zero."""
        largest = self.log_weights.max()
        w = np.exp(self.log_weights - largest) if largest > -np.inf else np.zeros(len(self.log_weights))
        return np.asarray(w / max(w.sum(), 1.0))

    @property
    def error(self) -> float:
        if not self.shares.any():
            return np.inf
        parts = self.shares - 1.0 / len(self.shares)
        second = float((parts**2).sum())
        skewed = abs(float((parts**3).sum())) / second if second > 0.0 else 0.0
        return float(INFLATION * self.shares.std(ddof=1) * np.sqrt(len(self.shares))) + skewed

    @property
    def spread(self) -> float:
        """Standard deviation of the logarithms of the nonzero weights."""
        alive = self.log_weights[self.log_weights > -np.inf]
        return float(alive.std()) if len(alive) else np.inf

    @property
    def ess(self) -> float:
        return float(1.0 / (self.shares**2).sum()) if self.shares.any() else 0.0


def joined(one: AnnealingEstimate, other: AnnealingEstimate) -> AnnealingEstimate:
    """Return two runs from the same base at as many temperatures, as one run of all their chains."""
    return AnnealingEstimate(one.base, np.concatenate((one.log_weights, other.log_weights)), one.temperatures)


def forward(
    factors: Factors,
    base: BaseDistribution,
    *,
    chains: int = 64,
    temperatures: int = 1000,
    seed: int = 0,
    jobs: int = 1,
) -> tuple[AnnealingEstimate, Codes]:
    """Make one sweep at each temperature from the base to the factors; return the estimate and the last states.

    With f_t the distributions of the path, log w = sum_t log f_t(x_t-1) - log f_t-1(x_t-1). It equals the log f at both
    ends minus all changes of log f_t by sweeps, which `Chains` accumulates as heat. The mean of w is Z / Z_base,
    for any number of temperatures. On the path impossible cells are only improbable: a chain that ends in one has
    the weight 0.
    """
    path = AnnealingPath.between(base.factors, factors, soft=True)
    return run_up(path, base, chains, temperatures, (seed,), jobs)


def run_up(
    path: AnnealingPath, base: BaseDistribution, n: int, temperatures: int, seed: tuple[int, ...], jobs: int
) -> tuple[AnnealingEstimate, Codes]:
    """Run `forward` on a given path."""
    start = base.draw(n, np.random.default_rng((*seed, 0)))
    chains = Chains(path, start, (*seed, 1), jobs=jobs)
    chains.sweep(_betas(temperatures))
    codes = chains.codes
    # Telescoping sum of Neal's weights: each sweep leaves its own f_t invariant, so what it changes in log f_t is heat,
    # and the rest is work. On a soft path the target is still the true one, which gives impossible ends weight 0.
    log_weights = path.log_target(codes) - path.log_base(start) - chains.heat
    return AnnealingEstimate(base.word, log_weights, temperatures), codes


def reverse(
    factors: Factors, base: BaseDistribution, codes: Codes, *, temperatures: int = 1000, seed: int = 0, jobs: int = 1
) -> Floats:
    """Return log weights of runs in reverse, one from each exact sample of the factors: the mean of 1 / w is 1 / Z.

    -log mean 1 / w tends to lie above log Z, and the estimate of `forward` below. From samples that are not exact it
    bounds nothing.
    """
    after = factors.log_potential(codes)
    if not (after > -np.inf).all():
        raise InputError("Some of the samples are in impossible states; expected samples of these factors. Draw again.")
    chains = Chains(AnnealingPath.between(base.factors, factors, soft=True), codes, (seed, 2), jobs=jobs)
    chains.sweep(_betas(temperatures)[::-1].copy(), backwards=True)
    return after - base.factors.log_potential(chains.codes) + chains.heat


def bridged(forward: Floats, reverse: Floats) -> tuple[float, float]:
    """Return log Z and its standard error from log weights of both directions (Bennett, 1976): the optimal estimate."""
    from scipy.optimize import brentq  # here, so that commands that do not need it start sooner

    if not (forward > -np.inf).any():
        raise InputError("All forward runs have weight 0; there is nothing to bridge. Use more temperatures.")
    offset = np.log(len(forward) / len(reverse))

    def terms(log_z: float) -> tuple[Floats, Floats]:
        """Return each run's probability of belonging to the other direction. At log Z both sums are equal."""
        return expit(forward - log_z - offset), expit(log_z + offset - reverse)

    def excess(log_z: float) -> float:
        up, down = terms(log_z)
        return float(up.sum() - down.sum())

    both = np.concatenate((forward[forward > -np.inf], reverse)) - offset
    log_z = float(brentq(excess, both.min() - _FAR, both.max() + _FAR, xtol=1e-12))
    variance = sum(part.var() / part.mean() ** 2 / len(part) for part in terms(log_z))
    return log_z, float(np.sqrt(variance))


def _betas(temperatures: int) -> Floats:
    return np.arange(1, temperatures + 1) / temperatures
