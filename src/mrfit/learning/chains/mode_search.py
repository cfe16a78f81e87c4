"""The hunt for phantom modes: probability that chains which began in data never see."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit

from mrfit._typing import Codes, Floats
from mrfit.learning.chains.ascent import Ascent, Target
from mrfit.learning.chains.log_z_estimate import LogZEstimate, evidence

_ROUNDS = 3
_LEFT = 0.001  # of the probability, for a mode that was hunted: what it costs a row is no more
_LENGTHS = np.geomspace(1e-8, 1.0, 97)  # of steps away from a mode, 1 for a whole Newton step


@dataclass(frozen=True, eq=False)
class Hunt:
    """Last round that was no worse than those before by the penalised likelihood, and the number of rounds."""

    ascent: Ascent
    evidence: LogZEstimate
    objective: float
    rounds: int = 0


def hunt(target: Target, ascent: Ascent, data: Codes, distrust: float, *, seed: tuple[int, ...], jobs: int = 1) -> Hunt:
    """Look for a mode where the data are not, on the averaged parameters, and step away from it.

    Parameters on the way have such modes all the time, which the average has not: only that is looked at. Another mode
    may come up behind the first. It ends after three rounds, and what is left is told.
    """
    best = latest = _weighed(target, ascent, data, (*seed, 0), jobs)
    for number in range(1, _ROUNDS + 1):
        if not latest.evidence.is_worth_hunting:
            break
        w = without_mode(target, latest.ascent.w, latest.evidence, distrust)
        further = replace(latest.ascent, w=w, moved=latest.ascent.moved + target.distance(w, latest.ascent.w))
        latest = _weighed(target, further, data, (*seed, 10 + number), jobs)
        best = replace(latest if _is_as_good(latest, best) else best, rounds=number)
    return best


def _is_as_good(later: Hunt, earlier: Hunt) -> bool:
    """Whether the later round is no worse within the errors of log Z; a mode it removed may weigh less than these."""
    return later.objective > earlier.objective - 2.0 * float(np.hypot(later.evidence.error, earlier.evidence.error))


def _weighed(target: Target, ascent: Ascent, data: Codes, seed: tuple[int, ...], jobs: int) -> Hunt:
    found = evidence(target.means.features.parameters.to_factors(ascent.w), data, seed=seed, jobs=jobs)
    return Hunt(ascent, found, target.objective(ascent.w, found.log_z))


def without_mode(target: Target, w: Floats, found: LogZEstimate, distrust: float) -> Floats:
    """The shortest step of the likelihood's own that leaves a mode what the data have there, or next to nothing.

    A mode differs from the data in thousands of features, so that a tiny step in each moves it by nats and the data by
    next to nothing. How much, those who found it say: their weights change by what the step gives to their states.
    Learning on with chains put there would go many times further, and what was learned of the data would suffer (book:
    by 0.15 nats a row).
    """
    log_mass, codes, shares = found.far_side
    values = target.means.features.values(codes)
    upwards = target.means.of_features - shares @ values
    allowed = logit(max(_LEFT, found.share_beyond))
    for length in _LENGTHS:
        moved = target.moved(w, upwards, float(length), distrust)
        step = moved - w
        gained = np.log(shares @ np.exp(values @ step)) - target.means.of_features @ step
        if log_mass + gained <= allowed:
            break
    return moved
