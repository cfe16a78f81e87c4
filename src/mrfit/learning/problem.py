"""Rows, a structure and settings, as one thing to be fitted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._version import __version__
from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.learning.closed_forms import CLOSED_FORMS
from mrfit.learning.coordinates import Coordinates, ExactCoordinates, PseudoCoordinates
from mrfit.learning.grids import Callback, Found, Task, critical_strength, l2_path, numbers_of_groups
from mrfit.learning.settings import Settings
from mrfit.learning.start import HELD_AT, hold_what_never_occurs, start_and_bound
from mrfit.model import MarkovNetwork
from mrfit.objectives.objective import Objective
from mrfit.objectives.remembered import Remembered
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.kinds import KINDS
from mrfit.parameterizations.reference import reference_from
from mrfit.presets import PRESETS, Layout
from mrfit.solvers.solution import Solution
from mrfit.structure.structure import Structure
from mrfit.tying.settings import STRENGTHS

Floats = NDArray[np.float64]

_GAP_SHARE = 1e-3  # of the tolerance, for the duality gap
_MOST_PARAMETERS = 1e8  # 0.8 GB for each of the dozen vectors of a solver
_MOST_STRENGTHS = 40  # of a path from the critical strength down, each 1 / sqrt(2) of the last


class Problem:
    """Rows, a structure and settings: everything a grid of fits needs."""

    def __init__(self, rows: UniqueRows, structure: Structure, settings: Settings) -> None:
        self.rows, self.structure, self.settings = rows, structure, settings
        self.free_orders = settings.chosen_free_orders(structure)
        self.coordinates = self._coordinates(structure)
        self.objective = Remembered(self.coordinates.objective(rows))
        self._parts: dict[int, list[Objective]] = {}
        self.penalized = ~np.isin(self.coordinates.orders, self.free_orders)
        if settings.is_exact:
            self._check_finite()

    def _coordinates(self, structure: Structure) -> Coordinates:
        settings = self.settings
        parameters = KINDS[settings.parameterization](self.rows.domain, structure)
        if isinstance(parameters, Canonical):
            rng = np.random.default_rng(settings.seed)
            parameters = replace(parameters, reference=reference_from(settings.reference, self.rows.domain, rng))
        if not settings.is_exact:
            _check_number(parameters.n_parameters)
            return PseudoCoordinates(parameters, jobs=settings.jobs)
        listed = settings.penalty == "hierarchical"  # whose groups are those of listed scopes
        return ExactCoordinates(parameters, listed=listed, whole=settings.is_tied, jobs=settings.jobs)

    def _check_finite(self) -> None:
        """Refuse where the likelihood has no maximum at all, rather than one of some parameters."""
        rows, free = self.rows, not self.penalized.all()
        if rows.n_distinct == 1 and free:
            raise InputError(
                "All rows are the same, so the likelihood grows without end as unpenalised parameters do. Use other "
                "rows, or a penalty on all of them such as l2."
            )
        if not self.penalized.any() and self.structure.is_saturated and rows.n_distinct < self.coordinates.n_cells:
            raise InputError(
                f"Only {rows.n_distinct:,} of {self.coordinates.n_cells:,} joint states occur in the rows; without a "
                "penalty, and with all sets of variables, the others get probability zero, which no parameters "
                "express. Use a penalty or a lower order."
            )

    def _batches(self, batch_rows: int) -> list[Objective]:
        """The objective on parts of about so many rows, dealt at random."""
        if batch_rows not in self._parts:
            rng = np.random.default_rng(self.settings.seed)
            folds = folds_of(self.rows, max(1, round(self.rows.n_rows / batch_rows)), rng)
            self._parts[batch_rows] = [self.coordinates.objective(fold.held_out) for fold in folds]
        return self._parts[batch_rows]

    @cached_property
    def strengths(self) -> tuple[float, ...]:
        """Those asked for; else, where a path is walked, powers of sqrt(2) from the strongest that matters down."""
        settings = self.settings
        if not settings.walks_path:
            return tuple(settings.chosen_strengths)
        top = int(np.ceil(2.0 * np.log2(self._strongest()) - 1e-9))
        return tuple(float(2.0 ** (k / 2)) for k in range(top, top - _MOST_STRENGTHS, -1))

    def _strongest(self) -> float:
        """Where a path begins: the critical strength, or where smoothing leaves next to nothing of the rows."""
        penalty, weight = self.settings.penalty, self.rows.total_weight
        if penalty in CLOSED_FORMS:
            return 16.0 * weight / self.coordinates.n_cells
        if not PRESETS[penalty].is_sparse:
            return 4.0 * weight
        critical = critical_strength(self.task(None), PRESETS[penalty])
        if critical <= 1e-9 * weight:  # rounding, where it should be zero
            raise InputError(
                "At every strength all penalised parameters are zero: in these rows no variables depend on each other, "
                "or the structure has no interactions. There is no path to walk; give one strength."
            )
        return critical

    @property
    def n_points(self) -> int:
        """Points of the grid."""
        settings, orders = self.settings, self.coordinates.orders
        groups = numbers_of_groups(orders, self.penalized, settings.tying) if settings.is_tied else (1,)
        return len(groups) * len(self.strengths)

    def task(self, callback: Callback | None) -> Task:
        settings = self.settings
        w, bound = self._start
        return Task(
            objective=self.objective,
            layout=Layout(self.structure, self.coordinates.orders, self.coordinates.scopes, self.penalized),
            start=w,
            bound=bound,
            held_at=HELD_AT,
            total_weight=self.rows.total_weight,
            method=settings.chosen_method,
            tolerance=settings.tolerance,
            gap_tolerance=_GAP_SHARE * settings.tolerance,
            max_iterations=settings.max_iterations,
            callback=callback,
            batches=self._batches,
        )

    @cached_property
    def _start(self) -> tuple[Floats, Floats]:
        w, bound = start_and_bound(self.coordinates, self.rows, self.penalized)
        parameters = self.coordinates.parameters
        free = ~self.penalized & (self.coordinates.orders > 1)
        if free.any() and isinstance(parameters, Canonical) and parameters.reference is None:
            hold_what_never_occurs(w, self.objective.value_and_gradient(np.full(len(w), -1e4))[1], free)
        return w, bound

    @property
    def l2_strengths(self) -> tuple[float, ...]:
        """What tying is measured against: the paper's strengths too, so that few and strong ones flatter nothing."""
        return tuple(sorted({*STRENGTHS, *self.settings.chosen_strengths}))

    def l2_grid(self, callback: Callback | None) -> Iterator[Found]:
        return l2_path(self.task(callback), self.l2_strengths)

    def coordinates_of(self, found: Found) -> Coordinates:
        """A search may end in other coordinates than it began with."""
        return found.coordinates or self.coordinates

    def model(self, found: Found) -> tuple[MarkovNetwork, Solution]:
        """The model, and its certificate in the parameters of the model."""
        settings, solution = self.settings, found.solution
        is_baseline = settings.is_tied and found.n_groups is None
        told: dict[str, Any] = {"name": "l2" if is_baseline else settings.penalty, "strength": found.strength}
        if found.n_groups is not None:
            told |= {"groups": found.n_groups, "tie": settings.tying.tie}
        told["free_orders"] = list(self.free_orders) if settings.penalty != "none" else None
        parameters, kept = self.coordinates_of(found).kept(solution.w)
        own = replace(solution, w=solution.w[kept], at_bound=np.flatnonzero(np.isin(kept, solution.at_bound)))
        provenance = self._provenance(told, solution)
        return MarkovNetwork(parameters, own.w, provenance, found.groups), own

    @cached_property
    def _sha256(self) -> str:
        """Shows whether two models saw the same data."""
        digest = hashlib.sha256(json.dumps(self.rows.domain.to_states()).encode())
        digest.update(self.rows.codes.tobytes())
        digest.update(self.rows.sample_weight.tobytes())
        return digest.hexdigest()

    def _provenance(self, penalty: dict[str, Any], solution: Solution) -> dict[str, Any]:
        """What a reader of the model file wants to know."""
        exact = {"search": self.settings.search, "gap": solution.gap} if self.settings.is_exact else {}
        return {
            "mrfit": __version__,
            "objective": self.settings.objective,
            "penalty": penalty,
            "data": {"rows": self.rows.n_rows, "weight": self.rows.total_weight, "sha256": self._sha256},
            "solver": {
                "method": type(self.settings.chosen_method).__name__,
                "status": solution.status.value,
                "violation": solution.violation,
                **exact,
            },
        }


def _check_number(n_parameters: int) -> None:
    if n_parameters > _MOST_PARAMETERS:
        raise InputError(
            f"The model has {n_parameters:.3g} parameters, {8e-9 * n_parameters:.2g} GB for each copy of them; the "
            f"limit is {_MOST_PARAMETERS:.0e}. Use a sparser structure, or columns with fewer states."
        )
