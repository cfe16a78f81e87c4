"""Penalties against their definitions; what all of them promise is in `mrfit.testing`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mrfit.core.errors import InputError
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.group_l1 import GroupL1
from mrfit.penalties.hierarchical_l1 import HierarchicalL1
from mrfit.penalties.l1 import WeightedL1
from mrfit.penalties.l2 import Ridge
from populations import STRUCTURES, pseudo_likelihood, random_rows


def test_l2_is_half_the_strength_times_the_squares() -> None:
    """The factor 1/2 of Chou et al. (2018), eq. 2."""
    assert Ridge(3.0).value(np.array([1.0, -2.0])) == 7.5
    assert Ridge(3.0, np.array([True, False])).value(np.array([1.0, -2.0])) == 1.5


@pytest.mark.parametrize("strength", [0.0, -1.0, np.nan, np.inf])
def test_a_strength_that_is_not_positive_is_refused(strength: float) -> None:
    """The message holds the value."""
    for build in (
        Ridge,
        lambda value: WeightedL1(value, np.ones(2)),
        lambda value: GroupL1(value, np.zeros(2, int), np.ones(1)),
        lambda value: HierarchicalL1(value, np.zeros(2, int), np.ones(1), np.arange(2), np.zeros(1, int)),
    ):
        with pytest.raises(InputError, match=rf"positive.* finite.*; got {strength:g}"):
            build(strength)


def test_l1_is_the_strength_times_the_weighted_absolute_values() -> None:
    """There is no factor 1/2."""
    assert WeightedL1(3.0, np.array([1.0, 0.5, 0.0])).value(np.array([1.0, -2.0, 7.0])) == 6.0


@pytest.mark.parametrize("weight", [[-1.0], [np.nan], [np.inf], [[1.0]], 1.0])
def test_l1_refuses_a_weight_that_is_not_one(weight: Any) -> None:
    """One finite number, zero or more, for each parameter."""
    with pytest.raises(InputError, match="zero or more, for each parameter"):
        WeightedL1(1.0, np.array(weight))


def test_l1_keeps_a_weight_of_its_own() -> None:
    """Later changes to the caller's array do not reach the penalty."""
    weight = np.ones(2)
    penalty = WeightedL1(1.0, weight)
    weight[0] = 5.0
    assert penalty.value(np.ones(2)) == 2.0
    with pytest.raises(ValueError, match="read-only"):
        penalty.weight[0] = 5.0


def test_the_critical_strength_of_l1() -> None:
    """The largest gradient entry for its weight; free parameters do not count."""
    penalty = WeightedL1(1.0, np.array([1.0, 2.0, 0.0]))
    assert penalty.critical_strength(np.array([-3.0, 8.0, 100.0])) == 4.0
    assert WeightedL1(1.0, np.zeros(1)).critical_strength(np.ones(1)) == 0.0


def test_group_l1_is_the_strength_times_the_weighted_norms() -> None:
    """Not their squares, and without a factor 1/2."""
    penalty = GroupL1(2.0, np.array([0, -1, 0, 1]), np.array([1.0, 0.5]))
    assert penalty.value(np.array([3.0, 7.0, -4.0, 2.0])) == 12.0


@pytest.mark.parametrize(
    ("group", "weight", "message"),
    [
        ([[0]], [1.0], "one number for each parameter"),
        ([-2], [1.0], "or -1 for none"),
        ([0], [-1.0], "zero or more, for each group"),
        ([0], [np.nan], "zero or more, for each group"),
        ([0, 2], [1.0, 1.0], "There are 3 groups, but only 2 weights"),
    ],
)
def test_group_l1_refuses_what_makes_no_groups(group: Any, weight: Any, message: str) -> None:
    """Each with what was expected."""
    with pytest.raises(InputError, match=message):
        GroupL1(1.0, np.array(group), np.array(weight))


def test_the_critical_strength_of_group_l1() -> None:
    """The longest gradient of a group for its weight; free parameters do not count."""
    penalty = GroupL1(1.0, np.array([0, 0, 1, 2, -1]), np.array([1.0, 2.0, 0.0]))
    assert penalty.critical_strength(np.array([3.0, -4.0, 8.0, 100.0, 100.0])) == 5.0


def test_group_l1_zeroes_groups_exactly() -> None:
    """A group no longer than the threshold, the threshold included."""
    penalty = GroupL1(5.0, np.array([0, 0, 1]), np.array([1.0, 1.0]))
    np.testing.assert_array_equal(penalty.prox(np.array([3.0, -4.0, 7.0]), 1.0), [0.0, 0.0, 2.0])


@pytest.mark.parametrize("penalty", [WeightedL1(3.0, np.ones(3)), GroupL1(2.0, np.array([0, 0, 1]), np.ones(2))])
def test_a_penalty_is_divided_by_the_weight_of_the_rows(penalty: Any, rng: np.random.Generator) -> None:
    """A penalty is added to a sum over rows, and an objective is a mean."""
    rows = random_rows(rng, (2, 2), 5)
    objective = pseudo_likelihood(rows, Canonical(rows.domain, STRUCTURES["complete"](2)))
    beside, divided = penalty.added_to(objective, total_weight=8.0)
    w = rng.standard_normal(3)
    assert beside is objective
    assert divided.value(w) == pytest.approx(penalty.value(w) / 8.0)
