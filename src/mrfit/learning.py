"""Learning the parameters of a given structure, at one strength or along several."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mrfit._version import __version__
from mrfit.counts.conditional_cells import ConditionalCells
from mrfit.data.unique_rows import UniqueRows
from mrfit.errors import InputError
from mrfit.model import MarkovNetwork
from mrfit.objectives.pseudo_likelihood import PseudoLikelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalized import Penalized
from mrfit.solvers.minimize import Method, minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.solution import Record, Solution
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
        L2 strengths to fit, each warm-started from the next larger one.
    free_orders
        Scope sizes the penalty leaves alone; none by default, as in Chou et al. (2018).
    method, tolerance, max_iterations
        The solver and when it stops: at a violation (largest gradient entry of the mean objective) of
        ``tolerance``.
    jobs
        Threads.
    """

    strengths: Sequence[float] = (1.0,)
    free_orders: Sequence[int] = ()
    method: Method[Any] = field(default_factory=TruncatedNewton)
    tolerance: float = 1e-6
    max_iterations: int = 1000
    jobs: int = 1

    def __post_init__(self) -> None:
        # Plain numbers, whatever came in: they go into the model file.
        object.__setattr__(self, "strengths", tuple(_plain(strength) for strength in self.strengths))
        object.__setattr__(self, "free_orders", tuple(int(order) for order in self.free_orders))
        if not self.strengths:
            raise InputError("At least one strength is needed.")
        if not 0 < self.tolerance < np.inf:
            raise InputError(f"The tolerance must be positive and finite; got {self.tolerance:g}.")
        if self.max_iterations < 0:
            raise InputError(f"The limit of iterations must not be negative; got {self.max_iterations}.")


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
    absent = sorted(set(settings.free_orders) - set(structure.blocks))
    if absent:
        raise InputError(f"Order {absent[0]} cannot be left free: the structure has orders {list(structure.blocks)}.")
    parameters = Canonical(rows.domain, structure)
    penalized = ~np.isin(parameters.order_of_parameter, list(settings.free_orders))
    penalties = [L2(strength, penalized) for strength in sorted(settings.strengths, reverse=True)]
    cells = ConditionalCells.count(rows, parameters, jobs=settings.jobs)
    objective = PseudoLikelihood(cells, jobs=settings.jobs)
    bound = np.where(penalized, np.inf, HELD_AT)
    w = _start(objective, parameters, penalized, rows.total_weight)
    fits: list[Fit] = []
    for penalty in penalties:
        begun = time.perf_counter()
        solution = minimize(
            Penalized(objective, penalty, total_weight=rows.total_weight),
            settings.method,
            w,
            bound=bound,
            tolerance=settings.tolerance,
            max_iterations=settings.max_iterations,
            callback=None if callback is None else partial(callback, penalty.strength),
        )
        w = solution.w
        model = MarkovNetwork(parameters, w, _provenance(rows, settings, penalty.strength, solution))
        train_pll = penalty.value(w) / rows.total_weight - solution.value
        valid_pll = None if valid is None else model.pll(valid)
        seconds = time.perf_counter() - begun
        fits.append(Fit(penalty.strength, model, solution, train_pll, valid_pll, seconds))
    best = fits[-1] if valid is None else max(fits, key=lambda fit: fit.valid_pll)  # type: ignore[arg-type, return-value]
    return Learned(tuple(fits), best, cells.n_cells)


def _plain(strength: Any) -> float:
    if not isinstance(strength, Real):
        raise InputError(f"A strength must be a number; got {strength!r}.")
    return float(strength)


def _start(
    objective: PseudoLikelihood, parameters: Canonical, penalized: NDArray[np.bool_], total_weight: float
) -> Floats:
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
    w[~penalized & (parameters.order_of_parameter == 1) & (share >= 1.0 - 1e-12)] = HELD_AT
    return w


def _provenance(rows: UniqueRows, settings: Settings, strength: float, solution: Solution) -> dict[str, Any]:
    """What a reader of the model file wants to know, and what shows whether two models saw the same data."""
    digest = hashlib.sha256(json.dumps(rows.domain.to_states()).encode())
    digest.update(rows.codes.tobytes())
    digest.update(rows.sample_weight.tobytes())
    return {
        "mrfit": __version__,
        "objective": "pseudo-likelihood",
        "penalty": {"name": "l2", "strength": strength, "free_orders": list(settings.free_orders)},
        "data": {"rows": rows.n_rows, "weight": rows.total_weight, "sha256": digest.hexdigest()},
        "solver": {
            "method": type(settings.method).__name__,
            "status": solution.status.value,
            "violation": solution.violation,
        },
    }
