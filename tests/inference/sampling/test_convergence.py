"""R-hat and effective sample size: values of ArviZ 0.23, a process that is known, and the ends of the range."""

from __future__ import annotations

import numpy as np
import pytest

from mrfit.inference.sampling.convergence import effective_sample_size, r_hat, r_hat_of_frequencies


def _waves(n_draws: int) -> np.ndarray:
    """Chains without random numbers that drift, differ, and have no equal values, (draws, 4)."""
    t, k = np.arange(n_draws)[:, None], np.arange(4)[None, :]
    return np.sin(0.37 * t + k) + np.cos(2.1 * t * (1 + 0.1 * k)) + 0.002 * t + 0.05 * k


def _autoregressive(phi: float, n_draws: int, n_chains: int, rng: np.random.Generator) -> np.ndarray:
    noise = rng.standard_normal((n_draws, n_chains))
    x = np.empty_like(noise)
    x[0] = noise[0] / np.sqrt(1.0 - phi**2)
    for t in range(1, n_draws):
        x[t] = phi * x[t - 1] + noise[t]
    return x


@pytest.mark.parametrize(
    ("draws", "expected_r_hat", "expected_ess"),
    [
        (_waves(200), 1.003065852936, 280.036908253412),
        (_waves(101), 0.993134179031968, 147.230816918265),
        (np.exp(2.0 * _waves(150)), 0.997853147930088, 214.72345731973),
        (_waves(200) > 0.5, 0.999595245422256, 388.406183729019),
    ],
    ids=["even", "odd", "skewed", "two values"],
)
def test_equals_arviz(draws: np.ndarray, expected_r_hat: float, expected_ess: float) -> None:
    """`arviz.rhat` and `arviz.ess` with their default methods, rank and bulk."""
    assert r_hat(draws) == pytest.approx(expected_r_hat, rel=1e-12)
    assert effective_sample_size(draws) == pytest.approx(expected_ess, rel=1e-10)


@pytest.mark.parametrize("phi", [-0.3, 0.0, 0.5, 0.9])
def test_an_autoregressive_process(phi: float, rng: np.random.Generator) -> None:
    """Its draws are worth (1 - phi) / (1 + phi) of as many independent ones; ranks change that little."""
    x = _autoregressive(phi, 2000, 32, rng)
    assert effective_sample_size(x) == pytest.approx(x.size * (1.0 - phi) / (1.0 + phi), rel=0.15)
    assert r_hat(x) == pytest.approx(1.0, abs=0.02)


def test_chains_that_differ_in_place_or_spread(rng: np.random.Generator) -> None:
    x = rng.standard_normal((1000, 4))
    assert r_hat(x) < 1.01
    assert r_hat(x + np.array([0.0, 0.0, 0.0, 1.0])) > 1.05
    assert r_hat(x * np.array([1.0, 1.0, 1.0, 3.0])) > 1.05
    assert r_hat(np.concatenate((x, x + 1.0))) > 1.05  # halves differ


def test_what_never_changes() -> None:
    assert r_hat(np.zeros((10, 4))) == 1.0
    assert np.isnan(effective_sample_size(np.zeros((10, 4))))
    assert r_hat(np.ones((10, 1)) * [0.0, 1.0, 2.0, 3.0]) == np.inf
    np.testing.assert_array_equal(r_hat_of_frequencies(np.array([[0.0] * 4, [0.0, 0.0, 1.0, 1.0]]), 5), [1.0, np.inf])


def test_of_two_values_frequencies_are_enough(rng: np.random.Generator) -> None:
    x = (_autoregressive(0.9, 300, 6, rng) > 0.7).astype(float)
    halves = np.concatenate((x[:150], x[150:]), axis=1).mean(axis=0)
    assert r_hat_of_frequencies(halves[None], 150)[0] == pytest.approx(r_hat(x), rel=1e-12)
