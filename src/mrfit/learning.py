"""Learning the parameters of a given structure, at one strength or along several."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._version import __version__
from mrfit.counts.conditional_cells import ConditionalCells
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError, listed
from mrfit.model import MarkovNetwork
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.presets import PRESETS, Preset
from mrfit.solvers.method import Method
from mrfit.solvers.minimize import minimize
from mrfit.solvers.solution import Record, Solution
from mrfit.solvers.suitability import check_suitable
from mrfit.structure.structure import Structure

Floats = NDArray[np.float64]

# A parameter that nothing penalises and whose feature never (or always) occurs has no finite optimum. It is held
# where its conditional probability is exp(-30) = 1e-13: as good as never, and still a number.
HELD_AT = 30.0


@dataclass(frozen=True)
class Settings:
    """How to learn; what to learn from is given apart.

    Parameters
    ----------
    strengths
        Strengths of the penalty to fit, each warm-started from the next larger one.
    penalty
        ``l2`` or ``l1``; see `mrfit.presets`.
    free_orders
        Scope sizes the penalty leaves alone; by default none for l2, single variables for l1.
    method
        The solver; by default the one that suits the penalty.
    tolerance, max_iterations
        When it stops: at a violation (largest subgradient entry of the mean objective) of ``tolerance``.
    jobs
        Threads.
    """

    strengths: Sequence[float] = (1.0,)
    penalty: str = "l2"
    free_orders: Sequence[int] | None = None
    method: Method[Any] | None = None
    tolerance: float = 1e-6
    max_iterations: int = 1000
    jobs: int = 1

    def __post_init__(self) -> None:
        # Plain numbers, whatever came in: they go into the model file.
        object.__setattr__(self, "strengths", tuple(_plain(strength) for strength in self.strengths))
        if self.free_orders is not None:
            object.__setattr__(self, "free_orders", tuple(int(order) for order in self.free_orders))
        if not self.strengths:
            raise InputError("At least one strength is needed.")
        if self.penalty not in PRESETS:
            raise InputError(f"There is no penalty {self.penalty!r}; choose one of {listed(PRESETS)}.")
        check_suitable(type(self.chosen_method), self.preset.penalty)
        if not 0 < self.tolerance < np.inf:
            raise InputError(f"The tolerance must be positive and finite; got {self.tolerance:g}.")
        if self.max_iterations < 0:
            raise InputError(f"The limit of iterations must not be negative; got {self.max_iterations}.")

    @property
    def preset(self) -> Preset:
        return PRESETS[self.penalty]

    @property
    def chosen_method(self) -> Method[Any]:
        return self.preset.method() if self.method is None else self.method

    def chosen_free_orders(self, structure: Structure) -> tuple[int, ...]:
        """The user's, which must be there, or those of the penalty's own that are."""
        if self.free_orders is None:
            return tuple(order for order in self.preset.free_orders if order in structure.blocks)
        absent = sorted(set(self.free_orders) - set(structure.blocks))
        if absent:
            orders = list(structure.blocks)
            raise InputError(f"Order {absent[0]} cannot be left free: the structure has orders {orders}.")
        return tuple(self.free_orders)


@dataclass(frozen=True)
class Fit:
    """The model at one strength, with the certificate of its optimum."""

    strength: float
    model: MarkovNetwork
    solution: Solution
    train_pll: float
    valid_pll: float | None
    seconds: float

    @property
    def n_nonzero(self) -> int:
        """Parameters that are not exactly zero."""
        return int(np.count_nonzero(self.model.w))

    @property
    def held(self) -> list[str]:
        """Names of unpenalised parameters without a finite optimum, held at a bound."""
        return [self.model.parameters.name(int(k)) for k in self.solution.at_bound]


@dataclass(frozen=True)
class Learned:
    """All fits, from the strongest penalty to the weakest, and the one to keep."""

    fits: tuple[Fit, ...]
    best: Fit
    n_cells: int


def learn(
    rows: UniqueRows,
    structure: Structure,
    settings: Settings | None = None,
    *,
    valid: UniqueRows | None = None,
    callback: Callable[[float, Record], bool | None] | None = None,
) -> Learned:
    """Fit a Markov network with the given structure by penalised maximum pseudo-likelihood.

    The fit with the best pseudo-likelihood on ``valid`` is kept; without it, the one with the weakest penalty.
    ``callback`` is told the strength and every iteration's record, and may return True to stop that fit.
    """
    settings = settings or Settings()
    free_orders = settings.chosen_free_orders(structure)
    parameters = Canonical(rows.domain, structure)
    orders = parameters.order_of_parameter
    penalized = ~np.isin(orders, free_orders)
    strengths = sorted(settings.strengths, reverse=True)
    penalties = [settings.preset.build(strength, orders, penalized) for strength in strengths]
    cells = ConditionalCells.count(rows, parameters, jobs=settings.jobs)
    objective = PseudoLikelihood(cells, jobs=settings.jobs)
    bound = np.where(penalized, np.inf, HELD_AT)
    w = _start(objective, parameters, penalized)
    fits: list[Fit] = []
    for strength, penalty in zip(strengths, penalties, strict=True):
        begun = time.perf_counter()
        smooth, nonsmooth = penalty.added_to(objective, total_weight=rows.total_weight)
        solution = minimize(
            smooth,
            settings.chosen_method,
            w,
            penalty=nonsmooth,
            bound=bound,
            tolerance=settings.tolerance,
            max_iterations=settings.max_iterations,
            callback=None if callback is None else partial(callback, strength),
        )
        w = solution.w
        told = {"name": settings.penalty, "strength": strength, "free_orders": list(free_orders)}
        model = MarkovNetwork(parameters, w, _provenance(rows, told, settings.chosen_method, solution))
        train_pll = penalty.value(w) / rows.total_weight - solution.value
        valid_pll = None if valid is None else model.pll(valid)
        seconds = time.perf_counter() - begun
        fits.append(Fit(strength, model, solution, train_pll, valid_pll, seconds))
    best = fits[-1] if valid is None else max(fits, key=lambda fit: fit.valid_pll)  # type: ignore[arg-type, return-value]
    return Learned(tuple(fits), best, cells.n_cells)


def _plain(strength: Any) -> float:
    if not isinstance(strength, Real):
        raise InputError(f"A strength must be a number; got {strength!r}.")
    return float(strength)


def _start(objective: PseudoLikelihood, parameters: Canonical, penalized: NDArray[np.bool_]) -> Floats:
    """Zero, but for free parameters without a finite optimum, which start at their bound.

    Where all probabilities of non-reference states vanish the gradient is minus the weight of every feature,
    once for each variable of its scope.
    """
    w = np.zeros(parameters.n_parameters)
    if penalized.all():
        return w
    _, gradient = objective.value_and_gradient(np.full(len(w), -1e4))
    share = -gradient / parameters.order_of_parameter
    w[~penalized & (share <= 0.0)] = -HELD_AT
    singles = parameters.structure.blocks.get(1, np.empty((0, 1), np.int64))[:, 0]
    for variable, first in zip(singles, parameters.first_parameter.get(1, ()), strict=True):
        mine = np.arange(first, first + parameters.n_free[variable])
        if len(mine) and not penalized[mine[0]] and share[mine].sum() >= 1.0 - 1e-12:
            # The reference never occurs: the commonest state goes to the bound, the others stand relative to it.
            seen = mine[share[mine] > 0.0]
            w[seen] = HELD_AT + np.log(share[seen] / share[seen].max())
    return w


def _provenance(rows: UniqueRows, penalty: dict[str, Any], method: Method[Any], solution: Solution) -> dict[str, Any]:
    """What a reader of the model file wants to know, and what shows whether two models saw the same data."""
    digest = hashlib.sha256(json.dumps(rows.domain.to_states()).encode())
    digest.update(rows.codes.tobytes())
    digest.update(rows.sample_weight.tobytes())
    return {
        "mrfit": __version__,
        "objective": "pseudo-likelihood",
        "penalty": penalty,
        "data": {"rows": rows.n_rows, "weight": rows.total_weight, "sha256": digest.hexdigest()},
        "solver": {
            "method": type(method).__name__,
            "status": solution.status.value,
            "violation": solution.violation,
        },
    }
