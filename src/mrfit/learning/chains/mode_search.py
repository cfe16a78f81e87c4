"""Search for spurious modes: probability far from the data, which chains that start at rows never visit."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit

from mrfit._typing import Codes, Floats
from mrfit.learning.chains.ascent import Ascent, Target
from mrfit.learning.chains.log_z_estimate import LogZEstimate, evidence

_ROUNDS = 3
_LEFT = 0.001  # of the probability that a removed mode keeps: it then costs at most about as many nats per row
_LENGTHS = np.geomspace(1e-8, 1.0, 97)  # of steps away from a mode, 1 for a whole Newton step


@dataclass(frozen=True, eq=False)
class Hunt:
    """Last round that was no worse than those before by the penalised likelihood, and the number of rounds."""

    ascent: Ascent
    evidence: LogZEstimate
    objective: float
    rounds: int = 0


def hunt(target: Target, ascent: Ascent, data: Codes, distrust: float, *, seed: tuple[int, ...], jobs: int = 1) -> Hunt:
    """Look for a spurious mode of the averaged parameters, and step away from it.

    Only the average is examined: parameters along the way have such modes all the time, and the average has not. A
    second mode may appear once the first is gone. The search ends after three rounds, and what remains is reported.
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
    """Take the shortest natural-gradient step that leaves the mode no more probability than the data have there.

    The least probability left is _LEFT. A mode differs from the data in thousands of features, so that a tiny step in
    each changes its log-probability by nats, and that of the data by next to nothing. The effect of a step is known
    without new chains: the weights of those that found the mode change by the step's value at their states.

    The alternative, to continue learning with chains in the mode, goes many times further and damages the fit to the
    data (book: 0.15 nats per row).
    """
    log_mass, codes, shares = found.far_side
    values = target.means.features.values(codes)
    upwards = target.means.of_features - shares @ values
    allowed = logit(max(_LEFT, found.share_beyond))
    for length in _LENGTHS:
        moved = target.moved(w, upwards, float(length), distrust)
        step = moved - w
        # Change of the mode's log-odds: importance weights of its chains, against the mean of the data's rows.
        gained = np.log(shares @ np.exp(values @ step)) - target.means.of_features @ step
        if log_mass + gained <= allowed:
            break
    return moved
