"""Rows drawn from a distribution: exactly where a junction tree fits, else by Gibbs chains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mrfit.core.errors import InputError
from mrfit.core.factors import Factors
from mrfit.inference.engine import AUTO
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.planned_tree import PlannedTree
from mrfit.inference.sampling.gibbs import Gibbs, sample

_CELLS_IN_A_PIECE = 2**23
WAYS = (JunctionTree.word, Gibbs.word)


def draw_rows(
    factors: Factors,
    n_rows: int,
    n_columns: int,
    *,
    engine: str = AUTO,
    seed: int = 0,
    jobs: int = 1,
    names: Sequence[str] | None = None,
    tree: PlannedTree | None = None,
) -> tuple[NDArray[np.uint8], tuple[str, ...]]:
    """Draw rows of codes of the first ``n_columns`` variables; return them, and remarks if they are not exact.

    A ``tree`` that you pass must not merge variables.
    """
    if engine not in (AUTO, *WAYS):
        raise InputError(f"There is no engine {engine!r} for samples; choose auto, {' or '.join(WAYS)}.")
    tree = tree or PlannedTree.of(factors, seed=seed, merge=False)
    if tree.answers(engine, names):
        # In pieces: while a piece is drawn, its codes take eight times as many bytes, and more.
        rng, size = np.random.default_rng(seed), max(1, _CELLS_IN_A_PIECE // factors.n_variables)
        codes = np.empty((n_rows, n_columns), np.uint8)
        for first in range(0, n_rows, size):
            piece = codes[first : first + size]
            piece[:] = tree.engine.draw(tree.plan, factors, len(piece), rng=rng, jobs=jobs)[:, :n_columns]
        return codes, ()
    sampled = sample(factors, n_rows, engine=Gibbs(seed=seed, jobs=jobs))
    about = "The rows are from Gibbs chains: close to the distribution, and not quite independent."
    return sampled.codes[:, :n_columns].astype(np.uint8), (about, *sampled.remarks)
