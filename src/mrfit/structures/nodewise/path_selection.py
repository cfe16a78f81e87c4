"""Neighbours read from one point of the l1 path of every variable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mrfit._kernels.structure.resampled_paths import Walk
from mrfit._typing import Floats, Indices
from mrfit.data.row_totals import Tallied
from mrfit.data.sparse_rows import SparseRows
from mrfit.data.unique_rows import UniqueRows
from mrfit.structures.nodewise.allowed_pairs import AllowedPairs
from mrfit.structures.nodewise.criteria import REFITTED, REFITTED_TOLERANCE, Criterion, RefittedEbic
from mrfit.structures.nodewise.lasso_paths import NodePath, PathPoint, PathSettings, node_paths
from mrfit.structures.nodewise.neighbour_selection import NeighbourSelection
from mrfit.structures.nodewise.neighbours import Neighbours
from mrfit.structures.nodewise.observed_states import SeenStates
from mrfit.structures.nodewise.regressions import REFIT_STRENGTH

WEAKEST = 1e-4  # of the critical strength: where a path ends though its criterion may still fall
_MOST_WHOLE = 2**12  # variables up to which whole paths stay in memory; beyond, only the points that remarks use
_WEAK = 50  # variables that a weak regression may select
_STAGE = 0.3  # of its present strength: where a path stops to evaluate its criterion

# In a pool: points at once before stretches are halved; and no end before the last point.
_STRIDE, _REFITTED_STRIDE, _NEVER = 22, 8, (-1.0, -1.0, 0)
_REFITS, _NO_REFITS = (REFITTED, REFITTED_TOLERANCE, REFIT_STRENGTH), (0.0, 0.0, 0.0)

# glmnet's paths (Friedman, Hastie and Tibshirani 2010): points in all and in a stage of ours, the last strength as a
# share of the critical one with fewer rows than columns, and where they end before: after so many points, when a point
# explains so little more of the deviance, or so much of it in all.
_GLMNET_POINTS, _GLMNET_STAGE, _GLMNET_FEW_ROWS = 100, 20, 1e-2
_GLMNET_LEAST, _GLMNET_GAIN, _GLMNET_EXPLAINED = 5, 1e-5, 0.999
_GLMNET_TIGHTER = 1e-2  # times the tolerance: small differences of losses decide where such a path ends


@dataclass(frozen=True)
class _Patience:
    """Least length of a path, as a share of the critical strength, and points that must lie behind the best.

    A criterion may rise when a coefficient enters and fall below its best again many points later.
    """

    at_least: float
    behind: int
    stage: float = _STAGE


# Refitted scores know at once when one too many has entered, and points with groups of coefficients cost more.
_SINGLE, _GROUPS = _Patience(0.01, 16), _Patience(_STAGE, 8)
# Where rows are lists, most pairs of variables share a row or two, and all of these enter one strength after the other:
# such paths go no further than they must and evaluate their criterion more often.
_LISTS = _Patience(_STAGE, 16, stage=0.8)


@dataclass(frozen=True)
class PathSelection(NeighbourSelection):
    """Length of the paths, and the point on each that gives the neighbours.

    Parameters
    ----------
    walk
        How far and how finely; ``strengths`` instead of geometric ones, given the critical strength.
    n_largest
        How many of the point's variables are neighbours, those with the largest coefficients; None for all.
    criterion
        What chooses the point, None for the last one; paths go on, by a ``stage`` at a time (as a
        share of the strength they have come to), until ``behind`` points lie behind the best.
    standard
        Whether columns are penalised as if divided by their standard deviations, on glmnet's paths, which end where
        they hardly explain more.
    """

    walk: PathSettings
    strengths: Callable[[float], Floats] | None = None
    n_largest: int | None = None
    criterion: Criterion | None = None
    behind: int = 0
    stage: float = _STAGE
    standard: bool = False

    @classmethod
    def up_to(cls, max_degree: int, *, tolerance: float) -> PathSelection:
        """The last points that select at most so many."""
        return cls(PathSettings(max_degree, tolerance=tolerance))

    @classmethod
    def largest(cls, max_degree: int, *, tolerance: float) -> PathSelection:
        """The largest coefficients of weak regressions; only the end of a path counts, so large steps will do."""
        walk = PathSettings(max(max_degree, _WEAK), ratio=0.75, tolerance=tolerance)
        return cls(walk, n_largest=max_degree)

    @classmethod
    def at(cls, strength: float, rows: UniqueRows, *, tolerance: float) -> PathSelection:
        """All that is selected at one strength."""
        return cls(PathSettings(len(rows.domain), tolerance=tolerance), strengths=partial(_down_to, strength))

    @classmethod
    def best_by(cls, criterion: Criterion, rows: UniqueRows, *, tolerance: float) -> PathSelection:
        patience = _patience(rows)
        walk = PathSettings(len(rows.domain), lowest=patience.at_least, tolerance=tolerance)
        return cls(walk, criterion=criterion, behind=patience.behind, stage=patience.stage)

    @classmethod
    def as_glmnet(cls, criterion: Criterion, rows: UniqueRows, *, tolerance: float) -> PathSelection:
        """Select on the paths that glmnet uses by default, of standardised columns; no groups of coefficients."""
        n_variables = len(rows.domain)
        lowest = WEAKEST if rows.total_weight >= n_variables - 1 else _GLMNET_FEW_ROWS
        ratio = lowest ** (1 / (_GLMNET_POINTS - 1))
        walk = PathSettings(n_variables, ratio=ratio, lowest=lowest, tolerance=_GLMNET_TIGHTER * tolerance)
        return cls(walk, lambda critical: _stage(walk, critical, 0), criterion=criterion, standard=True)

    def neighbours(
        self,
        rows: UniqueRows,
        pairs: AllowedPairs,
        *,
        jobs: int = 1,
        callback: Callable[[int], None] | None = None,
    ) -> Neighbours:
        readings: dict[int, _Reading] = {}

        def read(path: NodePath) -> None:
            if self.standard:
                path.cut(explained_by(np.array([point.loss for point in path.points])))
            if path.points:  # others do not vary
                readings[path.variable] = self._read(path)
            if len(rows.domain) > _MOST_WHOLE:
                path.keep_ends()
            if callback is not None:
                callback(1)

        paths = node_paths(
            rows,
            self.walk,
            pairs=pairs,
            strengths=self.strengths,
            further=self._further(),
            standard=self.standard,
            jobs=jobs,
            callback=read,
        )
        return _joined(len(rows.domain), [readings[i] for i in sorted(readings)], tuple(paths))

    @property
    def pooled_walk(self) -> Walk:
        """Paths of this selection for a `RegressionPool`."""
        refits = _REFITS if isinstance(self.criterion, RefittedEbic) else _NO_REFITS
        if self.standard:  # where a path ends is known point by point
            share = self.walk.ratio ** np.arange(_GLMNET_POINTS)
            ends = _GLMNET_GAIN, 1.0 - _GLMNET_EXPLAINED, _GLMNET_LEAST
            return Walk(share, np.array([len(share)]), 0, 1, *ends, self.walk.tolerance, *refits)
        share = replace(self.walk, lowest=WEAKEST).strengths(1.0)
        lowest = self.walk.lowest, self.stage
        first, stage = (len(replace(self.walk, lowest=each).strengths(1.0)) for each in lowest)
        stage_end = np.array([*range(first, len(share), stage - 1), len(share)])
        stride = _STRIDE if refits == _NO_REFITS else _REFITTED_STRIDE
        return Walk(share, stage_end, self.behind, stride, *_NEVER, self.walk.tolerance, *refits)

    def _further(self) -> Callable[[NodePath], Floats] | None:
        if self.standard:
            return partial(_until_explained, self.walk)
        return None if self.criterion is None else partial(_further, self.criterion, self.behind, self.stage)

    def why_none(self, rows: UniqueRows, paths: Sequence[NodePath]) -> str:
        critical = max((path.critical for path in paths), default=0.0)
        if critical > 0.0 and self.criterion is not None:
            return self.criterion.why_none(rows, paths)
        if critical > 0.0 and self.strengths is not None:
            return f"the strength is not below the largest critical one, {critical:.4g}."
        return super().why_none(rows, paths)

    def _read(self, path: NodePath) -> _Reading:
        point, entered = self._point(path), path.entered()
        met = np.array(sorted({*entered, *point.selected.tolist()}), np.int64)
        at, sizes = np.searchsorted(met, point.selected), point.sizes
        chosen, coefficients = np.zeros(len(met), bool), np.zeros(len(met))
        coefficients[at] = point.edge_weights
        chosen[at[np.argsort(-np.abs(sizes), kind="stable")[: self.n_largest]]] = True
        return _Reading(
            variable=path.variable,
            arcs=np.stack([np.full(len(met), path.variable), met], axis=1),
            chosen=chosen,
            coefficients=coefficients,
            entered=np.array([entered.get(j, np.nan) for j in met.tolist()]),
            violation=point.violation,
            at_end=self._is_at_end(path),
            infinite=self.criterion is not None and self.criterion.runs_away(path),
        )

    def _point(self, path: NodePath) -> PathPoint:
        return path.points[-1] if self.criterion is None else self.criterion.chosen(path)

    def _is_at_end(self, path: NodePath) -> bool:
        return self.criterion is not None and self.criterion.best(path) == len(path.points) - 1


def _patience(rows: UniqueRows) -> _Patience:
    if isinstance(rows, SparseRows):
        return _LISTS
    return _GROUPS if SeenStates.of(rows).has_groups else _SINGLE


class _Reading(NamedTuple):
    """Arcs of one path, in the form of `Neighbours`."""

    variable: int
    arcs: Indices
    chosen: NDArray[np.bool_]
    coefficients: Floats
    entered: Floats
    violation: float
    at_end: bool
    infinite: bool


def _joined(n_variables: int, readings: list[_Reading], paths: tuple[NodePath, ...]) -> Neighbours:
    arcs = [np.empty((0, 2), np.int64), *(reading.arcs for reading in readings)]
    return Neighbours(
        n_variables,
        np.concatenate(arcs),
        np.concatenate([np.empty(0, bool), *(reading.chosen for reading in readings)]),
        np.concatenate([np.empty(0), *(reading.coefficients for reading in readings)]),
        np.concatenate([np.empty(0), *(reading.entered for reading in readings)]),
        max((reading.violation for reading in readings), default=0.0),
        paths,
        tuple(reading.variable for reading in readings if reading.at_end),
        tuple(reading.variable for reading in readings if reading.infinite),
    )


def theoretical_strength(rows: Tallied, c: float) -> float:
    """N c sqrt(log(n^2 / 0.05) / N) for the coefficients of 0/1 columns, a quarter of those of spins' couplings.

    With -1/+1 spins the logit is 2 h + 2 sum of J s; with 0/1 columns s = 2 x - 1, so a coefficient is 4 J.
    """
    n, N = len(rows.domain), rows.total_weight
    return 0.25 * N * c * float(np.sqrt(np.log(n**2 / 0.05) / N))


def _down_to(weakest: float, critical: float) -> Floats:
    """Strengths from the critical one to exactly ``weakest``, in steps of at most a tenth."""
    if critical <= weakest:
        return np.array([weakest])
    n = 2 + int(np.log(critical / weakest) / -np.log(0.9))
    return np.geomspace(critical, weakest, n)


def _further(criterion: Criterion, behind: int, stage: float, path: NodePath) -> Floats:
    """The next stage of a path whose best point is not yet behind it; none where it is, or at the weakest strength."""
    if criterion.best(path) < len(path.points) - behind:
        return np.empty(0)
    strengths = PathSettings(0, lowest=stage).strengths(path.points[-1].strength)[1:]
    return strengths[strengths >= (1.0 - 1e-9) * WEAKEST * path.critical]


def _stage(walk: PathSettings, critical: float, n_before: int) -> Floats:
    """The next strengths on one of glmnet's paths."""
    return np.asarray(critical * walk.ratio ** np.arange(n_before, _GLMNET_POINTS)[:_GLMNET_STAGE], np.float64)


def _until_explained(walk: PathSettings, path: NodePath) -> Floats:
    n_points = len(path.points)
    ends = explained_by(np.array([point.loss for point in path.points])) < n_points
    return np.empty(0) if ends else _stage(walk, path.critical, n_points)


def explained_by(losses: Floats) -> int:
    """Number of points at which glmnet would stop; the first has no variables."""
    for t in range(_GLMNET_LEAST, len(losses) + 1):
        gain, left = (losses[t - 2] - losses[t - 1]) / losses[0], losses[t - 1] / losses[0]
        if gain < _GLMNET_GAIN or 1.0 - left > _GLMNET_EXPLAINED:
            return t
    return len(losses)
