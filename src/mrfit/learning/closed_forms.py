"""Estimates that need no solver: of all joint states, and of products of tables over tables."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import wrightomega

from mrfit._typing import Floats
from mrfit.core.errors import InputError
from mrfit.inference.exact.row_tables import RowTables
from mrfit.inference.exact.tree_states import TreeStates
from mrfit.learning.backend import Backend, ExactCoordinates
from mrfit.learning.fit_result import Optimum
from mrfit.objectives.decomposable_closed_form import product_parameters
from mrfit.parameterizations.joint import Saturated
from mrfit.penalties.l2 import Ridge
from mrfit.solvers.solution import Record, Solution, Status
from mrfit.structures.decomposable import multiplicities

if TYPE_CHECKING:
    from mrfit.learning.fit_problem import FitProblem


Estimate = Callable[[Floats, float], Floats]  # log p of all joint states from their counts and a strength


def pseudo_counts(counts: Floats, strength: float) -> Floats:
    """log p = log (count + strength), but for a constant: Dirichlet smoothing."""
    return np.log(counts + strength)


def flat_l2(counts: Floats, strength: float) -> Floats:
    """log p that maximises the likelihood minus strength times the sum of squares of all spectral parameters.

    By Parseval's identity the penalty is strength / states times the squared distance of log p from its mean, so that
    log p of a state depends on its count alone: with b = states / (2 strength) * count it is b - W(kappa e^b), up to a
    constant, with the one kappa for which probabilities sum to one. W is Lambert's function.
    """
    from scipy.optimize import brentq  # here, for it takes longer to load than most fits take

    scale = len(counts) / (2.0 * strength)
    distinct, number = np.unique(counts, return_inverse=True)
    how_many = np.bincount(number.ravel())
    b = scale * distinct
    goal = scale * float(counts.sum())

    def excess(log_kappa: float) -> float:
        return float(how_many @ wrightomega(log_kappa + b).real) - goal

    # W(e^x) grows from zero to infinity: between these two the sum passes the goal.
    low = -float(b.max()) - 50.0
    while excess(low) > 0.0:
        low *= 2.0
    high = np.log(goal) + 1.0
    while excess(high) < 0.0:
        high = 2.0 * abs(high) + 1.0
    log_kappa = float(brentq(excess, low, high, xtol=1e-14, rtol=8.9e-16))
    return np.asarray((b - wrightomega(log_kappa + b).real)[number.ravel()], np.float64)


def closed_form_path(
    problem: FitProblem, strengths: Sequence[float], estimate: Estimate, *, squares: bool
) -> Iterator[Optimum]:
    """An estimate at every strength; ``squares`` says whether it minimises a sum of squares, which certifies it."""
    joint, rows, objective = joint_states(problem.coordinates), problem.rows_in_memory, problem.objective
    counts = np.zeros(joint.base.size)
    np.add.at(counts, joint.base.positions(rows.codes), rows.sample_weight)
    for strength in sorted(strengths, reverse=True):
        begun = time.perf_counter()
        w = joint.gather(joint.base.coefficients(estimate(counts, strength)))
        value, gradient = objective.value_and_gradient(w)
        cost, violation, gap = 0.0, 0.0, None
        if squares:
            penalty = Ridge(2.0 * strength)
            cost = penalty.value(w)
            slope = gradient + penalty.gradient(w) / rows.total_weight
            violation = float(np.abs(slope).max())
            # The function is strongly convex: no point is lower by more than the squared slope over twice the modulus.
            gap = float(slope @ slope) * rows.total_weight / (4.0 * strength)
        record = Record(0, value + cost / rows.total_weight, violation, 1, 0, 1.0, gap)
        none = np.empty(0, np.int64)
        solution = Solution(w, record.value, violation, Status.CONVERGED, (record,), none)
        yield Optimum(strength, solution, -value, 1, time.perf_counter() - begun)


def joint_states(coordinates: Backend) -> Saturated:
    if has_all_sets(coordinates):
        return coordinates.joint  # type: ignore[attr-defined, no-any-return]
    raise InputError("This penalty smooths all joint states, so it needs all sets of variables; use order all.")


def has_all_sets(coordinates: Backend) -> bool:
    """Whether all sets of variables have parameters, in the order of the joint states."""
    return isinstance(coordinates, ExactCoordinates) and isinstance(coordinates.joint, Saturated)


def product_path(problem: FitProblem, strengths: Sequence[float]) -> Iterator[Optimum]:
    """The maximum of the likelihood of rows with pseudo-counts, at every strength, as a product of tables over tables.

    ``strength`` rows more for every state of the largest clique are dealt evenly to all joint states. Where the
    structure was learned from the rows, it is from these.
    """
    if problem.learner.covariates:
        raise InputError(
            "Pseudo-counts smooth whole rows, but the model has no distribution of covariates to smooth. Use "
            "another penalty, such as l2."
        )
    for strength in sorted(strengths, reverse=True):
        begun = time.perf_counter()
        learned = problem.learner.structure.smoothed(problem.rows_in_memory, strength)
        part = problem if learned is None else problem.on(learned[0])
        parameters, shape = part.coordinates.parameters, problem.rows_in_memory.domain.shape
        times = multiplicities(parameters.structure, shape)
        if times is None:
            raise InputError(
                "Pseudo-counts need a decomposable structure: a tree, or a chordal graph with all sets of "
                "variables within its cliques. This structure is not decomposable. Use structure tree, or another "
                "penalty such as l2."
            )
        states, tables = TreeStates(parameters), RowTables(parameters)
        weight = strength * int(tables.n_cells.max(initial=1)) if learned is None else learned[1]
        observed = tables.shares(problem.rows_in_memory)
        shares = tables.smoothed(observed, problem.rows_in_memory.total_weight, weight)
        w = product_parameters(parameters, shares, times)
        value, gradient = part.objective.value_and_gradient(w)
        # Of the rows with pseudo-counts it is the optimum: the means of all features are theirs.
        slope = gradient + states.means(observed - shares)
        violation = float(np.abs(slope).max(initial=0.0))
        record = Record(0, value, violation, 1, 0, 1.0, None)
        solution = Solution(w, value, violation, Status.CONVERGED, (record,), np.empty(0, np.int64))
        yield Optimum(strength, solution, -value, 1, time.perf_counter() - begun, coordinates=part.coordinates)


def has_squares_form(coordinates: Backend) -> bool:
    """Whether the squares of the parameters sum to those of the log-probabilities: spectral, all sets of variables."""
    parameters = coordinates.parameters
    return isinstance(coordinates, ExactCoordinates) and parameters.structure.is_saturated and parameters.is_orthogonal
