"""Chains that go on while the parameters they sample from change, and the means of features over them."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from mrfit._kernels.arithmetic.vector_rng import LANES
from mrfit._kernels.sampling.gibbs_sweeps import Couplings
from mrfit._kernels.sampling.gibbs_tables import Incidence
from mrfit._kernels.sampling.pair_moments import LARGEST, pair_moments
from mrfit._kernels.sampling.table_moments import conditional_probabilities, indicator_moments
from mrfit._typing import Codes, Floats, Indices
from mrfit.core import threads as workers
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import uniform
from mrfit.inference.sampling.gibbs_chains import Chains
from mrfit.learning.chains.features import Features

_STEEPEST = 100.0  # a sum of parameters beyond has no effect on a chain; single precision holds it well


class Persistent(ABC):
    """Chains of the distribution of a vector of canonical parameters, which may be another one at every sweep.

    Parameters
    ----------
    codes
        Where they begin, (chains, variables); a multiple of 64 chains.
    """

    def __init__(self, features: Features, path: AnnealingPath, codes: Codes, seed: tuple[int, ...], jobs: int) -> None:
        self.features, self.path = features, path
        self.chains = Chains(path, codes, seed, jobs=jobs)
        self._shares = workers.deal(np.ones(self.n_blocks), jobs)

    @property
    def n(self) -> int:
        return self.chains.n

    @property
    def n_blocks(self) -> int:
        return self.n // LANES

    def sweep(self, w: Floats, n: int = 1) -> None:
        """Update all variables of all chains ``n`` times under these parameters."""
        self.take(w)
        self.chains.sweep(np.ones(n))

    def block_means(self) -> Floats:
        """Means of all features over each block of 64 chains under the parameters last taken, (blocks, features).

        States are not counted: each single variable or pair enters with its probabilities given all others
        (Rao-Blackwell), which has the same mean and less noise.
        """
        out = np.empty((self.n_blocks, self.features.parameters.n_parameters))
        workers.run(lambda first, last: self._sums(first, out[first:last]), self._shares)
        out /= LANES
        return out

    @abstractmethod
    def take(self, w: Floats) -> None:
        """Sample from these parameters from now on."""

    @abstractmethod
    def _sums(self, first: int, out: Floats) -> None:
        """Add up all features over the chains of each block, beginning at block ``first``."""


def persistent(features: Features, codes: Codes, seed: tuple[int, ...], *, jobs: int = 1) -> Persistent:
    """Chains by the kernel that is quickest for these features."""
    shape = features.parameters.domain.shape
    nothing = features.parameters.to_factors(np.zeros(features.parameters.n_parameters))
    path = AnnealingPath.between(uniform(shape).factors, nothing)
    kind = _PairChains if isinstance(path.model, Couplings) else _Tables
    return kind(features, path, codes, seed, jobs)


class _PairChains(Persistent):
    """Variables of two states that interact in pairs."""

    def __init__(self, features: Features, path: AnnealingPath, codes: Codes, seed: tuple[int, ...], jobs: int) -> None:
        super().__init__(features, path, codes, seed, jobs)
        assert isinstance(path.model, Couplings)
        self._model = path.model
        self._singles, self._pairs = (np.flatnonzero(features.orders == size) for size in (1, 2))
        self._variables = self._variables_of(1)[:, 0]
        self._ends = self._variables_of(2)
        self._pair_of_place = self._places(path.model)
        self._grown, self._kept = (np.ones(len(self._ends), np.float32) for _ in range(2))

    def _variables_of(self, size: int) -> Indices:
        """Variables of the features of this size, (features, size)."""
        indicators = self.features.blocks[size][1] if size in self.features.blocks else np.empty((0, size), np.int64)
        return self.features.variable_of_indicator[indicators]

    def _places(self, model: Couplings) -> Indices:
        """Number of the pair at each position of the model, which lists every pair once from either end.

        Larger scopes with variables of one state look like pairs to the model but have no parameters: their number is
        one past the last pair.
        """
        n, near = len(model.starts) - 1, np.repeat(np.arange(len(model.starts) - 1), np.diff(model.starts))
        wanted = np.minimum(near, model.neighbours) * n + np.maximum(near, model.neighbours)
        keys = self._ends @ np.array([n, 1])  # ascending, because the scopes of a structure are sorted
        at = np.searchsorted(keys, wanted)
        return np.where(np.append(keys, -1)[at] == wanted, at, len(keys))

    def take(self, w: Floats) -> None:
        self._model.fields[1][self._variables] = np.clip(w[self._singles], -_STEEPEST, _STEEPEST)
        couplings = np.clip(w[self._pairs], -_STEEPEST, _STEEPEST)
        self._model.couplings[1][:] = np.append(couplings, 0.0)[self._pair_of_place]
        limited = np.clip(couplings, -LARGEST, LARGEST)
        self._grown[:], self._kept[:] = np.exp(limited), np.exp(-limited)

    def _sums(self, first: int, out: Floats) -> None:
        n, pairs = self.chains.states.shape[1], np.empty(len(self._ends))
        odds, singles = np.empty((n, LANES), np.float32), np.empty(n)  # the same for all blocks: they stay in the cache
        for x, sums in zip(self.chains.states[first:], out, strict=False):
            pair_moments(self._model, self._ends, self._grown, self._kept, x, odds, singles, pairs)
            sums[self._singles], sums[self._pairs] = singles[self._variables], pairs


class _Tables(Persistent):
    """Any scopes and any numbers of states."""

    def __init__(self, features: Features, path: AnnealingPath, codes: Codes, seed: tuple[int, ...], jobs: int) -> None:
        super().__init__(features, path, codes, seed, jobs)
        assert isinstance(path.model, Incidence)
        self._model, parameters = path.model, features.parameters
        # Every cell of a canonical table is one parameter, or nothing where a state is the reference.
        numbered = parameters.to_factors(np.arange(1.0, parameters.n_parameters + 1))
        # The path's model may have tables more than once, so it says itself which number went where.
        shape = np.array(parameters.domain.shape, np.int64)
        layout = AnnealingPath.between(uniform(parameters.domain.shape).factors, numbered).model
        assert isinstance(layout, Incidence)
        self._parameter_of_cell = layout.values[int(shape.sum()) :].astype(np.int64)
        self._first_state, self._n_states = np.cumsum(shape) - shape, int(shape.sum())
        self._feature_states = features.states()

    def take(self, w: Floats) -> None:
        cells = np.concatenate([[0.0], np.clip(w, -_STEEPEST, _STEEPEST)])[self._parameter_of_cell]
        self._model.values[len(self._model.values) - len(cells) :] = cells

    def _sums(self, first: int, out: Floats) -> None:
        p = np.empty((self._n_states, LANES))
        for x, sums in zip(self.chains.states[first:], out, strict=False):
            conditional_probabilities(self._model, self._first_state, x, p)
            indicator_moments(self._first_state, *self._feature_states, p, x, sums)
