"""Rows, a structure and settings, as one thing to be fitted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._version import __version__
from mrfit.counts.conditional_cells import ConditionalCells
from mrfit.data.folds import folds_of
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.grids import TIED_GRIDS, Callback, Found, Task, l2_path, numbers_of_groups, penalized_path
from mrfit.learning.settings import Settings
from mrfit.model import MarkovNetwork
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.objectives.remembered import Remembered
from mrfit.objectives.row_scores import row_ll, row_pll
from mrfit.parameterizations.canonical import Canonical
from mrfit.presets import PRESETS
from mrfit.solvers.solution import Solution
from mrfit.structure.structure import Structure
from mrfit.tying.settings import STRENGTHS

Floats = NDArray[np.float64]

# A parameter that nothing penalises and whose feature never (or always) occurs has no finite optimum. It is held
# where its conditional probability is exp(-30) = 1e-13: as good as never, and still a number.
HELD_AT = 30.0


class Problem:
    """Rows, a structure and settings: everything a grid of fits needs."""

    def __init__(self, rows: UniqueRows, structure: Structure, settings: Settings) -> None:
        self.rows, self.settings = rows, settings
        self.free_orders = settings.chosen_free_orders(structure)
        self.parameters = Canonical(rows.domain, structure)
        self.is_exact = settings.objective == "likelihood"
        objective, self.n_cells = self._objective(rows)
        self.objective = Remembered(objective)
        self._parts: dict[int, list[Objective]] = {}
        self.penalized = ~np.isin(self.parameters.order_of_parameter, self.free_orders)

    def _objective(self, rows: UniqueRows) -> tuple[Objective, int]:
        """What is minimised, and how many cells (or joint states) it goes over."""
        if self.is_exact:
            return Likelihood(self.parameters, rows), int(np.prod(rows.domain.shape))
        cells = ConditionalCells.count(rows, self.parameters, jobs=self.settings.jobs)
        return PseudoLikelihood(cells, jobs=self.settings.jobs), cells.n_cells

    def _batches(self, batch_rows: int) -> list[Objective]:
        """The same on parts of about so many rows, dealt at random."""
        if batch_rows not in self._parts:
            rng = np.random.default_rng(self.settings.seed)
            folds = folds_of(self.rows, max(1, round(self.rows.n_rows / batch_rows)), rng)
            self._parts[batch_rows] = [self._objective(fold.held_out)[0] for fold in folds]
        return self._parts[batch_rows]

    @property
    def n_points(self) -> int:
        """Points of the grid."""
        settings, orders = self.settings, self.parameters.order_of_parameter
        groups = numbers_of_groups(orders, self.penalized, settings.tying) if settings.is_tied else (1,)
        return len(groups) * len(settings.chosen_strengths)

    def task(self, callback: Callback | None) -> Task:
        settings = self.settings
        return Task(
            objective=self.objective,
            orders=self.parameters.order_of_parameter,
            penalized=self.penalized,
            start=_start(self.objective, self.parameters, self.penalized, exact=self.is_exact),
            held_at=HELD_AT,
            total_weight=self.rows.total_weight,
            method=settings.chosen_method,
            tolerance=settings.tolerance,
            max_iterations=settings.max_iterations,
            callback=callback,
            batches=self._batches,
        )

    def grid(self, callback: Callback | None) -> Iterator[Found]:
        settings, task = self.settings, self.task(callback)
        if settings.is_tied:
            return TIED_GRIDS[settings.penalty](task, settings.tying, settings.chosen_strengths)
        return penalized_path(task, PRESETS[settings.penalty], settings.chosen_strengths)

    @property
    def l2_strengths(self) -> tuple[float, ...]:
        """What tying is measured against: the paper's strengths too, so that few and strong ones flatter nothing."""
        return tuple(sorted({*STRENGTHS, *self.settings.chosen_strengths}))

    def l2_grid(self, callback: Callback | None) -> Iterator[Found]:
        return l2_path(self.task(callback), self.l2_strengths)

    def model(self, found: Found) -> MarkovNetwork:
        settings = self.settings
        is_baseline = settings.is_tied and found.n_groups is None
        told: dict[str, Any] = {"name": "l2" if is_baseline else settings.penalty, "strength": found.strength}
        if found.n_groups is not None:
            told |= {"groups": found.n_groups, "tie": settings.tying.tie}
        told["free_orders"] = list(self.free_orders)
        provenance = self._provenance(told, found.solution)
        return MarkovNetwork(self.parameters, found.solution.w, provenance, found.groups)

    def row_scores(self, w: Floats, rows: UniqueRows) -> Floats:
        """Log-(pseudo-)likelihood of every distinct row, whichever is maximised."""
        score = row_ll if self.is_exact else row_pll
        return score(self.parameters, w, rows.codes)

    @cached_property
    def _sha256(self) -> str:
        """Shows whether two models saw the same data."""
        digest = hashlib.sha256(json.dumps(self.rows.domain.to_states()).encode())
        digest.update(self.rows.codes.tobytes())
        digest.update(self.rows.sample_weight.tobytes())
        return digest.hexdigest()

    def _provenance(self, penalty: dict[str, Any], solution: Solution) -> dict[str, Any]:
        """What a reader of the model file wants to know."""
        return {
            "mrfit": __version__,
            "objective": self.settings.objective,
            "penalty": penalty,
            "data": {"rows": self.rows.n_rows, "weight": self.rows.total_weight, "sha256": self._sha256},
            "solver": {
                "method": type(self.settings.chosen_method).__name__,
                "status": solution.status.value,
                "violation": solution.violation,
            },
        }


def _start(objective: Objective, parameters: Canonical, penalized: NDArray[np.bool_], *, exact: bool = False) -> Floats:
    """Zero, but for free parameters without a finite optimum, which start at their bound.

    Where all probabilities of non-reference states vanish the gradient is minus the weight of every feature; in the
    pseudo-likelihood once for each variable of its scope.
    """
    w = np.zeros(parameters.n_parameters)
    if penalized.all():
        return w
    _, gradient = objective.value_and_gradient(np.full(len(w), -1e4))
    share = -gradient / (1 if exact else parameters.order_of_parameter)
    w[~penalized & (share <= 0.0)] = -HELD_AT
    singles = parameters.structure.blocks.get(1, np.empty((0, 1), np.int64))[:, 0]
    for variable, first in zip(singles, parameters.first_parameter.get(1, ()), strict=True):
        mine = np.arange(first, first + parameters.n_free[variable])
        if len(mine) and not penalized[mine[0]] and share[mine].sum() >= 1.0 - 1e-12:
            # The reference never occurs: the commonest state goes to the bound, the others stand relative to it.
            seen = mine[share[mine] > 0.0]
            w[seen] = HELD_AT + np.log(share[seen] / share[seen].max())
    return w
