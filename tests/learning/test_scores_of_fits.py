"""Claims of a fit about itself: its score is that of its model, and its certificate claims no more than holds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from mrfit import MarkovNetworkLearner
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.objective_specs import LIKELIHOOD, PSEUDO_LIKELIHOOD, LikelihoodSpec, ObjectiveSpec
from mrfit.learning.parameter_layout import ParameterLayout
from mrfit.learning.penalty_spec import PenaltySpec
from mrfit.learning.penalty_specs import L1, L2, ConvexPenaltySpec, NoPenalty
from mrfit.learning.pseudo_counts import PseudoCounts
from mrfit.learning.tying_specs import TyingSpec
from mrfit.penalties.penalty import NonsmoothPenalty, Penalty, SmoothPenalty
from mrfit.registry import OBJECTIVES, PENALTIES
from mrfit.solvers.fista import Fista
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.solvers.solution import Status
from mrfit.structures.simple import AllInteractions, ChowLiuTree, CompleteGraph
from plugins.scad import SCAD
from populations import NONSMOOTH_PENALTIES, SMOOTH_PENALTIES, full_rows, random_rows

STRENGTHS = (0.3, 1.0, 3.0, 10.0)


@dataclass(frozen=True)
class Given(ConvexPenaltySpec):
    """One of the population, whatever the strength."""

    penalty: Any = None

    word: ClassVar[str] = "given"

    def build(self, strength: float, layout: ParameterLayout) -> Penalty:
        assert isinstance(self.penalty, NonsmoothPenalty | SmoothPenalty)
        return self.penalty


def _score(fit: Any, rows: UniqueRows) -> float:
    return float(getattr(fit.model, fit.measure)(rows))


def _check(learner: Learner, rows: UniqueRows) -> None:
    """Also of the folds and of validation rows, where all points of the grid are made again."""
    for fit in learner.fit(rows, rows).fits:
        assert fit.train == pytest.approx(_score(fit, rows), abs=1e-11)
        assert fit.train_pll == pytest.approx(fit.model.pll(rows), abs=1e-11)
        assert fit.held_out == pytest.approx(fit.train, abs=1e-11)


POPULATION = [
    pytest.param(penalty, id=f"{cls.__name__}-{number}")
    for population in (SMOOTH_PENALTIES, NONSMOOTH_PENALTIES)
    for cls, build in population.items()  # type: ignore[attr-defined]
    for number, penalty in enumerate(build(np.random.default_rng(1), 7))
]


@pytest.mark.parametrize("objective", [PSEUDO_LIKELIHOOD, LIKELIHOOD], ids=["pll", "ll"])
@pytest.mark.parametrize("penalty", POPULATION)
def test_the_train_score_is_that_of_the_model(
    penalty: Penalty, objective: ObjectiveSpec, rng: np.random.Generator
) -> None:
    """Every penalty of the population is tested, on the seven parameters of three variables."""
    rows = full_rows(rng, (2, 2, 2))
    solver = Fista() if isinstance(penalty, NonsmoothPenalty) else None
    _check(Learner(AllInteractions(3), Given(penalty=penalty), objective, solver=solver, max_iterations=200), rows)


@pytest.mark.parametrize("objective", [*OBJECTIVES, LikelihoodSpec("tree")], ids=str)
@pytest.mark.parametrize("kind", [*PENALTIES.values(), SCAD], ids=lambda kind: kind.word)
def test_at_every_point_of_the_grid(kind: type[PenaltySpec], objective: Any, rng: np.random.Generator) -> None:
    """Every penalty with a word is tested, and one that does not grow with its strength."""
    choice = OBJECTIVES[objective]() if isinstance(objective, str) else objective
    own: dict[str, Any] = {"groups": (2, 4)} if issubclass(kind, TyingSpec) else {}
    if kind is not NoPenalty:
        own["strength"] = STRENGTHS
    if kind is PseudoCounts and not choice.is_joint:
        pytest.skip("pseudo-counts smooth whole rows")
    _check(Learner(ChowLiuTree(), kind(**own), choice, tolerance=1e-5), full_rows(rng, (2, 3, 2, 2)))


@pytest.mark.parametrize("solver", [Fista(), ProximalNewton()], ids=["fista", "proximal newton"])
def test_a_penalty_that_does_not_grow_with_its_strength(solver: Any, rng: np.random.Generator) -> None:
    """The penalty as the user wrote it plus the summed loss is stationary at the solution.

    A solver for another strength, for example one N times smaller, ends elsewhere.
    """
    rows = random_rows(rng, (2,) * 6, 300)
    learner = Learner(CompleteGraph(), SCAD(STRENGTHS), solver=solver, tolerance=1e-8, max_iterations=5000)
    fitted = learner.fit(rows, rows)
    assert len({fit.n_nonzero for fit in fitted.fits}) > 2  # the strengths differ in what they do
    for fit in fitted.fits:
        penalty = learner.penalty.build(fit.strength, _layout(fit.model.parameters))
        objective = learner.objective.coordinates(
            fit.model.parameters, listed=False, keep_zeros=False, jobs=1
        ).objective(rows)
        value, gradient = objective.value_and_gradient(fit.model.w)
        total = rows.total_weight
        assert penalty.violation(fit.model.w, total * gradient) <= 1e-7 * total
        assert fit.solution.value == pytest.approx(value + penalty.value(fit.model.w) / total, abs=1e-12)


def _layout(parameters: Any) -> ParameterLayout:
    orders = parameters.order_of_parameter
    return ParameterLayout(
        parameters.structure, orders, lambda: parameters.scope_of_parameter, orders > 1, lambda: None
    )


def test_what_is_not_convex_claims_a_stationary_point(rng: np.random.Generator) -> None:
    """Status, guarantee and gap say so; the claims for convex penalties are unchanged."""
    rows = random_rows(rng, (2,) * 5, 200)
    fitted = Learner(CompleteGraph(), SCAD(3.0), LIKELIHOOD).fit(rows)
    assert fitted.best.solution.status is Status.STATIONARY
    assert fitted.best.solution.converged
    assert "stationary point" in fitted.guarantee
    assert "optimum" not in fitted.guarantee
    assert all(record.gap is None for record in fitted.best.solution.trace)
    convex = Learner(CompleteGraph(), L1(3.0), LIKELIHOOD).fit(rows)
    assert convex.best.solution.status is Status.CONVERGED
    assert convex.guarantee == "an optimum over all scopes of the structure"
    assert convex.best.solution.gap is not None
    searched = Learner(AllInteractions(3), SCAD(3.0, search="hierarchical")).fit(rows)
    assert "optimum" not in searched.guarantee
    tied = Learner(CompleteGraph(), PENALTIES["tied"](groups=2, strength=1.0)).fit(rows)
    assert tied.guarantee == "an optimum for the groups that were found; other groups may be better"


def test_an_objective_that_is_not_convex_claims_no_optimum(rng: np.random.Generator) -> None:
    """However it is wrapped."""

    class Bent(type(PSEUDO_LIKELIHOOD)):  # type: ignore[misc]
        def coordinates(self, *args: Any, **how: Any) -> Any:
            coordinates = super().coordinates(*args, **how)
            make = coordinates.objective

            def bent(rows: Any) -> Any:
                made = make(rows)
                made.is_convex = False
                return made

            coordinates.objective = bent
            return coordinates

    rows = random_rows(rng, (2,) * 4, 100)
    for penalty in (L2(1.0), L1(1.0), PENALTIES["hard"](groups=2, strength=1.0)):
        fitted = Learner(CompleteGraph(), penalty, Bent()).fit(rows)
        assert fitted.best.solution.status is Status.STATIONARY
        assert "stationary point" in fitted.guarantee


def test_a_path_of_such_a_penalty_is_scored_by_its_models(rng: np.random.Generator) -> None:
    """The estimator walks from the strength at which all parameters are zero, with folds."""
    rows = random_rows(rng, (2,) * 6, 300)
    table = np.repeat(rows.codes, rows.sample_weight.astype(int), axis=0)
    learner = MarkovNetworkLearner(penalty=SCAD(), folds=3).fit(table)
    assert learner.fitted_.is_path
    assert learner.fitted_.fits[0].nonzero_by_order.get(2, 0) == 0
    assert learner.fitted_.best.nonzero_by_order[2] > 0
    for fit in learner.fitted_.fits:
        assert fit.train == pytest.approx(fit.model.pll(table), abs=1e-11)
    again = replace(learner.penalty, strength=learner.fitted_.best.strength)
    alone = MarkovNetworkLearner(penalty=again).fit(table)
    assert alone.fitted_.best.train == pytest.approx(alone.score(table), abs=1e-11)
