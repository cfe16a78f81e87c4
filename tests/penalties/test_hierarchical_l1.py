"""Overlapping groups: the prox, its zeros, and everything that is built on it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mrfit._kernels.fitting.dykstra import overlapping_prox
from mrfit.core.errors import InputError
from mrfit.penalties.group_l1 import GroupL1
from mrfit.penalties.hierarchical_l1 import HierarchicalL1
from mrfit.solvers.quadratics import Quadratic, minimize_quadratic
from populations import hierarchical, subsets
from reference import overlapping


def _parts(penalty: HierarchicalL1, step: float = 1.0) -> tuple[list[np.ndarray], list[float]]:
    """The groups as indices of parameters, and their limits."""
    blocks = [penalty.members[penalty.start[a] : penalty.start[a + 1]] for a in range(len(penalty.weight))]
    groups = [np.flatnonzero(np.isin(penalty.block, members)) for members in blocks]
    return groups, list(step * penalty.strength * penalty.weight)


@st.composite
def penalties(draw: st.DrawFn) -> tuple[HierarchicalL1, np.ndarray]:
    """Sets of four variables in any blocks, some of them absent, and a point with zeros of its own."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    weight, above = subsets(4, draw(st.integers(2, 4)))
    weight = np.where(rng.random(len(weight)) < draw(st.sampled_from([0.5, 1.0])), weight + (weight == 0), 0.0)
    n = draw(st.integers(1, 12))
    penalty = hierarchical(draw(st.sampled_from([0.05, 0.3, 1.0])), rng.integers(0, len(weight), n), weight, above)
    return penalty, np.where(rng.random(n) < 0.8, rng.standard_normal(n), 0.0)


@given(penalties())
def test_prox_is_what_long_dual_gradients_find(case: tuple[HierarchicalL1, np.ndarray]) -> None:
    """Whole vectors are tested, one number a group and block; the gap bounds the error of the reference."""
    penalty, w = case
    groups, limits = _parts(penalty, step=0.7)
    expected, gap = overlapping.prox_by_dual_gradients(w, groups, limits, n_steps=500)
    found = penalty.prox(w, 0.7)
    assert penalty.value(found) == pytest.approx(overlapping.penalty(found, *_parts(penalty)), rel=1e-13)
    assert overlapping.primal(found, w, groups, limits) <= overlapping.primal(expected, w, groups, limits) + 1e-14
    np.testing.assert_allclose(found, expected, atol=np.sqrt(2 * max(gap, 0.0)) + 1e-12)


@given(penalties())
def test_a_block_is_zero_exactly_with_one_of_its_groups(case: tuple[HierarchicalL1, np.ndarray]) -> None:
    """Blocks of the prox are exact zeros; blocks that were zero before stay zero."""
    penalty, w = case
    v = penalty.prox(w, 1.0)
    groups, limits = _parts(penalty)
    gone = np.zeros(len(w), bool)
    for group, limit in zip(groups, limits, strict=True):
        if limit > 0 and not v[group].any():
            gone[group] = True
    for b in np.unique(penalty.block):
        own = penalty.block == b
        assert v[own].any() != (gone[own].any() or not w[own].any())
        np.testing.assert_array_equal(v[own] == 0, (w[own] == 0) | (not v[own].any()))


@pytest.mark.parametrize("seed", range(5))
def test_the_prox_of_nested_groups_is_one_pass(seed: int) -> None:
    """A chain of blocks, and two chains under one root; from the innermost group outwards."""
    rng = np.random.default_rng(seed)
    for above in (
        {a: range(a, 6) for a in range(6)},
        {0: range(6), 1: (2, 3), 2: (3,), 4: (5,)},
    ):
        block = rng.integers(0, 6, 15)
        penalty = hierarchical(0.4, block, rng.uniform(0.2, 1.5, 6), above)
        groups, limits = _parts(penalty)
        w, order = rng.standard_normal(15), np.argsort(np.diff(penalty.start), kind="stable")
        expected = overlapping.prox_of_nested(w, [groups[a] for a in order], [limits[a] for a in order])
        np.testing.assert_allclose(penalty.prox(w, 1.0), expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_array_equal(penalty.prox(w, 1.0) == 0, expected == 0)


@pytest.mark.parametrize("order", [3, 4])
@pytest.mark.parametrize("strength", [0.03, 0.1, 0.4, 1.0])
def test_the_prox_finishes_on_sixteen_variables(order: int, strength: float, rng: np.random.Generator) -> None:
    """Thousands of groups, values of the size of their weights and smaller: a relative gap of 1e-12 and less."""
    weight, above = subsets(16, order)
    penalty = hierarchical(strength, np.arange(len(weight)), weight, above)
    for decay in (0.0, 1.0):
        w = rng.standard_normal(len(weight)) * np.maximum(weight, 0.5) ** -decay
        groups, dual = penalty._own, np.zeros(len(penalty._own.members))
        v, distance, _ = overlapping_prox(
            np.abs(w), penalty._limit, groups.start, groups.members, dual, tolerance=1e-13, most_sweeps=20_000
        )
        assert distance <= 1e-12 * np.linalg.norm(w)
        lengths = np.sqrt(np.bincount(groups.owner, dual**2))
        assert (lengths <= penalty._limit * (1 + 1e-12)).all()
        residual = np.abs(w) - np.bincount(groups.members, dual, minlength=len(w))
        primal = 0.5 * float((v - np.abs(w)) @ (v - np.abs(w))) + penalty.value(v)
        gap = primal - 0.5 * float(w @ w - residual @ residual)
        assert abs(gap) <= 1e-12 * primal
        np.testing.assert_array_equal(penalty.prox(w, 1.0) == 0, v == 0)


def test_the_prox_may_start_anywhere(rng: np.random.Generator) -> None:
    """A sequence with memory gives what single calls give, whatever the steps."""
    weight, above = subsets(6, 3)
    penalty = hierarchical(0.3, np.arange(len(weight)), weight, above)
    prox, w = penalty.prox_with_memory(), rng.standard_normal(len(weight))
    for step in (1.0, 0.2, 3.0, 0.7):
        w = w + 0.1 * rng.standard_normal(len(w))
        np.testing.assert_allclose(prox(w, step), penalty.prox(w, step), atol=1e-5)


def test_disjoint_blocks_make_a_group_penalty(rng: np.random.Generator) -> None:
    """Equation 10 is equation 9 if no block is above another."""
    block, weight = rng.integers(0, 4, 11), np.array([1.0, 0.0, 2.0, 0.5])
    one, other = hierarchical(0.6, block, weight, {}), GroupL1(0.6, block, weight)
    w, gradient = rng.standard_normal(11), rng.standard_normal(11)
    w[block == 2] = 0.0
    assert one.value(w) == pytest.approx(other.value(w), rel=1e-15)
    assert one.dual_scale(gradient) == pytest.approx(other.dual_scale(gradient), rel=0.5)
    assert one.critical_strength(gradient) == pytest.approx(other.critical_strength(gradient), rel=1e-12)
    np.testing.assert_allclose(one.prox(w, 1.0), other.prox(w, 1.0), atol=1e-14)
    np.testing.assert_allclose(
        one.min_norm_subgradient(w, gradient), other.min_norm_subgradient(w, gradient), atol=1e-14
    )


def test_the_dual_scale_at_an_optimum_is_one(rng: np.random.Generator) -> None:
    """All nonzero groups are at their limit there: only the point itself tells how they share the gradient."""
    weight, above = subsets(10, 4)
    penalty = hierarchical(0.2, np.arange(len(weight)), weight, above)
    target = rng.standard_normal(len(weight))
    w = penalty.prox(target, 1.0)
    assert 0 < np.count_nonzero(w) < len(w)
    assert penalty.dual_scale(w - target, at=w) == pytest.approx(1.0, abs=1e-12)
    assert 0.9 < penalty.dual_scale(w - target) < 0.999  # from zero, within the sweeps it may take
    assert penalty.dual_scale(2 * (w - target), at=w) == pytest.approx(0.5, abs=1e-12)


@pytest.mark.parametrize("name", ["group", "hierarchical"])
def test_curvature_is_the_second_derivative_along_the_nonzero_groups(name: str, rng: np.random.Generator) -> None:
    """Central differences of value and gradient; zero groups have no part in it."""
    weight, above = subsets(3)
    block = np.append(np.arange(7), [2, 6])
    penalty = GroupL1(0.4, block, weight) if name == "group" else hierarchical(0.4, block, weight, above)
    w = rng.standard_normal(9)
    w[[4, 6, 8]] = 0.0
    curvature = penalty.curvature(w)
    moves = 1e-5 * np.eye(9)[curvature.smooth]
    first = [(penalty.value(w + e) - penalty.value(w - e)) / 2e-5 for e in moves]
    second = [(penalty.curvature(w + e).gradient - penalty.curvature(w - e).gradient) / 2e-5 for e in moves]
    assert set(curvature.smooth) == {0, 1, 2, 3, 5, 7}
    np.testing.assert_allclose(curvature.gradient, first, atol=1e-9)
    hessian = np.diag(curvature.diagonal) - (curvature.factor @ curvature.factor.T).toarray()
    np.testing.assert_allclose(hessian, second, atol=1e-8)


def test_a_scaled_prox_with_a_singular_hessian(rng: np.random.Generator) -> None:
    """A redundant problem, a little damped, from near and from far: one answer."""
    weight, above = subsets(5, 3)
    block = np.repeat(np.arange(len(weight)), 4)
    root = rng.standard_normal((30, len(block)))
    hessian, gradient = root.T @ root / 30 + 1e-6 * np.eye(len(block)), root.T @ rng.standard_normal(30) / 30
    for penalty in (hierarchical(0.02, block, weight, above), GroupL1(0.02, block, weight)):
        v = minimize_quadratic(Quadratic.of_matrix(np.zeros(len(block)), gradient, hessian), penalty, tolerance=1e-11)
        assert penalty.violation(v, gradient + hessian @ v) <= 1e-11
        assert 0 < np.count_nonzero(v) < len(v)
        for w in (v + 1e-4 * rng.standard_normal(len(v)), 10 * rng.standard_normal(len(v))):
            again = minimize_quadratic(
                Quadratic.of_matrix(w, gradient + hessian @ w, hessian), penalty, tolerance=1e-11
            )
            np.testing.assert_allclose(again, v, atol=1e-4)
            np.testing.assert_allclose(root @ again, root @ v, atol=1e-7)


def test_a_tolerance_below_rounding_ends(rng: np.random.Generator) -> None:
    """The best point so far is returned."""
    weight, above = subsets(4, 3)
    root = rng.standard_normal((8, len(weight)))
    hessian, gradient = root.T @ root + 1e-8 * np.eye(len(weight)), rng.standard_normal(len(weight))
    for penalty in (hierarchical(0.5, np.arange(len(weight)), weight, above), GroupL1(0.5, np.arange(14), weight)):
        v = minimize_quadratic(Quadratic.of_matrix(np.zeros(len(weight)), gradient, hessian), penalty, tolerance=0.0)
        assert penalty.violation(v, gradient + hessian @ v) <= 1e-7


def test_groups_stay_with_any_of_their_members() -> None:
    """Even where the block they are named after is left out."""
    penalty = hierarchical(2.0, np.arange(3), np.array([1.0, 1.0, 0.0]), {0: (1, 2), 1: (2,)})
    part = penalty.restricted(np.array([2]))
    assert part.value(np.array([-3.0])) == 12.0
    assert len(part.weight) == 3
    assert len(penalty.restricted(np.array([0])).weight) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"block": [-1]}, "one number for each parameter"),
        ({"block": [2]}, "Block 2 has no weight: there are 2"),
        ({"weight": [1.0, -1.0]}, "zero or more, for each block"),
        ({"weight": [1.0, np.inf]}, "zero or more, for each block"),
        ({"start": [0, 3]}, "3 increasing numbers from 0 to the number of members, 3"),
        ({"start": [0, 0, 3]}, "increasing"),
        ({"members": [0, 2, 1]}, "0 to 1"),
        ({"members": [0, 1, 0]}, "among its own members"),
    ],
)
def test_what_makes_no_hierarchy_is_refused(arguments: dict[str, Any], message: str) -> None:
    """Each with what was expected."""
    good = {"block": [0, 1], "weight": [1.0, 1.0], "start": [0, 2, 3], "members": [0, 1, 1]}
    with pytest.raises(InputError, match=message):
        HierarchicalL1(1.0, **{name: np.array(value) for name, value in {**good, **arguments}.items()})


def test_its_arrays_are_its_own() -> None:
    """And read-only."""
    weight = np.ones(1)
    penalty = HierarchicalL1(1.0, np.zeros(1, int), weight, np.arange(2), np.zeros(1, int))
    weight[0] = 5.0
    assert penalty.value(np.ones(1)) == 1.0
    with pytest.raises(ValueError, match="read-only"):
        penalty.block[0] = 5
