"""Rows drawn from a distribution: exact where that fits, else from Gibbs chains."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mrfit.errors import InputError
from mrfit.factors import Factors
from mrfit.inference.gibbs import Gibbs, sample
from mrfit.inference.junction_tree import JunctionTree

Indices = NDArray[np.int64]

AUTO = "auto"
WAYS = (JunctionTree.word, Gibbs.word)


def draw_rows(
    factors: Factors,
    n_rows: int,
    *,
    engine: str = AUTO,
    seed: int = 0,
    jobs: int = 1,
    names: Sequence[str] | None = None,
) -> tuple[Indices, tuple[str, ...]]:
    """Rows of codes, and what is to be said of them if they are not exact."""
    if engine not in (AUTO, *WAYS):
        raise InputError(f"There is no engine {engine!r} for samples; choose auto, {' or '.join(WAYS)}.")
    tree = JunctionTree(seed=seed, merge=False)
    plan = tree.plan(factors)
    if engine == JunctionTree.word:
        plan.check(names)
    if engine == JunctionTree.word or (engine == AUTO and plan.fits):
        return tree.draw(plan, factors, n_rows, rng=np.random.default_rng(seed), jobs=jobs), ()
    drawn = sample(factors, n_rows, engine=Gibbs(seed=seed, jobs=jobs))
    about = "The rows are from Gibbs chains: close to the distribution, and not quite independent."
    return np.array(drawn.codes, np.int64), (about, *drawn.remarks)
