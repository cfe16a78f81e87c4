"""exp and log1p against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from numba import njit

from mrfit._kernels.arithmetic.elementary import exp_nonpositive, log1p_unit


@njit(error_model="numpy", fastmath={"contract"})
def _exp(x, out):
    for k in range(len(x)):
        out[k] = exp_nonpositive(x[k])


@njit(error_model="numpy", fastmath={"contract"})
def _log1p(x, out):
    for k in range(len(x)):
        out[k] = log1p_unit(x[k])


def _ulps(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    return np.abs(found - expected) / np.spacing(np.abs(expected))


def test_exp_within_four_ulp(rng: np.random.Generator) -> None:
    """Accuracy holds over the whole range, near zero, and where the exponent changes."""
    breaks = -np.log(2) * (np.arange(1400) / 2)
    x = np.concatenate(
        [
            np.linspace(-708.0, 0.0, 200_001),
            -rng.uniform(0, 3, 100_000),
            -np.logspace(-320, 2.8, 10_000),
            breaks,
            np.nextafter(breaks[1:], 0),
            np.nextafter(breaks, -np.inf),
            [0.0, -0.0, -708.0],
        ]
    )
    x = x[x >= -708.0]
    out = np.empty_like(x)
    _exp(x, out)
    assert _ulps(out, np.exp(x)).max() <= 4
    assert out.max() <= 1.0


def test_exp_of_zero_is_one() -> None:
    """Exactly, so that p = 1/2 at z = 0."""
    assert exp_nonpositive(0.0) == 1.0
    assert exp_nonpositive(-0.0) == 1.0


@pytest.mark.parametrize("x", [-708.5, -745.0, -1e4, -1e300, -np.inf])
def test_exp_below_the_range_is_its_smallest_value(x: float) -> None:
    """A positive normal number, as documented, and not garbage bits."""
    assert exp_nonpositive(x) == exp_nonpositive(-708.0)
    assert 0.0 < exp_nonpositive(x) < 1e-307


def test_log1p_within_four_ulp(rng: np.random.Generator) -> None:
    """Accuracy holds over [0, 1], tiny values included."""
    x = np.concatenate(
        [np.linspace(0, 1, 200_001), rng.random(100_000), np.logspace(-300, 0, 10_000), [np.nextafter(1.0, 0.0)]]
    )
    out = np.empty_like(x)
    _log1p(x, out)
    assert _ulps(out, np.log1p(x)).max() <= 4
    assert out[0] == 0.0
