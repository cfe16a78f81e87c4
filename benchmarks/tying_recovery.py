"""How many rows find the groups: tying on rows drawn from a network with known groups, beside Theorem 1.

    python benchmarks/tying_recovery.py [--seed 0] [--repetitions 50] [--plot recovery.png]

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

import argparse
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.remembered import Remembered
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import L2
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.structure.structure import Structure
from mrfit.tying.groups import Groups, clustered
from mrfit.tying.hard import tie_hard
from mrfit.tying.soft import TiedSolution, Tying, tie_softly
from mrfit.tying.theory import Theory

Floats = NDArray[np.float64]

N_VARIABLES, N_EDGES = 8, 12
CENTERS = np.array([-0.8, 0.0, 0.8])
SPREAD = {"equal within groups": 0.0, "spread within groups": 0.2}
WEAK = 0.1  # strength of the L2 fit
BOUND = 30.0  # largest absolute parameter, as in every fit of the library
METHODS = ("L2 + k-means", "soft tying", "soft, restarts", "hard tying")
# Three of Okabe and Ito's colours and Tol's purple, told apart by all.
COLORS = dict(zip(METHODS, ("#D55E00", "#0072B2", "#009E73", "#AA4499"), strict=True))


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


def trial(truth: Truth, n_rows: int, how: argparse.Namespace, rng: np.random.Generator) -> Trial:
    """One table, learned from in every way; the strength of soft tying is fixed against the mean."""
    objective = Remembered(Likelihood(truth.parameters, truth.rows(rng, n_rows)))
    m, bound = len(truth.w), np.full(len(truth.w), BOUND)
    smooth, _ = L2(WEAK).added_to(objective, total_weight=n_rows)
    l2 = minimize(smooth, TruncatedNewton(), np.zeros(m), bound=bound).w
    tying = Tying(len(CENTERS), how.share * n_rows, np.zeros(m, np.int64))

    def softly(start: Floats) -> TiedSolution:
        return tie_softly(objective, start, tying, total_weight=n_rows, bound=bound)

    soft = softly(l2)
    # The inverse of n times the Hessian is the covariance of the estimate.
    noise = np.linalg.inv(np.linalg.cholesky(n_rows * hessian(smooth, l2))).T
    others = [softly(l2 + noise @ rng.normal(size=m)) for _ in range(how.restarts)]
    best = min([soft, *others], key=lambda found: found.solution.value)
    hard = tie_hard(objective, soft.groups, soft.w, bound=BOUND)
    error = float(np.abs(hard.groups.centers - CENTERS).sum())
    right = np.array_equal(soft.groups.assignment, truth.groups.assignment)
    found = (
        np.array_equal(clustered(l2, tying.classes, len(CENTERS)).assignment, truth.groups.assignment),
        right,
        np.array_equal(best.groups.assignment, truth.groups.assignment),
        right and error < truth.theory.hard.largest_error,
    )
    return Trial(dict(zip(METHODS, found, strict=True)), error)


@dataclass(frozen=True)
class Line:
    """All repetitions with one number of rows."""

    n_rows: int
    recovered: dict[str, float]
    center_error: float  # median


def curve(truth: Truth, arguments: argparse.Namespace) -> Iterator[Line]:
    """Twice as many rows each time, until every method recovers the groups every time."""
    n_rows = arguments.first
    while n_rows <= arguments.most:
        seeds = np.random.SeedSequence([arguments.seed, n_rows]).spawn(arguments.repetitions)
        trials = [trial(truth, n_rows, arguments, np.random.default_rng(seed)) for seed in seeds]
        recovered = {name: float(np.mean([t.found[name] for t in trials])) for name in METHODS}
        yield Line(n_rows, recovered, float(np.median([t.center_error for t in trials])))
        if min(recovered.values()) == 1.0:
            return
        n_rows *= 2


def report(name: str, truth: Truth, lines: list[Line]) -> None:
    theory = truth.theory
    print(f"\n{name}: {theory.n_parameters} parameters, groups of {', '.join(map(str, theory.group_sizes))}; ", end="")
    print(f"omega {theory.omega:.3g}, alpha {theory.alpha:.3g}, C_min {theory.c_min:.3g}\n")
    print(f"| rows | {' | '.join(METHODS)} | L1 error of hard centers |\n|---:" + "|---:" * (len(METHODS) + 1) + "|")
    for line in lines:
        shares = " | ".join(f"{line.recovered[method]:.2f}" for method in METHODS)
        print(f"| {line.n_rows:,} | {shares} | {line.center_error:.3f} |")
    print("\n| method | rows for 95 % | normal approximation | Theorem 1 | Theorem 1 / measured |")
    print("|---|---:|---:|---:|---:|")
    for method in METHODS:
        bound = theory.hard if method == "hard tying" else theory.soft
        enough, normal = rows_needed(lines, method, 1.0 - theory.delta), truth.normal_rows(bound.largest_error)
        ratio = bound.n_samples / enough
        print(f"| {method} | {enough:,.0f} | {normal:,.0f} | {bound.n_samples:.2g} | {ratio:.1g} |", flush=True)


def rows_needed(lines: list[Line], method: str, probability: float) -> float:
    """The first number of rows from which on the groups are found so often; infinite if the grid ends before."""
    short = [number for number, line in enumerate(lines) if line.recovered[method] < probability]
    first = max(short, default=-1) + 1
    return lines[first].n_rows if first < len(lines) else math.inf


def draw(path: Path, curves: dict[str, tuple[Truth, list[Line]]]) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.6), layout="constrained")
    panels = figure.subplots(1, 2, sharex=True, sharey=True)
    for axes, (name, (truth, lines)) in zip(panels, curves.items(), strict=True):
        draw_curves(axes, lines)
        draw_bounds(axes, truth)
        spread = f"ω = {truth.theory.omega:.2g}, α = {truth.theory.alpha:.2g}, $C_{{min}}$ = {truth.theory.c_min:.2g}"
        axes.set_title(f"Parameters {name}\n{spread}", fontsize=11, loc="left")
        axes.set(xscale="log", xlabel="rows", xlim=(1, 5e12), ylim=(-0.02, 1.03))
        axes.grid(axis="y", color="0.92")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("probability that all groups are found")
    figure.savefig(path, dpi=130)


def draw_curves(axes: Any, lines: list[Line]) -> None:
    """Curves that lie on each other are drawn in narrowing widths, to be seen below the next."""
    n_rows = [line.n_rows for line in lines]
    shown: dict[tuple[float, ...], list[str]] = {}
    for method in METHODS:
        shown.setdefault(tuple(line.recovered[method] for line in lines), []).append(method)
    for share, methods in shown.items():
        for above, method in zip(range(len(methods) - 1, -1, -1), methods, strict=True):
            axes.plot(n_rows, share, color=COLORS[method], marker="o", markersize=3.5, linewidth=1.5 + 2 * above)
    # The first curve to rise has its name on the left, where nothing else is; the others on the right.
    for place, share in enumerate(sorted(shown, key=sum, reverse=True)):
        height = 0.62 - 0.2 * place if place else 0.5
        x = float(np.exp(np.interp(height, share, np.log(n_rows))))
        name_curve(axes, shown[share], (x / 1.5, height) if place == 0 else (3e4, height), (x, height))


def name_curve(axes: Any, methods: list[str], at: tuple[float, float], curve_at: tuple[float, float]) -> None:
    """Names below each other, each in its own colour, and a stroke to the curve."""
    left = at[0] < curve_at[0]
    if not left:
        axes.plot((curve_at[0] * 1.15, at[0] / 1.3), (curve_at[1], at[1]), color="0.6", linewidth=0.8)
    for place, method in enumerate(methods):
        height = at[1] + 0.055 * ((len(methods) - 1) / 2 - place)
        axes.text(at[0], height, method, color=COLORS[method], ha="right" if left else "left", va="center")


def draw_bounds(axes: Any, truth: Truth) -> None:
    for name, bound in (("hard", truth.theory.hard), ("soft", truth.theory.soft)):
        color = COLORS[f"{name} tying"]
        axes.axvline(bound.n_samples, color=color, linestyle="--", linewidth=1.2)
        exponent = math.floor(math.log10(bound.n_samples))
        rows = rf"${bound.n_samples / 10**exponent:.0f} \times 10^{{{exponent}}}$ rows"
        label = f"Theorem 1, {name} tying: {rows}"
        axes.text(bound.n_samples * 0.75, 0.5, label, color=color, rotation=90, ha="right", va="center", fontsize=9)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--first", type=int, default=250, help="smallest number of rows")
    parser.add_argument("--most", type=int, default=1_100_000, help="largest number of rows")
    parser.add_argument("--share", type=float, default=0.01, help="strength of soft tying for each row")
    parser.add_argument("--restarts", type=int, default=10, help="of soft tying")
    parser.add_argument("--plot", type=Path, help="draw the curves into this file")
    arguments = parser.parse_args()
    begun = time.perf_counter()
    curves = {}
    for name, spread in SPREAD.items():
        truth = Truth.drawn(arguments.seed, spread)
        curves[name] = truth, list(curve(truth, arguments))
        report(name, *curves[name])
    print(f"\n{time.perf_counter() - begun:.0f} seconds")
    if arguments.plot:
        draw(arguments.plot, curves)


if __name__ == "__main__":
    main()
