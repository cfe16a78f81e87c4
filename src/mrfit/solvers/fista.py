"""Accelerated proximal gradients as a method, which needs only gradients and a prox."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from mrfit._typing import Floats
from mrfit.penalties.penalty import Trait
from mrfit.solvers.accelerated import Accelerated, Iterate, Smooth
from mrfit.solvers.method import CompositeProblem, Method, State


@dataclass(frozen=True)
class _Place(Iterate):
    smooth: float  # value of the objective alone
    value: float = np.inf  # with the penalty, at iterates
    dual: Callable[[float], float] | None = None


class _Objective(Smooth[_Place]):
    """The objective of a problem, evaluated at extrapolated points and expanded at iterates."""

    def __init__(self, problem: CompositeProblem) -> None:
        self.problem = problem

    def ahead(self, before: _Place, here: _Place, push: float) -> _Place:
        w = here.w + push * (here.w - before.w)
        value, gradient = self.problem.smooth_value_and_gradient(w)
        return _Place(w, gradient, value)

    def expanded(self, w: Floats) -> _Place:
        expansion = self.problem.expand(w)
        smooth = expansion.value - self.problem.penalty.value(w)
        return _Place(w, expansion.gradient, smooth, expansion.value, expansion.dual)

    def reached(self, ahead: _Place, w: Floats, length: float) -> tuple[_Place, float]:
        here, move = self.expanded(w), w - ahead.w
        bound = ahead.smooth + float(ahead.gradient @ move) + 0.5 / length * float(move @ move)
        return here, length if here.smooth <= bound + 1e-14 * abs(here.smooth) else 0.5 * length


@dataclass(frozen=True)
class FistaState(State):
    steps: Accelerated[_Place]


@dataclass(frozen=True)
class Fista(Method[FistaState]):
    """Accelerated proximal gradients (FISTA, Beck and Teboulle 2009), for any penalty with a proximal operator.

    It is slow and reliable, so it serves as a check on faster methods. Step lengths are halved when too long, and
    raised again.

    Parameters
    ----------
    length : float, default 1.0
        Length of the first step.

    See Also
    --------
    ProximalNewton : Faster, for the same penalties.
    OWLQN : Faster, for l1 penalties.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.penalties import WeightedL1
    >>> from mrfit.solvers import Fista, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> minimize(objective, Fista(), penalty=WeightedL1(0.05, [0.0, 0.0, 1.0])).w.round(2)
    array([-0.27, -0.27,  0.54])
    """

    length: float = 1.0

    word = "fista"
    needs = Trait.PROXIMAL

    def start(self, problem: CompositeProblem, w: Floats) -> FistaState:
        here = _Objective(problem).expanded(w)
        return _state(Accelerated(here, here, self.length))

    def advance(self, problem: CompositeProblem, state: FistaState) -> FistaState | None:
        longer = replace(state.steps, length=1.1 * state.steps.length)
        steps = longer.advanced(_Objective(problem), lambda w, step: problem.clip(problem.penalty.prox(w, step)))
        return None if steps is None else _state(steps)


def _state(steps: Accelerated[_Place]) -> FistaState:
    here = steps.here
    return FistaState(here.w, here.value, here.gradient, steps, dual=here.dual)
