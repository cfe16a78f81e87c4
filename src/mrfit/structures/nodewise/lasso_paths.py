"""Node-wise l1 paths: every variable regressed on all others, from the critical strength down.

Strengths fall geometrically from the critical one, at which the first variable enters. Each solution starts from the
previous one (Ravikumar, Wainwright and Lafferty 2010; for more than two states with one group for each pair of
variables). A regression is solved on the nonzero variables and those that the new strength lets in. Then the optimality
of all others is checked exactly, and missed variables are added.
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

_MOST_GRADIENTS = 2**22  # most numbers, 32 MB, for one block of regressions


@dataclass(frozen=True)
class PathSettings:
    """Length and resolution of paths.

    Parameters
    ----------
    max_selected
        A path ends before it selects more variables than this.
    ratio
        Each strength is this share of the one before.
    lowest
        The weakest strength, as a share of the critical strength.
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
        """Return critical, critical * ratio, ... down to critical * lowest."""
        n = int(np.floor(np.log(self.lowest) / np.log(self.ratio))) + 1
        return np.asarray(critical * self.ratio ** np.arange(n), np.float64)


@dataclass(frozen=True)
class PathPoint:
    """The solution of one regression at one strength.

    ``values`` stacks the coefficients of all selected neighbours, with ``widths[k]`` rows for neighbour ``selected[k]``
    (its states - 1) and a column for each state but the first. Only states that occur in the rows count. The violation
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
        """Table (states of neighbour - 1, states - 1) of every selected neighbour."""
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

    They remain in the kernel's arrays until they are read.
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
        """Delete all but the first ``n_points`` points."""
        del self.points[n_points:]

    def keep_ends(self) -> None:
        """Delete all points except the first with a neighbour and the last."""
        points = self.points
        first = next((point for point in points if len(point.selected)), None)
        self._read = [point for point in (first, *points[-1:]) if point is not None]

    def entered(self) -> dict[int, float]:
        """Return the strength at which each variable was first selected."""
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
    """Compute the paths of the regressions of ``variables`` (all by default), in that order.

    Variables enter each other's regressions if ``pairs`` allows it. ``strengths`` may map the critical strength to the
    decreasing strengths to solve at; by default they are geometric. ``further`` gets every path at its end and returns
    the strengths to continue with, empty to stop there. ``standard`` penalises columns as if divided by their standard
    deviations. ``callback`` gets every finished path, from any thread. A variable that does not vary has an empty path.
    """
    table = regression_table(rows, pairs, standard=standard)
    chosen = list(range(len(rows.domain)) if variables is None else variables)
    # Variables are dealt in turn, so that threads finish together although variables differ. Blocks are as large as the
    # memory for their gradients allows, because a block shares its passes among fewer regressions towards its end.
    n_shares = min(n_at_once() if is_in_use() else jobs, len(chosen))
    shares = [chosen[k::n_shares] for k in range(n_shares)]
    # The callback stays here: workers of a cluster could not reach it.
    local_callback = None if is_in_use() else callback
    walker = _Walker(table, settings, strengths or settings.strengths, further, local_callback)
    parts = mapped(
        _Walker.walk_all, shares, shared=(walker,), jobs=jobs, name=lambda share: f"{len(share)} regressions"
    )
    paths = {path.variable: path for part in parts for path in part}
    if callback is not None and local_callback is None:
        for path in paths.values():
            callback(path)
    return [paths[variable] for variable in chosen]


def regression_table(rows: UniqueRows, pairs: AllowedPairs | None, *, standard: bool) -> IndicatorTable | ItemTable:
    """Return the table that paths use: codes, or lists."""
    if isinstance(rows, SparseRows):
        return ItemTable.of(rows, pairs, standard=standard)
    return IndicatorTable.of(rows, pairs, standard=standard)


@dataclass(frozen=True)
class _Walker:
    """A walker of the paths of blocks of variables."""

    table: IndicatorTable | ItemTable
    settings: PathSettings
    strengths: Callable[[float], Floats]
    further: Callable[[NodePath], Floats] | None
    callback: Callable[[NodePath], None] | None

    def walk_all(self, variables: list[int]) -> list[NodePath]:
        """Return the paths of all variables, computed block by block."""
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
        """Walk in stages, each from the end of the last one, as long as paths continue."""
        nodes = self._beginning(paths)
        while True:
            found = self.table.walk(nodes, self.settings.max_selected)
            for i, path in enumerate(paths):
                path.unread.append(partial(_points, self.table.widths, nodes, found, i, path.critical))
            is_complete = nodes.n_steps == (found.n_selected >= 0).sum(axis=1)  # the others selected too many
            steps = [self._further(path) if w else np.empty(0) for path, w in zip(paths, is_complete, strict=True)]
            continuing = [i for i, strengths in enumerate(steps) if len(strengths)]
            if not continuing:
                return
            paths, nodes = (
                [paths[i] for i in continuing],
                _continued(nodes, found, continuing, [steps[i] for i in continuing]),
            )

    def _further(self, path: NodePath) -> Floats:
        return self.further(path) if self.further and path.points else np.empty(0)

    def _beginning(self, paths: list[NodePath]) -> RegressionState:
        """Return the start of all paths: no neighbours, at the critical strengths."""
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


def _continued(nodes: RegressionState, found: Points, continuing: list[int], steps: list[Floats]) -> RegressionState:
    """Return the state of the paths that continue, at their last points."""
    last = continuing, nodes.n_steps[continuing] - 1
    return RegressionState(
        variable=nodes.variable[continuing],
        n_free=nodes.n_free[continuing],
        excluded=nodes.excluded[continuing],
        constant=found.constant[last],
        n_selected=found.n_selected[last],
        first_selected=found.first_selected[last],
        first_value=found.first_value[last],
        selected=found.selected,
        values=found.values,
        norms=nodes.norms[continuing],
        strength=_stacked(steps),
        n_steps=np.array([len(strengths) for strengths in steps]),
        slack=nodes.slack[continuing],
    )


def _points(widths: Indices, nodes: RegressionState, found: Points, i: int, critical: float) -> list[PathPoint]:
    """Cut the points of node i out of the kernel's arrays."""
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
    """Stack rows of different lengths into one array, padded with zeros."""
    stacked = np.zeros((len(rows), max(len(row) for row in rows)))
    for target, row in zip(stacked, rows, strict=True):
        target[: len(row)] = row
    return stacked
