"""Node-wise l1 paths: every variable regressed on all others, from the critical strength down.

Strengths go down geometrically from the critical one, at which the first variable enters, each solution starting from
the last (Ravikumar, Wainwright and Lafferty 2010; for more than two states one group for each pair of variables). A
regression is solved on what is not zero and what the new strength lets in; then the optimality of all others is checked
exactly, and what was missed is added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from mrfit._kernels.structure.dense_lasso_path import Points, RegressionState
from mrfit._kernels.structure.nodewise import LANES
from mrfit._typing import Floats, Indices
from mrfit.core.cluster import is_in_use, mapped, n_at_once
from mrfit.core.errors import InputError
from mrfit.data.sparse_rows import SparseRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.edge_weights import weight_of_coefficients
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.design_matrix import IndicatorTable
from mrfit.structures.nodewise.sparse_design_matrix import ItemTable

_MOST_GRADIENTS = 2**22  # numbers, 32 MB, held for one block of regressions


@dataclass(frozen=True)
class PathSettings:
    """Length and step size of a path.

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

    ``values`` stacks the coefficients of all selected neighbours, ``widths[k]`` rows for neighbour ``selected[k]`` (one
    less than it has states) and a column for each state but the first, states that occur in the rows alone; violation
    is in units of the critical strength.
    """

    strength: float
    constant: Floats
    selected: Indices
    values: Floats
    widths: Indices
    loss: float
    violation: float

    @property
    def coefficients(self) -> tuple[Floats, ...]:
        """The (states of neighbour - 1, states - 1) table of every selected neighbour."""
        return tuple(np.split(self.values, np.cumsum(self.widths)[:-1])) if len(self.widths) else ()

    @property
    def n_parameters(self) -> int:
        return int(self.values.size)

    @property
    def sizes(self) -> Floats:
        """Signed size of every selected neighbour: the coefficient itself, or the norm of a larger table."""
        return np.array([c[0, 0] if c.size == 1 else np.linalg.norm(c) for c in self.coefficients])

    @property
    def edge_weights(self) -> Floats:
        """Edge weights of the selected neighbours, which do not depend on the reference category."""
        return np.array([weight_of_coefficients(c) for c in self.coefficients])


@dataclass
class NodePath:
    """All solutions of one variable's regression, strongest penalty first.

    They stay in the arrays they were found in until someone looks at them.
    """

    variable: int
    critical: float
    unread: list[Callable[[], list[PathPoint]]] = field(default_factory=list)
    _read: list[PathPoint] = field(default_factory=list)

    @property
    def points(self) -> list[PathPoint]:
        while self.unread:
            self._read += self.unread.pop(0)()
        return self._read

    def cut(self, n_points: int) -> None:
        """Remove all points after the first ``n_points``."""
        del self.points[n_points:]

    def keep_ends(self) -> None:
        """Forget all points but the first with a neighbour and the last."""
        points = self.points
        first = next((point for point in points if len(point.selected)), None)
        self._read = [point for point in (first, *points[-1:]) if point is not None]

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
    pairs: AllowedPairs | None = None,
    strengths: Callable[[float], Floats] | None = None,
    further: Callable[[NodePath], Floats] | None = None,
    standard: bool = False,
    jobs: int = 1,
    callback: Callable[[NodePath], None] | None = None,
) -> list[NodePath]:
    """Paths of the regressions of ``variables`` (all by default), in that order.

    Variables enter each other's regressions where ``pairs`` allow it. ``strengths`` may give the decreasing strengths
    to solve at, from the critical one; by default they are geometric. ``further`` is shown every
    path where it ends and gives the strengths to go on with, none to stay there. ``standard`` penalises columns as if
    divided by their standard deviations. ``callback`` sees every path that has ended, from any thread. A variable that
    does not vary has an empty path.
    """
    table = regression_table(rows, pairs, standard=standard)
    chosen = list(range(len(rows.domain)) if variables is None else variables)
    # Variables are dealt in turn, so that threads finish together though variables differ; blocks are as large as the
    # memory for their gradients allows, since a block that ends has fewer and fewer regressions to share its passes.
    n_hands = min(n_at_once() if is_in_use() else jobs, len(chosen))
    hands = [chosen[k::n_hands] for k in range(n_hands)]
    # Callbacks run on this machine: workers of a cluster cannot reach them.
    told = None if is_in_use() else callback
    walker = _Walker(table, settings, strengths or settings.strengths, further, told)
    parts = mapped(_Walker.walk_all, hands, shared=(walker,), jobs=jobs, name=lambda hand: f"{len(hand)} regressions")
    paths = {path.variable: path for part in parts for path in part}
    if callback is not None and told is None:
        for path in paths.values():
            callback(path)
    return [paths[variable] for variable in chosen]


def regression_table(rows: UniqueRows, pairs: AllowedPairs | None, *, standard: bool) -> IndicatorTable | ItemTable:
    """Build the table that paths go over, from codes or from lists."""
    if isinstance(rows, SparseRows):
        return ItemTable.of(rows, pairs, standard=standard)
    return IndicatorTable.of(rows, pairs, standard=standard)


@dataclass(frozen=True)
class _Walker:
    """Walks the paths of blocks of variables."""

    table: IndicatorTable | ItemTable
    settings: PathSettings
    strengths: Callable[[float], Floats]
    further: Callable[[NodePath], Floats] | None
    callback: Callable[[NodePath], None] | None

    def walk_all(self, variables: list[int]) -> list[NodePath]:
        """Compute the paths of all variables, some at a time."""
        width = max(4 * LANES, _MOST_GRADIENTS // max(1, len(self.table.widths)))
        return [path for low in range(0, len(variables), width) for path in self.walk(variables[low : low + width])]

    def walk(self, variables: list[int]) -> list[NodePath]:
        paths = {i: NodePath(i, 0.0) for i in variables}
        varying = [path for path in paths.values() if self.table.varies(path.variable)]
        if varying:
            self._fill(varying)
        if self.callback:
            for path in paths.values():
                self.callback(path)
        return list(paths.values())

    def _fill(self, paths: list[NodePath]) -> None:
        """Walk in stages, from where the last one ended, as long as there are paths to go on with."""
        nodes = self._beginning(paths)
        while True:
            found = self.table.walk(nodes, self.settings.max_selected)
            for i, path in enumerate(paths):
                path.unread.append(partial(_points, self.table.widths, nodes, found, i, path.critical))
            whole = nodes.n_steps == (found.n_selected >= 0).sum(axis=1)  # others have selected too many
            steps = [self._further(path) if w else np.empty(0) for path, w in zip(paths, whole, strict=True)]
            going = [i for i, strengths in enumerate(steps) if len(strengths)]
            if not going:
                return
            paths, nodes = [paths[i] for i in going], _resumed(nodes, found, going, [steps[i] for i in going])

    def _further(self, path: NodePath) -> Floats:
        return self.further(path) if self.further and path.points else np.empty(0)

    def _beginning(self, paths: list[NodePath]) -> RegressionState:
        """Start without neighbours, at the critical strengths."""
        table, variables = self.table, [path.variable for path in paths]
        start = table.start(variables)
        critical = start.critical
        steps = [self.strengths(c) if c > 0 else np.empty(0) for c in critical.tolist()]
        for path, c in zip(paths, critical.tolist(), strict=True):
            path.critical = c
        none = np.zeros(len(paths), np.int64)
        return RegressionState(
            variable=np.array(variables),
            n_free=np.array([len(table.constant(i)) for i in variables]),
            excluded=start.excluded,
            constant=_stacked([table.constant(i) for i in variables]),
            n_selected=none,
            first_selected=none,
            first_value=none,
            selected=np.empty(0, np.int64),
            values=np.empty(0),
            norms=start.norms,
            strength=_stacked(steps),
            n_steps=np.array([len(strengths) for strengths in steps]),
            slack=self.settings.tolerance * critical,
        )


def _resumed(nodes: RegressionState, found: Points, going: list[int], steps: list[Floats]) -> RegressionState:
    """The nodes ``going`` on, from their last points."""
    last = going, nodes.n_steps[going] - 1
    return RegressionState(
        variable=nodes.variable[going],
        n_free=nodes.n_free[going],
        excluded=nodes.excluded[going],
        constant=found.constant[last],
        n_selected=found.n_selected[last],
        first_selected=found.first_selected[last],
        first_value=found.first_value[last],
        selected=found.selected,
        values=found.values,
        norms=nodes.norms[going],
        strength=_stacked(steps),
        n_steps=np.array([len(strengths) for strengths in steps]),
        slack=nodes.slack[going],
    )


def _points(widths: Indices, nodes: RegressionState, found: Points, i: int, critical: float) -> list[PathPoint]:
    """The points of node i, cut out of the kernel's arrays."""
    points, n_free = [], nodes.n_free[i]
    for t in np.flatnonzero(found.n_selected[i] >= 0).tolist():
        first, first_value = found.first_selected[i, t], found.first_value[i, t]
        selected = found.selected[first : first + found.n_selected[i, t]]
        values = found.values[first_value : first_value + widths[selected].sum() * n_free]
        point = PathPoint(
            strength=float(nodes.strength[i, t]),
            constant=found.constant[i, t, :n_free],
            selected=selected,
            values=values.reshape(-1, n_free),
            widths=widths[selected],
            loss=float(found.loss[i, t]),
            violation=max(0.0, float(found.violation[i, t])) / critical,
        )
        points.append(point)
    return points


def _stacked(rows: list[Floats]) -> Floats:
    """Rows of different lengths as one array, zeros at their ends."""
    stacked = np.zeros((len(rows), max(len(row) for row in rows)))
    for place, row in zip(stacked, rows, strict=True):
        place[: len(row)] = row
    return stacked
