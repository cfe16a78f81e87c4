"""log Z by two bases: what is a phantom, and what is not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from mrfit.core.factors import Factors
from mrfit.inference.sampling.annealing import AnnealingEstimate
from mrfit.learning.chains.log_z_estimate import LogZEstimate, evidence
from phantom import phantom_mode, two_modes
from populations import random_factors


def test_log_z_of_a_model_that_chains_can_tell(rng: np.random.Generator) -> None:
    """Enumeration is the reference; both bases find it."""
    factors = random_factors(rng, (2, 3, 2, 2, 3), [(0, 1), (1, 2), (2, 3), (3, 4), (0, 4)])
    states = np.indices(factors.shape).reshape(5, -1).T
    log_z = np.logaddexp.reduce(factors.log_potential(states))
    found = evidence(factors, states[rng.integers(0, len(states), 300)])
    assert abs(found.log_z - log_z) < 4.0 * found.error + 0.02
    assert abs(found.near.log_z - found.far.log_z) < 0.3
    assert not found.has_phantom
    assert not found.is_unmixed


def test_the_phantom_of_a_network_learned_by_pseudo_likelihood(rng: np.random.Generator) -> None:
    """Rows have half a one on average, the mode 61 of 64: 10.5 nats that a base of the data does not see."""
    factors, log_z, rows = phantom_mode(rng)
    found = evidence(factors, rows)
    assert found.has_phantom
    assert not found.is_unmixed
    assert found.far_sum == pytest.approx(61.3, abs=1.0)
    assert found.far_mass > 0.99
    assert found.log_z == pytest.approx(log_z, abs=0.5)
    assert found.near.log_z < log_z - 10.0


def test_the_mode_of_two_that_data_do_not_have(rng: np.random.Generator) -> None:
    """One model has a spurious mode for rows of zeros, and none for rows of ones."""
    factors, _ = two_modes(16)
    zeros = (rng.random((500, 16)) < 0.001).astype(np.int64)
    assert evidence(factors, zeros).has_phantom
    assert not evidence(factors, 1 - zeros).has_phantom


@pytest.mark.parametrize(("share", "expected"), [(0.1, False), (0.001, True)])
def test_a_heavy_mode_that_the_data_have_is_no_phantom(share: float, expected: bool, rng: np.random.Generator) -> None:
    """Two modes of even mass; how many rows are in the heavy one decides."""
    near, far = (AnnealingEstimate(word, np.zeros(64), 100) for word in ("tree", "uniform"))
    sums = np.where(rng.random(20_000) < share, 20, 1)
    found = LogZEstimate(near, far, np.eye(64, 20, dtype=np.int64), np.ones((64, 20), np.int64), sums)
    assert found.far_sum == 20.0
    assert found.far_mass == 0.5
    assert found.has_phantom == expected


def test_a_light_mode_is_worth_hunting_and_no_phantom() -> None:
    """One chain of 64 ended at 20 ones, with 2 % of the probability: it is seen beside all the others."""
    near, far = (AnnealingEstimate(word, np.zeros(64), 100) for word in ("tree", "uniform"))
    light, codes = np.eye(64, 20, dtype=np.int64), np.eye(64, 20, dtype=np.int64)
    codes[5] = 1
    found = LogZEstimate(near, far, light, codes, np.ones(1000, np.int64))
    assert found.far_sum == 20.0
    assert found.far_mass == pytest.approx(1 / 65)
    assert found.is_worth_hunting
    assert not found.has_phantom
    log_odds, states, shares = found.far_side
    assert log_odds == pytest.approx(np.log(1 / 64))
    assert states.tolist() == [[1] * 20]
    assert shares.tolist() == [1.0]


def test_a_mode_that_both_bases_find_is_weighed_by_what_is_there(rng: np.random.Generator) -> None:
    """5 % of rows are heavy, and a base of the data finds that mode too; nearly all probability there is too much."""
    near = AnnealingEstimate("tree", np.where(np.arange(64) < 3, 10.0, 0.0), 100)
    sums = np.where(rng.random(20_000) < 0.05, 20, 1)
    far, codes = AnnealingEstimate("uniform", np.full(64, 7.0), 100), np.ones((64, 20), np.int64)
    found = LogZEstimate(
        near, far, np.where(np.arange(64)[:, None] < 3, 1, np.eye(64, 20, dtype=np.int64)), codes, sums
    )
    assert found.far.log_z < found.near.log_z + 0.1
    assert found.far_mass > 0.99
    assert found.has_phantom


def test_a_larger_log_z_counts_where_errors_do_not_explain_it(rng: np.random.Generator) -> None:
    near, noise = AnnealingEstimate("tree", np.zeros(64), 100), rng.normal(size=64)
    codes = np.zeros((64, 4), np.int64)
    noise -= AnnealingEstimate("uniform", noise, 100).log_z
    few, rough = np.append(6.0, np.full(63, -9.0)), AnnealingEstimate("tree", noise - 0.1, 100)
    for one, weights, counts in (
        (near, noise + 0.1, False),
        (near, noise + 2.0, True),
        (near, few, True),
        (rough, np.zeros(64), True),
    ):
        found = LogZEstimate(one, AnnealingEstimate("uniform", weights, 100), codes, codes, np.zeros(100, np.int64))
        expected = found.far if counts else found.near
        assert found.far.log_z > found.near.log_z
        assert (found.log_z, found.error) == (expected.log_z, expected.error)


def test_chains_that_cannot_tell() -> None:
    """Few decide, or those that began in data miss most of what others find in the same place."""
    good, sums = AnnealingEstimate("any", np.zeros(64), 100), np.ones(100, np.int64)
    codes = np.zeros((64, 4), np.int64)
    codes[:, 0] = 1
    fine = LogZEstimate(good, good, codes, codes, sums)
    assert not fine.is_unmixed
    assert replace(fine, near=AnnealingEstimate("tree", np.append(100.0, np.zeros(63)), 100)).is_unmixed
    assert replace(fine, far=AnnealingEstimate("uniform", np.full(64, 11.0), 100)).is_unmixed
    assert not replace(fine, far=AnnealingEstimate("uniform", np.full(64, -50.0), 100)).is_unmixed  # it only missed


def test_seeds_and_threads(rng: np.random.Generator) -> None:
    factors = Factors.from_tables((2,) * 6, [((i, i + 1), rng.standard_normal(4)) for i in range(5)])
    rows = rng.integers(0, 2, (100, 6))
    one, threads, other = (evidence(factors, rows, seed=(s,), jobs=jobs) for s, jobs in ((0, 1), (0, 2), (1, 1)))
    assert one.near.log_weights.tobytes() == threads.near.log_weights.tobytes()
    assert one.far.log_weights.tobytes() == threads.far.log_weights.tobytes()
    assert one.log_z != other.log_z
    assert one.log_z == pytest.approx(other.log_z, abs=0.1)
