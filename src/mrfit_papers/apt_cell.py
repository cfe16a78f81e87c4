"""One cell of Table 1 of Chou et al. (2018): a data set, a bound on the degree, and a method of learning parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

from mrfit import L1, L2, FitResult, Learned, Learner, LearnTieRelearn, SoftTied
from mrfit.data.named_datasets import named_set
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit.solvers.solution import Status
from mrfit_papers.benchmark_rows import PARTS, Prepared, prepared
from mrfit_papers.unit import Unit

# The paper's.
GROUPS = (1, 2, 5, 10, 20, 100, 500, 1000, 5000, 10000)
STRENGTHS = (0.01, 0.1, 0.5, 1.0, 10.0, 15.0, 30.0, 50.0, 100.0)
QUICK_GROUPS = (1, 2, 5, 20, 100)
QUICK_STRENGTHS = (0.1, 1.0, 10.0, 50.0)


@dataclass(frozen=True)
class PaperGrid:
    """The numbers of groups and the strengths among which a method selects."""

    groups: tuple[int, ...] = GROUPS
    strengths: tuple[float, ...] = STRENGTHS


GRIDS = {False: PaperGrid(), True: PaperGrid(QUICK_GROUPS, QUICK_STRENGTHS)}  # by whether the run is quick


@dataclass(frozen=True)
class PaperMethod:
    """A method of learning parameters on a given structure."""

    name: str
    penalty: Callable[[PaperGrid], PenaltySpec]
    parameterization: str = "canonical"
    cost: float = 1.0  # relative to L2 with unary terms free


METHODS = {
    method.name: method
    for method in (
        PaperMethod("L2", lambda grid: L2(grid.strengths), cost=4),  # it comes first and waits for the structure
        PaperMethod("LTR", lambda grid: LearnTieRelearn(grid.strengths, groups=grid.groups), cost=5),
        PaperMethod("APT", lambda grid: SoftTied(grid.strengths, groups=grid.groups), cost=6),
        PaperMethod("L2, unary free", lambda grid: L2(grid.strengths, free_orders=(1,))),
        PaperMethod("APT, unary apart", lambda grid: SoftTied(grid.strengths, groups=grid.groups, tie="apart"), cost=6),
        PaperMethod("APT, spectral", lambda grid: SoftTied(grid.strengths, groups=grid.groups), "spectral", cost=9),
        PaperMethod("l1", lambda _: L1(), cost=2),
    )
}
_BOUND_COSTS = {"joint": 2.5}  # has more edges, and takes longer to find them
PAPERS = ("L2", "LTR", "APT")
PAPERS_DEGREES = (5, 15, 50)
ROUGH = 1e-4  # violation of tied fits that are far from the best; it changes their time, not which one is selected


@dataclass(frozen=True)
class AptCell(Unit):
    """Learn a structure with at most ``degree`` neighbours (as ``bound`` defines that), then its parameters."""

    set: str
    degree: int
    bound: str
    method: str
    quick: bool = False

    kind: ClassVar[str] = "apt-cell"

    def data(self) -> tuple[tuple[str, str], ...]:
        return tuple((self.set, part) for part in PARTS)

    def learner(self) -> Learner:
        method = METHODS[self.method]
        structure = Learned(max_degree=self.degree, bound=self.bound)
        return Learner(structure, method.penalty(GRIDS[self.quick]), parameterization=method.parameterization)

    def learners(self) -> tuple[Learner, ...]:
        """Return the learner and L2 on the same structure, over which it gains."""
        return self.learner(), replace(self, method="L2").learner()

    def shared(self) -> Hashable:
        return self.set, self.degree, self.bound

    def turn(self) -> int:
        """Run the cells with published numbers first, by the most likely reading, then by the others; then all else."""
        is_papers = self.method in PAPERS and self.degree in PAPERS_DEGREES
        return 2 if not is_papers else 0 if self.bound == "top" else 1

    def cost(self) -> float:
        entry = named_set(self.set)
        rows = next(file.rows for file in entry.files if file.split == "train")
        size = entry.n_variables * min(self.degree, entry.n_variables) * math.sqrt(rows)
        return METHODS[self.method].cost * _BOUND_COSTS.get(self.bound, 1.0) * size

    def describe(self) -> str:
        return f"{self.set}, {self.degree} neighbours ({self.bound}), {self.method}"

    def run(self) -> dict[str, Any]:
        given = prepared(self.set, self.degree, self.bound)
        l2 = l2_on(given, quick=self.quick)
        learner = self.learner()
        rough = ROUGH if learner.penalty.is_tied else None
        fitted = l2 if self.method == "L2" else given.fitted(learner, rough=rough)
        scores = given.test_scores(fitted.best)
        gain = given.mean(scores - given.test_scores(l2.best))
        score, best = given.mean(scores), fitted.best
        return {
            "edges": len(given.structure.structure.edges),
            "parameters": fitted.n_candidate_parameters,
            "cells": fitted.n_cells,
            "fits": len(fitted.fits),
            "converged": sum(fit.solution.violation <= learner.tolerance for fit in fitted.fits),
            "left": sum(fit.solution.status is Status.ABANDONED for fit in fitted.fits),
            "valid": -best.rank,
            "test": -score.mean,
            "error": score.standard_error,
            "strength": best.strength,
            "groups": best.n_groups,
            "nonzero": best.n_nonzero,
            "gain": gain.mean,
            "gain_error": gain.standard_error,
            "by_groups": by_groups(given, fitted),
        }


@lru_cache(maxsize=1)
def l2_on(given: Prepared, *, quick: bool) -> FitResult:
    """Return the baseline of every method, paired by test row: L2 run to its optimum."""
    return given.fitted(Learner(penalty=METHODS["L2"].penalty(GRIDS[quick])))


def by_groups(given: Prepared, fitted: FitResult) -> list[dict[str, float]]:
    """Return for every number of groups the strength selected on validation rows, and its scores on both."""
    found = []
    for k in sorted({fit.n_groups for fit in fitted.fits if fit.n_groups is not None}):
        best = max((fit for fit in fitted.fits if fit.n_groups == k), key=lambda fit: fit.rank)
        test, violation = -given.mean(given.test_scores(best)).mean, best.solution.violation
        found.append(
            {"groups": k, "strength": best.strength, "valid": -best.rank, "test": test, "violation": violation}
        )
    return found
