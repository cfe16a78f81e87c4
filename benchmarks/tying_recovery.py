"""How many rows find the groups: tying on rows drawn from a network with known groups, beside Theorem 1.

A random network of binary variables has parameters in k groups: equal within a group, or spread a little. Rows are
drawn exactly, all learners maximise the exact likelihood, and a learner succeeds when it finds all groups:

    L2 + k-means    a weak L2 fit, its parameters clustered
    soft tying      from that fit
    soft, restarts  also from that fit with noise like its estimation error; the start with the best objective counts
    hard tying      the groups of soft tying relearned as equal; it succeeds when their values are right too: an L1
                    error of the centers below alpha / 4, as the theorem promises

Beside the theorem stands the normal approximation: rows with which no error of the unpenalised estimate exceeds the
bound of Lemma 1 (Corollary 1 for hard tying), with probability 1 - delta at least.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from benchmarks.benchmark import Benchmark, Case, cases
from benchmarks.table import Column, Record, Table, named
from benchmarks.tying_recovery_figure import METHODS, draw
from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import L2
from mrfit.structure.structure import Structure
from mrfit.tying.groups import Groups, clustered
from mrfit.tying.hard import tie_hard
from mrfit.tying.problem import TyingProblem
from mrfit.tying.soft import TiedSolution, Tying, tie_softly
from mrfit.tying.theory import Theory

Floats = NDArray[np.float64]

N_VARIABLES, N_EDGES = 8, 12
CENTERS = np.array([-0.8, 0.0, 0.8])
SPREAD = {"equal within groups": 0.0, "spread within groups": 0.2}
WEAK = 0.1  # strength of the L2 fit
BOUND = 30.0  # largest absolute parameter, as in every fit of the library


@dataclass(frozen=True)
class Truth:
    """A network with known groups, and what theory says about it."""

    parameters: Canonical
    w: Floats
    groups: Groups
    probabilities: Floats  # of all joint states, flat
    variance: Floats  # of the estimate of each parameter, times the number of rows
    theory: Theory

    @classmethod
    def drawn(cls, seed: int, spread: float) -> Truth:
        """Graph and groups depend on the seed alone; groups are as equal in size as can be, and ``spread`` wide."""
        rng = np.random.default_rng(seed)
        domain = Domain.from_states({f"x{i}": ["0", "1"] for i in range(N_VARIABLES)})
        pairs = np.transpose(np.triu_indices(N_VARIABLES, 1))
        edges = rng.choice(pairs, N_EDGES, replace=False).tolist()
        parameters = Canonical(domain, Structure.from_scopes(N_VARIABLES, edges))
        assignment = rng.permutation(np.arange(parameters.n_parameters) % len(CENTERS))
        groups = Groups(assignment, CENTERS)
        w = groups.tied(np.zeros(len(assignment))) + spread * _evenly_spread(assignment)
        any_row = UniqueRows.from_codes(domain, np.zeros((1, N_VARIABLES), np.uint8), np.ones(1))
        likelihood = Likelihood(parameters, any_row)
        theory = Theory.of(likelihood, w, groups)
        variance = np.diag(np.linalg.inv(hessian(likelihood, w)))
        return cls(parameters, w, groups, likelihood.probabilities(w).ravel(), variance, theory)

    def rows(self, rng: np.random.Generator, n_rows: int) -> UniqueRows:
        counts = rng.multinomial(n_rows, self.probabilities)
        states = np.transpose(np.unravel_index(np.arange(counts.size), self.parameters.domain.shape))
        return UniqueRows.from_codes(self.parameters.domain, states.astype(np.uint8), counts.astype(np.float64))

    def normal_rows(self, error: float) -> float:
        """With so many rows all errors are below the given one, each but with probability delta / m."""
        quantile = NormalDist().inv_cdf(1.0 - self.theory.delta / (2 * len(self.w)))
        return float((quantile / error) ** 2 * self.variance.max())


def hessian(objective: Objective, w: Floats) -> Floats:
    product = objective.expand(w).product
    return np.stack([product(column) for column in np.eye(len(w))])


def _evenly_spread(assignment: NDArray[np.int64]) -> Floats:
    """From -1/2 to 1/2 in each group, so that its center stays."""
    offset = np.empty(len(assignment))
    for number in range(len(CENTERS)):
        mine = np.flatnonzero(assignment == number)
        offset[mine] = np.linspace(-0.5, 0.5, len(mine))
    return offset


@dataclass(frozen=True)
class Trial:
    """What was learned from one table."""

    found: dict[str, bool]
    center_error: float  # L1, of hard tying


def trial(truth: Truth, n_rows: int, case: Case, rng: np.random.Generator) -> Trial:
    """One table, learned from in every way; the strength of soft tying is fixed against the mean."""
    objective = CachedObjective(Likelihood(truth.parameters, truth.rows(rng, n_rows)))
    problem, m = TyingProblem(objective, n_rows, bound=BOUND), len(truth.w)
    smooth, _ = L2(WEAK).added_to(objective, total_weight=n_rows)
    l2 = problem.minimum(smooth, np.zeros(m)).w
    tying = Tying(len(CENTERS), case["share"] * n_rows, np.zeros(m, np.int64))

    def softly(start: Floats) -> TiedSolution:
        return tie_softly(problem, start, tying)

    soft = softly(l2)
    # The inverse of n times the Hessian is the covariance of the estimate.
    noise = np.linalg.inv(np.linalg.cholesky(n_rows * hessian(smooth, l2))).T
    others = [softly(l2 + noise @ rng.normal(size=m)) for _ in range(case["restarts"])]
    best = min([soft, *others], key=lambda found: found.solution.value)
    hard = tie_hard(problem, soft.groups, soft.w)
    error = float(np.abs(hard.groups.centers - CENTERS).sum())
    right = np.array_equal(soft.groups.assignment, truth.groups.assignment)
    found = (
        np.array_equal(clustered(l2, tying.classes, len(CENTERS)).assignment, truth.groups.assignment),
        right,
        np.array_equal(best.groups.assignment, truth.groups.assignment),
        right and error < truth.theory.hard.largest_error,
    )
    return Trial(dict(zip(METHODS, found, strict=True)), error)


def run(case: Case) -> Iterator[Record]:
    """Twice as many rows each time, until every method recovers the groups every time; then what theory says."""
    truth = Truth.drawn(case["seed"], SPREAD[case["parameters"]])
    lines = list(curve(truth, case))
    yield from lines
    for method in METHODS:
        bound = truth.theory.hard if method == "hard tying" else truth.theory.soft
        enough = rows_needed(lines, method, 1.0 - truth.theory.delta)
        yield {
            "parameters": case["parameters"],
            "method": method,
            "enough": enough,
            "normal": truth.normal_rows(bound.largest_error),
            "theorem": bound.n_samples,
            "loose": bound.n_samples / enough if enough else None,
            **{name: getattr(truth.theory, name) for name in ("omega", "alpha", "c_min")},
        }


def curve(truth: Truth, case: Case) -> Iterator[Record]:
    n_rows = case["first"]
    while n_rows <= case["most"]:
        seeds = np.random.SeedSequence([case["seed"], n_rows]).spawn(case["repetitions"])
        trials = [trial(truth, n_rows, case, np.random.default_rng(seed)) for seed in seeds]
        recovered = {name: float(np.mean([t.found[name] for t in trials])) for name in METHODS}
        error = float(np.median([t.center_error for t in trials]))
        yield {"parameters": case["parameters"], "rows": n_rows, **recovered, "center_error": error}
        if min(recovered.values()) == 1.0:
            return
        n_rows *= 2


def rows_needed(lines: list[Record], method: str, probability: float) -> int | None:
    """The first number of rows from which on the groups are found so often; None if the grid ends before."""
    short = [number for number, line in enumerate(lines) if line[method] < probability]
    first = max(short, default=-1) + 1
    return lines[first]["rows"] if first < len(lines) else None


def tables(records: list[Record]) -> list[Table]:
    shares = (
        named("parameters", "{parameters}"),
        Column("rows", "{rows:,}"),
        *(Column(method, f"{{{method}:.2f}}") for method in METHODS),
        Column("L1 error of hard centers", "{center_error:.3f}"),
    )
    theory = (
        named("parameters", "{parameters}"),
        named("method", "{method}"),
        Column("rows for 95 %", "{enough:,}"),
        Column("normal approximation", "{normal:,.0f}"),
        Column("Theorem 1", "{theorem:.2g}"),
        Column("Theorem 1 / measured", "{loose:.1g}"),
    )
    lines = [record for record in records if "rows" in record]
    return [Table(shares, lines), Table(theory, [record for record in records if "method" in record])]


BENCHMARKS = (
    Benchmark(
        "tying-recovery",
        "how many rows find known groups, beside Theorem 1",
        cases(
            parameters=tuple(SPREAD),
            seed=(0,),
            repetitions=(50,),
            first=(250,),
            most=(1_100_000,),
            share=(0.01,),
            restarts=(10,),
        ),
        cases(
            parameters=tuple(SPREAD),
            seed=(0,),
            repetitions=(2,),
            first=(250,),
            most=(250,),
            share=(0.01,),
            restarts=(1,),
        ),
        run,
        tables,
        plot=draw,
    ),
)
