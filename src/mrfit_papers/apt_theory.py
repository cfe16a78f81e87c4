"""The theory of Chou et al. (2018), tested: the number of rows at which known groups are recovered."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from mrfit.data.kmeans1d import kmeans1d
from mrfit.learning.tying.sample_complexity import largest_error
from mrfit_papers.claim import Cases, Claim
from mrfit_papers.document import Block, Cell, DocumentColumn, DocumentTable, Heading, Picture, Text
from mrfit_papers.experiment import Experiment, Results, Scope
from mrfit_papers.recovery import METHODS, Design, Truth, recovery_share
from mrfit_papers.recovery_picture import RecoveryPanel, draw_recovery
from mrfit_papers.unit import Unit

OBJECTIVES = ("likelihood", "pseudo-likelihood")
SPREADS = {0.0: "equal within groups", 0.2: "spread within groups"}
N_ROWS = (125, 250, 500, 1000, 2000, 4000, 8000, 16000, 32000, 64000)
QUICK_N_ROWS = (250, 1000, 4000)


@dataclass(frozen=True)
class Rows(Unit):
    """The share of tables with a number of rows in which each method recovers all groups."""

    objective: str
    spread: float
    n_rows: int
    repetitions: int
    seed: int = 0

    kind: ClassVar[str] = "apt-recovery"

    def data(self) -> tuple[tuple[str, str], ...]:
        return ()

    def shared(self) -> Hashable:
        return self.objective, self.spread, self.n_rows

    def cost(self) -> float:
        return float(self.repetitions)

    def describe(self) -> str:
        return f"parameters {SPREADS[self.spread]}, {self.objective}, {self.n_rows:,} rows"

    def run(self) -> dict[str, Any]:
        truth = _truth(self.objective, self.spread, self.seed)
        share = recovery_share(truth, self.n_rows, seed=self.seed, repetitions=self.repetitions)
        return {"found": share.found, "center_error": share.center_error}


@dataclass(frozen=True)
class Bounds(Unit):
    """The number of rows that theory requires."""

    objective: str
    spread: float
    seed: int = 0

    kind: ClassVar[str] = "apt-bounds"

    def data(self) -> tuple[tuple[str, str], ...]:
        return ()

    def describe(self) -> str:
        return f"parameters {SPREADS[self.spread]}, {self.objective}, theory"

    def run(self) -> dict[str, Any]:
        truth = _truth(self.objective, self.spread, self.seed)
        theory = truth.theory
        bounds = {"soft": theory.soft, "hard": theory.hard}
        return {
            "parameters": theory.n_parameters,
            "omega": theory.omega,
            "alpha": theory.alpha,
            "c_min": theory.c_min,
            "theorem": {name: _finite(bound.n_samples) for name, bound in bounds.items()},
            "proven": {name: _finite(bound.proven.n_samples) for name, bound in bounds.items()},
            "proven_kmeans": {name: _finite(bound.proven.n_samples_kmeans) for name, bound in bounds.items()},
            "normal": {name: _finite(truth.normal_rows(bound.largest_error)) for name, bound in bounds.items()},
        }


@lru_cache(maxsize=1)
def _truth(objective: str, spread: float, seed: int) -> Truth:
    return Truth.drawn(Design(spread=spread, objective=objective), seed)


def _finite(value: float) -> float | None:
    """Return None for infinity, which JSON does not have."""
    return value if math.isfinite(value) else None


class AptTheory(Experiment):
    """Theorem 1, its extension to the pseudo-likelihood, and the rows that suffice in simulations."""

    word = "apt-theory"
    title = "Automatic parameter tying: how many rows find the groups"

    def units(self, scope: Scope) -> list[Unit]:
        self.chosen(scope)
        kinds = [(objective, spread) for objective in OBJECTIVES for spread in SPREADS]
        n_rows, repetitions = (QUICK_N_ROWS, 5) if scope.quick else (N_ROWS, 50)
        return [
            *(Bounds(*kind, scope.seed) for kind in kinds),
            *(Rows(*kind, n, repetitions, scope.seed) for kind in kinds for n in n_rows),
        ]

    def report(self, results: Results, scope: Scope) -> Sequence[Block]:
        panels = _panels(results)
        blocks: list[Block] = [
            Text(
                "A random network of 8 yes/no variables and 12 edges has its 20 parameters in three groups around "
                "-0.8, 0 and 0.8. Rows are drawn exactly; a method succeeds when it finds all groups, hard tying when "
                "its centers are right too. The proven numbers of rows and the footnote's carry-over to the "
                "pseudo-likelihood are derived in docs/tying-theory.md."
            )
        ]
        if panels:
            caption = "Share of tables in which all groups are found, and the rows Theorem 1 asks for"
            blocks.append(Picture("apt-theory", lambda: draw_recovery(panels), caption))
        blocks += [Heading("Rows that theory asks for, and rows that do"), _table(results)]
        return blocks

    def claims(self, results: Results) -> list[Claim]:
        return [_lemma(), *_theorem(results), *_tying_helps(results)]


def _bounds(results: Results) -> dict[tuple[str, float], dict[str, Any]]:
    return {(unit.objective, unit.spread): result for unit, result in results.items() if isinstance(unit, Bounds)}


def _shares(results: Results, objective: str, spread: float) -> dict[int, dict[str, float]]:
    """Return shares by the number of rows."""
    found = {
        unit.n_rows: result["found"]
        for unit, result in results.items()
        if isinstance(unit, Rows) and (unit.objective, unit.spread) == (objective, spread)
    }
    return dict(sorted(found.items()))


def enough(shares: dict[int, dict[str, float]], method: str, probability: float = 0.95) -> int | None:
    """Return the first number of rows from which on the groups are found with this probability."""
    first = None
    for n_rows, found in shares.items():
        if found[method] < probability:
            first = None
        elif first is None:
            first = n_rows
    return first


def _panels(results: Results) -> list[RecoveryPanel]:
    panels = []
    for (objective, spread), theory in _bounds(results).items():
        shares = _shares(results, objective, spread)
        if shares:
            bounds = {f"Theorem 1, {name} tying": theory["theorem"][name] or math.inf for name in ("hard", "soft")}
            curves = {method: [found[method] for found in shares.values()] for method in METHODS}
            title = f"{objective}, parameters {SPREADS[spread]}"
            panels.append(RecoveryPanel(title, list(shares), curves, bounds))
    return panels


def _table(results: Results) -> DocumentTable:
    columns = [
        DocumentColumn("objective", "left"),
        DocumentColumn("parameters", "left"),
        DocumentColumn("omega"),
        DocumentColumn("alpha"),
    ]
    columns += [
        DocumentColumn("C_min"),
        DocumentColumn("Theorem 1, soft"),
        DocumentColumn("proven, soft"),
        DocumentColumn("proven, optimal k-means"),
    ]
    columns += [DocumentColumn("normal approximation"), *(DocumentColumn(f"{method}, 95 %") for method in METHODS)]
    rows: list[list[Cell | str]] = []
    for (objective, spread), theory in _bounds(results).items():
        shares = _shares(results, objective, spread)
        needed = [enough(shares, method) for method in METHODS]
        sizes = (theory["theorem"]["soft"], theory["proven"]["soft"], theory["proven_kmeans"]["soft"])
        small = [f"{theory[name]:.2g}" for name in ("omega", "alpha", "c_min")]
        large = [_count(size) for size in (*sizes, theory["normal"]["soft"])]
        rows.append([objective, SPREADS[spread], *small, *large, *(f"{n:,}" if n else "more" for n in needed)])
    return DocumentTable(columns, rows)


def _count(n_rows: float | None) -> str:
    return "none" if n_rows is None else f"{n_rows:.2g}"


def _lemma() -> Claim:
    """Compute a counterexample to the lemma: one small group beside a large one."""
    w, error = np.array([0.0, 4.0, 4.0, 4.0]), np.array([0.99, -0.99, 0.99, 0.99])
    bound = largest_error(0.0, 4.0, hard=True)
    found = kmeans1d(w + error, 2).assignment
    holds = np.abs(error).max() >= bound or np.array_equal(found, [0, 1, 1, 1])
    return Claim(
        "APT",
        "Lemma 1",
        "k-means returns the groups if all errors are below (alpha - omega) / 4",
        f"values 0 | 4, 4, 4 with errors of 0.99 < {bound:g}: optimal k-means gives {found.tolist()}, not [0, 1, 1, 1]",
        Cases(int(holds), 1, 1, "examples"),
        "true for Lloyd's iterations; for optimal k-means with a smaller bound, by the sizes of groups "
        "(docs/tying-theory.md)",
    )


def _theorem(results: Results) -> list[Claim]:
    """Compare the bound with the rows that suffice, where both are known."""
    claims = []
    for objective, where in zip(OBJECTIVES, ("Theorem 1", "footnote 1"), strict=True):
        ratios = []
        for (kind, spread), theory in _bounds(results).items():
            needed = enough(_shares(results, kind, spread), "soft tying")
            if kind == objective and needed and theory["theorem"]["soft"]:
                ratios.append(theory["theorem"]["soft"] / needed)
        if ratios:
            ours = f"{objective}: found with {min(ratios):.1g} to {max(ratios):.1g} times fewer rows than it asks for"
            words = "so many rows find the groups with probability 1 - delta"
            refuted = any(ratio < 1 for ratio in ratios)
            cases = Cases(
                0 if refuted else len(ratios), len(SPREADS) if refuted else len(ratios), len(SPREADS), "networks"
            )
            claims.append(
                Claim("APT", where, words, ours, cases, "true, and far from tight; a proof is in docs/tying-theory.md")
            )
    return claims


def _tying_helps(results: Results) -> list[Claim]:
    """Compare the rows that suffice with those that clustering an L2 fit takes."""
    pairs = []
    for objective, spread in _bounds(results):
        shares = _shares(results, objective, spread)
        l2, soft = (enough(shares, method) for method in ("L2 + k-means", "soft tying"))
        if l2 and soft:
            pairs.append((l2, soft))
    if not pairs:
        return []
    fewer = sum(soft < l2 for l2, soft in pairs)
    ours = "; ".join(f"{soft:,} rows by soft tying, {l2:,} by L2 and k-means" for l2, soft in pairs)
    words = "when data come from tied parameters, far fewer rows are needed than with L2"
    cases = Cases(fewer, len(pairs), len(OBJECTIVES) * len(SPREADS), "networks")
    return [Claim("APT", "introduction", words, ours, cases)]
