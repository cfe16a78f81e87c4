"""Learning a pairwise structure from one sparse regression for each variable.

Ways to meet a bound on the degree, ``max_degree = d``:

* ``gain``   each variable takes up to d neighbours by forward steps and exchanges, refitting each time (the default);
* ``path``   each variable's l1 path stops before it selects more than d;
* ``top``    each variable keeps the d largest coefficients of a weak l1 regression (the last point of its path with at
  most 50 variables): the reading of Chou et al. (2018) that reproduces their numbers;
* ``graph``  no variable of the *final* graph has more than d neighbours, edges chosen by gain in both regressions.

With the first three the two regressions of a pair may disagree: ``rule`` "or" takes an edge that either chose, "and"
one that both chose, so with "or" the final graph may have larger degrees.

Instead of by a degree, a point on each path can be selected by the extended BIC (Foygel and Drton 2010; van Borkulo et
al. 2014), by held-out rows, by a fixed strength, or by the strength of theory, c sqrt(log(n^2 / 0.05) / N) (Lokhov et
al. 2018). The first two walk on until the best point lies well behind them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mrfit.data.unique_rows import UniqueRows
from mrfit.domain import Domain
from mrfit.errors import InputError, StructureError, listed
from mrfit.structure.edge_report import EdgeReport
from mrfit.structure.edge_signs import edge_signs
from mrfit.structure.gains import Allowed, graph_by_gain, neighbours_by_gain
from mrfit.structure.node_paths import NodePath, PathPoint, PathSettings, node_paths
from mrfit.structure.node_scores import Criterion, HeldOutLoss, RefittedEbic, ShrunkenEbic
from mrfit.structure.regressions import Table
from mrfit.structure.remarks import at_the_end, nothing_selected
from mrfit.structure.seen_states import SeenStates
from mrfit.structure.structure import Structure

Floats = NDArray[np.float64]

BOUNDS = ("gain", "path", "top", "graph")
SELECTIONS = ("degree", "ebic", "valid", "strength", "theory")
RULES = ("or", "and")
# Settings that one selection alone looks at.
_LOOKED_AT_BY = {
    "max_degree": "degree",
    "bound": "degree",
    "gamma": "ebic",
    "select_strength": "strength",
    "theory": "theory",
}

_WEAK = 50  # variables a weak regression may select, for ``top``
_WEAKEST = 1e-4  # of the critical strength: where a path ends though its criterion may still fall
_STAGE = 0.3  # of the strength a path has come to: how far it goes before its criterion is asked again


@dataclass(frozen=True)
class _Patience:
    """How far a path goes at least, as a share of the critical strength, and how many points must lie behind the best.

    A criterion may rise when a coefficient enters and fall below its best again many points later.
    """

    at_least: float
    behind: int


# Refitted scores know at once when one too many has entered, and points with groups of coefficients cost more.
_SINGLE, _GROUPS = _Patience(0.01, 16), _Patience(_STAGE, 8)


@dataclass(frozen=True)
class StructureSettings:
    """What to learn.

    Parameters
    ----------
    max_degree
        The bound d, for ``select="degree"``.
    bound, rule, select
        See the module.
    gamma
        Weight of the extra term of the EBIC; 0 is the BIC, 0.25 what IsingFit uses.
    select_strength
        For ``select="strength"``: the l1 strength against the sum over rows.
    theory
        The constant c of the theoretical strength, for couplings of -1/+1 spins.
    require, forbid
        Pairs of names that must, or must not, be neighbours.
    tolerance
        Optimality of the paths, as a share of the critical strength.
    """

    max_degree: int = 15
    bound: str = "gain"
    rule: str = "or"
    select: str = "degree"
    gamma: float = 0.25
    select_strength: float | None = None
    theory: float = 0.2
    require: Sequence[tuple[str, str]] = ()
    forbid: Sequence[tuple[str, str]] = ()
    tolerance: float = 1e-5
    jobs: int = 1

    def __post_init__(self) -> None:
        for name, value, words in (
            ("bound", self.bound, BOUNDS),
            ("rule", self.rule, RULES),
            ("selection", self.select, SELECTIONS),
        ):
            if value not in words:
                raise InputError(f"There is no {name} {value!r}; choose one of {listed(words)}.")
        if self.max_degree < 1:
            raise InputError(f"The degree bound must be at least 1; got {self.max_degree}.")
        strength = self.select_strength
        if self.select == "strength" and not (strength is not None and 0 < strength < np.inf):
            raise InputError(
                f"Selection by strength needs a positive strength; got {strength}. Give one: select_strength=200."
            )
        if not self.theory > 0:
            raise InputError(f"The constant of the theoretical strength must be positive; got {self.theory:g}.")
        if not 0 <= self.gamma <= 1:
            raise InputError(f"gamma of the EBIC lies between 0 and 1; got {self.gamma:g}.")
        self._refuse_idle()

    def _refuse_idle(self) -> None:
        """What only another selection looks at, and is not as it is by itself, was meant to do something."""
        for setting in fields(self):
            value, needed = getattr(self, setting.name), _LOOKED_AT_BY.get(setting.name, self.select)
            if needed != self.select and value != setting.default:
                raise InputError(
                    f"{setting.name}={value!r} has no effect with select={self.select!r}: it needs select={needed!r}. "
                    "Leave one out."
                )


@dataclass(frozen=True)
class LearnedStructure:
    """The structure and the evidence for its edges.

    ``violation`` is the largest of any point of a path that was used, as a share of its critical strength; None where
    neighbours were chosen by gain. ``at_end`` are the variables whose criterion was still falling where their path
    ended. ``remarks`` are sentences a reader of the structure should know, on this and on why it is empty.
    """

    structure: Structure
    report: EdgeReport
    violation: float | None
    at_end: tuple[int, ...] = ()
    remarks: tuple[str, ...] = ()


def learn_structure(
    rows: UniqueRows,
    settings: StructureSettings,
    *,
    valid: UniqueRows | None = None,
    callback: Callable[[int], None] | None = None,
) -> LearnedStructure:
    """Learn which variables interact. ``callback`` is told of every regression that is done, once, from any thread."""
    rows.check_complete("learning")
    allowed = _allowed(rows.domain, settings)
    paths: list[NodePath] = []
    at_end: tuple[int, ...] = ()
    if settings.select == "degree" and settings.bound in ("gain", "graph"):
        by_gain = neighbours_by_gain if settings.bound == "gain" else graph_by_gain
        chosen, coefficient = by_gain(rows, settings.max_degree, allowed, jobs=settings.jobs, callback=callback)
        entered, violation = np.full_like(coefficient, np.nan), None
    else:
        criterion = _criterion(rows, valid, settings)
        paths = _paths(rows, settings, criterion, allowed, callback)
        points, at_end = _selected_points(paths, criterion)
        chosen, coefficient, entered, violation = _from_points(paths, points, settings)
    graph = _joined(chosen, settings.rule) & ~allowed.forbidden | allowed.required
    structure = Structure.from_adjacency(graph)
    edges = structure.edges
    a, b = edges[:, 0], edges[:, 1]
    coefficients = np.stack([coefficient[a, b], coefficient[b, a]], axis=1)
    report = EdgeReport(
        edges,
        coefficients,
        np.stack([entered[a, b], entered[b, a]], axis=1),
        edge_signs(rows, edges, coefficients.mean(axis=1)),
    )
    remarks = [at_the_end(rows.domain, at_end, _WEAKEST)] if at_end else []
    if not len(edges) and len(rows.domain) > 1:
        remarks.append(nothing_selected(rows, settings.select, paths, chosen, price=_price(rows, settings)))
    return LearnedStructure(structure, report, violation, at_end, tuple(remarks))


def theoretical_strength(rows: UniqueRows, c: float) -> float:
    """N c sqrt(log(n^2 / 0.05) / N) for the coefficients of 0/1 columns, a quarter of those of spins' couplings.

    With -1/+1 spins the logit is 2 h + 2 sum of J s; with 0/1 columns s = 2 x - 1, so a coefficient is 4 J.
    """
    n, N = len(rows.domain), rows.total_weight
    return 0.25 * N * c * float(np.sqrt(np.log(n**2 / 0.05) / N))


def _criterion(rows: UniqueRows, valid: UniqueRows | None, settings: StructureSettings) -> Criterion | None:
    """What selects a point of each path; None where it is the last."""
    if settings.select == "ebic":
        table, price = Table.of(rows), _price(rows, settings)
        return RefittedEbic(price, table) if table.has_groups else ShrunkenEbic(price)
    if settings.select == "valid":
        if valid is None:
            raise InputError("Selection by held-out rows needs them; give validation rows.")
        return HeldOutLoss(valid.recoded(rows.domain), SeenStates.of(rows))
    return None


def _price(rows: UniqueRows, settings: StructureSettings) -> float:
    """Of one coefficient, by the EBIC."""
    n = len(rows.domain)
    return float(np.log(rows.total_weight) + 2.0 * settings.gamma * np.log(max(n - 1, 1)))


def _paths(
    rows: UniqueRows,
    settings: StructureSettings,
    criterion: Criterion | None,
    allowed: Allowed,
    callback: Callable[[int], None] | None,
) -> list[NodePath]:
    most = max(settings.max_degree, _WEAK) if settings.bound == "top" else settings.max_degree
    strengths, further, lowest = None, None, 1e-3
    if settings.select in ("strength", "theory"):
        given, theory = settings.select_strength, settings.theory
        weakest = given if settings.select == "strength" else theoretical_strength(rows, theory)
        most, strengths = len(rows.domain), _down_to(float(weakest))  # type: ignore[arg-type]
    # Only the end of a path counts for ``top``: large steps will do.
    ratio = 0.75 if settings.bound == "top" and criterion is None else 0.9
    if criterion is not None:
        patience = _GROUPS if Table.of(rows).has_groups else _SINGLE
        most, lowest = len(rows.domain), patience.at_least
        further = partial(_further, criterion, patience.behind)
    return node_paths(
        rows,
        PathSettings(most, ratio=ratio, lowest=lowest, tolerance=settings.tolerance),
        forbidden=allowed.forbidden,
        strengths=strengths,
        further=further,
        jobs=settings.jobs,
        callback=None if callback is None else lambda path: callback(1),
    )


def _further(criterion: Criterion, behind: int, path: NodePath) -> Floats:
    """The next stage of a path whose best point is not yet behind it; none where it is, or at the weakest strength."""
    if criterion.best(path) < len(path.points) - behind:
        return np.empty(0)
    strengths = PathSettings(0, lowest=_STAGE).strengths(path.points[-1].strength)[1:]
    return strengths[strengths >= (1.0 - 1e-9) * _WEAKEST * path.critical]


def _down_to(weakest: float) -> Callable[[float], Floats]:
    """Strengths from the critical one to exactly ``weakest``, in steps of at most a tenth."""

    def strengths(critical: float) -> Floats:
        if critical <= weakest:
            return np.array([weakest])
        n = 2 + int(np.log(critical / weakest) / -np.log(0.9))
        return np.geomspace(critical, weakest, n)

    return strengths


def _selected_points(
    paths: list[NodePath], criterion: Criterion | None
) -> tuple[list[PathPoint | None], tuple[int, ...]]:
    """The point of each path to read neighbours from, None for a variable that does not vary.

    With it come the variables for which the criterion chose the end of the path.
    """
    if criterion is None:
        return [path.points[-1] if path.points else None for path in paths], ()
    points = [criterion.chosen(path) if path.points else None for path in paths]
    ends = (path.variable for path in paths if path.points and criterion.best(path) == len(path.points) - 1)
    return points, tuple(ends)


def _from_points(
    paths: list[NodePath], points: list[PathPoint | None], settings: StructureSettings
) -> tuple[NDArray[np.bool_], Floats, Floats, float]:
    n = len(paths)
    chosen, coefficient, entered = np.zeros((n, n), bool), np.zeros((n, n)), np.full((n, n), np.nan)
    violation = 0.0
    for i, (path, point) in enumerate(zip(paths, points, strict=True)):
        if point is None:
            continue
        violation = max(violation, point.violation)
        kept = np.arange(len(point.selected))
        if settings.select == "degree" and settings.bound == "top":
            kept = np.argsort(-np.abs(point.sizes), kind="stable")[: settings.max_degree]
        chosen[i, point.selected[kept]] = True
        coefficient[i, point.selected] = point.sizes
        for j, strength in path.entered().items():
            entered[i, j] = strength
    return chosen, coefficient, entered, violation


def _joined(chosen: NDArray[np.bool_], rule: str) -> NDArray[np.bool_]:
    return chosen & chosen.T if rule == "and" else chosen | chosen.T


def _allowed(domain: Domain, settings: StructureSettings) -> Allowed:
    allowed = Allowed.all(len(domain))
    for pairs, matrix in ((settings.require, allowed.required), (settings.forbid, allowed.forbidden)):
        for names in pairs:
            if len(names) != 2 or names[0] == names[1]:
                raise StructureError(f"An edge joins two different variables; got {listed(names)}.")
            a, b = (domain.index(name) for name in names)
            matrix[a, b] = matrix[b, a] = True
    clash = np.argwhere(np.triu(allowed.required & allowed.forbidden, 1))
    if len(clash):
        a, b = (domain.names[k] for k in clash[0])
        raise StructureError(f"The edge {a!r} - {b!r} is both required and forbidden; decide.")
    return allowed
