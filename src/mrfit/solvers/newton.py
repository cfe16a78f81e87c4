"""Truncated Newton: conjugate gradients on the Hessian, stopped early far from the optimum."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mrfit._typing import Floats
from mrfit.core.linear_systems import Factor, conjugate_gradients
from mrfit.objectives.hessian import Division
from mrfit.objectives.objective import Expansion
from mrfit.penalties.penalty import Trait
from mrfit.solvers.method import CompositeProblem, Method, State, line_search

_FEW, _LASTS = 10, 3  # products of a good step; how many times its price a Hessian is reused
_FLAT = 1e-12  # curvature below which a direction counts as flat


@dataclass(frozen=True)
class NewtonState(State):
    expansion: Expansion
    divide: Division | None = None  # by the Hessian of a nearby point


@dataclass(frozen=True)
class TruncatedNewton(Method[NewtonState]):
    """Newton steps by preconditioned conjugate gradients (Dembo and Steihaug 1983), for smooth penalties or none.

    Parameters
    ----------
    max_products : int, default 200
        Largest number of Hessian products in one step.

    See Also
    --------
    LBFGS : Cheaper iterations, without Hessian products.
    ProximalNewton : Newton steps for penalties with kinks.

    Examples
    --------
    >>> import mrfit
    >>> from mrfit.objectives import Likelihood
    >>> from mrfit.parameterizations import Canonical
    >>> from mrfit.solvers import TruncatedNewton, minimize
    >>> table = {"rain": ["no", "yes"] * 3, "wet": ["no", "yes", "no", "yes", "yes", "no"]}
    >>> rows = mrfit.UniqueRows.of(table)
    >>> objective = Likelihood(Canonical(rows.domain, mrfit.Structure.complete(2)), rows)
    >>> minimize(objective, TruncatedNewton()).w.round(3)
    array([-0.693, -0.693,  1.386])
    """

    max_products: int = 200

    word = "newton"
    needs = Trait.DIFFERENTIABLE

    def start(self, problem: CompositeProblem, w: Floats) -> NewtonState:
        rough = problem.objective.rough_hessian()
        return _state(w, problem.expand(w), 1.0, None if rough is None else Factor.of(rough).divide)

    def advance(self, problem: CompositeProblem, state: NewtonState) -> NewtonState | None:
        # 1. The Newton direction of the free parameters. A parameter at a bound that others push out is fixed as well.
        free = ~problem.held(state.w, state.gradient)
        direction, divide = self._solve(state, free)
        # Every pass fixes at least one more parameter, so this ends.
        while (pushed := problem.leaving(state.w, direction)).any():
            free &= ~pushed
            direction, divide = self._solve(replace(state, divide=divide), free)
        latest: list[Expansion] = []

        def evaluate(w: Floats) -> tuple[float, Floats]:
            latest[:] = [problem.expand(w)]
            return latest[0].value, latest[0].gradient

        # 2. A step along it, projected to the bounds. Near a bound the projected Newton direction may not descend. The
        #    gradient alone, scaled by each parameter's curvature, descends along any projection (Bertsekas 1982).
        found = line_search(problem.clip, state, direction, evaluate)
        if found is None and len(problem.bounded):
            free = ~problem.held(state.w, state.gradient)
            scaled = np.where(free, -state.gradient / np.maximum(state.expansion.diagonal(), _FLAT), 0.0)
            found = line_search(problem.clip, state, scaled, evaluate)
        if found is None:
            return None
        w, _, _, step = found
        return _state(w, latest[0], step, divide)

    def _solve(self, state: NewtonState, free: NDArray[np.bool_]) -> tuple[Floats, Division | None]:
        """Return Hessian^-1 (-gradient) on the free parameters, and the last preconditioner.

        Conjugate gradients stop at a residual that shrinks with the gradient: far from the optimum a rough direction
        does, near it the steps converge superlinearly. Where they take long, they continue with a better
        preconditioner.
        """
        expansion, divide = state.expansion, state.divide
        residual = downhill = np.where(free, -state.gradient, 0.0)
        direction = np.zeros_like(downhill)
        # Each product lowers the quadratic model, which is 0 at direction 0. So gradient . direction is at most minus
        # half the curvature along it: the direction descends wherever the loop stops, and a change of preconditioner on
        # the way keeps that, because the residual carries over.
        for divide, most in self._preconditioners(expansion, divide):  # noqa: B020
            precondition = _masked(divide or expansion.preconditioned, free)
            # Relative residual min(1/4, sqrt(norm)) in the preconditioned norm, which gives superlinear convergence.
            first = float(downhill @ precondition(downhill))
            enough = min(0.0625, np.sqrt(first)) * first
            more, residual = conjugate_gradients(
                _masked(expansion.product, free),
                residual,
                is_enough=partial(_is_enough, enough),
                most=most,
                precondition=precondition,
            )
            direction = direction + more
            if float(residual @ precondition(residual)) <= enough:
                break
        return (direction if direction.any() else precondition(downhill)), divide

    def _preconditioners(self, expansion: Expansion, divide: Division | None) -> Iterator[tuple[Division | None, int]]:
        """Yield preconditioners, each with the number of products to spend before the next one.

        The Hessian is computed and factorized once the products of a step have cost as much. Total work is therefore
        never more than twice that of the better way. A Hessian from another point comes first. One that is to be reused
        across steps stays until a step takes more than a few products, and several times its price was spent.
        """
        explicit = expansion.explicit
        dividing = np.inf if explicit is None else explicit.dividing / explicit.nanoseconds
        if explicit is None or explicit.products + dividing > self.max_products:
            yield divide, self.max_products
            return
        price = math.ceil(explicit.products + dividing)
        known, spent = explicit.previous(), explicit.spent() if explicit.reuse_across_steps else 0
        if divide is None:
            yield None, max(price - spent, _FEW) if known is None else math.ceil(dividing)
            divide = None if known is None else known().division()
        if divide is not None:
            yield divide, min(price, max(_LASTS * price - spent, _FEW))
        yield explicit.hessian().division(), self.max_products


def _is_enough(enough: float, residual: Floats, size: float, first: float) -> bool:
    return size <= enough


def _masked(function: Callable[[Floats], Floats], free: NDArray[np.bool_]) -> Callable[[Floats], Floats]:
    """Return the function with zeros for parameters that may not move."""
    return lambda v: np.where(free, function(v), 0.0)


def _state(w: Floats, expansion: Expansion, step: float, divide: Division | None = None) -> NewtonState:
    return NewtonState(w, expansion.value, expansion.gradient, expansion, divide, step=step, dual=expansion.dual)
