"""The growing search of Schmidt and Murphy (2010): a scope enters only when all its subsets are in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats, Scopes
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import Optimum
from mrfit.structures.hierarchy import supported
from mrfit.structures.structure import Structure


class _Fit(Protocol):
    def __call__(self, problem: FitProblem, strength: float, w: Floats) -> Optimum: ...


def growing_path(problem: FitProblem, strengths: Sequence[float], fit: _Fit) -> Iterator[Optimum]:
    """Fit from the strongest penalty to the weakest; each fit grows from the scopes of the last.

    At every strength: solve; keep the scopes that are not zero; let in all pairs, and all larger scopes of the
    problem's structure whose subsets with one variable less are not zero; solve again, until nothing new may enter. The
    end is an optimum over the scopes that were let in, not over all of them: it is sparser, its objective is worse, and
    it depends on the strengths walked before. A scope stays if a subset vanishes later: letting it go again, and come
    back, ends nowhere (on nltcs it goes round without end).
    """
    limit = problem.limit or problem.structure
    structure = first_scopes(limit)
    w: Floats | None = None
    for strength in sorted(strengths, reverse=True):
        passes, seconds, grows = 0, 0.0, True
        while grows:
            part = problem.on(structure)
            optimum = fit(part, strength, part.start if w is None else w)
            passes, seconds = passes + optimum.passes, seconds + optimum.seconds
            alive, kept = part.coordinates.parameters.pruned(optimum.solution.w)
            larger = _allowed(alive.structure, limit)
            grows = not all((structure.find(block) >= 0).all() for block in larger.blocks.values())
            structure = larger
            w = alive.on(structure).spread(alive, optimum.solution.w[kept])
        yield replace(optimum, passes=passes, seconds=seconds, coordinates=part.coordinates)


def first_scopes(limit: Structure) -> Structure:
    """Single variables and pairs: nothing else may be in before a pair is."""
    return _allowed(Structure.independent(limit.n_variables), limit)


def _allowed(alive: Structure, limit: Structure) -> Structure:
    """The scopes that are not zero, all pairs, and larger ones whose subsets with one variable less are not zero."""
    blocks = {size: block for size, block in alive.blocks.items() if size != 2}
    if 2 in limit.blocks:
        blocks[2] = limit.blocks[2]
    for size in (size for size in alive.blocks if size >= 2 and size + 1 in limit.blocks):
        candidates = supported(alive, size + 1)
        both = [candidates[_has(limit, candidates)], blocks.get(size + 1, candidates[:0])]
        if len(new := np.unique(np.concatenate(both), axis=0)):
            blocks[size + 1] = new
    return Structure(alive.n_variables, dict(sorted(blocks.items())))


def _has(limit: Structure, scopes: Scopes) -> NDArray[np.bool_]:
    return np.ones(len(scopes), bool) if limit.is_saturated else limit.find(scopes) >= 0
