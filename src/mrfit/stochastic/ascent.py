"""Stochastic maximum likelihood: the means of chains are led to those of the data (Younes 1989; Tieleman 2008)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mrfit.penalties.penalty import NonsmoothPenalty, NoPenalty, Penalty, SmoothPenalty
from mrfit.stochastic.features import DataMeans
from mrfit.stochastic.persistent import Persistent

Floats = NDArray[np.float64]

_LONGEST = 0.5  # that a parameter moves at once
_AVERAGED_FROM = 10  # iterations: before, parameters only run


@dataclass(frozen=True)
class Schedule:
    """How far parameters move, and for how long.

    Parameters
    ----------
    first_step
        Of a Newton step with a diagonal Hessian; 0.3 where variables have few neighbours, 0.1 where they have many or
        where the start is good.
    decay, power
        Step t is ``first_step / (1 + t / decay)^power``.
    damping
        Chains that a curvature is not trusted by: one chain of C in a rare state must not move a parameter by nats.
    iterations
        At most.
    looks
        Iterations after which the average is looked at, and learning may end.
    settling, looking
        Sweeps of a look: to reach the average's distribution, and to measure it.
    """

    first_step: float = 0.3
    decay: float = 50.0
    power: float = 0.7
    damping: float = 5.0
    iterations: int = 1000
    looks: tuple[int, ...] = (300, 1000)
    settling: int = 10
    looking: int = 20

    def step(self, t: int) -> float:
        return float(self.first_step / (1.0 + t / self.decay) ** self.power)


@dataclass(frozen=True)
class Look:
    """How far the means of chains under the averaged parameters are from where they should be.

    ``mismatch`` is half the squared distance in the metric of the data, without bias: a product of two halves of the
    chains that know nothing of each other. ``noise`` is what it would be by chance. ``violation`` is the largest entry
    of the gradient.
    """

    iteration: int
    mismatch: float
    noise: float
    violation: float

    @property
    def matches(self) -> bool:
        """Within what so many chains can tell."""
        return self.mismatch < 2.0 * self.noise


@dataclass(frozen=True, eq=False)
class Ascent:
    """Where it ended: the average of the parameters, which is far nearer to the optimum than the last ones are."""

    w: Floats
    last: Floats
    looks: tuple[Look, ...]
    iterations: int

    @property
    def look(self) -> Look:
        return self.looks[-1]


@dataclass(frozen=True, eq=False)
class Target:
    """What is climbed: the likelihood of data with these means, less a penalty, a mean over rows."""

    means: DataMeans
    penalty: Penalty

    @property
    def smooth(self) -> SmoothPenalty | None:
        return self.penalty if isinstance(self.penalty, SmoothPenalty) else None

    @property
    def nonsmooth(self) -> NonsmoothPenalty:
        return self.penalty if isinstance(self.penalty, NonsmoothPenalty) else NoPenalty()

    def gradient(self, w: Floats, chain_means: Floats) -> Floats:
        """Upwards, in the parameters themselves."""
        gradient = self.means.of_features - chain_means
        return gradient if self.smooth is None else gradient - self.smooth.gradient(w) / self.means.n_rows

    def objective(self, w: Floats, log_z: float) -> float:
        """Where log Z is known."""
        return float(self.means.of_features @ w) - log_z - self.penalty.value(w) / self.means.n_rows

    def metric(self, w: Floats) -> Floats:
        """Of centred features: their variance in the data, and the curvature of the penalty."""
        if self.smooth is None:
            return self.means.variances
        return self.means.variances + self.smooth.hessian_diagonal(w) / self.means.n_rows

    def subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """Upwards, with the element of a kink's subdifferential that leaves least of it."""
        return -self.nonsmooth.scaled(1.0 / self.means.n_rows).least_subgradient(w, -gradient)

    def shrunk(self, w: Floats, step: Floats) -> Floats:
        """After a step, what a penalty with kinks leaves of the parameters; each has a step of its own."""
        thresholds = self.nonsmooth.thresholds
        if thresholds is None:
            return w
        return np.asarray(np.sign(w) * np.maximum(np.abs(w) - step * thresholds / self.means.n_rows, 0.0))


def climb(
    target: Target,
    chains: Persistent,
    start: Floats,
    schedule: Schedule,
    *,
    callback: Callable[[int], bool | None] | None = None,
) -> Ascent:
    """Climb until the chains match the data as well as they can tell, or for as long as the schedule says.

    One iteration: one sweep of all chains, the means of features over them, one step of a diagonal Newton method in
    centred features. It goes by the noisy gradient; the average of the parameters, late ones more than early ones,
    is what is learned (Polyak and Juditsky 1992).
    """
    means, w, average = target.means, start.copy(), start.copy()
    centring, adjoint = means.centring, means.centring.T.tocsr()
    zeros, looks = np.zeros(len(w)), []
    distrust = schedule.damping / chains.n
    for t in range(schedule.iterations):
        chains.sweep(w)
        gradient = target.gradient(w, chains.block_means().mean(axis=0))
        step = schedule.step(t) / (target.metric(w) + distrust)
        w = w + centring @ np.clip(step * (adjoint @ gradient), -_LONGEST, _LONGEST)
        w = target.shrunk(w, step)
        share = 2.0 / (t - _AVERAGED_FROM + 2.0) if t > _AVERAGED_FROM else 1.0
        average += share * (w - average)
        zeros += share * ((w == 0) - zeros)
        if t + 1 in schedule.looks:
            looks.append(look_at(target, chains, average, schedule, t + 1))
            if looks[-1].matches or (callback is not None and callback(t + 1)):
                break
    if not looks or looks[-1].iteration != t + 1:
        looks.append(look_at(target, chains, average, schedule, t + 1))
    return Ascent(np.where(zeros > 0.5, 0.0, average), w, tuple(looks), t + 1)


def look_at(target: Target, chains: Persistent, w: Floats, schedule: Schedule, iteration: int) -> Look:
    """Sweep under frozen parameters and compare two halves of the chains."""
    chains.sweep(w, schedule.settling)
    blocks = np.zeros((chains.n // 64, len(w)))
    for _ in range(schedule.looking):
        chains.sweep(w)
        blocks += chains.block_means() / schedule.looking
    adjoint, metric = target.means.centring.T, target.metric(w)
    half = len(blocks) // 2
    a, b = (
        adjoint @ target.subgradient(w, target.gradient(w, part.mean(axis=0)))
        for part in (blocks[:half], blocks[half:])
    )
    mismatch, noise = 0.5 * float((a * b / metric).sum()), 0.125 * float(((a - b) ** 2 / metric).sum())
    both = target.subgradient(w, target.gradient(w, blocks.mean(axis=0)))
    return Look(iteration, mismatch, noise, float(np.abs(both).max(initial=0.0)))
