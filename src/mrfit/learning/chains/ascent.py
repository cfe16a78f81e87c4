"""Stochastic maximum likelihood by persistent chains (Younes 1989; Tieleman 2008)."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from mrfit._typing import Floats
from mrfit.learning.chains.features import DataMeans
from mrfit.learning.chains.persistent_chains import Persistent
from mrfit.penalties.penalty import NonsmoothPenalty, Penalty, SmoothPenalty, ZeroPenalty

_LONGEST = 0.5  # that a parameter moves at once
NEGLIGIBLE = 1e-3  # nats a row
_USUAL = 0.3  # first step
_AVERAGED_FROM = 10  # iterations: before, parameters only run


@dataclass(frozen=True)
class AscentSchedule:
    """Step lengths of an ascent, and its number of iterations.

    Parameters
    ----------
    first_step
        Fraction of a Newton step with a diagonal Hessian: 0.3 for few neighbours, 0.1 for many neighbours or a good
        start.
    decay, power
        Step t is ``first_step / (1 + t / decay)^power``.
    damping
        Added to the curvature, in chains: one chain of C in a rare state must not move a parameter by nats.
    shrinks
        Whether damping shrinks as steps do, for rare states. One visit of a chain then moves a rare parameter by
        ``first_step / damping``, early or late, so that learning does not freeze (kdd: half the gap after 200
        iterations).
    iterations
        Largest number of iterations.
    looks
        Iterations after which learning may end: the averaged parameters are diagnosed if they hardly moved during the
        last third of the iterations.
    settling, looking
        Sweeps of a diagnosis: to reach the distribution of the averaged parameters, and to measure it.
    """

    first_step: float = 0.3
    decay: float = 50.0
    power: float = 0.7
    damping: float = 5.0
    shrinks: bool = False
    iterations: int = 2000
    looks: tuple[int, ...] = (54, 66, 81, 99, 122, 149, 183, 224, 275, 336, 413, 504, 620, 756, 930, 1134, 1395)
    settling: int = 5
    looking: int = 10

    def step(self, t: int) -> float:
        return self.first_step * self._shrunk(t)

    def distrust(self, t: int, n_chains: int) -> float:
        """Damping of each parameter's curvature at step ``t``, against the noise of ``n_chains`` chains."""
        return self.damping * (self._shrunk(t) if self.shrinks else 1.0) / n_chains

    def _shrunk(self, t: int) -> float:
        return float((1.0 + t / self.decay) ** -self.power)


@dataclass(frozen=True)
class Diagnostics:
    """Mismatch between the means of chains under the averaged parameters and the means to be matched.

    ``mismatch`` is half the squared distance in the metric of the data. It is unbiased: the product of two halves of
    the chains that are independent. ``noise`` is its expectation by chance. ``violation`` is the largest entry of the
    gradient.
    """

    iteration: int
    mismatch: float
    noise: float
    violation: float

    @property
    def matches(self) -> bool:
        """Whether the mismatch is explained by the number of chains, or too small to matter."""
        return self.mismatch < max(2.0 * self.noise, NEGLIGIBLE)


@dataclass(frozen=True, eq=False)
class Ascent:
    """Result of an ascent: the average of the parameters, which is far nearer to the optimum than the last ones.

    ``moved`` is how far the average moved in the last third of the iterations, in nats per row: by noise, and by what
    it lacked. ``rested`` is whether that was little; otherwise the ascent ended at its iteration limit.
    """

    w: Floats
    looks: tuple[Diagnostics, ...]
    iterations: int
    moved: float
    rested: bool = True

    @property
    def error(self) -> float:
        """Estimated distance to the limit, in nats per row.

        The distance of averages shrinks as one over iterations. Between two thirds of t and t it falls by half of what
        remains at t, so twice ``moved`` remains.
        """
        return 2.0 * self.moved

    @property
    def look(self) -> Diagnostics:
        return self.looks[-1]

    @property
    def converged(self) -> bool:
        """Whether the average is at rest and its chains match the data; a match while it still moves says little."""
        return self.rested and self.look.matches


@dataclass(frozen=True, eq=False)
class Target:
    """Function to maximise: the log-likelihood of data with these means minus the penalty, per row."""

    means: DataMeans
    penalty: Penalty

    @property
    def smooth(self) -> SmoothPenalty | None:
        return self.penalty if isinstance(self.penalty, SmoothPenalty) else None

    @property
    def nonsmooth(self) -> NonsmoothPenalty:
        return self.penalty if isinstance(self.penalty, NonsmoothPenalty) else ZeroPenalty()

    @cached_property
    def nonsmooth_mean(self) -> NonsmoothPenalty:
        """Nonsmooth penalty on the scale of a mean over rows, as the likelihood is."""
        return self.nonsmooth.scaled(1.0 / self.means.n_rows)

    @cached_property
    def has_kinks(self) -> bool:
        return not self.nonsmooth.is_free(len(self.means.of_features)).all()

    @cached_property
    def aside(self) -> sparse.csr_array:
        """Matrix that turns a move along centred features into one of parameters: move + aside @ move.

        Features are centred only around features without a kink. A kink belongs to one parameter: if another feature
        moved that parameter too, soft-thresholding could not cancel its gradient, and the fixed point would not be the
        optimum.
        """
        n = len(self.means.of_features)
        free = self.nonsmooth.is_free(n).astype(np.float64)
        return sparse.csr_array(sparse.diags_array(free) @ (self.means.centring - sparse.eye_array(n)))

    @cached_property
    def aside_adjoint(self) -> sparse.csr_array:
        return self.aside.T.tocsr()

    def gradient(self, w: Floats, chain_means: Floats) -> Floats:
        """Ascent direction in the parameters themselves, without the nonsmooth penalty."""
        gradient = self.means.of_features - chain_means
        return gradient if self.smooth is None else gradient - self.smooth.gradient(w) / self.means.n_rows

    def objective(self, w: Floats, log_z: float) -> float:
        """Value of the function at ``w``, given log Z."""
        return float(self.means.of_features @ w) - log_z - self.penalty.value(w) / self.means.n_rows

    def metric(self, w: Floats) -> Floats:
        """Diagonal metric of centred features: their variances in the data plus the curvature of the penalty."""
        if self.smooth is None:
            return self.means.variances
        return self.means.variances + self.smooth.hessian_diagonal(w) / self.means.n_rows

    @property
    def resting(self) -> float:
        """Nats per row that the average may still move by during the last third of the iterations.

        The sampling error of p parameters from N rows costs p / 2 N nats per row. A little more than that does not
        matter if it is small; if it is large, precision beyond a part of it is not worth the time.
        """
        chance = 0.5 * len(self.means.of_features) / self.means.n_rows
        return max(NEGLIGIBLE, min(1.5 * chance, 0.01 + 0.2 * chance, 0.1))

    def distance(self, w: Floats, other: Floats) -> float:
        """Half the squared distance in the metric, about the Kullback-Leibler divergence of models that are close."""
        change = weights = w - other
        for _ in range(1, int(self.means.features.orders.max(initial=1))):  # undoes what centring puts aside
            weights = change - self.aside @ weights
        return 0.5 * float((self.metric(w) * weights**2).sum())

    def subgradient(self, w: Floats, gradient: Floats) -> Floats:
        """Ascent direction of least norm: minus the least subgradient of the negated function."""
        return -self.nonsmooth_mean.min_norm_subgradient(w, -gradient)

    def product(self, w: Floats, a: Floats, b: Floats) -> float:
        """Inner product of subgradients in the inverse metric; of one with itself, twice the gain of a full step."""
        a, b = (g + self.aside_adjoint @ g for g in (a, b))
        return float((a * b / self.metric(w)).sum())

    def moved(self, w: Floats, gradient: Floats, length: float, distrust: float) -> Floats:
        """Take a proximal step in the weights of centred features, with a diagonal metric, times ``length``.

        Parameters with a kink are such weights themselves (see `aside`) and are shrunk. Their actual move is then
        subtracted from the parameters without a kink.
        """
        steps = self.nonsmooth.common_steps(length / (self.metric(w) + distrust))
        ahead = w + np.clip(steps * (gradient + self.aside_adjoint @ gradient), -_LONGEST, _LONGEST)
        shrunk = self.nonsmooth_mean.prox_by_steps(ahead, steps)
        return np.asarray(shrunk + self.aside @ (shrunk - w))


def climb(target: Target, chains: Persistent, start: Floats, schedule: AscentSchedule) -> Ascent:
    """Ascend until the average is at rest and its chains match the data, or until the iteration limit.

    One iteration: one sweep of all chains, the means of features over them, one step of a diagonal Newton method in
    centred features. Steps follow the noisy gradient; the result is a weighted average of the parameters (Polyak and
    Juditsky 1992).
    """
    w, average = start.copy(), start.copy()
    marks = schedule.looks or (2 * schedule.iterations // 3,)
    earlier = deque([(0, start)])  # marks, and the average there
    looks: list[Diagnostics] = []
    for t in range(schedule.iterations):
        chains.sweep(w)
        gradient = target.gradient(w, chains.block_means().mean(axis=0))
        w = target.moved(w, gradient, schedule.step(t), schedule.distrust(t, chains.n))
        # Weights in proportion to the iteration, counted from _AVERAGED_FROM: until then the factor is 1, and the
        # average forgets everything before.
        average += 2.0 / (max(t - _AVERAGED_FROM, 0) + 2.0) * (w - average)
        is_last = t + 1 == schedule.iterations
        if t + 1 in marks or is_last:
            # Compare with the last mark that is not after two thirds of the iterations so far.
            while len(earlier) > 1 and 3 * earlier[1][0] <= 2 * (t + 1):
                earlier.popleft()
            moved = target.distance(average, earlier[0][1])
            earlier.append((t + 1, average.copy()))
            calm = min(1.0, schedule.first_step / _USUAL)  # short steps move less, however much is missing
            rested = moved < calm * target.resting
            # Rest is tested first because it is free; the diagnosis takes a few sweeps of all chains.
            if is_last or (schedule.looks and rested):
                learned = _with_zeros(target, chains, average, schedule)
                looks.append(diagnose(target, chains, learned, schedule, t + 1))
                if looks[-1].matches:
                    break
    return Ascent(learned, tuple(looks), t + 1, moved, rested)


def _with_zeros(target: Target, chains: Persistent, average: Floats, schedule: AscentSchedule) -> Floats:
    """Return the average, with exact zeros for parameters that one full step sets to zero.

    The step uses the means of many sweeps. Single sweeps are too noisy to tell: the average of a parameter that should
    be zero is sometimes above zero and sometimes below.
    """
    if not target.has_kinks:
        return average.copy()
    gradient = target.gradient(average, _frozen_means(chains, average, schedule).mean(axis=0))
    return np.where(target.moved(average, gradient, 1.0, schedule.damping / chains.n) == 0, 0.0, average)


def _frozen_means(chains: Persistent, w: Floats, schedule: AscentSchedule) -> Floats:
    """Return means over sweeps for each block of chains, after sweeps that let the chains forget other parameters."""
    chains.sweep(w, schedule.settling)
    means = np.zeros((chains.n_blocks, len(w)))
    for _ in range(schedule.looking):
        chains.sweep(w)
        means += chains.block_means() / schedule.looking
    return means


def diagnose(target: Target, chains: Persistent, w: Floats, schedule: AscentSchedule, iteration: int) -> Diagnostics:
    """Sweep under frozen parameters and compare two halves of the chains."""
    blocks = _frozen_means(chains, w, schedule)
    half = len(blocks) // 2

    def upwards(part: Floats) -> Floats:
        return target.subgradient(w, target.gradient(w, part.mean(axis=0)))

    a, b = upwards(blocks[:half]), upwards(blocks[half:])
    # With independent halves E[a . b] = |E a|^2, without the bias of |a|^2. The mean of both halves has a quarter of
    # the variance of a - b, whence 1/8 = 1/2 * 1/4.
    mismatch, noise = 0.5 * target.product(w, a, b), 0.125 * target.product(w, a - b, a - b)
    return Diagnostics(iteration, mismatch, noise, float(np.abs(upwards(blocks)).max(initial=0.0)))
