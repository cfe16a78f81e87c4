"""Parts that serve speed alone: without them the optimum is the same, and takes no less work. Work is counted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.learner import Learner
from mrfit.learning.tying_specs import LearnTieRelearn, SoftTied
from mrfit.penalties import hierarchical_l1 as hierarchical_module
from mrfit.penalties.group_l1 import GroupL1
from mrfit.penalties.hierarchical_l1 import HierarchicalL1
from mrfit.penalties.l1 import WeightedL1
from mrfit.penalties.penalty import NonsmoothPenalty
from mrfit.penalties.penalty_curvature import PenaltyCurvature
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.solvers.quadratics import Quadratic, minimize_quadratic
from mrfit.solvers.quadratics import active_manifold as manifolds
from mrfit.structures.simple import CompleteGraph
from populations import hierarchical, random_rows, subsets

N = 30


@dataclass
class Work:
    """Number of calls of a function."""

    calls: int = 0


@contextmanager
def _counted(monkeypatch: pytest.MonkeyPatch, owner: Any, name: str, cost: Callable[[Any], int]) -> Iterator[Work]:
    work, function = Work(), getattr(owner, name)

    def counting(*args: Any, **how: Any) -> Any:
        result = function(*args, **how)
        work.calls += cost(result)
        return result

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, counting)
        yield work


def _quadratics(n: int) -> list[Quadratic]:
    """Quadratics of full and of low rank, around points with zeros."""
    found = []
    for seed in range(n):
        rng = np.random.default_rng(seed)
        features = rng.standard_normal((int(rng.integers(15, 80)), N)) * rng.uniform(0.2, 3.0, N)
        hessian = features.T @ features / len(features) + 1e-4 * np.eye(N)
        w = np.where(rng.random(N) < 0.5, rng.standard_normal(N), 0.0)
        found.append(Quadratic.of_matrix(w, hessian @ rng.standard_normal(N), hessian))
    return found


def _groups(kind: type[GroupL1] = GroupL1) -> list[NonsmoothPenalty]:
    weight = np.random.default_rng(0).uniform(0.5, 2.0, N)
    return [kind(strength, np.arange(N) // size, weight) for strength in (0.03, 0.3) for size in (2, 5)]


def _hierarchies(kind: type[HierarchicalL1] = HierarchicalL1) -> list[NonsmoothPenalty]:
    own = [hierarchical(strength, np.minimum(np.arange(N) // 2, 14), *subsets(4)) for strength in (0.03, 0.3)]
    return [kind(each.strength, each.block, each.weight, each.start, each.members) for each in own]


def _optima(penalties: list[NonsmoothPenalty], quadratics: list[Quadratic]) -> list[np.ndarray]:
    found = []
    for quadratic in quadratics:
        for penalty in penalties:
            v = minimize_quadratic(quadratic, penalty, tolerance=1e-9)
            assert penalty.violation(v, quadratic.slope(v)) <= 1e-8
            found.append(v)
    return found


class _EndlessGroups(GroupL1):
    """Group penalty that never notices a group passing through zero."""

    def truncate_at_zero_crossing(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        return end


class _EndlessHierarchies(HierarchicalL1):
    def truncate_at_zero_crossing(self, start: np.ndarray, end: np.ndarray) -> np.ndarray:
        return end


@pytest.mark.parametrize(
    ("penalties", "inert"),
    [(_groups(), _groups(_EndlessGroups)), (_hierarchies(), _hierarchies(_EndlessHierarchies))],
    ids=["group", "hierarchical"],
)
def test_groups_that_pass_by_zero_end_there(penalties: Any, inert: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's method on what is not zero needs fewer divisions by its Hessian."""
    quadratics, one = _quadratics(8), lambda _: 1
    with _counted(monkeypatch, manifolds, "_divided", one) as work:
        optima = _optima(penalties, quadratics)
    with _counted(monkeypatch, manifolds, "_divided", one) as without:
        same = _optima(inert, quadratics)
    np.testing.assert_allclose(optima, same, atol=1e-6)
    assert work.calls < 0.8 * without.calls


class _BentGroups(GroupL1):
    """Group penalty that does not know its curvature."""

    def curvature(self, w: np.ndarray) -> PenaltyCurvature | None:  # type: ignore[override]
        return None


class _BentHierarchies(HierarchicalL1):
    def curvature(self, w: np.ndarray) -> PenaltyCurvature | None:  # type: ignore[override]
        return None


@pytest.mark.parametrize(
    ("penalties", "inert"),
    [(_groups(), _groups(_BentGroups)), (_hierarchies(), _hierarchies(_BentHierarchies))],
    ids=["group", "hierarchical"],
)
def test_a_penalty_that_knows_its_curvature_takes_fewer_steps(
    penalties: list[NonsmoothPenalty], inert: list[NonsmoothPenalty], monkeypatch: pytest.MonkeyPatch
) -> None:
    quadratics = _quadratics(3)
    with _counted(monkeypatch, manifolds.ManifoldSearch, "reached", lambda _: 1) as work:
        optima = _optima(penalties, quadratics)
    with _counted(monkeypatch, manifolds.ManifoldSearch, "reached", lambda _: 1) as without:
        same = _optima(inert, quadratics)
    np.testing.assert_allclose(optima, same, atol=1e-5)
    assert work.calls < 0.5 * without.calls


class _Forgetful(_BentHierarchies):
    def prox_with_memory(self) -> Callable[[np.ndarray, float], np.ndarray]:
        return self.prox


def test_a_prox_with_memory_takes_fewer_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Proximal steps are all there is here."""
    rng, weights = np.random.default_rng(0), subsets(5)
    n = len(weights[0])
    features = rng.standard_normal((2 * n, n))
    hessian = features.T @ features / len(features)
    quadratics = [Quadratic.of_matrix(np.zeros(n), hessian @ rng.standard_normal(n), hessian) for _ in range(3)]
    own = hierarchical(0.1, np.arange(n), *weights)
    optima, work = [], []
    for kind in (_BentHierarchies, _Forgetful):
        penalty = kind(own.strength, own.block, own.weight, own.start, own.members)
        with _counted(monkeypatch, hierarchical_module, "overlapping_prox", lambda found: found[2]) as sweeps:
            optima.append(_optima([penalty], quadratics))
        work.append(sweeps.calls)
    np.testing.assert_allclose(*optima, atol=1e-6)
    assert work[0] < 0.7 * work[1]


def test_the_critical_strength_of_a_hierarchy_takes_a_few_newton_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, weights = np.random.default_rng(0), subsets(5)
    n = len(weights[0])
    penalty = hierarchical(0.1, np.arange(n), *weights)
    with _counted(monkeypatch, HierarchicalL1, "prox", lambda _: 1) as steps:
        for _ in range(5):
            penalty.critical_strength(rng.standard_normal(n))
    assert steps.calls <= 5 * 12


class _Unordered(WeightedL1):
    """L1 penalty that does not declare itself a sum of absolute values."""

    @property
    def thresholds(self) -> None:  # type: ignore[override]
        return None

    def prox(self, w: np.ndarray, step: float) -> np.ndarray:
        return WeightedL1(self.strength, self.weight).prox(w, step)


def test_thresholds_save_proximal_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Coordinate descent on the matrix takes none."""
    quadratics, weight = _quadratics(5), np.random.default_rng(0).uniform(0.5, 2.0, N)
    with _counted(monkeypatch, manifolds.ManifoldSearch, "reached", lambda _: 1) as work:
        optima = _optima([WeightedL1(0.1, weight)], quadratics)
    with _counted(monkeypatch, manifolds.ManifoldSearch, "reached", lambda _: 1) as without:
        same = _optima([_Unordered(0.1, weight)], quadratics)
    np.testing.assert_allclose(optima, same, atol=1e-6)
    assert work.calls == 0 < without.calls


@pytest.mark.parametrize("penalty", [*_groups(), WeightedL1(1.0, np.ones(N))], ids=str)
def test_the_steps_of_a_group_are_its_own(penalty: NonsmoothPenalty) -> None:
    """A short step of one parameter shortens those of its group and of nothing else."""
    group = penalty.blocks if penalty.blocks is not None else np.arange(N)
    steps = np.full(N, 2.0)
    steps[7] = 0.1
    np.testing.assert_array_equal(penalty.common_steps(steps), np.where(group == group[7], 0.1, 2.0))


# -- warm starts -------------------------------------------------------------------------------------------------


@pytest.fixture(name="rows")
def _rows() -> UniqueRows:
    return random_rows(np.random.default_rng(5), (2,) * 9, 800)


def _fits(penalty: Any, rows: UniqueRows) -> dict[Any, Any]:
    learner = Learner(CompleteGraph(), penalty, tolerance=1e-7)
    return {(fit.n_groups, fit.strength): fit for fit in learner.fit(rows, rows, compared=False).fits}


def test_numbers_of_groups_start_where_the_last_one_ended(rows: UniqueRows) -> None:
    """The weakest strength is tested: all numbers of groups are near each other and far from the rough fit before."""
    groups = (2, 20, 40)
    together = _fits(SoftTied(groups=groups, strength=0.1), rows)
    alone = {key: fit for k in groups for key, fit in _fits(SoftTied(groups=k, strength=0.1), rows).items()}
    assert together.keys() == alone.keys()
    for key, fit in together.items():
        assert fit.solution.value == pytest.approx(alone[key].solution.value, abs=1e-7)
    later = [(k, 0.1) for k in groups[1:]]
    assert sum(together[key].passes for key in later) <= 0.6 * sum(alone[key].passes for key in later)


def test_growing_strengths_start_where_the_last_one_ended(rows: UniqueRows) -> None:
    """Nothing is penalised with as many groups as parameters: there is nothing left to do after the first."""
    first, *others = _fits(SoftTied(groups=45, strength=(0.1, 1.0, 10.0)), rows).values()
    assert first.n_groups == first.model.parameters.n_parameters
    assert first.passes > 0
    assert [fit.passes for fit in others] == [0, 0]
    for fit in others:
        assert fit.solution.value == pytest.approx(first.solution.value, abs=1e-12)


def test_relearned_fits_start_where_as_many_groups_ended(rows: UniqueRows) -> None:
    """If the groups are those of the strength before, that is the optimum; if they are not, it is near."""
    fits = _fits(LearnTieRelearn(groups=(3, 20), strength=(0.1, 1.0, 10.0, 50.0, 100.0)), rows)
    few, many = ([fit for fit in fits.values() if fit.n_groups == k] for k in (3, 20))
    same = [fit for fit in few[1:] if np.array_equal(_groups_of(fit), _groups_of(few[0]))]
    assert len(same) >= 2
    assert [fit.solution.iterations for fit in same] == [0] * len(same)
    alone = [
        _fits(LearnTieRelearn(groups=20, strength=fit.strength), rows)[20, fit.strength].solution for fit in many[1:]
    ]
    for fit, solution in zip(many[1:], alone, strict=True):
        assert fit.solution.value == pytest.approx(solution.value, abs=1e-9)
    assert sum(fit.solution.iterations for fit in many[1:]) < sum(solution.iterations for solution in alone)


def _groups_of(fit: Any) -> np.ndarray:
    return np.asarray(fit.model.groups.assignment)


@pytest.mark.parametrize("penalty", ["l1", "group"])
def test_a_path_starts_where_the_last_strength_ended(penalty: str, rows: UniqueRows) -> None:
    """Proximal Newton steps of a path are fewer than those of its strengths by themselves."""
    from words import learner

    strengths = tuple(2.0**k for k in range(7, -1, -1))

    def fits(*some: float) -> list[Any]:
        return list(learner(some, penalty, solver=ProximalNewton(), tolerance=1e-8).fit(rows, rows).fits)

    together, alone = fits(*strengths), [fit for s in strengths for fit in fits(s)]
    for one, other in zip(together, alone, strict=True):
        assert one.solution.value == pytest.approx(other.solution.value, abs=1e-9)
    work, without = (sum(fit.solution.iterations for fit in some) for some in (together, alone))
    assert work < 0.8 * without
