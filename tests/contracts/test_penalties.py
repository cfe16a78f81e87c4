"""What every penalty promises."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.errors import InputError
from mrfit.penalties.l2 import L2
from mrfit.penalties.penalty import SmoothPenalty
from populations import PENALTIES

N = 7
CASES = [
    pytest.param(penalty, id=f"{cls.__name__}-{number}")
    for cls, build in PENALTIES.items()
    for number, penalty in enumerate(build(np.random.default_rng(1), N))
]


@pytest.mark.parametrize("penalty", CASES)
def test_gradient_is_the_derivative_of_the_value(penalty: SmoothPenalty, rng: np.random.Generator) -> None:
    """Central differences, exact for quadratics but for rounding."""
    w, step = rng.standard_normal(N), 1e-4
    expected = [(penalty.value(w + e) - penalty.value(w - e)) / (2 * step) for e in step * np.eye(N)]
    np.testing.assert_allclose(penalty.gradient(w), expected, rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("penalty", CASES)
def test_hessian_is_the_derivative_of_the_gradient(penalty: SmoothPenalty, rng: np.random.Generator) -> None:
    """Products and diagonal belong to one symmetric, positive semidefinite matrix."""
    w, step = rng.standard_normal(N), 1e-4
    hessian = np.array([(penalty.gradient(w + e) - penalty.gradient(w - e)) / (2 * step) for e in step * np.eye(N)])
    products = np.array([penalty.hessian_product(w, e) for e in np.eye(N)])
    np.testing.assert_allclose(products, hessian, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(penalty.hessian_diagonal(w), np.diag(hessian), rtol=1e-7, atol=1e-8)
    np.testing.assert_array_equal(products, products.T)
    assert np.linalg.eigvalsh(products).min() >= 0


@pytest.mark.parametrize("penalty", CASES)
def test_free_parameters_are_those_it_does_not_touch(penalty: SmoothPenalty, rng: np.random.Generator) -> None:
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
def test_l2_refuses_a_strength_that_is_not_positive(strength: float) -> None:
    """The message holds the value."""
    with pytest.raises(InputError, match=rf"positive.* finite.*; got {strength:g}"):
        L2(strength)
