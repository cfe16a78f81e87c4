"""One cell of Table 1 of Chou et al. (2018): a data set, a bound on the degree, and a way to learn the parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mrfit.data.named import find, named_set
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.fitted import Fit, Fitted
from mrfit.learning.held_out import mean_over_rows
from mrfit.learning.learner import Learner
from mrfit.learning.objective_choice import PSEUDO_LIKELIHOOD
from mrfit.learning.penalized import L1, L2
from mrfit.learning.penalty_choice import PenaltyChoice
from mrfit.learning.tied import GROUPS, STRENGTHS, LearnTieRelearn, Tied
from mrfit.reproduction.unit import Unit
from mrfit.structure.learner import LearnedStructure
from mrfit.structure.learners import Given, Learned

QUICK_GROUPS = (1, 2, 5, 20, 100)
QUICK_STRENGTHS = (0.1, 1.0, 10.0, 50.0)


@dataclass(frozen=True)
class Grid:
    """The numbers of groups and strengths to choose from."""

    groups: tuple[int, ...] = GROUPS
    strengths: tuple[float, ...] = STRENGTHS


GRIDS = {False: Grid(), True: Grid(QUICK_GROUPS, QUICK_STRENGTHS)}  # whether it is to be quick


@dataclass(frozen=True)
class Method:
    """A way to learn parameters on a given structure."""

    name: str
    penalty: Callable[[Grid], PenaltyChoice]
    parameterization: str = "canonical"
    cost: float = 1.0  # beside L2


METHODS = {
    method.name: method
    for method in (
        Method("L2", lambda grid: L2(grid.strengths)),
        Method("LTR", lambda grid: LearnTieRelearn(grid.strengths, groups=grid.groups), cost=15),
        Method("APT", lambda grid: Tied(grid.strengths, groups=grid.groups), cost=20),
        Method("L2, unary free", lambda grid: L2(grid.strengths, free_orders=(1,))),
        Method("APT, unary apart", lambda grid: Tied(grid.strengths, groups=grid.groups, tie="apart"), cost=20),
        Method("APT, spectral", lambda grid: Tied(grid.strengths, groups=grid.groups), "spectral", cost=25),
        Method("l1", lambda _: L1(), cost=8),
    )
}
PAPERS = ("L2", "LTR", "APT")


@dataclass(frozen=True)
class AptCell(Unit):
    """Learn a structure with at most ``degree`` neighbours (or what ``bound`` makes of that), then its parameters."""

    set: str
    degree: int
    bound: str
    method: str
    quick: bool = False

    kind: ClassVar[str] = "apt-cell"

    def data(self) -> tuple[tuple[str, str], ...]:
        return tuple((self.set, part) for part in ("train", "valid", "test"))

    def learner(self) -> Learner:
        method = METHODS[self.method]
        structure = Learned(max_degree=self.degree, bound=self.bound)
        return Learner(structure, method.penalty(GRIDS[self.quick]), parameterization=method.parameterization)

    def shared(self) -> Hashable:
        return self.set, self.degree, self.bound

    def cost(self) -> float:
        entry = named_set(self.set)
        rows = next(file.rows for file in entry.files if file.split == "train")
        size = entry.n_variables * min(self.degree, entry.n_variables) * math.sqrt(rows)
        return METHODS[self.method].cost * size

    def in_words(self) -> str:
        return f"{self.set}, {self.degree} neighbours ({self.bound}), {self.method}"

    def run(self) -> dict[str, Any]:
        given = _prepared(self.set, self.degree, self.bound)
        fitted = given.fitted(self.learner())
        scores = given.test_scores(fitted.best)
        gain = mean_over_rows(scores - _l2_scores(self.set, self.degree, self.bound, self.quick), given.test)
        score, best = mean_over_rows(scores, given.test), fitted.best
        return {
            "edges": len(given.structure.structure.edges),
            "parameters": fitted.n_parameters,
            "cells": fitted.n_cells,
            "fits": len(fitted.fits),
            "converged": sum(fit.solution.converged for fit in fitted.fits),
            "valid": -best.rank,
            "test": -score.mean,
            "error": score.standard_error,
            "strength": best.strength,
            "groups": best.n_groups,
            "nonzero": best.n_nonzero,
            "gain": gain.mean,
            "gain_error": gain.standard_error,
            "by_groups": given.by_groups(fitted),
        }


@dataclass(frozen=True, eq=False)
class _Prepared:
    """The rows of a data set and a structure learned from them, for all methods."""

    rows: UniqueRows
    valid: UniqueRows
    test: UniqueRows
    structure: LearnedStructure

    def fitted(self, learner: Learner) -> Fitted:
        return replace(learner, structure=Given(self.structure.structure)).fit(self.rows, self.valid)

    def test_scores(self, fit: Fit) -> NDArray[np.float64]:
        return PSEUDO_LIKELIHOOD.row_scores(fit.model, self.test, 1)

    def by_groups(self, fitted: Fitted) -> list[dict[str, float]]:
        """For every number of groups the strength chosen on validation rows, and what it gives on both."""
        found = []
        for k in sorted({fit.n_groups for fit in fitted.fits if fit.n_groups is not None}):
            best = max((fit for fit in fitted.fits if fit.n_groups == k), key=lambda fit: fit.rank)
            test = -mean_over_rows(self.test_scores(best), self.test).mean
            found.append({"groups": k, "strength": best.strength, "valid": -best.rank, "test": test})
        return found


@lru_cache(maxsize=1)
def _prepared(name: str, degree: int, bound: str) -> _Prepared:
    rows, valid, test = read(name)
    return _Prepared(rows, valid, test, Learned(max_degree=degree, bound=bound).learn(rows, valid=valid))


@lru_cache(maxsize=1)
def _l2_scores(name: str, degree: int, bound: str, quick: bool) -> NDArray[np.float64]:
    """What every method is compared with, test row by test row: L2 run to its optimum."""
    given = _prepared(name, degree, bound)
    return given.test_scores(given.fitted(Learner(penalty=METHODS["L2"].penalty(GRIDS[quick]))).best)


@lru_cache(maxsize=1)
def read(name: str) -> tuple[UniqueRows, UniqueRows, UniqueRows]:
    """Training, validation and test rows of a benchmark set."""
    rows = UniqueRows.from_file(find(name, "train"))
    return rows, *(UniqueRows.from_file(find(name, part)).recoded(rows.domain) for part in ("valid", "test"))  # type: ignore[return-value]
