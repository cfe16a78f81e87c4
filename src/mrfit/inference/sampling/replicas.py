"""Replicates of a ladder of chains that swap states with their neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit._typing import Codes, Floats
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import BaseDistribution
from mrfit.inference.sampling.gibbs_chains import Chains, code_type

_QUENCH = np.full(6, 2.0)  # sweeps at half the target's temperature, for the initial states of cold replicates
_AT_BASE, _AT_TARGET = 1, 2  # the end of the ladder that a state visited last


@dataclass(frozen=True, eq=False)
class ReplicaRound:
    """Draws, swaps and round trips of replicates on one ladder.

    Parameters
    ----------
    betas
        Of the rungs, from 0 to 1.
    log_p
        log p of the target at the states, up to a constant, (rungs, draws, replicates).
    rejections
        Share of rejected swaps between neighbours, (rungs - 1,).
    round_trips
        Number of trips from the base to the target and back, of all states of a replicate, (replicates,).
    states
        States of the last rung, (draws, variables, replicates).
    codes
        Last states of all chains, (rungs * replicates, variables).
    """

    betas: Floats
    log_p: Floats
    rejections: Floats
    round_trips: NDArray[np.int64]
    states: Codes
    codes: Codes

    def moved_to(self, betas: Floats) -> Codes:
        """Return initial states for another ladder: each rung takes those of the nearest rung of this one."""
        nearest = abs(betas[:, None] - self.betas).argmin(axis=1)
        n, replicates = self.codes.shape[1], self.log_p.shape[2]
        by_rung = self.codes.reshape(len(self.betas), replicates, n)
        return np.asarray(by_rung[nearest].reshape(len(betas) * replicates, n))


def is_cold(replicates: int) -> NDArray[np.bool_]:
    """Return the mask of replicates that begin quenched: half of each block."""
    return np.arange(replicates) % LANES >= LANES // 2


def first_states(
    path: AnnealingPath, base: BaseDistribution, rungs: int, replicates: int, seed: tuple[int, ...], jobs: int
) -> Codes:
    """Return states that are random for half of the replicates, and quenched for the others.

    Hot starts may never enter a phase that cold starts never leave. When the ladder mixes, both kinds forget their
    start, so their agreement is a test of mixing.
    """
    codes = base.draw(rungs * replicates, np.random.default_rng((*seed, 0)))
    chains = Chains(path, codes, (*seed, 1), jobs=jobs)
    chains.sweep(_QUENCH)
    cold = np.tile(is_cold(replicates), rungs)
    return np.where(cold[:, None], chains.codes, codes)


def run_round(
    path: AnnealingPath, betas: Floats, codes: Codes, n_draws: int, seed: tuple[int, ...], jobs: int
) -> ReplicaRound:
    """Sweep every rung, then swap even or odd neighbours, ``n_draws`` times.

    Swaps alternate between even and odd pairs. An accepted state then moves on in one direction until it is rejected
    (Okabe et al., 2001; Syed et al., 2022), where random pairs would make it a random walk.
    """
    chains, rng = Chains(path, codes, (*seed, 0), jobs=jobs), np.random.default_rng((*seed, 1))
    rungs, n = len(betas), codes.shape[1]
    blocks = len(codes) // (rungs * LANES)
    x = chains.states.reshape(rungs, blocks, n, LANES)  # a view
    log_p = np.empty((rungs, n_draws, blocks * LANES))
    states: Codes = np.empty((n_draws, n, blocks * LANES), code_type(path.target.shape))
    rejected, tried = np.zeros(rungs - 1), np.zeros(rungs - 1)
    last_end = np.zeros((rungs, blocks, LANES), np.int8)
    trips = np.zeros((blocks, LANES), np.int64)
    for draw in range(n_draws):
        energy = chains.sweep_each(np.repeat(betas, blocks)).reshape(rungs, blocks, LANES)
        log_p[:, draw] = energy.reshape(rungs, -1)
        states[draw].reshape(n, blocks, LANES)[:] = x[-1].swapaxes(0, 1)
        # A round trip ends when a state that last visited the target arrives at the base.
        trips += last_end[0] == _AT_TARGET
        last_end[0] = _AT_BASE
        last_end[-1][last_end[-1] == _AT_BASE] = _AT_TARGET
        # Neighbours exchange states with probability min(1, exp(gain)), the Metropolis rule on their joint density.
        low = np.arange(draw % 2, rungs - 1, 2)
        gain = (betas[low + 1] - betas[low])[:, None, None] * (energy[low] - energy[low + 1])
        swaps = np.log(rng.random(gain.shape)) < gain
        # The probability of rejection, not whether it happened: the same mean, with less noise.
        rejected[low] += 1.0 - np.exp(np.minimum(gain, 0.0)).mean(axis=(1, 2))
        tried[low] += 1
        _swap(x, low, swaps[:, :, None, :])
        _swap(last_end, low, swaps)
    return ReplicaRound(betas, log_p, rejected / np.maximum(tried, 1), trips.ravel(), states, chains.codes)


def _swap(values: NDArray[Any], low: NDArray[np.int64], swaps: NDArray[np.bool_]) -> None:
    """Exchange the values of neighbouring rungs where they swap."""
    below, above = values[low], values[low + 1]
    values[low], values[low + 1] = np.where(swaps, above, below), np.where(swaps, below, above)
