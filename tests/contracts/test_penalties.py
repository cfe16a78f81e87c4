"""What every penalty promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from mrfit.errors import InputError
from mrfit.penalties.l1 import L1
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalty import NonsmoothPenalty, Penalty, SmoothPenalty
from populations import NONSMOOTH_PENALTIES, SMOOTH_PENALTIES

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
def test_a_scaled_penalty_is_that_many_times_the_penalty(penalty: NonsmoothPenalty, rng: np.random.Generator) -> None:
    """In its value and in its prox."""
    w = rng.standard_normal(N)
    assert penalty.scaled(0.25).value(w) == pytest.approx(0.25 * penalty.value(w), rel=1e-15)
    np.testing.assert_allclose(penalty.scaled(0.25).prox(w, 2.0), penalty.prox(w, 0.5), atol=1e-15)


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
    for build in (L2, lambda value: L1(value, np.ones(2))):
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
