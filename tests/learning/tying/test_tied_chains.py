"""Tying by chains: what hard tying climbs, and what it refuses; models are compared in `tests/learning`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.data.unique_rows import UniqueRows
from mrfit.learning.chains.chain_fit import ChainProblem
from mrfit.learning.tying import tied_chains as chains
from mrfit.learning.tying.reduced_parameters import Unknowns
from mrfit.learning.tying.soft_tying import TyingTask
from mrfit.learning.tying.tied_chains import Equal, tie_hard_by_chains, tie_softly_by_chains
from mrfit.parameterizations.canonical import Canonical
from mrfit.parameterizations.groups import Groups
from mrfit.penalties.penalty import ZeroPenalty
from populations import STRUCTURES, random_rows

GROUPS = Groups(np.array([0, 1, -1, 0, 2, 2, 1, 0, 2, 1]), np.zeros(3), np.array([False, True, False]))


@pytest.fixture
def problem(rng: np.random.Generator) -> ChainProblem:
    rows = random_rows(rng, (2,) * 4, 300)
    return ChainProblem(Canonical(rows.domain, STRUCTURES["complete"](4)), rows)


def test_a_step_keeps_groups_equal_and_pins(problem: ChainProblem, rng: np.random.Generator) -> None:
    unknowns = Unknowns(GROUPS)
    target = Equal(problem.means, ZeroPenalty(), unknowns, np.diag([2.0, 4.0, 0.5]))
    start, gradient = unknowns.full(np.array([0.1, -0.2, 0.3])), 0.01 * rng.normal(size=10)
    slope = np.array([gradient[[0, 3, 7]].sum(), gradient[[4, 5, 8]].sum(), gradient[2]])
    np.testing.assert_allclose(target.subgradient(start, gradient), slope)
    moved = target.moved(start, gradient, 0.5, 0.0)
    np.testing.assert_allclose(moved, start + unknowns.full(0.5 * slope / [2.0, 4.0, 0.5]))
    np.testing.assert_array_equal(moved[[1, 6, 9]], 0.0)
    change = 0.5 * slope / [2.0, 4.0, 0.5]
    assert target.distance(moved, start) == pytest.approx(0.5 * float(change**2 @ [2.0, 4.0, 0.5]))
    assert target.product(start, slope, slope) == pytest.approx(float(slope**2 @ [0.5, 0.25, 2.0]))


def test_seeds_repeat_bit_for_bit(problem: ChainProblem) -> None:
    tying = TyingTask(2, 10.0, np.zeros(10, np.int64))
    for tie in (lambda: tie_softly_by_chains(problem, problem.start, tying), lambda: _hard(problem)):
        one, two = tie(), tie()
        assert one.fit.w.tobytes() == two.fit.w.tobytes()
        np.testing.assert_array_equal(one.groups.centers, two.groups.centers)


def _hard(problem: ChainProblem) -> chains.TiedByChains:
    return tie_hard_by_chains(problem, GROUPS, problem.start)


def test_groups_that_are_all_pinned_leave_nothing_to_learn(problem: ChainProblem) -> None:
    nothing = Groups(np.zeros(10, np.int64), np.zeros(1), np.ones(1, bool))
    found = tie_hard_by_chains(problem, nothing, problem.start)
    np.testing.assert_array_equal(found.fit.w, 0.0)
    assert found.fit.train == pytest.approx(-4.0 * np.log(2.0), abs=1e-6)


def test_too_many_values_are_refused(problem: ChainProblem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "_MOST_UNKNOWNS", 2)
    with pytest.raises(InputError, match="at most 2 shared values; these groups have 3"):
        _hard(problem)


def test_a_hundred_variables_that_all_interact(named_rows: Callable[[str, str], UniqueRows]) -> None:
    """jester, 5,050 parameters: the pairs as five values, each variable with its own, lose half of what pairs say."""
    rows = named_rows("jester", "train")
    problem = ChainProblem(Canonical(rows.domain, STRUCTURES["complete"](100)), rows)
    classes = np.where(problem.features.orders > 1, 0, -1)
    soft = tie_softly_by_chains(problem, problem.start, TyingTask(5, 100.0, classes))
    hard = tie_hard_by_chains(problem, soft.groups, soft.fit.w)
    assert len(np.unique(hard.fit.w[classes == 0])) == 5
    alone = float(problem.means.of_features @ problem.start) - problem.features.without_interactions(problem.start)[0]
    assert alone < hard.fit.train < soft.fit.train
    assert soft.fit.ascent.look.matches
