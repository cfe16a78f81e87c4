"""Initial states of chains."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Codes
from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.sampling.annealing_path import AnnealingPath
from mrfit.inference.sampling.base_distribution import uniform
from mrfit.inference.sampling.gibbs_chains import Chains

_TRIES = 3  # at finding possible states, each four times as long as the last


def annealed_states(factors: Factors, n: int, *, sweeps: int, seed: tuple[int, ...], jobs: int = 1) -> Codes:
    """Return the last states of ``n`` chains that begin anywhere and cool down to the factors; all are possible.

    A chain that ends in an impossible state is replaced by a copy of another. If all do, the tables may contradict each
    other, which only an exact engine can tell.
    """
    base = uniform(factors.shape)
    path = AnnealingPath.between(base.factors, factors, soft=True)
    for attempt in range(_TRIES):
        begin = base.draw(n, np.random.default_rng((*seed, attempt)))
        chains = Chains(path, begin, (*seed, attempt), jobs=jobs)
        length = sweeps * 4**attempt
        chains.sweep(np.arange(1, length + 1) / length)
        codes = chains.codes
        possible = np.flatnonzero(path.log_target(codes) > -np.inf)
        if len(possible):
            return codes[_with_replacements(possible, n)]
    raise InputError(
        f"None of {n} chains found a joint state possible under the tables' cells of minus infinity. The tables and "
        "the evidence may contradict each other: check them, or use an exact engine, which can tell."
    )


def rows_to_begin_in(factors: Factors, data: Codes, n: int, seed: tuple[int, ...]) -> Codes:
    """Draw ``n`` of the possible rows of ``data``, each about equally often; return no rows if none is possible."""
    check_rows(factors, data)
    possible = data[factors.log_potential(data) > -np.inf] if factors.has_impossible_states else data
    if not len(possible):
        return possible
    shuffled = np.random.default_rng(seed).permutation(len(possible))
    return possible[np.resize(shuffled, n)]


def check_rows(factors: Factors, data: Codes) -> None:
    """Refuse rows that are not codes of these variables."""
    Factors(factors.shape, (), np.empty(0)).log_potential(data)


def _with_replacements(possible: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Return the numbers 0 to n - 1, where possible ones in turn replace those that are not."""
    out = np.resize(possible, n)
    out[possible] = possible
    return out
