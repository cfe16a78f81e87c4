"""Soft tying: its limits, its steps, its certificate, and every option."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.learning.tying.hard_tying import tie_hard, tie_hard_by_projection
from mrfit.learning.tying.soft_tying import AlternationSettings, TyingTask, tie_softly
from mrfit.learning.tying.stochastic_tying import Stochastic, tie_stochastically
from mrfit.learning.tying.tying_problem import TyingProblem
from mrfit.objectives.cached import CachedObjective
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.groups import clustered
from mrfit.penalties.cluster_penalty import ClusterPenalty
from mrfit.penalties.l2 import Ridge
from mrfit.solvers.minimize import minimize
from mrfit.solvers.newton import TruncatedNewton
from mrfit.solvers.solution import Status
from mrfit.structures.structure import Structure
from populations import full_rows, likelihood, pseudo_likelihood, random_rows

SHAPE = (2, 3, 2, 2)
KINDS = [pytest.param(pseudo_likelihood, id="pseudo-likelihood"), pytest.param(likelihood, id="likelihood")]


class Case:
    """An objective on a table in which every joint state occurs, so that all optima are finite."""

    def __init__(self, build: Any, seed: int = 0) -> None:
        self.rows = full_rows(np.random.default_rng(seed), SHAPE)
        self.parameters = Canonical(self.rows.domain, Structure.complete(len(SHAPE)))
        self.objective = CachedObjective(build(self.rows, self.parameters))
        self.n = self.parameters.n_parameters
        self.weight = self.rows.total_weight

    def tying(self, k: int, strength: float, *, pin_zero: bool = False) -> TyingTask:
        return TyingTask(k, strength, np.zeros(self.n, np.int64), pin_zero)

    def problem(self, tolerance: float) -> TyingProblem:
        return TyingProblem(self.objective, self.weight, tolerance=tolerance)

    def start(self) -> np.ndarray:
        return np.random.default_rng(1).normal(0.0, 0.5, self.n)

    def solve(
        self,
        k: int,
        strength: float,
        how: AlternationSettings | None = None,
        *,
        pin_zero: bool = False,
        tolerance: float = 1e-10,
        **more: Any,
    ) -> Any:
        tying = self.tying(k, strength, pin_zero=pin_zero)
        return tie_softly(self.problem(tolerance), self.start(), tying, how, **more)


def _whole(case: Case, w: np.ndarray, groups: Any, strength: float) -> float:
    return case.objective.value_and_gradient(w)[0] + 0.5 * strength * groups.cost(w) / case.weight


# -- limits ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", KINDS)
def test_one_group_pinned_at_zero_is_l2(build: Any) -> None:
    case = Case(build)
    smooth, _ = Ridge(7.0).added_to(case.objective, total_weight=case.weight)
    l2 = minimize(smooth, TruncatedNewton(), tolerance=1e-12)
    tied = case.solve(1, 7.0, pin_zero=True, tolerance=1e-12)
    np.testing.assert_allclose(tied.w, l2.w, atol=1e-8)
    assert tied.groups.centers.tolist() == [0.0]


@pytest.mark.parametrize("build", KINDS)
def test_as_many_groups_as_parameters_are_no_penalty(build: Any) -> None:
    case = Case(build)
    free = minimize(case.objective, TruncatedNewton(), tolerance=1e-12)
    tied = case.solve(case.n, 50.0, tolerance=1e-12)
    np.testing.assert_allclose(tied.w, free.w, atol=1e-8)
    assert tied.groups.cost(tied.w) <= 1e-20


@pytest.mark.parametrize("build", KINDS)
def test_a_growing_strength_tends_to_hard_tying(build: Any) -> None:
    """The distance to the hard optimum with the same groups falls like 1 / strength."""
    case = Case(build)
    distances = []
    for strength in (1e4, 1e5, 1e6):
        soft = case.solve(3, strength)
        hard = tie_hard(case.problem(1e-11), soft.groups, soft.w)
        assert len(np.unique(hard.solution.w)) == 3
        distances.append(float(np.abs(soft.w - hard.solution.w).max()))
    assert distances[1] == pytest.approx(distances[0] / 10, rel=0.2)
    assert distances[2] == pytest.approx(distances[1] / 10, rel=0.2)


# -- the steps ---------------------------------------------------------------------------------------------------

HOWS = {
    "default": AlternationSettings(),
    "as written": AlternationSettings(inner_iterations=None, centers="fixed"),
    "joint, to the end": AlternationSettings(inner_iterations=None),
    "one step": AlternationSettings(inner_iterations=1),
    "fixed centers, few steps": AlternationSettings(inner_iterations=3, centers="fixed"),
    "growing": AlternationSettings(first_share=0.01, growth=2.0),
}


@pytest.mark.parametrize("how", HOWS.values(), ids=HOWS.keys())
@pytest.mark.parametrize("build", KINDS)
def test_the_objective_never_increases_and_neither_block_can_improve_the_end(
    build: Any, how: AlternationSettings
) -> None:
    case = Case(build)
    found = case.solve(3, 40.0, how, tolerance=1e-8)
    assert found.solution.status is Status.CONVERGED
    at_full = [r for r in found.rounds if r.strength == 40.0]
    values = np.array([r.value for r in at_full])
    assert (np.diff(values) <= 1e-13 * np.abs(values[1:])).all()
    assert found.solution.value == pytest.approx(_whole(case, found.w, found.groups, 40.0), rel=1e-13)
    # Parameters and centers: the gradient of the whole objective vanishes.
    penalty = ClusterPenalty(40.0, found.groups.assignment)
    _, gradient = case.objective.value_and_gradient(found.w)
    assert np.abs(gradient + penalty.gradient(found.w) / case.weight).max() <= 1e-8
    np.testing.assert_allclose(found.groups.centers, penalty.centers(found.w))
    # Groups: no others are better.
    assert found.clustering_gap <= 1e-13
    best = clustered(found.w, np.zeros(case.n, int), 3)
    assert best.cost(found.w) == pytest.approx(found.groups.cost(found.w), rel=1e-9, abs=1e-12)


def test_joint_centers_are_the_limit_of_alternating_centers_and_parameters() -> None:
    """Alternating updates of centers and parameters, with the groups held, end where solving for both at once does."""
    case = Case(pseudo_likelihood)
    groups = clustered(case.start(), np.zeros(case.n, int), 3)
    smooth, _ = ClusterPenalty(20.0, groups.assignment).added_to(case.objective, total_weight=case.weight)
    joint = minimize(smooth, TruncatedNewton(), tolerance=1e-12).w
    w, penalty = case.start(), ClusterPenalty(20.0, groups.assignment)
    for _ in range(3000):
        centers = penalty.centers(w)
        smooth, _ = Ridge(20.0, toward=centers[groups.assignment]).added_to(case.objective, total_weight=case.weight)
        w = minimize(smooth, TruncatedNewton(), w, tolerance=1e-12).w
        if np.abs(penalty.centers(w) - centers).max() < 1e-11:
            break
    np.testing.assert_allclose(w, joint, atol=1e-7)


def test_steps_between_clusterings_are_as_many_as_asked() -> None:
    case = Case(pseudo_likelihood)
    many = case.solve(3, 40.0, AlternationSettings(inner_iterations=1))
    few = case.solve(3, 40.0, AlternationSettings(inner_iterations=None))
    assert len(many.rounds) > len(few.rounds)
    assert few.rounds[0].violation <= 1e-10


def test_the_strength_grows_as_asked_and_ends_full() -> None:
    found = Case(pseudo_likelihood).solve(3, 40.0, AlternationSettings(first_share=0.1, growth=3.0))
    strengths = [r.strength for r in found.rounds]
    np.testing.assert_allclose(strengths[:4], [4.0, 12.0, 36.0, 40.0])
    assert strengths[-1] == 40.0


def test_a_callback_sees_rounds_and_may_stop() -> None:
    seen: list[Any] = []
    found = Case(pseudo_likelihood).solve(
        3, 40.0, AlternationSettings(inner_iterations=1), callback=lambda r: seen.append(r) or True
    )
    assert len(seen) == 1
    assert found.solution.status is Status.INTERRUPTED


def test_passes_are_those_really_done() -> None:
    """The end of one solve is the start of the next, for nothing."""
    case = Case(pseudo_likelihood)
    found = case.solve(3, 40.0)
    assert found.passes == case.objective.passes == found.rounds[-1].passes
    before = case.objective.passes
    again = tie_softly(case.problem(1e-8), found.w, case.tying(3, 40.0))
    assert len(again.rounds) == 1
    assert case.objective.passes == before


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"inner_iterations": 0}, "expected a whole number from 1 on"),
        ({"centers": "loose"}, "'joint' or 'fixed'.*'loose'"),
        ({"first_share": 0.0}, "share in"),
        ({"growth": 0.5}, "factor of 1 or more"),
        ({"first_share": 0.5}, "growth above 1"),
    ],
)
def test_wrong_ways_to_alternate_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        AlternationSettings(**settings)


# -- hard --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pin_zero", [False, True])
@pytest.mark.parametrize("build", KINDS)
def test_projected_gradient_and_the_reduced_problem_reach_one_optimum(build: Any, pin_zero: bool) -> None:
    case = Case(build)
    classes = np.where(np.arange(case.n) == 2, -1, 0)  # one parameter not tied at all
    groups = clustered(case.start(), classes, 4, pin_zero=pin_zero)
    reduced = tie_hard(case.problem(1e-10), groups, case.start())
    projected = tie_hard_by_projection(case.problem(1e-10), groups, case.start())
    np.testing.assert_allclose(projected.solution.w, reduced.solution.w, atol=1e-6)
    np.testing.assert_allclose(projected.groups.centers, reduced.groups.centers, atol=1e-6)
    assert projected.solution.value == pytest.approx(reduced.solution.value, abs=1e-12)
    tied = groups.assignment >= 0
    np.testing.assert_array_equal(reduced.solution.w[tied], reduced.groups.centers[groups.assignment[tied]])


def test_projected_gradients_end_at_the_limit_of_iterations_too() -> None:
    """Ten gradient steps for one of the solver are about as many passes over the data."""
    case = Case(pseudo_likelihood)
    groups = clustered(case.start(), np.zeros(case.n, int), 4)
    problem = TyingProblem(case.objective, case.weight, tolerance=1e-14, max_iterations=1)
    solution = tie_hard_by_projection(problem, groups, case.start()).solution
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.iterations == 10


def test_a_group_without_a_finite_optimum_is_held_at_the_bound() -> None:
    rows = random_rows(np.random.default_rng(0), (2, 2, 2), 30)
    rows = type(rows).from_codes(rows.domain, np.where(rows.codes[:, :1] == 1, 0, rows.codes), rows.sample_weight)
    parameters = Canonical(rows.domain, Structure.complete(3))
    objective = CachedObjective(pseudo_likelihood(rows, parameters))
    never = np.array([1 if "x0" in name else 0 for name in parameters.names()])  # x0 never leaves its first state
    groups = clustered(never.astype(float), np.zeros(len(never), int), 2)
    problem = TyingProblem(objective, rows.total_weight, bound=30.0, tolerance=1e-13)
    hard = tie_hard(problem, groups, np.zeros(len(never)))
    np.testing.assert_array_equal(np.flatnonzero(never), hard.solution.at_bound)
    np.testing.assert_array_equal(hard.solution.w[never == 1], -30.0)


# -- stochastic --------------------------------------------------------------------------------------------------


def test_stochastic_gradients_come_near_the_optimum_and_say_how_near() -> None:
    case = Case(pseudo_likelihood)
    exact = case.solve(2, 20.0)
    found = tie_stochastically(
        case.problem(1e-10),
        [case.objective.objective],
        exact.w + 0.3,
        case.tying(2, 20.0),
        Stochastic(epochs=400, cluster_every=5),
        rng=np.random.default_rng(0),
    )
    assert found.solution.value - exact.solution.value <= 1e-3 * abs(exact.solution.value)
    penalty = ClusterPenalty(20.0, found.groups.assignment)
    _, gradient = case.objective.value_and_gradient(found.w)
    expected = np.abs(gradient + penalty.gradient(found.w) / case.weight).max()
    assert found.solution.violation == pytest.approx(expected)
    assert found.solution.status is Status.ITERATION_LIMIT


@pytest.mark.parametrize("settings", [{"batch_rows": 0}, {"epochs": 0}, {"cluster_every": 0}, {"rate": -1.0}])
def test_wrong_stochastic_settings_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(settings))}"):
        Stochastic(**settings)


def test_steps_between_two_clusterings_are_a_number_or_all() -> None:
    """A number or a word is accepted, as on the command line; no limit is the same as all."""
    assert AlternationSettings(inner_iterations="all").solver_steps is None
    assert AlternationSettings(inner_iterations=None).solver_steps is None
    assert AlternationSettings(inner_iterations=3).solver_steps == 3
    for wrong in (0, "some", 1.5):
        with pytest.raises(InputError, match=r"expected a whole number from 1 on, 'all' or None"):
            AlternationSettings(inner_iterations=wrong)  # type: ignore[arg-type]
