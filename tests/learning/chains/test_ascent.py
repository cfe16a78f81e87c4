"""Learning by chains against exact optima, which enumeration certifies."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.chains.ascent import Ascent, AscentSchedule, Target, climb, diagnose
from mrfit.learning.chains.features import Features
from mrfit.learning.chains.persistent_chains import Persistent, persistent
from mrfit.objectives.likelihood import Likelihood
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.group_l1 import GroupL1
from mrfit.penalties.l1 import WeightedL1
from mrfit.penalties.l2 import Ridge
from mrfit.penalties.penalty import Penalty, ZeroPenalty
from mrfit.solvers.lbfgs import LBFGS
from mrfit.solvers.minimize import minimize
from mrfit.solvers.proximal_newton import ProximalNewton
from mrfit.structures.structure import Structure
from populations import STRUCTURES, full_rows, random_rows

GAP = 2e-4  # nats a row; measured: 3e-5 and less
LONG = AscentSchedule(iterations=1000, looks=())


class Case:
    """Rows, parameters and a penalty, with their exact optimum."""

    def __init__(self, rows: UniqueRows, structure: Structure, penalty: str) -> None:
        self.rows, self.parameters = rows, Canonical(rows.domain, structure)
        self.penalty = _penalty(penalty, self.parameters)
        self.target = Target(Features(self.parameters).means(rows), self.penalty)
        smooth, kinks = self.penalty.added_to(Likelihood(self.parameters, rows), total_weight=rows.total_weight)
        self._smooth, self._kinks = smooth, kinks
        method = LBFGS() if isinstance(kinks, ZeroPenalty) else ProximalNewton()
        self.optimum = minimize(smooth, method, penalty=kinks, tolerance=1e-9, max_iterations=5000)
        assert self.optimum.violation <= 1e-9

    def chains(self, n: int = 1024, seed: int = 0, jobs: int = 1) -> Persistent:
        p = self.rows.sample_weight / self.rows.total_weight
        codes = self.rows.codes[np.random.default_rng((seed, 5)).choice(len(p), n, p=p)].astype(np.int64)
        return persistent(self.target.means.features, codes, (seed, 1), jobs=jobs)

    def climb(self, schedule: AscentSchedule = LONG, **chains: int) -> Ascent:
        return climb(self.target, self.chains(**chains), self.target.means.independent, schedule)

    def gap(self, w: np.ndarray) -> float:
        """Distance to the optimum of the penalised mean log-likelihood, in nats."""
        return self._smooth.value_and_gradient(w)[0] + self._kinks.value(w) - self.optimum.value


def _penalty(name: str, parameters: Canonical) -> Penalty:
    several = parameters.order_of_parameter > 1
    return {
        "none": ZeroPenalty(),
        "l2 on pairs": Ridge(3.0, several),
        "l2 on all": Ridge(3.0),
        "l2 towards": Ridge(20.0, several, toward=np.where(several, 0.5, 0.0)),
        "l1": WeightedL1(6.0, several.astype(float)),
        "l1 on all": WeightedL1(6.0, np.ones(len(several))),
        "group": GroupL1(6.0, parameters.scope_of_parameter, _sizes(parameters) > 1),
    }[name]


def _sizes(parameters: Canonical) -> np.ndarray:
    return np.array([len(scope) for scope in parameters.structure.scopes])


def _case(shape: tuple[int, ...], structure: str, penalty: str, rng: np.random.Generator, n: int = 400) -> Case:
    return Case(random_rows(rng, shape, n), STRUCTURES[structure](len(shape)), penalty)


PROBLEMS = {
    "pairs, l2": ((2,) * 7, "complete", "l2 on pairs"),
    "pairs, l2 on all": ((2,) * 7, "complete", "l2 on all"),
    "pairs, l2 towards other values": ((2,) * 7, "complete", "l2 towards"),
    "pairs, l1": ((2,) * 7, "complete", "l1"),
    "pairs, l1 on all": ((2,) * 7, "complete", "l1 on all"),
    "triples, l2": ((2,) * 5, "order 3", "l2 on pairs"),
    "triples, l1": ((2,) * 5, "order 3", "l1"),
    "categorical, l2": ((3, 4, 2, 3), "complete", "l2 on pairs"),
    "categorical, l1": ((3, 4, 2, 3), "complete", "l1"),
    "categorical, group": ((3, 4, 2, 3), "complete", "group"),
    "triples, group": ((3, 2, 3, 2), "order 3", "group"),
    "disconnected": ((2, 2, 3, 2), "disconnected", "l2 on pairs"),
    "no singles": ((2,) * 5, "pairs without singles", "l2 on pairs"),
    "a variable with one state": ((3, 1, 2, 2), "complete", "l2 on pairs"),
}


@cache
def _climbed(name: str) -> tuple[Case, Ascent]:
    case = _case(*PROBLEMS[name], np.random.default_rng(0))
    return case, case.climb()


@pytest.mark.parametrize("name", PROBLEMS)
def test_climbs_reach_the_exact_optimum(name: str) -> None:
    case, found = _climbed(name)
    start = case.target.means.independent
    assert -1e-12 < case.gap(found.w) < GAP
    assert case.gap(found.w) < 0.2 * case.gap(start) or case.gap(start) < GAP


def test_without_a_penalty(rng: np.random.Generator) -> None:
    """Every joint state occurs, so that there is an optimum."""
    case = Case(full_rows(rng, (2,) * 6), Structure.complete(6), "none")
    assert case.gap(case.climb().w) < GAP


@pytest.mark.parametrize("name", ["pairs, l1", "categorical, group", "triples, l1", "triples, group"])
def test_zeros_are_those_of_the_optimum(name: str) -> None:
    """But for parameters that the optimum has, or has not, by a hair."""
    case, ascent = _climbed(name)
    found, exact = ascent.w, case.optimum.w
    assert 0 < (exact == 0).sum() < len(exact) - len(case.rows.domain)
    other = (found == 0) != (exact == 0)
    assert np.abs(found - exact)[other].max(initial=0.0) < 0.05
    assert other.sum() <= 0.1 * len(exact)


@pytest.mark.parametrize("name", ["pairs, l2", "pairs, l1", "categorical, group"])
def test_the_optimum_is_a_fixed_point(name: str, rng: np.random.Generator) -> None:
    """Exact means leave the optimum in place for steps of any length: what kinks remove is what gradients add."""
    case = _case(*PROBLEMS[name], rng)
    w = case.optimum.w
    exact = case.target.means.of_features + Likelihood(case.parameters, case.rows).value_and_gradient(w)[1]
    moved = case.target.moved(w, case.target.gradient(w, exact), 0.3, 0.001)
    np.testing.assert_allclose(moved, w, atol=1e-6)
    assert ((moved == 0) == (w == 0)).all()


@pytest.mark.parametrize("name", ["pairs, l2", "triples, l2", "categorical, l2"])
def test_at_the_optimum_chains_match(name: str, rng: np.random.Generator) -> None:
    """The mismatch is without bias: over many looks its mean is zero within its own error."""
    case, schedule = _case(*PROBLEMS[name], rng), AscentSchedule(settling=30, looking=10)
    chains = case.chains(512)
    looks = [diagnose(case.target, chains, case.optimum.w, schedule, k) for k in range(40)]
    mismatch = np.array([look.mismatch for look in looks])
    assert abs(mismatch.mean()) < 4.0 * mismatch.std() / np.sqrt(len(looks))
    assert np.mean([look.matches for look in looks]) > 0.7


def test_away_from_the_optimum_chains_do_not_match(rng: np.random.Generator) -> None:
    case = _case(*PROBLEMS["pairs, l2"], rng)
    look = diagnose(case.target, case.chains(), np.zeros(case.parameters.n_parameters), AscentSchedule(), 0)
    exact = case.target.gradient(np.zeros(case.parameters.n_parameters), 0.5**case.parameters.order_of_parameter)
    assert not look.matches
    assert look.violation == pytest.approx(np.abs(exact).max(), abs=0.02)


def test_what_is_looked_at_is_what_is_learned() -> None:
    """Zeros included: with a kink the average itself is nowhere zero, and would never match."""
    _, found = _climbed("pairs, l1")
    assert found.look.iteration == found.iterations == 1000
    assert found.look.violation < 0.02
    assert (found.w == 0).any()


def test_learning_ends_where_chains_match(rng: np.random.Generator) -> None:
    case = _case(*PROBLEMS["pairs, l2"], rng)
    found = case.climb(AscentSchedule(iterations=1000, looks=(200, 400, 600, 800, 1000)))
    assert found.look.matches
    assert found.iterations < 1000
    moving = case.climb(AscentSchedule(iterations=30, looks=(13, 20)))
    assert [look.iteration for look in moving.looks] == [20]  # on the way nobody looks at what has not come to rest


def test_rows_say_what_more_iterations_are_worth(rng: np.random.Generator) -> None:
    """Next to nothing where many rows leave nothing open; a part of it, and at most 0.1 nats, where few leave much."""
    means = _case(*PROBLEMS["pairs, l2"], rng).target.means
    p = len(means.of_features)
    resting = [
        Target(replace(means, n_rows=0.5 * p / open_), ZeroPenalty()).resting for open_ in (1e-9, 0.004, 0.1, 9.0)
    ]
    assert resting == pytest.approx([0.001, 0.006, 0.03, 0.1])


def test_what_the_average_moved_is_of_its_last_third(rng: np.random.Generator) -> None:
    """Whether anybody looks on the way or not; twice that is the error."""
    case = _case(*PROBLEMS["pairs, l2"], rng)
    alone = case.climb(AscentSchedule(iterations=90, looks=()), n=256)
    looked_at = case.climb(AscentSchedule(iterations=90, looks=(60,)), n=256)
    assert alone.moved == looked_at.moved < 0.1 * case.target.distance(alone.w, case.target.means.independent)
    assert alone.error == 2.0 * alone.moved


@pytest.mark.parametrize("name", ["pairs, l2", "triples, l2", "categorical, l2"])
def test_distances_are_about_divergences(name: str, rng: np.random.Generator) -> None:
    """Divergences are those of a model whose covariance has the diagonal of the data's, which is the metric."""
    case = _case(*PROBLEMS[name], rng)
    step = 1e-3 * rng.normal(size=len(case.optimum.w))
    moved = case.optimum.w + step + case.target.aside @ step
    centred = case.target.distance(moved, case.optimum.w)
    assert centred == pytest.approx(0.5 * float((case.target.metric(moved) * step**2).sum()), rel=1e-6)
    assert case.target.distance(moved, moved) == 0.0


@pytest.mark.parametrize("name", ["pairs, l2", "triples, l1"])
def test_seeds_and_threads(name: str, rng: np.random.Generator) -> None:
    """One seed gives the same bits on any number of threads; other seeds agree within a few gaps."""
    case, schedule = _case(*PROBLEMS[name], rng), replace(LONG, iterations=300)
    one, again, threads = (case.climb(schedule, n=256, jobs=jobs) for jobs in (1, 1, 2))
    assert one.w.tobytes() == again.w.tobytes() == threads.w.tobytes()
    assert one.look == again.look == threads.look
    others = [case.climb(replace(LONG, iterations=500), seed=seed) for seed in (1, 2)]
    assert others[0].w.tobytes() != others[1].w.tobytes()
    assert max(case.gap(other.w) for other in others) < 5 * GAP
