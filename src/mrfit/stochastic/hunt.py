"""The hunt for phantom modes: probability that chains which began in data never see."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mrfit.stochastic.ascent import Ascent, Schedule, Target, climb
from mrfit.stochastic.evidence import Evidence, evidence
from mrfit.stochastic.persistent import Persistent, persistent

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_ROUNDS = 3
_ITERATIONS = 25  # in which a phantom shrinks; many more, and what the data have there is gone too
_STEP = 0.03
_SHARE = 64  # of so many chains one is moved into a phantom: more would correct too much


@dataclass(frozen=True, eq=False)
class Hunt:
    """The best of what rounds left, by the penalised likelihood; and how many there were."""

    ascent: Ascent
    evidence: Evidence
    objective: float
    rounds: int = 0


def hunt(
    target: Target,
    ascent: Ascent,
    data: Codes,
    begin: Codes,
    schedule: Schedule,
    *,
    seed: tuple[int, ...],
    jobs: int = 1,
) -> Hunt:
    """Look for a mode where the data are not, on the averaged parameters; put a few chains there and go on learning.

    Parameters on the way have such modes all the time, which the average has not: only that is looked at. Where the
    data themselves have rows far from all others the model needs a mode there, which chains that have left it do not
    keep small: the hunt may not settle. It ends after three rounds, keeps the best, and what is left is told.
    """
    short = replace(schedule, first_step=_STEP, iterations=_ITERATIONS, looks=())
    best = latest = _weighed(target, ascent, data, (*seed, 0), jobs)
    for number in range(1, _ROUNDS + 1):
        if not latest.evidence.has_phantom:
            break
        chains = _with_visitors(target, begin, latest.evidence, (*seed, number), jobs)
        latest = _weighed(target, climb(target, chains, latest.ascent.w, short), data, (*seed, 10 + number), jobs)
        best = replace(max(best, latest, key=lambda one: one.objective), rounds=number)
    return best


def _weighed(target: Target, ascent: Ascent, data: Codes, seed: tuple[int, ...], jobs: int) -> Hunt:
    found = evidence(target.means.features.parameters.to_factors(ascent.w), data, seed=seed, jobs=jobs)
    return Hunt(ascent, found, target.objective(ascent.w, found.log_z))


def _with_visitors(target: Target, begin: Codes, found: Evidence, seed: tuple[int, ...], jobs: int) -> Persistent:
    """Chains that begin in data, some of them moved to where the phantom is."""
    n = int(np.clip(round(found.far_mass * len(begin)), 1, max(1, len(begin) // _SHARE)))
    visitors = np.random.default_rng(seed).choice(len(found.codes), n, p=found.far.shares)
    begin = begin.copy()
    begin[:: len(begin) // n][:n] = found.codes[visitors]  # spread over blocks, so that both halves have some
    return persistent(target.means.features, begin, seed, jobs=jobs)
