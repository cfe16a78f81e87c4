"""Parameters of a fit whose estimate is not a number: nothing penalises them, and the data never contradict them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.special import log_softmax

from mrfit._typing import Floats, Indices, Mask
from mrfit.data.unique_rows import UniqueRows
from mrfit.inference.exact.junction_tree import JunctionTree
from mrfit.inference.exact.row_tables import RowTables
from mrfit.learning.fit_problem import FitProblem
from mrfit.learning.fit_result import CandidateFit
from mrfit.learning.recession import Recession
from mrfit.parameterizations.parameterization import Parameterization

UNDETERMINED = "undetermined"

_MOST_PLACES = 50_000_000  # of rows in the tables of single variables, all gone through once
_MOST_ENTRIES = 400_000  # of a linear program, which then takes a second or two
_MOST_DENSE = 2_000  # parameters of an exact likelihood whose covariance over the rows is looked at
_MOST_STATES = 2**22  # joint states, times directions, that are all looked at
_MOST_CUTS = 100  # joint states that a junction tree finds one by one
_FLAT = 1e-9  # of the largest eigenvalue
_ABOVE = 1e-6
_LEAST_CHANCE = 0.05  # of a row, that another state has left
_SLACK = 1000.0  # times what the solver left of the gradient


def unbounded_in(problem: FitProblem, fit: CandidateFit) -> dict[str, str]:
    """The limit of every parameter without a finite estimate, by name: ``+inf``, ``-inf`` or ``undetermined``.

    Certified by linear programs over the distinct rows, not read off large values. Parameters that a penalty holds are
    finite. Where certificates would take too long, and for tied parameters and tables in parts, they are only those
    whose features never occur.
    """
    parameters = fit.model.parameters
    found = _certified(problem, fit)
    if found is None:
        found = np.zeros(parameters.n_parameters)
        found[fit.solution.at_bound] = np.copysign(np.inf, fit.model.w[fit.solution.at_bound])
    return {parameters.name(int(k)): _in_words(found[k]) for k in np.flatnonzero(found != 0.0)}


def _certified(problem: FitProblem, fit: CandidateFit) -> Floats | None:
    """Limits of every parameter of the model, as `Recession.limits`; None if certifying them would take too long."""
    learner, parameters, rows = problem.learner, fit.model.parameters, problem.rows
    if learner.penalty.is_tied or not learner.objective.is_score or not isinstance(rows, UniqueRows):
        return None
    free = np.isin(parameters.order_without_covariates, problem.free_orders) | (fit.strength == 0.0)
    if not free.any():
        return np.zeros(parameters.n_parameters)
    seen = _Seen(parameters, rows, free)
    if not learner.objective.is_joint or (parameters.order_of_parameter[free] == 1).all():
        return _of_conditionals(seen, fit)  # of single variables alone both say the same
    return None if learner.covariates else _of_joint_states(seen)


def _in_words(limit: float) -> str:
    return UNDETERMINED if np.isnan(limit) else f"{limit:+}"


@dataclass(frozen=True)
class _Seen:
    """Rows as the tables of free parameters see them."""

    parameters: Parameterization
    rows: UniqueRows
    free: Mask

    @cached_property
    def tables(self) -> RowTables:
        return RowTables(self.parameters)

    @cached_property
    def cells(self) -> Indices:
        """Place of every distinct row in every table."""
        found = [cells for _, cells in self.tables.cells(self.rows)]
        return np.concatenate(found) if found else np.empty((0, len(self.parameters.table_scopes)), np.int64)

    @cached_property
    def touching(self) -> list[tuple[Indices, Indices]]:
        """Tables that contain each variable, and the strides of its states in them."""
        shape = self.parameters.domain.shape
        found: list[tuple[list[int], list[int]]] = [([], []) for _ in shape]
        for number, scope in enumerate(self.parameters.table_scopes):
            stride = 1
            for i in reversed(scope):
                found[i][0].append(number)
                found[i][1].append(stride)
                stride *= shape[i]
        return [(np.array(numbers, np.int64), np.array(strides, np.int64)) for numbers, strides in found]

    @cached_property
    def is_free(self) -> Mask:
        """Whether a table has a free parameter."""
        in_table = abs(self.parameters.table_map) @ self.free.astype(np.float64) > 0
        starts = np.concatenate([[0], np.cumsum(self.tables.n_cells)])[:-1]
        return np.logical_or.reduceat(in_table, starts) if len(starts) else np.zeros(0, np.bool_)

    def features(self, cells: Indices) -> sparse.csr_array:
        """Features of cells of the tables, for the free parameters alone."""
        return self.tables.features(cells)[:, self.columns]

    def features_of(self, codes: NDArray[np.uint8]) -> Iterator[sparse.csr_array]:
        """Features of joint states, in batches."""
        states = UniqueRows.from_codes(self.parameters.domain, codes, np.ones(len(codes)))
        for _, cells in self.tables.cells(states):
            yield self.features(cells)

    @cached_property
    def columns(self) -> Indices:
        return np.flatnonzero(self.free)

    @property
    def n_places(self) -> int:
        """Number of table cells visited when each variable of each row takes each of its other states."""
        shape = self.parameters.domain.shape
        states = sum(len(tables) * (c - 1) for (tables, _), c in zip(self.touching, shape, strict=True))
        return self.rows.n_distinct * (states + len(self.parameters.table_scopes))

    def moves(self, variable: int) -> Indices:
        """Steps from each distinct row's state to each other state of a variable, (rows, states - 1); never 0."""
        own = self.rows.codes[:, variable].astype(np.int64)
        others = np.arange(self.parameters.domain.shape[variable] - 1)
        return np.where(others < own[:, None], others, others + 1) - own[:, None]

    def differences(self, variable: int) -> tuple[sparse.csr_array, Indices]:
        """Features of rows less those with another state of a variable, of free parameters, each distinct one once.

        Also which of them each row and other state has, (rows, states - 1).
        """
        tables, strides = self.touching[variable]
        kept = self.is_free[tables]
        tables, strides = tables[kept], strides[kept]
        moves = self.moves(variable)
        keys = np.column_stack([np.repeat(self.cells[:, tables], moves.shape[1], axis=0), moves.ravel()])
        mixed = keys @ np.random.default_rng(0).integers(2**62, size=keys.shape[1])  # as good as sorting them, faster
        _, first, number = np.unique(mixed, return_index=True, return_inverse=True)
        at = np.ascontiguousarray(keys[first, :-1])
        moved = at + keys[first, -1:] * strides
        return (self.features(at) - self.features(moved)).tocsr(), number.reshape(moves.shape)


# --- of the pseudo-likelihood: every variable given the others


def _of_conditionals(seen: _Seen, fit: CandidateFit) -> Floats | None:
    parameters, out = seen.parameters, np.zeros(seen.parameters.n_parameters)
    if seen.n_places > _MOST_PLACES:
        return None
    growing, fixed = {}, {}
    for variable in range(len(parameters.domain)):
        if variable in parameters.covariate_indices or not seen.is_free[seen.touching[variable][0]].any():
            continue
        rows, held = _split(seen, fit, variable)
        if rows.nnz > _MOST_ENTRIES:
            return None
        used = _used(sparse.vstack([rows, held], format="csr"))
        cone = Recession.of(rows[:, used], held[:, used])
        if cone.exists or cone.neutral.shape[1]:
            growing[variable], fixed[variable] = rows, held
    # A parameter that is settled by the conditional of one of its variables does not move in those of the others.
    open_ones = set(growing) | set(parameters.covariate_indices)
    movable = np.array([open_ones.issuperset(parameters.scope(int(k))) for k in seen.columns], np.bool_)
    if growing and movable.any():
        together, held = (sparse.vstack(list(each.values()), format="csr")[:, movable] for each in (growing, fixed))
        if together.nnz > _MOST_ENTRIES:
            return None
        cone = Recession.of(together, held)
        out[seen.columns[movable]] = cone.limits(sparse.eye_array(together.shape[1], format="csr"))
    return out


def _split(seen: _Seen, fit: CandidateFit, variable: int) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Differences that may grow for ever, and those that cannot.

    Along a direction of recession the loss falls by the sum of what differences grow by, each times the chance that the
    other state has left; the solver has brought that near zero. Where much chance is left nothing grows.
    """
    tables, strides = seen.touching[variable]
    values, at = seen.parameters.table_map @ fit.model.w, seen.cells[:, tables]
    moves, own = seen.moves(variable), values[at].sum(axis=1)
    others = [values[at + moves[:, [s]] * strides].sum(axis=1) - own for s in range(moves.shape[1])]
    chance = np.exp(log_softmax(np.column_stack([np.zeros(len(own)), *others]), axis=1)[:, 1:])
    rows, number = seen.differences(variable)
    left = np.bincount(number.ravel(), (seen.rows.sample_weight[:, None] * chance).ravel(), minlength=rows.shape[0])
    may_grow = left <= max(_LEAST_CHANCE, _SLACK * seen.rows.total_weight * fit.solution.violation)
    return rows[np.flatnonzero(may_grow)], rows[np.flatnonzero(~may_grow)]


def _used(rows: sparse.csr_array) -> Indices:
    """Columns that are not zero."""
    return np.flatnonzero(np.diff(rows.tocsc().indptr))


# --- of the likelihood: all joint states


def _of_joint_states(seen: _Seen) -> Floats | None:
    """Limits from the directions that change no row against another and raise no other joint state above the rows."""
    out = np.zeros(seen.parameters.n_parameters)
    if len(seen.columns) > _MOST_DENSE or seen.rows.n_distinct * len(seen.touching) > _MOST_PLACES:
        return None
    features = seen.features(seen.cells)
    total = np.asarray(features.sum(axis=0)).ravel()
    covariance = (features.T @ features).toarray() - np.outer(total, total) / features.shape[0]
    values, vectors = eigh(covariance)
    basis = vectors[:, values <= _FLAT * max(values[-1], 1.0)]
    if basis.shape[1]:
        cone = _cone_below(seen, total / features.shape[0], basis)
        if cone is None:
            return None
        if cone.exists:
            out[seen.columns] = cone.limits(sparse.csr_array(basis))
    return out


def _cone_below(seen: _Seen, rows: Floats, basis: Floats) -> Recession | None:
    """Cone of the directions ``basis @ y`` that raise no joint state above the rows; None where that takes too long.

    If joint states are too many to list, a junction tree finds states above the rows one by one, until none is left.
    """
    domain = seen.parameters.domain
    if prod(domain.shape) * basis.shape[1] <= _MOST_STATES:
        states = np.array(list(product(*map(range, domain.shape))), np.uint8)
        return Recession.of(_rounded(_beside(seen, rows, states, basis)))
    tree = JunctionTree()
    plan = tree.fitting_plan(seen.parameters.to_factors(np.zeros(seen.parameters.n_parameters)))
    if plan is None:
        return None
    singles = [i for i, (tables, _) in enumerate(seen.touching) if seen.is_free[tables].any()]
    beside = np.vstack([np.asarray(seen.differences(i)[0] @ basis) for i in singles])
    for _ in range(_MOST_CUTS):
        differences = _rounded(beside)
        if differences.nnz > _MOST_ENTRIES:
            return None
        cone, w = Recession.of(differences), np.zeros(seen.parameters.n_parameters)
        w[seen.columns] = basis @ cone.direction
        codes, largest = tree.best(plan, seen.parameters.to_factors(w))
        if largest <= float(rows @ w[seen.columns]) + _ABOVE * (1.0 + np.abs(w).max()):
            return cone
        beside = np.vstack([beside, _beside(seen, rows, codes[None].astype(np.uint8), basis)])
    return None


def _beside(seen: _Seen, rows: Floats, states: NDArray[np.uint8], basis: Floats) -> Floats:
    """Distances of the rows above joint states along each direction of a basis, (states, directions)."""
    return np.vstack([(rows @ basis) - features @ basis for features in seen.features_of(states)])


def _rounded(differences: Floats) -> sparse.csr_array:
    """Each once, without the last digits of rounding."""
    return sparse.csr_array(np.unique(np.round(differences, 9), axis=0))
