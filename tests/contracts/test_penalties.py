"""What every penalty promises."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from mrfit.errors import InputError
from mrfit.parameterizations.canonical import Canonical
from mrfit.penalties.group import GroupL1
from mrfit.penalties.hierarchical import HierarchicalL1
from mrfit.penalties.l1 import L1
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalty import NonsmoothPenalty, NoPenalty, Penalty, Scaled, SmoothPenalty
from populations import NONSMOOTH_PENALTIES, SMOOTH_PENALTIES, STRUCTURES, pseudo_likelihood, random_rows

N = 7


def _cases(population: dict[type, Any]) -> list[Any]:
    return [
        pytest.param(penalty, id=f"{cls.__name__}-{number}")
        for cls, build in population.items()
        for number, penalty in enumerate(build(np.random.default_rng(1), N))
    ]


SMOOTH, NONSMOOTH = _cases(SMOOTH_PENALTIES), _cases(NONSMOOTH_PENALTIES)


def _points(rng: np.random.Generator) -> list[np.ndarray]:
    """Inside the orthants, on their faces, and at zero."""
    return [rng.standard_normal(N), np.where(rng.random(N) < 0.5, rng.standard_normal(N), 0.0), np.zeros(N)]


@pytest.mark.parametrize("penalty", SMOOTH)
def test_gradient_is_the_derivative_of_the_value(penalty: SmoothPenalty, rng: np.random.Generator) -> None:
    """Central differences, exact for quadratics but for rounding."""
    w, step = rng.standard_normal(N), 1e-4
    expected = [(penalty.value(w + e) - penalty.value(w - e)) / (2 * step) for e in step * np.eye(N)]
    np.testing.assert_allclose(penalty.gradient(w), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("penalty", SMOOTH)
def test_hessian_is_the_derivative_of_the_gradient(penalty: SmoothPenalty, rng: np.random.Generator) -> None:
    """Products and diagonal belong to one symmetric, positive semidefinite matrix."""
    w, step = rng.standard_normal(N), 1e-4
    hessian = np.array([(penalty.gradient(w + e) - penalty.gradient(w - e)) / (2 * step) for e in step * np.eye(N)])
    products = np.array([penalty.hessian_product(w, e) for e in np.eye(N)])
    np.testing.assert_allclose(products, hessian, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(penalty.hessian_diagonal(w), np.diag(hessian), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(penalty.hessian(w), hessian, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(products, products.T, rtol=1e-14)
    eigenvalues = np.linalg.eigvalsh(products)
    assert eigenvalues.min() >= -1e-14 * max(eigenvalues.max(), 1.0)


@pytest.mark.parametrize("penalty", SMOOTH)
def test_a_preconditioner_divides_by_the_hessian_plus_a_diagonal(
    penalty: SmoothPenalty, rng: np.random.Generator
) -> None:
    w, diagonal, r = rng.standard_normal(N), rng.uniform(0.5, 2.0, N), rng.standard_normal(N)
    hessian = np.array([penalty.hessian_product(w, e) for e in np.eye(N)])
    divide = penalty.preconditioner(diagonal)
    if divide is not None:
        np.testing.assert_allclose(divide(r), np.linalg.solve(hessian + np.diag(diagonal), r), rtol=1e-8)


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_prox_by_steps_is_the_minimiser(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """Where parameters have steps of their own: value + 1/2 sum (v - w)^2 / steps grows by half such squares."""
    given = rng.uniform(0.1, 3.0, N)
    steps = penalty.shared_steps(given)
    assert (steps <= given).all()
    free = penalty.is_free(N)
    np.testing.assert_array_equal(steps[free], given[free])

    def function(v: np.ndarray, w: np.ndarray) -> float:
        return penalty.value(v) + 0.5 * float(((v - w) ** 2 / steps).sum())

    for w in _points(rng):
        p = penalty.prox_by_steps(w, steps)
        for rival in [*_points(rng), w, *(p + 1e-3 * rng.standard_normal((5, N)))]:
            least = function(p, w) + 0.5 * float(((rival - p) ** 2 / steps).sum())
            assert function(rival, w) >= least - 1e-12 * max(1.0, abs(least))


@pytest.mark.parametrize("penalty", NONSMOOTH)
@pytest.mark.parametrize("step", [0.1, 1.0, 3.0])
def test_prox_is_the_minimiser(penalty: NonsmoothPenalty, step: float, rng: np.random.Generator) -> None:
    """step * value + half the squared distance is strongly convex: it grows by half the square from its minimiser."""

    def function(v: np.ndarray, w: np.ndarray) -> float:
        return step * penalty.value(v) + 0.5 * float((v - w) @ (v - w))

    for w in _points(rng):
        p = penalty.prox(w, step)
        rivals = [*_points(rng), w, *(p + 1e-3 * rng.standard_normal((5, N)))]
        for v in rivals:
            assert function(v, w) >= function(p, w) + 0.5 * (v - p) @ (v - p) - 1e-12 * (1 + function(v, w))


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_the_least_subgradient_is_a_subgradient(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """Its plane through w lies below the penalty everywhere."""
    for w in _points(rng):
        gradient = rng.standard_normal(N)
        slope = penalty.least_subgradient(w, gradient) - gradient
        for v in [*_points(rng), *(w + 1e-3 * rng.standard_normal((5, N)))]:
            assert penalty.value(v) >= penalty.value(w) + slope @ (v - w) - 1e-12 * (1 + penalty.value(v))


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_no_subgradient_is_nearer_zero(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """Against the nearest one s the function falls at the rate s @ s, against no other."""
    t = 1e-7
    for w in _points(rng):
        gradient = rng.standard_normal(N)
        s = penalty.least_subgradient(w, gradient)
        rate = (penalty.value(w - t * s) - penalty.value(w)) / t - gradient @ s
        assert rate == pytest.approx(-s @ s, rel=1e-4, abs=1e-5)
        assert penalty.violation(w, gradient) == np.abs(s).max()


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_violation_is_zero_at_an_optimum(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """Of half the squared distance from a point, which the prox minimises together with the penalty."""
    for target in _points(rng):
        w = penalty.prox(target, 1.0)
        assert penalty.violation(w, w - target) <= 1e-12
        assert penalty.violation(w + 0.01, w + 0.01 - target) > 1e-3


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_a_penalty_stands_against_the_sum_over_rows(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """Beside an objective, which is a mean over rows, it is divided by their weight."""
    w = rng.standard_normal(N)
    rows = random_rows(rng, (2, 2), 5)
    objective = pseudo_likelihood(rows, Canonical(rows.domain, STRUCTURES["complete"](2)))
    beside, divided = penalty.added_to(objective, total_weight=8.0)
    assert beside is objective
    assert divided.value(w) == pytest.approx(penalty.value(w) / 8.0)


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_a_scaled_penalty_is_that_many_times_the_penalty(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """In its value and in its prox."""
    w = rng.standard_normal(N)
    assert penalty.scaled(0.25).value(w) == pytest.approx(0.25 * penalty.value(w), rel=1e-15)
    np.testing.assert_allclose(penalty.scaled(0.25).prox(w, 2.0), penalty.prox(w, 0.5), atol=1e-15)


@pytest.mark.parametrize("penalty", NONSMOOTH)
@pytest.mark.parametrize("factor", [0.25, 3.0])
def test_a_norm_scaled_by_its_strength_is_the_wrapped_one(
    penalty: NonsmoothPenalty, factor: float, rng: np.random.Generator
) -> None:
    """The fast way and the general one agree in everything that a solver may ask."""
    fast, general = penalty.scaled(factor), Scaled(factor, penalty)
    steps = penalty.shared_steps(rng.uniform(0.1, 3.0, N))
    np.testing.assert_array_equal(general.shared_steps(steps), fast.shared_steps(steps))
    np.testing.assert_array_equal(general.is_free(N), fast.is_free(N))
    assert (general.traits, general.is_convex, general.is_norm) == (fast.traits, fast.is_convex, fast.is_norm)
    _same(general.blocks, fast.blocks)
    _same(general.thresholds, fast.thresholds)
    remembering = (general.prox_with_memory(), fast.prox_with_memory())
    for w in _points(rng):
        gradient, v = 3.0 * rng.standard_normal(N), rng.standard_normal(N)
        assert general.value(w) == pytest.approx(fast.value(w), rel=1e-14)
        _same(general.prox(w, 0.7), fast.prox(w, 0.7))
        _same(*(prox(w, 0.7) for prox in remembering))
        _same(general.prox_by_steps(w, steps), fast.prox_by_steps(w, steps))
        _same(general.clipped(w, v), fast.clipped(w, v))
        _same(general.least_subgradient(w, gradient), fast.least_subgradient(w, gradient))
        for at in (None, w):
            expected = fast.dual_scale(gradient, at=at)
            found = general.dual_scale(gradient, at=at)
            assert found is expected is None or found == pytest.approx(expected, rel=1e-9)
        for one, other in zip(general.curvature(w) or (), fast.curvature(w) or (), strict=True):
            _same(*(each if isinstance(each, np.ndarray) else each.toarray() for each in (one, other)))


def _same(one: np.ndarray | None, other: np.ndarray | None) -> None:
    """But for rounding; both None are the same."""
    assert (one is None) == (other is None)
    if one is not None:
        np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_a_restricted_penalty_is_the_penalty_with_zeros_elsewhere(
    penalty: NonsmoothPenalty, rng: np.random.Generator
) -> None:
    """For any choice of whole blocks, in any order, none and all included."""
    block = np.arange(N) if penalty.blocks is None else penalty.blocks
    for share in (0.0, 0.3, 0.6, 1.0):
        chosen = rng.permutation(np.flatnonzero((rng.random(block.max() + 1) < share)[block]))
        part = penalty.restricted(chosen)
        w, gradient = np.zeros(N), rng.standard_normal(N)
        w[chosen] = rng.standard_normal(len(chosen))
        assert part.value(w[chosen]) == pytest.approx(penalty.value(w), rel=1e-14)
        np.testing.assert_array_equal(part.is_free(len(chosen)), penalty.is_free(N)[chosen])
        np.testing.assert_allclose(part.prox(w[chosen], 0.5), penalty.prox(w, 0.5)[chosen], rtol=1e-12, atol=1e-14)
        expected = penalty.least_subgradient(w, gradient)[chosen]
        if share in (0.0, 1.0):  # otherwise parameters left out may take some of the gradient of a common group
            np.testing.assert_allclose(part.least_subgradient(w[chosen], gradient[chosen]), expected, atol=1e-13)


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_the_dual_scale_makes_a_gradient_feasible(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """No w has value(w) + t * gradient . w < 0, and a gradient that needs no scaling gets none."""
    penalized = ~penalty.is_free(N)
    for size in (1e-6, 0.1, 1.0, 1e3):
        gradient = size * rng.standard_normal(N)
        t = penalty.dual_scale(gradient)
        if t is None:  # no bound is claimed
            return
        assert 0 < t <= 1
        for _ in range(200):
            w = np.where(penalized & (rng.random(N) < rng.random()), rng.standard_normal(N), 0.0)
            w = w if rng.random() < 0.5 else penalty.prox(np.where(penalized, -t * gradient, 0.0), rng.random())
            assert penalty.value(w) + t * (gradient @ w) >= -1e-12 * (1 + penalty.value(w))
    assert penalty.dual_scale(1e-6 * rng.standard_normal(N)) == 1.0
    free_only = np.where(penalized, 0.0, 1e3)
    assert penalty.dual_scale(free_only) == 1.0


@pytest.mark.parametrize("penalty", NONSMOOTH)
def test_blocks_cover_the_parameters(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """Whole blocks are zero in a prox, unless they were before."""
    if penalty.blocks is None:
        return
    assert penalty.blocks.shape == (N,)
    assert penalty.blocks.min() >= 0
    zero = penalty.prox(rng.standard_normal(N), 1.0) == 0
    for b in np.unique(penalty.blocks):
        assert len(set(zero[penalty.blocks == b])) == 1


@pytest.mark.parametrize("penalty", [case for case in NONSMOOTH if not isinstance(case.values[0], NoPenalty)])
def test_the_critical_strength_is_where_everything_vanishes(penalty: Any, rng: np.random.Generator) -> None:
    """Just above it zero is optimal, just below it is not; nothing is critical where all is free."""
    gradient = np.where(penalty.is_free(N), 0.0, rng.standard_normal(N))
    critical = penalty.critical_strength(gradient)
    if penalty.is_free(N).all():
        assert critical == 0.0
        return
    above, below = (replace(penalty, strength=factor * critical) for factor in (1 + 1e-10, 1 - 1e-10))
    assert not above.least_subgradient(np.zeros(N), gradient).any()
    assert below.least_subgradient(np.zeros(N), gradient).any()


@pytest.mark.parametrize("penalty", [*SMOOTH, *NONSMOOTH])
def test_free_parameters_are_those_it_does_not_touch(penalty: Penalty, rng: np.random.Generator) -> None:
    """Moving a free parameter changes nothing; moving any other far enough costs without limit."""
    w = rng.standard_normal(N)
    free = penalty.is_free(N)
    assert free.dtype == bool
    assert free.shape == (N,)
    for k in range(N):
        moved = w.copy()
        moved[k] += 1e6
        assert (penalty.value(moved) == penalty.value(w)) == free[k]
        assert penalty.value(moved) >= penalty.value(w)


def test_l2_is_half_the_strength_times_the_squares() -> None:
    """The factor 1/2 of Chou et al. (2018), eq. 2."""
    assert L2(3.0).value(np.array([1.0, -2.0])) == 7.5
    assert L2(3.0, np.array([True, False])).value(np.array([1.0, -2.0])) == 1.5


@pytest.mark.parametrize("strength", [0.0, -1.0, np.nan, np.inf])
def test_a_strength_that_is_not_positive_is_refused(strength: float) -> None:
    """The message holds the value."""
    for build in (
        L2,
        lambda value: L1(value, np.ones(2)),
        lambda value: GroupL1(value, np.zeros(2, int), np.ones(1)),
        lambda value: HierarchicalL1(value, np.zeros(2, int), np.ones(1), np.arange(2), np.zeros(1, int)),
    ):
        with pytest.raises(InputError, match=rf"positive.* finite.*; got {strength:g}"):
            build(strength)


def test_l1_is_the_strength_times_the_weighted_absolute_values() -> None:
    """Without a factor 1/2."""
    assert L1(3.0, np.array([1.0, 0.5, 0.0])).value(np.array([1.0, -2.0, 7.0])) == 6.0


@pytest.mark.parametrize("weight", [[-1.0], [np.nan], [np.inf], [[1.0]], 1.0])
def test_l1_refuses_a_weight_that_is_not_one(weight: Any) -> None:
    """One finite number, zero or more, for each parameter."""
    with pytest.raises(InputError, match="zero or more, for each parameter"):
        L1(1.0, np.array(weight))


def test_l1_keeps_a_weight_of_its_own() -> None:
    """What the caller does to its array later is its own affair."""
    weight = np.ones(2)
    penalty = L1(1.0, weight)
    weight[0] = 5.0
    assert penalty.value(np.ones(2)) == 2.0
    with pytest.raises(ValueError, match="read-only"):
        penalty.weight[0] = 5.0


def test_the_critical_strength_of_l1() -> None:
    """The largest gradient entry for its weight; free parameters do not count."""
    penalty = L1(1.0, np.array([1.0, 2.0, 0.0]))
    assert penalty.critical_strength(np.array([-3.0, 8.0, 100.0])) == 4.0
    assert L1(1.0, np.zeros(1)).critical_strength(np.ones(1)) == 0.0


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
