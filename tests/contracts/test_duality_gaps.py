"""A duality gap is a bound: no record of a trace may be further from the optimum than it says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.objectives.cached import CachedObjective
from mrfit.objectives.likelihood import Likelihood
from mrfit.objectives.objective import Objective
from mrfit.objectives.reparameterized import Reparameterized
from mrfit.objectives.tree_likelihood import TreeLikelihood
from mrfit.objectives.weighted_mean import WeightedMean
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.spectral import Spectral
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.solvers.fista import Fista
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.solvers.solution import Solution
from plugins.scad import SmoothlyClipped
from populations import NONSMOOTH_PENALTIES, STRUCTURES, random_rows

NONSMOOTH = [
    pytest.param(penalty, id=f"{cls.__name__}-{number}")
    for cls, build in NONSMOOTH_PENALTIES.items()
    for number, penalty in enumerate(build(np.random.default_rng(1), 7))
]

SHAPE = (2, 2, 2)  # seven parameters with all sets of variables, which penalties of all kinds of the population fit


def _parameters(rows: UniqueRows) -> Canonical:
    return Canonical(rows.domain, STRUCTURES["saturated"](len(SHAPE)))


def _halves(rows: UniqueRows) -> WeightedMean:
    parts = [UniqueRows.from_codes(rows.domain, rows.codes[k::2], rows.sample_weight[k::2]) for k in (0, 1)]
    shares = [part.total_weight / rows.total_weight for part in parts]
    return WeightedMean([Likelihood(_parameters(rows), part) for part in parts], shares)


OBJECTIVES: dict[str, Callable[[UniqueRows], Objective]] = {
    "likelihood": lambda rows: Likelihood(_parameters(rows), rows),
    "spectral": lambda rows: Likelihood(Spectral(rows.domain, STRUCTURES["saturated"](len(SHAPE))), rows),
    "tree": lambda rows: TreeLikelihood(_parameters(rows), rows),
    "remembered": lambda rows: CachedObjective(Likelihood(_parameters(rows), rows)),
    "mean": _halves,
    "other coordinates": lambda rows: Reparameterized(Likelihood(_parameters(rows), rows), _turned()),
}


def _turned() -> Any:
    from scipy import sparse

    return sparse.csr_array(np.eye(7) + 0.3 * np.triu(np.ones((7, 7)), 1))


def _bounds(n: int) -> dict[str, np.ndarray]:
    return {
        "far": np.full(n, 30.0),
        "near": np.full(n, 0.2),
        "some": np.where(np.arange(n) % 2 == 0, 0.3, 5.0),
        "none on the last": np.append(np.full(n - 1, 0.5), np.inf),
    }


def _solutions(objective: Objective, penalty: NonsmoothPenalty, bound: np.ndarray) -> list[Solution]:
    """Solutions by all methods, from zero and from afar; the momentum of the first takes it past many points."""
    start = np.where(np.arange(len(bound)) % 3 == 0, 1.0, -1.0)
    how: Any = {"penalty": penalty, "bound": bound, "tolerance": 1e-10}
    tried = [
        minimize(objective, method, w, max_iterations=most, **how)
        for method, w, most in ((Fista(), None, 8), (Fista(), start, 8), (TruncatedNewton(), start, 30))
        if method.needs in penalty.traits
    ]
    return [*tried, minimize(objective, ProximalNewton(), start, **how)]


# Every penalty with one objective, and every objective with some penalties of each kind.
PAIRS = [
    pytest.param(name, case.values[0], id=f"{name}-{case.id}")
    for name in OBJECTIVES
    for number, case in enumerate(NONSMOOTH)
    if name == "likelihood" or number % 4 == 1
]


@pytest.mark.parametrize(("objective", "penalty"), PAIRS)
def test_no_record_is_further_from_the_optimum_than_its_gap(
    objective: str, penalty: NonsmoothPenalty, rng: np.random.Generator
) -> None:
    """Bounds hold over objectives, penalties and box bounds; and the gap closes where a method converges."""
    made = OBJECTIVES[objective](random_rows(rng, SHAPE, 60, fractional=True))
    for number, (name, bound) in enumerate(_bounds(made.n_parameters).items()):
        part = penalty.scaled((0.02, 1.0)[number % 2])
        solutions = _solutions(made, part, bound)
        best = min(record.value for solution in solutions for record in solution.trace)
        for solution in solutions:
            for record in solution.trace:
                assert record.gap is not None
                assert record.gap >= record.value - best - 1e-12 * (1.0 + abs(best)), name
        last = solutions[-1]
        if np.isfinite(bound).all() and last.converged and len(last.at_bound) == 0:
            assert last.gap is not None
            assert last.gap <= 1e-8, name


def test_a_gap_that_is_asked_for_is_reached(rng: np.random.Generator) -> None:
    """And the value is then that near to the optimum."""
    rows = random_rows(rng, SHAPE, 60)
    objective, bound = Likelihood(_parameters(rows), rows), np.full(7, 30.0)
    for case in NONSMOOTH:
        penalty = case.values[0].scaled(0.01)
        best = minimize(objective, ProximalNewton(), penalty=penalty, bound=bound, tolerance=1e-12).value
        rough = minimize(objective, ProximalNewton(), penalty=penalty, bound=bound, tolerance=1.0, gap_tolerance=1e-4)
        assert rough.gap is not None
        assert rough.value - best - 1e-14 <= rough.gap <= 1e-4


def test_what_is_not_convex_has_no_gap(rng: np.random.Generator) -> None:
    """Neither the penalty nor the objective."""
    rows = random_rows(rng, SHAPE, 60)
    objective = Likelihood(_parameters(rows), rows)
    assert minimize(objective, Fista(), penalty=SmoothlyClipped(0.1, np.ones(7, bool))).gap is None
    objective.is_convex = False
    assert minimize(objective, Fista(), bound=np.full(7, 5.0)).gap is None
