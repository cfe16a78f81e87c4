"""log Z of a learned model by annealing from two bases: near the data, and uniform, which may find another mode."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mrfit._typing import Codes, Floats
from mrfit.core.factors import Factors
from mrfit.inference.sampling.annealed import annealed_enough
from mrfit.inference.sampling.annealing import AnnealingEstimate
from mrfit.inference.sampling.base_distribution import BaseDistribution, tree, uniform

_LEAST = 0.1  # of the probability: a mode with less costs less than about 0.1 nats per row
_WORTH = 0.005  # of it: a mode with more is removed
_BEYOND = 10.0  # times what the data have there
_SPREADS, _STATES = 4.0, 3.0  # standard deviations of the data's sums, and states, by which it must lie apart
_ERRORS = 2.0  # by which one base must be beyond the other
_UNMIXED = 10.0  # nats between two bases that no error explains
_WORTHLESS = 5.0  # chains that weights should be worth at least
_ROWS = 20_000  # of the data that a base is made of


@dataclass(frozen=True, eq=False)
class LogZEstimate:
    """Estimates of log Z by annealing from two bases.

    Only the larger one is evidence, since a base can miss probability but not invent it.

    It must be larger by more than the errors explain. Chains from the uniform base seldom end where most of Z is, and
    say little then. Of two estimates that differ by chance, the larger is too large (kdd, all pairs: by 0.2 nats per
    row).

    ``near`` starts at a tree of the data's pairs, ``far`` at the uniform distribution. ``near_codes`` and ``codes`` are
    the states where their chains ended. ``sums`` are the numbers of variables off their first state in the data's rows.
    """

    near: AnnealingEstimate
    far: AnnealingEstimate
    near_codes: Codes
    codes: Codes
    sums: NDArray[np.int64]

    @property
    def log_z(self) -> float:
        """Log Z by the trusted base; with a spurious mode, that of the mass on its side and on the data's together."""
        return float(np.logaddexp(*self._sides)) if self.has_phantom else self._trusted.log_z

    @property
    def error(self) -> float:
        """Standard error of the trusted base; a gap to the other base is the other's failure and is not added."""
        return self._trusted.error

    @property
    def _trusted(self) -> AnnealingEstimate:
        """The estimate to use: the larger one.

        The far one also has to be believable: larger beyond errors, from few chains, in a mode of its own, or with the
        smaller error. Otherwise the larger of two noisy numbers would be taken, which is biased.
        """
        is_real = _is_beyond(self.far, self.near) or self.far.ess < _WORTHLESS or self.has_phantom
        is_better = self.far.error < self.near.error
        return self.far if self.far.log_z > self.near.log_z and (is_real or is_better) else self.near

    @property
    def far_sum(self) -> float:
        """Mean number of variables off their first state in the weighted chains of the uniform base.

        If some chains ended apart from the data, only those count: a mode is noticed before it outweighs all else.
        """
        sums, shares = (self.codes > 0).sum(axis=1), self.far.shares
        apart = shares * self._is_apart(sums, self.sums)
        return float(sums @ apart / apart.sum()) if apart.any() else float(sums @ shares)

    @staticmethod
    def _is_apart(sums: NDArray[np.int64] | float, usual: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether sums are far from usual ones, by the middle two thirds of these (outliers do not count)."""
        low, middle, high = np.quantile(usual, (1 / 6, 1 / 2, 5 / 6))
        return np.asarray(np.abs(sums - middle) > _SPREADS * 0.5 * (high - low) + _STATES)

    @property
    def far_mass(self) -> float:
        """Probability of the side beyond the middle between the data and the far base's mode."""
        there, here = self._sides
        return float(expit(there - here)) if there > -np.inf else 0.0

    @property
    def far_side(self) -> tuple[float, Codes, Floats]:
        """Log-odds of the far side against the side of the data, states of chains there, and their shares of it.

        The states are those of the base that found more mass there.
        """
        there, here = self._sides
        _, codes, shares = max(self._found, key=lambda each: self._log_mass(*each, beyond=True))
        beyond = self._is_beyond((codes > 0).sum(axis=1))
        return there - here, codes[beyond], shares[beyond] / shares[beyond].sum()

    @property
    def _sides(self) -> tuple[float, float]:
        """log Z of the far side, and of the side of the data.

        Each base finds a part of Z on each side, and the larger part is nearer to the truth. If the data have rows on
        the far side, the first base finds that side, too.
        """
        there, here = (max(self._log_mass(*each, beyond=beyond) for each in self._found) for beyond in (True, False))
        return there, here

    @property
    def _found(self) -> tuple[tuple[float, Codes, Floats], ...]:
        """Log Z of each base, the states where its chains ended, and their shares of Z."""
        return (
            (self.near.log_z, self.near_codes, self.near.shares),
            (self.far.log_z, self.codes, self.far.shares),
        )

    def _log_mass(self, log_z: float, codes: Codes, shares: Floats, *, beyond: bool) -> float:
        """log Z of one side, by one base."""
        there = self._is_beyond((codes > 0).sum(axis=1)) == beyond
        with np.errstate(divide="ignore"):
            return log_z + float(np.log(shares @ there))

    def _is_beyond(self, sums: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether rows with such sums lie on the far side."""
        middle = 0.5 * (self.far_sum + self.sums.mean())
        return np.asarray((sums > middle) == (self.far_sum > middle))

    @property
    def share_beyond(self) -> float:
        """Share of the data's rows on the far side."""
        return float(self._is_beyond(self.sums).mean())

    @property
    def has_phantom(self) -> bool:
        """Whether a spurious mode has a tenth of the probability or more."""
        return self._has_mode(_LEAST)

    @property
    def is_worth_hunting(self) -> bool:
        """Whether a spurious mode has enough probability (0.5 %) to be worth removing."""
        return self._has_mode(_WORTH)

    def _has_mode(self, least: float) -> bool:
        if abs(self.far_sum - self.sums.mean()) <= _STATES:
            return False
        usual = self.sums[~self._is_beyond(self.sums)]  # heavy rows would make the spread so wide that nothing is apart
        apart = abs(self.far_sum - usual.mean()) > _SPREADS * usual.std() + _STATES
        return bool(apart and self.far_mass > max(least, _BEYOND * self.share_beyond))

    @property
    def is_unmixed(self) -> bool:
        """Whether log Z is unknown: few chains carry it, or those from the data miss most of what others find."""
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
) -> LogZEstimate:
    """Anneal from both bases, each with more temperatures until enough chains carry the estimate.

    The first base needs an effective sample size of half its chains. The second finds other modes by chance, so few
    effective chains matter only if its log Z is the larger. If it is, a slower run must confirm it.
    """
    rows = data[np.random.default_rng((*seed, 1)).permutation(len(data))[:_ROWS]]
    base, sums = tree("tree", factors.shape, rows), (rows > 0).sum(axis=1)

    def annealed(
        base: BaseDistribution, first: int, number: int, is_enough: Callable[[AnnealingEstimate], bool] | None = None
    ) -> tuple[AnnealingEstimate, Codes]:
        return annealed_enough(
            factors,
            base,
            chains=chains,
            temperatures=first,
            max_temperatures=max_temperatures,
            seed=(*seed, number),
            jobs=jobs,
            is_enough=is_enough,
        )

    near, near_codes = annealed(base, temperatures, 2)

    def says_enough(found: AnnealingEstimate) -> bool:
        is_sure = found.temperatures > far_temperatures or not _is_beyond(found, near)
        return found.log_z < near.log_z or (found.ess >= _WORTHLESS and is_sure)

    far, codes = annealed(uniform(factors.shape), far_temperatures, 3, says_enough)
    return LogZEstimate(near, far, near_codes, codes, sums)


def _is_beyond(far: AnnealingEstimate, near: AnnealingEstimate) -> bool:
    """Whether ``far`` is larger by more than the errors explain."""
    return far.log_z - near.log_z > _ERRORS * float(np.hypot(near.error, far.error))
