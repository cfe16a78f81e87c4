"""Many Gibbs chains, updated together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.arithmetic.vector_rng import LANES, WORDS
from mrfit._kernels.sampling.gibbs_sweeps import N_FLOATS
from mrfit._typing import Floats
from mrfit.core import threads as workers
from mrfit.inference.sampling.annealing_path import AnnealingPath


class Chains:
    """States of chains, their random generators, and their accumulated heat.

    Every chain has a generator of its own: its draws depend on its number and the seed alone, not on the number of
    other chains or of threads. Chains run in blocks of 64; a block that is not full costs as much.

    Parameters
    ----------
    path
        The distributions at which chains can be swept.
    codes
        Initial states, (chains, variables).
    seed
        Whole numbers; other numbers give independent chains.
    """

    def __init__(self, path: AnnealingPath, codes: NDArray[Any], seed: tuple[int, ...], *, jobs: int = 1) -> None:
        self.path, self.n = path, len(codes)
        self._n_blocks = -(-self.n // LANES)
        self._shares = workers.deal(np.ones(self._n_blocks), jobs)
        padded: NDArray[Any] = np.zeros((self._n_blocks * LANES, codes.shape[1]), path.state_type)
        padded[: self.n] = codes
        padded[self.n :] = codes[:1]
        self._x = self._by_block(padded)  # (blocks, variables, lanes)
        words = np.random.SeedSequence(seed).generate_state(4 * len(padded)).reshape(-1, 4)
        self._workspace = np.zeros((self._n_blocks, N_FLOATS), np.float32)
        self._workspace[:, :WORDS] = self._by_block(words).reshape(self._n_blocks, -1).view(np.float32)
        self._heat = np.zeros((self._n_blocks, LANES))

    def _by_block(self, rows: NDArray[Any]) -> NDArray[Any]:
        return np.ascontiguousarray(rows.reshape(self._n_blocks, LANES, rows.shape[1]).transpose(0, 2, 1))

    def sweep(self, betas: Floats, *, backwards: bool = False) -> None:
        """Update all variables once at each of ``betas``; ``backwards`` goes from the last variable to the first.

        One direction is the time reversal of the other, so that runs down a path can be weighed against runs up.
        """

        def blocks(first: int, last: int) -> None:
            for block in range(first, last):
                self.path.sweep(
                    self.path.model, betas, backwards, self._x[block], self._workspace[block], self._heat[block]
                )

        workers.run(blocks, self._shares)

    def sweep_each(self, betas: Floats) -> Floats:
        """Update all variables of each block once, at a beta for each block.

        Returns log p of the target at the states, up to a constant, (blocks, lanes).
        """
        log_p = np.empty((self._n_blocks, LANES))

        def blocks(first: int, last: int) -> None:
            for block in range(first, last):
                x, beta = self._x[block], betas[block : block + 1]
                self.path.sweep(self.path.model, beta, False, x, self._workspace[block], self._heat[block])
                self.path.potentials(self.path.model, x, log_p[block])

        workers.run(blocks, self._shares)
        return log_p

    @property
    def states(self) -> NDArray[Any]:
        """The states as kernels take them, (blocks, variables, lanes); a view."""
        return self._x

    @property
    def codes(self) -> NDArray[np.int64]:
        """The states, (chains, variables); a copy."""
        return np.concatenate(self._x, axis=1)[:, : self.n].T.astype(np.int64)

    @property
    def heat(self) -> Floats:
        """The sum, for each chain and over all sweeps, of the change of log p of the sweep's own distribution."""
        return self._heat.ravel()[: self.n].copy()

    def record(self, every: int, out: NDArray[Any]) -> Floats:
        """Sweep at beta = 1, and write the states after each ``every`` sweeps to ``out``, (draws, variables, chains).

        Returns log p of each state up to a constant, (draws, chains).
        """
        betas, log_p = np.ones(every), np.empty((len(out), self._n_blocks, LANES))
        for draw in range(len(out)):
            self.sweep(betas)
            for block, x in enumerate(self._x):
                lanes = slice(block * LANES, min((block + 1) * LANES, self.n))
                out[draw, :, lanes] = x[:, : lanes.stop - lanes.start]
                self.path.potentials(self.path.model, x, log_p[draw, block])
        return log_p.reshape(len(out), self._n_blocks * LANES)[:, : self.n].copy()


def code_type(shape: tuple[int, ...]) -> type:
    """Return the smallest integer type that represents every state."""
    most = max(shape, default=1)
    return np.uint8 if most <= 256 else np.uint16 if most <= 65536 else np.int32
