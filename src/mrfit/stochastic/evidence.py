"""log Z of a learned model by annealing from where its data are, and from everywhere, which may find another mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mrfit.factors import Factors
from mrfit.inference.annealing import Estimate, run_up
from mrfit.inference.base import Base, tree, uniform
from mrfit.inference.path import Path

Floats = NDArray[np.float64]
Codes = NDArray[Any]

_LEAST = 0.1  # of the probability: a mode with less costs less than 0.1 nats a row
_BEYOND = 10.0  # times what the data have there
_SPREADS, _STATES = 4.0, 3.0  # standard deviations of the data's sums, and states, by which it must lie apart
_ERRORS = 2.0  # by which one base must be beyond the other
_UNMIXED = 10.0  # nats between two bases that no error explains
_WORTHLESS = 5.0  # chains that weights should be worth at least
_ENOUGH = 0.5  # of the chains
_ROWS = 20_000  # of the data that a base is made of


@dataclass(frozen=True, eq=False)
class Evidence:
    """What two bases say of log Z. Only a larger one is proof: what a base misses it cannot add.

    Larger by more than errors explain, that is: chains from everywhere seldom end where most of Z is, so that they say
    little of it, and the larger of two numbers that differ by chance is too large (kdd, all pairs: by 0.2 nats a row).

    ``near`` began in a tree of the data's pairs, ``far`` in the uniform distribution; ``codes`` are where chains of the
    second ended. ``sums`` are the numbers of variables beside their first state in rows of the data, and ``near_sums``
    those where chains of the first base ended.
    """

    near: Estimate
    far: Estimate
    codes: Codes
    sums: NDArray[np.int64]
    near_sums: NDArray[np.int64]

    @property
    def log_z(self) -> float:
        """Of the base that counts; with a phantom, of what is found on its side and on that of the data together."""
        return float(np.logaddexp(*self._sides)) if self.has_phantom else self._trusted.log_z

    @property
    def error(self) -> float:
        """Of the base that counts; if the other is beyond its own, that is none of this one's error."""
        return self._trusted.error

    @property
    def _trusted(self) -> Estimate:
        """The second base counts where it found more: beyond errors, by few chains, in its own mode, or more surely."""
        is_real = _is_beyond(self.far, self.near) or self.far.ess < _WORTHLESS or self.has_phantom
        is_better = self.far.error < self.near.error
        return self.far if self.far.log_z > self.near.log_z and (is_real or is_better) else self.near

    @property
    def far_sum(self) -> float:
        """Variables beside their first state in the weighted chains of the uniform base, on average."""
        return float(self.far.shares @ (self.codes > 0).sum(axis=1))

    @property
    def far_mass(self) -> float:
        """What part of the probability is on the far side of the middle between the data and what that base found."""
        there, here = self._sides
        return float(expit(there - here)) if there > -np.inf else 0.0

    @property
    def _sides(self) -> tuple[float, float]:
        """log Z of the far side, and of the one where the data are.

        Either base knows some of Z on either side, of which the larger is nearer to it: where data have rows on the far
        side, the first base finds them too.
        """
        both = (self.near, self._is_beyond(self.near_sums)), (self.far, self._is_beyond((self.codes > 0).sum(axis=1)))
        with np.errstate(divide="ignore"):
            there = max(each.log_z + float(np.log(each.shares @ beyond)) for each, beyond in both)
            here = max(each.log_z + float(np.log(each.shares @ ~beyond)) for each, beyond in both)
        return there, here

    def _is_beyond(self, sums: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether rows with such sums lie on the far side."""
        middle = 0.5 * (self.far_sum + self.sums.mean())
        return np.asarray((sums > middle) == (self.far_sum > middle))

    @property
    def has_phantom(self) -> bool:
        """Whether a mode where the data are not, or hardly ever, has a tenth of the probability or more."""
        if abs(self.far_sum - self.sums.mean()) <= _STATES:
            return False
        beyond = self._is_beyond(self.sums)
        usual = self.sums[~beyond]  # heavy rows would make the spread so wide that nothing is apart
        apart = abs(self.far_sum - usual.mean()) > _SPREADS * usual.std() + _STATES
        return bool(apart and self.far_mass > max(_LEAST, _BEYOND * float(beyond.mean())))

    @property
    def is_unmixed(self) -> bool:
        """Whether chains cannot tell: few of them decide, or those from the data miss most of what others find."""
        above = self.far.log_z - self.near.log_z
        return self.near.ess < _WORTHLESS or (above > _UNMIXED and not self.has_phantom)


def evidence(
    factors: Factors,
    data: Codes,
    *,
    chains: int = 64,
    temperatures: int = 1000,
    max_temperatures: int = 8000,
    far_temperatures: int = 500,
    seed: tuple[int, ...] = (0,),
    jobs: int = 1,
) -> Evidence:
    """Anneal from both bases; each takes more temperatures where too few of its chains decide.

    Weights of the first should be worth half of its chains. The second finds other modes by chance: that few of its
    chains decide matters only if they decide about log Z. If it finds more than the first, it must do so again, slower.
    """
    rows = data[np.random.default_rng((*seed, 1)).permutation(len(data))[:_ROWS]]
    base, sums = tree("tree", factors.shape, rows), (rows > 0).sum(axis=1)

    def annealed(base: Base, first: int, number: int, is_enough: Callable[[Estimate], bool]) -> tuple[Estimate, Codes]:
        path = Path.between(base.factors, factors, soft=True)
        found, codes = run_up(path, base, chains, first, (*seed, number), jobs)
        while not is_enough(found) and found.temperatures < max_temperatures:
            found, codes = run_up(
                path, base, chains, min(max_temperatures, 4 * found.temperatures), (*seed, number), jobs
            )
        return found, codes

    near, near_codes = annealed(base, temperatures, 2, lambda found: found.ess >= _ENOUGH * chains)

    def says_enough(found: Estimate) -> bool:
        is_sure = found.temperatures > far_temperatures or not _is_beyond(found, near)
        return found.log_z < near.log_z or (found.ess >= _WORTHLESS and is_sure)

    far, codes = annealed(uniform(factors.shape), far_temperatures, 3, says_enough)
    return Evidence(near, far, codes, sums, (near_codes > 0).sum(axis=1))


def _is_beyond(far: Estimate, near: Estimate) -> bool:
    """Whether errors do not explain that one is larger."""
    return far.log_z - near.log_z > _ERRORS * float(np.hypot(near.error, far.error))
