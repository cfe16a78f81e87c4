"""Promises of every penalty, as a function of the parameters."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from mrfit._typing import Floats
from mrfit.penalties.penalty import NonsmoothPenalty, Penalty, Scaled, SmoothPenalty, ZeroPenalty
from mrfit.solvers.quadratics import Quadratic, minimize_quadratic
from mrfit.testing.assertions import close, same
from mrfit.testing.promises import as_cases, check_promises

Generator = np.random.Generator

N = 7  # parameters


def check_penalty(make: Callable[[Generator, int], Any], *, n_parameters: int = N, seed: int = 0) -> None:
    """Check that a penalty keeps every promise that solvers and learners rely on.

    Parameters
    ----------
    make : callable
        ``make(rng, n_parameters)`` returns a `SmoothPenalty` or a `NonsmoothPenalty`, or a list with the awkward cases.
    n_parameters : int, default 7
        Number of parameters of each penalty.
    seed : int, default 0
        Random seed of the penalties and points.

    Raises
    ------
    AssertionError
        If a promise is broken; the message names it and the penalty.

    See Also
    --------
    Penalty : The interface.
    check_method : The same for methods.

    Examples
    --------
    >>> import numpy as np
    >>> from mrfit.penalties import WeightedL1
    >>> from mrfit.testing import check_penalty
    >>> check_penalty(lambda rng, n_parameters: WeightedL1(1.0, np.ones(n_parameters)))
    """
    for penalty in as_cases(make(np.random.default_rng(seed), n_parameters)):
        is_smooth = isinstance(penalty, SmoothPenalty)
        check_promises(SMOOTH if is_smooth else NONSMOOTH, penalty, n_parameters, seed=seed)
        if not is_smooth and penalty.is_convex:
            check_promises(CONVEX, penalty, n_parameters, seed=seed)


def _points(rng: Generator, n: int) -> list[Floats]:
    """Return points inside the orthants, on their faces, and at zero."""
    return [rng.standard_normal(n), np.where(rng.random(n) < 0.5, rng.standard_normal(n), 0.0), np.zeros(n)]


def _rivals(rng: Generator, w: Floats) -> list[Floats]:
    """Return points anywhere, and close to one."""
    return [*_points(rng, len(w)), *(w + 1e-3 * rng.standard_normal((5, len(w))))]


# -- smooth penalties ---------------------------------------------------------------------------------------------


def gradient_is_the_derivative_of_the_value(penalty: SmoothPenalty, n: int, rng: Generator) -> None:
    """Central differences of the value equal the gradient."""
    w, step = rng.standard_normal(n), 1e-4
    expected = [(penalty.value(w + e) - penalty.value(w - e)) / (2 * step) for e in step * np.eye(n)]
    close(penalty.gradient(w), expected, "gradient", rtol=1e-7, atol=1e-8)


def hessian_is_the_derivative_of_the_gradient(penalty: SmoothPenalty, n: int, rng: Generator) -> None:
    """Products and diagonal belong to one symmetric, positive semidefinite matrix."""
    w, step = rng.standard_normal(n), 1e-4
    hessian = np.array([(penalty.gradient(w + e) - penalty.gradient(w - e)) / (2 * step) for e in step * np.eye(n)])
    products = np.array([penalty.hessian_product(w, e) for e in np.eye(n)])
    close(products, hessian, "hessian_product", rtol=1e-7, atol=1e-8)
    close(penalty.hessian_diagonal(w), np.diag(hessian), "hessian_diagonal", rtol=1e-7, atol=1e-8)
    close(penalty.hessian(w), hessian, "hessian", rtol=1e-7, atol=1e-8)
    close(products, products.T, "the Hessian is not symmetric", rtol=1e-14)
    if penalty.is_convex:
        eigenvalues = np.linalg.eigvalsh(products)
        assert eigenvalues.min() >= -1e-14 * max(eigenvalues.max(), 1.0), "the Hessian is not positive semidefinite"


def a_preconditioner_divides_by_the_hessian_plus_a_diagonal(penalty: SmoothPenalty, n: int, rng: Generator) -> None:
    """Division by the Hessian and a diagonal, if provided, is exact."""
    w, diagonal, r = rng.standard_normal(n), rng.uniform(0.5, 2.0, n), rng.standard_normal(n)
    hessian = np.array([penalty.hessian_product(w, e) for e in np.eye(n)])
    divide = penalty.preconditioner(diagonal)
    if divide is not None:
        close(divide(r), np.linalg.solve(hessian + np.diag(diagonal), r), "preconditioner", rtol=1e-8)


# -- penalties with kinks -----------------------------------------------------------------------------------------


def prox_by_steps_is_the_minimiser(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """The prox by steps minimises value + 1/2 sum (v - w)^2 / steps, where parameters have steps of their own."""
    given = rng.uniform(0.1, 3.0 if penalty.is_convex else 1.0, n)
    steps = penalty.common_steps(given)
    assert (steps <= given).all(), "shared_steps gives larger steps than it was given"
    free = penalty.is_free(n)
    same(steps[free], given[free], "steps of free parameters")

    def function(v: Floats, w: Floats) -> float:
        return penalty.value(v) + 0.5 * float(((v - w) ** 2 / steps).sum())

    for w in _points(rng, n):
        p = penalty.prox_by_steps(w, steps)
        for rival in [w, *_rivals(rng, p)]:
            growth = 0.5 * float(((rival - p) ** 2 / steps).sum()) if penalty.is_convex else 0.0
            least = function(p, w) + growth
            assert function(rival, w) >= least - 1e-12 * max(1.0, abs(least)), f"prox_by_steps: {rival} is better"


def prox_is_the_minimiser(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """The prox minimises step * value + half the squared distance, strongly convex if the penalty is convex."""
    for step in (0.1, 1.0, 3.0):
        for w in _points(rng, n):
            p = penalty.prox(w, step)
            least = step * penalty.value(p) + 0.5 * float((p - w) @ (p - w))
            for v in [w, *_rivals(rng, p)]:
                other = step * penalty.value(v) + 0.5 * float((v - w) @ (v - w))
                growth = 0.5 * float((v - p) @ (v - p)) if penalty.is_convex else 0.0
                assert other >= least + growth - 1e-12 * (1 + other), f"prox({w}, {step}) = {p}, but {v} is better"


def no_subgradient_is_nearer_zero(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """The function falls at the rate s @ s along the negative of the least subgradient s, and along no other."""
    t = 1e-7
    for w in _points(rng, n):
        gradient = rng.standard_normal(n)
        s = penalty.min_norm_subgradient(w, gradient)
        rate = (penalty.value(w - t * s) - penalty.value(w)) / t - gradient @ s
        close(rate, -s @ s, "the rate of descent along the least subgradient", rtol=1e-4, atol=1e-5)
        assert penalty.violation(w, gradient) == np.abs(s).max(), "violation is the largest entry of it"


def violation_is_zero_at_an_optimum(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """The prox of a point is stationary for half the squared distance plus the penalty; a point beside it is not."""
    for target in _points(rng, n):
        w = penalty.prox(target, 1.0)
        assert penalty.violation(w, w - target) <= 1e-12, "the prox is not stationary"
        assert penalty.violation(w + 0.01, w + 0.01 - target) > 1e-3, "a point that is not stationary seems so"


def a_scaled_penalty_is_that_many_times_the_penalty(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """Its value and its prox scale, for any meaning of the strength."""
    w, scaled = rng.standard_normal(n), penalty.scaled(0.25)
    close(scaled.value(w), 0.25 * penalty.value(w), "value of scaled(0.25); is it a norm?", rtol=1e-15)
    close(scaled.prox(w, 2.0), penalty.prox(w, 0.5), "prox of scaled(0.25)", atol=1e-15)


def scaling_agrees_with_the_general_wrapper(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """The fast method of scaling and the general one agree in all their methods."""
    for factor in (0.25, 3.0):
        fast, general = penalty.scaled(factor), Scaled(factor, penalty)
        steps = penalty.common_steps(rng.uniform(0.1, 3.0 if penalty.is_convex else 1.0, n))
        same(general.common_steps(steps), fast.common_steps(steps), "common_steps")
        same(general.is_free(n), fast.is_free(n), "is_free")
        traits = ((p.traits, p.is_convex, p.is_norm) for p in (general, fast))
        assert next(traits) == next(traits), "traits, is_convex or is_norm change by scaling"
        _agree(general.blocks, fast.blocks, "blocks")
        _agree(general.thresholds, fast.thresholds, "thresholds")
        remembering = (general.prox_with_memory(), fast.prox_with_memory())
        for w in _points(rng, n):
            gradient, v = 3.0 * rng.standard_normal(n), rng.standard_normal(n)
            close(general.value(w), fast.value(w), "value", rtol=1e-14)
            _agree(general.prox(w, 0.7), fast.prox(w, 0.7), "prox")
            _agree(remembering[0](w, 0.7), remembering[1](w, 0.7), "prox_with_memory")
            _agree(general.prox_by_steps(w, steps), fast.prox_by_steps(w, steps), "prox_by_steps")
            _agree(
                general.truncate_at_zero_crossing(w, v),
                fast.truncate_at_zero_crossing(w, v),
                "truncate_at_zero_crossing",
            )
            _agree(
                general.min_norm_subgradient(w, gradient),
                fast.min_norm_subgradient(w, gradient),
                "min_norm_subgradient",
            )
            for at in (None, w):
                found, expected = (p.dual_scale(gradient, at=at) for p in (general, fast))
                assert (found is None) == (expected is None), "dual_scale"
                if found is not None and expected is not None:
                    close(found, expected, "dual_scale", rtol=1e-9)
            for one, other in zip(general.curvature(w) or (), fast.curvature(w) or (), strict=True):
                _agree(_dense(one), _dense(other), "curvature")


def _dense(matrix: Any) -> Floats:
    return np.asarray(matrix if isinstance(matrix, np.ndarray) else matrix.toarray())


def _agree(one: Any, other: Any, what: str) -> None:
    """Compare up to rounding; both may be None."""
    assert (one is None) == (other is None), what
    if one is not None:
        close(one, other, what, rtol=1e-10, atol=1e-11)


def a_restricted_penalty_is_the_penalty_with_zeros_elsewhere(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """The restriction holds for any choice of whole blocks, in any order, including none and all."""
    block = np.arange(n) if penalty.blocks is None else penalty.blocks
    for share in (0.0, 0.3, 0.6, 1.0):
        chosen = rng.permutation(np.flatnonzero((rng.random(block.max() + 1) < share)[block]))
        part = penalty.restricted(chosen)
        w, gradient = np.zeros(n), rng.standard_normal(n)
        w[chosen] = rng.standard_normal(len(chosen))
        close(part.value(w[chosen]), penalty.value(w), "value", rtol=1e-14)
        same(part.is_free(len(chosen)), penalty.is_free(n)[chosen], "is_free")
        close(part.prox(w[chosen], 0.5), penalty.prox(w, 0.5)[chosen], "prox", rtol=1e-12, atol=1e-14)
        expected = penalty.min_norm_subgradient(w, gradient)[chosen]
        if share in (0.0, 1.0):  # otherwise parameters left out may take some of the gradient of a common group
            close(part.min_norm_subgradient(w[chosen], gradient[chosen]), expected, "min_norm_subgradient", atol=1e-13)


def the_dual_scale_makes_a_gradient_feasible(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """No w has value(w) + t * gradient . w < 0, and a gradient that needs no scaling gets none."""
    penalized = ~penalty.is_free(n)
    for size in (1e-6, 0.1, 1.0, 1e3):
        gradient = size * rng.standard_normal(n)
        t = penalty.dual_scale(gradient)
        if t is None:  # no bound is claimed
            return
        assert penalty.is_convex, "a penalty that is not convex has no duality gap: dual_scale must return None"
        assert 0 < t <= 1, f"dual_scale is {t}"
        for _ in range(200):
            w = np.where(penalized & (rng.random(n) < rng.random()), rng.standard_normal(n), 0.0)
            w = w if rng.random() < 0.5 else penalty.prox(np.where(penalized, -t * gradient, 0.0), rng.random())
            value = penalty.value(w)
            assert value + t * (gradient @ w) >= -1e-12 * (1 + value), "the scaled gradient is not feasible"
    assert penalty.dual_scale(1e-6 * rng.standard_normal(n)) == 1.0, "a small gradient needs no scaling"
    assert penalty.dual_scale(np.where(penalized, 0.0, 1e3)) == 1.0, "free parameters do not count"


def blocks_cover_the_parameters(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """Whole blocks are zero in a prox."""
    if penalty.blocks is None:
        return
    assert penalty.blocks.shape == (n,), "one block for each parameter"
    assert penalty.blocks.min() >= 0, "blocks are counted from zero"
    zero = penalty.prox(rng.standard_normal(n), 1.0) == 0
    for b in np.unique(penalty.blocks):
        assert len(set(zero[penalty.blocks == b])) == 1, f"block {b} is zero in part"


def the_critical_strength_is_where_everything_vanishes(penalty: Any, n: int, rng: Generator) -> None:
    """Just above it zero is stationary, just below it is not; nothing is critical if all parameters are free."""
    if isinstance(penalty, ZeroPenalty):  # its strength has no effect
        return
    gradient = np.where(penalty.is_free(n), 0.0, rng.standard_normal(n))
    critical = penalty.critical_strength(gradient)
    if penalty.is_free(n).all():
        assert critical == 0.0, "nothing is penalised, and something is critical"
        return
    above, below = (replace(penalty, strength=factor * critical) for factor in (1 + 1e-10, 1 - 1e-10))
    assert not above.min_norm_subgradient(np.zeros(n), gradient).any(), "above it zero is not stationary"
    assert below.min_norm_subgradient(np.zeros(n), gradient).any(), "below it zero is stationary still"


def free_parameters_are_those_it_does_not_touch(penalty: Penalty, n: int, rng: Generator) -> None:
    """Moving a free parameter changes nothing; moving any other far from zero costs."""
    w = rng.standard_normal(n)
    free = penalty.is_free(n)
    assert free.dtype == bool, "is_free gives booleans"
    assert free.shape == (n,), "is_free gives one for each parameter"
    for k in range(n):
        near, far = w.copy(), w.copy()
        near[k], far[k] = 0.0, 1e6
        assert (penalty.value(far) == penalty.value(near)) == free[k], f"is_free is wrong about parameter {k}"
        assert penalty.value(far) >= penalty.value(near), f"a large parameter {k} is cheaper than none"


# -- convex penalties with kinks ----------------------------------------------------------------------------------


def the_least_subgradient_is_a_subgradient(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """Its supporting plane at w lies below the penalty everywhere."""
    for w in _points(rng, n):
        gradient = rng.standard_normal(n)
        slope = penalty.min_norm_subgradient(w, gradient) - gradient
        for v in _rivals(rng, w):
            plane = penalty.value(w) + slope @ (v - w)
            assert penalty.value(v) >= plane - 1e-12 * (1 + penalty.value(v)), f"the plane at {w} cuts the penalty"


def the_minimiser_of_a_quadratic_is_found(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """Its violation is within the tolerance, and no other point is better, from any start."""
    for rank in (2, n):
        for w in _points(rng, n):
            root, gradient = rng.standard_normal((rank, n)), rng.standard_normal(n)
            hessian = root.T @ root + 1e-3 * np.eye(n)

            def function(v: Floats, w: Floats = w, g: Floats = gradient, H: Floats = hessian) -> float:
                return float(g @ (v - w) + 0.5 * (v - w) @ H @ (v - w)) + penalty.value(v)

            v = minimize_quadratic(Quadratic.of_matrix(w, gradient, hessian), penalty, tolerance=1e-9)
            assert penalty.violation(v, gradient + hessian @ (v - w)) <= 1e-9, "it did not converge"
            for rival in [w, *_rivals(rng, v)]:
                assert function(rival) >= function(v) - 1e-9 * (1 + abs(function(rival))), f"{rival} is better"


def the_minimiser_of_squares_is_the_prox(penalty: NonsmoothPenalty, n: int, rng: Generator) -> None:
    """The identity follows by completing the square."""
    for w in _points(rng, n):
        gradient = rng.standard_normal(n)
        v = minimize_quadratic(Quadratic.of_matrix(w, gradient, np.eye(n) / 0.3), penalty, tolerance=1e-11)
        close(v, penalty.prox(w - 0.3 * gradient, 0.3), "minimiser and prox", atol=1e-10)


SMOOTH = (
    gradient_is_the_derivative_of_the_value,
    hessian_is_the_derivative_of_the_gradient,
    a_preconditioner_divides_by_the_hessian_plus_a_diagonal,
    free_parameters_are_those_it_does_not_touch,
)
NONSMOOTH = (
    prox_is_the_minimiser,
    prox_by_steps_is_the_minimiser,
    no_subgradient_is_nearer_zero,
    violation_is_zero_at_an_optimum,
    a_scaled_penalty_is_that_many_times_the_penalty,
    scaling_agrees_with_the_general_wrapper,
    a_restricted_penalty_is_the_penalty_with_zeros_elsewhere,
    the_dual_scale_makes_a_gradient_feasible,
    blocks_cover_the_parameters,
    the_critical_strength_is_where_everything_vanishes,
    free_parameters_are_those_it_does_not_touch,
)
CONVEX = (
    the_least_subgradient_is_a_subgradient,
    the_minimiser_of_a_quadratic_is_found,
    the_minimiser_of_squares_is_the_prox,
)
