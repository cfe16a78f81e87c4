"""Node-wise l1 paths: every variable regressed on all others, from the critical strength down.

Strengths go down geometrically from the critical one, at which the first variable enters, each solution starting from
the last (Ravikumar, Wainwright and Lafferty 2010; for more than two states one group for each pair of variables). A
regression is solved on what is not zero and what the new strength lets in; then the optimality of all others is checked
exactly, and what was missed is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.structure.regressions import LANES, Regression, Regressions, Table
from mrfit.workers import run

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class PathSettings:
    """How far and how finely to walk.

    Parameters
    ----------
    max_selected
        A path ends before it selects more variables than this.
    ratio
        Each strength is this share of the one before.
    lowest
        The weakest strength, as a share of the critical one.
    tolerance
        Largest violation of the optimality conditions, as a share of the critical strength.
    """

    max_selected: int
    ratio: float = 0.9
    lowest: float = 1e-3
    tolerance: float = 1e-6

    def __post_init__(self) -> None:
        if self.max_selected < 0:
            raise InputError(f"The degree bound must not be negative; got {self.max_selected}.")
        if not 0 < self.ratio < 1 or not 0 < self.lowest < 1 or not 0 < self.tolerance < 1:
            raise InputError("Ratio, lowest share and tolerance of a path must lie between 0 and 1.")

    def strengths(self, critical: float) -> Floats:
        """critical, critical * ratio, ... down to critical * lowest."""
        n = int(np.floor(np.log(self.lowest) / np.log(self.ratio))) + 1
        return np.asarray(critical * self.ratio ** np.arange(n), np.float64)


@dataclass(frozen=True)
class PathPoint:
    """The solution of one regression at one strength.

    ``coefficients[k]`` is the (states of neighbour - 1, states - 1) table of neighbour ``selected[k]``; violation is in
    units of the critical strength.
    """

    strength: float
    constant: Floats
    selected: Indices
    coefficients: tuple[Floats, ...]
    loss: float
    violation: float

    @property
    def n_parameters(self) -> int:
        return sum(table.size for table in self.coefficients)

    @property
    def sizes(self) -> Floats:
        """Signed size of every selected neighbour: the coefficient itself, or the norm of a larger table."""
        return np.array([c[0, 0] if c.size == 1 else np.linalg.norm(c) for c in self.coefficients])


@dataclass
class NodePath:
    """All solutions of one variable's regression, strongest penalty first."""

    variable: int
    critical: float
    points: list[PathPoint] = field(default_factory=list)

    def entered(self) -> dict[int, float]:
        """The strength at which each variable was first selected."""
        first: dict[int, float] = {}
        for point in self.points:
            for j in point.selected.tolist():
                first.setdefault(j, point.strength)
        return first


def node_paths(
    rows: UniqueRows,
    settings: PathSettings,
    *,
    variables: Sequence[int] | None = None,
    forbidden: NDArray[np.bool_] | None = None,
    strengths: Callable[[float], Floats] | None = None,
    jobs: int = 1,
    callback: Callable[[NodePath], None] | None = None,
) -> list[NodePath]:
    """Paths of the regressions of ``variables`` (all by default), in that order.

    ``forbidden`` pairs (a symmetric 0/1 matrix) do not enter each other's regressions. ``strengths`` may give the
    decreasing strengths to solve at, from the critical one; by default they are geometric. ``callback`` sees every path
    as it ends, from any thread. A variable that does not vary has an empty path.
    """
    table = Table.of(rows)
    chosen = list(range(len(rows.domain)) if variables is None else variables)
    # Blocks are dealt in turn, so that threads finish together though variables differ.
    width = max(1, min(LANES, len(chosen) // jobs))
    blocks = [chosen[low : low + width] for low in range(0, len(chosen), width)]
    hands = [blocks[k::jobs] for k in range(min(jobs, len(blocks)))]
    walker = _Walker(table, settings, forbidden, strengths or settings.strengths, callback)

    def walk(first: int, last: int) -> list[NodePath]:
        return [path for hand in hands[first:last] for block in hand for path in walker.walk(block)]

    parts = run(walk, [(k, k + 1) for k in range(len(hands))])
    paths = {path.variable: path for part in parts for path in part}
    return [paths[variable] for variable in chosen]


@dataclass(frozen=True)
class _Walker:
    """Walks the paths of blocks of variables."""

    table: Table
    settings: PathSettings
    forbidden: NDArray[np.bool_] | None
    strengths: Callable[[float], Floats]
    callback: Callable[[NodePath], None] | None

    def walk(self, variables: list[int]) -> list[NodePath]:
        regressions = Regressions(self.table, variables, self.forbidden)
        regressions.check(regressions.all)
        paths = {i: NodePath(i, 0.0) for i in variables}
        steps: dict[int, Floats] = {}
        for regression in regressions.all:
            path = paths[regression.variable]
            path.critical = float(regression.norms.max(initial=0.0))
            steps[path.variable] = self.strengths(path.critical) if path.critical > 0 else np.empty(0)
        live, t = list(regressions.all), 0
        while live := [r for r in live if t < len(steps[r.variable])]:
            now = {r.variable: float(steps[r.variable][t]) for r in live}
            self._solve(regressions, live, now, {r.variable: paths[r.variable].critical for r in live})
            live = [r for r in live if self._recorded(r, now[r.variable], paths[r.variable])]
            t += 1
        if self.callback:
            for path in paths.values():
                self.callback(path)
        return list(paths.values())

    def _solve(
        self, regressions: Regressions, live: list[Regression], strength: dict[int, float], critical: dict[int, float]
    ) -> None:
        """Solve all live regressions at their strengths, adding what the check finds missing until nothing is."""
        pending = [(r, _let_in(r, strength[r.variable])) for r in live]
        while pending:
            for r, working in pending:
                r.solve(self.table, working, strength[r.variable], 0.5 * self.settings.tolerance * critical[r.variable])
            regressions.check([r for r, _ in pending])
            found = []
            for r, _ in pending:
                outside = r.norms.copy()
                outside[r.working] = 0.0
                missed = np.flatnonzero(outside > strength[r.variable] + self.settings.tolerance * critical[r.variable])
                if len(missed):
                    found.append((r, np.union1d(r.working, missed)))
                else:
                    r.violation = max(r.violation, float(outside.max(initial=0.0)) - strength[r.variable])
            pending = found

    def _recorded(self, regression: Regression, strength: float, path: NodePath) -> bool:
        """Keep a solution within the bound; past it the path ends."""
        if len(regression.coefficients) > self.settings.max_selected:
            return False
        selected = sorted(regression.coefficients)
        tables = tuple(regression.coefficients[j].copy() for j in selected)
        loss = regression.value - strength * sum(float(np.linalg.norm(table)) for table in tables)
        violation = max(regression.violation, 0.0) / path.critical
        constant = regression.constant.copy()
        path.points.append(PathPoint(strength, constant, np.array(selected, np.int64), tables, loss, violation))
        return True


def _let_in(regression: Regression, strength: float) -> Indices:
    """What is not zero, and what the gradient at the last solution says will enter."""
    candidates = regression.norms > strength
    candidates[list(regression.coefficients)] = True
    return np.flatnonzero(candidates)
