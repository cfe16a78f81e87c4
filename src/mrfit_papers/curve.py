"""Learning curves: the gain of methods over L2 on test rows, by the number of training rows."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from mrfit import FitResult, FixedStructure, Learner
from mrfit.data.named_datasets import named_set
from mrfit.learning.fit_result import CandidateFit
from mrfit.learning.objective_specs import ObjectiveSpec
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit.structures.simple import StructureLearner
from mrfit_papers.apt_cell import METHODS, ROUGH
from mrfit_papers.benchmark_rows import PARTS, Prepared
from mrfit_papers.claim import Cases, Claim
from mrfit_papers.document import Block, Cell, DocumentColumn, DocumentTable, Picture, Text
from mrfit_papers.experiment import Experiment, Results, Scope
from mrfit_papers.gains import GainPanel, draw_gains
from mrfit_papers.subsample import ALL, SIDE, TIED, grid_structure, sizes_of, subsample
from mrfit_papers.unit import Unit

L2 = "L2"
COMPARED = ("L2, unary free", "l1", "LTR", "APT")
SIZES = (50, 200, 1000, 5000)
QUICK_SIZES = (50, 1000)


@dataclass(frozen=True)
class CurvePoint(Unit):
    """Learn from a random subset of a data set's rows, structure included; the tied network's structure is given."""

    set: str
    n_rows: int
    method: str
    seed: int
    quick: bool = False

    objective: ClassVar[ObjectiveSpec]
    learned: ClassVar[StructureLearner]

    @abstractmethod
    def penalty(self) -> PenaltySpec:
        """Return the penalty of the method, with the settings from which it selects."""

    def data(self) -> tuple[tuple[str, str], ...]:
        return () if self.set == TIED else tuple((self.set, part) for part in PARTS)

    def learner(self) -> Learner:
        structure = FixedStructure(grid_structure()) if self.set == TIED else self.learned
        return Learner(structure, self.penalty(), self.objective, seed=self.seed)

    def learners(self) -> tuple[Learner, ...]:
        """Return the learner and L2 on the same structure, over which it gains."""
        return self.learner(), replace(self, method=L2).learner()

    def shared(self) -> Hashable:
        return self.set, self.n_rows, self.seed

    def turn(self) -> int:
        """Run one subset of everything before the second of anything: a run that is stopped leaves whole curves."""
        return self.seed

    def cost(self) -> float:
        n_variables = SIDE**2 if self.set == TIED else named_set(self.set).n_variables
        return METHODS[self.method].cost * n_variables

    def describe(self) -> str:
        return f"{self.set}, {self.n_rows or 'all'} rows, {self.method}"

    def run(self) -> dict[str, Any]:
        given = subsample(self.set, self.n_rows, self.seed, self.learned)
        learner = self.learner()
        rough = ROUGH if learner.penalty.is_tied and not self.objective.is_joint else None  # as in Table 1
        baseline, fitted = _l2_on(given, replace(self, method=L2)), given.fitted(learner, rough=rough)
        scores, l2_scores = (self.objective.row_scores(one.best.model, given.test, 1) for one in (fitted, baseline))
        return {
            "rows": round(given.rows.total_weight),
            "test": -given.mean(scores).mean,
            "gain": given.mean(scores - l2_scores).mean,
            "groups": fitted.best.n_groups,
            "strength": fitted.best.strength,
            "edges": len(given.structure.structure.edges),
            "fits": len(fitted.fits),
            "converged": sum(_is_fine(fit, learner.tolerance) for fit in fitted.fits),
        }


def _is_fine(fit: CandidateFit, tolerance: float) -> bool:
    """Return whether a fit met its own tolerance, not only a rough one."""
    return fit.solution.converged and fit.solution.violation <= tolerance


@lru_cache(maxsize=1)
def _l2_on(given: Prepared, point: CurvePoint) -> FitResult:
    """Return the baseline of every method, paired by test row: L2 run to its optimum on the same structure."""
    return given.fitted(point.learner())


class Curve(Experiment):
    """A learning curve of the same points for every data set, with a panel of gains for each."""

    point: ClassVar[type[CurvePoint]]
    score: ClassVar[str]  # the name of the score that is gained
    about: ClassVar[str]  # a sentence on structures and other specialities

    def units(self, scope: Scope) -> list[CurvePoint]:
        sizes, n_seeds = (QUICK_SIZES, 2) if scope.quick else (SIZES, 5)
        return [
            self.point(name, n_rows, method, scope.seed + seed, scope.quick)
            for name in self.chosen(scope)
            for n_rows in sizes_of(name, sizes, whole=not scope.quick)
            for seed in range(1 if n_rows == ALL else n_seeds)
            for method in COMPARED
        ]

    def report(self, results: Results, scope: Scope) -> Sequence[Block]:
        points = CurvePoints(results)
        panels = points.panels()
        blocks: list[Block] = [
            Text(
                "Random subsets of the training rows, and a quarter as many validation rows to choose strength and "
                f"number of groups by; {self.about}; all test rows. Gain: test {self.score} minus that of L2 (all "
                "parameters penalised) at its optimum on the same structure, mean and standard error over subsets. "
                "`tied grid` is a network of 25 variables whose parameters really take four values; its structure is "
                f"given. {points.certainty()}"
            )
        ]
        if panels:
            caption = f"Gain over L2 in nats of {self.score} a test row; bars are two standard errors over subsets"
            blocks.append(Picture(self.word, lambda: draw_gains(panels, over=L2), caption))
        return [*blocks, points.table()]

    def claims(self, results: Results) -> list[Claim]:
        points = {(unit.set, unit.n_rows) for unit in self.units(Scope())}
        n_tied = sum(name == TIED for name, _ in points)
        return CurvePoints(results).claims(self.score, n_real=len(points) - n_tied, n_tied=n_tied)


class CurvePoints:
    """Gains by data set, number of rows and method, one for each subset with results of all methods."""

    def __init__(self, results: Results) -> None:
        subsets: dict[tuple[str, int, int], dict[str, dict[str, Any]]] = {}
        for unit, result in results.items():
            if isinstance(unit, CurvePoint):
                subsets.setdefault((unit.set, result["rows"], unit.seed), {})[unit.method] = result
        self.gains: dict[tuple[str, int, str], list[float]] = {}
        self.l2: dict[tuple[str, int], list[float]] = {}
        for (name, n_rows, _), found in subsets.items():
            if set(found) >= set(COMPARED):
                for method in COMPARED:
                    self.gains.setdefault((name, n_rows, method), []).append(found[method]["gain"])
                self.l2.setdefault((name, n_rows), []).append(-found["APT"]["test"] - found["APT"]["gain"])
        self.names = list(dict.fromkeys(name for name, _ in self.l2))
        counted = [result for result in results.values() if "fits" in result]  # older results do not have it
        self.n_fits, self.n_converged = (sum(result[what] for result in counted) for what in ("fits", "converged"))

    def certainty(self) -> str:
        """Report how many fits converged, as far as results have it."""
        return f"{self.n_converged:,} of {self.n_fits:,} fits met the tolerance of 1e-6." if self.n_fits else ""

    def sizes(self, name: str) -> list[int]:
        """Return numbers of rows with results of all methods."""
        return sorted(n for one, n in self.l2 if one == name)

    def mean(self, name: str, n_rows: int, method: str) -> tuple[float, float]:
        """Return the mean gain with its standard error; one subset, such as all rows, has an error of zero."""
        gains = self.gains[name, n_rows, method]
        error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
        return float(np.mean(gains)), error

    def panels(self) -> list[GainPanel]:
        return [
            GainPanel(name, self.sizes(name), {m: [self.mean(name, n, m) for n in self.sizes(name)] for m in COMPARED})
            for name in self.names
        ]

    def table(self) -> DocumentTable:
        titles = ("rows", "subsets", "L2 itself", *COMPARED)
        rows: list[list[Cell | str]] = []
        for name in self.names:
            for n in self.sizes(name):
                cells = [self.mean(name, n, method) for method in COMPARED]
                best = max(mean for mean, _ in cells)
                shown = [_shown(mean, error, is_best=mean == best > 0) for mean, error in cells]
                l2 = self.l2[name, n]
                rows.append([name, f"{n:,}", f"{len(l2)}", f"{np.mean(l2):.4f}", *shown])
        return DocumentTable([DocumentColumn("set", "left"), *map(DocumentColumn, titles)], rows)

    def claims(self, score: str, *, n_real: int, n_tied: int) -> list[Claim]:
        """Return claims about tying; ``n_real`` and ``n_tied`` count all points on real data and on the tied grid."""
        real = [(name, n) for name in self.names if name != TIED for n in self.sizes(name)]
        tied = self.sizes(TIED)
        claims = [self._on_real(real, score, n_real)] if real else []
        return [*claims, *([self._on_tied(tied, score, n_tied)] if tied else [])]

    def _on_real(self, points: Sequence[tuple[str, int]], score: str, n_all: int) -> Claim:
        gained = [self.mean(*point, "APT") for point in points]
        beyond = sum(mean > 2 * error and mean > 0.001 for mean, error in gained)
        free = sum(self.mean(*point, "APT")[0] > self.mean(*point, "L2, unary free")[0] for point in points)
        ours = (
            f"{score}: APT gains over L2 more than 0.001 nats and two errors at {beyond} of {len(points)} points; at "
            f"{free} it gains more than L2 with free unary terms"
        )
        words, sets = "tying alleviates over-fitting: it pays where rows are few", dict.fromkeys(n for n, _ in points)
        cases = Cases(beyond, len(points), n_all, "points")
        return Claim("APT", "abstract", words, ours, cases, f"on {', '.join(sets)}")

    def _on_tied(self, sizes: Sequence[int], score: str, n_all: int) -> Claim:
        gained = [self.mean(TIED, n, "APT") for n in sizes]
        beyond = sum(mean > 2 * error for mean, error in gained)
        gains = ", ".join(f"{mean:+.3f} at {n:,} rows" for n, (mean, _) in zip(sizes, gained, strict=True))
        words = "when data come from tied parameters, tying learns from fewer rows"
        ours = f"{score}, tied grid: {gains}"
        return Claim("APT", "introduction", words, ours, Cases(beyond, len(sizes), n_all, "points"))


def _shown(mean: float, error: float, *, is_best: bool) -> Cell:
    text = f"{mean:+.4f} ± {error:.4f}" if error else f"{mean:+.4f}"
    good = None if not error or abs(mean) <= 2 * error else mean > 0
    return Cell(text, is_best=is_best, is_good=good)
