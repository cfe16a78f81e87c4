"""When tying pays: test scores against the number of training rows, on real data and on networks that are tied."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from mrfit.data.named import named_set
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.learning.learner import Learner
from mrfit.model import MarkovNetwork
from mrfit.parameterizations.canonical import Canonical
from mrfit.report.gains import GainPanel, draw_gains
from mrfit.reproduction.apt_cell import GRIDS, METHODS, l2_on
from mrfit.reproduction.benchmark_rows import PARTS, Prepared, read
from mrfit.reproduction.claim import Claim, Verdict
from mrfit.reproduction.document import Block, Cell, Column, Picture, Table, Text
from mrfit.reproduction.experiment import Experiment, Results, Scope
from mrfit.reproduction.unit import Unit
from mrfit.structure.learners import Given, Learned, StructureLearner
from mrfit.structure.structure import Structure

COMPARED = ("L2, unary free", "l1", "LTR", "APT")
SIZES = (50, 200, 1000, 5000)
ALL = 0  # in the place of a number of rows
TIED = "tied grid"  # not a data set: rows drawn from a network whose parameters take few values
DEGREE = 5
SIDE = 5  # of the grid


@dataclass(frozen=True)
class Point(Unit):
    """Learn from some rows of a data set, drawn at random; the structure too."""

    set: str
    n_rows: int
    method: str
    seed: int
    quick: bool = False

    kind: ClassVar[str] = "apt-point"

    def data(self) -> tuple[tuple[str, str], ...]:
        return () if self.set == TIED else tuple((self.set, part) for part in PARTS)

    def learner(self) -> Learner:
        structure: StructureLearner = Learned(max_degree=DEGREE, bound="top")
        if self.set == TIED:
            structure = Given(_grid())
        return Learner(structure, METHODS[self.method].penalty(GRIDS[self.quick]), seed=self.seed)

    def shared(self) -> Hashable:
        return self.set, self.n_rows, self.seed

    def cost(self) -> float:
        entry = SIDE**2 if self.set == TIED else named_set(self.set).n_variables
        return METHODS[self.method].cost * entry

    def in_words(self) -> str:
        return f"{self.set}, {self.n_rows or 'all'} rows, {self.method}"

    def run(self) -> dict[str, Any]:
        given = _subsample(self.set, self.n_rows, self.seed)
        l2 = l2_on(given, quick=self.quick)
        best = (l2 if self.method == "L2" else given.fitted(self.learner())).best
        scores = given.test_scores(best)
        return {
            "rows": round(given.rows.total_weight),
            "test": -given.mean(scores).mean,
            "gain": given.mean(scores - given.test_scores(l2.best)).mean,
            "groups": best.n_groups,
            "strength": best.strength,
            "edges": len(given.structure.structure.edges),
        }


@lru_cache(maxsize=1)
def _subsample(name: str, n_rows: int, seed: int) -> Prepared:
    """So many training rows and a quarter as many to choose by: who has few rows has few of both."""
    if name == TIED:
        model = tied_network()
        sizes = (n_rows, max(25, n_rows // 4), 20_000)
        rows, valid, test = (UniqueRows.of(model.sample(n, seed=10 * seed + k)) for k, n in enumerate(sizes))
        return Prepared.of(rows, valid, test, Given(_grid()))
    rows, valid, test = read(name)
    learned_on = Learned(max_degree=DEGREE, bound="top")
    if n_rows == ALL:
        return Prepared.of(rows, valid, test, learned_on)
    rng = np.random.default_rng([seed, n_rows])
    return Prepared.of(_some(rows, n_rows, rng), _some(valid, max(25, n_rows // 4), rng), test, learned_on)


def _some(rows: UniqueRows, n_rows: int, rng: np.random.Generator) -> UniqueRows:
    """Rows without replacement; all of them where there are no more."""
    counts = rows.sample_weight.astype(np.int64)
    taken = rng.multivariate_hypergeometric(counts, min(n_rows, int(counts.sum())), method="marginals")
    return UniqueRows.from_codes(rows.domain, rows.codes[taken > 0], taken[taken > 0].astype(np.float64))


def _grid() -> Structure:
    """Neighbours on a square grid."""
    place = np.arange(SIDE**2).reshape(SIDE, SIDE)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    return Structure.from_scopes(SIDE**2, np.concatenate([across, down]).tolist())


def tied_network() -> MarkovNetwork:
    """A grid of 25 yes/no variables whose 65 parameters take four values: -1, -0.4, 0.5 and 1.2."""
    domain = Domain.from_states({f"x{i}": ["0", "1"] for i in range(SIDE**2)})
    parameters = Canonical(domain, _grid())
    single = parameters.order_of_parameter == 1
    w = np.empty(parameters.n_parameters)
    rng = np.random.default_rng(0)
    for chosen, values in ((single, (-1.0, -0.4)), (~single, (0.5, 1.2))):
        w[chosen] = rng.permutation(np.resize(values, int(chosen.sum())))
    return MarkovNetwork(parameters, w)


class AptCurve(Experiment):
    """Not in the paper: the question a user has."""

    word = "apt-curve"
    title = "When tying pays: gains over L2 against the number of training rows"
    datasets: ClassVar = ("nltcs", "plants", "audio", "dna", "kosarek", "tmovie", TIED)
    quick_datasets: ClassVar = ("nltcs", TIED)

    def units(self, scope: Scope) -> list[Point]:
        sizes, seeds = ((50, 1000), 2) if scope.quick else (SIZES, 5)
        return [
            Point(name, n_rows, method, scope.seed + seed, scope.quick)
            for name in self.chosen(scope)
            for n_rows in _sizes(name, sizes, whole=not scope.quick)
            for seed in range(1 if n_rows == ALL else seeds)
            for method in COMPARED
        ]

    def report(self, results: Results, scope: Scope) -> Sequence[Block]:
        points = Points(results)
        panels = points.panels()
        blocks: list[Block] = [
            Text(
                "Random subsets of the training rows, and a quarter as many validation rows to choose strength and "
                "number of groups by; at most 5 neighbours a variable (bound read as `top`), learned from the subset "
                "too; all test rows. Gain: test pseudo-log-likelihood minus that of L2 at its optimum on the same "
                "structure, mean and standard error over subsets. `tied grid` is a network of 25 variables whose "
                "parameters really take four values; its structure is given."
            )
        ]
        if panels:
            caption = "Gain over L2 in nats a test row; bars are two standard errors over random subsets"
            blocks.append(Picture("apt-curve", lambda: draw_gains(panels, over="L2"), caption))
        return [*blocks, points.table()]

    def claims(self, results: Results) -> list[Claim]:
        return Points(results).claims()


def _sizes(name: str, sizes: Sequence[int], *, whole: bool) -> list[int]:
    if name == TIED:
        return list(sizes)
    most = next(file.rows for file in named_set(name).files if file.split == "train")
    return [n for n in sizes if n < most] + ([ALL] if whole else [])


class Points:
    """Gains by data set, number of rows and method, one for each subset."""

    def __init__(self, results: Results) -> None:
        self.gains: dict[tuple[str, int, str], list[float]] = {}
        for unit, result in results.items():
            if isinstance(unit, Point):
                self.gains.setdefault((unit.set, result["rows"], unit.method), []).append(result["gain"])
        self.names = list(dict.fromkeys(name for name, _, _ in self.gains))

    def sizes(self, name: str) -> list[int]:
        """Numbers of rows that all methods were given."""
        return sorted(
            {n for one, n, _ in self.gains if one == name and all((name, n, m) in self.gains for m in COMPARED)}
        )

    def mean(self, name: str, n_rows: int, method: str) -> tuple[float, float]:
        """With its standard error; one subset, which is all rows, has none."""
        gains = self.gains[name, n_rows, method]
        error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else 0.0
        return float(np.mean(gains)), error

    def panels(self) -> list[GainPanel]:
        return [
            GainPanel(name, self.sizes(name), {m: [self.mean(name, n, m) for n in self.sizes(name)] for m in COMPARED})
            for name in self.names
            if self.sizes(name)
        ]

    def table(self) -> Table:
        columns = [Column("set", "left"), Column("rows"), *(Column(method) for method in COMPARED)]
        rows: list[list[Cell | str]] = []
        for name in self.names:
            for n in self.sizes(name):
                cells = [self.mean(name, n, method) for method in COMPARED]
                best = max(mean for mean, _ in cells)
                shown = [_shown(mean, error, is_best=mean == best > 0) for mean, error in cells]
                rows.append([name, f"{n:,}", *shown])
        return Table(columns, rows)

    def claims(self) -> list[Claim]:
        real = [(name, n) for name in self.names if name != TIED for n in self.sizes(name)]
        claims = []
        if real:
            gained = [self.mean(name, n, "APT") for name, n in real]
            beyond = sum(mean > 2 * error and mean > 0.001 for mean, error in gained)
            free = sum(self.mean(*place, "APT")[0] > self.mean(*place, "L2, unary free")[0] for place in real)
            ours = (
                f"APT gains over L2 more than 0.001 nats and two errors at {beyond} of {len(real)} points; at {free} "
            )
            ours += "it gains more than L2 with free unary terms"
            words = "tying alleviates over-fitting: it pays where rows are few"
            claims.append(
                Claim("APT", "abstract", words, ours, Verdict.of(beyond / len(real)), "six sets, 50 rows to all")
            )
        if tied := self.sizes(TIED):
            gained = [self.mean(TIED, n, "APT") for n in tied]
            beyond = sum(mean > 2 * error for mean, error in gained)
            said = ", ".join(f"{mean:+.3f} at {n:,} rows" for n, (mean, _) in zip(tied, gained, strict=True))
            words = "when data come from tied parameters, tying learns from fewer rows"
            claims.append(Claim("APT", "introduction", words, f"tied grid: {said}", Verdict.of(beyond / len(tied))))
        return claims


def _shown(mean: float, error: float, *, is_best: bool) -> Cell:
    text = f"{mean:+.4f} ± {error:.4f}" if error else f"{mean:+.4f}"
    good = None if not error or abs(mean) <= 2 * error else mean > 0
    return Cell(text, is_best=is_best, is_good=good)
